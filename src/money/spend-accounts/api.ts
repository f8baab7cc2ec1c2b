/** Spend accounts over HTTP: the accounts at ad platforms that are asked what traffic has cost. A dashboard session only. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { Done, Id, Instant, Money, Name, Page, SUBS } from '../../contract/fields.ts'
import { paging } from '../../contract/paging.ts'

export const PROVIDERS = ['meta', 'tiktok'] as const
export const PROVIDER_LABELS: Readonly<Record<(typeof PROVIDERS)[number], string>> = { meta: 'Meta', tiktok: 'TikTok' }
export const LEVELS = ['ad', 'adset', 'campaign'] as const
/** Days that are read at first, and at most again. */
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
  description: 'Whose id the clicks carry: the ad’s, that of its ad set (TikTok: ad group), or that of its campaign',
})
const IdIn = z.enum(SUBS).nullable().meta({
  description:
    'The sub that the platform fills with the id, such as sub2={{ad.id}} at Meta or sub2=__CID__ at TikTok. With sub1 the spend is booked by sub1 as well; null where all spend is of campaign_id',
})
const CampaignId = Id.nullable().meta({
  description: 'All spend of the account is this campaign’s; null: by the ids that clicks carry',
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
  .regex(/^[\x21-\x7e]+$/, { message: 'holds characters that no token has' })

const Fault = z
  .object({
    code: z.enum(FAULTS),
    error: z.string().meta({ description: 'What the platform said, or what is wrong with it' }),
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
    token_hint: z.string().meta({ description: 'The end of the token' }),
    id_in: IdIn,
    level: Level,
    campaign_id: CampaignId,
    state: z.enum(['active', 'off']),
    timezone: z
      .string()
      .nullable()
      .meta({ description: 'By which the platform counts its days; null until it was asked' }),
    currency: z.string().nullable().meta({
      description:
        'In which the platform bills, turned into US dollars by the rate of each day; null until it was asked',
    }),
    synced_at: Instant.nullable().meta({ description: 'When it was last read without a fault' }),
    next_sync_at: Instant,
    is_syncing: z.boolean(),
    fault: Fault.nullable(),
    last_30_days: z.object({
      spent: Money.meta({ description: 'What the platform says' }),
      unmatched: Money.meta({ description: 'What of it no click’s campaign is known for: it is in no report' }),
      unmatched_ids: z.number().int(),
      is_estimated: z.boolean().meta({
        description: 'Hours of the account’s zone that lie in two UTC days were divided by their minutes',
      }),
    }),
    created_at: Instant,
    updated_at: Instant,
  })
  .meta({ id: 'SpendAccount' })
export type SpendAccount = z.output<typeof SpendAccount>

const Unmatched = z.object({
  external_id: z.string(),
  name: z.string().meta({ description: 'As it is called at the platform' }),
  amount: Money,
  first_day: z.string(),
  last_day: z.string(),
})

export const SpendAccountRead = SpendAccount.extend({
  unmatched: z.array(Unmatched).meta({ description: 'Of the last 30 days, the largest first, at most 200' }),
  days: z
    .array(z.object({ day: z.string(), spent: Money, unmatched: Money, is_estimated: z.boolean() }))
    .meta({ description: 'UTC days of the last 30 that have spend, newest first' }),
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
  summary: 'Read a spend account, with its days and what was not matched',
  reply: SpendAccountRead,
  refuses: ['object_not_found'],
})

export const createSpendAccount = endpoint({
  route: 'POST /api/spend-accounts',
  access: { session: 'admin' },
  summary: 'Connect a spend account',
  description:
    'Its last 30 days are read at once, from then on today and yesterday every hour, and each night the last 7 days. The token is kept encrypted and ' +
    'never shown again. An account that was disconnected before is the same one again, with what was booked then.',
  body: SpendAccountDraft,
  reply: SpendAccount,
  status: 201,
  refuses: ['invalid_request', 'already_exists', 'object_not_found'],
})

export const updateSpendAccount = endpoint({
  route: 'PATCH /api/spend-accounts/:id',
  access: { session: 'admin' },
  summary: 'Change a spend account',
  description:
    'Fields that are not sent stay as they are. Another id_in, level or campaign_id has the last 30 days read and booked again; a new token, or `state: "active"`, has it asked at once.',
  body: SpendAccountChanges,
  reply: SpendAccount,
  refuses: ['object_not_found', 'invalid_request'],
})

export const deleteSpendAccount = endpoint({
  route: 'DELETE /api/spend-accounts/:id',
  access: { session: 'admin' },
  summary: 'Disconnect a spend account',
  description: 'Its token is destroyed. What was booked stays, because it was spent, unless it is taken back.',
  query: z.object({
    take_back: z
      .enum(['true', 'false'])
      .default('false')
      .meta({ description: 'true: all the account has ever booked goes as well' }),
  }),
  reply: Done,
  refuses: ['object_not_found'],
})

export const syncSpendAccount = endpoint({
  route: 'POST /api/spend-accounts/:id/sync',
  access: { session: 'admin' },
  summary: 'Have a spend account read now',
  description:
    'It is read within seconds; next_sync_at, is_syncing and fault of the account tell what came of it. What is read a second time changes nothing.',
  body: z.object({
    days: z
      .int()
      .min(1)
      .max(MOST_DAYS)
      .nullish()
      .meta({ description: 'How many days before today are read again; yesterday’s without it' }),
  }),
  reply: SpendAccount,
  refuses: ['object_not_found', 'invalid_request'],
})
