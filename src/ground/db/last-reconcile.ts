// When `npm run reconcile` last ended, and what it found, for monitoring. Rows of `installation`, the table of `secrets.ts`.
import type pg from 'pg'

/** The names of the rows: the time (ISO 8601, UTC), and the number of organizations whose counts differ. */
export const LAST_RECONCILE = 'last_reconcile'
export const LAST_RECONCILE_WRONG = 'last_reconcile_wrong'

/** Stores the end of a reconciliation. */
export async function noteReconcile(client: Pick<pg.ClientBase, 'query'>, at: string, wrong: number): Promise<void> {
  await client.query(
    'insert into installation (name, value) values ($1, $2), ($3, $4) on conflict (name) do update set value = excluded.value',
    [LAST_RECONCILE, at, LAST_RECONCILE_WRONG, String(wrong)],
  )
}
