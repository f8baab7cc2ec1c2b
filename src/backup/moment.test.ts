import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, test } from 'node:test'
import pg from 'pg'
import { pino } from 'pino'
import { eventually } from '../../tests/support/eventually.ts'
import { runSluice } from '../../tests/support/sluice.ts'
import { readConfig } from '../ground/config.ts'
import { ARCHIVING_FAILS, findArchive } from '../ground/db/archive.ts'
import { startPostgres } from '../ground/db/embedded.ts'
import { StartError } from '../ground/start-error.ts'
import { migrateNodes, openNodes } from '../ground/db/nodes.ts'
import { removeOldCopies, takeCopy } from './copies.ts'
import { restoreToMoment } from './moment.ts'

const log = pino({ level: 'silent' })
let ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.reverse()) await end()
  ends = []
})

/** Runs a command and returns its output. */
async function run(command: string, env: Record<string, string>, ...given: string[]): Promise<string> {
  const { code, stdout, stderr } = await runSluice({ LOG_LEVEL: 'silent', ...env }, { command, given })
  assert.deepEqual([code, stderr], [0, ''], stdout)
  return stdout
}

async function opened(dataDir: string, archiveDir?: string) {
  const server = await startPostgres({ dataDir, log, archiveDir })
  const client = new pg.Client(server.connection)
  await client.connect()
  const close = async () => {
    ends = ends.filter(end => end !== close)
    await client.end()
    await server.stop()
  }
  ends.push(close)
  return { client, connection: server.connection, close }
}

const archivingFails = async (client: pg.Client) =>
  (await client.query<{ archiving_fails: boolean }>(ARCHIVING_FAILS)).rows[0]?.archiving_fails ?? assert.fail()

/** The values that were written, and the moment after each by the database's clock. */
async function write(client: pg.Client, value: string): Promise<string> {
  await client.query('insert into installation (name, value) values ($1, $1)', [value])
  const { rows } = await client.query<{ at: string }>(
    `select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at`,
  )
  return rows[0]?.at ?? assert.fail()
}

test('a database is restored to exactly the moment that was named, from the archive that --keep bounds @detail', async () => {
  const place = mkdtempSync(join(tmpdir(), 'sluice-moment-'))
  ends.push(() => rmSync(place, { recursive: true }))
  // PostgreSQL runs as another user than root.
  chmodSync(place, 0o755)
  const folder = (name: string) => join(place, name)
  for (const name of ['archive', 'backups']) mkdirSync(folder(name), { mode: 0o755 })
  const env = { DATA_DIR: folder('data'), ARCHIVE_DIR: folder('archive'), SECRET: 'a secret that only tests know' }
  const { client, connection, close } = await opened(env.DATA_DIR, env.ARCHIVE_DIR)
  await migrateNodes({ addresses: [connection], close: async () => {} })
  const archive = findArchive(env.ARCHIVE_DIR, env.DATA_DIR) ?? assert.fail()
  const segments = () => readdirSync(join(archive, 'log')).toSorted()

  const before = await write(client, 'before')
  const said = await run('backup', env, '--keep', '2', folder('backups'))
  assert.match(said, /\/copies\/\w+ has the database for restores to any moment from \S+Z on\.\n$/)
  await write(client, 'first')
  const first = await write(client, 'second')
  await write(client, 'third')
  await takeCopy(client, folder('data/postgres'), archive)
  const oldest = segments()[0]
  await client.query('select pg_switch_wal()')
  await close()

  const values = async (name: string) => {
    const there = await opened(folder(name))
    const { rows } = await there.client.query<{ name: string }>(
      `select name from installation where name in ('before', 'first', 'second', 'third') order by name`,
    )
    await write(there.client, 'later')
    await there.close()
    return rows.map(row => row.name)
  }
  await run('restore', { DATA_DIR: folder('to-first'), SECRET: env.SECRET }, '--to', first, archive)
  assert.deepEqual(await values('to-first'), ['before', 'first', 'second'])

  const refused = async (name: string, to: string, from = archive) => {
    const config = readConfig({ DATA_DIR: folder(name), SECRET: env.SECRET })
    const error = await restoreToMoment({ config, archive: from, to }).catch((thrown: unknown) => thrown)
    assert.ok(error instanceof StartError, String(error))
    assert.ok(name !== 'new' || !existsSync(folder('new/postgres')))
    return error.message
  }
  assert.match(await refused('new', before), /the first moment in \S+ is \S+Z/)
  assert.match(await refused('new', '2099-01-01T00:00:00Z'), /the archive ends before 2099-01-01T00:00:00Z/)
  assert.match(await refused('new', 'yesterday'), /"yesterday" is no moment: write it like/)
  assert.match(await refused('new', 'latest', folder('backups')), /is no archive of Sluice/)
  assert.match(await refused('to-first', 'latest'), /there is a database in DATA_DIR/)

  // The third copy removes the first one and the log that only it needs.
  const again = await opened(env.DATA_DIR, env.ARCHIVE_DIR)
  assert.equal(await archivingFails(again.client), false)
  renameSync(join(archive, 'log'), join(archive, 'not mounted'))
  await again.client.query('select pg_switch_wal()')
  await eventually('archiving fails', () => archivingFails(again.client))
  renameSync(join(archive, 'not mounted'), join(archive, 'log'))
  await takeCopy(again.client, folder('data/postgres'), archive)
  await removeOldCopies(archive, 2)
  await again.close()
  assert.equal(readdirSync(join(archive, 'copies')).length, 2)
  assert.ok(oldest !== undefined && !segments().includes(oldest))
  assert.match(await refused('new', first), /the first moment in/)
  const config = readConfig({ DATA_DIR: folder('to-the-end'), SECRET: env.SECRET })
  await restoreToMoment({ config, archive, to: 'latest' })
  assert.deepEqual(await values('to-the-end'), ['before', 'first', 'second', 'third'])
})

test('ARCHIVE_DIR is refused for another database, and if the folder is missing', async () => {
  const place = mkdtempSync(join(tmpdir(), 'sluice-moment-'))
  ends.push(() => rmSync(place, { recursive: true }))
  const ARCHIVE_DIR = join(place, 'missing')
  assert.throws(
    () => readConfig({ ARCHIVE_DIR, DATABASE_URL: 'postgres://localhost/sluice' }),
    /ARCHIVE_DIR is for the embedded PostgreSQL: with DATABASE_URL set archive_command on your server/,
  )
  const config = readConfig({ DATA_DIR: join(place, 'data'), ARCHIVE_DIR })
  await assert.rejects(openNodes(config, log), {
    message: `there is no folder ${ARCHIVE_DIR}: create it, or change ARCHIVE_DIR`,
  })
  const own = readConfig({ DATABASE_URL: 'postgres://localhost/sluice', DATA_DIR: join(place, 'data') })
  await assert.rejects(
    restoreToMoment({ config: own, archive: place, to: 'latest' }),
    /only the embedded database is restored/,
  )
})
