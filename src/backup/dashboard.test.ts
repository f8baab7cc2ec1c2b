import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { type FreshDatabase, freshDatabase } from '../../tests/support/database.ts'
import { eventually } from '../../tests/support/eventually.ts'
import { openTestHouse, type TestHouse } from '../../tests/support/house.ts'
import { join as joinPlace, seedPerson, seedSession, seedSignedIn, type SignedIn } from '../../tests/support/people.ts'
import { seedPlace } from '../../tests/support/place.ts'
import { runSluice, startSluice } from '../../tests/support/sluice.ts'
import { BROWSER } from '../../tests/support/visits.ts'
import { secretHere } from '../ground/db/secrets.ts'
import { checkBackup } from './restore.ts'
import { claimRun, keepRun } from './runs.ts'

const SECRET = 'a secret that only tests know'
const secret = secretHere({ secret: SECRET, dataDir: '' }) ?? assert.fail()

type Line = Record<string, unknown> & { id: string; state: string; path: string; failure: string | null }

let fresh: FreshDatabase
let place: string
let house: TestHouse
/** The only owner of the only organization, unless a test adds others. */
let owner: SignedIn
before(async () => {
  fresh = await freshDatabase()
  place = mkdtempSync(join(tmpdir(), 'sluice-dashboard-'))
  house = await openTestHouse(fresh.database, { DATA_DIR: place, SECRET })
  owner = await seedSignedIn(house)
})
after(async () => {
  await house.end()
  await fresh.drop()
  rmSync(place, { recursive: true })
})

let ends: (() => unknown)[] = []
beforeEach(async () => {
  rmSync(join(place, 'backups'), { recursive: true, force: true })
  await query('delete from backups')
  await ownAll()
})
afterEach(async () => {
  for (const end of ends.reverse()) await end()
  ends = []
})

/** Makes the owner an owner of every organization. */
async function ownAll(): Promise<void> {
  await query('delete from members where user_id = $1 and org_id <> $2', [owner.user_id, owner.org_id])
  await query(
    `insert into members (id, org_id, user_id, role, joined_at)
    select gen_random_uuid(), org_id, $1, 'owner', now() from organizations where org_id <> $2`,
    [owner.user_id, owner.org_id],
  )
}

const query = (text: string, values: unknown[] = []) => fresh.database.worker.query(text, values)

/** A process on the same database with other settings. */
async function houseWith(env: Record<string, string>): Promise<TestHouse> {
  const other = await openTestHouse(fresh.database, { DATA_DIR: place, SECRET, ...env })
  ends.push(() => other.end())
  return other
}

async function list(of = house, { cookie } = owner): Promise<Line[]> {
  const answer = await of.call('GET', '/api/backups', { cookie })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.data()['data'] as Line[]
}

/** The newest backup, once it has ended. */
async function ended(of = house): Promise<Line> {
  await eventually('the backup has ended', async () => (await list(of))[0]?.state !== 'running')
  return (await list(of))[0] ?? assert.fail()
}

async function start(of = house): Promise<Line> {
  const { statusCode, body } = await of.call('POST', '/api/backups', { cookie: owner.cookie })
  assert.equal(statusCode, 201, body)
  return ended(of)
}

/** A backup that another process is taking. */
async function seedRun(): Promise<void> {
  const run = await claimRun(house.ground.db, { path: join(place, 'other.backup'), started_by: null })
  assert.ok(run !== undefined && (await keepRun(house.ground.db, run, { bytes: 5, rows: 4, tables: 3, journals: 0 })))
}

const files = () => readdirSync(join(place, 'backups'))

test('an owner starts a backup, follows it, and downloads exactly the file on the disk', async () => {
  const { body } = await house.call('GET', '/api/backups', { cookie: owner.cookie })
  assert.deepEqual(JSON.parse(body), { folder: join(place, 'backups'), keep: 14, data: [] })
  const started = await house.call('POST', '/api/backups', { cookie: owner.cookie })
  assert.equal(started.statusCode, 201, started.body)
  assert.deepEqual([started.data()['state'], started.data()['started_by']], ['running', 'Person'])
  const line = await ended()
  assert.deepEqual([line.failure, line.state, line['is_here']], [null, 'complete', true])
  assert.match(line.path, new RegExp(`^${place}/backups/sluice-\\d{8}T\\d{6}Z-[0-9a-f]{8}\\.backup$`))
  const contents = await checkBackup(line.path, secret)
  assert.deepEqual([line['rows'], line['tables'], line['journals']], [contents.rows, contents.tables, 0])
  assert.ok(contents.rows > 0)
  const file = await house.call('GET', `/api/backups/${line.id}/file`, { cookie: owner.cookie })
  assert.deepEqual([file.statusCode, file.headers['content-length']], [200, String(line['bytes'])])
  assert.equal(file.headers['content-disposition'], `attachment; filename="${files()[0]}"`)
  const copy = join(place, 'copy.backup')
  writeFileSync(copy, file.rawPayload)
  assert.equal((await checkBackup(copy, secret)).taken_at, contents.taken_at)
})

test('only the newest BACKUP_KEEP are kept, and a file that is gone or is no backup is not sent @detail', async () => {
  const keeping = await houseWith({ BACKUP_KEEP: '1' })
  const first = await start(keeping)
  await eventually(
    'the next second, which has another name',
    () => Date.now() - Date.parse(String(first['started_at'])) > 1000,
  )
  const second = await start(keeping)
  await eventually('the first file is removed', () => !existsSync(first.path))
  assert.deepEqual(
    (await list()).map(({ id, state, is_here }) => [id, state, is_here]),
    [
      [second.id, 'complete', true],
      [first.id, 'complete', false],
    ],
  )
  const sent = async ({ id }: Line) => {
    const { statusCode, data } = await house.call('GET', `/api/backups/${id}/file`, { cookie: owner.cookie })
    return [statusCode, data()['error']]
  }
  const refused = [404, 'this server does not have the file of this backup']
  assert.deepEqual(await sent(first), refused)
  writeFileSync(second.path, Buffer.alloc(Number(second['bytes'])))
  assert.deepEqual(await sent(second), refused)
})

test('backups of the command are listed, and their failures @detail', async () => {
  const env = { DATABASE_URL: fresh.url, DATA_DIR: place, SECRET, LOG_LEVEL: 'silent' }
  const run = async (name: string) => {
    const { code, stderr } = await runSluice(env, { command: 'backup', given: [join(place, name)] })
    return [code, stderr] as const
  }
  assert.deepEqual(await run('own.backup'), [0, ''])
  const why = /nowhere\/own.backup cannot be written: ENOENT.*: create the folder for the user that runs Sluice/
  assert.match((await run('nowhere/own.backup'))[1], why)
  const [failed, complete] = await list()
  assert.match(failed?.failure ?? '', why)
  assert.deepEqual(
    [complete?.path, complete?.state, complete?.['started_by'], complete?.['is_here']],
    [join(place, 'own.backup'), 'complete', null, true],
  )
  await seedRun()
  assert.deepEqual(await run('second.backup'), [
    1,
    'The backup failed: another backup is running: wait until it has ended\n',
  ])
  assert.ok(!existsSync(join(place, 'second.backup')))
  // A database that is still to be migrated is backed up too, but does not list it.
  await query('alter table backups rename to not_yet')
  const earlier = await run('earlier.backup')
  await query('alter table not_yet rename to backups')
  assert.deepEqual(earlier, [0, ''])
})

test('of several backups that are started together one runs', async () => {
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => house.call('POST', '/api/backups', { cookie: owner.cookie })),
  )
  assert.deepEqual(
    answers.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b),
    [201, 409, 409, 409, 409, 409],
  )
  assert.ok(answers.every(({ statusCode, data }) => statusCode === 201 || data()['code'] === 'backup_running'))
  await ended()
  assert.deepEqual([(await list()).length, files().length], [1, 1])
})

test('a run of another process is shown with its progress, and as interrupted once its lease has expired', async () => {
  await seedRun()
  const [running] = await list()
  assert.deepEqual([running?.state, running?.['bytes'], running?.['rows']], ['running', 5, 4])
  assert.equal((await house.call('POST', '/api/backups', { cookie: owner.cookie })).statusCode, 409)
  await query(`update backups set leased_until = now() - interval '1 second'`)
  const [interrupted] = await list()
  assert.match(interrupted?.failure ?? '', /^it was interrupted.*: run it again$/)
  assert.deepEqual([interrupted?.state, interrupted?.['is_here']], ['failed', false])
  assert.equal((await start()).state, 'complete')
  assert.equal((await list())[1]?.failure, interrupted?.failure)
  assert.equal((await house.call('GET', `/api/backups/${running?.id}/file`, { cookie: owner.cookie })).statusCode, 404)
})

test('a run whose lease another one has claimed ends without a file', async () => {
  const lock = await holdTable()
  await house.call('POST', '/api/backups', { cookie: owner.cookie })
  await eventually('it is under way', () => existsSync(join(place, 'backups')) && files().length === 1)
  await eventually('another one has claimed it', async () => {
    await query(`update backups set leased_until = now() - interval '1 hour' where ended_at is null`)
    return (await claimRun(house.ground.db, { path: join(place, 'other.backup'), started_by: null })) !== undefined
  })
  await eventually('its file is gone', () => files().length === 0)
  await lock()
  assert.deepEqual(
    (await list()).map(({ path, state }) => [path === join(place, 'other.backup'), state]),
    [
      [true, 'running'],
      [false, 'failed'],
    ],
  )
})

/** Locks a table, so that a backup stops in the middle. Returns the release. */
async function holdTable(): Promise<() => Promise<void>> {
  const client = await fresh.database.worker.connect()
  await client.query('begin')
  await client.query('lock table fx_rates in access exclusive mode')
  const release = async () => {
    if (!ends.includes(release)) return
    ends = ends.filter(end => end !== release)
    await client.query('rollback')
    client.release()
  }
  ends.push(release)
  return release
}

test('if Sluice is killed during a backup, no file is left, and visitors are redirected until then', async () => {
  const { campaign } = await seedPlace(fresh.database, 'visited')
  await ownAll()
  const dataDir = join(place, 'killed')
  mkdirSync(dataDir)
  const sluice = await startSluice({ DATABASE_URL: fresh.url, DATA_DIR: dataDir, SECRET })
  ends.push(() => sluice.kill())
  await holdTable()
  const started = await fetch(`${sluice.address}/api/backups`, {
    method: 'POST',
    headers: { cookie: owner.cookie, origin: sluice.address },
  })
  assert.equal(started.status, 201, await started.text())
  const left = () => (existsSync(join(dataDir, 'backups')) ? readdirSync(join(dataDir, 'backups')) : [])
  await eventually('the backup is under way', () => left().length === 1)
  assert.match(left()[0] ?? '', /\.backup\.unfinished$/)
  const visit = await fetch(`${sluice.address}/c/${campaign}`, { redirect: 'manual', headers: BROWSER })
  assert.equal(visit.status, 302)
  await sluice.kill()
  await eventually('the unfinished file is removed', () => left().length === 0)
  assert.match((await ended()).failure ?? '', /^Sluice was stopped meanwhile: run it again$/)
})

test('a backup that fails says why and what to do, and creates no folder that BACKUP_DIR names', async () => {
  const line = await start(await houseWith({ BACKUP_DIR: join(place, 'not-mounted') }))
  assert.equal(line.state, 'failed')
  assert.match(line.failure ?? '', /not-mounted\/sluice-.* cannot be written: ENOENT.*: create the folder for the user/)
  assert.ok(!existsSync(join(place, 'not-mounted')))
  const other = await start(await houseWith({ BACKUP_OTHER_DATA_DIRS: `${place} /nowhere` }))
  assert.equal(other.failure, 'there is no folder /nowhere')
})

describe('a backup has the data of every organization, so', () => {
  const routes = [
    ['GET', '/api/backups'],
    ['POST', '/api/backups'],
    ['GET', '/api/backups/00000000000000000000000000/file'],
  ] as const

  /** Asserts that all routes answer as an unknown one does, and that nothing is started. */
  async function assertUnknown(of: TestHouse, { cookie }: Pick<SignedIn, 'cookie'>): Promise<void> {
    for (const [method, url] of routes) {
      const unknown = await of.call(method, '/api/no-such-route', { cookie })
      const { statusCode, body } = await of.call(method, url, { cookie })
      assert.deepEqual([statusCode, body], [404, unknown.body], `${method} ${url}`)
    }
    assert.equal((await query('select from backups')).rowCount, 0)
    assert.equal((await of.call('GET', '/api/preferences', { cookie })).data()['is_operator'], false)
  }

  test('without OPERATORS it is only for a person who owns every organization, deleted ones too', async () => {
    assert.equal((await house.call('GET', '/api/preferences', { cookie: owner.cookie })).data()['is_operator'], true)
    const foreign = await seedSignedIn(house)
    await assertUnknown(house, owner)
    await assertUnknown(house, foreign)
    await query('update organizations set deleted_at = now() where org_id = $1', [foreign.org_id])
    await assertUnknown(house, owner)
    await joinPlace(house, foreign, owner.user_id, 'admin')
    await assertUnknown(house, owner)
    await ownAll()
    assert.deepEqual(await list(), [])
  })

  test('with OPERATORS it is only for the owners it names, whose address is confirmed', async () => {
    const named = await houseWith({ OPERATORS: 'Ada@example.com, bob@example.com' })
    await assertUnknown(named, owner)
    const ada = await seedPerson(named, 'ada@example.com')
    await joinPlace(named, owner, ada, 'owner')
    const cookie = await seedSession(named, ada)
    await assertUnknown(named, { cookie })
    await query('update users set email_verified = true where id = $1', [ada])
    assert.deepEqual(await list(named, { ...owner, cookie }), [])
    await query(`update members set role = 'admin' where user_id = $1`, [ada])
    for (const [method, url] of routes) {
      const { statusCode, data } = await named.call(method, url, { cookie })
      assert.deepEqual([statusCode, data()['code']], [403, 'role_forbidden'], `${method} ${url}`)
    }
  })

  test('no key can do it, and an unknown backup is not found', async () => {
    for (const id of ['00000000000000000000000000', 'x']) {
      const { statusCode, data } = await house.call('GET', `/api/backups/${id}/file`, { cookie: owner.cookie })
      assert.deepEqual([statusCode, data()['code']], [404, 'not_found'])
    }
    const { key } = await seedPlace(fresh.database, 'keyed')
    for (const [method, url] of routes)
      assert.equal((await house.call(method, url, { key })).data()['code'], 'api_key_resource_forbidden')
  })
})
