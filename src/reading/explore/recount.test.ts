// Random questions of Explore against a recount of the clicks themselves, by SQL that knows nothing of facts.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { type ExploredClick, seedExplored } from '../../../tests/support/explored.ts'
import { newId, startHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import { seedCampaign } from '../../../tests/support/visits.ts'
import {
  EXPLORE_DIMENSIONS,
  type ExploreAnswer,
  type ExploreDimension,
  type ExploreFilter,
  type ExploreRow,
  type Measure,
  MEASURES,
  operatorsOf,
} from '../../contract/explore.ts'
import { toUuid } from '../../contract/ids.ts'
import { LADDER } from '../../contract/ladder.ts'

let house: TestHouse
let cookie: string
let org_id: number
const campaigns = [newId(1), newId(2), newId(3)]
const [source_id, funnel_id] = [newId(4), newId(5)]

const FROM = Date.UTC(2026, 2, 27)
const TO = Date.UTC(2026, 3, 2)
/** Half hours, a summer that begins within the clicks, and none. */
const ZONES = ['UTC', 'Europe/Kyiv', 'Asia/Kolkata', 'America/New_York', 'Australia/Lord_Howe', 'Pacific/Apia']

const text = fc.constantFrom(null, 'a', 'A', 'b', "it's", '=1', 'ünï', '100%_')
const id = (...ids: string[]) => fc.constantFrom(null, ...ids)
const clicks: fc.Arbitrary<ExploredClick> = fc.record({
  at: fc.integer({ min: FROM, max: TO }),
  campaign: id(...campaigns),
  offer: id(newId(6), newId(7)),
  landing: id(newId(8)),
  path: fc.constantFrom(null, 'v1>a>b', 'v2>c'),
  ad_account: id(newId(9)),
  bot: id(newId(10)),
  geo: fc.constantFrom(null, 'DE', 'FR', 'UA'),
  device: text,
  os: text,
  browser: text,
  platform: fc.constantFrom(null, 'meta'),
  sub1: text,
  sub2: text,
  sub5: fc.string({ unit: 'grapheme-ascii', maxLength: 2 }).map(some => some || null),
  sub9: text,
  ref_id: text,
  visitor_id: fc.constantFrom(null, ...Array.from({ length: 40 }, (_, at) => newId(at + 1))),
  is_new: fc.boolean(),
  tracked: fc.boolean(),
  stages: fc.constantFrom(1, 3, 7, 0b100011, 0b1100011, 0b1111111),
  revenue: fc.constantFrom(null, '0', '12.5', '0.000001', '999999.999999'),
  cost: fc.constantFrom(null, '0.5', '0.000000001', '3'),
  cost_counts: fc.constantFrom(null, true),
  approved: fc.nat(2),
  pending: fc.nat(1),
  rejected: fc.nat(2),
  revenue_pending: fc.constantFrom('0', '7.25'),
})

before(async () => {
  house = await startHouse()
  const person = await seedSignedIn(house)
  ;({ cookie, org_id } = person)
  for (const [at, one] of campaigns.entries())
    await seedCampaign(house.database, org_id, {
      id: one,
      ...(at === 0 && { destination: { type: 'funnel', funnel_id } }),
    })
  await house.database.worker.query('update campaigns set traffic_source_id = $2 where org_id = $1 and id = $3', [
    org_id,
    source_id,
    campaigns[1],
  ])
  await seedExplored(house.database, org_id, fc.sample(clicks, { numRuns: 400, seed: 17 }))
})
after(() => house.end())

const OBJECTS: Readonly<Record<string, string>> = {
  campaign: 'campaign_id',
  offer: 'offer_id',
  landing: 'landing_id',
  ad_account: 'ad_account_id',
  bot: 'bot_id',
  source: '(select p.traffic_source_id from campaigns p where p.org_id = c.org_id and p.id = c.campaign_id)',
  funnel: "(select p.destination ->> 'funnel_id' from campaigns p where p.org_id = c.org_id and p.id = c.campaign_id)",
}

/** A dimension of a click `c`, as the key of its row. */
function keyIn(dimension: ExploreDimension, zone: string): string {
  const local = `(to_timestamp(made / 1000.0) at time zone '${zone}')`
  const times: Readonly<Record<string, string>> = {
    day: `to_char(${local}, 'YYYY-MM-DD')`,
    hour: `to_char(${local}, 'HH24')`,
    weekday: `to_char(${local}, 'ID')`,
    weekday_hour: `to_char(${local}, 'ID-HH24')`,
    path: 'click_flow_node_path',
    is_new: "case when visitor_is_new then 'true' else 'false' end",
    status: `(array[${LADDER.map(name => `'${name}'`).join(', ')}])[status + 1]`,
  }
  return times[dimension] ?? (OBJECTS[dimension] === undefined ? dimension : `${OBJECTS[dimension]}::text`)
}

type Put = (value: string | string[]) => string

function conditionIn({ dimension, op, values = [] }: ExploreFilter, zone: string, put: Put): string {
  const key = keyIn(dimension, zone)
  const wanted = dimension in OBJECTS ? values.map(value => toUuid(value) ?? value) : values
  const parts = () => wanted.map(value => `position(lower(${put(value)}) in lower(${key})) > 0`).join(' or ')
  switch (op) {
    case 'is_empty':
      return `${key} is null`
    case 'is_filled':
      return `${key} is not null`
    case 'is':
    case 'in':
      return `coalesce(${key} = any(${put(wanted)}::text[]), false)`
    case 'is_not':
    case 'not_in':
      return `not coalesce(${key} = any(${put(wanted)}::text[]), false)`
    case 'contains':
      return `coalesce(${parts()}, false)`
    case 'not_contains':
      return `not coalesce(${parts()}, false)`
  }
}

const COUNTS: Readonly<Partial<Record<Measure, string>>> = {
  clicks: 'count(*)',
  new_visitors: 'count(*) filter (where visitor_is_new)',
  ...Object.fromEntries(LADDER.slice(1).map((name, at) => [name, `count(*) filter (where stages & ${2 << at} <> 0)`])),
  approved: 'sum(approved)',
  pending: 'sum(pending)',
  rejected: 'sum(rejected)',
  unread_costs: 'count(*) filter (where cost_counts and cost is null)',
  revenue: 'coalesce(sum(revenue), 0) * 1000000000',
  revenue_pending: 'sum(revenue_pending) * 1000000000',
  cost: 'coalesce(sum(cost) filter (where cost_counts), 0) * 1000000000',
}

type Sums = { readonly [measure: string]: bigint }
type Leaf = { readonly keys: readonly (string | null)[]; readonly sums: Sums; readonly visitors: readonly string[] }

type Asked = {
  readonly levels: readonly { dimension: ExploreDimension; top: number }[]
  readonly filters: readonly ExploreFilter[]
  readonly zone: string
  readonly from: number
  readonly to: number
  readonly sort: { by: Measure | 'key'; descending: boolean }
}

/** Each combination of keys with what its clicks come to; amounts in billionths. */
async function leaves({ levels, filters, zone, from, to }: Asked): Promise<Leaf[]> {
  const values: unknown[] = [org_id, from, to]
  const put: Put = value => `$${values.push(value)}`
  const conditions = ['tracked', 'made between $2 and $3', ...filters.map(filter => conditionIn(filter, zone, put))]
  const { rows } = await house.database.worker.query<Record<string, string | null> & { visitors: string[] | null }>(
    `select ${levels.map(({ dimension }, at) => `${keyIn(dimension, zone)} as k${at}`).join(', ')},
      array_agg(distinct visitor_id::text) filter (where visitor_id is not null) as visitors,
      ${Object.entries(COUNTS)
        .map(([name, count]) => `trunc(${count})::text as ${name}`)
        .join(', ')}
    from (select *, ('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint as made from clicks where org_id = $1) c
    where ${conditions.join(' and ')} group by ${levels.map((_, at) => at + 1).join(', ')}`,
    values,
  )
  return rows.map(row => ({
    keys: levels.map(({ dimension }, at) => {
      const key = row[`k${at}`] ?? null
      return key !== null && dimension in OBJECTS ? toWireId(key) : key
    }),
    sums: Object.fromEntries(Object.keys(COUNTS).map(name => [name, BigInt(row[name] ?? 0)])),
    visitors: row.visitors ?? [],
  }))
}

function total(some: readonly Leaf[]): Sums {
  const sums = Object.fromEntries(
    Object.keys(COUNTS).map(name => [name, some.reduce((all, { sums: own }) => all + (own[name] ?? 0n), 0n)]),
  )
  return { ...sums, unique_visitors: BigInt(new Set(some.flatMap(({ visitors }) => visitors)).size) }
}

/** A measure as a number to compare and sort by; undefined without a divisor. */
function numberOf(sums: Sums, measure: Measure): number | undefined {
  const of = (name: string) => sums[name] ?? 0n
  const ratio = (above: bigint, below: bigint) => (below === 0n ? undefined : Number(above) / Number(below))
  switch (measure) {
    case 'profit':
      return Number(of('revenue') - of('cost'))
    case 'epc':
      return ratio(of('revenue') / 1000n, of('clicks'))
    case 'cpc':
      return ratio(of('cost'), of('clicks'))
    case 'cpa':
      return ratio(of('cost'), of('approved'))
    case 'cr':
      return ratio(of('approved'), of('clicks'))
    case 'roi':
      return ratio(of('revenue') - of('cost'), of('cost'))
    case 'approval_rate':
      return ratio(of('approved'), of('approved') + of('rejected'))
    default:
      return Number(of(measure))
  }
}

const RUNGS = new Map<string, string>(LADDER.map((name, rung) => [name, String(rung)]))

/** By their bytes, none last; stages by their order. */
function compareKeys(one: string | null, other: string | null): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null)
  return Buffer.compare(Buffer.from(RUNGS.get(one) ?? one), Buffer.from(RUNGS.get(other) ?? other))
}

type Expected = { key: string | null; is_other: boolean; count_of_other?: number; sums: Sums; children?: Expected[] }

function expected(some: readonly Leaf[], asked: Asked, at = 0): Expected[] | undefined {
  const level = asked.levels[at]
  if (level === undefined) return undefined
  const { by, descending } = asked.sort
  const sign = descending ? -1 : 1
  const groups = [...Map.groupBy(some, ({ keys }) => keys[at] ?? null)].map(([key, inside]) => ({
    key,
    inside,
    sums: total(inside),
  }))
  groups.sort((one, other) => {
    if (by === 'key') {
      const isMissing = one.key === null || other.key === null
      return compareKeys(one.key, other.key) * (isMissing ? 1 : sign)
    }
    const [a, b] = [numberOf(one.sums, by), numberOf(other.sums, by)]
    if (a === undefined || b === undefined) {
      if (a !== b) return a === undefined ? 1 : -1
    } else if (a !== b) return (a - b) * sign
    return compareKeys(one.key, other.key)
  })
  const rest = groups.slice(level.top)
  const rows = groups.slice(0, level.top).map(({ key, inside, sums }): Expected => {
    const children = expected(inside, asked, at + 1)
    return { key, is_other: false, sums, ...(children && { children }) }
  })
  if (rest.length === 0) return rows
  const sums = total(rest.flatMap(({ inside }) => inside))
  return [...rows, { key: null, is_other: true, count_of_other: rest.length, sums }]
}

const EXACT = Object.keys(COUNTS).filter(name => !name.startsWith('revenue') && name !== 'cost')

/** An answer's amount in billionths. */
const billionths = (amount: string | undefined): bigint => {
  const [whole = '', fraction = ''] = (amount ?? '').split('.')
  return BigInt(whole + fraction.padEnd(9, '0'))
}

function assertAlike(row: ExploreRow | ExploreAnswer['totals'], sums: Sums, at: string): void {
  const shown = row as Readonly<Record<string, unknown>>
  for (const name of [...EXACT, 'unique_visitors']) assert.equal(shown[name], Number(sums[name]), `${name} ${at}`)
  for (const name of ['revenue', 'revenue_pending', 'cost'])
    assert.equal(billionths(shown[name] as string), sums[name], `${name} ${at}`)
  assert.equal(billionths(row.profit), (sums['revenue'] ?? 0n) - (sums['cost'] ?? 0n), `profit ${at}`)
  for (const name of ['cr', 'roi', 'approval_rate'] as const)
    assert.equal(shown[name], numberOf(sums, name) ?? null, `${name} ${at}`)
  for (const name of ['cpc', 'cpa'] as const) {
    const exact = numberOf(sums, name)
    if (exact === undefined) assert.equal(shown[name], null)
    else assert.ok(Math.abs(Number(shown[name]) - exact / 1e9) <= 0.000001, `${name} ${at}`)
  }
}

function assertRows(
  rows: readonly ExploreRow[] | undefined,
  wanted: readonly Expected[] | undefined,
  at: string,
): void {
  const outline = (some: readonly (ExploreRow | Expected)[] | undefined) =>
    some?.map(({ key, is_other, count_of_other }) => [key, is_other, count_of_other])
  assert.deepEqual(outline(rows), outline(wanted), at)
  for (const [place, row] of (rows ?? []).entries()) {
    const own = wanted?.[place] as Expected
    const where = `${at} > ${row.is_other ? '(other)' : row.key}`
    assertAlike(row, own.sums, where)
    assertRows(row.children, own.children, where)
  }
}

const keysOf = (dimension: ExploreDimension): fc.Arbitrary<string> => {
  const known: Readonly<Record<string, readonly string[]>> = {
    day: ['2026-03-28', '2026-03-29', '2026-03-30'],
    hour: ['00', '03', '23'],
    weekday: ['1', '7'],
    weekday_hour: ['7-03', '1-23'],
    is_new: ['true', 'false'],
    status: LADDER,
    geo: ['DE', 'FR', 'XX'],
    source: [toWireId(source_id), toWireId(newId())],
    funnel: [toWireId(funnel_id)],
    path: ['v1>a>b', 'v'],
  }
  if (dimension in OBJECTS && known[dimension] === undefined)
    return fc.constantFrom(...[...campaigns, newId(6), newId(8)].map(toWireId))
  return fc.constantFrom(...(known[dimension] ?? ['a', 'A', 'b', "it's", '%', 'none of them']))
}

const filter: fc.Arbitrary<ExploreFilter> = fc.constantFrom(...EXPLORE_DIMENSIONS).chain(dimension =>
  fc.constantFrom(...operatorsOf(dimension)).chain((op): fc.Arbitrary<ExploreFilter> => {
    if (op === 'is_empty' || op === 'is_filled') return fc.constant({ dimension, op })
    const most = op === 'is' || op === 'is_not' ? 1 : 3
    return fc.array(keysOf(dimension), { minLength: 1, maxLength: most }).map(values => ({ dimension, op, values }))
  }),
)

const question: fc.Arbitrary<Asked> = fc
  .record({
    dimensions: fc.uniqueArray(fc.constantFrom(...EXPLORE_DIMENSIONS), { minLength: 1, maxLength: 4 }),
    tops: fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 4, maxLength: 4 }),
    filters: fc.oneof(
      { weight: 2, arbitrary: fc.constant([]) },
      { weight: 3, arbitrary: fc.array(filter, { maxLength: 3 }) },
    ),
    zone: fc.constantFrom(...ZONES),
    from: fc.oneof(fc.constant(FROM), fc.integer({ min: FROM, max: TO })),
    length: fc.oneof(fc.constant(TO - FROM), fc.integer({ min: 0, max: TO - FROM })),
    by: fc.constantFrom<Measure | 'key'>('key', ...MEASURES),
    descending: fc.boolean(),
  })
  .map(({ dimensions, tops, from, length, by, descending, ...rest }) => ({
    ...rest,
    from,
    to: from + length,
    levels: dimensions.map((dimension, at) => ({ dimension, top: tops[at] ?? 1 })),
    sort: { by, descending },
  }))

test('300 random questions are answered as a recount of the clicks answers them', async () => {
  await fc.assert(
    fc.asyncProperty(question, async asked => {
      const { levels, filters, zone, from, to, sort } = asked
      const body = {
        levels,
        filters,
        sort,
        measures: MEASURES,
        time_zone: zone,
        date_from: new Date(from).toISOString(),
        date_to: new Date(to).toISOString(),
      }
      const response = await house.call('POST', '/api/explore', { cookie, body })
      assert.equal(response.statusCode, 200, response.body)
      const answer = response.json<ExploreAnswer>()
      const found = await leaves(asked)
      assertAlike(answer.totals, total(found), 'in all')
      assertRows(answer.rows, expected(found, asked), 'rows')
    }),
    { numRuns: 300, endOnFailure: true },
  )
})
