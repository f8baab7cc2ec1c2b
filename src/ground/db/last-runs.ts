// When this installation was last backed up and reconciled, for the start's log and for monitoring. Rows of `installation`, the table of `secrets.ts`.
import type pg from 'pg'

/** The names of the rows. Times are ISO 8601 in UTC; `LAST_RECONCILE_WRONG` is the number of organizations whose counts differed. */
export const LAST_BACKUP = 'last_backup'
export const LAST_RECONCILE = 'last_reconcile'
export const LAST_RECONCILE_WRONG = 'last_reconcile_wrong'
type LastRuns = Partial<Record<typeof LAST_BACKUP | typeof LAST_RECONCILE | typeof LAST_RECONCILE_WRONG, string>>

/** Stores these rows; the others stay as they are. */
export async function noteLastRuns(client: Pick<pg.ClientBase, 'query'>, runs: LastRuns): Promise<void> {
  for (const run of Object.entries(runs))
    await client.query(
      'insert into installation (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value',
      run,
    )
}

/** The time of the last backup; undefined if `npm run backup` has never made one. */
export async function readLastBackup(client: Pick<pg.Pool, 'query'>): Promise<string | undefined> {
  const { rows } = await client.query<{ value: string }>('select value from installation where name = $1', [
    LAST_BACKUP,
  ])
  return rows[0]?.value
}
