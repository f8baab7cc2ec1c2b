// The same clicks through every route that returns figures: the dashboard's report, its file, Explore and its file, the figures of the lists, the
// contract's report and the tool. All of them must equal plain SQL over clicks, events and revisions.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ExploreAnswer, ExploreMeasures } from '../src/contract/explore-answer.ts'
import { FIGURES } from '../src/contract/figures.ts'
import { readFormula } from '../src/contract/formula.ts'
import type { ExploreDimension } from '../src/contract/explore-dimensions.ts'
import { DAY_MS } from '../src/contract/days.ts'
import { toUuid } from '../src/contract/ids.ts'
import { storeClicks } from '../src/intake/clicks/store.ts'
import type { FiguresRow } from '../src/reading/figures/api.ts'
import type { MemberReport, Report } from '../src/reading/reports/api.ts'
import { foldEvents } from '../src/reading/reports/fold-events.ts'
import { openFolder } from '../src/reading/reports/fold.ts'
import { checkSegments } from '../src/reading/segments/check.ts'
import { sealAll } from '../src/reading/segments/seal.ts'
import { LIST_COLUMNS, lineOf } from '../src/web/ground/figures/columns.ts'
import { countingIn, type WireReport, type Totals } from '../src/web/ground/figures/measures.ts'
import { type Costed, costsOf } from './support/cost-recount.ts'
import { newId, seedKey, startHouse, type TestHouse, toWireId } from './support/house.ts'
import { type SignedIn, seedSignedIn } from './support/people.ts'
import { callTool } from './support/tools.ts'
import { aClick, seedCampaign } from './support/visits.ts'
import { USUAL_GOAL } from '../src/traffic/event-settings/api.ts'

/** The shared figures; amounts in cents, shares and amounts per unit in millionths. */
const SHARED = ['clicks', 'lead', 'ftd', 'conversions', 'conversions_pending', 'conversions_rejected', 'revenue', 'cr']
/** The shared figures of cost; NaN if the cost is unknown. */
const COSTING = ['cost', 'profit', 'roi', 'cpc', 'cpa']
type Figures = { readonly [figure: string]: number }
/** Figures by key, with '' for clicks without a value, and the total. */
type Told = { readonly rows: ReadonlyMap<string, Figures>; readonly totals: Figures | undefined }

let house: TestHouse
let owner: SignedIn
const [funnel, flow, source, landings] = [newId(), newId(), newId(), [newId(), newId()]]
const today = () => new Date().toISOString().slice(0, 10)

before(async () => {
  // Only the test folds and seals.
  house = await startHouse({ ROLE: 'serve' })
  owner = await seedSignedIn(house)
  await stock()
})
after(() => house.end())

async function call(method: 'POST' | 'PUT' | 'PATCH', path: string, body: object): Promise<Record<string, unknown>> {
  const reply = await house.call(method, path, { cookie: owner.cookie, body })
  assert.ok(reply.statusCode < 300, `${path}: ${reply.body}`)
  return reply.data()
}

/** Campaigns with different goals, cost in the link, entered and synced spend, payouts in two currencies, and conversions in every status. */
async function stock() {
  const { org_id } = owner
  const { worker } = house.database
  await call('PUT', '/api/rates/EUR', { from_day: today(), usd_per_unit: '1.1' })
  const offer = async (name: string, more: object) =>
    String((await call('POST', '/api/offers', { name, url: 'https://a.example/?c={click_id}', ...more }))['id'])
  const offers = [
    await offer('Dollars', { payout: '20', payout_types: ['lead', 'purchase'] }),
    await offer('Euros', { payout: '25', payout_currency: 'EUR', payout_types: ['ftd'] }),
  ]
  const push = await seedCampaign(house.database, org_id)
  const meta = await seedCampaign(house.database, org_id, { destination: { type: 'funnel', funnel_id: funnel } })
  const tiktok = await seedCampaign(house.database, org_id, {
    destination: { type: 'click_flow', click_flow_id: flow },
  })
  await worker.query('update campaigns set traffic_source_id = $2 where org_id = $1 and id = $3', [
    org_id,
    source,
    push.id,
  ])
  const goals: [string, string[]][] = [
    [meta.id, ['purchase', 'custom_1']],
    [tiktok.id, ['ftd']],
  ]
  for (const [id, goal] of goals) await call('PATCH', `/api/campaigns/${toWireId(id)}`, { goal })
  const clicks = Array.from({ length: 60 }, (_, at) => ({
    ...aClick(house.ground.secrets.clickKey, org_id, {
      campaign_id: [push, meta, tiktok][at % 3]?.id ?? null,
      offer_id: toUuid(offers[at % 2] ?? '') ?? null,
      landing_id: landings[at % 4] ?? null,
      geo: ['DE', 'FR', 'PL', 'PL', null][at % 5] ?? null,
      sub1: ['z1', 'z2', 'z3', 'z3', null][at % 7] ?? null,
      ...(at % 3 === 0 && { cost: '0.05', cost_counts: true }),
    }),
  }))
  await storeClicks(house.database.clicks, clicks)
  await enter(meta.id, '', '12.5')
  // Overrides the cost of those clicks.
  await enter(push.id, 'z2', '2', 'EUR')
  const book = (sub1: string, amount: string, origin: string) =>
    worker.query(
      'insert into booked_spend (org_id, day, campaign_id, sub1, amount, origin) values ($1, $2, $3, $4, $5, $6)',
      [org_id, today(), tiktok.id, sub1, amount, origin],
    )
  const [account, spread] = [`account:${newId()}`, `spread:${newId()}`]
  await book('z1', '7.25', account)
  await book('nobody', '1.25', account)
  await book('z2', '3.5', spread)
  // For the clicks without a sub1.
  await book('', '1.5', spread)
  const said = ['', 'pending', 'rejected', 'approved', 'refunded', 'chargeback']
  const types = ['lead', 'ftd', 'purchase', 'custom_1', 'bot_start']
  for (const [at, { id }] of clicks.slice(0, 40).entries())
    for (const nth of [0, 1].slice(0, 1 + (at % 2))) {
      const type = types[(at + nth) % types.length]
      const person = { payload: { telegram_user_id: String(at) } }
      const event = await call('POST', '/api/events', { clickId: toWireId(id), type, nonce: String(nth), ...person })
      const status = said[(at + 2 * nth) % said.length]
      if (status === '' || status === undefined) continue
      // Some have several revisions: the last one counts.
      const before = at % 4 === 0 ? [status === 'pending' ? 'rejected' : 'pending'] : []
      for (const one of [...before, status])
        await call('POST', `/api/events/${String(event['id'])}/revisions`, {
          status: one,
          reason: 'as the network says',
        })
    }
}

const enter = (campaign: string, sub1: string, amount: string, currency?: string) =>
  call('PUT', '/api/ad-spend', {
    campaign_id: toWireId(campaign),
    day: today(),
    sub1,
    amount,
    ...(currency && { currency }),
  })

/** By SQL that shares no code with the routes. */
async function truth(key: string, where = 'true'): Promise<Told> {
  const standing = (is: string) => `count(*) filter (where is_goal and ${is})`
  const { rows } = await house.database.reads.query<Record<string, string> & { key: string | null }>(
    `with stood as (
      select e.click_id, e.type = any(coalesce(p.goal, '{${USUAL_GOAL.join()}}')) as is_goal,
        coalesce((select r.status from event_revisions r where r.org_id = e.org_id and r.event_id = e.id order by seq desc limit 1), 'approved') as status
      from events e left join campaigns p on p.org_id = e.org_id and p.id = e.campaign_id where e.org_id = $1
    ), converted as (
      select click_id, ${standing(`status = 'approved'`)} as approved, ${standing(`status = 'pending'`)} as pending,
        ${standing(`status in ('rejected', 'refunded', 'chargeback')`)} as rejected
      from stood group by 1
    )
    select coalesce(${key}, '') as key, count(*) as clicks, count(*) filter (where c.stages & 16 > 0) as lead,
      count(*) filter (where c.stages & 64 > 0) as ftd, coalesce(sum(converted.approved), 0) as conversions,
      coalesce(sum(converted.pending), 0) as conversions_pending, coalesce(sum(converted.rejected), 0) as conversions_rejected, coalesce(sum(c.revenue), 0) as revenue
    from clicks c
    left join converted on converted.click_id = c.id
    left join campaigns p on p.org_id = $1 and p.id = c.campaign_id
    where c.org_id = $1 and ${where} group by grouping sets ((1), ())`,
    [owner.org_id],
  )
  const told = rows.map(({ key: found, revenue = '0', ...counts }) => {
    const numbers = Object.fromEntries(Object.entries(counts).map(([name, value]) => [name, Number(value)])) as Figures
    const cr = (numbers['conversions'] ?? 0) / (numbers['clicks'] ?? 1)
    return [found, { ...numbers, revenue: cents(revenue), cr }] as const
  })
  const keyed = told.flatMap(([found, figures]) => (found === null ? [] : [[found, figures] as const]))
  return { rows: new Map(keyed), totals: told.find(([found]) => found === null)?.[1] }
}

/** The same with the cost, by a recount of clicks and amounts. */
async function costTruth(dimension: ExploreDimension): Promise<Told> {
  const [from, to] = [Date.parse(today()), Date.parse(today()) + DAY_MS - 1]
  const counted = await truth(KEYS[dimension] ?? assert.fail(dimension))
  const spent = await costsOf(house.database.worker, owner.org_id, dimension, { from, to, zone: 'UTC' })
  const figures = ({ clicks, cost: amount, clicks_without_cost }: Costed, of: Figures | undefined): Figures => {
    const isKnown = clicks === 0 || clicks > clicks_without_cost || Number(amount) > 0
    const cost = isKnown ? Number(amount) : Number.NaN
    const profit = (of?.['revenue'] ?? 0) / 100 - cost
    const each = (above: number, below: number) => millionths(below === 0 ? null : above / below)
    return {
      cost: cents(String(cost)),
      profit: cents(String(profit)),
      roi: each(profit, cost),
      cpc: each(cost, clicks),
      cpa: each(cost, of?.['conversions'] ?? 0),
    }
  }
  const keyOf = (key: string | null) => (key === '' ? SPENT : (key ?? ''))
  return {
    rows: new Map(spent.rows.map(row => [keyOf(row.key), figures(row, counted.rows.get(row.key ?? ''))])),
    totals: figures(spent.totals, counted.totals),
  }
}

/** Half a cent is rounded up also where the share of one click is a trillionth short of it. */
const cents = (amount: string) => Math.round(Number(amount) * 100 + 1e-6)
/** NaN for an unknown figure. */
const millionths = (figure: number | string | null | undefined) =>
  figure == null ? Number.NaN : Math.round(Number(figure) * 1_000_000)
const uuidOf = (key: string) => toUuid(key) ?? key

const WINDOW = () => ({ date_from: today(), date_to: `${today()}T23:59:59.999Z` })

async function get<T>(path: string, query: Record<string, string>, as: object = { cookie: owner.cookie }): Promise<T> {
  const reply = await house.call('GET', `${path}?${new URLSearchParams(query).toString()}`, as)
  assert.equal(reply.statusCode, 200, reply.body)
  return reply.json<T>()
}

/** The figures that the screen computes from a row. */
function onScreen(row: Totals): Figures {
  const { measures } = lineOf(row, 'own')
  const { clicks, lead, ftd } = row
  const { conversions, pending, rejected, cr } = measures
  return {
    clicks,
    lead,
    ftd,
    conversions,
    conversions_pending: pending,
    conversions_rejected: rejected,
    revenue: cents(row.revenue),
    cr: cr ?? 0,
  }
}

/** The cost figures that the screen computes from a row. */
function costOnScreen(row: Totals): Figures {
  const { cost, profit, roi, cpc, cpa } = lineOf(row, 'own').measures
  const money = (amount: string | undefined) => (amount === undefined ? Number.NaN : cents(amount))
  return { cost: money(cost), profit: money(profit), roi: millionths(roi), cpc: millionths(cpc), cpa: millionths(cpa) }
}

type Reading = { readonly more?: Record<string, string>; readonly read?: (row: Totals) => Figures }
async function ofReport(dimension: string, { more = {}, read = onScreen }: Reading = {}): Promise<Told> {
  const report = await get<MemberReport>('/api/report', { dimension, ...WINDOW(), ...more })
  return { rows: new Map(report.rows.map(row => [uuidOf(row.key), read(row)])), totals: read(report.totals) }
}

const ofMeasures = (row: ExploreMeasures): Figures =>
  Object.fromEntries(
    SHARED.map(name => {
      const value = row[name as keyof ExploreMeasures]
      return [name, name === 'revenue' ? cents(String(value)) : Number(value)]
    }),
  )

const ofCosts = ({ cost, profit, roi, cpc, cpa }: ExploreMeasures): Figures => ({
  cost: cost == null ? Number.NaN : cents(cost),
  profit: profit == null ? Number.NaN : cents(profit),
  roi: millionths(roi),
  cpc: millionths(cpc),
  cpa: millionths(cpa),
})

/** Spend without a known key, in the row of clicks without a value. */
const SPENT = '(spent)'

async function explored(dimension: string, more: object = {}): Promise<ExploreAnswer> {
  const body = { ...WINDOW(), levels: [{ dimension, top: 1000 }], ...more }
  const reply = await house.call('POST', '/api/explore', { cookie: owner.cookie, body })
  assert.equal(reply.statusCode, 200, reply.body)
  const answer = reply.json<ExploreAnswer>()
  assert.deepEqual(answer.incomplete_days, [])
  return answer
}

type Exploring = { readonly more?: object; readonly read?: (row: ExploreMeasures) => Figures }
async function ofExplore(dimension: string, { more = {}, read = ofMeasures }: Exploring = {}): Promise<Told> {
  const { rows, totals } = await explored(dimension, more)
  const keyOf = (key: string | null) => (key === '' ? SPENT : uuidOf(key ?? ''))
  return { rows: new Map(rows.map(row => [keyOf(row.key), read(row)])), totals: read(totals) }
}

/** The lines of a file by key, with figures by their column titles; money in cents. */
function linesOf(csv: string, only = SHARED): Map<string, Figures> {
  const [head = [], ...lines] = csv
    .trim()
    .split('\r\n')
    .map(line => line.split(',').map(cell => cell.replaceAll('"', '')))
  return new Map(
    lines.map(cells => [
      cells[1] === 'Spend without clicks' ? SPENT : uuidOf(cells[0] ?? ''),
      Object.fromEntries(
        only.map(name => {
          const cell = cells[head.indexOf(name)] ?? assert.fail(`no column ${name}`)
          if (MONEY.includes(name)) return [name, cell === '' ? Number.NaN : cents(cell)]
          return [name, IN_MILLIONTHS.includes(name) ? millionths(cell === '' ? null : cell) : Number(cell)]
        }),
      ),
    ]),
  )
}

const MONEY = ['revenue', 'cost', 'profit']
const IN_MILLIONTHS = ['roi', 'cpc', 'cpa']

async function ofExploreFile(dimension: string, only?: string[]): Promise<Told> {
  const body = { ...WINDOW(), levels: [{ dimension }] }
  const reply = await house.call('POST', '/api/explore/csv', { cookie: owner.cookie, body })
  assert.equal(reply.statusCode, 200, reply.body)
  return { rows: linesOf(reply.body, only), totals: undefined }
}

async function ofList(path: string, query: Record<string, string>): Promise<Told> {
  const day = { date_from: today(), date_to: today() }
  const { rows } = await get<{ rows: FiguresRow[] }>(path, { ...query, ...day })
  return { rows: new Map(rows.map(row => [uuidOf(row.key), onScreen(row)])), totals: undefined }
}

function assertAlike(told: Told, right: Told, door: string, only = SHARED) {
  // Only routes with a cost have rows with spend only.
  const isThere = (figures: Figures) => only === COSTING || figures['clicks'] !== 0
  const pick = (figures: Figures) => Object.fromEntries(only.map(name => [name, figures[name]]))
  const sorted = ({ rows }: Told) =>
    [...rows]
      .flatMap(([key, of]) => (isThere(of) ? [[key, pick(of)] as const] : []))
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
  assert.deepEqual(sorted(told), sorted(right), door)
  if (told.totals !== undefined && right.totals !== undefined)
    assert.deepEqual(pick(told.totals), pick(right.totals), door)
}

const KEYS: Readonly<Record<string, string>> = {
  campaign: 'c.campaign_id::text',
  geo: 'c.geo',
  sub1: 'c.sub1',
  offer: 'c.offer_id::text',
  day: `'${today()}'`,
  source: 'p.traffic_source_id::text',
}
/** The figures of keys: stages and money, by the contract's report and its tool. */
const RUNGS = ['clicks', 'lead', 'ftd', 'revenue']

async function everyDoor() {
  const { secret: key } = await seedKey(house.database, owner, { rights: ['report'] })
  for (const [dimension, column] of Object.entries(KEYS)) {
    if (dimension === 'source') continue
    const right = await truth(column)
    assertAlike(await ofReport(dimension), right, `report by ${dimension}`)
    assertAlike(await ofExplore(dimension), right, `Explore by ${dimension}`)
    assertAlike(await ofExploreFile(dimension), right, `file of Explore by ${dimension}`)
    const query = { dimension, ...WINDOW() }
    const tool = await callTool(house, key, 'service_get_report', query)
    const answers = [await get<Report>('/api/v1/report', query, { key }), tool.structuredContent as unknown as Report]
    const { totals: shown } = await get<MemberReport>('/api/report', query)
    for (const { totals } of answers)
      assert.deepEqual([totals.cost, totals.cost_source], [shown.cost, shown.cost_source])
    for (const [at, { rows, totals }] of answers.entries()) {
      const numbers = (row: object) => ({
        ...(row as Figures),
        revenue: cents(String((row as Report['totals']).revenue)),
      })
      const told = { rows: new Map(rows.map(row => [uuidOf(row.key), numbers(row)])), totals: numbers(totals) }
      assertAlike(told, right, `${at === 0 ? 'contract' : 'tool'} by ${dimension}`, RUNGS)
    }
  }
  const total = (await truth(`'x'`)).totals
  // Figures that are 0 everywhere would prove nothing.
  for (const name of SHARED) assert.ok((total?.[name] ?? 0) > 0, name)
  for (const dimension of ['local_day', 'local_hour', 'local_weekday_hour'])
    assert.deepEqual((await ofReport(dimension, { more: { tz: 'UTC' } })).totals, total, dimension)
  const landed = await truth('c.landing_id::text', 'c.landing_id is not null')
  assertAlike(await ofList('/api/figures/landings', {}), landed, 'landings')
  const { rows } = await ofExplore('landing')
  assertAlike({ rows: new Map([...rows].filter(([id]) => id !== '')), totals: undefined }, landed, 'Explore by landing')
  for (const [type, id, dimension] of [
    ['funnel', `p.destination->>'funnel_id'`, 'funnel'],
    ['click_flow', `p.destination->>'click_flow_id'`, undefined],
    ['traffic_source', 'p.traffic_source_id::text', 'source'],
  ] as const) {
    const right = await truth(id, `${id} is not null`)
    assertAlike(await ofList('/api/figures/destinations', { type }), right, type)
    if (dimension === undefined) continue
    const named = [...(await ofExplore(dimension)).rows].filter(([one]) => one !== '')
    assertAlike({ rows: new Map(named), totals: undefined }, right, `Explore by ${dimension}`)
  }
}

/** By campaign and day every route has a cost; by sub1 the screens, with spend without a sub1 apart; by other dimensions only Explore. */
async function everyDoorOfCost() {
  const { secret: key } = await seedKey(house.database, owner, { rights: ['report'] })
  const costly = { read: costOnScreen }
  for (const dimension of ['campaign', 'day', 'source', 'geo', 'offer', 'sub1'] as const) {
    const right = await costTruth(dimension)
    assertAlike(await ofExplore(dimension, { read: ofCosts }), right, `Explore by ${dimension}`, COSTING)
    assertAlike(await ofExploreFile(dimension, COSTING), right, `file of Explore by ${dimension}`, COSTING)
    if (dimension !== 'campaign' && dimension !== 'day') continue
    assertAlike(await ofReport(dimension, costly), right, `report by ${dimension}`, COSTING)
    const query = { dimension, ...WINDOW() }
    const tool = await callTool(house, key, 'service_get_report', query)
    for (const { rows, totals } of [
      await get<Report>('/api/v1/report', query, { key }),
      tool.structuredContent as unknown as Report,
    ]) {
      const costOf = (row: object) => costOnScreen(row as Totals)
      const told = { rows: new Map(rows.map(row => [uuidOf(row.key), costOf(row)])), totals: costOf(totals) }
      assertAlike(told, right, `contract and tool by ${dimension}`, ['cost', 'profit', 'roi', 'cpc'])
    }
  }
  const apart = await ofExplore('sub1', { more: { unassigned: 'apart' }, read: ofCosts })
  const { not_broken_down } = await get<MemberReport>('/api/report', { dimension: 'sub1', ...WINDOW() })
  assert.equal(apart.rows.get(SPENT)?.['cost'], cents(not_broken_down?.cost ?? ''))
  const named = new Map([...apart.rows].filter(([one]) => one !== SPENT))
  assertAlike(await ofReport('sub1', costly), { ...apart, rows: named }, 'by sub1, apart', COSTING)
  const { totals } = await costTruth('campaign')
  for (const name of COSTING) assert.ok(Number.isFinite(totals?.[name]), name)
}

test('every route returns the same value of each shared figure, before and after folding and sealing', async () => {
  await everyDoor()
  await everyDoorOfCost()
  const folder = openFolder(house.ground)
  await folder.foldAll()
  await folder.close()
  await foldEvents(house.database.worker)
  await sealAll(house.database.worker, house.ground.secrets)
  await everyDoor()
  await everyDoorOfCost()
  await checkSegments(house.ground)
  assertAlike(await ofExplore('campaign'), await truth(KEYS['campaign'] ?? ''), 'after the segments were checked')
})

test('with pending conversions counted too, the screen and Explore agree', async () => {
  const report = await get<WireReport>('/api/report', { dimension: 'campaign', ...WINDOW() })
  const counted = countingIn(report, true)
  const { rows, totals } = await explored('campaign', { count_pending: true })
  const both = (row: Totals) => {
    const { conversions, cr } = lineOf(row, 'own').measures
    return [conversions, cr]
  }
  assert.deepEqual([totals.conversions, totals.cr], both(counted.totals))
  assert.ok(counted.totals.conversions > report.totals.conversions)
  for (const row of counted.rows) {
    const found = rows.find(({ key }) => key === row.key)
    assert.deepEqual([found?.conversions, found?.cr], both(row), row.label)
  }
})

test('derived figures equal their formulas, in Explore and on the screen', async () => {
  const { totals } = await explored('campaign')
  const report = await get<WireReport>('/api/report', { dimension: 'campaign', ...WINDOW() })
  const columns = new Map(LIST_COLUMNS.map(column => [column.id, column]))
  const line = lineOf(report.totals, 'own')
  for (const [key, figure] of Object.entries(FIGURES)) {
    if (!('formula' in figure)) continue
    const formula = readFormula(figure.formula, new Set(Object.keys(FIGURES)))
    if ('wrong' in formula) assert.fail(formula.wrong)
    const told = totals as Readonly<Record<string, unknown>>
    // Each route by its own cost.
    const inExplore = formula.value(name => Number(told[name]))
    assert.equal(Number(told[key]).toFixed(6), inExplore?.toFixed(6), `${key} in Explore`)
    const shown = columns.get(key)
    if (shown === undefined) continue
    const onTheScreen = formula.value(name => columns.get(name)?.number(line))
    assert.equal(shown.number(line)?.toFixed(6), onTheScreen?.toFixed(6), `${key} on the screen`)
  }
})
