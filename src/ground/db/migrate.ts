// Migrates the database by the numbered files of migrations/, each in one transaction; a new database gets all of them in one. Owns the table
// `migrations`.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { StartError } from '../start-error.ts'
import { aloneOnCitus, distribute, isOnCitus } from './distribute.ts'
import { isRetryable, isTaken, isThereAlready } from './faults.ts'

export type Migration = { number: number; name: string; checksum: string; sql: string }

/** Tries of one migration that deadlocks with traffic. */
const TRIES = 10
const MIGRATIONS = join(import.meta.dirname, '../../../migrations')

/** Checksums of earlier texts of a file. With the later files, a database that had the earlier text is the same as all others. */
const OTHER_TEXTS: Readonly<Record<string, string>> = {
  '0018_report_sheets.sql': '0a7249a1d2751643cb6d34464d5ffae8d8b254c2138efb2e96c50808addeee2e',
}

/** The migrations of this code in their order. `0005_events.sql` is number 5. */
export function listMigrations(folder = MIGRATIONS): Migration[] {
  const list = readdirSync(folder)
    .filter(name => /^\d{4}_[a-z0-9_]+\.sql$/.test(name))
    .sort()
    .map(name => {
      const sql = readFileSync(join(folder, name), 'utf8')
      return { number: Number(name.slice(0, 4)), name, checksum: createHash('sha256').update(sql).digest('hex'), sql }
    })
  const twice = list.find(({ number }, i) => list[i + 1]?.number === number)
  if (twice) throw new StartError(`two migrations have the number ${twice.number}`)
  return list
}

/**
 * Applies the missing migrations and returns their file names. Any number of processes may run it at once: each inserts the number first, so the
 * second waits for the first. On Citus every new table is then placed.
 * @throws StartError when an applied file has changed since, or the database is newer than the code.
 */
export async function migrate(client: pg.ClientBase, migrations = listMigrations()): Promise<string[]> {
  if (!(await isOnCitus(client))) return applyMissing(client, migrations, true)
  return aloneOnCitus(client, async () => {
    const applied = await applyMissing(client, migrations, false)
    await distribute(client)
    return applied
  })
}

async function applyMissing(client: pg.ClientBase, migrations: Migration[], mayJoin: boolean): Promise<string[]> {
  await createTable(client)
  const missing = await missingMigrations(client, migrations)
  // A new database waits for the disk once instead of once per file. A failure is found again below, where its file is named.
  const isNew = mayJoin && missing.length === migrations.length && missing.length > 1
  if (isNew && (await apply(client, missing).catch(() => false))) return missing.map(({ name }) => name)
  const applied: string[] = []
  for (let pending = await missingMigrations(client, migrations); pending.length > 0; ) {
    const [first] = pending
    if (first !== undefined && (await apply(client, [first]))) applied.push(first.name)
    pending = await missingMigrations(client, migrations)
  }
  return applied
}

/** Whether the database has had any migration. */
export async function isMigrated(client: pg.ClientBase): Promise<boolean> {
  if (!(await isTableThere(client))) return false
  const { rows } = await client.query('select from migrations limit 1')
  return rows.length > 0
}

async function isTableThere(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ is_there: boolean }>(`select to_regclass('migrations') is not null as is_there`)
  return rows[0]?.is_there === true
}

async function createTable(client: pg.ClientBase): Promise<void> {
  // Checked first, because a cluster would contact every node even for an existing table.
  if (await isTableThere(client)) return
  try {
    await client.query(
      'create table if not exists migrations (number int primary key, name text not null, checksum text not null, applied_at timestamptz not null)',
    )
  } catch (error) {
    // Two processes can collide in spite of "if not exists"; then the other one has created the table.
    if (!isThereAlready(error)) throw error
  }
}

/** The migrations that this database lacks. @throws StartError as `migrate` does */
export async function missingMigrations(client: pg.ClientBase, migrations = listMigrations()): Promise<Migration[]> {
  const { rows } = await client.query<AppliedMigration>('select number, name, checksum from migrations order by number')
  checkApplied(rows, migrations)
  const done = new Set(rows.map(row => row.number))
  return migrations.filter(({ number }) => !done.has(number))
}

/** A migration as recorded in a database. */
export type AppliedMigration = Pick<Migration, 'number' | 'name' | 'checksum'>

/** @throws StartError if a migration is unknown here, or has another text here */
export function checkApplied(applied: readonly AppliedMigration[], migrations = listMigrations()): void {
  const known = new Map(migrations.map(migration => [migration.number, migration]))
  for (const { number, name, checksum } of applied) {
    const ours = known.get(number)
    if (!ours) {
      throw new StartError(
        `the database is newer than this version of Sluice (it has had ${name}): start the newer one, or restore a backup`,
      )
    }
    if (ours.checksum !== checksum && OTHER_TEXTS[ours.name] !== checksum)
      throw new StartError(`migration ${name} was changed after it had been applied`)
  }
}

/**
 * Applies the migrations in one transaction. False if another process has applied one of them meanwhile. It can deadlock with processes of the previous
 * version, and the database may then cancel it. Nothing has happened in that case, so it is tried again.
 */
async function apply(client: pg.ClientBase, migrations: readonly Migration[]): Promise<boolean> {
  for (let tried = 1; ; tried += 1) {
    if (!(await begin(client, migrations))) return false
    let name = ''
    try {
      for (const migration of migrations) {
        name = migration.name
        for (const statement of statementsOf(migration.sql)) await client.query(statement)
      }
      await client.query('commit')
      return true
    } catch (error) {
      await client.query('rollback').catch(() => {})
      if (tried < TRIES && isRetryable(error)) continue
      throw new StartError(`${name} failed: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      })
    }
  }
}

/** Begins the transaction of migrations by inserting their numbers. False, without a transaction, if another process has applied one of them. */
async function begin(client: pg.ClientBase, migrations: readonly Migration[]): Promise<boolean> {
  await client.query('begin')
  try {
    for (const { number, name, checksum } of migrations) {
      const row = [number, name, checksum, new Date().toISOString()]
      await client.query('insert into migrations (number, name, checksum, applied_at) values ($1, $2, $3, $4)', row)
    }
    return true
  } catch (error) {
    await client.query('rollback')
    if (isTaken(error)) return false
    throw error
  }
}

/**
 * Splits a file into statements, because Citus refuses several in one message. Semicolons inside quotes, dollar quotes and comments do not end a
 * statement.
 */
export function statementsOf(sql: string): string[] {
  const parts = sql.match(/'(?:[^']|'')*'|"[^"]*"|(\$\w*\$)[^]*?\1|--.*|\/\*[^]*?\*\/|;|[^'"$;/-]+|[^]/g) ?? []
  const statements = ['']
  for (const part of parts) {
    if (part === ';') statements.push('')
    else if (!/^(--|\/\*)/.test(part)) statements.push(`${statements.pop() ?? ''}${part}`)
  }
  return statements.map(statement => statement.trim()).filter(statement => statement !== '')
}
