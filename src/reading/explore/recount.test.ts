// Random questions of Explore equal a recount of the clicks by SQL that does not use facts.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { type Ask, anyQuestion, askerOf, assertAnswered } from '../../../tests/support/any-question.ts'
import { type Converted, type ExploredClick, seedExplored } from '../../../tests/support/explored.ts'
import { COUNTED_REVENUES } from '../../../tests/support/explore-measures.ts'
import { newId, startHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import { seedCampaign } from '../../../tests/support/visits.ts'
import { type ExploreDimension, isObjectDimension } from '../../contract/explore-dimensions.ts'
import { fromUnits, toUnits } from '../../contract/decimals.ts'
import type { ExploreQuestion } from '../../contract/explore.ts'
import type { ExploreAnswer, ExploreMeasures, ExploreRow } from '../../contract/explore-answer.ts'
import { LADDER } from '../../contract/ladder.ts'

let house: TestHouse
let cookie: string
let org_id: number
const campaigns = [newId(1), newId(2), newId(3)]
const [source_id, funnel_id] = [newId(4), newId(5)]
const [tagged_offer, tagged_landing] = [newId(6), newId(8)]
const tags = [newId(11), newId(12), newId(13)] as [string, string, string]

const FROM = Date.UTC(2026, 2, 27)
const TO = Date.UTC(2026, 3, 2)

const text = fc.constantFrom(null, 'a', 'A', 'b', "it's", '=1', 'ünï', '100%_')
const id = (...ids: string[]) => fc.constantFrom(null, ...ids)
const clicks: fc.Arbitrary<ExploredClick> = fc
  .record({
    at: fc.integer({ min: FROM, max: TO }),
    campaign: id(...campaigns),
    offer: id(tagged_offer, newId(7)),
    landing: id(tagged_landing),
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
    way: fc.constantFrom(null, 'page'),
    is_left_out: fc.constantFrom(null, 'sub1=zone'),
    tracked: fc.boolean(),
    stages: fc.constantFrom(1, 3, 7, 0b100011, 0b1100011, 0b1111111),
    cost: fc.constantFrom(null, '0.5', '0.000000001', '3'),
    cost_counts: fc.constantFrom(null, true),
    approved: fc.nat(2),
    pending: fc.nat(1),
    rejected: fc.nat(2),
    revenue_pending: fc.constantFrom('0', '7.25'),
    converted: fc.array(
      fc.record({
        type: fc.constantFrom('lead', 'ftd', 'purchase', 'custom_1'),
        status: fc.constantFrom('approved', 'pending', 'rejected'),
        amount: fc.constantFrom('0', '12.5', '0.000001', '999999.999999'),
      }),
      { maxLength: 3 },
    ),
  })
  .map(click => ({ ...click, revenue: paidBy(click.converted) }))

/** The revenue of a click: null, or the sum of its approved conversions. */
function paidBy(converted: readonly Converted[]): string | null {
  const approved = converted.filter(({ status }) => status === 'approved')
  const sum = approved.reduce((all, { amount = '0' }) => all + toUnits(amount, 6), 0n)
  return sum === 0n ? null : fromUnits(sum, 6)
}

before(async () => {
  // The house does not seal, merge or check in the background: the test does. sub5 has too many words to number them.
  house = await startHouse({ ROLE: 'serve' }, { explore: { most_words: 7 } })
  const person = await seedSignedIn(house)
  ;({ cookie, org_id } = person)
  for (const [at, one] of campaigns.entries())
    await seedCampaign(house.database, org_id, {
      id: one,
      ...(at === 0 && { destination: { type: 'funnel', funnel_id } }),
    })
  await house.database.worker.query(`update campaigns set goal = '{ftd,purchase}' where org_id = $1 and id = $2`, [
    org_id,
    campaigns[2],
  ])
  await house.database.worker.query('update campaigns set traffic_source_id = $2 where org_id = $1 and id = $3', [
    org_id,
    source_id,
    campaigns[1],
  ])
  await seedTags()
  await seedExplored(house.database, org_id, fc.sample(clicks, { numRuns: 400, seed: 17 }))
})
after(() => house.end())

/** Two campaigns, an offer and a landing with tags: a click may have up to three, some of them by two of its objects. */
async function seedTags(): Promise<void> {
  const { worker } = house.database
  const [one, two, three] = tags
  for (const [at, id] of tags.entries())
    await worker.query(
      `insert into tags (org_id, id, name, color, created_at, updated_at) values ($1, $2, $3, 'red', now(), now())`,
      [org_id, id, `tag ${at}`],
    )
  const tagged = 'update campaigns set tag_ids = $3 where org_id = $1 and id = $2'
  await worker.query(tagged, [org_id, campaigns[0], [one]])
  await worker.query(tagged, [org_id, campaigns[1], [two, one]])
  await worker.query(
    `insert into offers (org_id, id, name, url, payout_types, status, tag_ids, created_at, updated_at)
    values ($1, $2, 'tagged', 'https://o.example/', '{}', 'active', $3, now(), now())`,
    [org_id, tagged_offer, [two]],
  )
  await worker.query(
    `insert into landings (org_id, id, name, url, status, tag_ids, created_at, updated_at)
    values ($1, $2, 'tagged', 'https://l.example/', 'active', $3, now(), now())`,
    [org_id, tagged_landing, [three]],
  )
}

const keysOf = (dimension: ExploreDimension): fc.Arbitrary<string> => {
  const known: Readonly<Record<string, readonly string[]>> = {
    day: ['2026-03-28', '2026-03-29', '2026-03-30'],
    hour: ['00', '03', '23'],
    weekday: ['1', '7'],
    weekday_hour: ['7-03', '1-23'],
    is_new: ['true', 'false'],
    way: ['redirect', 'page'],
    is_left_out: ['true', 'false'],
    status: LADDER,
    geo: ['DE', 'FR', 'XX'],
    tag: [...tags, newId(14)].map(toWireId),
    source: [toWireId(source_id), toWireId(newId())],
    funnel: [toWireId(funnel_id)],
    path: ['v1>a>b', 'v'],
  }
  if (isObjectDimension(dimension) && known[dimension] === undefined)
    return fc.constantFrom(...[...campaigns, newId(6), newId(8)].map(toWireId))
  return fc.constantFrom(...(known[dimension] ?? ['a', 'A', 'b', "it's", '%', 'none of them']))
}

const asked = anyQuestion({ from: FROM, to: TO, keysOf })

// These clicks were never counted by a report.
const ask: Ask = async question => {
  const answer = await askerOf(house, cookie)(question)
  assertTypesAddUp(answer)
  return { ...answer, incomplete_days: [] }
}

/** In every row and in the totals, the revenues of the types of events add up to the revenue. */
function assertTypesAddUp({ rows, totals, totals_without_having }: ExploreAnswer): void {
  const assertRow = ({ children = [], before, ...row }: ExploreMeasures & Pick<ExploreRow, 'children' | 'before'>) => {
    const sum = COUNTED_REVENUES.reduce((all, name) => all + toUnits(row[name] ?? 'not known', 6), 0n)
    assert.equal(sum, toUnits(row.revenue ?? '', 6))
    for (const one of [...children, ...(before === undefined ? [] : [before])]) assertRow(one)
  }
  for (const row of [...rows, totals, ...(totals_without_having ? [totals_without_having] : [])]) assertRow(row)
}

const isWhole = Boolean(process.env['SLUICE_TEST_ALL'])
const RUNS = isWhole ? 300 : 10

test(`${RUNS} random questions are answered as a recount of the clicks answers them`, async () => {
  await fc.assert(
    fc.asyncProperty(asked, one => assertAnswered(ask, house.database, org_id, one)),
    { numRuns: RUNS, endOnFailure: true },
  )
})

describe('tags', () => {
  const WINDOW = { date_from: new Date(FROM).toISOString(), date_to: new Date(TO).toISOString() }
  const MEASURED = ['clicks', 'unique_visitors', 'revenue', 'conversions'] as const

  /** The same figures without tags, of the clicks that pass filters which are recounted above. */
  const figuresOf = async (filters: ExploreQuestion['filters']): Promise<ExploreMeasures> =>
    (await answer({ ...WINDOW, levels: [{ dimension: 'status' }], measures: [...MEASURED], filters })).totals
  type Filter = NonNullable<ExploreQuestion['filters']>[number]
  /** The filter by a key; null is having no value. */
  const filterBy = (dimension: 'tag' | 'geo', key: string | null): Filter =>
    key === null ? { dimension, op: 'is_empty' } : { dimension, op: 'is', values: [key] }
  const answer = (question: ExploreQuestion) => askerOf(house, cookie)(question)
  const figures = ({ clicks, unique_visitors, revenue, conversions }: ExploreMeasures) => ({
    clicks,
    unique_visitors,
    revenue,
    conversions,
  })

  for (const by of ['clicks', 'unique_visitors', 'revenue'] as const)
    test(`a click stands in the row of each of its tags, and counts once in the totals and in other, sorted by ${by}`, async () => {
      const question = { ...WINDOW, measures: [...MEASURED], sort: { by, descending: true } }
      const { rows, totals, distinct } = await answer({ ...question, levels: [{ dimension: 'tag' }] })
      assert.deepEqual(totals, await figuresOf([]))
      assert.deepEqual(distinct, [4])
      assert.deepEqual(new Set(rows.map(({ label }) => label)), new Set(['tag 0', 'tag 1', 'tag 2', '(none)']))
      assert.ok(rows.reduce((sum, { clicks = 0 }) => sum + clicks, 0) > (totals.clicks ?? 0), 'rows overlap')
      for (const row of rows) {
        assert.deepEqual(figures(row), await figuresOf([filterBy('tag', row.key)]), row.label)
      }
      const cut = await answer({ ...question, levels: [{ dimension: 'tag', top: 1 }] })
      const [first, other] = cut.rows
      assert.ok(first?.key != null && other?.is_other === true)
      assert.equal(other.count_of_other, 3)
      assert.deepEqual(figures(other), await figuresOf([{ dimension: 'tag', op: 'is_not', values: [first.key] }]))
    })

  test('rows below a tag are of its clicks alone, also in the period before, and tags stand below other levels', async () => {
    const day = 86_400_000
    const later = { date_from: new Date(FROM + 3 * day).toISOString(), date_to: new Date(TO).toISOString() }
    const question = { ...later, measures: [...MEASURED], compare: 'before' as const }
    const above = await answer({ ...question, levels: [{ dimension: 'tag' }, { dimension: 'geo' }] })
    for (const { key, children = [] } of above.rows) {
      const alone = await answer({ ...question, levels: [{ dimension: 'geo' }], filters: [filterBy('tag', key)] })
      assert.deepEqual(children, alone.rows)
    }
    const opened = {
      levels: [{ dimension: 'tag' as const }, { dimension: 'geo' as const }],
      within: [toWireId(tags[1])],
    }
    const { rows } = await answer({ ...question, ...opened })
    assert.deepEqual(rows, above.rows.find(({ key }) => key === toWireId(tags[1]))?.children)
    const below = await answer({ ...question, levels: [{ dimension: 'geo' }, { dimension: 'tag' }] })
    for (const { key, children } of below.rows) {
      const filters = [filterBy('geo', key)]
      assert.deepEqual(children, (await answer({ ...question, levels: [{ dimension: 'tag' }], filters })).rows)
    }
  })

  test('filters on figures are refused where tags are a level, and tags can be looked up', async () => {
    const body = { ...WINDOW, levels: [{ dimension: 'tag' }], having: [{ measure: 'clicks', op: 'gt', value: '1' }] }
    const { statusCode, body: said } = await house.call('POST', '/api/explore', { cookie, body })
    assert.deepEqual([statusCode, JSON.parse(said).code], [400, 'invalid_question'])
    const found = await house.call('GET', '/api/explore/values?dimension=tag&search=TAG%201', { cookie })
    assert.deepEqual(found.data()['values'], [{ key: toWireId(tags[1]), label: 'tag 1', clicks: null }])
  })
})
