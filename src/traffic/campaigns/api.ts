/** The endpoints of campaigns: their links and their destinations. */
import { z } from 'zod'
import { Address, UnknownMacros } from '../../contract/address.ts'
import { CampaignCost, CampaignCostDraft } from '../../contract/campaign-cost.ts'
import { DeletedFromTraffic } from '../../contract/consequences.ts'
import { endpoint, REPEATABLE } from '../../contract/endpoint.ts'
import { eachSub, FAITHFUL, Id, Instant, Name, Page, SUBS } from '../../contract/fields.ts'
import { BrowserType, BrowserTypes, EventType } from '../../contract/event-types.ts'
import { pickedFile } from '../../contract/list-files.ts'
import { LABELS, noteEndpoint, TagFilter, tagsEndpoint } from '../../contract/labels.ts'
import { paging, Search } from '../../contract/paging.ts'
import { Sites } from '../../contract/sites.ts'
import { AppName, LinkHost, Opening, StartOf } from '../../contract/telegram.ts'
import { Warnings } from '../../contract/warnings.ts'
import { Goal } from '../event-settings/api.ts'

/** The fields for which a traffic source may use its own parameter names. */
export const SOURCE_FIELDS = ['ref_id', ...SUBS] as const

const Parameter = z
  .string()
  .trim()
  .regex(/^[^\s&=#]{1,100}$/, { message: 'must be the name of a query parameter' })
  .refine(...FAITHFUL)

type Field = (typeof SOURCE_FIELDS)[number]

/** Pairs of fields that the same parameter would fill: `[field, taker]`. A field's own name always fills that field. */
function fieldsFilledTwice(source: { readonly [F in Field]?: string | null | undefined }): [Field, Field][] {
  const takers = new Map<string, Field>()
  const twice: [Field, Field][] = []
  for (const field of SOURCE_FIELDS) {
    const name = source[field]
    if (name == null) continue
    const taker = takers.get(name) ?? SOURCE_FIELDS.find(other => other === name && other !== field)
    if (taker !== undefined) twice.push([field, taker])
    takers.set(name, field)
  }
  return twice
}

const Source = z
  .object({
    ref_id: z.string(),
    ...eachSub(() => z.string()),
    template: z
      .string()
      .meta({ description: 'The template whose macros fill the link while the campaign has no traffic source' }),
  })
  .partial()

/** The templates that campaigns could name before organizations had their own traffic sources. */
const OLD_TEMPLATES = ['meta', 'tiktok', 'google', 'propellerads', 'richads', 'mgid', 'taboola', 'exoclick'] as const

const SourceDraft = z
  .strictObject({
    ref_id: Parameter.nullish(),
    ...eachSub(() => Parameter.nullish()),
    template: z.enum(OLD_TEMPLATES).nullish().meta({ description: 'Replaced by traffic_source_id', deprecated: true }),
  })
  .superRefine((source, context) => {
    for (const [field, taker] of fieldsFilledTwice(source))
      context.addIssue({
        code: 'custom',
        path: [field],
        message: `"${source[field]}" fills ${taker} already: a parameter fills one field`,
      })
  })
  .meta({
    description: 'By field: the query parameter that fills it, if the traffic source uses its own names',
  })

export const CAMPAIGN_STATUSES = ['active', 'paused', 'archived'] as const
export type CampaignStatus = (typeof CAMPAIGN_STATUSES)[number]
const CampaignStatus = z.enum(CAMPAIGN_STATUSES)

const opened = { open: Opening, link_host: LinkHost }

export const Destination = z.discriminatedUnion('type', [
  z.object({ type: z.literal('redirect'), url: z.string() }),
  z.object({ type: z.literal('offer'), offer_id: Id }),
  z.object({ type: z.literal('funnel'), funnel_id: Id }),
  z.object({ type: z.literal('click_flow'), click_flow_id: Id }),
  z.object({ type: z.literal('bot'), bot_id: Id, start: z.string().nullable(), ...opened }),
  z.object({
    type: z.literal('mini_app'),
    bot_id: Id,
    app: z.string().nullable(),
    start: z.string().nullable(),
    ...opened,
  }),
  z.object({ type: z.literal('channel'), channel_id: Id, ...opened }),
])

const openedAs = { open: Opening.nullish(), link_host: LinkHost.nullish() }

const DestinationDraft = z.discriminatedUnion('type', [
  z.object({ type: z.literal('redirect'), url: Address }),
  z
    .object({ type: z.literal('offer'), offer_id: Id })
    .meta({ description: "The offer's address at the time of each click; clicks are credited to the offer" }),
  z.object({ type: z.literal('funnel'), funnel_id: Id }),
  z.object({ type: z.literal('click_flow'), click_flow_id: Id }),
  z
    .object({ type: z.literal('bot'), bot_id: Id, start: StartOf('bot').nullish(), ...openedAs })
    .meta({ description: 'A Telegram bot, started with the click id' }),
  z
    .object({
      type: z.literal('mini_app'),
      bot_id: Id,
      app: AppName.nullish(),
      start: StartOf('mini_app').nullish(),
      ...openedAs,
    })
    .meta({ description: 'A Mini App of a Telegram bot, opened with the click id' }),
  z
    .object({ type: z.literal('channel'), channel_id: Id, ...openedAs })
    .meta({ description: 'A Telegram channel or group: each click gets its own invite link' }),
])

const Key = z
  .string()
  .regex(/^[a-z0-9-]{3,64}$/, { message: 'must be 3 to 64 of a-z, 0-9 and -' })
  .meta({ description: 'The last part of the campaign link; never changes' })

export const Campaign = z
  .object({
    id: Id,
    name: z.string(),
    key: z.string(),
    url: z.string().meta({
      description: 'The campaign link on its domain. Without a domain and without BASE_URL it is only a path',
    }),
    filled_url: z
      .string()
      .meta({ description: 'The campaign link with the macros of its traffic source, for the ads' }),
    destination: Destination,
    offer_id: Id.nullable(),
    fallback_url: z.string().nullable(),
    unknown_macros: UnknownMacros,
    ad_account_id: Id.nullable(),
    traffic_source_id: Id.nullable(),
    domain_id: Id.nullable().meta({ description: 'null: the default domain of the organization, or else BASE_URL' }),
    source: Source,
    strict_filter: z.boolean(),
    cost: CampaignCost,
    goal: z.array(EventType).nullable().meta({
      description: 'null: the goal of the workspace, or else the types that its offers pay for',
    }),
    sites: z.array(z.string()),
    browser_types: z.array(BrowserType),
    status: CampaignStatus,
    created_at: Instant,
    ...LABELS,
    updated_at: Instant,
  })
  .meta({ id: 'Campaign' })
export type Campaign = z.output<typeof Campaign>

/** A campaign with its warnings. */
const WrittenCampaign = Campaign.extend({ warnings: Warnings }).meta({ id: 'WrittenCampaign' })

export const CampaignDraft = z.object({
  name: Name(),
  key: Key.nullish(),
  destination: DestinationDraft,
  offer_id: Id.nullish().meta({ description: 'The offer whose payout is used for conversions without one' }),
  fallback_url: Address.nullish().meta({ description: 'Where visitors go while the destination is not available' }),
  ad_account_id: Id.nullish().meta({
    description: 'The ad account that conversions are reported to; without one it is chosen by the click id',
  }),
  traffic_source_id: Id.nullish().meta({
    description: 'The traffic source: its parameter names are read, and its macros fill the link',
  }),
  domain_id: Id.nullish().meta({
    description: 'The domain of the link, which works on every domain of the organization. API keys cannot change it',
  }),
  source: SourceDraft.nullish(),
  strict_filter: z.boolean().nullish().meta({ description: 'Also exclude generic HTTP libraries from the counts' }),
  cost: CampaignCostDraft.nullish(),
  goal: Goal.nullish().meta({
    description:
      'The event types that CR and CPA count; null: those of the workspace, or else those that its offers pay for',
  }),
  sites: Sites.nullish(),
  browser_types: BrowserTypes.nullish(),
})
export type CampaignDraft = z.output<typeof CampaignDraft>

const CampaignChanges = CampaignDraft.partial()

const filters = {
  tag_id: TagFilter,
  traffic_source_id: Id.optional(),
  q: Search.meta({ description: 'Part of the name or key' }),
  offer_id: Id.optional(),
  funnel_id: Id.optional(),
  domain_id: Id.optional().meta({ description: 'Campaigns whose link uses this domain' }),
  status: z
    .enum([...CAMPAIGN_STATUSES, 'all'])
    .optional()
    .meta({ description: 'Without it: active and paused campaigns' }),
}

export const listCampaigns = endpoint({
  route: 'GET /api/campaigns',
  access: { session: 'member' },
  summary: 'List campaigns, newest first',
  query: z.object({ ...paging, ...filters }),
  reply: Page(Campaign),
})

export const exportCampaigns = endpoint({
  ...pickedFile(filters),
  route: 'POST /api/campaigns/csv',
  summary: 'Save campaigns as a CSV file',
})

export const readCampaign = endpoint({
  route: 'GET /api/campaigns/:id',
  access: { session: 'member' },
  summary: 'Read a campaign',
  reply: WrittenCampaign,
  refuses: ['object_not_found'],
})

export const readCampaignLink = endpoint({
  route: 'GET /api/campaigns/:id/link',
  access: { session: 'member' },
  summary: 'Read the campaign link with the macros of its traffic source',
  description:
    'Macros are not percent-encoded, so that the source recognizes them. If a macro contains a #, the link works only after the source has filled it, because a browser does not send the part after a #.',
  reply: z.object({
    url: z.string().meta({
      description: 'Only a path if BASE_URL is not set and the request did not come to an address of this machine',
    }),
    parameters: z.array(z.object({ field: z.string(), parameter: z.string(), macro: z.string() })),
    traffic_source: z.object({ id: Id, name: z.string() }).nullable(),
    has_fragment: z.boolean().meta({ description: 'Whether a macro contains a #' }),
  }),
  refuses: ['object_not_found'],
})

export const createCampaign = endpoint({
  route: 'POST /api/campaigns',
  access: { session: 'admin', key: 'campaigns' },
  history: 'campaign',
  summary: 'Create a campaign',
  description: 'A key restricted to campaigns can create one, but it is not added to the key’s campaigns.',
  body: CampaignDraft.extend({
    left_out_of: Id.nullish().meta({
      description: 'The campaign whose left-out values it takes along, for a copy of it. API keys cannot send it',
    }),
  }),
  reply: WrittenCampaign,
  status: 201,
  ...REPEATABLE,
  refuses: ['already_exists', 'invalid_request', 'api_key_resource_forbidden'],
})

export const updateCampaign = endpoint({
  route: 'PATCH /api/campaigns/:id',
  access: { session: 'admin', key: 'campaigns:update' },
  history: 'campaign',
  summary: 'Change a campaign',
  description: 'Fields that are not sent do not change; null clears an optional field. Equal values change nothing.',
  body: CampaignChanges,
  reply: WrittenCampaign,
  receipt: ['status'],
  refuses: ['object_not_found', 'campaign_scope_forbidden', 'invalid_request', 'api_key_resource_forbidden'],
})

export const setCampaignStatus = endpoint({
  route: 'PUT /api/campaigns/:id/status',
  access: { session: 'admin' },
  history: 'campaign',
  summary: 'Pause, archive or activate a campaign',
  description:
    'Visitors of a paused or archived campaign go to its fallback; without one they see a page that says the offer is closed. Their clicks are stored with tracked=false and counted separately. Conversions of earlier clicks still count. It applies from the answer on.',
  body: z.object({ status: CampaignStatus }),
  reply: Campaign,
  refuses: ['object_not_found'],
})

export const deleteCampaign = endpoint({
  route: 'DELETE /api/campaigns/:id',
  access: { session: 'admin', key: 'campaigns:delete' },
  history: 'campaign',
  summary: 'Delete a campaign',
  description:
    'Its link then redirects to the fallback, or answers 404 without one, and records no clicks. Its reports stay, and late conversions still count. Its key is never used again. People can delete only archived campaigns.',
  reply: DeletedFromTraffic,
  refuses: ['object_not_found', 'campaign_scope_forbidden', 'campaign_not_archived'],
})

/** Names for rows that outlive their campaigns, such as clicks and spend. */
export const NamedCampaigns = z
  .array(z.object({ id: Id, name: z.string(), is_deleted: z.boolean() }))
  .meta({ description: 'The campaigns of the rows, including deleted ones' })
export type NamedCampaigns = z.output<typeof NamedCampaigns>

const MOST_IDS = 200

export const nameCampaigns = endpoint({
  route: 'GET /api/campaigns/names',
  access: { session: 'member' },
  summary: 'Read the names of campaigns, including deleted ones',
  description: 'For rows that outlive their campaigns, such as spend. Ids outside the workspace are left out.',
  query: z.object({
    ids: z
      .string()
      .transform(sent => sent.split(','))
      .pipe(z.array(Id).max(MOST_IDS))
      .meta({ description: `Ids separated by commas, at most ${MOST_IDS}` }),
  }),
  reply: z.object({ data: NamedCampaigns }),
})

export const setCampaignTags = tagsEndpoint('PUT /api/campaigns/:id/tags', 'campaign', 'a campaign')
export const setCampaignNote = noteEndpoint('PUT /api/campaigns/:id/note', 'campaign', 'a campaign')
