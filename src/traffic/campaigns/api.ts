/** Campaigns over HTTP: the addresses traffic is sent to, and where it goes from there. */
import { z } from 'zod'
import { Address, UnknownMacros } from '../../contract/address.ts'
import { CampaignCost, CampaignCostDraft } from '../../contract/campaign-cost.ts'
import { DeletedFromTraffic } from '../../contract/consequences.ts'
import { endpoint } from '../../contract/endpoint.ts'
import { eachSub, FAITHFUL, Id, Instant, Name, Page, SUBS } from '../../contract/fields.ts'
import { EventType } from '../../contract/event-types.ts'
import { paging, Search } from '../../contract/paging.ts'
import { AppName, LinkHost, Opening, StartOf } from '../../contract/telegram.ts'
import { Warnings } from '../../contract/warnings.ts'
import { Goal } from '../event-settings/api.ts'

/** The query parameters a traffic source fills differently: our name, and the name it arrives under. */
export const SOURCE_FIELDS = ['ref_id', ...SUBS] as const

const Parameter = z
  .string()
  .trim()
  .regex(/^[^\s&=#]{1,100}$/, { message: 'must be the name of a query parameter' })
  .refine(...FAITHFUL)

type Field = (typeof SOURCE_FIELDS)[number]

/** Fields whose incoming name fills another field too: one named before it, or the one whose own name it is, which is always read. */
function takenTwice(source: { readonly [F in Field]?: string | null | undefined }): [Field, Field][] {
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
      .meta({ description: 'Whose macros fill the address for the ads while no traffic source is named' }),
  })
  .partial()

/** Those that campaigns named before there were traffic sources of the organization's own. */
const OLD_TEMPLATES = ['meta', 'tiktok', 'google', 'propellerads', 'richads', 'mgid', 'taboola', 'exoclick'] as const

const SourceDraft = z
  .strictObject({
    ref_id: Parameter.nullish(),
    ...eachSub(() => Parameter.nullish()),
    template: z
      .enum(OLD_TEMPLATES)
      .nullish()
      .meta({ description: 'Of before traffic_source_id, which takes its place', deprecated: true }),
  })
  .superRefine((source, context) => {
    for (const [field, taker] of takenTwice(source))
      context.addIssue({
        code: 'custom',
        path: [field],
        message: `"${source[field]}" fills ${taker} already: an incoming name fills one field`,
      })
  })
  .meta({
    description: 'Which incoming query parameter fills which field, where the traffic source uses names of its own',
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
    .meta({ description: "The offer's address, as it is at each click; clicks earn for it" }),
  z.object({ type: z.literal('funnel'), funnel_id: Id }),
  z.object({ type: z.literal('click_flow'), click_flow_id: Id }),
  z
    .object({ type: z.literal('bot'), bot_id: Id, start: StartOf('bot').nullish(), ...openedAs })
    .meta({ description: 'A Telegram bot, started with the click id; clicks are bound to the bot' }),
  z
    .object({
      type: z.literal('mini_app'),
      bot_id: Id,
      app: AppName.nullish(),
      start: StartOf('mini_app').nullish(),
      ...openedAs,
    })
    .meta({ description: 'A Mini App of a Telegram bot, opened with the click id; clicks are bound to the bot' }),
  z
    .object({ type: z.literal('channel'), channel_id: Id, ...openedAs })
    .meta({ description: 'A Telegram channel or group: each click gets an invite link of its own' }),
])

const Key = z
  .string()
  .regex(/^[a-z0-9-]{3,64}$/, { message: 'must be 3 to 64 of a-z, 0-9 and -' })
  .meta({ description: 'The part of the public address that names the campaign; never changes' })

export const Campaign = z
  .object({
    id: Id,
    name: z.string(),
    key: z.string(),
    url: z.string().meta({
      description:
        'The public address that traffic is sent to, on its domain; without one a path alone while BASE_URL is not set',
    }),
    filled_url: z
      .string()
      .meta({ description: 'The same with the macros of its traffic source, to be entered in the ads' }),
    destination: Destination,
    offer_id: Id.nullable(),
    fallback_url: z.string().nullable(),
    unknown_macros: UnknownMacros,
    ad_account_id: Id.nullable(),
    traffic_source_id: Id.nullable(),
    domain_id: Id.nullable().meta({ description: 'null: the default domain of the organization, else BASE_URL' }),
    source: Source,
    strict_filter: z.boolean(),
    cost: CampaignCost,
    goal: z.array(EventType).nullable().meta({
      description:
        'null: none is chosen. Then the goal of the workspace counts, and without one what its offers pay for',
    }),
    status: CampaignStatus,
    created_at: Instant,
    updated_at: Instant,
  })
  .meta({ id: 'Campaign' })
export type Campaign = z.output<typeof Campaign>

/** A campaign with what is to be said of it. */
const WrittenCampaign = Campaign.extend({ warnings: Warnings }).meta({ id: 'WrittenCampaign' })

export const CampaignDraft = z.object({
  name: Name(),
  key: Key.nullish(),
  destination: DestinationDraft,
  offer_id: Id.nullish().meta({ description: 'The offer whose payout a conversion inherits' }),
  fallback_url: Address.nullish().meta({ description: 'Where visitors go while the destination cannot take them' }),
  ad_account_id: Id.nullish().meta({
    description: 'The ad account its conversions are reported to; without one the click id of the visitor decides',
  }),
  traffic_source_id: Id.nullish().meta({
    description:
      'The traffic source it gets its visitors from: by which names its clicks are read, and by which macros its link is filled',
  }),
  domain_id: Id.nullish().meta({
    description:
      'The domain its address is shown on; it opens on every domain of the organization. Only people change it',
  }),
  source: SourceDraft.nullish(),
  strict_filter: z.boolean().nullish().meta({ description: 'Also keep generic HTTP libraries out of the counts' }),
  cost: CampaignCostDraft.nullish(),
  goal: Goal.nullish().meta({
    description:
      'The types of events that are its conversion; null: those of the workspace, else those its offers pay for',
  }),
})
export type CampaignDraft = z.output<typeof CampaignDraft>

const CampaignChanges = CampaignDraft.partial()

export const listCampaigns = endpoint({
  route: 'GET /api/campaigns',
  access: { session: 'member' },
  summary: 'List campaigns, newest first',
  query: z.object({
    ...paging,
    q: Search.meta({ description: 'Part of the name or key' }),
    offer_id: Id.optional(),
    funnel_id: Id.optional(),
    domain_id: Id.optional().meta({ description: 'Those that name it' }),
    status: z
      .enum([...CAMPAIGN_STATUSES, 'all'])
      .optional()
      .meta({ description: 'Left out: active and paused ones' }),
  }),
  reply: Page(Campaign),
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
  summary: 'The address for the ads, filled by its traffic source',
  description:
    'Macros stand as the source replaces them, not percent-encoded. Where one holds a #, a browser takes what is behind it for a fragment: such a link works only once the source has filled it.',
  reply: z.object({
    url: z.string().meta({
      description: 'A path alone while BASE_URL is not set and the caller came by no address of this machine',
    }),
    parameters: z.array(z.object({ field: z.string(), parameter: z.string(), macro: z.string() })),
    traffic_source: z.object({ id: Id, name: z.string() }).nullable(),
    has_fragment: z.boolean().meta({ description: 'Whether a macro holds a #' }),
  }),
  refuses: ['object_not_found'],
})

export const createCampaign = endpoint({
  route: 'POST /api/campaigns',
  access: { session: 'admin', key: 'campaigns' },
  summary: 'Create a campaign',
  description: 'A key restricted to campaigns may create one; its list does not grow by it.',
  body: CampaignDraft,
  reply: WrittenCampaign,
  status: 201,
  refuses: ['already_exists', 'invalid_request', 'api_key_resource_forbidden'],
})

export const updateCampaign = endpoint({
  route: 'PATCH /api/campaigns/:id',
  access: { session: 'admin', key: 'campaigns:update' },
  summary: 'Change a campaign',
  description:
    'Fields that are not sent stay as they are; null clears a field that may be empty. What is equal already is left as it is.',
  body: CampaignChanges,
  reply: WrittenCampaign,
  receipt: ['status'],
  refuses: ['object_not_found', 'campaign_scope_forbidden', 'invalid_request', 'api_key_resource_forbidden'],
})

export const setCampaignStatus = endpoint({
  route: 'PUT /api/campaigns/:id/status',
  access: { session: 'admin' },
  summary: 'Pause or archive a campaign, or set it active again',
  description:
    'From the answer on visitors of a paused or archived campaign go to its fallback, and without one see a page that says the offer is closed. Their clicks are stored with tracked=false and counted apart. Conversions of earlier clicks count as ever.',
  body: z.object({ status: CampaignStatus }),
  reply: Campaign,
  refuses: ['object_not_found'],
})

export const deleteCampaign = endpoint({
  route: 'DELETE /api/campaigns/:id',
  access: { session: 'admin', key: 'campaigns:delete' },
  summary: 'Delete a campaign',
  description:
    'Its address redirects to the fallback from then on, without one it answers 404, and it records nothing; reports and late conversions go on. Its key is never given out again. In the dashboard only archived campaigns are deleted.',
  reply: DeletedFromTraffic,
  refuses: ['object_not_found', 'campaign_scope_forbidden', 'campaign_not_archived'],
})

/** What rows that outlive their campaigns are shown with. */
export const NamedCampaigns = z
  .array(z.object({ id: Id, name: z.string(), is_deleted: z.boolean() }))
  .meta({ description: 'The campaigns that the rows name, deleted ones too' })
export type NamedCampaigns = z.output<typeof NamedCampaigns>

const MOST_NAMED = 200

export const nameCampaigns = endpoint({
  route: 'GET /api/campaigns/names',
  access: { session: 'member' },
  summary: 'Name campaigns by their ids, deleted ones too',
  description:
    'For rows that outlive their campaigns, such as spend. An id that is none of the workspace’s is left out.',
  query: z.object({
    ids: z
      .string()
      .transform(sent => sent.split(','))
      .pipe(z.array(Id).max(MOST_NAMED))
      .meta({ description: `Ids with commas between them, ${MOST_NAMED} at most` }),
  }),
  reply: z.object({ data: NamedCampaigns }),
})
