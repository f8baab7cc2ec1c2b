/** What needs attention in a workspace, over HTTP. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { Id, Instant, Money } from '../../contract/fields.ts'

/** The kinds of lines, the most urgent first: lines come in this order. */
export const ATTENTION_KINDS = [
  'domain_failing',
  'domain_flagged',
  'certificate_missing',
  'certificate_expiring',
  'balance_empty',
  'ad_account_broken',
  'balance_low',
  'job_failing',
  'ad_account_failing',
  'postback_off',
  'postback_failing',
  'spend_unreadable',
  'calls_refused',
  'macros_unfilled',
  'bot_refused',
  'bot_hook_lost',
  'channel_lost',
  'channel_links_low',
  'broadcast_stopped',
  'domain_lost',
  'cap_reached',
  'days_incomplete',
] as const
const Kind = z.enum(ATTENTION_KINDS)
export type AttentionKind = (typeof ATTENTION_KINDS)[number]

/** Kinds that are shown at the head of every page. */
export const URGENT_KINDS: ReadonlySet<AttentionKind> = new Set([
  'domain_failing',
  'domain_flagged',
  'certificate_missing',
  'certificate_expiring',
  'balance_empty',
  'ad_account_broken',
  'balance_low',
  'job_failing',
])

export const AttentionLine = z
  .object({
    kind: Kind,
    id: Id.nullable().meta({
      description:
        'The object that the line is about: domain, ad account, postback rule, spend account, network, campaign, bot, channel, broadcast, or what a cap is of; null where there is none',
    }),
    name: z
      .string()
      .nullable()
      .meta({ description: 'What the object is called; of a postback rule the host it calls' }),
    object: z
      .enum(['offer', 'campaign'])
      .nullable()
      .meta({ description: 'cap_reached: what the cap is of; null for all other kinds' }),
    count: z
      .int()
      .min(0)
      .meta({
        description:
          'domain_…: campaigns shown on it. …_failing of a target: failures in a row. calls_refused: refused in the last 24 hours. macros_unfilled: clicks of the UTC day. ' +
          'cap_reached: the limit. broadcast_stopped: recipients who were not written to. days_incomplete: days. All else: 1',
      }),
    since: Instant.nullable().meta({ description: 'Since when it is so; null where that is not known' }),
    until: Instant.nullable().meta({
      description: 'certificate_expiring: when it expires or expired. cap_reached: when it counts anew; null: never',
    }),
    reason: z.string().nullable().meta({
      description:
        'Why, in words: of a platform, of Telegram, of an authority. macros_unfilled: the parameters. cap_reached: the offer that takes the visitors. balance_…: the balance',
    }),
    spend_per_day: Money.nullable().meta({
      description:
        'US dollars a day that the campaigns behind it cost, on average of the seven UTC days before today; null where that is not known',
    }),
    revenue_per_day: Money.nullable().meta({ description: 'The same of what their clicks earned' }),
  })
  .meta({ id: 'AttentionLine' })
export type AttentionLine = z.output<typeof AttentionLine>

export const readAttention = endpoint({
  route: 'GET /api/attention',
  access: { session: 'member' },
  summary: 'Read what needs attention',
  description:
    'What fails, was refused, has run out or is about to, as it is now, the most urgent first. An empty list: nothing needs attention. Periodic jobs that fail are ' +
    'listed for owners and admins of the organization that Sluice was set up with, certificates of the main host for its owners.',
  reply: z.object({ lines: z.array(AttentionLine) }),
})
