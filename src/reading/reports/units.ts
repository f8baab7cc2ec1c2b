/** The report's counters: their names, units and levels, and how they are read from a row. */
import { COUNTERS, STATUS_COUNTERS } from '../../intake/counters/deltas.ts'

/** The unit of a row of `report_day`. Its `dimension` is the sum of the unit and of the level's two constants below. */
export const UNITS = { campaign: 1, geo: 2, sub1: 3, offer: 4 } as const
export const ALL_CAMPAIGNS = 10
export const WEEK = 20

/** All counters of a `report_change2`, so that folding loses none that a process of a later version writes. */
export const ALL_COUNTERS = [...COUNTERS, 'revenue', 'cost', 'unread_costs', ...STATUS_COUNTERS]

type CounterRow = Readonly<Record<string, string | null | undefined>>

/** The clicks and stages of a row. */
export const countsIn = (row: CounterRow, prefix = '') =>
  Object.fromEntries(COUNTERS.map(name => [name, Number(row[prefix + name] ?? 0)])) as Record<
    (typeof COUNTERS)[number],
    number
  >

/** The verdicts of a row, and its clicks with an unread cost. */
export const verdictsIn = (row: CounterRow, prefix = '') => ({
  unread_costs: Number(row[`${prefix}unread_costs`] ?? 0),
  revenue_pending: row[`${prefix}revenue_pending`] ?? '0.00',
  approved: Number(row[`${prefix}approved`] ?? 0),
  pending: Number(row[`${prefix}pending`] ?? 0),
  rejected: Number(row[`${prefix}rejected`] ?? 0),
})
