/** What a row of the report comes to: profit, ROI, EPC, CR and their kind. A ratio without a base is undefined, never 0. */
import type { z } from 'zod'
import type { MemberReport, ReportRow } from '../../../reading/reports/api.ts'
import { cents, fromCents, ratio } from './figures.ts'
import type { Goal } from './search.ts'

export type Report = z.input<typeof MemberReport>
type OfClicks = Pick<
  Report['totals'],
  'cost_of_clicks' | 'unread_costs' | 'revenue_pending' | 'approved' | 'pending' | 'rejected'
>
export type Row = z.input<typeof ReportRow> & Partial<OfClicks>
/** Figures that no report told, such as those of funnels, say nothing of what the clicks themselves cost, nor how conversions stand. */
export type Totals = Omit<Report['totals'], keyof OfClicks> & Partial<OfClicks>

/** Exact sums as decimal strings, ratios as numbers. `cost`, `profit` and `roi` only where spend was recorded. */
export type Measures = {
  clicks: number
  goal: number
  revenue: string
  cost: string | undefined
  profit: string | undefined
  cr: number | undefined
  epc: number | undefined
  cpc: number | undefined
  cpa: number | undefined
  roi: number | undefined
  /** Of what was decided, so much was approved. */
  approval: number | undefined
}

export function measure(row: Totals, goal: Goal): Measures {
  const hasSpend = row.cost !== undefined && row.cost_source != null
  const cost = hasSpend ? row.cost : undefined
  const profit = cost === undefined ? undefined : fromCents(cents(row.revenue) - cents(cost))
  return {
    clicks: row.clicks,
    goal: row[goal],
    revenue: row.revenue,
    cost,
    profit,
    cr: ratio(row[goal], row.clicks),
    epc: ratio(Number(row.revenue), row.clicks),
    cpc: cost === undefined ? undefined : ratio(Number(cost), row.clicks),
    cpa: cost === undefined ? undefined : ratio(Number(cost), row[goal]),
    approval: row.approved === undefined ? undefined : ratio(row.approved, row.approved + (row.rejected ?? 0)),
    roi: cost === undefined || profit === undefined ? undefined : ratio(Number(profit), Number(cost)),
  }
}

/** A measure as a number, for charts and sorting. */
export function numberOf(value: string | number | undefined): number | undefined {
  return typeof value === 'string' ? Number(value) : value
}
