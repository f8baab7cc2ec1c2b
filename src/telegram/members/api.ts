/** Members of channels, requests to join and their cost, over HTTP. No right covers channels: a key is refused everywhere here. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { Id, Instant, Money, Page } from '../../contract/fields.ts'
import { paging } from '../../contract/paging.ts'

/** How the click of a join or a request was identified, the surest first. */
export const CERTAINTIES = ['link', 'person', 'campaign', 'organic'] as const
export const Certainty = z.enum(CERTAINTIES).meta({
  description:
    'link: by an invite link given to this click alone. person: by the person’s start, request or launch in the last 30 days. campaign: by the campaign’s shared link. organic: there is no click.',
})
export type Certainty = z.output<typeof Certainty>

const MemberState = z.enum(['in', 'left', 'kicked'])
const RequestState = z.enum(['pending', 'approved', 'declined', 'gone']).meta({
  description: 'gone: nothing is left to decide at Telegram, for example because the request was withdrawn; see reason',
})

const person = {
  id: Id,
  telegram_user_id: z.string(),
  certainty: Certainty.nullable().meta({ description: 'null: not attributed yet' }),
  click_id: Id.nullable(),
  campaign_id: Id.nullable(),
  campaign_name: z.string().nullable(),
}

export const ChannelMember = z
  .object({
    ...person,
    state: MemberState,
    joined_at: Instant.nullable().meta({ description: 'The first known join, by Telegram’s time' }),
    left_at: Instant.nullable().meta({ description: 'The last leave; null while the person is in' }),
    times: z.int().min(0).meta({ description: 'How often the person has joined' }),
    link_id: Id.nullable().meta({
      description: 'The invite link of the join if Sluice created it; also the link’s name at Telegram',
    }),
    event_id: Id.nullable().meta({ description: 'The recorded channel_join' }),
  })
  .meta({ id: 'ChannelMember' })
export type ChannelMember = z.output<typeof ChannelMember>

export const JoinRequest = z
  .object({
    ...person,
    channel_id: Id,
    state: RequestState,
    asked_at: Instant,
    due_at: Instant.nullable().meta({ description: 'The time of the automatic approval; null: an admin decides' }),
    decided_at: Instant.nullable(),
    decided_by: z
      .string()
      .nullable()
      .meta({ description: 'rule, telegram (decided in Telegram), or the name of the person who decided here' }),
    reason: z.string().nullable().meta({ description: 'Telegram’s reason if the request could not be decided' }),
  })
  .meta({ id: 'JoinRequest' })
export type JoinRequest = z.output<typeof JoinRequest>

const attributionFilters = { certainty: Certainty.optional(), campaign_id: Id.optional() }

export const listChannelMembers = endpoint({
  route: 'GET /api/channels/:id/members',
  access: { session: 'member' },
  summary: 'List the people who have joined or left a channel, newest first',
  description: 'Includes the people whose joins were recorded before the channel was added.',
  query: z.object({
    ...paging,
    state: MemberState.optional(),
    ...attributionFilters,
    joined_from: Instant.optional(),
    joined_to: Instant.optional().meta({ description: 'Exclusive' }),
    date_from: Instant.optional().meta({ description: 'The same as joined_from' }),
    date_to: Instant.optional().meta({ description: 'The same as joined_to' }),
  }),
  reply: Page(ChannelMember),
  refuses: ['object_not_found'],
})

export const listJoinRequests = endpoint({
  route: 'GET /api/join-requests',
  access: { session: 'member' },
  summary: 'List requests to join, newest first',
  query: z.object({ ...paging, channel_id: Id.optional(), state: RequestState.optional(), ...attributionFilters }),
  reply: Page(JoinRequest),
})

const MOST_IDS = 200

export const decideJoinRequests = endpoint({
  route: 'POST /api/join-requests/decide',
  access: { session: 'admin' },
  history: { none: 'a request has its own record of who decided it and when' },
  summary: 'Approve or decline pending requests of a channel',
  description:
    'Without a filter, all pending requests. The bot decides them as fast as Telegram accepts the calls; the list shows each result. Unknown filter fields are refused.',
  body: z.strictObject({
    channel_id: Id,
    decision: z.enum(['approve', 'decline']),
    filter: z
      .strictObject({
        ids: z.array(Id).min(1).max(MOST_IDS).optional(),
        ...attributionFilters,
        asked_before: Instant.optional(),
        asked_from: Instant.optional(),
        older_than_s: z
          .int()
          .min(0)
          .max(31_622_400)
          .optional()
          .meta({ description: 'Requested at least this many seconds ago' }),
      })
      .optional(),
  }),
  reply: z.object({ requests: z.int().min(0).meta({ description: 'How many requests match' }) }),
  refuses: ['object_not_found'],
})

const Count = z.int().min(0)
/** Days after a join at which stayers are counted. */
export const STAYS = [1, 7, 30] as const
const Stay = z.object({
  matured: Count.meta({
    description: 'Joins with a click that are at least this many days old and were made after the channel was added',
  }),
  stayed: Count.meta({ description: 'Matured joins whose person was still in the channel then, or is in it again' }),
})

const figures = {
  clicks: Count.nullable().meta({ description: 'Clicks of the channel’s campaigns; null by certainty' }),
  requests: Count,
  joins: Count.meta({ description: 'First joins with a click; in the row organic, first joins without one' }),
  organic: Count.meta({ description: 'First joins without a click' }),
  left: Count.meta({ description: 'Joins whose person is not in the channel now' }),
  stays: z.object({ 1: Stay, 7: Stay, 30: Stay }).meta({ description: 'By days since the join' }),
  cost: Money.nullable().meta({
    description:
      'The cost of these campaigns in the report; null by country and certainty, for which there is no spend',
  }),
  cost_per_join: Money.nullable().meta({ description: 'Up to four decimals; null without joins or cost' }),
  cost_per_stayer: Money.nullable().meta({
    description: 'Cost per join divided by the share of matured joins that stayed seven days',
  }),
}

const Bound = z.iso.date().or(z.iso.datetime({ offset: true }))

const days = {
  date_from: Bound.optional().meta({ description: 'First UTC day, or a time; default: 29 days before date_to' }),
  date_to: Bound.optional().meta({
    description: 'Last UTC day, or a time, inclusive; default: today. At most 92 days in all',
  }),
}

const ByCertainty = z
  .object({ link: Count, person: Count, campaign: Count, organic: Count })
  .meta({ description: 'First joins of these days by certainty' })

export const ChannelReport = z
  .object({
    dimension: z.enum(['day', 'campaign', 'sub1', 'geo', 'certainty']),
    date_from: Bound,
    date_to: Bound,
    rows: z.array(z.object({ key: z.string(), label: z.string(), ...figures })),
    totals: z.object(figures),
    certainty: ByCertainty,
    not_broken_down: Money.nullable().meta({
      description: 'By sub1: spend that was booked without a sub1. It is in the totals and in no row',
    }),
    truncated: z.boolean(),
  })
  .meta({ id: 'ChannelReport' })
export type ChannelReport = z.output<typeof ChannelReport>
export type ChannelReportDimension = ChannelReport['dimension']

export const readChannelReport = endpoint({
  route: 'GET /api/channels/:id/report',
  access: { session: 'member' },
  summary: 'Read the joins, stayers and cost of a channel',
  description:
    'Joins and requests count on their UTC day at Telegram, clicks and cost on the day of the click. Clicks and cost are those of all campaigns that lead into the channel or brought joins or requests in these days, including their traffic that leads elsewhere.',
  query: z.object({
    dimension: ChannelReport.shape.dimension,
    ...days,
  }),
  reply: ChannelReport,
  refuses: ['object_not_found', 'invalid_window', 'window_too_wide'],
})

export const ChannelFigures = z
  .object({
    key: Id.meta({ description: 'The channel' }),
    ...figures,
    clicks: Count,
    stays: z.object({ 7: Stay }),
    certainty: ByCertainty,
  })
  .meta({ id: 'ChannelFigures' })
export type ChannelFigures = z.output<typeof ChannelFigures>

export const readChannelFigures = endpoint({
  route: 'GET /api/figures/channels',
  access: { session: 'member' },
  summary: 'Read the joins, stayers and cost of every channel',
  description:
    'The same totals as in each channel’s report. A campaign that leads into several channels counts in each of them.',
  query: z.object(days),
  reply: z.object({ rows: z.array(ChannelFigures) }),
  refuses: ['invalid_window', 'window_too_wide'],
})
