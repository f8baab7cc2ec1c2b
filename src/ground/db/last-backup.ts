// When this installation was last backed up, shown at the start. A row of `installation`, the table of `secrets.ts`.
import type pg from 'pg'

/** The name of the row. */
export const LAST_BACKUP = 'last_backup'

/** Stores the time of a backup (ISO 8601, UTC). */
export async function noteBackup(client: Pick<pg.ClientBase, 'query'>, taken_at: string): Promise<void> {
  await client.query(
    'insert into installation (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value',
    [LAST_BACKUP, taken_at],
  )
}

/** The time of the last backup; undefined if `npm run backup` has never made one. */
export async function readLastBackup(client: Pick<pg.Pool, 'query'>): Promise<string | undefined> {
  const { rows } = await client.query<{ value: string }>('select value from installation where name = $1', [
    LAST_BACKUP,
  ])
  return rows[0]?.value
}
