// Merging changes how facts are stored, and no fact.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type FreshDatabase, freshDatabase } from '../../../tests/support/database.ts'
import { seedExplored } from '../../../tests/support/explored.ts'
import { openTestHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import { assertSealed, readSegments, rowsByDay } from '../../../tests/support/segments.ts'
import { aClick } from '../../../tests/support/visits.ts'
import { storeClicks } from '../../intake/clicks/store.ts'
import { net } from './facts.ts'
import { segmentsToMerge, mergeAll, mergeSegments } from './merge.ts'
import { sealAll } from './seal.ts'

let fresh: FreshDatabase
let house: TestHouse
const dataDir = mkdtempSync(join(tmpdir(), 'sluice-merge-'))
before(async () => {
  fresh = await freshDatabase()
  // The house does not seal or merge in the background: the test does.
  house = await openTestHouse(fresh.database, { DATA_DIR: dataDir, ROLE: 'serve' })
})
after(async () => {
  await house.close()
  await fresh.drop()
  rmSync(dataDir, { recursive: true, force: true })
})

const seal = () => sealAll(fresh.database.worker, house.ground.secrets)
const merge = () => mergeAll(fresh.database.worker)

test('many segments become few, with the same facts and sums, while more are sealed', async () => {
  const owner = await seedSignedIn(house)
  const { org_id } = owner
  let isOver = false
  const load = async () => {
    for (let turn = 0; turn < 20; turn += 1) {
      const clicks = Array.from({ length: 5 }, () => aClick(house.ground.secrets.clickKey, org_id, { sub1: `${turn}` }))
      await storeClicks(fresh.database.clicks, clicks)
      await seal()
      const body = { clickId: toWireId(clicks[0]?.id ?? ''), type: 'lead', nonce: 'a', payout: '0.5' }
      const answer = await house.call('POST', '/api/events', { cookie: owner.cookie, body })
      assert.equal(answer.statusCode, 201, answer.body)
      await seal()
    }
    isOver = true
  }
  const merging = async () => {
    while (!isOver) await merge()
  }
  await Promise.all([load(), merging(), merging()])
  // Sealing skips an organization during its merge.
  await seal()
  await merge()
  await merge()
  const segments = await readSegments(fresh.database, org_id)
  assert.ok(segments.length < 16, `${segments.length} segments`)
  await assertSealed(fresh.database, house.ground.secrets, org_id)
})

test('segments that change during a merge are left as they are', async () => {
  const { org_id } = await seedSignedIn(house)
  for (let turn = 0; turn < 9; turn += 1) {
    await storeClicks(fresh.database.clicks, [aClick(house.ground.secrets.clickKey, org_id)])
    await seal()
  }
  const before = await readSegments(fresh.database, org_id)
  assert.equal(before.length, 9)
  await Promise.all([merge(), merge(), merge()])
  const segments = await readSegments(fresh.database, org_id)
  assert.deepEqual(
    segments.map(({ rows, clicks }) => ({ rows, clicks })),
    [{ rows: 9, clicks: '9' }],
  )
  await assertSealed(fresh.database, house.ground.secrets, org_id)
})

test('enough segments of one size are merged with all smaller ones, and larger ones are not rewritten', () => {
  const of = (rows: number, count: number, taken = 0) =>
    Array.from({ length: count }, (_, at) => ({ id: `${rows} ${at}`, rows, taken }))
  const told = (sizes: ReturnType<typeof of>) => segmentsToMerge(sizes).map(({ rows }) => rows)
  assert.deepEqual(told([...of(1, 7), ...of(20, 7), ...of(300, 7)]), [])
  assert.deepEqual(
    told([...of(1, 8), ...of(20, 2)]),
    of(1, 8).map(({ rows }) => rows),
  )
  assert.equal(told([...of(1, 3), ...of(20, 8), ...of(300, 1)]).length, 11)
  assert.deepEqual(told(of(30_000, 9)), [30_000])
  assert.equal(told([...of(10, 1, 10), ...of(50, 1)]).length, 2)
  assert.equal(told([...of(10, 1, 10), ...of(5000, 1)]).length, 0)
})

test('facts in segments of an earlier version cancel with those of this one, and are merged', async () => {
  const [before, now] = [await seedSignedIn(house), await seedSignedIn(house)]
  const clicks = Array.from({ length: 12 }, (_, at) => ({ at: Date.UTC(2026, 2, 2) + at, geo: 'DE' }))
  await seedExplored(fresh.database, before.org_id, clicks, 3, ['ref_id', 'conversions'])
  await seedExplored(fresh.database, now.org_id, clicks)
  const factsOf = async (org_id: number) => [...(await rowsByDay(fresh.database, org_id)).values()].flat()
  const taken = (await factsOf(now.org_id)).map(row => ({
    ...row,
    sign: row.sign === 1 ? (-1 as const) : (1 as const),
  }))
  assert.deepEqual(net([...(await factsOf(before.org_id)), ...taken]), [])
  const segments = await readSegments(fresh.database, before.org_id)
  const ids = segments.map(({ id }) => id)
  await mergeSegments(fresh.database.worker, before.org_id, ids, { day: '2026-03-02', is_emptied: false })
  assert.equal((await readSegments(fresh.database, before.org_id)).length, 1)
  assert.deepEqual(net([...(await factsOf(before.org_id)), ...taken]), [])
})
