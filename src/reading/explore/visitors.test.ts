// Unique visitors of more clicks than are counted exactly, with limits low enough for a test.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { seedExplored } from '../../../tests/support/explored.ts'
import { newId, startHouse, type TestHouse } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import type { ExploreAnswer } from '../../contract/explore-answer.ts'
import { sampleFor } from './visitors.ts'

const EXACT = 400
let house: TestHouse
let owner: SignedIn
const NOON = Date.UTC(2026, 2, 2, 12)
const VISITORS = 1500

before(async () => {
  house = await startHouse({ ROLE: 'serve' }, { explore: { exact_visitors: EXACT } })
  owner = await seedSignedIn(house)
  const visitors = Array.from({ length: VISITORS }, () => newId())
  // Each visitor clicks twice in one zone; ten zones have two visitors each.
  const clicks = visitors.flatMap((visitor_id, at) =>
    [0, 1].map(turn => ({ at: NOON + at * 10 + turn, visitor_id, sub1: at < 20 ? `small ${at % 10}` : 'large' })),
  )
  await seedExplored(house.database, owner.org_id, clicks)
})
after(() => house.end())

async function ask(question: object): Promise<ExploreAnswer> {
  const asked = {
    date_from: '2026-03-01',
    date_to: '2026-03-07T23:59:59.999Z',
    measures: ['clicks', 'unique_visitors'],
  }
  const response = await house.call('POST', '/api/explore', { cookie: owner.cookie, body: { ...asked, ...question } })
  assert.equal(response.statusCode, 200, response.body)
  return response.json<ExploreAnswer>()
}

/** With 1,500 visitors and one in eight sampled, the estimate is off by more than half once in 10⁹ runs. */
const assertRoughly = (told: number | string | null | undefined) =>
  assert.ok(Number(told) > VISITORS / 2 && Number(told) < VISITORS * 1.5, `${told} of ${VISITORS}`)

test('many visitors are estimated from a sample, and those of few clicks are exact', async () => {
  const { rows, totals, unique_visitors_is_estimate } = await ask({
    levels: [{ dimension: 'sub1' }, { dimension: 'geo' }],
  })
  assert.ok(unique_visitors_is_estimate)
  assert.equal(totals.clicks, 2 * VISITORS)
  assertRoughly(totals.unique_visitors)
  assert.equal(Number(totals.unique_visitors) % 8, 0, 'of one visitor in eight')
  const small = rows.filter(({ key }) => key?.startsWith('small'))
  assert.equal(small.length, 10)
  for (const { clicks, unique_visitors, children } of small)
    assert.deepEqual([clicks, unique_visitors, children?.[0]?.unique_visitors], [4, 2, 2])
})

test('visitors of other are estimated from the sample, and so are those of the period before', async () => {
  const { rows } = await ask({ levels: [{ dimension: 'sub1', top: 1, sort: { by: 'key', descending: true } }] })
  const [, other] = rows
  assert.equal(other?.is_other, true)
  assertRoughly(other?.unique_visitors)
  const later = { date_from: '2026-03-08', date_to: '2026-03-14T23:59:59.999Z', compare: 'before' }
  const { totals, unique_visitors_is_estimate } = await ask({ ...later, levels: [{ dimension: 'sub1' }] })
  assert.deepEqual([totals.unique_visitors, totals.before?.unique_visitors], [0, VISITORS])
  assert.equal(unique_visitors_is_estimate, false, 'it goes by the clicks of the window')
})

test('a question with few clicks counts each visitor', async () => {
  const filters = [{ dimension: 'sub1', op: 'contains', values: ['small'] }]
  const { totals, unique_visitors_is_estimate } = await ask({ levels: [{ dimension: 'sub1' }], filters })
  assert.deepEqual([totals.clicks, totals.unique_visitors, unique_visitors_is_estimate], [40, 20, false])
})

test('the sample is as large as can be counted exactly', () => {
  const limits = { exact_visitors: 1_000_000 }
  assert.deepEqual(
    [0n, 1_000_000n, 1_000_001n, 2_000_000n, 10_000_000n].map(clicks => sampleFor(clicks, limits)),
    [1, 1, 2, 2, 16],
  )
})
