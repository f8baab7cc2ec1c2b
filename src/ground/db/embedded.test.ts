import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { pino } from 'pino'
import { postmasterOf } from '../../../tests/support/sluice.ts'
import { StartError } from '../start-error.ts'
import { type Embedded, startPostgres } from './embedded.ts'

const log = pino({ level: 'silent' })
const folders: string[] = []
const servers: Embedded[] = []

async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-embedded-'))
  folders.push(folder)
  return folder
}

async function start(dataDir: string, alone = true): Promise<Embedded> {
  const server = await startPostgres({ dataDir, log, alone })
  servers.push(server)
  return server
}

async function ask<T extends pg.QueryResultRow>({ connection }: Embedded, text: string): Promise<T[]> {
  const client = new pg.Client(connection)
  await client.connect()
  const { rows } = await client.query<T>(text)
  await client.end()
  return rows
}

const refusal = (pattern: RegExp) => (error: unknown) => error instanceof StartError && pattern.test(error.message)

afterEach(async () => {
  for (const server of servers.splice(0).reverse()) await server.stop()
})
after(async () => {
  for (const folder of folders) await rm(folder, { recursive: true })
})

test('the server is reachable only by its socket, sorts by code point and syncs its commits to disk', async () => {
  const server = await start(await freshFolder())
  const [settings] = await ask(
    server,
    `select current_setting('listen_addresses') as tcp, current_setting('fsync') as fsync, current_setting('timezone') as zone,
      current_setting('synchronous_commit') as commits, datlocale as locale, pg_encoding_to_char(encoding) as encoding,
      current_setting('data_checksums') as checksums, lower('ÄÖ') as lower, '_' < 'a' and 'Z' < 'a' as by_code_point
      from pg_database where datname = current_database()`,
  )
  assert.deepEqual(settings, {
    tcp: '',
    fsync: 'on',
    zone: 'UTC',
    commits: 'on',
    locale: 'C.UTF-8',
    encoding: 'UTF8',
    checksums: 'on',
    lower: 'äö',
    by_code_point: true,
  })
})

test('several first starts at once make one cluster and leave nothing half-made', async () => {
  const dataDir = await freshFolder()
  const all = await Promise.all([start(dataDir, false), start(dataDir, false), start(dataDir, false)])
  const ids = await Promise.all(all.map(server => ask(server, 'select system_identifier from pg_control_system()')))
  assert.equal(new Set(ids.map(rows => JSON.stringify(rows))).size, 1)
  assert.deepEqual(await readdir(dataDir), ['postgres', 'postgres.log'])
})

test('a command that started the server leaves it running if a Sluice has adopted it since @detail', async () => {
  const dataDir = await freshFolder()
  const command = await start(dataDir, false)
  const sluice = await start(dataDir)
  assert.deepEqual([command.adopted, sluice.adopted], [false, true])
  const postmaster = postmasterOf(dataDir)
  await command.stop()
  assert.equal(postmasterOf(dataDir), postmaster)
  assert.deepEqual(await ask(sluice, 'select 1 as one'), [{ one: 1 }])
})

test('a stop is complete: writes are there after the next start, and no process is left', async () => {
  const dataDir = await freshFolder()
  const first = await start(dataDir)
  assert.equal(first.adopted, false)
  await ask(first, 'create table kept (); ')
  await first.stop()
  await assert.rejects(stat(join(dataDir, 'postgres/postmaster.pid')))
  const second = await start(dataDir)
  assert.equal(second.adopted, false)
  assert.deepEqual(await ask(second, `select to_regclass('kept')::text as kept`), [{ kept: 'kept' }])
})

test('another process with the number of a dead server does not prevent the start @detail', async () => {
  const dataDir = await freshFolder()
  const first = await start(dataDir)
  const file = join(dataDir, 'postgres/postmaster.pid')
  const mark = await readFile(file, 'utf8')
  await first.stop()
  await writeFile(file, mark.replace(/^\d+/, String(process.pid)))
  const second = await start(dataDir)
  assert.deepEqual(await ask(second, 'select 1 as one'), [{ one: 1 }])
})

test('a server that answers but cannot be seen is never started over', async () => {
  const dataDir = await freshFolder()
  await (await start(dataDir)).stop()
  const elsewhere = createServer().listen(join(dataDir, 'postgres/.s.PGSQL.5432'))
  try {
    await assert.rejects(start(dataDir), refusal(/in use by a PostgreSQL server that this process cannot see/))
  } finally {
    elsewhere.close()
  }
})

test('a refused claim leaves the server running for its holder', async () => {
  const dataDir = await freshFolder()
  const holder = await start(dataDir)
  const postmaster = postmasterOf(dataDir)
  await assert.rejects(start(dataDir), refusal(/another Sluice is running on .*: stop it, or set DATA_DIR/))
  assert.equal(postmasterOf(dataDir), postmaster)
  assert.deepEqual(await ask(holder, 'select 1 as one'), [{ one: 1 }])
})

test('a stop during a restart of the server leaves no server behind @detail', async () => {
  const dataDir = await freshFolder()
  for (const delay of [0, 50, 70, 90, 120]) {
    const server = await start(dataDir)
    process.kill(postmasterOf(dataDir), 'SIGKILL')
    await sleep(delay)
    await server.stop()
    await assert.rejects(ask(server, 'select 1'), /ENOENT|ECONNREFUSED/, `a server is running after ${delay} ms`)
  }
})

test('a cluster of another version and a folder of something else are refused', async () => {
  const older = await freshFolder()
  await (await start(older)).stop()
  await writeFile(join(older, 'postgres/PG_VERSION'), '17\n')
  await assert.rejects(start(older), refusal(/made by PostgreSQL 17, this version of Sluice brings 18/))

  const foreign = await freshFolder()
  await mkdir(join(foreign, 'postgres'))
  await writeFile(join(foreign, 'postgres/letter.txt'), 'dear')
  await assert.rejects(start(foreign), refusal(/holds files that are no PostgreSQL cluster/))
  assert.deepEqual(await readdir(join(foreign, 'postgres')), ['letter.txt'])
})

test('a server that cannot start says why', async () => {
  const dataDir = await freshFolder()
  await (await start(dataDir)).stop()
  await assert.rejects(
    startPostgres({ dataDir, log, settings: ['max_connections=many'] }),
    refusal(/PostgreSQL did not start \(1\): .*invalid value for parameter "max_connections"/),
  )
})
