// A migrated database with the partitions of the coming months to clone from. Its name contains a hash of the migrations, so it is created once and never
// out of date.
import { createHash } from 'node:crypto'
import pg from 'pg'
import { pino } from 'pino'
import { connect } from '../../src/ground/db/connect.ts'
import { listMigrations, migrate } from '../../src/ground/db/migrate.ts'
import { keepPartitions } from '../../src/ground/db/partitions.ts'

const LOCK = 7_583_002

export function templateName(): string {
  const checksums = listMigrations().map(({ number, checksum }) => `${number} ${checksum}`)
  return `template_${createHash('sha256').update(checksums.join('\n')).digest('hex').slice(0, 16)}`
}

/** Creates the template if it is missing, and returns its name. Any number of test files may call it at once. */
export async function ensureTemplate(client: pg.Client, connection: pg.ClientConfig): Promise<string> {
  const name = templateName()
  const isMade = async () => (await client.query('select 1 from pg_database where datname = $1', [name])).rowCount === 1
  if (await isMade()) return name
  await client.query('select pg_advisory_lock($1)', [LOCK])
  try {
    if (await isMade()) return name
    const half = `${name}_half`
    await client.query(`drop database if exists ${half} with (force)`)
    await client.query(`create database ${half}`)
    const inside = new pg.Client({ ...connection, database: half })
    await inside.connect()
    try {
      await migrate(inside)
    } finally {
      await inside.end()
    }
    await createMonths({ ...connection, database: half })
    await client.query(`alter database ${half} rename to ${name}`)
    return name
  } finally {
    await client.query('select pg_advisory_unlock($1)', [LOCK])
  }
}

/** Each house would create them, by eight statements. */
async function createMonths(connection: pg.ClientConfig): Promise<void> {
  const log = pino({ level: 'silent' })
  const database = connect([connection], { log })
  for (const table of ['clicks', 'history'] as const) (await keepPartitions(database.schema, table, log)).close()
  await database.close()
}
