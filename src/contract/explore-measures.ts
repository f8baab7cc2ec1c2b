/** Explore's measures, grouped by format, and the ones that an answer has only if they are asked for. */
import { EVENT_TYPES, type EventType } from './event-types.ts'
import { STAGES } from './ladder.ts'

/** Counts, exact. */
export const COUNT_MEASURES = [
  'clicks',
  'new_visitors',
  ...STAGES,
  'conversions',
  'conversions_pending',
  'conversions_rejected',
  'approved',
  'pending',
  'rejected',
  'unread_costs',
  'clicks_without_cost',
] as const
/** Decimal strings, exact sums with at least two decimals. Cost and profit are null if no cost is known. */
export const MONEY_MEASURES = ['revenue', 'revenue_pending', 'cost', 'profit', 'revenue_without_cost'] as const
/** US dollars per click or conversion: decimal strings, rounded to six decimals, at least two written; null if there is none. */
export const UNIT_MEASURES = ['epc', 'cpc', 'cpa'] as const
/** Numbers, such as 0.25 for a quarter; null if the divisor is 0. */
export const SHARE_MEASURES = ['cr', 'roi', 'approval_rate'] as const
/** Expensive to count, so only in answers that ask for it. */
export const UNIQUE_VISITORS = 'unique_visitors'

/** Null if the cost of no click of the row is known. */
export const KNOWN_COST_MEASURES = ['cost', 'profit', 'cpc', 'cpa', 'roi'] as const
/** Rows with a cost measure always have these too: the part of the row without a known cost. */
export const WITHOUT_COST = ['clicks_without_cost', 'revenue_without_cost'] as const
/** The measures that need the cost of each click. */
export const COST_MEASURES = [...KNOWN_COST_MEASURES, ...WITHOUT_COST] as const

/** All measures except those of single event types. */
export const MEASURES = [
  ...COUNT_MEASURES,
  ...MONEY_MEASURES,
  ...UNIT_MEASURES,
  ...SHARE_MEASURES,
  UNIQUE_VISITORS,
] as const

/** The approved events of each type; 0 if there are none. */
export const EVENT_COUNTS = EVENT_TYPES.map(type => `events_${type}` as const)
/** The revenue of each type's approved events, formatted as MONEY_MEASURES; null if it includes clicks that are no longer kept. */
export const EVENT_REVENUES = EVENT_TYPES.map(type => `revenue_${type}` as const)
export type EventRevenue = (typeof EVENT_REVENUES)[number]
/** Only in answers that ask for them. */
export const EVENT_MEASURES = [...EVENT_COUNTS, ...EVENT_REVENUES] as const
export type EventMeasure = (typeof EVENT_MEASURES)[number]

export const isEventMeasure = (name: string): name is EventMeasure =>
  (EVENT_MEASURES as readonly string[]).includes(name)

export const typeOfMeasure = (measure: EventMeasure): EventType => measure.slice(measure.indexOf('_') + 1) as EventType

export const isEventRevenue = (name: string): name is EventRevenue =>
  (EVENT_REVENUES as readonly string[]).includes(name)

export const ALL_MEASURES = [...MEASURES, ...EVENT_MEASURES] as const
export type Measure = (typeof ALL_MEASURES)[number]
/** The measures of a question that names none. */
export const USUAL_MEASURES: readonly Measure[] = MEASURES.filter(measure => measure !== UNIQUE_VISITORS)
