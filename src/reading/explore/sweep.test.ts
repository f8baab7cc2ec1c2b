// The sweep removes local copies that must not stay, and no others.
import assert from 'node:assert/strict'
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { seedExplored } from '../../../tests/support/explored.ts'
import { newId, startHouse, type TestHouse } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { DAY_MS } from '../../contract/days.ts'
import { sweep } from './sweep.ts'

let house: TestHouse
before(async () => {
  // The house does not seal, merge or check in the background: the test does.
  house = await startHouse({ ROLE: 'serve' })
})
after(() => house.end())

const NOON = Date.UTC(2026, 2, 2, 12)
const folder = () => join(house.ground.config.dataDir, 'explore')
const sweepNow = () => sweep(house.database.worker, folder())
const filesOf = async (org_id: number) =>
  (await readdir(join(folder(), String(org_id)))).filter(name => !name.endsWith('.wal')).toSorted()

async function ask({ cookie }: SignedIn): Promise<void> {
  const body = { date_from: '2026-03-01', date_to: '2026-03-08', levels: [{ dimension: 'geo' }] }
  const response = await house.call('POST', '/api/explore', { cookie, body })
  assert.equal(response.statusCode, 200, response.body)
  assert.equal(response.json<{ totals: { clicks: number } }>().totals.clicks, 3)
}

async function explored(): Promise<SignedIn> {
  const owner = await seedSignedIn(house)
  const clicks = [0, 1, 2].map(at => ({ at: NOON + at * DAY_MS }))
  await seedExplored(house.database, owner.org_id, clicks)
  await ask(owner)
  return owner
}

test('a copy begun before days were emptied is removed, a later one stays, and other organizations’ copies too', async () => {
  const [one, other] = [await explored(), await explored()]
  const [copies, others] = [await filesOf(one.org_id), await filesOf(other.org_id)]
  assert.deepEqual([copies.length, others.length], [1, 1])
  await sweepNow()
  assert.deepEqual(await filesOf(one.org_id), copies)
  const place = join(folder(), String(one.org_id))
  // A copy of an hour from now, staged files of a dead process, and those of a running question.
  const later = `facts.0123456789ab.${newId(Date.now() + 3_600_000)}.duckdb`
  await writeFile(join(place, later), '')
  for (const name of ['staged-old', 'staged-new']) await mkdir(join(place, name))
  await utimes(join(place, 'staged-old'), 0, 0)
  await house.database.worker.query(
    `update segments set is_emptied = true, id = $2 where org_id = $1 and id = (
      select id from segments where org_id = $1 order by id limit 1)`,
    [one.org_id, newId()],
  )
  await sweepNow()
  assert.deepEqual(await filesOf(one.org_id), [later, 'staged-new'])
  assert.deepEqual(await filesOf(other.org_id), others)
  await ask(one)
  await ask(other)
})

test('a deleted organization has no copy left, and once restored it gets the same answers', async () => {
  const owner = await explored()
  const deletion = (value: string | null) =>
    house.database.worker.query('update organizations set deleted_at = $2 where org_id = $1', [owner.org_id, value])
  await deletion(new Date().toISOString())
  await sweepNow()
  assert.deepEqual(await filesOf(owner.org_id), [])
  await deletion(null)
  await ask(owner)
})
