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
  /** Those that count, by the goal that is looked at. */
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
  /** Of what was decided, so much was approved. */
  approval: number | undefined
}

type Counted = Pick<Measures, 'conversions' | 'pending' | 'rejected'>
const NONE: Counted = { conversions: 0, pending: 0, rejected: 0 }

/** The conversions of the goal that a row has. Landings are no conversions but clicks that came to one. */
function reached(row: Totals, goal: Goal): Counted {
  if (goal === 'landed') return { ...NONE, conversions: row.landed }
  if (goal === 'own')
    return { conversions: row.conversions, pending: row.conversions_pending, rejected: row.conversions_rejected }
  const { approved: conversions, ...others } = row.by_type[goal] ?? { approved: 0, pending: 0, rejected: 0 }
  return { conversions, ...others }
}

/** A row whose conversions on hold count like approved ones, where `pending` is set. */
export function counting<Row extends Totals>(row: Row, pending: boolean | undefined): Row {
  if (pending !== true) return row
  const by_type = Object.fromEntries(
    Object.entries(row.by_type).map(([type, one]) => [type, { ...one, approved: one.approved + one.pending }]),
  )
  return { ...row, conversions: row.conversions + row.conversions_pending, by_type }
}

/** The same of a whole report; undefined where there is none yet. */
export function countingIn<Told extends Report | undefined>(report: Told, pending: boolean | undefined): Told {
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

export const NO_CLICKS: Totals = {
  clicks: 0,
  landed: 0,
  started: 0,
  registered: 0,
  lead: 0,
  deposit: 0,
  ftd: 0,
  revenue: '0',
  conversions: 0,
  conversions_pending: 0,
  conversions_rejected: 0,
  by_type: {},
}

const COUNTERS = [
  'clicks',
  'landed',
  'started',
  'registered',
  'lead',
  'deposit',
  'ftd',
  'conversions',
  'conversions_pending',
  'conversions_rejected',
] as const

/** What rows come to together, to the cent that each shows; without cost, which is not known of all of them. */
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
