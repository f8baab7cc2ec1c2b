/** Ad accounts over HTTP: the accounts conversions are reported to, their event maps and states. Sessions only. */
import { z } from 'zod'
import { AD_PLATFORMS } from '../../contract/ad-platforms.ts'
import { Address } from '../../contract/address.ts'
import { endpoint } from '../../contract/endpoint.ts'
import { EventType } from '../../contract/event-types.ts'
import { Amount, Done, Id, Instant, Money, Name, Page } from '../../contract/fields.ts'
import { paging } from '../../contract/paging.ts'

export const Platform = z.enum(AD_PLATFORMS)
const AdAccountState = z.enum(['active', 'broken', 'off'])

const digits = (most: number, words: string) =>
  z
    .string()
    .trim()
    .regex(new RegExp(`^\\d{1,${most}}$`), { message: `must be ${words}, digits only` })

const Secret = (max: number) =>
  z
    .string()
    .trim()
    .min(8)
    .max(max)
    .regex(/^[\x20-\x7e\s]+$/, { message: 'contains characters that no token has' })

const CustomerId = z
  .string()
  .trim()
  .regex(/^\d{3}-?\d{3}-?\d{4}$/, { message: 'must be a Google Ads customer id: ten digits' })
  .transform(text => text.replaceAll('-', ''))

/** Meta's action sources. `automatic` reports `chat` for Telegram events and `website` for browser events. */
export const ACTION_SOURCES = ['automatic', 'website', 'chat', 'system_generated', 'other'] as const

const shared = {
  keeps_ip: z.boolean().meta({
    description:
      'Whether clicks of campaigns that name this account keep their IP address, encrypted, for 7 days, to improve the platform’s matching',
  }),
  sends_contact: z.boolean().meta({
    description: 'Whether payload.email and payload.phone of a conversion are sent, normalized and hashed',
  }),
  website_url: z.string().nullable().meta({
    description: 'The page reported for conversions; null: the address the campaign leads to',
  }),
}
const website_url = Address.nullable()

const MetaSettings = z.object({
  pixel_id: digits(20, 'the id of a pixel or dataset'),
  use_payout_as_value: z.boolean().meta({
    description:
      'true: the value is the conversion’s payout in USD; false: the value is in the custom data of the event map',
  }),
  action_source: z.enum(ACTION_SOURCES),
  ...shared,
})
const TikTokSettings = z.object({
  pixel_code: z
    .string()
    .trim()
    .regex(/^[A-Za-z0-9]{5,40}$/, { message: 'must be the code of a pixel, letters and digits' }),
  ...shared,
})
export const CONSENTS = ['unspecified', 'granted', 'denied'] as const
const GoogleSettings = z.object({
  customer_id: z.string(),
  login_customer_id: z.string().nullable().meta({ description: 'The manager account used for access, if any' }),
  ad_user_data: z.enum(CONSENTS),
  ad_personalization: z.enum(CONSENTS).meta({
    description:
      'What your visitors have agreed to; without consent Google ignores people in the European Economic Area',
  }),
  sends_contact: shared.sends_contact,
})
export type MetaSettings = z.output<typeof MetaSettings>
export type TikTokSettings = z.output<typeof TikTokSettings>
export type GoogleSettings = z.output<typeof GoogleSettings>

const MetaSettingsDraft = MetaSettings.extend({
  website_url: website_url.default(null),
  use_payout_as_value: MetaSettings.shape.use_payout_as_value.default(false),
  action_source: MetaSettings.shape.action_source.default('automatic'),
  keeps_ip: shared.keeps_ip.default(false),
  sends_contact: shared.sends_contact.default(false),
})
const TikTokSettingsDraft = TikTokSettings.extend({
  website_url: website_url.default(null),
  keeps_ip: shared.keeps_ip.default(false),
  sends_contact: shared.sends_contact.default(false),
})
const GoogleSettingsDraft = GoogleSettings.extend({
  customer_id: CustomerId,
  login_customer_id: CustomerId.nullable().default(null),
  ad_user_data: GoogleSettings.shape.ad_user_data.default('unspecified'),
  ad_personalization: GoogleSettings.shape.ad_personalization.default('unspecified'),
  sends_contact: shared.sends_contact.default(false),
})

const EventName = z
  .string()
  .trim()
  .regex(/^[A-Za-z0-9_][A-Za-z0-9_ -]{0,49}$/, { message: 'must be 1 to 50 letters, digits, spaces, _ and -' })
const ActionId = digits(19, 'the id of a conversion action')

const Text = Name(500)
const MAX_VALUE = 1_000_000_000

const customData = {
  content_name: Text.optional(),
  content_category: Text.optional(),
  content_type: z.enum(['product', 'product_group']).optional(),
  content_ids: z.array(Text).min(1).max(100).optional(),
  num_items: z.int().min(0).max(1_000_000).optional(),
  status: Text.optional(),
  search_string: Text.optional(),
}
const Currency = z.string().regex(/^[A-Z]{3}$/, { message: 'must be a currency of three capital letters, such as USD' })

/** Meta's custom data of a mapped event. Value and currency belong together. */
const CustomDataDraft = z
  .strictObject({
    value: Amount(MAX_VALUE).optional(),
    currency: Currency.optional(),
    predicted_ltv: Amount(MAX_VALUE).optional(),
    ...customData,
  })
  .refine(({ value, currency }) => (value === undefined) === (currency === undefined), {
    message: 'needs value and currency together',
  })
const CustomData = z.object({
  value: Money.optional(),
  currency: z.string().optional(),
  predicted_ltv: Money.optional(),
  ...customData,
})

const EventMap = z
  .partialRecord(
    EventType,
    z.object({
      name: z.string().meta({ description: 'The platform’s event; for Google the id of a conversion action' }),
      custom_data: CustomData.optional().meta({ description: 'Meta only' }),
    }),
  )
  .meta({ description: 'By event type; a missing type is not sent' })
export type EventMap = z.output<typeof EventMap>

const mapOf = <T extends z.ZodType>(mapped: T) => z.partialRecord(EventType, mapped)
const MetaMap = mapOf(z.strictObject({ name: EventName, custom_data: CustomDataDraft.optional() }))
const TikTokMap = mapOf(z.strictObject({ name: EventName }))
const GoogleMap = mapOf(z.strictObject({ name: ActionId }))

const TokenCredentials = z.object({ access_token: Secret(1000) })
const KeyCredentials = z.object({
  service_account: Secret(10_000).meta({ description: 'The JSON key file of a service account' }),
})

/** When a conversion that is held at recording is reported. */
export const SEND_WHEN = ['recorded', 'approved'] as const
const SendWhen = z.enum(SEND_WHEN).meta({
  description: 'approved: held conversions are reported once they are approved; default: recorded',
})
const Restate = z.boolean().meta({
  description:
    'Google: whether a smaller amount that is approved later is reported under the same transaction id; default: false',
})

const drafts = {
  meta: { settings: MetaSettingsDraft, credentials: TokenCredentials, event_map: MetaMap, send_when: SendWhen },
  tiktok: { settings: TikTokSettingsDraft, credentials: TokenCredentials, event_map: TikTokMap, send_when: SendWhen },
  google: {
    settings: GoogleSettingsDraft,
    credentials: KeyCredentials,
    event_map: GoogleMap,
    send_when: SendWhen,
    restate: Restate,
  },
}

/** A new account. Without an event map it gets the platform's default one. */
export const AdAccountDraft = z
  .discriminatedUnion('platform', [
    z.object({
      platform: z.literal('meta'),
      name: Name(),
      ...drafts.meta,
      event_map: MetaMap.optional(),
      send_when: SendWhen.optional(),
    }),
    z.object({
      platform: z.literal('tiktok'),
      name: Name(),
      ...drafts.tiktok,
      event_map: TikTokMap.optional(),
      send_when: SendWhen.optional(),
    }),
    z.object({
      platform: z.literal('google'),
      name: Name(),
      ...drafts.google,
      event_map: GoogleMap.optional(),
      send_when: SendWhen.optional(),
      restate: Restate.optional(),
    }),
  ])
  .meta({ id: 'AdAccountDraft' })
export type AdAccountDraft = z.output<typeof AdAccountDraft>

const changes = { name: Name(), state: z.enum(['active', 'off']) }

/** Changes to an account. Each part that is sent is replaced as a whole. The platform selects the schema and never changes. */
export const AdAccountChanges = z
  .discriminatedUnion('platform', [
    z.object({ platform: z.literal('meta'), ...z.object({ ...changes, ...drafts.meta }).partial().shape }),
    z.object({ platform: z.literal('tiktok'), ...z.object({ ...changes, ...drafts.tiktok }).partial().shape }),
    z.object({ platform: z.literal('google'), ...z.object({ ...changes, ...drafts.google }).partial().shape }),
  ])
  .meta({ id: 'AdAccountChanges' })
export type AdAccountChanges = z.output<typeof AdAccountChanges>

const account = {
  id: Id,
  name: z.string(),
  send_when: SendWhen,
  restate: Restate,
  credential_hint: z
    .string()
    .meta({ description: 'The last characters of the token, or the service account’s email address' }),
  event_map: EventMap,
  state: AdAccountState,
  state_reason: z.string().nullable().meta({ description: 'While broken: the platform’s error' }),
  state_changed_at: Instant,
  created_at: Instant,
  updated_at: Instant,
}
export const AdAccount = z
  .discriminatedUnion('platform', [
    z.object({ platform: z.literal('meta'), settings: MetaSettings, ...account }),
    z.object({ platform: z.literal('tiktok'), settings: TikTokSettings, ...account }),
    z.object({ platform: z.literal('google'), settings: GoogleSettings, ...account }),
  ])
  .meta({ id: 'AdAccount' })
export type AdAccount = z.output<typeof AdAccount>

export const listAdAccounts = endpoint({
  route: 'GET /api/ad-accounts',
  access: { session: 'member' },
  summary: 'List ad accounts, newest first',
  query: z.object({ ...paging, platform: Platform.optional(), state: AdAccountState.optional() }),
  reply: Page(AdAccount),
})

export const readAdAccount = endpoint({
  route: 'GET /api/ad-accounts/:id',
  access: { session: 'member' },
  summary: 'Read an ad account',
  reply: AdAccount,
  refuses: ['object_not_found'],
})

export const createAdAccount = endpoint({
  route: 'POST /api/ad-accounts',
  access: { session: 'admin' },
  history: 'ad_account',
  summary: 'Connect an ad account',
  description:
    'From now on conversions are reported to it: those of campaigns that name it, and, if it is the platform’s only account, those of clicks that carry the platform’s click id. The credential is stored encrypted and never shown again.',
  body: AdAccountDraft,
  reply: AdAccount,
  status: 201,
  refuses: ['invalid_request'],
})

export const updateAdAccount = endpoint({
  route: 'PATCH /api/ad-accounts/:id',
  access: { session: 'admin' },
  history: 'ad_account',
  summary: 'Change an ad account',
  description:
    'Parts that are not sent stay as they are; settings and event map are replaced as a whole. New credentials or `state: "active"` make a broken account active again, and its waiting deliveries are sent.',
  body: AdAccountChanges,
  reply: AdAccount,
  refuses: ['object_not_found', 'invalid_request'],
})

export const deleteAdAccount = endpoint({
  route: 'DELETE /api/ad-accounts/:id',
  access: { session: 'admin' },
  history: 'ad_account',
  summary: 'Disconnect an ad account',
  description: 'Deletes its credential. Waiting deliveries are skipped.',
  reply: Done,
  refuses: ['object_not_found', 'in_use'],
})
