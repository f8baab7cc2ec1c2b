/** Networks over HTTP: the affiliate networks that report conversions by postback, and how their postbacks are read. */
import { z } from 'zod'
import { Currency } from '../../contract/currencies.ts'
import { endpoint } from '../../contract/endpoint.ts'
import { EVENT_TYPES, EventType } from '../../contract/event-types.ts'
import { Done, FAITHFUL, Id, Instant, Money, Name, Page } from '../../contract/fields.ts'
import { LABELS, noteEndpoint, TagFilter, tagsEndpoint } from '../../contract/labels.ts'
import { paging } from '../../contract/paging.ts'
import { EVENT_STATUSES, VERDICTS } from '../../contract/revisions.ts'
import { isSecretName } from '../../contract/secret-names.ts'

/** The fields of a postback. Each is read from the first of its parameters that was sent. */
export const FIELDS = ['click_id', 'payout', 'transaction_id', 'status', 'currency', 'telegram_user_id'] as const
export type Field = (typeof FIELDS)[number]

const ParameterName = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^[\w.[\]-]{1,64}$/, { message: 'must be a parameter name of 1 to 64 letters, digits and _ . - [ ]' })
  // Values of secret names are never stored, so a stored call could not be run again.
  .refine(name => !isSecretName(name), { message: 'must not be named like a secret' })

const Names = z.array(ParameterName).max(30)

export const ParameterMap = z
  .object({
    click_id: Names.min(1, { message: 'name at least one parameter' }),
    payout: Names,
    transaction_id: Names,
    status: Names,
    currency: Names,
    telegram_user_id: Names,
  })
  .meta({ description: 'The parameters each field is read from; the first one is used in the postback URL' })
export type ParameterMap = z.output<typeof ParameterMap>

const NetworkStatus = z
  .string()
  .trim()
  .toLowerCase()
  .min(1)
  .max(64)
  .refine(...FAITHFUL)

/** Prefix of an event type: record the conversion if it is new, and hold it. */
export const HELD = 'pend:'
/** In place of an event type: the type that the click's offer pays on. */
export const BY_OFFER = 'offer'

const Meaning = z.enum([
  ...EVENT_TYPES,
  BY_OFFER,
  ...(Object.keys(VERDICTS) as [keyof typeof VERDICTS]),
  ...EVENT_TYPES.map(type => `${HELD}${type}` as const),
  `${HELD}${BY_OFFER}`,
])
export type StatusMeaning = z.output<typeof Meaning>

export const StatusMap = z
  .record(NetworkStatus, Meaning.nullable())
  .refine(map => Object.keys(map).length <= 100, { message: 'must hold at most 100 statuses' })
  .meta({
    description:
      'Maps the network’s status, in any case, to an event type. offer is the type that the click’s offer pays on, or purchase if it names none. ' +
      'pend:type and pend:offer are recorded on hold. !approve, !pend, !reject, !refund and !chargeback change ' +
      'the recorded conversion. null records nothing. parameter=status maps a status of that parameter alone.',
  })
export type StatusMap = z.output<typeof StatusMap>

/** The names of the network templates on screens; templates.ts has their contents. */
export const TEMPLATE_LABELS = {
  keitaro: {
    name: 'Keitaro style',
    words: 'Networks with a Keitaro template: subid, status, payout, tid. Sales are paid, leads are not.',
  },
  everflow: {
    name: 'Everflow style',
    words: 'Everflow’s partner postback: sub1 holds the click id, event_name holds the event.',
  },
  affise: {
    name: 'Affise style',
    words: 'Affise and its platforms: sub1 holds the click id, status 1 is approved, and the goal names the event.',
  },
  tune: { name: 'TUNE style', words: 'TUNE (HasOffers) and its platforms: aff_sub holds the click id.' },
  plain: { name: 'Plain', words: 'Any other network: plain parameter names, for the network’s own macros.' },
} as const
export const TEMPLATE_NAMES = Object.keys(TEMPLATE_LABELS) as [keyof typeof TEMPLATE_LABELS]
const TemplateName = z.enum(TEMPLATE_NAMES)
export type TemplateName = z.output<typeof TemplateName>

/** In place of a currency code: each postback must name its currency. */
export const FROM_CALL = 'from_call'

const NetworkCurrency = z
  .union([z.literal(FROM_CALL), Currency])
  .meta({ description: 'Currency of postbacks that name none; from_call: a postback with a payout must name one' })
const Convert = z.boolean().meta({
  description:
    'Whether a payout in another currency is converted to US dollars at the rate of the day; false: it is refused',
})

const Amend = z.boolean().meta({
  description:
    'Whether a later paid status with another payout, or after a rejection, updates the conversion; false: it is kept as differs_from_recorded',
})
const HoldDays = z.number().int().min(1).max(365).nullable().meta({
  description:
    'Days after which a conversion put on hold from now on is approved, unless its status changes before; null: never',
})

const RANGE = /^[0-9a-f:.]{2,45}(\/\d{1,3})?$/i
const IpList = z
  .array(z.string().trim().regex(RANGE, { message: 'must be an address or a range such as 203.0.113.0/24' }))
  .max(100)
  .meta({ description: 'IP addresses and ranges that may send postbacks; empty: any' })

export const Network = z
  .object({
    id: Id,
    name: z.string(),
    template: TemplateName,
    parameters: ParameterMap,
    statuses: StatusMap,
    default_type: EventType.nullable().meta({
      description:
        'Type of a postback without a status. If the click’s offer pays on other types, one of those is recorded instead. null: the postback is refused',
    }),
    unpaid_types: z
      .array(EventType)
      .meta({ description: 'Types reported before they are paid: recorded with a payout of 0' }),
    currency: z.string().meta({ description: 'Currency of postbacks that name none; from_call: each must name one' }),
    convert: Convert,
    amend: Amend,
    hold_days: HoldDays,
    ips: z.array(z.string()),
    active: z.boolean(),
    postback_url: z.string().meta({
      description:
        'The URL to enter at the network, with its macros. Anyone who knows the token can record conversions, so members see ******** in its place.',
    }),
    token_withheld: z.boolean().meta({ description: 'The reader is a member: the URL hides its token' }),
    offer_parameter: z
      .string()
      .meta({ description: 'Parameter to add to the offer’s URL, so that the network sends the click id back' }),
    waiting: z.number().int().meta({ description: 'Postbacks that are stored to be run later' }),
    last_received_at: Instant.nullable(),
    created_at: Instant,
    ...LABELS,
    updated_at: Instant,
  })
  .meta({ id: 'Network' })
export type Network = z.output<typeof Network>

export const NetworkDraft = z.object({
  name: Name(),
  template: TemplateName,
  currency: NetworkCurrency.nullish().meta({
    description:
      'Currency of postbacks that name none; US dollars if left out. With another currency or from_call the network converts',
  }),
})

export const NetworkChanges = z
  .object({
    name: Name().optional(),
    parameters: ParameterMap.optional(),
    statuses: StatusMap.optional(),
    default_type: EventType.nullable().optional(),
    unpaid_types: z.array(EventType).max(EVENT_TYPES.length).optional(),
    currency: NetworkCurrency.optional(),
    convert: Convert.optional(),
    amend: Amend.optional(),
    hold_days: HoldDays.optional(),
    ips: IpList.optional(),
    active: z.boolean().optional(),
  })
  .meta({ id: 'NetworkChanges' })
export type NetworkChanges = z.output<typeof NetworkChanges>

export const listNetworks = endpoint({
  route: 'GET /api/networks',
  access: { session: 'member' },
  summary: 'List networks, newest first',
  description: 'Owners and admins see the postback URLs with their tokens, members without.',
  query: z.object({ ...paging, tag_id: TagFilter }),
  reply: Page(Network),
})

export const readNetwork = endpoint({
  route: 'GET /api/networks/:id',
  access: { session: 'member' },
  summary: 'Read a network with its postback URL',
  description: 'Owners and admins see the postback URL with its token, members without.',
  reply: Network,
  refuses: ['object_not_found'],
})

export const createNetwork = endpoint({
  route: 'POST /api/networks',
  access: { session: 'admin' },
  history: 'network',
  summary: 'Create a network from a template',
  description: 'Copies the parameters and statuses of the template; both can be changed afterwards.',
  body: NetworkDraft,
  reply: Network,
  status: 201,
})

export const updateNetwork = endpoint({
  route: 'PATCH /api/networks/:id',
  access: { session: 'admin' },
  history: 'network',
  summary: 'Change a network',
  body: NetworkChanges,
  reply: Network,
  refuses: ['object_not_found'],
})

export const tryNetworkCall = endpoint({
  route: 'POST /api/networks/:id/try',
  access: { session: 'member' },
  reads: true,
  summary: 'Test how a network’s postback is read',
  description:
    'Nothing is recorded. Maps in the request replace the saved ones, so that changes can be tested before they are saved.',
  body: z.object({
    call: z
      .string()
      .trim()
      .min(1)
      .max(8000)
      .meta({ description: 'The URL a network called, its query, or the body it sent' }),
    parameters: ParameterMap.optional(),
    statuses: StatusMap.optional(),
    default_type: EventType.nullable().optional(),
    unpaid_types: z.array(EventType).max(EVENT_TYPES.length).optional(),
  }),
  reply: z.object({
    reads_as: z
      .object({
        click_id: Id,
        transaction_id: z.string().nullable(),
        type: EventType.nullable().meta({ description: 'null: it changes the recorded conversion' }),
        by_offer: z.boolean().meta({
          description:
            'The postback names no event: if the click’s offer pays on other types than `type`, one of those is recorded',
        }),
        verdict: z.enum(EVENT_STATUSES).nullable().meta({
          description: 'The status it sets; pending with a type: recorded on hold; null: recorded as approved',
        }),
        payout: Money.nullable().meta({ description: 'In `currency`; null: the offer’s payout, or the recorded one' }),
        currency: z.string().nullable(),
      })
      .nullable(),
    error: z.string().nullable().meta({ description: 'Why it would be refused' }),
  }),
  refuses: ['object_not_found'],
})

export const deleteNetwork = endpoint({
  route: 'DELETE /api/networks/:id',
  access: { session: 'admin' },
  history: 'network',
  summary: 'Delete a network',
  description: 'Its postback URL stops working. Its conversions stay, and stored postbacks are still run.',
  reply: Done,
  refuses: ['object_not_found'],
})

export const rotateNetworkToken = endpoint({
  route: 'POST /api/networks/:id/rotate',
  access: { session: 'admin' },
  history: 'network',
  summary: 'Give a network a new postback URL',
  description:
    'The old URL works for overlap_hours more (24 if left out), so that it can be replaced without a gap; 0 ends it at once.',
  body: z.object({ overlap_hours: z.number().int().min(0).max(168).optional() }),
  reply: Network,
  refuses: ['object_not_found'],
})

const postback = {
  access: 'anyone',
  summary: 'Report a conversion as an affiliate network',
  description:
    'Reads the parameters of the network’s map from the query and, with POST, from a form or a JSON object. Answers short plain text.',
  visit: true,
  hosts: 'any',
  answers: {
    200: {
      words: 'Recorded, stored to be run later, or not recorded and why. Sending it again would not change that',
      type: 'text/plain',
    },
    403: { words: 'The caller’s IP address is not allowed', type: 'text/plain' },
    404: { words: 'The token is unknown or has expired', type: 'text/plain' },
    409: { words: 'The organization is deleted', type: 'text/plain' },
    503: { words: 'Nothing can be stored now: send it again', type: 'text/plain', headers: ['Retry-After'] },
  },
} as const

export const receivePostback = endpoint({ route: 'GET /postback/:token', ...postback })
export const receivePostbackByPost = endpoint({
  route: 'POST /postback/:token',
  ...postback,
  history: { none: 'intake' },
  takesRaw: true,
})

export const setNetworkTags = tagsEndpoint('PUT /api/networks/:id/tags', 'network', 'a network')
export const setNetworkNote = noteEndpoint('PUT /api/networks/:id/note', 'network', 'a network')
