// Random questions of Explore against a recount of the clicks themselves, by SQL that knows nothing of facts.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { asRecounted, recountExplore } from '../../../tests/support/explore-recount.ts'
import { type ExploredClick, seedExplored } from '../../../tests/support/explored.ts'
import { newId, startHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import { seedCampaign } from '../../../tests/support/visits.ts'
import {
  EXPLORE_DIMENSIONS,
  type ExploreAnswer,
  type ExploreDimension,
  type ExploreFilter,
  ExploreQuestion,
  isObjectDimension,
  type Measure,
  MEASURES,
  operatorsOf,
} from '../../contract/explore.ts'
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
  if (isObjectDimension(dimension) && known[dimension] === undefined)
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

/** A question, and whether a branch of it is opened: below its first row, from the row after so many. */
type Asked = { readonly question: ExploreQuestion; readonly opened: number | undefined }
const asked: fc.Arbitrary<Asked> = fc
  .record({
    dimensions: fc.uniqueArray(fc.constantFrom(...EXPLORE_DIMENSIONS), { minLength: 1, maxLength: 4 }),
    tops: fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 4, maxLength: 4 }),
    filters: fc.oneof(
      { weight: 2, arbitrary: fc.constant<ExploreFilter[]>([]) },
      { weight: 3, arbitrary: fc.array(filter, { maxLength: 3 }) },
    ),
    time_zone: fc.constantFrom(...ZONES),
    from: fc.oneof(fc.constant(FROM), fc.integer({ min: FROM, max: TO })),
    length: fc.oneof(fc.constant(TO - FROM), fc.integer({ min: 0, max: TO - FROM })),
    by: fc.constantFrom<Measure | 'key'>('key', ...MEASURES),
    descending: fc.boolean(),
    isCompared: fc.boolean(),
    opened: fc.option(fc.nat(3), { nil: undefined }),
  })
  .map(({ dimensions, tops, filters, time_zone, from, length, by, descending, isCompared, opened }) => ({
    question: {
      date_from: new Date(from).toISOString(),
      date_to: new Date(from + length).toISOString(),
      time_zone,
      levels: dimensions.map((dimension, at) => ({ dimension, top: tops[at] ?? 1 })),
      filters,
      sort: { by, descending },
      measures: [...MEASURES],
      ...(isCompared && !dimensions.includes('day') && { compare: 'before' as const }),
    },
    opened,
  }))

/** Holds an answer against a recount, and gives the key of its first row, if it has any. */
async function assertRecounted(question: ExploreQuestion): Promise<string | null | undefined> {
  const response = await house.call('POST', '/api/explore', { cookie, body: question })
  assert.equal(response.statusCode, 200, response.body)
  const answer = response.json<ExploreAnswer>()
  const recounted = await recountExplore(house.database.worker, org_id, ExploreQuestion.parse(question))
  assert.deepEqual(asRecounted(answer), recounted)
  return answer.rows[0]?.key
}

const isWhole = Boolean(process.env['SLUICE_TEST_ALL'])
const RUNS = isWhole ? 300 : 40

test(`${RUNS} random questions are answered as a recount of the clicks answers them`, async () => {
  await fc.assert(
    fc.asyncProperty(asked, async ({ question, opened }) => {
      const first = await assertRecounted(question)
      if (opened === undefined || first === undefined) return
      const within = question.levels.length > 1 ? [first] : []
      await assertRecounted({ ...question, within, after: opened })
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
})
