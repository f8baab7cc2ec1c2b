// After months of clicks are dropped, Explore still counts them from anonymised facts.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type FreshDatabase, freshDatabase } from '../../../tests/support/database.ts'
import { newId, openTestHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { readSegments, rowsByDay } from '../../../tests/support/segments.ts'
import { aClick, seedCampaign } from '../../../tests/support/visits.ts'
import { DAY_MS } from '../../contract/days.ts'
import type { ExploreAnswer } from '../../contract/explore-answer.ts'
import { MEASURES } from '../../contract/explore-measures.ts'
import { ensurePartitions } from '../../ground/db/partitions.ts'
import { dropOldClicks } from '../../intake/clicks/retention.ts'
import { storeClicks } from '../../intake/clicks/store.ts'
import { openFolder } from '../reports/fold.ts'
import { checkSegments } from './check.ts'
import { emptyGone } from './emptying.ts'
import { mergeAll } from './merge.ts'
import { sealAll } from './seal.ts'

const KEPT_MONTHS = 2
const today = new Date()
const noonOf = (ago: number, day: number) => Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - ago, day, 12)
const WINDOW = { date_from: new Date(noonOf(5, 1)).toISOString(), date_to: today.toISOString() }
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)

let fresh: FreshDatabase
let house: TestHouse
let owner: SignedIn
let ids: string[]
const dataDir = mkdtempSync(join(tmpdir(), 'sluice-emptying-'))
before(async () => {
  fresh = await freshDatabase()
  // The house does not seal, merge or empty in the background: the test does.
  house = await openTestHouse(fresh.database, { DATA_DIR: dataDir, ROLE: 'serve' })
  await ensurePartitions(fresh.database.schema, 'clicks', noonOf(5, 1), noonOf(1, 1))
  owner = await seedSignedIn(house)
  const { id } = await seedCampaign(fresh.database, owner.org_id)
  ids = await store(id)
  for (const [at, click] of ids.entries()) if (at % 7 === 0) await convert(click)
  await seal()
})
after(async () => {
  await house.close()
  await fresh.drop()
  rmSync(dataDir, { recursive: true, force: true })
})

const seal = () => sealAll(fresh.database.worker, house.ground.secrets)

/** Six clicks on each of ten days of a month that will be dropped, and as many in the last month; zones have several clicks, and each click its own click id. */
async function store(campaign_id: string): Promise<string[]> {
  const visitors = Array.from({ length: 20 }, () => newId())
  const clicks = [5, 1].flatMap(ago =>
    Array.from({ length: 60 }, (_, at) => ({
      ...aClick(house.ground.secrets.clickKey, owner.org_id, {
        campaign_id,
        sub1: `zone ${at % 9}`,
        sub5: `their-click-${ago}-${at}`,
        ref_id: `ref-${at % 4}`,
        geo: at % 3 ? 'DE' : 'FR',
      }),
      id: newId(noonOf(ago, 2 + (at % 10)) + at),
      visitor_id: visitors[at % 20] ?? null,
      visitor_is_new: at < 20,
      tracked: at % 11 !== 0,
      cost: '0.01',
      cost_counts: at % 11 !== 0,
    })),
  )
  // In several transactions, so that a day has several segments.
  for (const some of [clicks.slice(0, 40), clicks.slice(40)]) {
    await storeClicks(fresh.database.clicks, some)
    await seal()
  }
  return clicks.map(({ id }) => id)
}

async function convert(id: string): Promise<void> {
  const body = { clickId: toWireId(id), type: 'lead', payout: '1.234567' }
  const answer = await house.call('POST', '/api/events', { cookie: owner.cookie, body })
  assert.equal(answer.statusCode, 201, answer.body)
}

const levels = (...names: string[]) => ({ levels: names.map(dimension => ({ dimension })) })
const QUESTIONS = [
  levels('campaign', 'geo', 'status'),
  levels('day', 'sub1'),
  levels('weekday_hour'),
  { ...levels('device'), filters: [{ dimension: 'sub1', op: 'in', values: ['zone 1', 'zone 2'] }] },
  { ...levels('is_new'), time_zone: 'Asia/Kolkata' },
]
const SUMS = MEASURES.filter(measure => measure !== 'unique_visitors')

async function ask(question: object): Promise<ExploreAnswer> {
  const body = { ...WINDOW, measures: SUMS, ...question }
  const response = await house.call('POST', '/api/explore', { cookie: owner.cookie, body })
  assert.equal(response.statusCode, 200, response.body)
  return response.json<ExploreAnswer>()
}
const answers = () => Promise.all(QUESTIONS.map(async question => (await ask(question)).rows))
const keysOf = async (dimension: string) => (await ask(levels(dimension))).rows.map(({ key, clicks }) => [key, clicks])

test('once the clicks of a month are gone, its facts keep their sums and tell no visitors apart', async () => {
  const sums = await answers()
  const unique = { ...levels('campaign'), measures: ['clicks', 'unique_visitors'] }
  const counted = await ask(unique)
  assert.deepEqual([counted.totals.unique_visitors, counted.emptied_before], [20, null])
  const sub5 = await keysOf('sub5')
  assert.equal(sub5.length, 101)

  await emptyGone(fresh.database.worker)
  const [dropped] = await dropOldClicks(house.ground, KEPT_MONTHS, { this_ms: today.getTime() })
  assert.equal(dropped, `clicks_${dayOf(noonOf(5, 1)).slice(0, 7).replace('-', '_')}`)
  assert.equal((await ask(unique)).emptied_before, null)
  assert.deepEqual(await answers(), sums, 'its clicks are gone')
  await emptyGone(fresh.database.worker)
  assert.deepEqual(await answers(), sums, 'it is emptied')

  const days = [...(await rowsByDay(fresh.database, owner.org_id))]
  const told = (from: number, name: 'visitor' | 'ref_id' | 'sub5' | 'sub1') =>
    days.flatMap(([day, rows]) => (day.startsWith(dayOf(from).slice(0, 7)) ? rows.flatMap(row => row[name] ?? []) : []))
  for (const name of ['visitor', 'ref_id', 'sub5'] as const) {
    assert.deepEqual(told(noonOf(5, 1), name), [], name)
    assert.ok(told(noonOf(1, 1), name).length >= 60, `${name} of the days that are kept`)
  }
  assert.ok(told(noonOf(5, 1), 'sub1').length >= 60, 'zones are of many clicks')

  const emptied_before = dayOf(noonOf(5, 12))
  const after = await ask(unique)
  assert.deepEqual(
    [after.totals.clicks, after.totals.unique_visitors, after.rows[0]?.unique_visitors, after.emptied_before],
    [counted.totals.clicks, null, null, emptied_before],
  )
  const sorted = await ask({ ...unique, ...levels('sub1'), sort: { by: 'unique_visitors', descending: true } })
  const by = sorted.rows.map(({ clicks }) => clicks ?? 0)
  assert.deepEqual(
    by,
    by.toSorted((a, b) => b - a),
  )
  assert.deepEqual((await keysOf('ref_id'))[0], [null, 55])
  assert.deepEqual((await keysOf('sub5'))[0], [null, 55])
  const lately = await ask({ ...unique, date_from: new Date(noonOf(1, 1)).toISOString(), compare: 'before' })
  assert.deepEqual([lately.totals.unique_visitors, lately.emptied_before], [20, null])
  const days_back = { date_from: dayOf(noonOf(5, 12)), compare: 'before' }
  const before = await ask({ ...unique, ...days_back })
  assert.deepEqual([before.totals.unique_visitors, before.totals.before?.unique_visitors], [20, null])
})

test('emptied segments are left alone, and stay emptied when merged', async () => {
  const sums = await answers()
  const segments = await readSegments(fresh.database, owner.org_id)
  const folder = openFolder(house.ground, DAY_MS)
  await folder.foldAll()
  await folder.close()
  await emptyGone(fresh.database.worker)
  await checkSegments(house.ground)
  assert.deepEqual(
    (await readSegments(fresh.database, owner.org_id)).map(({ id }) => id),
    segments.map(({ id }) => id),
  )
  // As if eight segments had been emptied one by one.
  const columns = `clicks, landed, started, registered, lead, deposit, ftd, revenue, cost, unread_costs, revenue_pending, approved, pending, rejected, body`
  const [first] = segments
  for (let at = 0; at < 8; at += 1)
    await fresh.database.worker.query(
      `insert into segments (org_id, id, day, rows, taken, is_emptied, ${columns})
      select org_id, $3, day, rows, taken, is_emptied, ${columns} from segments where org_id = $1 and id = $2`,
      [owner.org_id, first?.id, newId()],
    )
  await mergeAll(fresh.database.worker)
  const { rows } = await fresh.database.reads.query(
    'select is_emptied, clicks::int from segments where org_id = $1 and day = $2',
    [owner.org_id, first?.day],
  )
  assert.deepEqual(rows, [{ is_emptied: true, clicks: Number(first?.clicks) * 9 }])
  assert.notDeepEqual(await answers(), sums)
})

test('nothing is emptied while a click of that time exists or has unsealed entries', async () => {
  const { org_id } = await seedSignedIn(house)
  const click = { ...aClick(house.ground.secrets.clickKey, org_id, { ref_id: 'r' }), id: newId(noonOf(5, 3)) }
  await storeClicks(fresh.database.clicks, [click])
  const isEmptied = async () => {
    await emptyGone(fresh.database.worker)
    const { rows } = await fresh.database.reads.query('select is_emptied from segments where org_id = $1', [org_id])
    return rows.map(({ is_emptied }) => is_emptied)
  }
  await seal()
  assert.deepEqual(await isEmptied(), [false])
  await fresh.database.worker.query(
    'insert into click_sheet (org_id, id, born) select org_id, $2, array[id] from clicks where org_id = $1',
    [org_id, newId()],
  )
  await fresh.database.worker.query('delete from clicks where org_id = $1', [org_id])
  assert.deepEqual(await isEmptied(), [false])
  await seal()
  assert.deepEqual(await isEmptied(), [true])
})

test('a sub1 with booked spend stays with its clicks, even where nearly each click has one of its own', async () => {
  const person = await seedSignedIn(house)
  const { org_id } = person
  const { id: campaign_id } = await seedCampaign(fresh.database, org_id)
  const clicks = Array.from({ length: 6 }, (_, at) => ({
    ...aClick(house.ground.secrets.clickKey, org_id, { campaign_id, sub1: `own ${at}`, geo: 'DE' }),
    id: newId(noonOf(5, 4) + at),
  }))
  await storeClicks(fresh.database.clicks, clicks)
  await seal()
  await fresh.database.worker.query(
    `insert into ad_spend (org_id, day, campaign_id, sub1, amount, source, updated_at) values ($1, $2, $3, 'own 1', 5, 'manual', now())`,
    [org_id, dayOf(noonOf(5, 4)), campaign_id],
  )
  const costs = async () => {
    const body = { ...WINDOW, ...levels('geo'), measures: ['clicks', 'cost'] }
    const { rows } = (await house.call('POST', '/api/explore', { cookie: person.cookie, body })).json<ExploreAnswer>()
    return rows.map(({ key, clicks: count, cost }) => [key, count, cost])
  }
  assert.deepEqual(await costs(), [['DE', 6, '5.00']])
  await fresh.database.worker.query('delete from clicks where org_id = $1', [org_id])
  await emptyGone(fresh.database.worker)
  const rows = [...(await rowsByDay(fresh.database, org_id)).values()].flat()
  assert.deepEqual(rows.map(({ sub1 }) => sub1 ?? '').toSorted(), ['', '', '', '', '', 'own 1'])
  assert.deepEqual(await costs(), [['DE', 6, '5.00']])
})
