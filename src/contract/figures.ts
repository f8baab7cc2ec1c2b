/**
 * Every figure, defined once: its name, what it counts and how it is computed. Headings, pickers, files, the API's descriptions, tools and the glossary
 * in docs/reading.md are made from this.
 */
import { EVENT_TYPE_LABELS } from './event-types.ts'
import { type EventMeasure, isEventMeasure, isEventRevenue, typeOfMeasure } from './explore-measures.ts'

type Figure = {
  /** Its name in pickers and documents. */
  readonly name: string
  /** Its name where there is little room, such as the head of a column. */
  readonly short?: string
  /** `money` is US dollars, `money_each` US dollars per click or conversion, `share` a part of 1. */
  readonly unit: 'count' | 'money' | 'money_each' | 'share'
  /** What it sums; for a quotient, its numerator. */
  readonly counts: 'clicks' | 'visitors' | 'conversions' | 'spend' | 'money'
  /** Which conversions: those of the campaign's goal, of every type, or of a single type. */
  readonly of?: 'goal' | 'every type' | 'one type'
  /** How it is computed from other figures, by their keys: a sum of them, or such a sum divided by another. Explore computes it by this. */
  readonly formula?: string
  /** One sentence. */
  readonly means: string
  /** The day it counts on: the click's day, even for later conversions, or the day of the spend. */
  readonly day: 'click' | 'spend'
  /** Whether more of it is better (1) or worse (-1); missing where it is neither. */
  readonly better?: 1 | -1
}

const stage = (name: string, what: string, short?: string): Figure => ({
  name,
  ...(short === undefined ? {} : { short }),
  unit: 'count',
  counts: 'clicks',
  means: `Clicks ${what}; each counts once.`,
  day: 'click',
  better: 1,
})

export const FIGURES = {
  clicks: {
    name: 'Clicks',
    unit: 'count',
    counts: 'clicks',
    means: 'Tracked clicks: test clicks, crawlers and link previews are left out.',
    day: 'click',
  },
  unique_visitors: {
    name: 'Unique visitors',
    short: 'Unique',
    unit: 'count',
    counts: 'visitors',
    means: 'Visitors, each counted once however often they click.',
    day: 'click',
  },
  new_visitors: {
    name: 'New visitors',
    short: 'New',
    unit: 'count',
    counts: 'clicks',
    means: 'Clicks of visitors who had never clicked before.',
    day: 'click',
  },
  landed: stage('Landed', 'that reached a landing or the offer link'),
  started: stage('Started', 'that started a bot'),
  registered: stage('Registered', 'that had a registration', 'Reg.'),
  lead: stage('Lead', 'that had a lead, whatever followed'),
  deposit: stage('Deposit', 'that had a deposit'),
  ftd: stage('FTD', 'that had a first deposit'),
  conversions: {
    name: 'Conversions',
    short: 'Conv.',
    unit: 'count',
    counts: 'conversions',
    of: 'goal',
    means: 'Approved conversions of the goal; two of one click count twice.',
    day: 'click',
    better: 1,
  },
  conversions_pending: {
    name: 'Pending',
    unit: 'count',
    counts: 'conversions',
    of: 'goal',
    means: 'Conversions of the goal that are on hold.',
    day: 'click',
  },
  conversions_rejected: {
    name: 'Rejected',
    unit: 'count',
    counts: 'conversions',
    of: 'goal',
    means: 'Conversions of the goal that were rejected, refunded or charged back.',
    day: 'click',
    better: -1,
  },
  cr: {
    name: 'CR',
    unit: 'share',
    counts: 'conversions',
    of: 'goal',
    formula: 'conversions / clicks',
    means: 'Conversions per click.',
    day: 'click',
    better: 1,
  },
  epc: {
    name: 'EPC',
    unit: 'money_each',
    counts: 'money',
    of: 'every type',
    formula: 'revenue / clicks',
    means: 'Revenue per click.',
    day: 'click',
    better: 1,
  },
  revenue: {
    name: 'Revenue',
    unit: 'money',
    counts: 'money',
    of: 'every type',
    means: 'Payouts of approved conversions of every type.',
    day: 'click',
    better: 1,
  },
  cost: {
    name: 'Cost',
    unit: 'money',
    counts: 'spend',
    means: 'The own cost of the clicks, or their equal share of the spend recorded for their campaign and day.',
    day: 'spend',
  },
  profit: {
    name: 'Profit',
    unit: 'money',
    counts: 'money',
    of: 'every type',
    formula: 'revenue - cost',
    means: 'Revenue less cost.',
    day: 'click',
    better: 1,
  },
  roi: {
    name: 'ROI',
    unit: 'share',
    counts: 'money',
    of: 'every type',
    formula: '(revenue - cost) / cost',
    means: 'Profit as a share of the cost.',
    day: 'click',
    better: 1,
  },
  cpc: {
    name: 'CPC',
    unit: 'money_each',
    counts: 'spend',
    formula: 'cost / clicks',
    means: 'Cost per click.',
    day: 'click',
    better: -1,
  },
  cpa: {
    name: 'CPA',
    unit: 'money_each',
    counts: 'spend',
    of: 'goal',
    formula: 'cost / conversions',
    means: 'Cost per conversion.',
    day: 'click',
    better: -1,
  },
  revenue_pending: {
    name: 'Pending revenue',
    short: 'Pending rev.',
    unit: 'money',
    counts: 'money',
    of: 'every type',
    means: 'Payouts of conversions on hold, if they are approved.',
    day: 'click',
  },
  approved: {
    name: 'Paid conversions',
    short: 'Paid conv.',
    unit: 'count',
    counts: 'conversions',
    of: 'every type',
    means: 'Conversions of every type that have a payout, or that a verdict approved.',
    day: 'click',
    better: 1,
  },
  pending: {
    name: 'Pending, all types',
    unit: 'count',
    counts: 'conversions',
    of: 'every type',
    means: 'Conversions of every type that are on hold.',
    day: 'click',
  },
  rejected: {
    name: 'Rejected, all types',
    unit: 'count',
    counts: 'conversions',
    of: 'every type',
    means: 'Conversions of every type that were rejected, refunded or charged back.',
    day: 'click',
    better: -1,
  },
  approval_rate: {
    name: 'Approval rate',
    short: 'Approval',
    unit: 'share',
    counts: 'conversions',
    of: 'every type',
    formula: 'approved / (approved + rejected)',
    means: 'Paid conversions as a share of those that were decided.',
    day: 'click',
    better: 1,
  },
  unread_costs: {
    name: 'Unread costs',
    short: 'Cost unread',
    unit: 'count',
    counts: 'clicks',
    means: 'Clicks whose link should state their cost, but did not.',
    day: 'click',
    better: -1,
  },
  clicks_without_cost: {
    name: 'Clicks without cost',
    short: 'No cost',
    unit: 'count',
    counts: 'clicks',
    means: 'Clicks whose cost is not known.',
    day: 'click',
    better: -1,
  },
  revenue_without_cost: {
    name: 'Revenue without cost',
    short: 'Rev. no cost',
    unit: 'money',
    counts: 'money',
    of: 'every type',
    means: 'Revenue of clicks whose cost is not known.',
    day: 'click',
  },
  cost_of_clicks: {
    name: 'Cost of clicks',
    unit: 'money',
    counts: 'spend',
    means: 'The own cost of the clicks, even where recorded spend replaces it.',
    day: 'click',
  },
} as const satisfies Readonly<Record<string, Figure>>

export type FigureKey = keyof typeof FIGURES | EventMeasure

export const isFigure = (key: string): key is FigureKey => Object.hasOwn(FIGURES, key) || isEventMeasure(key)

export const figureOf = (key: FigureKey): Figure => (isEventMeasure(key) ? eventFigure(key) : FIGURES[key])

function eventFigure(measure: EventMeasure): Figure {
  const label = EVENT_TYPE_LABELS[typeOfMeasure(measure)]
  if (isEventRevenue(measure))
    return {
      name: `${label} revenue`,
      unit: 'money',
      counts: 'money',
      of: 'one type',
      means: `Payouts of approved conversions of the type ${label}. No value if clicks are no longer kept, because only their revenue of all types is known.`,
      day: 'click',
      better: 1,
    }
  return {
    name: `${label} events`,
    unit: 'count',
    counts: 'conversions',
    of: 'one type',
    means: `Approved conversions of the type ${label}; two of one click count twice.`,
    day: 'click',
    better: 1,
  }
}

/** The short name, for the head of a column. */
export const headOf = (key: FigureKey): string => figureOf(key).short ?? figureOf(key).name

const UNITS: Readonly<Record<Figure['unit'], string>> = {
  count: 'number',
  money: 'US dollars',
  money_each: 'US dollars each',
  share: 'share',
}

function countedBy({ counts, of }: Figure): string {
  return of === undefined ? counts : `${counts}, of ${of === 'goal' ? 'the goal' : of}`
}

/** The glossary of docs/reading.md, as a Markdown table. */
export function glossary(): string {
  const rows = (Object.keys(FIGURES) as (keyof typeof FIGURES)[]).map(key => {
    const { name, unit, formula, means, day, ...counted } = figureOf(key)
    const computed = formula === undefined ? '' : ` \`${formula}\``
    return `| ${name} | \`${key}\` | ${UNITS[unit]} | ${countedBy({ name, unit, means, day, ...counted })} | ${day} | ${means}${computed} |`
  })
  return ['| Figure | Key | Unit | Counts | Day of | What it is |', '|---|---|---|---|---|---|', ...rows].join('\n')
}
