// `npm run backup` of a Sluice under load, and `npm run restore` of its file, as an operator runs them.
import assert from 'node:assert/strict'
import { createSecretKey, randomBytes } from 'node:crypto'
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, test } from 'node:test'
import { pino } from 'pino'
import { SIGNATURE_BYTES, writeBackup } from '../../src/backup/file.ts'
import { nameBackup } from '../../src/backup/retention.ts'
import { connect } from '../../src/ground/db/connect.ts'
import { startPostgres } from '../../src/ground/db/embedded.ts'
import { migrateNodes } from '../../src/ground/db/nodes.ts'
import { secretHere } from '../../src/ground/db/secrets.ts'
import { assertRestored } from '../support/audit.ts'
import { freshDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { type FaultGround, faultGround, IS_LONG, SECONDS } from '../support/fault-ground.ts'
import { Load } from '../support/load.ts'
import { startProxy } from '../support/proxy.ts'
import { runSluice } from '../support/sluice.ts'

const log = pino({ level: 'silent' })
const SECRET = 'the same in all processes'

let ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.reverse()) await end()
  ends = []
})

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'sluice-backup-'))
  ends.push(() => rmSync(made, { recursive: true, force: true }))
  return made
}

/** Runs a command and returns its output. */
async function run(command: string, env: Record<string, string>, ...given: string[]): Promise<string> {
  const { code, stdout, stderr } = await runSluice({ LOG_LEVEL: 'silent', ...env }, { command, given })
  assert.deepEqual([code, stderr], [0, ''], stdout)
  return stdout
}

/** Runs `work` with the embedded server of a data folder, without a Sluice on it. */
async function inside<T>(dataDir: string, work: (database: ReturnType<typeof connect>) => Promise<T>): Promise<T> {
  const server = await startPostgres({ dataDir, log })
  try {
    await migrateNodes({ addresses: [server.connection], close: async () => {} })
    const database = connect([server.connection], { log })
    try {
      return await work(database)
    } finally {
      await database.close()
    }
  } finally {
    await server.stop()
  }
}

/** Waits until that many more clicks and conversions have been acknowledged. */
async function busy(load: Load): Promise<void> {
  const [clicks, events] = [load.clicks.size + 10, load.events.size + 10]
  await eventually(
    'clicks and conversions are recorded',
    () => load.clicks.size >= clicks && load.events.size >= events,
  )
}

/** Starts Sluice, and returns also the lines of its log about backups. */
async function opened(ground: FaultGround, number: number, env: Record<string, string>) {
  const path = join(folder(), 'log')
  const stderr = openSync(path, 'w')
  const sluice = await ground.start(number, { ...env, LOG_LEVEL: 'info' }, { stderr })
  closeSync(stderr)
  return { sluice, said: readFileSync(path, 'utf8') }
}

const soFar = (load: Load) => ({ clicks: new Set(load.clicks), events: new Set(load.events) })

test('of a running Sluice with its own database: restored into a fresh folder it has everything acknowledged before, and knows when it was backed up', async () => {
  const [place, fresh] = [folder(), join(folder(), 'data')]
  const file = join(place, 'one.backup')
  const dataDir = join(place, 'data')
  const own = { DATABASE_URL: '', SECRET: '', DATA_DIR: dataDir }
  const ground = await inside(dataDir, database => faultGround(database, '', 2))
  ends.push(() => ground.end())
  const { sluice, said: unsaved } = await opened(ground, 0, own)
  assert.match(unsaved, /Sluice \d+\.\d+\.\d+, last backup: none/)
  const load = new Load({ address: () => sluice.address })
  const enough = performance.now() + (IS_LONG ? SECONDS * 1000 : 0)
  let isOver = false
  const goOn = async () => {
    while (!isOver || performance.now() < enough) await load.run(performance.now() + 500, 8, ground.targets)
  }
  const running = goOn()
  await busy(load)
  const before = soFar(load)
  const said = await run('backup', { DATA_DIR: dataDir }, file)
  assert.match(
    said,
    /^\S+one.backup contains everything acknowledged before 20.*: \d+ rows of \d+ tables, 0 journal files\./,
  )
  assert.match(said, new RegExp(`SECRET \\(${join(dataDir, 'secret')}\\) is not in it`))
  await busy(load)
  isOver = true
  await running
  await sluice.stop()

  await mkdir(fresh)
  copyFileSync(join(dataDir, 'secret'), join(fresh, 'secret'))
  assert.match(
    await run('restore', { DATA_DIR: fresh }, file),
    /^Restored everything that Sluice \S+ acknowledged before 20/,
  )
  assert.match(await run('reconcile', { DATA_DIR: fresh }), /./)
  const { sluice: again, said: saved } = await opened(ground, 1, { ...own, DATA_DIR: fresh })
  assert.match(saved, /Sluice \d+\.\d+\.\d+, last backup: 20\d\d-\d\d-\d\dT/)
  const database = connect([{ host: join(fresh, 'postgres'), port: 5432, user: 'sluice', database: 'postgres' }], {
    log,
  })
  ends.push(() => database.close())
  await assertRestored(database.reads, load, before, { targets: ground.targets, address: again.address })
})

test('with an external database and clicks in the journal: the restored installation stores each of them once @detail', async () => {
  const fresh = await freshDatabase()
  ends.push(() => fresh.drop())
  const proxy = await startProxy(fresh.connection)
  ends.push(() => proxy.close())
  const place = folder()
  const dataDir = join(place, 'data')
  const { host, port } = proxy.connection
  const through = `postgres://sluice@${host}:${port}/${fresh.connection.database}`
  const ground = await faultGround(fresh.database, through, 2)
  ends.push(() => ground.end())
  const sluice = await ground.start(0, { DATA_DIR: dataDir })
  const load = new Load({ address: () => sluice.address })
  await load.run(performance.now() + 1000, 4, ground.targets)
  proxy.set('cut')
  const [target] = ground.targets
  for (let n = 0; n < 30; n += 1) await load.click(target ?? assert.fail())
  assert.ok(readdirSync(join(dataDir, 'journal')).length > 0, 'clicks wait on disk')
  const before = soFar(load)
  const file = join(place, 'one.backup')
  const said = await run('backup', { DATABASE_URL: fresh.url, DATA_DIR: dataDir, SECRET }, file)
  assert.match(said, /, 1 journal files\. SECRET is not in it/)
  await sluice.kill()

  const restored = join(place, 'restored')
  await run('restore', { DATA_DIR: restored, SECRET }, file)
  const again = await ground.start(1, { DATABASE_URL: '', DATA_DIR: restored })
  await eventually('the journal is stored', () => readdirSync(join(restored, 'journal')).length === 0)
  const database = connect([{ host: join(restored, 'postgres'), port: 5432, user: 'sluice', database: 'postgres' }], {
    log,
  })
  ends.push(() => database.close())
  await assertRestored(database.reads, load, before, { targets: ground.targets, address: again.address })
})

test('a command with a missing or wrong argument says so in one line and creates nothing', async () => {
  const dataDir = join(folder(), 'data')
  const said = async (command: string, ...given: string[]) => {
    const { code, stdout, stderr } = await runSluice({ DATA_DIR: dataDir, LOG_LEVEL: 'silent' }, { command, given })
    assert.deepEqual([code, stdout], [1, ''])
    return stderr
  }
  assert.match(await said('restore'), /^The restore failed: name the file: npm run restore -- FILE\n$/)
  assert.match(await said('restore', '/nowhere/x'), /^The restore failed: \/nowhere\/x cannot be read: ENOENT.*\n$/)
  const file = join(dataDir, '../one.backup')
  const noDatabase = `there is no database in DATA_DIR ${dataDir}: set DATA_DIR to the data folder of Sluice \\(.*\\), or DATABASE_URL to its database\n$`
  assert.match(await said('backup', file), new RegExp(`^The backup failed: ${noDatabase}`))
  assert.match(await said('reconcile'), new RegExp(`^The reconciliation failed: ${noDatabase}`))
  const rates = join(dataDir, '../rates.csv')
  writeFileSync(rates, '')
  assert.match(await said('rates', 'import', rates), new RegExp(`^The import of rates failed: ${noDatabase}`))
  assert.match(
    await said('second-factor', 'reset', 'ada@example.com'),
    new RegExp(`^The reset of the second factor failed: ${noDatabase}`),
  )
  assert.ok(!existsSync(dataDir) && !existsSync(file))
})

test('--keep writes into a folder and removes older backups, and a failed backup removes none', async () => {
  const fresh = await freshDatabase()
  ends.push(() => fresh.drop())
  const place = folder()
  const dataDir = join(place, 'data')
  mkdirSync(dataDir)
  const backups = join(place, 'backups')
  const env = { DATABASE_URL: fresh.url, DATA_DIR: dataDir, SECRET, LOG_LEVEL: 'silent' }
  const failing = async (own: Record<string, string>, ...given: string[]) => {
    const { code, stdout, stderr } = await runSluice({ ...env, ...own }, { command: 'backup', given })
    assert.deepEqual([code, stdout], [1, ''])
    return stderr
  }
  assert.match(await failing({}, '--keep', '0', backups), /^The backup failed: --keep needs the number of backups/)
  assert.match(
    await failing({}, '--keep', '2'),
    /^The backup failed: name the folder of the backups: .* --keep 2 FOLDER/,
  )
  assert.match(await failing({}, '--keep', '2', backups), /^The backup failed: there is no folder \S+backups\n$/)
  mkdirSync(backups)
  assert.match(
    await failing({}, join(backups, 'x.backup'), '/nowhere'),
    /^The backup failed: there is no folder \/nowhere\n$/,
  )
  const secret = secretHere({ secret: SECRET, dataDir }) ?? assert.fail()
  const old = [1, 2].map(day => nameBackup(new Date(Date.UTC(2026, 0, day)), secret))
  for (const name of old) await writeBackup(join(backups, name), (async function* () {})(), secret.backupKey)
  const { SECRET: _, ...others } = env
  const { stderr: unsigned } = await runSluice(others, { command: 'backup', given: ['--keep', '1', backups] })
  assert.match(unsigned, /^The backup failed: SECRET, which signs the backup, is missing/)
  const gone = fresh.url.replace('sluice@', 'nobody-here:hidden@')
  assert.match(
    await failing({ DATABASE_URL: gone }, '--keep', '1', backups),
    /^The backup failed: the database of DATABASE_URL cannot be reached: role "nobody-here" does not exist\n$/,
  )
  assert.deepEqual(readdirSync(backups).toSorted(), old)
  const said = await run('backup', env, '--keep', '2', backups)
  assert.match(said, new RegExp(`\nRemoved ${join(backups, old[0] ?? '')}, because 2 are kept.\n$`))
  const left = readdirSync(backups).toSorted()
  assert.deepEqual([left.length, left[0]], [2, old[1]])
  assert.ok(said.startsWith(`${join(backups, left[1] ?? '')} contains everything`))
})

test('a file without a signature is refused, and with --unsigned accepted with a warning', async () => {
  const dataDir = folder()
  const file = join(dataDir, 'old.backup')
  async function* parts() {
    yield { line: { sluice_backup: 1, version: '0', taken_at: '2026-01-01T00:00:00.000Z' } }
    yield { line: { database: { migrations: [], partitions: [], fingerprint: null } } }
  }
  await writeBackup(file, parts(), createSecretKey(randomBytes(32)))
  writeFileSync(file, readFileSync(file).subarray(0, -SIGNATURE_BYTES))
  // So that the restore is refused at its next check.
  mkdirSync(join(dataDir, 'journal'))
  writeFileSync(join(dataDir, 'journal/x.journal'), '')
  const said = async (...given: string[]) => {
    const environment = { DATA_DIR: dataDir, SECRET, LOG_LEVEL: 'silent' }
    const { code, stderr } = await runSluice(environment, { command: 'restore', given })
    assert.equal(code, 1)
    return stderr
  }
  assert.match(await said(file), /^The restore failed: \S+old.backup has no signature: .* restore it with --unsigned/)
  assert.match(
    await said(file, '--unsigned'),
    /^Warning: \S+old.backup has no signature, so changes made to it cannot be detected.*\nThe restore failed: \S+journal is not empty/,
  )
  assert.match(await said(file, '--signed'), /^The restore failed: name the file/)
})
