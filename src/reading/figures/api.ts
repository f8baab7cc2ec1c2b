/** Figures of what traffic runs on, which are no dimension of the report: landings, and what campaigns lead to. */
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

/** Clicks that a question may look through: two thirds of a second on a small server, cold several times that. */
export const MOST_LOOKED_AT = 2_000_000

export const readLandingFigures = endpoint({
  route: 'GET /api/figures/landings',
  access: { session: 'member' },
  summary: 'Read what the clicks of each landing came to',
  description:
    'Counts the tracked clicks whose visitors were given the landing, made on these days, with what they have come to so far. They are counted one by ' +
    `one: where the days hold more than ${MOST_LOOKED_AT.toLocaleString('en-US')} clicks nothing is counted. Landings without clicks are left out.`,
  query: z.object(days),
  reply: z.object({
    is_counted: z.boolean().meta({ description: 'False where the days hold too many clicks: choose fewer' }),
    date_from: DayOf.meta({
      description: 'The first day that is counted; later than asked where clicks are no longer kept',
    }),
    rows: z.array(FiguresRow),
  }),
  refuses: ['invalid_window', 'window_too_wide', 'invalid_request'],
})

export const readDestinationFigures = endpoint({
  route: 'GET /api/figures/destinations',
  access: { session: 'member' },
  summary: 'Read what the campaigns of a funnel, click flow or traffic source came to',
  description:
    'Adds up the tracked clicks of all campaigns that lead to the funnel or click flow, or name the traffic source, now, made on these days, whatever held then. ' +
    'Those of no campaign are left out.',
  query: z.object({ type: z.enum(['funnel', 'click_flow', 'traffic_source']), ...days }),
  reply: z.object({ rows: z.array(FiguresRow.extend({ campaigns: z.int().min(1) })) }),
  refuses: ['invalid_window', 'window_too_wide', 'invalid_request'],
})

/** Of the newest clicks of the day, as many as are looked at: they tell what a source passes as well as all of them. */
export const MOST_SAMPLED = 100_000

export const readSourceShares = endpoint({
  route: 'GET /api/figures/traffic-sources/today',
  access: { session: 'member' },
  summary: 'Read how many clicks of today came with what their traffic source should pass',
  description: `Of the newest ${MOST_SAMPLED.toLocaleString('en-US')} clicks of the UTC day, those that count, by the source that their campaigns name now.`,
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
