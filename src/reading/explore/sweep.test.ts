// Local files go with what they are copies of.
import assert from 'node:assert/strict'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { seedExplored } from '../../../tests/support/explored.ts'
import { newId, startHouse, type TestHouse } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { sweep } from './sweep.ts'

let house: TestHouse
before(async () => {
  house = await startHouse()
})
after(() => house.end())

const NOON = Date.UTC(2026, 2, 2, 12)
const folder = () => join(house.ground.config.dataDir, 'explore')
const sweepNow = (kept_ms = 0) => sweep(house.database.worker, folder(), { kept_ms })
const filesOf = async (org_id: number) =>
  (await readdir(join(folder(), String(org_id)), { recursive: true }).catch(() => []))
    .filter(name => name.includes('.'))
    .toSorted()

async function ask({ cookie }: SignedIn): Promise<void> {
  const body = { date_from: '2026-03-01', date_to: '2026-03-08', levels: [{ dimension: 'geo' }] }
  const response = await house.call('POST', '/api/explore', { cookie, body })
  assert.equal(response.statusCode, 200, response.body)
  assert.equal(response.json<{ totals: { clicks: number } }>().totals.clicks, 3)
}

test('copies of segments that were replaced go, and no others', async () => {
  const [one, other] = [await seedSignedIn(house), await seedSignedIn(house)]
  for (const { org_id } of [one, other])
    await seedExplored(
      house.database,
      org_id,
      [0, 1, 2].map(at => ({ at: NOON + at * 86_400_000 })),
    )
  await Promise.all([ask(one), ask(other)])
  const [files, others] = [await filesOf(one.org_id), await filesOf(other.org_id)]
  assert.ok(files.length >= 3 && others.length >= 3)
  await sweepNow()
  assert.deepEqual(await filesOf(one.org_id), files)
  const [replaced = ''] = files
  await house.database.worker.query('update segments set id = $3 where org_id = $1 and id = $2', [
    one.org_id,
    replaced.slice(-44, -8),
    newId(),
  ])
  // Left by a question that its process did not survive.
  const left = join(folder(), String(one.org_id), 'tail-x', 'd=1')
  await mkdir(left, { recursive: true })
  await writeFile(join(left, '0.parquet'), '')
  await sweepNow(60_000)
  assert.equal((await filesOf(one.org_id)).length, files.length + 1, 'somebody may be reading it')
  await sweepNow()
  assert.deepEqual(await filesOf(one.org_id), files.slice(1))
  assert.deepEqual(await filesOf(other.org_id), others)
  await ask(one)
  assert.equal((await filesOf(one.org_id)).length, files.length)
})

test('of a deleted organization no copy is left, and restored it is answered as before', async () => {
  const owner = await seedSignedIn(house)
  await seedExplored(house.database, owner.org_id, [{ at: NOON }, { at: NOON + 1 }, { at: NOON + 2, geo: 'FR' }])
  await ask(owner)
  const deletion = (value: string | null) =>
    house.database.worker.query('update organizations set deleted_at = $2 where org_id = $1', [owner.org_id, value])
  await deletion(new Date().toISOString())
  await sweepNow()
  assert.deepEqual(await filesOf(owner.org_id), [])
  await deletion(null)
  await ask(owner)
})
