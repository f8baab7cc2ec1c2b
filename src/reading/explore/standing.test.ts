// Days whose facts differ from the report are read from their clicks or named, and never silently incomplete.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { seedCountedClicks } from '../../../tests/support/counted-clicks.ts'
import { asRecounted, recountExplore } from '../../../tests/support/explore-recount.ts'
import { seedExplored } from '../../../tests/support/explored.ts'
import { newId, startHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { aClick, seedCampaign } from '../../../tests/support/visits.ts'
import { DAY_MS } from '../../contract/days.ts'
import { ExploreQuestion } from '../../contract/explore.ts'
import type { ExploreAnswer } from '../../contract/explore-answer.ts'
import { MEASURES } from '../../contract/explore-measures.ts'
import { firstIdAt } from '../../contract/ids.ts'
import { storeClicks } from '../../intake/clicks/store.ts'
import { openFolder } from '../reports/fold.ts'
import { checkSegments } from '../segments/check.ts'
import { sealAll } from '../segments/seal.ts'

let house: TestHouse
before(async () => {
  house = await startHouse({ ROLE: 'serve' })
})
after(() => house.end())

const TODAY = Math.floor(Date.now() / DAY_MS) * DAY_MS
const NOON = TODAY - DAY_MS / 2
const daysAgo = (days: number) => new Date(TODAY - days * DAY_MS).toISOString().slice(0, 10)
const WEEK = { date_from: daysAgo(7), date_to: new Date(TODAY + DAY_MS - 1).toISOString() }
const QUESTION = { levels: [{ dimension: 'campaign' }, { dimension: 'sub1', top: 2 }], measures: [...MEASURES] }

async function ask({ cookie }: SignedIn, question: object = {}): Promise<ExploreAnswer> {
  const response = await house.call('POST', '/api/explore', { cookie, body: { ...WEEK, ...QUESTION, ...question } })
  assert.equal(response.statusCode, 200, response.body)
  return response.json<ExploreAnswer>()
}
const named = async (owner: SignedIn, question?: object) => (await ask(owner, question)).incomplete_days

async function assertExact(owner: SignedIn, when: string): Promise<void> {
  const answer = await ask(owner)
  const asked = ExploreQuestion.parse({ ...WEEK, ...QUESTION })
  assert.deepEqual(asRecounted(answer), await recountExplore(house.database.worker, owner.org_id, asked), when)
  assert.deepEqual(answer.incomplete_days, [], when)
}

/** Sealed clicks of each of the last days. */
async function store(org_id: number, days: number): Promise<string[]> {
  const { id } = await seedCampaign(house.database, org_id)
  const clicks = Array.from({ length: days * 8 }, (_, at) => ({
    ...aClick(house.ground.secrets.clickKey, org_id, { campaign_id: id, sub1: `zone ${at % 5}`, visitor_id: newId() }),
    id: newId(NOON - (at % days) * DAY_MS + at),
    tracked: at % 4 !== 3,
    cost: '0.5',
    cost_counts: at % 4 !== 3,
  }))
  await storeClicks(house.database.clicks, clicks)
  await sealAll(house.database.worker, house.ground.secrets)
  return clicks.map(({ id: one }) => one)
}

/** Simulates lost facts: all segments of a day, or their sums. */
const lose = (org_id: number, day: string) =>
  house.database.worker.query('delete from segments where org_id = $1 and day = $2', [org_id, day])
const tamper = (org_id: number, day: string) =>
  house.database.worker.query('update segments set revenue = revenue + 1 where org_id = $1 and day = $2', [org_id, day])

async function check(): Promise<void> {
  // The check finds organizations by folded counters.
  const folder = openFolder(house.ground, DAY_MS)
  await folder.foldAll()
  await folder.close()
  await checkSegments(house.ground)
}

test('one or two days that differ are read from their clicks, with their unsealed entries', async () => {
  const owner = await seedSignedIn(house)
  const [click = ''] = await store(owner.org_id, 4)
  await assertExact(owner, 'sealed')
  await lose(owner.org_id, daysAgo(1))
  await assertExact(owner, 'one is lost')
  await tamper(owner.org_id, daysAgo(2))
  const body = { clickId: toWireId(click), type: 'ftd', payout: '3' }
  assert.equal((await house.call('POST', '/api/events', { cookie: owner.cookie, body })).statusCode, 201)
  await assertExact(owner, 'another is not right, and something waits')
  await check()
  await assertExact(owner, 'built anew')
})

test('three days that differ are named, within the question’s days, until they are rebuilt', async () => {
  const owner = await seedSignedIn(house)
  await store(owner.org_id, 4)
  for (const days of [1, 2, 3]) await lose(owner.org_id, daysAgo(days))
  assert.deepEqual(await named(owner), [daysAgo(3), daysAgo(2), daysAgo(1)])
  assert.deepEqual(await named(owner, { date_from: daysAgo(2) }), [])
  assert.deepEqual(await named(owner, { date_from: daysAgo(1), compare: 'before' }), [
    daysAgo(3),
    daysAgo(2),
    daysAgo(1),
  ])
  await check()
  await assertExact(owner, 'built anew')
})

test('a day with very many clicks is named until it is rebuilt', async () => {
  const owner = await seedSignedIn(house)
  await seedCountedClicks(
    house.database,
    owner.org_id,
    Array.from({ length: 10_001 }, (_, at) => ({ at: NOON + at })),
  )
  assert.deepEqual(await named(owner), [daysAgo(1)])
  await check()
  const { incomplete_days, totals } = await ask(owner)
  assert.deepEqual([incomplete_days, totals.clicks], [[], 10_001])
})

test('a day that differs and whose clicks are gone is named, and answered as far as possible', async () => {
  const owner = await seedSignedIn(house)
  await store(owner.org_id, 2)
  await house.database.worker.query('delete from clicks where org_id = $1', [owner.org_id])
  await lose(owner.org_id, daysAgo(1))
  const { incomplete_days, totals } = await ask(owner)
  assert.deepEqual([incomplete_days, totals.clicks], [[daysAgo(1)], 4])
  const other = await seedSignedIn(house)
  await store(other.org_id, 2)
  await lose(other.org_id, daysAgo(1))
  assert.deepEqual(await named(other), [])
  // The month is given up but its clicks still exist; a count of them would soon be wrong.
  await house.database.worker.query('insert into dropped_clicks values ($1, now())', [firstIdAt(TODAY)])
  try {
    assert.deepEqual(await named(other), [daysAgo(1)])
  } finally {
    await house.database.worker.query('delete from dropped_clicks')
  }
})

test('the facts that other tests seed agree with the report, so those tests read facts', async () => {
  const owner = await seedSignedIn(house)
  await seedExplored(house.database, owner.org_id, [
    { at: NOON, stages: 3 },
    { at: NOON, tracked: false },
    { at: NOON },
  ])
  await house.database.worker.query('delete from clicks where org_id = $1', [owner.org_id])
  const { incomplete_days, totals } = await ask(owner)
  assert.deepEqual([incomplete_days, totals.clicks], [[], 2])
})
