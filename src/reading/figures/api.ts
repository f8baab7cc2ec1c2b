/** Figures by objects that are no dimension of the report: landings, funnels, click flows and traffic sources. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { Id } from '../../contract/fields.ts'
import { MemberReportRow } from '../reports/api.ts'

const DayOf = z.iso.date()

const Bound = DayOf.or(z.iso.datetime({ offset: true }))

const days = {
  date_from: Bound.meta({ description: 'First UTC day, or a moment', examples: ['2026-03-01'] }),
  date_to: Bound.meta({ description: 'Last UTC day, or a moment; inclusive, at most 92 days in all' }),
}

const counters = MemberReportRow.omit({
  key: true,
  label: true,
  cost: true,
  cost_source: true,
  cost_of_clicks: true,
  unread_costs: true,
  revenue_pending: true,
  approved: true,
  pending: true,
  rejected: true,
}).shape

export const FiguresRow = z.object({ key: Id, ...counters }).meta({ id: 'FiguresRow' })
export type FiguresRow = z.output<typeof FiguresRow>

/** A question reads at most so many clicks: two thirds of a second on a small server, several times that with cold caches. */
export const MOST_CLICKS_READ = 2_000_000

export const readLandingFigures = endpoint({
  route: 'GET /api/figures/landings',
  access: { session: 'member' },
  summary: 'Read the figures of each landing',
  description:
    'Counts the tracked clicks of these days by the landing that visitors were sent to, with their conversions and revenue so far. They are counted one by ' +
    `one, so nothing is counted where the days have more than ${MOST_CLICKS_READ.toLocaleString('en-US')} clicks. Landings without clicks are left out.`,
  query: z.object(days),
  reply: z.object({
    is_counted: z.boolean().meta({ description: 'False where the days have too many clicks: choose fewer days' }),
    date_from: DayOf.meta({
      description: 'The first day that is counted; later than the query’s where clicks are no longer kept',
    }),
    rows: z.array(FiguresRow),
  }),
  refuses: ['invalid_window', 'window_too_wide', 'invalid_request'],
})

export const readDestinationFigures = endpoint({
  route: 'GET /api/figures/destinations',
  access: { session: 'member' },
  summary: 'Read the figures of each funnel, click flow or traffic source',
  description:
    'Sums the tracked clicks of these days over all campaigns that now lead to the funnel or click flow, or name the traffic source, whatever they did when the ' +
    'clicks were made. Objects without campaigns are left out.',
  query: z.object({ type: z.enum(['funnel', 'click_flow', 'traffic_source']), ...days }),
  reply: z.object({ rows: z.array(FiguresRow.extend({ campaigns: z.int().min(1) })) }),
  refuses: ['invalid_window', 'window_too_wide', 'invalid_request'],
})

/** A sample of the newest clicks of the day shows what a source passes as well as all clicks do. */
export const MOST_SAMPLED = 100_000

export const readSourceShares = endpoint({
  route: 'GET /api/figures/traffic-sources/today',
  access: { session: 'member' },
  summary: 'Read how many clicks of today have the click id and cost of their traffic source',
  description: `The tracked clicks among the newest ${MOST_SAMPLED.toLocaleString('en-US')} of the UTC day, by the source that their campaigns name now.`,
  reply: z.object({
    rows: z.array(
      z.object({
        key: Id,
        clicks: z.int().min(1),
        with_ref_id: z.int().meta({ description: "Clicks with the source's own click id" }),
        with_cost: z.int().meta({ description: 'Clicks whose cost is known' }),
      }),
    ),
  }),
})
