/** What every deed on segments does: takes the organization's turn, and puts rows into a segment beside their sums. */
import type pg from 'pg'
import { fromUnits } from '../../contract/decimals.ts'
import { newId } from '../../contract/ids.ts'
import { LADDER, REACHED } from '../../contract/ladder.ts'
import { inTransaction } from '../../ground/db/transaction.ts'
import { fromMillionths } from '../../money/billing/money.ts'
import { SLOT_NUMBERS } from '../reports/slots.ts'
import type { Row } from './facts.ts'
import { encode, MOST_ROWS } from './parquet.ts'

/** Facts of so many clicks are made in a few milliseconds, for which whoever else is served by this process may have to wait. */
export const BREATH = 200

const TAKE_TURN = 'select 1 from explore_turns where org_id = $1 for update skip locked'
const FIRST_TURN = 'insert into explore_turns (org_id) values ($1) on conflict (org_id) do nothing returning org_id'

/**
 * Does `work` in one transaction that nobody else does on segments of the organization. Undefined where somebody else has the turn.
 * Whatever is read after the lock was had sees all that its last holder has done.
 */
export async function inTurn<T>(
  pool: pg.Pool,
  org_id: number,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T | undefined> {
  return inTransaction(pool, async client => {
    const had = await client.query(TAKE_TURN, [org_id])
    if (had.rows.length === 0) {
      // Nobody's yet, or somebody else's: a new row is ours alone.
      const first = await client.query(FIRST_TURN, [org_id])
      if (first.rows.length === 0) return undefined
    }
    return work(client)
  })
}

const INSERT = `insert into segments (org_id, id, day, rows, taken, is_emptied, body, ${SLOT_NUMBERS.join(', ')})
  values ($1, $2, $3, $4, $5, $6, $7, ${SLOT_NUMBERS.map((_, at) => `$${at + 8}`).join(', ')})`

/** Puts the rows of a day into as many segments as they need. */
export async function insertSegments(
  client: pg.PoolClient,
  org_id: number,
  day: string,
  rows: readonly Row[],
  isEmptied = false,
): Promise<void> {
  for (let from = 0; from < rows.length; from += MOST_ROWS) {
    const part = rows.slice(from, from + MOST_ROWS)
    const taken = part.filter(({ sign }) => sign === -1).length
    const sums = sumsOf(part)
    await client.query(INSERT, [
      org_id,
      newId(),
      day,
      part.length,
      taken,
      isEmptied,
      encode(part),
      ...SLOT_NUMBERS.map(name => sums[name]),
    ])
  }
}

/** The sums over the tracked rows, by the names of what the report counts. */
function sumsOf(rows: readonly Row[]): Readonly<Record<string, number | string>> {
  const counts = LADDER.map(() => 0)
  const others = { unread_costs: 0, approved: 0, pending: 0, rejected: 0 }
  const money = { revenue: 0n, cost: 0n, revenue_pending: 0n }
  for (const row of rows) {
    if (!row.tracked) continue
    const { sign, stages } = row
    const size = BigInt(sign)
    counts[0] = (counts[0] ?? 0) + sign
    for (const [at, bit] of REACHED.entries()) if (stages & bit) counts[at + 1] = (counts[at + 1] ?? 0) + sign
    if (row.unread_cost) others.unread_costs += sign
    others.approved += sign * row.approved
    others.pending += sign * row.pending
    others.rejected += sign * row.rejected
    money.revenue += size * (row.revenue ?? 0n)
    money.cost += size * (row.cost ?? 0n)
    money.revenue_pending += size * row.revenue_pending
  }
  return {
    ...Object.fromEntries(LADDER.map((rung, at) => [rung === 'clicked' ? 'clicks' : rung, counts[at] ?? 0])),
    ...others,
    revenue: fromMillionths(money.revenue),
    cost: fromUnits(money.cost, 9),
    revenue_pending: fromMillionths(money.revenue_pending),
  }
}
