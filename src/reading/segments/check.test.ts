// Days whose segments are wrong are found by the report's counters and rebuilt from the clicks.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { untilWaiting } from '../../../tests/support/blocked.ts'
import { changeClick, seedCountedClicks } from '../../../tests/support/counted-clicks.ts'
import { type FreshDatabase, freshDatabase } from '../../../tests/support/database.ts'
import { newId, openTestHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { assertSealed, readSegments } from '../../../tests/support/segments.ts'
import { aClick } from '../../../tests/support/visits.ts'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { firstIdAt } from '../../contract/ids.ts'
import { storeClicks } from '../../intake/clicks/store.ts'
import { reconcileAll } from '../audit/reconcile.ts'
import { openFolder } from '../reports/fold.ts'
import { checkSegments, DIFFERING } from './check.ts'
import { sealAll } from './seal.ts'

let fresh: FreshDatabase
let house: TestHouse
let folder: ReturnType<typeof openFolder>
const dataDir = mkdtempSync(join(tmpdir(), 'sluice-check-'))
before(async () => {
  fresh = await freshDatabase()
  // The house does not seal or check in the background: the test does.
  house = await openTestHouse(fresh.database, { DATA_DIR: dataDir, ROLE: 'serve' })
  folder = openFolder(house.ground, DAY_MS)
})
after(async () => {
  await folder.close()
  await house.close()
  await fresh.drop()
  rmSync(dataDir, { recursive: true, force: true })
})

const seal = () => sealAll(fresh.database.worker, house.ground.secrets)
const check = async () => {
  // The check finds organizations by folded counters.
  await folder.foldAll()
  await checkSegments(house.ground)
}
const assertAll = (org_id: number) => assertSealed(fresh.database, house.ground.secrets, org_id)
const idsOf = async (org_id: number) => (await readSegments(fresh.database, org_id)).map(({ id }) => id)

async function lead(owner: SignedIn, id: string, nonce: string): Promise<void> {
  const body = { clickId: toWireId(id), type: 'lead', nonce, payout: '1.5' }
  const answer = await house.call('POST', '/api/events', { cookie: owner.cookie, body })
  assert.equal(answer.statusCode, 201, answer.body)
}

async function store(org_id: number, count: number, days = 0): Promise<string[]> {
  const clicks = Array.from({ length: count }, () => ({
    ...aClick(house.ground.secrets.clickKey, org_id, { sub1: 'new' }),
    id: newId(Date.now() - days * DAY_MS),
  }))
  await storeClicks(fresh.database.clicks, clicks)
  return clicks.map(({ id }) => id)
}

test('days older than segments are built once and then left alone', async () => {
  const { org_id } = await seedSignedIn(house)
  const now = Date.now()
  await seedCountedClicks(
    fresh.database,
    org_id,
    Array.from({ length: 5200 }, (_, at) => ({
      at: now - (at % 3) * DAY_MS - (at < 5100 ? 0 : 20 * DAY_MS),
      sub1: `zone ${at % 11}`,
      tracked: at % 9 !== 0,
      stages: at % 5 === 0 ? 35 : 1,
      revenue: at % 5 === 0 ? '2.5' : null,
      cost: '0.000000001',
      cost_counts: true,
    })),
  )
  await check()
  await assertAll(org_id)
  const ids = await idsOf(org_id)
  assert.equal(ids.length, 6)
  await check()
  assert.deepEqual(await idsOf(org_id), ids)
})

test('the recount of the books says not yet so until the first check has ended', async () => {
  const { org_id } = await seedSignedIn(house)
  await seedCountedClicks(fresh.database, org_id, [{}])
  await folder.foldAll()
  const { worker, clicks } = fresh.database
  const linesOfExplore = async () => {
    const lines: string[] = []
    await reconcileAll(worker, line => lines.push(line.trim()))
    return lines.filter(line => /Explore/.test(line))
  }
  const words = `not yet so: Explore counts what the report counts: ${dayOf(Date.now())}`
  assert.deepEqual(await linesOfExplore(), [words])
  const holding = await clicks.connect()
  try {
    // The check's rebuild waits for this lock.
    await holding.query('begin; lock table segments in share mode')
    const { rows } = await holding.query<{ pid: number }>('select pg_backend_pid() as pid')
    const round = checkSegments(house.ground)
    await untilWaiting(fresh.database, 1, rows[0]?.pid)
    assert.deepEqual(await linesOfExplore(), [words])
    await holding.query('rollback')
    await round
  } finally {
    holding.release(true)
  }
  assert.deepEqual(await linesOfExplore(), [])
  await worker.query('update segments set revenue = revenue + 1 where org_id = $1', [org_id])
  assert.deepEqual(await linesOfExplore(), [words.replace('not yet', 'not')])
  await check()
  assert.deepEqual(await linesOfExplore(), [])
})

test('a day of many clicks is built in portions', async () => {
  const { org_id } = await seedSignedIn(house)
  const noon = Math.floor(Date.now() / DAY_MS) * DAY_MS - DAY_MS / 2
  await seedCountedClicks(
    fresh.database,
    org_id,
    Array.from({ length: 10_001 }, (_, at) => ({ at: noon + at })),
  )
  await check()
  await assertAll(org_id)
  assert.equal((await idsOf(org_id)).length, 3)
})

test('changes of a process of the previous version are built in, beside unsealed entries', async () => {
  const owner = await seedSignedIn(house)
  const { org_id } = owner
  const old = await seedCountedClicks(fresh.database, org_id, [{}, { at: Date.now() - 2 * DAY_MS }, { tracked: false }])
  const own = await store(org_id, 6)
  await seal()
  const [first, second, third] = old
  assert.ok(first && second && third)
  await lead(owner, first.id, 'a')
  await lead(owner, own[0] ?? '', 'b')
  await lead(owner, third.id, 'c')
  await changeClick(fresh.database, org_id, second, { stages: 9, revenue: '4' })
  await store(org_id, 2, 2)
  // Nothing is sealed in between, so the rebuilt days have unsealed entries.
  await check()
  await seal()
  await assertAll(org_id)
  await lead(owner, second.id, 'd')
  await seal()
  await assertAll(org_id)
})

test('under load of both versions, with two processes that seal and check, facts are right as soon as the old version has ended', async () => {
  const owner = await seedSignedIn(house)
  const { org_id } = owner
  let isOver = false
  const load = async () => {
    for (let turn = 0; turn < 10; turn += 1) {
      const [one] = await seedCountedClicks(fresh.database, org_id, [{ at: Date.now() - (turn % 3) * DAY_MS }])
      const own = await store(org_id, 5, turn % 3)
      if (one) await changeClick(fresh.database, org_id, one, { stages: 3, revenue: '0.5' })
      await Promise.all([...own, one?.id ?? ''].slice(2).map(id => lead(owner, id, `${turn}`)))
    }
    isOver = true
  }
  const go = async (work: () => Promise<void>) => {
    while (!isOver) await work()
  }
  await Promise.all([load(), go(check), go(check), go(seal), go(seal)])
  await seal()
  await check()
  await assertAll(org_id)
})

test('a day whose clicks differ from the report is not rebuilt for ever', async () => {
  const { org_id } = await seedSignedIn(house)
  const [id = ''] = await store(org_id, 3)
  await seal()
  await fresh.database.worker.query('delete from clicks where org_id = $1 and id = $2', [org_id, id])
  const sealed = await idsOf(org_id)
  await check()
  assert.deepEqual(await idsOf(org_id), sealed, 'segments that come to what is counted stay')
  await fresh.database.worker.query(`update segments set clicks = clicks + 1 where org_id = $1`, [org_id])
  await check()
  // Rebuilt once more, because the difference has changed.
  await check()
  const built = await idsOf(org_id)
  assert.notDeepEqual(built, sealed)
  await check()
  await check()
  assert.deepEqual(await idsOf(org_id), built)
})

test('changes that a process of the previous version makes during a rebuild are built in with the next check', async () => {
  const { org_id } = await seedSignedIn(house)
  await seedCountedClicks(fresh.database, org_id, [{}, {}])
  await folder.foldAll()
  let asked = 0
  // Right after the rebuild as many clicks come again, so that the day differs by as much as before.
  const query = async (text: string, values: unknown[]) => {
    if (text === DIFFERING && values[0] === org_id && ++asked === 2)
      await seedCountedClicks(fresh.database, org_id, [{}, {}])
    return fresh.database.worker.query(text, values)
  }
  const worker = Object.create(fresh.database.worker, { query: { value: query } })
  await checkSegments({ ...house.ground, database: { ...fresh.database, worker } })
  assert.equal(asked, 2)
  await check()
  await assertAll(org_id)
})

test('days whose clicks are no longer kept are not rebuilt: their sealed facts stay', async () => {
  const { org_id } = await seedSignedIn(house)
  const made = Date.now() - 100 * DAY_MS
  await seedCountedClicks(fresh.database, org_id, [{ at: made }, { at: made }, {}])
  await check()
  const ids = await idsOf(org_id)
  await fresh.database.worker.query('delete from clicks where org_id = $1 and id < $2', [
    org_id,
    firstIdAt(made + DAY_MS),
  ])
  await fresh.database.worker.query('update segments set clicks = clicks + 1 where org_id = $1', [org_id])
  await fresh.database.worker.query('insert into dropped_clicks (before_id, decided_at) values ($1, $2)', [
    firstIdAt(made + 20 * DAY_MS),
    new Date(),
  ])
  await check()
  const left = await idsOf(org_id)
  assert.equal(left.length, 2)
  assert.equal(left[0], ids[0], 'the day that is gone')
  assert.notEqual(left[1], ids[1], 'the day that is kept')
})

test('days are left as they are while very many clicks of the organization are unsealed', async () => {
  const owner = await seedSignedIn(house)
  const { org_id } = owner
  await store(org_id, 3)
  await seal()
  await fresh.database.worker.query('delete from segments where org_id = $1', [org_id])
  await fresh.database.worker.query(
    'insert into click_sheet (org_id, id, born) select $1::int, gen_random_uuid(), array_agg(gen_random_uuid()) from generate_series(1, 100001)',
    [org_id],
  )
  await check()
  assert.deepEqual(await idsOf(org_id), [])
  await fresh.database.worker.query('delete from click_sheet where org_id = $1', [org_id])
  await check()
  await assertAll(org_id)
})
