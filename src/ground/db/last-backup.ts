// When this installation was last backed up, for whoever starts it. A row of `installation`, which `secrets.ts` owns with this room.
import type pg from 'pg'

const NAME = 'last_backup'

/** Writes down the moment (ISO 8601, UTC) that a backup holds. */
export async function noteBackup(client: Pick<pg.ClientBase, 'query'>, taken_at: string): Promise<void> {
  await client.query(
    'insert into installation (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value',
    [NAME, taken_at],
  )
}

/** That moment; undefined where `npm run backup` has never made one. */
export async function readLastBackup(client: Pick<pg.Pool, 'query'>): Promise<string | undefined> {
  const { rows } = await client.query<{ value: string }>('select value from installation where name = $1', [NAME])
  return rows[0]?.value
}
