/** The report over HTTP: the figures of a window's clicks by campaign, geo, sub1, offer or day. */
import { z } from 'zod'
import { Currency } from '../../contract/currencies.ts'
import { endpoint } from '../../contract/endpoint.ts'
import { EventType } from '../../contract/event-types.ts'
import { Instant, Money } from '../../contract/fields.ts'
import { FIGURES, type FigureKey, figureOf } from '../../contract/figures.ts'
import { STAGES } from '../../contract/ladder.ts'
import { date_from, date_to, rawParameter, ReadWarnings } from '../../contract/window.ts'

export const DIMENSIONS = ['campaign', 'geo', 'sub1', 'offer', 'day'] as const
export type ReportDimension = (typeof DIMENSIONS)[number]
/** Dimensions of a time zone. */
export const LOCAL_DIMENSIONS = ['local_day', 'local_hour', 'local_weekday_hour'] as const
export type LocalDimension = (typeof LOCAL_DIMENSIONS)[number]

const Count = z.int().min(0)
const CostSource = z.enum(['manual', 'api', 'spread', 'account', 'link', 'mixed'])

/** A count with the description of its figure. */
const counted = (key: FigureKey) => Count.meta({ description: figureOf(key).means })

const counters = {
  clicks: counted('clicks'),
  ...(Object.fromEntries(STAGES.map(stage => [stage, counted(stage)])) as Record<(typeof STAGES)[number], z.ZodInt>),
  revenue: Money.meta({ description: `${FIGURES.revenue.means} US dollars with two decimals; 0.00 without any` }),
  cost: Money.optional().meta({
    description:
      'Ad spend: recorded spend, else spread amounts or the spend of ad accounts, else the cost of the clicks themselves; absent on geo and offer',
  }),
  cost_source: CostSource.nullable().optional().meta({
    description:
      'spread: an amount spread over clicks; account: the spend of an ad account; link: the cost of the clicks themselves; mixed: several sources; null without spend; absent on geo and offer',
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
    warnings: ReadWarnings,
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

/** Every conversion counts here, while a stage counts its click once. */
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

/** By sub1, spend booked without a sub1 is no cost of the clicks without one, so it is not in their row. */
export const MemberReport = Report.extend({
  dimension: z.enum([...DIMENSIONS, ...LOCAL_DIMENSIONS]),
  rows: z.array(MemberReportRow),
  totals: Report.shape.totals.extend({ ...ofClicks, ...converted }),
  not_broken_down: z.object({ cost: Money, cost_source: CostSource }).nullable().meta({
    description:
      'By sub1: the spend that was booked without a sub1, which is in `totals` but in no row; null without such spend, and by any other dimension',
  }),
}).meta({ id: 'MemberReport' })
export type MemberReport = z.output<typeof MemberReport>

export const campaign_id = rawParameter({
  description: 'Only this campaign; one that is unknown or outside the scope of the key yields nothing',
})

const declared = {
  summary: 'Read the funnel report',
  description:
    'Counts the tracked clicks made in the window, with their conversions and revenue so far: a conversion counts on the day of its ' +
    'click. Rows are in the order of clicks, then key (`day`: by date), and are cut at 500; totals are not.',
  query: z
    .object({
      dimension: rawParameter({ description: 'What the rows are', enum: DIMENSIONS }),
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
  description: `${declared.description} By sub1, spend that was booked without one is not_broken_down. Where the window cuts a UTC day, booked spend counts with the share of the clicks within the window. It adds the cost of the clicks themselves (by country and offer too), the status of their conversions, the conversions by type, and those of each campaign’s goal.`,
  reply: MemberReport,
  query: declared.query.extend({
    dimension: rawParameter({
      description:
        'What the rows are; local_day (YYYY-MM-DD), local_hour (00 to 23) and local_weekday_hour (1-00, a Monday, to 7-23) are in the time zone tz, and like geo and offer have no cost',
      enum: [...DIMENSIONS, ...LOCAL_DIMENSIONS],
    }),
    tz: rawParameter({
      description: 'IANA name of the time zone of local_day, local_hour and local_weekday_hour',
      examples: ['Europe/Kyiv'],
    }),
    currency: Currency.optional().meta({
      description:
        'With dimension=day: converts each UTC day’s dollars at the rate of that day; totals are the sums of the days. The books are in US dollars',
    }),
  }),
  refuses: [...declared.refuses, 'tz_unknown', 'tz_not_offered', 'slots_incomplete', 'rate_unknown'],
  route: 'GET /api/report',
  access: { session: 'member' },
})
