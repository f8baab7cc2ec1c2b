/**
 * Backups: the whole installation in one file. They can be taken while Sluice runs or is stopped, from the embedded database or any PostgreSQL. Owns no
 * table and reads all of them. What must stay true: everything acknowledged before the backup began is in it, and is restored once. All rows are of one
 * snapshot. Journals are read before the snapshot is taken, so a click stored meanwhile is in the snapshot, and a click in both is stored once.
 *
 * SECRET is not in the file, so the file alone gives no access to tokens, and they are lost with SECRET. The file is signed with a key derived from
 * SECRET, so a changed file is not restored. The keys of TLS sessions are left out, because a file is kept for years and must not decrypt recorded
 * traffic, and so is the list of backups, because it describes the disk of this server.
 */
import { access, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { copyOut } from '../ground/db/copy.ts'
import { isOnCitus } from '../ground/db/distribute.ts'
import { noteLastRuns } from '../ground/db/last-runs.ts'
import type { SecretHere } from '../ground/db/secrets.ts'
import { StartError } from '../ground/start-error.ts'
import { RESERVE_NAME } from '../intake/clicks/reserve.ts'
import { type BackupPart, PORTION_BYTES, writeBackup } from './file.ts'
import { type BackupTable, listTables, readShape } from './tables.ts'

/** The version of the file format. Restore refuses versions that it does not know. */
export const FORM = 2
/** The earlier format, without a signature, which restore still reads. */
export const UNSIGNED_FORM = 1
/** Fixes how the database writes values, so that any other database reads them unchanged. */
const AS_WRITTEN = `set local datestyle = 'ISO, YMD'; set local intervalstyle = 'postgres'; set local timezone = 'UTC';
  set local extra_float_digits = 1; set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0;
  set local search_path = public`
/** Tables whose rows stay out. */
const LEFT_OUT: readonly string[] = ['tls_ticket_keys', 'backups']
/** The tries to lock the tables, which may change because another Sluice migrates the database. */
const TRIES = 20

export type BackupSummary = {
  readonly taken_at: string
  readonly rows: number
  readonly tables: number
  readonly journals: number
}

export type BackupOrder = {
  readonly path: string
  readonly folders: readonly string[]
  readonly version: string
  readonly secret: SecretHere
  readonly signal?: AbortSignal
}

/** The refusal of a cluster, which the number of its addresses shows before any of them is reached. */
export const clusterRefused = (): StartError =>
  new StartError('DATABASE_URL is a cluster, whose nodes are backed up one by one: see docs/scaling.md')

/**
 * Writes a backup to `path` and stores its time in the database. `folders` are the data folders whose journals are included; a folder may have no
 * journal. `secret` signs the file, `signal` ends an unfinished backup, and `counts` grow with its progress.
 * @throws StartError if the database has no Sluice, is a cluster or was made with another SECRET, or if the file exists
 */
export async function takeBackup(
  client: pg.ClientBase,
  { path, folders, version, secret, signal }: BackupOrder,
  counts = { rows: 0, tables: 0, journals: 0 },
): Promise<BackupSummary> {
  if (await isOnCitus(client)) throw clusterRefused()
  const taken_at = new Date().toISOString()
  async function* parts(): AsyncGenerator<BackupPart> {
    yield { line: { sluice_backup: FORM, version, taken_at } }
    for (const folder of folders) yield* journalsOf(join(folder, 'journal'), counts)
    yield* databaseOf(client, secret, counts)
  }
  if (await exists(path)) throw new StartError(`${path} already exists: name another file`)
  await writeBackup(path, parts(), secret.backupKey, signal)
  await noteLastRuns(client, { last_backup: taken_at })
  return { taken_at, ...counts }
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/** The files of a journal at their current length. A line that is still being written is not acknowledged yet. */
async function* journalsOf(folder: string, counts: { journals: number }): AsyncGenerator<BackupPart> {
  const names = await readdir(folder).catch(ignoreMissing)
  for (const name of (names ?? []).toSorted().filter(name => name !== RESERVE_NAME)) {
    // A file that is gone was stored before, so the later snapshot has its clicks.
    const file = await open(join(folder, name)).catch(ignoreMissing)
    if (file === undefined) continue
    try {
      const stat = await file.stat()
      if (!stat.isFile()) continue
      yield { line: { journal: name } }
      for (let at = 0; at < stat.size; ) {
        const bytes = Buffer.alloc(Math.min(PORTION_BYTES, stat.size - at))
        const { bytesRead } = await file.read(bytes, 0, bytes.length, at)
        if (bytesRead === 0) break
        yield { bytes: bytes.subarray(0, bytesRead) }
        at += bytesRead
      }
      counts.journals += 1
    } finally {
      await file.close()
    }
  }
}

async function* databaseOf(
  client: pg.ClientBase,
  { fingerprint }: SecretHere,
  counts: { rows: number; tables: number },
): AsyncGenerator<BackupPart> {
  const tables = (await beginSnapshot(client)).filter(({ name }) => !LEFT_OUT.includes(name))
  try {
    const shape = await readShape(client)
    if (shape.fingerprint !== null && shape.fingerprint !== fingerprint)
      throw new StartError(
        'SECRET is not the one this database was made with, so its backup could not be restored: set the same SECRET, or the same DATA_DIR, as for Sluice',
      )
    yield { line: { database: shape } }
    for (const { name, columns } of tables) {
      yield { line: { table: name, columns } }
      const { portions, count } = copyOut(client, copyStatement(client, { name, columns }, 'to stdout'))
      for await (const bytes of portions) yield { bytes }
      yield { line: { rows: count() } }
      counts.rows += count()
      counts.tables += 1
    }
  } finally {
    await client.query('rollback')
  }
}

/**
 * Begins the transaction whose snapshot is the backup, and returns its tables. The tables are locked against changes of their columns before the
 * snapshot is taken, so that their list matches it.
 */
async function beginSnapshot(client: pg.ClientBase): Promise<BackupTable[]> {
  for (let tried = 1; ; tried += 1) {
    const names = (await listTables(client)).map(({ name }) => client.escapeIdentifier(name))
    if (!names.includes('"migrations"'))
      throw new StartError('there is no Sluice in this database yet, so there is nothing to back up')
    await client.query('begin transaction isolation level repeatable read, read only')
    await client.query(AS_WRITTEN)
    await client.query(`lock table ${names.join(', ')} in access share mode`)
    const tables = await listTables(client)
    if (tables.length === names.length) return tables
    await client.query('rollback')
    if (tried === TRIES) throw new StartError('the tables keep changing: wait until Sluice has migrated the database')
  }
}

/** A `copy` of a table's columns. It uses a query, because a partitioned table cannot be copied out directly. */
export function copyStatement(
  client: pg.ClientBase,
  { name, columns }: BackupTable,
  way: 'to stdout' | 'from stdin',
): string {
  const table = client.escapeIdentifier(name)
  const list = columns.map(column => client.escapeIdentifier(column)).join(', ')
  return way === 'to stdout' ? `copy (select ${list} from ${table}) to stdout` : `copy ${table} (${list}) from stdin`
}

/** Ignores the error of a missing file or folder. @throws any other error */
export function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
