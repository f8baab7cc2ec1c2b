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

/** Kinds that are shown at the top of every page. */
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
        'The object that the line is about: domain, ad account, postback rule, spend account, network, campaign, bot, channel, broadcast, or the offer or campaign of a cap; null where there is none',
    }),
    name: z
      .string()
      .nullable()
      .meta({ description: 'The name of the object; for a postback rule the host that it calls' }),
    object: z
      .enum(['offer', 'campaign'])
      .nullable()
      .meta({ description: 'cap_reached: whether the cap is of an offer or a campaign; null for all other kinds' }),
    count: z
      .int()
      .min(0)
      .meta({
        description:
          'domain_…: campaigns shown on it. postback_failing, ad_account_failing: failures in a row. calls_refused: postbacks and conversions refused in the last 24 hours. macros_unfilled: clicks of the UTC day. ' +
          'cap_reached: the limit. broadcast_stopped: recipients without a message. days_incomplete: days. All other kinds: 1',
      }),
    since: Instant.nullable().meta({ description: 'When the cause began; null where that is not known' }),
    until: Instant.nullable().meta({
      description:
        'certificate_expiring: when it expires or expired. cap_reached: when its next period starts; null: never',
    }),
    reason: z.string().nullable().meta({
      description:
        'The reason, in the words of a platform, Telegram or a certificate authority. macros_unfilled: the parameters. cap_reached: the offer that visitors go to instead. balance_…: the balance',
    }),
    spend_per_day: Money.nullable().meta({
      description:
        'US dollars a day that the affected campaigns cost, on average over the seven UTC days before today; null where that is not known',
    }),
    revenue_per_day: Money.nullable().meta({ description: 'The same for the revenue of their clicks' }),
  })
  .meta({ id: 'AttentionLine' })
export type AttentionLine = z.output<typeof AttentionLine>

export const readAttention = endpoint({
  route: 'GET /api/attention',
  access: { session: 'member' },
  summary: 'Read what needs attention',
  description:
    'Failures, refusals, and limits that are reached or nearly so, the most urgent first. An empty list: nothing needs attention. Failing periodic jobs are ' +
    'listed for owners and admins of the organization that Sluice was set up with, certificates of the main host for its owners.',
  reply: z.object({ lines: z.array(AttentionLine) }),
})
