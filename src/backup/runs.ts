/**
 * The runs of backups in all processes. Owns the table `backups`. At most one runs at a time: a run holds a lease, and its process writes its progress
 * with each renewal. A run whose lease has expired was interrupted; the next claim ends it.
 */
import { type Kysely, sql, type UpdateObject } from 'kysely'
import { MINUTE_MS } from '../contract/days.ts'
import { newId } from '../contract/ids.ts'
import type { Tables } from '../ground/db/tables.ts'

const LEASE_MS = MINUTE_MS
/** The most rows kept. The dashboard shows fewer. */
const MOST_ROWS = 200
/** The failure of a run whose process died. */
export const INTERRUPTED = 'it was interrupted, because its process or the machine stopped: run it again'

const leasedUntil = sql<string>`now() + ${LEASE_MS}::float8 * interval '1 millisecond'`

export type BackupRun = { readonly id: string; readonly lease_token: string }
/** What is in the file so far, and its size. */
type BackupProgress = {
  readonly bytes: number
  readonly rows: number
  readonly tables: number
  readonly journals: number
}

/** Claims the next run, whose file will be `path`. Undefined while another one runs. `started_by` is a person's id; null: a command. */
export async function claimRun(
  db: Kysely<Tables>,
  { path, started_by }: { path: string; started_by: string | null },
): Promise<BackupRun | undefined> {
  const run = { id: newId(), lease_token: newId() }
  return db.transaction().execute(async trx => {
    await trx
      .updateTable('backups')
      .set({ ended_at: sql`leased_until`, failure: INTERRUPTED })
      .where('ended_at', 'is', null)
      .where(sql<boolean>`leased_until < now()`)
      .execute()
    const claimed = await trx
      .insertInto('backups')
      .values({ ...run, path, started_by, started_at: sql`now()`, leased_until: leasedUntil })
      .onConflict(on => on.doNothing())
      .returning('id')
      .executeTakeFirst()
    if (claimed === undefined) return undefined
    const { id: oldest } =
      (await trx.selectFrom('backups').select('id').orderBy('id', 'desc').offset(MOST_ROWS).executeTakeFirst()) ?? {}
    if (oldest !== undefined) await trx.deleteFrom('backups').where('id', '<=', oldest).execute()
    return run
  })
}

/** Renews the lease and stores the progress. False once the run has ended, because its lease had expired and another one was claimed. */
export async function keepRun(db: Kysely<Tables>, run: BackupRun, progress: BackupProgress): Promise<boolean> {
  return write(db, run, { ...columnsOf(progress), leased_until: leasedUntil })
}

/** Ends the run: with a `failure`, or completely. Changes nothing if it has ended already. */
export async function endRun(
  db: Kysely<Tables>,
  run: BackupRun,
  { failure, ...progress }: { failure: string } | (BackupProgress & { failure: null }),
): Promise<void> {
  const columns = 'bytes' in progress ? columnsOf(progress) : {}
  await write(db, run, { ...columns, failure, ended_at: sql<string>`now()` })
}

const columnsOf = ({ bytes, rows, ...counts }: BackupProgress) => ({
  ...counts,
  bytes: String(bytes),
  rows: String(rows),
})

async function write(
  db: Kysely<Tables>,
  { id, lease_token }: BackupRun,
  row: UpdateObject<Tables, 'backups'>,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('backups')
    .set(row)
    .where('id', '=', id)
    .where('lease_token', '=', lease_token)
    .where('ended_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Whether the database has the table. A database that is still to be migrated has not, and can be backed up before. */
export async function hasRuns(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ is_so: boolean }>`select to_regclass('backups') is not null as is_so`.execute(db)
  return rows[0]?.is_so === true
}

type BackupRow = {
  readonly id: string
  readonly started_at: string
  readonly ended_at: string | null
  readonly started_by: string | null
  readonly path: string
  readonly bytes: string
  readonly rows: string
  readonly tables: number
  readonly journals: number
  readonly failure: string | null
}

/** The latest `most` runs, newest first, or the one with this `id`. Interrupted ones have an end. `started_by` is a name. */
export async function listRuns(db: Kysely<Tables>, most: number, id?: string): Promise<BackupRow[]> {
  const isInterrupted = sql<boolean>`b.ended_at is null and b.leased_until < now()`
  return db
    .selectFrom('backups as b')
    .leftJoin('users as u', 'u.id', 'b.started_by')
    .select(['b.id', 'b.started_at', 'u.name as started_by', 'b.path', 'b.bytes', 'b.rows', 'b.tables', 'b.journals'])
    .select([
      sql<string | null>`case when ${isInterrupted} then b.leased_until else b.ended_at end`.as('ended_at'),
      sql<string | null>`case when ${isInterrupted} then ${INTERRUPTED} else b.failure end`.as('failure'),
    ])
    .$if(id !== undefined, query => query.where('b.id', '=', id ?? ''))
    .orderBy('b.id', 'desc')
    .limit(most)
    .execute()
}
