/** What Explore counts: its measures by how they are written, and which of them are in no answer that does not ask for them. */
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
/** Decimal strings, exact sums with at least two decimals; cost and profit are null where no cost is known. */
export const MONEY_MEASURES = ['revenue', 'revenue_pending', 'cost', 'profit', 'revenue_without_cost'] as const
/** Of a click or a conversion, US dollars as decimal strings, rounded to six decimals, of which at least two are written; null where there is none. */
export const UNIT_MEASURES = ['epc', 'cpc', 'cpa'] as const
/** Shares as numbers, 0.25 being a quarter; null where the divisor is 0. */
export const SHARE_MEASURES = ['cr', 'roi', 'approval_rate'] as const
/** The costly one, and so in no answer that does not ask for it. */
export const UNIQUE_VISITORS = 'unique_visitors'

/** What needs the cost of each click. */
export const COST_MEASURES = [
  'cost',
  'profit',
  'cpc',
  'cpa',
  'roi',
  'clicks_without_cost',
  'revenue_without_cost',
] as const
/** Rows with any of those always say these as well: how much of a row the cost is not known of. */
export const WITHOUT_COST = ['clicks_without_cost', 'revenue_without_cost'] as const

/** All but those of single types of events. */
export const MEASURES = [
  ...COUNT_MEASURES,
  ...MONEY_MEASURES,
  ...UNIT_MEASURES,
  ...SHARE_MEASURES,
  UNIQUE_VISITORS,
] as const

/** Of each type of events, how many are approved; 0 where there are none. */
export const EVENT_COUNTS = EVENT_TYPES.map(type => `events_${type}` as const)
/** Of each type of events, what the approved ones pay, as MONEY_MEASURES; null where a click that is no longer kept does not say it. */
export const EVENT_REVENUES = EVENT_TYPES.map(type => `revenue_${type}` as const)
export type EventRevenue = (typeof EVENT_REVENUES)[number]
/** Both, in no answer that does not ask for them. */
export const EVENT_MEASURES = [...EVENT_COUNTS, ...EVENT_REVENUES] as const
export type EventMeasure = (typeof EVENT_MEASURES)[number]

export const isEventMeasure = (name: string): name is EventMeasure =>
  (EVENT_MEASURES as readonly string[]).includes(name)

/** The type of events that such a measure is of. */
export const typeOfMeasure = (measure: EventMeasure): EventType => measure.slice(measure.indexOf('_') + 1) as EventType

/** Whether it is the money of a type of events. */
export const isEventRevenue = (name: string): name is EventRevenue =>
  (EVENT_REVENUES as readonly string[]).includes(name)

export const ALL_MEASURES = [...MEASURES, ...EVENT_MEASURES] as const
export type Measure = (typeof ALL_MEASURES)[number]
/** What a question asks for that names no measures. */
export const USUAL_MEASURES: readonly Measure[] = MEASURES.filter(measure => measure !== UNIQUE_VISITORS)
