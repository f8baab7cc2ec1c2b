/**
 * The database's clock, by which leases and due times are set, because the clocks of processes differ. The moment is read by a statement of its own
 * and then written as a value: on a sharded database an update that read the clock itself would read the clock of each node.
 */
import { type Kysely, sql } from 'kysely'
import type { Tables } from './tables.ts'

/** The moment that many milliseconds from now by the database's clock, as the database's text. A negative number lies in the past. */
export async function databaseTimeIn(db: Kysely<Tables>, ms: number): Promise<string> {
  const { rows } = await sql<{ at: string }>`select now() + ${ms}::float8 * interval '1 millisecond' as at`.execute(db)
  const [clock] = rows
  if (clock === undefined) throw new Error('the database returned no time')
  return clock.at
}

/** The time of a change, as a column's value: processes poll for rows that changed since. */
export const CHANGED_NOW = sql<string>`now()`
