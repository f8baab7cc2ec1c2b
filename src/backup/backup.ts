/**
 * Backups: the whole installation in one file, taken of a running Sluice or a stopped one, of its own database or of any PostgreSQL. Owns no
 * table and reads all of them. What must stay true: everything that was acknowledged before the backup began is in it, each thing once
 * it is restored. Rows are of one snapshot. Clicks that lie in a journal are read before that snapshot is taken: one that is stored meanwhile
 * is in the snapshot, and one that is in both is stored once.
 *
 * SECRET is not in it: who finds the file cannot read tokens in it, and who has lost SECRET cannot either. But the file is signed with a key derived
 * from SECRET, so a file that somebody has changed is not restored. Keys of TLS sessions are not in it: a file is kept for years, and recorded
 * traffic of its day must not be read by it.
 */
import { access, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { copyOut } from '../ground/db/copy.ts'
import { isOnCitus } from '../ground/db/distribute.ts'
import { noteBackup } from '../ground/db/last-backup.ts'
import type { SecretHere } from '../ground/db/secrets.ts'
import { StartError } from '../ground/start-error.ts'
import { type Part, PORTION_BYTES, writeBackup } from './file.ts'
import { listTables, readShape, type Table } from './tables.ts'

/** Of the file's form. A version that writes another one says so here, and restore refuses what it does not know. */
export const FORM = 2
/** The form before, which restore still reads: it has no signature. */
export const UNSIGNED_FORM = 1
/** How the database writes values, whatever it is set to: so that any other reads them as they were. */
const AS_WRITTEN = `set local datestyle = 'ISO, YMD'; set local intervalstyle = 'postgres'; set local timezone = 'UTC';
  set local extra_float_digits = 1; set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0;
  set local search_path = public`
/** Tables whose rows stay out. */
const LEFT_OUT: readonly string[] = ['tls_ticket_keys']
/** How often tables may change while they are being locked: a version that migrates beside it. */
const TRIES = 20

type Taken = {
  readonly taken_at: string
  readonly rows: number
  readonly tables: number
  readonly journals: number
}

/**
 * Writes a backup to `path` and remembers in the database that it was made. `folders` are the data folders whose journals belong to it; one
 * without a journal has nothing to add. `secret` signs the file.
 * @throws StartError where there is no Sluice in the database, it lies on a cluster, it was made with another SECRET, or the file is there already
 */
export async function takeBackup(
  client: pg.ClientBase,
  { path, folders, version, secret }: { path: string; folders: readonly string[]; version: string; secret: SecretHere },
): Promise<Taken> {
  if (await isOnCitus(client))
    throw new StartError('DATABASE_URL is a cluster, whose nodes are backed up one by one: see docs/scaling.md')
  const taken_at = new Date().toISOString()
  const counts = { rows: 0, tables: 0, journals: 0 }
  async function* parts(): AsyncGenerator<Part> {
    yield { line: { sluice_backup: FORM, version, taken_at } }
    for (const folder of folders) yield* journalsOf(join(folder, 'journal'), counts)
    yield* databaseOf(client, secret, counts)
  }
  if (await isThere(path)) throw new StartError(`${path} is there already: name another file`)
  await writeBackup(path, parts(), secret.backupKey)
  await noteBackup(client, taken_at)
  return { taken_at, ...counts }
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/** The files of a journal, each as long as it is now: a line that is being written has not been promised to anybody. */
async function* journalsOf(folder: string, counts: { journals: number }): AsyncGenerator<Part> {
  const names = await readdir(folder).catch(ignoreMissing)
  for (const name of (names ?? []).toSorted()) {
    // One that is gone meanwhile was stored before it went, so the snapshot that is taken later has its clicks.
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
): AsyncGenerator<Part> {
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
 * Begins the transaction whose snapshot is the backup, and answers its tables. They are locked before the snapshot is taken, against being
 * changed or dropped, so that what is read of them is what it shows.
 */
async function beginSnapshot(client: pg.ClientBase): Promise<Table[]> {
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
    if (tried === TRIES) throw new StartError('tables come and go: wait until Sluice has migrated the database')
  }
}

/** `copy` of a table's columns; for a partitioned one by a query, because it cannot be copied out as it is. */
export function copyStatement(
  client: pg.ClientBase,
  { name, columns }: Table,
  way: 'to stdout' | 'from stdin',
): string {
  const table = client.escapeIdentifier(name)
  const list = columns.map(column => client.escapeIdentifier(column)).join(', ')
  return way === 'to stdout' ? `copy (select ${list} from ${table}) to stdout` : `copy ${table} (${list}) from stdin`
}

/** Of a file or folder that is not there. @throws any other error */
export function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
