/**
 * Restores a backup into an empty database, embedded or any other, and a data folder without a journal. Rows and journals are restored together or not
 * at all: a failed restore is undone. Writes every table, before anything else uses the database.
 *
 * The signature is checked before the file's contents are used, and again while the rows are read, before they are committed.
 */
import type { KeyObject } from 'node:crypto'
import { open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { copyIn } from '../ground/db/copy.ts'
import { isOnCitus } from '../ground/db/distribute.ts'
import { noteLastRuns } from '../ground/db/last-runs.ts'
import type { SecretHere } from '../ground/db/secrets.ts'
import { checkApplied, listMigrations, migrate } from '../ground/db/migrate.ts'
import { createFolderIn, otherOwner } from '../ground/folder-owner.ts'
import { StartError } from '../ground/start-error.ts'
import { RESERVE_NAME } from '../intake/clicks/reserve.ts'
import { copyStatement, FORM, ignoreMissing, UNSIGNED_FORM } from './backup.ts'
import { type BackupLine, type BackupPart, checkSignature, hasSignature, readBackup } from './file.ts'
import { type BackupTable, type DatabaseShape, listRelations, listTables } from './tables.ts'

/** The description in a backup file, and the key that it is signed with, if any. */
type BackupContents = {
  readonly key: KeyObject | undefined
  readonly version: string
  readonly taken_at: string
  readonly shape: DatabaseShape
  readonly tables: number
  readonly rows: number
  readonly journals: readonly string[]
}

/** The bounds of a month of clicks. Any other text could inject SQL. */
const BOUND = /^(DEFAULT|FOR VALUES FROM \('[0-9a-f-]{36}'\) TO \('[0-9a-f-]{36}'\))$/

/**
 * Reads and checks the whole file, so that no restore begins with an incomplete or changed one. A file without a signature is accepted only with
 * `unsigned`, and only if it was made by a version that did not sign.
 * @throws StartError if the file is no backup, incomplete, changed, unsigned, of a newer version, or made with another SECRET than `secret`
 */
export async function checkBackup(
  path: string,
  secret: SecretHere | undefined,
  { unsigned = false } = {},
): Promise<BackupContents> {
  const isSigned = await hasSignature(path)
  if (secret === undefined)
    throw new StartError(
      'there is no SECRET here: put the file `secret` of that installation into DATA_DIR, or set SECRET to its value',
    )
  if (!isSigned && !unsigned)
    throw new StartError(
      `${path} has no signature: it was cut off or changed, or an older version of Sluice made it. Changes to such a file cannot be detected; ` +
        'if you trust it anyway, restore it with --unsigned after its name',
    )
  const key = isSigned ? secret.backupKey : undefined
  if (key !== undefined) await checkSignature(path, key)
  const lines: BackupLine[] = []
  for await (const part of readBackup(path, key)) if ('line' in part) lines.push(part.line)
  const [head = {}] = lines
  if (head['sluice_backup'] === undefined) throw new StartError(`${path} is no backup of Sluice`)
  const version = String(head['version'])
  const newer = `${path} was made by a newer version of Sluice (${version}): restore it with that one`
  if (head['sluice_backup'] !== FORM && head['sluice_backup'] !== UNSIGNED_FORM) throw new StartError(newer)
  if (head['sluice_backup'] === FORM && key === undefined)
    throw new StartError(`${path} was signed when it was made, but its signature is gone: use another backup`)
  const shape = lines.find(line => line['database'] !== undefined)?.['database'] as DatabaseShape | undefined
  if (shape === undefined) throw new StartError(`${path} is no complete backup: it has no database`)
  const known = new Set(listMigrations().map(({ number }) => number))
  if (shape.migrations.some(({ number }) => !known.has(number))) throw new StartError(newer)
  checkApplied(shape.migrations)
  if (shape.fingerprint !== null && shape.fingerprint !== secret.fingerprint)
    throw new StartError(
      'SECRET is not the one this backup was made with: put the file `secret` of that installation into DATA_DIR, or set SECRET to its value',
    )
  return {
    key,
    version,
    taken_at: String(head['taken_at']),
    shape,
    tables: lines.filter(line => line['table'] !== undefined).length,
    rows: lines.reduce((sum, { rows }) => sum + (typeof rows === 'number' ? rows : 0), 0),
    journals: lines.flatMap(({ journal }) => (typeof journal === 'string' ? [journal] : [])),
  }
}

/** @throws StartError if the journal of this data folder has files, because their clicks would be mixed with those of the backup */
export async function checkFolder(dataDir: string): Promise<void> {
  const folder = join(dataDir, 'journal')
  const names = await readdir(folder).catch(ignoreMissing)
  if (names?.some(name => name !== RESERVE_NAME) === true)
    throw new StartError(`${folder} is not empty: restore into a new DATA_DIR`)
}

/**
 * Restores the file's rows into the database and its journals into `dataDir`, and migrates the database to this version.
 * @throws StartError if the database is not empty, or is a cluster. A failure before the commit leaves it empty. If the migration after it fails, the
 * next start repeats it.
 */
export async function restoreBackup(
  client: pg.ClientBase,
  path: string,
  { shape, taken_at, key }: BackupContents,
  dataDir: string,
): Promise<void> {
  if (await isOnCitus(client))
    throw new StartError('DATABASE_URL is a cluster: restore into one server, and follow docs/scaling.md from there')
  const there = await listRelations(client)
  if (there.length > 0)
    throw new StartError(
      `the database is not empty (it has ${there.slice(0, 3).join(', ')} …): restore into a new DATA_DIR, or into a database without tables`,
    )
  const journals: string[] = []
  try {
    const numbers = new Set(shape.migrations.map(({ number }) => number))
    await migrate(
      client,
      listMigrations().filter(({ number }) => numbers.has(number)),
    )
    await client.query('begin')
    await client.query('set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0')
    await makePartitions(client, shape)
    await empty(client)
    await fill(client, readBackup(path, key), await createFolderIn(dataDir, 'journal'), journals)
    await noteLastRuns(client, { last_backup: taken_at })
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    for (const journal of journals) await rm(journal, { force: true })
    await dropAll(client)
    throw error
  }
  await migrate(client)
}

async function makePartitions(client: pg.ClientBase, { partitions }: DatabaseShape): Promise<void> {
  const there = new Set(await listRelations(client))
  for (const { name, parent, bound } of partitions) {
    if (there.has(name)) continue
    if (!BOUND.test(bound)) throw new StartError(`the backup has a table ${name} that this version does not know`)
    const [part, whole] = [client.escapeIdentifier(name), client.escapeIdentifier(parent)]
    await client.query(`create table ${part} partition of ${whole} ${bound}`)
  }
}

/** Removes rows that migrations have inserted, because the backup has them too. */
async function empty(client: pg.ClientBase): Promise<void> {
  const names = (await listTables(client)).map(({ name }) => client.escapeIdentifier(name))
  await client.query(`truncate ${names.join(', ')}`)
}

/** Copies the rows of each table into the database and the bytes of each journal into a file, whose path is added to `journals`. */
async function fill(
  client: pg.ClientBase,
  parts: AsyncGenerator<BackupPart>,
  folder: string,
  journals: string[],
): Promise<void> {
  let next = await parts.next()
  /** The bytes up to the next line. */
  async function* portions(): AsyncGenerator<Buffer> {
    for (next = await parts.next(); next.done !== true && 'bytes' in next.value; next = await parts.next())
      yield next.value.bytes
  }
  const isOver = (): boolean => next.done === true
  const currentLine = (): BackupLine => (next.done !== true && 'line' in next.value ? next.value.line : {})
  while (!isOver()) {
    const line = currentLine()
    if (typeof line['journal'] === 'string')
      await writeJournal(join(folder, nameOf(line['journal'])), portions(), journals)
    else if (typeof line['table'] === 'string') {
      const table = { name: line['table'], columns: line['columns'] } as BackupTable
      const count = await copyIn(client, copyStatement(client, table, 'from stdin'), portions())
      const expected = currentLine()['rows']
      if (expected !== count)
        throw new StartError(`${table.name} has ${count} rows in the backup, but should have ${String(expected)}`)
    } else next = await parts.next()
  }
}

/** The name, if it is a plain file name, so that no file outside the journal's folder is written. */
function nameOf(name: string): string {
  if (!/^[\w-]+\.[a-z]+$/.test(name)) throw new StartError(`the backup has a journal called ${JSON.stringify(name)}`)
  return name
}

/** Appends, because the journals of several data folders may each have a file of refused clicks. */
async function writeJournal(path: string, portions: AsyncIterable<Buffer>, written: string[]): Promise<void> {
  written.push(path)
  const file = await open(path, 'a', 0o600)
  try {
    const owner = otherOwner(join(path, '..'))
    if (owner) await file.chown(owner.uid, owner.gid)
    for await (const portion of portions) await file.appendFile(portion)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Drops everything, because the database was empty before. */
async function dropAll(client: pg.ClientBase): Promise<void> {
  for (const { name } of await listTables(client))
    await client.query(`drop table if exists ${client.escapeIdentifier(name)} cascade`)
  const { rows } = await client.query<{ name: string }>(
    `select t.typname as name from pg_type t join pg_class c on c.oid = t.typrelid
    where t.typnamespace = 'public'::regnamespace and c.relkind = 'c'`,
  )
  for (const { name } of rows) await client.query(`drop type if exists ${client.escapeIdentifier(name)} cascade`)
}
