import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { pino } from 'pino'
import { connect, type Database } from '../../src/ground/db/connect.ts'
import { startPostgres } from '../../src/ground/db/embedded.ts'
import { migrate } from '../../src/ground/db/migrate.ts'
import { assertRestored } from '../support/audit.ts'
import { faultGround, SECONDS } from '../support/fault-ground.ts'
import { Load, type Target } from '../support/load.ts'
import {
  createOwnCluster,
  ownersFolder,
  runProgram,
  startOwnPostgres,
  whyNoOwnPostgres,
} from '../support/own-postgres.ts'
import { startTestPostgres } from '../support/postgres.ts'

const log = pino({ level: 'silent' })
const skip = process.env['SLUICE_FAULT_SECONDS'] === undefined ? 'see npm run test:faults' : whyNoOwnPostgres

let ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.reverse()) await end()
  ends = []
})

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'sluice-backup-'))
  // PostgreSQL runs as another user, who must be able to enter the folder.
  chmodSync(made, 0o755)
  ends.push(() => rmSync(made, { recursive: true, force: true }))
  return made
}

function opened(connection: pg.ClientConfig): Database {
  const database = connect([connection], { log })
  ends.push(() => database.close())
  return database
}

/** Everything acknowledged so far. */
const soFar = (load: Load) => ({ clicks: new Set(load.clicks), events: new Set(load.events) })

/** Waits until some clicks and conversions have been acknowledged, so that something could be lost. */
async function busy(load: Load): Promise<void> {
  const [clicks, events] = [load.clicks.size + 10, load.events.size + 10]
  const deadline = performance.now() + 60_000
  while (load.clicks.size < clicks || load.events.size < events) {
    assert.ok(performance.now() < deadline, 'nothing is recorded')
    await sleep(20)
  }
}

/** Takes a backup while two organizations are under load, then ends the process. */
async function underLoad(
  database: Database,
  url: string,
  backUp: (load: Load, target: Target) => Promise<void>,
): Promise<{ load: Load; targets: Target[]; restart: (restored: string) => Promise<string> }> {
  const ground = await faultGround(database, url, 2)
  ends.push(() => ground.end())
  const sluice = await ground.start(0)
  const load = new Load({ address: () => sluice.address })
  const enough = performance.now() + SECONDS * 1000
  let isOver = false
  const goOn = async () => {
    while (!isOver || performance.now() < enough) await load.run(performance.now() + 500, 8, ground.targets)
  }
  const running = goOn()
  try {
    await busy(load)
    await backUp(load, ground.targets[0] ?? assert.fail())
  } finally {
    isOver = true
    await running
  }
  await sluice.stop()
  const restart = async (restored: string) => (await ground.start(1, { DATABASE_URL: restored })).address
  return { load, targets: ground.targets, restart }
}

test('a snapshot of the data folder, taken under load, is a complete installation with everything acknowledged before', async () => {
  const postgres = await startTestPostgres()
  ends.push(() => postgres.end())
  const copy = folder()
  let before = { clicks: new Set<string>(), events: new Set<string>() }
  const { load, targets, restart } = await underLoad(postgres.database, postgres.url, async load => {
    before = soFar(load)
    // Like a file system's snapshot: all files at one moment.
    postgres.freeze()
    execFileSync('cp', ['-a', join(postgres.folder, 'postgres'), copy])
    postgres.thaw()
    await busy(load)
  })
  const restored = await startPostgres({ dataDir: copy, log })
  ends.push(() => restored.stop())
  const pool = opened(restored.connection).reads
  const url = `postgres://sluice@localhost/postgres?host=${encodeURIComponent(join(copy, 'postgres'))}`
  await assertRestored(pool, load, before, { targets, address: await restart(url) })
})

/** The operator's own PostgreSQL with an empty database for Sluice. */
async function ownPostgres(place: string, settings: readonly string[]) {
  const cluster = ownersFolder(join(ownersFolder(join(place, 'live')), 'cluster'))
  await createOwnCluster(cluster)
  const server = await startOwnPostgres(cluster, settings)
  ends.push(() => server.stop())
  await create(server.connection('postgres'), 'sluice')
  const client = new pg.Client(server.connection('sluice'))
  await client.connect()
  await migrate(client)
  await client.end()
  return server
}

async function create(connection: pg.ClientConfig, database: string): Promise<void> {
  const client = new pg.Client(connection)
  await client.connect()
  await client.query(`create database ${database}`)
  await client.end()
}

test('pg_dump under load gives a complete installation with everything acknowledged before', { skip }, async () => {
  const place = folder()
  const server = await ownPostgres(place, [])
  const dump = join(ownersFolder(join(place, 'dumps')), 'sluice.dump')
  let before = { clicks: new Set<string>(), events: new Set<string>() }
  const { load, targets, restart } = await underLoad(
    opened(server.connection('sluice')),
    server.url('sluice'),
    async load => {
      before = soFar(load)
      await runProgram('pg_dump', '--format=custom', `--file=${dump}`, server.url('sluice'))
      await busy(load)
    },
  )
  await create(server.connection('postgres'), 'restored')
  await runProgram('pg_restore', '--exit-on-error', `--dbname=${server.url('restored')}`, dump)
  const pool = opened(server.connection('restored')).reads
  await assertRestored(pool, load, before, { targets, address: await restart(server.url('restored')) })
})

test('a base backup and the archived log restore any moment: everything acknowledged before it, and nothing later', {
  skip,
}, async () => {
  const place = folder()
  const archive = ownersFolder(join(place, 'archive'))
  const settings = [
    'wal_level=replica',
    'archive_mode=on',
    `archive_command=test ! -f ${archive}/%f && cp %p ${archive}/%f`,
  ]
  const server = await ownPostgres(place, settings)
  const live = opened(server.connection('sluice'))
  const backup = join(ownersFolder(join(place, 'restored')), 'cluster')
  let before = { clicks: new Set<string>(), events: new Set<string>() }
  let after: string | undefined
  const { load, targets, restart } = await underLoad(live, server.url('sluice'), async (load, target) => {
    await runProgram('pg_basebackup', `--dbname=${server.url('sluice')}`, `--pgdata=${backup}`, '--checkpoint=fast')
    await busy(load)
    before = soFar(load)
    await live.worker.query("select pg_create_restore_point('here')")
    const clickId = (await load.click(target)) ?? assert.fail()
    const told = await load.report(target, { clickId, type: 'ftd', nonce: 'after' })
    after = typeof told === 'object' ? told.id : assert.fail('it is acknowledged')
    await busy(load)
  })
  const { rows } = await live.worker.query<{ name: string }>('select pg_walfile_name(pg_switch_wal()) as name')
  const last = join(archive, rows[0]?.name ?? assert.fail())
  for (const deadline = performance.now() + 60_000; !existsSync(last); await sleep(50))
    assert.ok(performance.now() < deadline, 'the log is archived')
  writeFileSync(join(backup, 'recovery.signal'), '')
  const restored = await startOwnPostgres(backup, [
    `restore_command=cp ${archive}/%f %p`,
    'recovery_target_name=here',
    'recovery_target_action=promote',
  ])
  ends.push(() => restored.stop())
  const pool = opened(restored.connection('sluice')).reads
  await assertRestored(pool, load, before, { targets, address: await restart(restored.url('sluice')) })
  const { rowCount } = await pool.query('select 1 from events where id = $1', [after])
  assert.equal(rowCount, 0, 'later rows are not there')
})
