import assert from 'node:assert/strict'
import { chmodSync, closeSync, existsSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { pino } from 'pino'
import { toUuid } from '../../src/contract/ids.ts'
import { connect, type Database } from '../../src/ground/db/connect.ts'
import { startPostgres } from '../../src/ground/db/embedded.ts'
import { migrate } from '../../src/ground/db/migrate.ts'
import { assertAudit, drained } from '../support/audit.ts'
import { type FaultGround, faultGround, SECONDS } from '../support/fault-ground.ts'
import { Load, type Target } from '../support/load.ts'
import { startTestPostgres } from '../support/postgres.ts'
import type { Sluice, SluiceOptions } from '../support/sluice.ts'
import { mountSmallDisk, type SmallDisk, whyNoDisk } from '../support/small-disk.ts'

/** Room for a cluster and the writes of the longest run. */
const MEGABYTES = 512
const skip =
  process.env['SLUICE_FAULT_SECONDS'] === undefined ? 'it mounts disks: see npm run test:faults' : whyNoDisk()

let ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.reverse()) await end()
  ends = []
})

function smallDisk() {
  const disk = mountSmallDisk(MEGABYTES)
  ends.push(() => disk.end())
  return disk
}

function ordinaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-disk-'))
  // PostgreSQL's user must own its files.
  chmodSync(folder, 0o755)
  ends.push(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

type Scene = {
  ground: FaultGround
  database: Database
  start: () => Promise<Sluice>
  /** Makes all leases expire while no process works. */
  mature: () => Promise<void>
}

/** Two organizations on their own PostgreSQL, and a process with its data folder on another disk. */
async function scene(places: Parameters<typeof startTestPostgres>[0], options: SluiceOptions = {}) {
  const postgres = await startTestPostgres(places)
  ends.push(() => postgres.end())
  const { database } = postgres
  const ground = await faultGround(database, postgres.url, 2)
  ends.push(() => ground.end())
  const start = () => ground.start(0, { LOG_LEVEL: 'trace' }, options)
  return { postgres, ground, database, start, mature: () => ground.mature() }
}

/** Two organizations in an installation that keeps everything in one folder. */
async function sceneIn(disk: SmallDisk): Promise<Scene> {
  const { folder } = disk
  const env = { DATABASE_URL: '', DATA_DIR: folder, JOURNAL_RESERVE_MB: '64' }
  const log = pino({ level: 'silent' })
  const server = await startPostgres({ dataDir: folder, log })
  // PostgreSQL outlives a killed Sluice.
  ends.push(async () => {
    disk.free()
    await (await startPostgres({ dataDir: folder, log })).stop()
  })
  const client = new pg.Client(server.connection)
  await client.connect()
  await migrate(client)
  await client.end()
  const database = connect([server.connection], { log })
  ends.push(() => database.close())
  const ground = await faultGround(database, '', 2)
  ends.push(() => ground.end())
  await server.stop()
  const mature = async () => {
    const alone = await startPostgres({ dataDir: folder, log })
    await until('the tests reach the database again', async () => (await ground.mature()) === undefined)
    await alone.stop()
  }
  return { ground, database, start: () => ground.start(0, env), mature }
}

type Scope = { load: Load; target: Target; sluice: Sluice; database: Database }

/** Runs the load during a fault, then the audit. The process is not restarted meanwhile. */
async function auditAfter({ ground, database, start, mature }: Scene, during: (at: Scope) => Promise<void>) {
  let sluice = await start()
  const load = new Load({ address: () => sluice.address })
  const target = ground.targets[0] ?? assert.fail()
  const running = load.run(performance.now() + SECONDS * 1000, 8, ground.targets)
  await until('reports are accepted', async () => typeof (await reported(load, target)) === 'object')
  await during({ load, target, sluice, database })
  await until('reports are accepted again', async () => typeof (await reported(load, target)) === 'object')
  await running
  assert.equal(sluice.child.exitCode, null, 'the process survived')
  // An attempt whose outcome could not be written is due again after its lease. No process works while leases are made to expire.
  await sluice.stop()
  await until('the tests reach the database again', async () => (await mature()) === undefined)
  sluice = await start()
  await drained(database.reads, ground.receiver)
  const { targets, receiver } = ground
  await assertAudit(database.reads, load, { targets, receiver, address: sluice.address })
}

/** Fills the disk for a while. Returns the time in ms from when there was room again until conversions were accepted. */
async function whileFull(disk: SmallDisk, { load, target, sluice, database }: Scope, look: () => Promise<void>) {
  disk.fill()
  await until('reports are refused', async () => {
    // PostgreSQL still has free segments of its log: the load uses them up.
    await database.reads.query('select pg_switch_wal()').catch(() => {})
    return (await reported(load, target)) === 'unknown'
  })
  await look()
  await sleep(SECONDS * 300)
  await look()
  assert.equal(sluice.child.exitCode, null, 'the process lives')
  disk.free()
  const freed = performance.now()
  await until('reports are accepted again', async () => typeof (await reported(load, target)) === 'object')
  return Math.round(performance.now() - freed)
}

let nonces = 0
async function reported(load: Load, target: Parameters<Load['report']>[0]) {
  const clickId = await load.click(target)
  return clickId === undefined ? 'unknown' : load.report(target, { clickId, type: 'ftd', nonce: `n${(nonces += 1)}` })
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 100_000
  while (!(await isSo().catch(() => false))) {
    assert.ok(performance.now() < deadline, what)
    await sleep(50)
  }
}

/** A folder on a disk with room for the journal. */
const getsOn =
  ({ load, target }: Scope) =>
  async () =>
    assert.ok(await load.click(target), 'a visitor is redirected with an id')

test('the database’s disk is full: conversions get a Retry-After, visitors are redirected, and Sluice recovers by itself', {
  skip,
}, async t => {
  const disk = smallDisk()
  const place = await scene({ folder: disk.folder, walFolder: ordinaryFolder() })
  await auditAfter(place, async at => {
    t.diagnostic(`back ${await whileFull(disk, at, getsOn(at))} ms after there was room`)
  })
})

test('the disk of PostgreSQL’s write-ahead log is full, which ends PostgreSQL: it is restarted until there is room', {
  skip,
}, async t => {
  const disk = smallDisk()
  const place = await scene({ folder: ordinaryFolder(), walFolder: disk.folder })
  await auditAfter(place, async at => {
    t.diagnostic(`back ${await whileFull(disk, at, getsOn(at))} ms after there was room`)
  })
})

test('the only disk is full: visitors are redirected with an id from the reserve, and Sluice recovers by itself', {
  skip,
}, async t => {
  const disk = smallDisk()
  const place = await sceneIn(disk)
  await auditAfter(place, async at => {
    const passes = async () => {
      const visit = await fetch(`${at.sluice.address}/c/${at.target.campaign}`, { redirect: 'manual' })
      assert.equal(visit.status, 302)
      const id = new URL(visit.headers.get('location') ?? '').searchParams.get('c')
      at.load.clicks.add(toUuid(id ?? '') ?? assert.fail(`the id is ${id}`))
    }
    t.diagnostic(`back ${await whileFull(disk, at, passes)} ms after there was room`)
  })
})

test('the disk of Sluice’s log is full: nothing else is affected @detail', async () => {
  const full = openSync('/dev/full', 'w')
  ends.push(() => closeSync(full))
  const place = await scene({}, { stderr: full })
  await auditAfter(place, async ({ sluice }) => {
    // Makes it log: the database goes away and comes back.
    for (let times = 0; times < 3; times += 1) {
      // A restart takes longer on a busy machine.
      await until('PostgreSQL runs', async () => existsSync(join(place.postgres.folder, 'postgres/postmaster.pid')))
      place.postgres.crash()
      await sleep(SECONDS * 100)
      assert.equal(sluice.child.exitCode, null, 'the process lives')
    }
  })
})
