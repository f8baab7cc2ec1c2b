/** The rows of a day in the form of segments: bodies, and the sums of the tracked rows of each. */
import { fromUnits } from '../../contract/decimals.ts'
import { LADDER, REACHED } from '../../contract/ladder.ts'
import { readConversions, type StatusCounts } from '../../intake/counters/conversions.ts'
import { fromMillionths } from '../../money/billing/money.ts'
import type { FactRow } from './facts.ts'
import { encode, MOST_ROWS } from './parquet.ts'

export type SegmentPart = {
  readonly rows: number
  /** How many of them have the sign -1. */
  readonly taken: number
  readonly sums: Readonly<Record<string, number | string>>
  readonly body: Buffer
}

/** As many parts as the rows need; none without rows. */
export function partsOf(rows: readonly FactRow[]): SegmentPart[] {
  const parts: SegmentPart[] = []
  for (let from = 0; from < rows.length; from += MOST_ROWS) {
    const some = rows.slice(from, from + MOST_ROWS)
    const taken = some.filter(({ sign }) => sign === -1).length
    parts.push({ rows: some.length, taken, sums: sumsOfFacts(some), body: encode(some) })
  }
  return parts
}

/** The sums over the tracked rows, by the names of `SEGMENT_NUMBERS`. */
export function sumsOfFacts(rows: readonly FactRow[]): Readonly<Record<string, number | string>> {
  const counts = LADDER.map(() => 0)
  const others = {
    unread_costs: 0,
    approved: 0,
    pending: 0,
    rejected: 0,
    events: 0,
    events_pending: 0,
    events_rejected: 0,
    without_amounts: 0,
  }
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
    if (row.conversions !== null) {
      const conversions = [...readConversions(row.conversions).values()]
      // Counted regardless of the sign, because two rows without amounts need not cancel.
      if (lacksAmounts(row, conversions)) others.without_amounts += 1
      for (const [approved, pending, rejected] of conversions) {
        others.events += sign * (approved + pending + rejected)
        others.events_pending += sign * pending
        others.events_rejected += sign * rejected
      }
    }
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

/** Whether a row has revenue but no amounts by type, because a process of an earlier version wrote it. */
const lacksAmounts = ({ revenue }: FactRow, conversions: readonly StatusCounts[]): boolean =>
  revenue !== null &&
  revenue !== 0n &&
  conversions.some(([approved, , , amount]) => approved !== 0 && amount === undefined)
