/** The measures of a report row: profit, ROI, EPC, CR and others. A ratio without a base is undefined, never 0. */
import type { z } from 'zod'
import { EVENT_TYPES } from '../../../contract/event-types.ts'
import { STAGES } from '../../../contract/ladder.ts'
import type { MemberReport, MemberReportRow } from '../../../reading/reports/api.ts'
import { cents, fromCents, ratio } from './figures.ts'
import type { Goal } from './search.ts'

export type WireReport = z.input<typeof MemberReport>
type OfClicks = Pick<
  WireReport['totals'],
  'cost_of_clicks' | 'unread_costs' | 'revenue_pending' | 'approved' | 'pending' | 'rejected'
>
export type WireReportRow = Omit<z.input<typeof MemberReportRow>, keyof OfClicks> & Partial<OfClicks>
/** Figures of other lists, such as funnels, do not contain the costs of clicks and the statuses of conversions. */
export type Totals = Omit<WireReport['totals'], keyof OfClicks> & Partial<OfClicks>

/** Exact sums as decimal strings, ratios as numbers. `cost`, `profit` and `roi` only if spend was recorded. */
export type Measures = {
  clicks: number
  /** The conversions of the chosen goal. */
  conversions: number
  pending: number
  rejected: number
  revenue: string
  cost: string | undefined
  profit: string | undefined
  cr: number | undefined
  epc: number | undefined
  cpc: number | undefined
  cpa: number | undefined
  roi: number | undefined
  /** The approved share of decided conversions. */
  approval: number | undefined
}

type Counted = Pick<Measures, 'conversions' | 'pending' | 'rejected'>
const NONE: Counted = { conversions: 0, pending: 0, rejected: 0 }

/** A row's conversions of the goal. For `landed` these are clicks that reached a landing. */
function reached(row: Totals, goal: Goal): Counted {
  if (goal === 'landed') return { ...NONE, conversions: row.landed }
  if (goal === 'own')
    return { conversions: row.conversions, pending: row.conversions_pending, rejected: row.conversions_rejected }
  const { approved: conversions, ...others } = row.by_type[goal] ?? { approved: 0, pending: 0, rejected: 0 }
  return { conversions, ...others }
}

/** The row; with `pending`, its conversions on hold count as approved. */
export function counting<R extends Totals>(row: R, pending: boolean | undefined): R {
  if (pending !== true) return row
  const by_type = Object.fromEntries(
    Object.entries(row.by_type).map(([type, one]) => [type, { ...one, approved: one.approved + one.pending }]),
  )
  return { ...row, conversions: row.conversions + row.conversions_pending, by_type }
}

/** The same for a report, which may not be loaded yet. */
export function countingIn<R extends WireReport | undefined>(report: R, pending: boolean | undefined): R {
  if (report === undefined || pending !== true) return report
  const rows = report.rows.map(row => counting(row, pending))
  return { ...report, rows, totals: counting(report.totals, pending) }
}

export function measure(row: Totals, goal: Goal): Measures {
  const counted = reached(row, goal)
  const hasSpend = row.cost !== undefined && row.cost_source != null
  const cost = hasSpend ? row.cost : undefined
  const profit = cost === undefined ? undefined : fromCents(cents(row.revenue) - cents(cost))
  return {
    clicks: row.clicks,
    ...counted,
    revenue: row.revenue,
    cost,
    profit,
    cr: ratio(counted.conversions, row.clicks),
    epc: ratio(Number(row.revenue), row.clicks),
    cpc: cost === undefined ? undefined : ratio(Number(cost), row.clicks),
    cpa: cost === undefined ? undefined : ratio(Number(cost), counted.conversions),
    approval: row.approved === undefined ? undefined : ratio(row.approved, row.approved + (row.rejected ?? 0)),
    roi: cost === undefined || profit === undefined ? undefined : ratio(Number(profit), Number(cost)),
  }
}

const COUNTERS = ['clicks', ...STAGES, 'conversions', 'conversions_pending', 'conversions_rejected'] as const

export const NO_CLICKS: Totals = {
  ...(Object.fromEntries(COUNTERS.map(counter => [counter, 0])) as Record<(typeof COUNTERS)[number], 0>),
  revenue: '0',
  by_type: {},
}

/** The sum of rows, to the cents that each row shows. Without cost, which is unknown for some rows. */
export function sumOf(rows: readonly Totals[]): Totals {
  const sum = { ...NO_CLICKS, by_type: { ...NO_CLICKS.by_type } }
  for (const row of rows) {
    for (const counter of COUNTERS) sum[counter] += row[counter]
    for (const type of EVENT_TYPES) {
      const more = row.by_type[type]
      if (more === undefined) continue
      const { approved = 0, pending = 0, rejected = 0 } = sum.by_type[type] ?? {}
      sum.by_type[type] = {
        approved: approved + more.approved,
        pending: pending + more.pending,
        rejected: rejected + more.rejected,
      }
    }
  }
  return { ...sum, revenue: fromCents(rows.reduce((all, { revenue }) => all + cents(revenue), 0n)) }
}

/** A measure as a number, for charts and sorting. */
export function numberOf(value: string | number | undefined): number | undefined {
  return typeof value === 'string' ? Number(value) : value
}
