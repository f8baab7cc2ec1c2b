/** What a row of the report comes to: profit, ROI, EPC, CR and their kind. A ratio without a base is undefined, never 0. */
import type { z } from 'zod'
import { EVENT_TYPES } from '../../../contract/event-types.ts'
import type { MemberReport, MemberReportRow } from '../../../reading/reports/api.ts'
import { cents, fromCents, ratio } from './figures.ts'
import type { Goal } from './search.ts'

export type Report = z.input<typeof MemberReport>
type OfClicks = Pick<
  Report['totals'],
  'cost_of_clicks' | 'unread_costs' | 'revenue_pending' | 'approved' | 'pending' | 'rejected'
>
export type Row = Omit<z.input<typeof MemberReportRow>, keyof OfClicks> & Partial<OfClicks>
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

/** How many conversions of the goal a row has. Landings are no conversions but clicks that came to one. */
function reached(row: Totals, goal: Goal): number {
  if (goal === 'own') return row.goal
  return goal === 'landed' ? row.landed : (row.conversions[goal] ?? 0)
}

export function measure(row: Totals, goal: Goal): Measures {
  const conversions = reached(row, goal)
  const hasSpend = row.cost !== undefined && row.cost_source != null
  const cost = hasSpend ? row.cost : undefined
  const profit = cost === undefined ? undefined : fromCents(cents(row.revenue) - cents(cost))
  return {
    clicks: row.clicks,
    goal: conversions,
    revenue: row.revenue,
    cost,
    profit,
    cr: ratio(conversions, row.clicks),
    epc: ratio(Number(row.revenue), row.clicks),
    cpc: cost === undefined ? undefined : ratio(Number(cost), row.clicks),
    cpa: cost === undefined ? undefined : ratio(Number(cost), conversions),
    approval: row.approved === undefined ? undefined : ratio(row.approved, row.approved + (row.rejected ?? 0)),
    roi: cost === undefined || profit === undefined ? undefined : ratio(Number(profit), Number(cost)),
  }
}

export const NO_CLICKS: Totals = {
  clicks: 0,
  landed: 0,
  started: 0,
  registered: 0,
  lead: 0,
  deposit: 0,
  ftd: 0,
  revenue: '0',
  conversions: {},
  goal: 0,
}

const COUNTERS = ['clicks', 'landed', 'started', 'registered', 'lead', 'deposit', 'ftd', 'goal'] as const

/** What rows come to together, to the cent that each shows; without cost, which is not known of all of them. */
export function sumOf(rows: readonly Totals[]): Totals {
  const sum = { ...NO_CLICKS, conversions: { ...NO_CLICKS.conversions } }
  for (const row of rows) {
    for (const counter of COUNTERS) sum[counter] += row[counter]
    for (const type of EVENT_TYPES) {
      const more = row.conversions[type]
      if (more !== undefined) sum.conversions[type] = (sum.conversions[type] ?? 0) + more
    }
  }
  return { ...sum, revenue: fromCents(rows.reduce((all, { revenue }) => all + cents(revenue), 0n)) }
}

/** A measure as a number, for charts and sorting. */
export function numberOf(value: string | number | undefined): number | undefined {
  return typeof value === 'string' ? Number(value) : value
}
