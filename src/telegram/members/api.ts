/** Members of channels, requests to join and what they cost, over HTTP. No right covers channels: a key is refused everywhere here. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { Id, Instant, Money, Page } from '../../contract/fields.ts'
import { paging } from '../../contract/paging.ts'

/** How the click of a join or a request is known. */
export const CERTAINTIES = ['link', 'person', 'campaign', 'organic'] as const
export const Certainty = z.enum(CERTAINTIES).meta({
  description:
    'link: by a link that is this click’s alone. person: by what the person had done with a bot of yours in 30 days. campaign: by the link its clicks share. organic: nobody knows of a click.',
})
export type Certainty = z.output<typeof Certainty>

const MemberState = z.enum(['in', 'left', 'kicked'])
const RequestState = z.enum(['pending', 'approved', 'declined', 'gone']).meta({
  description: 'gone: Telegram says there is nothing to decide, such as after it was withdrawn; reason has its words',
})

const person = {
  id: Id,
  telegram_user_id: z.string(),
  certainty: Certainty.nullable().meta({ description: 'null: seen, and not yet looked for' }),
  click_id: Id.nullable(),
  campaign_id: Id.nullable(),
  campaign_name: z.string().nullable(),
}

export const ChannelMember = z
  .object({
    ...person,
    state: MemberState,
    joined_at: Instant.nullable().meta({ description: 'The first join Sluice has heard of, by Telegram’s time' }),
    left_at: Instant.nullable().meta({ description: 'The last leave of who is out' }),
    times: z.int().min(0).meta({ description: 'How often the person has come' }),
    link_id: Id.nullable().meta({
      description: 'The invite link they came by, where it was one of ours; its name at Telegram',
    }),
    event_id: Id.nullable().meta({ description: 'The channel_join that was recorded' }),
  })
  .meta({ id: 'ChannelMember' })
export type ChannelMember = z.output<typeof ChannelMember>

export const JoinRequest = z
  .object({
    ...person,
    channel_id: Id,
    state: RequestState,
    asked_at: Instant,
    due_at: Instant.nullable().meta({ description: 'When it is approved by rule; null: it is left to a person' }),
    decided_at: Instant.nullable(),
    decided_by: z
      .string()
      .nullable()
      .meta({ description: 'rule, telegram (somebody decided there), or the name of who decided here' }),
    reason: z.string().nullable().meta({ description: 'In Telegram’s words, where it could not be decided' }),
  })
  .meta({ id: 'JoinRequest' })
export type JoinRequest = z.output<typeof JoinRequest>

/** What comes of a query: one id, or a list cut down by it. */
const narrowed = { certainty: Certainty.optional(), campaign_id: Id.optional() }

export const listChannelMembers = endpoint({
  route: 'GET /api/channels/:id/members',
  access: { session: 'member' },
  summary: 'List who has joined a channel or left it, newest first',
  description: 'Whom Sluice has heard of since the channel was added, and whose joins it had recorded before.',
  query: z.object({
    ...paging,
    state: MemberState.optional(),
    ...narrowed,
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
  summary: 'List who has asked to be let in, newest first',
  query: z.object({ ...paging, channel_id: Id.optional(), state: RequestState.optional(), ...narrowed }),
  reply: Page(JoinRequest),
})

const MOST_NAMED = 200

export const decideJoinRequests = endpoint({
  route: 'POST /api/join-requests/decide',
  access: { session: 'admin' },
  summary: 'Approve or decline the pending requests of a channel that a filter names',
  description:
    'The bot does it as fast as Telegram takes it; the list says what became of each. Without a filter all that are pending are meant; a name that is none of these is refused.',
  body: z.strictObject({
    channel_id: Id,
    decision: z.enum(['approve', 'decline']),
    filter: z
      .strictObject({
        ids: z.array(Id).min(1).max(MOST_NAMED).optional(),
        ...narrowed,
        asked_before: Instant.optional(),
        asked_from: Instant.optional(),
        older_than_s: z
          .int()
          .min(0)
          .max(31_622_400)
          .optional()
          .meta({ description: 'Asked so many seconds ago or longer' }),
      })
      .optional(),
  }),
  reply: z.object({ requests: z.int().min(0).meta({ description: 'How many were meant' }) }),
  refuses: ['object_not_found'],
})

const Count = z.int().min(0)
/** After how many days who is still there is counted. */
export const STAYS = [1, 7, 30] as const
const Stay = z.object({
  matured: Count.meta({
    description: 'Joins with a click that are so many days old, without those of before the channel was added',
  }),
  stayed: Count.meta({ description: 'Those of them who were still there then, or are there again' }),
})

const figures = {
  clicks: Count.nullable().meta({ description: 'Clicks of the campaigns that lead here; null by certainty' }),
  requests: Count,
  joins: Count.meta({ description: 'First joins with a click; in the row organic those without' }),
  organic: Count.meta({ description: 'First joins without a click' }),
  left: Count.meta({ description: 'Those of the joins who are not there now' }),
  stays: z.object({ 1: Stay, 7: Stay, 30: Stay }).meta({ description: 'By days since the join' }),
  cost: Money.nullable().meta({
    description: 'What the report says those campaigns cost; null by country and certainty, of which no spend is known',
  }),
  cost_per_join: Money.nullable().meta({ description: 'Up to four decimals; null without joins or cost' }),
  cost_per_stayer: Money.nullable().meta({
    description: 'Cost per join, over the share of joins at least seven days old that were still there then',
  }),
}

const Bound = z.iso.date().or(z.iso.datetime({ offset: true }))

const days = {
  date_from: Bound.optional().meta({ description: 'First UTC day, or a moment; else the 29th before the last' }),
  date_to: Bound.optional().meta({
    description: 'Last UTC day, or a moment; inclusive, at most 92 days in all; else today',
  }),
}

const ByCertainty = z
  .object({ link: Count, person: Count, campaign: Count, organic: Count })
  .meta({ description: 'First joins of these days by how their click is known' })

export const ChannelReport = z
  .object({
    dimension: z.enum(['day', 'campaign', 'sub1', 'geo', 'certainty']),
    date_from: Bound,
    date_to: Bound,
    rows: z.array(z.object({ key: z.string(), label: z.string(), ...figures })),
    totals: z.object(figures),
    certainty: ByCertainty,
    not_broken_down: Money.nullable().meta({
      description: 'By sub1: spend that was booked without one, in the totals and in no row',
    }),
    truncated: z.boolean(),
  })
  .meta({ id: 'ChannelReport' })
export type ChannelReport = z.output<typeof ChannelReport>
export type ReportDimension = ChannelReport['dimension']

export const readChannelReport = endpoint({
  route: 'GET /api/channels/:id/report',
  access: { session: 'member' },
  summary: 'Read what came into a channel, who stayed, and what that cost',
  description:
    'Joins and requests by the UTC day Telegram says they happened on, clicks and cost by that of the click, of the campaigns that lead into the channel or have brought somebody on these days, whole: also what of their traffic leads elsewhere.',
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
  summary: 'Read what came into each channel, who stayed, and what that cost',
  description:
    'As each channel’s report says in its totals. A campaign that leads into several channels counts in each of them.',
  query: z.object(days),
  reply: z.object({ rows: z.array(ChannelFigures) }),
  refuses: ['invalid_window', 'window_too_wide'],
})
