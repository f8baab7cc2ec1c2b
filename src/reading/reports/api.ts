/** The report over HTTP: what clicks of a window have come to, by campaign, geo, sub1, offer or day. */
import { z } from 'zod'
import { Currency } from '../../contract/currencies.ts'
import { endpoint } from '../../contract/endpoint.ts'
import { EventType } from '../../contract/event-types.ts'
import { Instant, Money } from '../../contract/fields.ts'
import { FIGURES, type FigureKey, figureOf } from '../../contract/figures.ts'
import { date_from, date_to, sent, WindowWarnings } from '../../contract/window.ts'

export const DIMENSIONS = ['campaign', 'geo', 'sub1', 'offer', 'day'] as const
export type Dimension = (typeof DIMENSIONS)[number]
/** Those of a time zone. */
export const LOCAL_DIMENSIONS = ['local_day', 'local_hour', 'local_weekday_hour'] as const
export type LocalDimension = (typeof LOCAL_DIMENSIONS)[number]

const Count = z.int().min(0)
const CostSource = z.enum(['manual', 'api', 'spread', 'account', 'link', 'mixed'])

/** A count, as the figure of that name says it. */
const counted = (key: FigureKey) => Count.meta({ description: figureOf(key).means })

const counters = {
  clicks: counted('clicks'),
  landed: counted('landed'),
  started: counted('started'),
  registered: counted('registered'),
  lead: counted('lead'),
  deposit: counted('deposit'),
  ftd: counted('ftd'),
  revenue: Money.meta({ description: `${FIGURES.revenue.means} US dollars with two decimals; 0.00 without any` }),
  cost: Money.optional().meta({
    description:
      'Ad spend: what was recorded, else what was spread or ad accounts say, else what the clicks cost; absent on geo and offer',
  }),
  cost_source: CostSource.nullable().optional().meta({
    description:
      'spread: an amount spread over clicks; account: what an ad account says; link: what the clicks themselves cost; mixed: of several; null without spend; absent on geo and offer',
  }),
}

export const ReportRow = z
  .object({
    key: z
      .string()
      .meta({ description: 'Campaign or offer id, country code, sub1, or YYYY-MM-DD; empty for a missing value' }),
    label: z
      .string()
      .meta({ description: 'Name of the campaign, offer or country, else the key; (none) for a missing value' }),
    ...counters,
  })
  .meta({ id: 'ReportRow' })
export type ReportRow = z.output<typeof ReportRow>

export const Report = z
  .object({
    dimension: z.enum(DIMENSIONS),
    window: z.object({ from: Instant, to: Instant }),
    rows: z.array(ReportRow),
    totals: z
      .object(counters)
      .meta({ description: 'Over the whole slice before the cut, within the campaigns the key may see' }),
    truncated: z.boolean(),
    code: z.literal('result_truncated').optional(),
    hint: z.string().optional(),
    warnings: WindowWarnings,
  })
  .meta({ id: 'Report' })
export type Report = z.output<typeof Report>

const ofClicks = {
  cost_of_clicks: Money.meta({
    description: FIGURES.cost_of_clicks.means,
  }),
  unread_costs: counted('unread_costs'),
  revenue_pending: Money.meta({ description: `${FIGURES.revenue_pending.means} Two decimals` }),
  approved: counted('approved'),
  pending: counted('pending'),
  rejected: counted('rejected'),
}

/** Beside the clicks that had them: each conversion counts, however many its click has. */
const converted = {
  conversions: counted('conversions'),
  conversions_pending: counted('conversions_pending'),
  conversions_rejected: counted('conversions_rejected'),
  by_type: z
    .partialRecord(EventType, z.object({ approved: Count, pending: Count, rejected: Count }))
    .meta({ description: 'Conversions by type and standing, test clicks left out; types without any are absent' }),
}
export type Converted = z.output<z.ZodObject<typeof converted>>

export const MemberReportRow = ReportRow.extend({ ...ofClicks, ...converted }).meta({ id: 'MemberReportRow' })
export type MemberReportRow = z.output<typeof MemberReportRow>

/** Spend booked without a sub1 is of nobody's sub1: apart from the visitors who came without one, so that they have no cost they did not cause. */
export const MemberReport = Report.extend({
  dimension: z.enum([...DIMENSIONS, ...LOCAL_DIMENSIONS]),
  rows: z.array(MemberReportRow),
  totals: Report.shape.totals.extend({ ...ofClicks, ...converted }),
  not_broken_down: z.object({ cost: Money, cost_source: CostSource }).nullable().meta({
    description:
      'By sub1: the spend that was booked without a sub1, in `totals` and in no row; null without any, and by anything else',
  }),
}).meta({ id: 'MemberReport' })
export type MemberReport = z.output<typeof MemberReport>

export const campaign_id = sent({
  description: 'Only this campaign; one that is unknown or outside the scope of the key yields nothing',
})

const declared = {
  summary: 'Read the funnel report',
  description:
    'Counts the tracked clicks made in the window, with what they have come to and earned so far: a conversion counts on the day of its ' +
    'click. Rows come by clicks, then key (`day`: by date), and are cut at 500; totals are not.',
  query: z
    .object({
      dimension: sent({ description: 'What the rows are', enum: DIMENSIONS }),
      date_from,
      date_to,
      campaign_id,
    })
    .meta({ required: ['dimension', 'date_from', 'date_to'] }),
  reply: Report,
  refuses: ['invalid_dimension', 'window_required', 'invalid_window', 'window_too_wide'],
} as const

export const readReport = endpoint({
  ...declared,
  route: 'GET /api/v1/report',
  access: { key: 'report' },
  quota: 'report',
})

export const readReportAsMember = endpoint({
  ...declared,
  description: `${declared.description} By sub1, spend that was booked without one stands beside the rows. Of a UTC day that the window cuts, booked spend counts by the clicks within the window. With what the clicks themselves cost, by country and offer too, how their conversions stand, the conversions by type, and those of each campaign’s goal.`,
  reply: MemberReport,
  query: declared.query.extend({
    dimension: sent({
      description:
        'What the rows are; local_day (YYYY-MM-DD), local_hour (00 to 23) and local_weekday_hour (1-00, a Monday, to 7-23) are those of the zone tz, and like geo and offer have no cost',
      enum: [...DIMENSIONS, ...LOCAL_DIMENSIONS],
    }),
    tz: sent({
      description: 'IANA name of the time zone that local_day, local_hour and local_weekday_hour are of',
      examples: ['Europe/Kyiv'],
    }),
    currency: Currency.optional().meta({
      description:
        'With dimension=day: each UTC day’s dollars by the rate that holds on that day, and totals that are the sums of those. The books are in US dollars',
    }),
  }),
  refuses: [...declared.refuses, 'tz_unknown', 'tz_not_offered', 'slots_incomplete', 'rate_unknown'],
  route: 'GET /api/report',
  access: { session: 'member' },
})
