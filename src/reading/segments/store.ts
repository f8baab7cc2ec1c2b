/** Takes the organization's turn at segments, and inserts segments. */
import type pg from 'pg'
import { newId } from '../../contract/ids.ts'
import { inTransaction } from '../../ground/db/transaction.ts'
import { SEGMENT_NUMBERS } from './numbers.ts'
import type { SegmentPart } from './parts.ts'

const TAKE_TURN = 'select 1 from explore_turns where org_id = $1 for update skip locked'
const FIRST_TURN = 'insert into explore_turns (org_id) values ($1) on conflict (org_id) do nothing returning org_id'

/**
 * Does `work` in a transaction that holds the organization's lock on segments. Undefined where another process holds it. Later statements of the
 * transaction see everything that the last holder of the lock has written.
 */
export async function withSegmentsLock<T>(
  pool: pg.Pool,
  org_id: number,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T | undefined> {
  return inTransaction(pool, async client => {
    const had = await client.query(TAKE_TURN, [org_id])
    if (had.rows.length === 0) {
      // The row is missing or locked. Only one transaction can insert it.
      const first = await client.query(FIRST_TURN, [org_id])
      if (first.rows.length === 0) return undefined
    }
    return work(client)
  })
}

const INSERT = `insert into segments (org_id, id, day, rows, taken, is_emptied, body, ${SEGMENT_NUMBERS.join(', ')})
  values ($1, $2, $3, $4, $5, $6, $7, ${SEGMENT_NUMBERS.map((_, at) => `$${at + 8}`).join(', ')})`

/** Inserts parts of a day as segments. `is_emptied`: their visitors are anonymised, because the day's clicks are no longer kept. */
export async function insertSegments(
  client: pg.PoolClient,
  org_id: number,
  day: string,
  parts: readonly SegmentPart[],
  is_emptied = false,
): Promise<void> {
  for (const { rows, taken, sums, body } of parts)
    await client.query(INSERT, [
      org_id,
      newId(),
      day,
      rows,
      taken,
      is_emptied,
      body,
      ...SEGMENT_NUMBERS.map(name => sums[name]),
    ])
}
