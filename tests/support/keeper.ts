// The process that owns a PostgreSQL cluster for tests: `node keeper.ts <folder> [--remove]`. It ends itself and the server
// after a minute without connections, so that a killed or forgotten test run leaves no server behind.
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { pino } from 'pino'
import { startPostgres } from '../../src/ground/db/embedded.ts'
import { templateName } from './template.ts'

const [folder = '', remove] = process.argv.slice(2)
const IDLE_CHECKS = 12

/** The data need not survive a crash, so no test waits for the disk. */
const settings = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'wal_compression=off',
  'autovacuum=off',
  // Ten processes of tests reached 300 on a busy machine.
  'max_connections=1000',
  'log_min_messages=log',
]

const server = await startPostgres({ dataDir: folder, log: pino({ level: 'silent' }), settings })
const client = new pg.Client({ ...server.connection, application_name: 'keeper' })
client.on('error', () => process.exit(1))
await client.connect()

/** Leftovers of earlier runs: their databases, and templates of other migrations. */
async function dropLeftovers(): Promise<void> {
  const { rows } = await client.query<{ datname: string }>(
    `select datname from pg_database where datname like 't\\_%' or (datname like 'template\\_%' and datname <> $1)`,
    [templateName()],
  )
  for (const { datname } of rows) await client.query(`drop database ${pg.escapeIdentifier(datname)} with (force)`)
}

async function countGuests(): Promise<number> {
  const { rows } = await client.query<{ guests: number }>(
    `select count(*)::int as guests from pg_stat_activity
      where backend_type = 'client backend' and application_name not in ('keeper', 'sluice claim')`,
  )
  return rows[0]?.guests ?? 0
}

const asked = new AbortController()
process.once('SIGTERM', () => asked.abort())
if (!server.adopted) await dropLeftovers()
for (let idle = 0; idle < IDLE_CHECKS && !asked.signal.aborted; ) {
  await sleep(5000, undefined, { signal: asked.signal }).catch(() => {})
  idle = (await countGuests()) === 0 ? idle + 1 : 0
}
client.removeAllListeners('error').on('error', () => {})
await client.end()
await server.stop()
if (remove) rmSync(folder, { recursive: true })
