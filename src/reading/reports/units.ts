/** What the report's counters count, and by what. */
import { COUNTERS } from '../../intake/counters/deltas.ts'

/** What a row of `report_day` counts; added up into its `dimension`. */
export const UNITS = { campaign: 1, geo: 2, sub1: 3, offer: 4 } as const
export const ALL_CAMPAIGNS = 10
export const WEEK = 20

/** All that a `report_change2` counts, so that what a process of a later version counts is not lost where this one folds it. */
export const ALL_COUNTERS = [
  ...COUNTERS,
  'revenue',
  'cost',
  'unread_costs',
  'revenue_pending',
  'approved',
  'pending',
  'rejected',
]
