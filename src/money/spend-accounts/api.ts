/** Spend accounts over HTTP: the accounts at ad platforms whose spend Sluice reads. Sessions only. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { Done, Id, Instant, Money, Name, Page, SUBS } from '../../contract/fields.ts'
import { paging } from '../../contract/paging.ts'

export const PROVIDERS = ['meta', 'tiktok'] as const
export const PROVIDER_LABELS: Readonly<Record<(typeof PROVIDERS)[number], string>> = { meta: 'Meta', tiktok: 'TikTok' }
export const LEVELS = ['ad', 'adset', 'campaign'] as const
/** Days that are read at first, and the most that are read again. */
export const MOST_DAYS = 30

export const FAULTS = [
  'token_refused',
  'permission_missing',
  'account_not_found',
  'rate_limited',
  'unavailable',
  'unexpected_answer',
  'rate_unknown',
  'timezone_unknown',
] as const

const Provider = z.enum(PROVIDERS)
const Level = z.enum(LEVELS).meta({
  description: 'The object whose id the clicks carry: the ad, its ad set (TikTok: ad group) or its campaign',
})
const IdIn = z.enum(SUBS).nullable().meta({
  description:
    'The sub that the platform fills with the id, such as sub2={{ad.id}} at Meta or sub2=__CID__ at TikTok. With sub1, spend is also booked by sub1. null: all spend belongs to campaign_id',
})
const CampaignId = Id.nullable().meta({
  description: 'The campaign all spend of the account belongs to; null: spend is matched by the ids that clicks carry',
})
const ExternalId = z
  .string()
  .trim()
  .regex(/^(act_)?\d{5,25}$/, { message: 'must be the number of the ad account, such as 1234567890' })
  .transform(text => text.replace(/^act_/, ''))
const Token = z
  .string()
  .trim()
  .min(8)
  .max(1000)
  .regex(/^[\x21-\x7e]+$/, { message: 'contains characters that no token has' })

const Fault = z
  .object({
    code: z.enum(FAULTS),
    error: z.string().meta({ description: 'The platform’s error, or what is wrong with its answer' }),
    hint: z.string().meta({ description: 'What to do' }),
    since: Instant,
  })
  .meta({ id: 'SpendAccountFault' })

export const SpendAccount = z
  .object({
    id: Id,
    provider: Provider,
    external_id: z.string().meta({ description: 'The account’s number at the platform' }),
    name: z.string(),
    token_hint: z.string().meta({ description: 'The last characters of the token' }),
    id_in: IdIn,
    level: Level,
    campaign_id: CampaignId,
    state: z.enum(['active', 'off']),
    timezone: z
      .string()
      .nullable()
      .meta({ description: 'The time zone of the platform’s days; null until first read' }),
    currency: z.string().nullable().meta({
      description: 'The billing currency, converted into US dollars at the rate of each day; null until first read',
    }),
    synced_at: Instant.nullable().meta({ description: 'When it was last read without a fault' }),
    next_sync_at: Instant,
    is_syncing: z.boolean(),
    fault: Fault.nullable(),
    last_30_days: z.object({
      spent: Money.meta({ description: 'The spend reported by the platform' }),
      unmatched: Money.meta({ description: 'The part that matches no campaign’s clicks; reports leave it out' }),
      unmatched_ids: z.number().int(),
      is_estimated: z.boolean().meta({
        description: 'Hours of the account’s time zone that span two UTC days were divided by their minutes',
      }),
    }),
    created_at: Instant,
    updated_at: Instant,
  })
  .meta({ id: 'SpendAccount' })
export type SpendAccount = z.output<typeof SpendAccount>

const Unmatched = z.object({
  external_id: z.string(),
  name: z.string().meta({ description: 'Its name at the platform' }),
  amount: Money,
  first_day: z.string(),
  last_day: z.string(),
})

export const SpendAccountRead = SpendAccount.extend({
  unmatched: z
    .array(Unmatched)
    .meta({ description: 'Ids of the last 30 days that match no campaign, the largest first, at most 200' }),
  days: z
    .array(z.object({ day: z.string(), spent: Money, unmatched: Money, is_estimated: z.boolean() }))
    .meta({ description: 'The UTC days with spend among the last 30, newest first' }),
}).meta({ id: 'SpendAccountRead' })
export type SpendAccountRead = z.output<typeof SpendAccountRead>

const settings = { name: Name(), access_token: Token, id_in: IdIn, level: Level, campaign_id: CampaignId }

export const SpendAccountDraft = z
  .object({
    ...settings,
    provider: Provider,
    external_id: ExternalId,
    id_in: IdIn.default(null),
    level: Level.default('ad'),
    campaign_id: CampaignId.default(null),
  })
  .meta({ id: 'SpendAccountDraft' })
export type SpendAccountDraft = z.output<typeof SpendAccountDraft>

export const SpendAccountChanges = z
  .object({ ...settings, state: z.enum(['active', 'off']) })
  .partial()
  .meta({ id: 'SpendAccountChanges' })

export const listSpendAccounts = endpoint({
  route: 'GET /api/spend-accounts',
  access: { session: 'member' },
  summary: 'List spend accounts, newest first',
  query: z.object(paging),
  reply: Page(SpendAccount),
})

export const readSpendAccount = endpoint({
  route: 'GET /api/spend-accounts/:id',
  access: { session: 'member' },
  summary: 'Read a spend account, with its days and its unmatched spend',
  reply: SpendAccountRead,
  refuses: ['object_not_found'],
})

export const createSpendAccount = endpoint({
  route: 'POST /api/spend-accounts',
  access: { session: 'admin' },
  history: 'spend_account',
  summary: 'Connect a spend account',
  description:
    'Its last 30 days are read at once, then today and yesterday every hour, and the last 7 days every night. The token is stored encrypted and ' +
    'never shown again. Connecting a disconnected account again restores it with the spend it had booked.',
  body: SpendAccountDraft,
  reply: SpendAccount,
  status: 201,
  refuses: ['invalid_request', 'already_exists', 'object_not_found'],
})

export const updateSpendAccount = endpoint({
  route: 'PATCH /api/spend-accounts/:id',
  access: { session: 'admin' },
  history: 'spend_account',
  summary: 'Change a spend account',
  description:
    'Fields that are not sent stay as they are. A change of id_in, level or campaign_id reads and books the last 30 days again; a new token or `state: "active"` reads the account at once.',
  body: SpendAccountChanges,
  reply: SpendAccount,
  refuses: ['object_not_found', 'invalid_request'],
})

export const deleteSpendAccount = endpoint({
  route: 'DELETE /api/spend-accounts/:id',
  access: { session: 'admin' },
  history: 'spend_account',
  summary: 'Disconnect a spend account',
  description: 'Deletes its token. Booked spend stays unless take_back is true.',
  query: z.object({
    take_back: z
      .enum(['true', 'false'])
      .default('false')
      .meta({ description: 'true: also deletes all spend the account has ever booked' }),
  }),
  reply: Done,
  refuses: ['object_not_found'],
})

export const syncSpendAccount = endpoint({
  route: 'POST /api/spend-accounts/:id/sync',
  access: { session: 'admin' },
  history: { none: 'it makes the account due; amounts that Sluice reads itself are not in the history' },
  summary: 'Read a spend account now',
  description:
    'It is read within seconds; next_sync_at, is_syncing and fault show the result. Reading the same spend again changes nothing.',
  body: z.object({
    days: z
      .int()
      .min(1)
      .max(MOST_DAYS)
      .nullish()
      .meta({ description: 'How many days before today to read again; default: 1' }),
  }),
  reply: SpendAccount,
  refuses: ['object_not_found', 'invalid_request'],
})
