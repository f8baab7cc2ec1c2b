/** Networks over HTTP: who may report conversions by calling an address, and how their words are read. */
import { z } from 'zod'
import { Currency } from '../../contract/currencies.ts'
import { endpoint } from '../../contract/endpoint.ts'
import { EVENT_TYPES, EventType } from '../../contract/event-types.ts'
import { Done, FAITHFUL, Id, Instant, Money, Name, Page } from '../../contract/fields.ts'
import { paging } from '../../contract/paging.ts'
import { EVENT_STATUSES, VERDICTS } from '../../contract/revisions.ts'
import { isSecretName } from '../../contract/secret-names.ts'

/** What a call may tell, each read from the first of its parameters that was sent. */
export const FIELDS = ['click_id', 'payout', 'transaction_id', 'status', 'currency', 'telegram_user_id'] as const
export type Field = (typeof FIELDS)[number]

const ParameterName = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^[\w.[\]-]{1,64}$/, { message: 'must be a parameter name of 1 to 64 letters, digits and _ . - [ ]' })
  // Their values are never stored, so a call could not be run again.
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
  .meta({ description: 'For each field the parameters it is read from; the first one stands in the postback address' })
export type ParameterMap = z.output<typeof ParameterMap>

const Word = z
  .string()
  .trim()
  .toLowerCase()
  .min(1)
  .max(64)
  .refine(...FAITHFUL)

/** Before an event type: recorded where it is not, and held. */
export const HELD = 'pend:'
/** In place of an event type: the one that the click's offer pays for. */
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
  .record(Word, Meaning.nullable())
  .refine(map => Object.keys(map).length <= 100, { message: 'must hold at most 100 statuses' })
  .meta({
    description:
      'From the network’s word, in any case, to an event type; offer is the type that the click’s offer pays for, purchase where it names none; ' +
      'pend:type and pend:offer are recorded and held; !approve, !pend, !reject, !refund and !chargeback are ' +
      'verdicts on the conversion that is recorded; null: recorded as nothing. parameter=word is for that parameter alone.',
  })
export type StatusMap = z.output<typeof StatusMap>

/** The families of networks there are templates for, in the words people read; what each holds is in templates.ts. */
export const TEMPLATE_LABELS = {
  keitaro: {
    name: 'Keitaro style',
    words: 'Networks with a Keitaro template: subid, status, payout, tid. A lead is not paid yet, a sale is.',
  },
  everflow: {
    name: 'Everflow style',
    words: 'Everflow’s partner postback: the click id travels in sub1, events come by their name.',
  },
  affise: {
    name: 'Affise style',
    words:
      'Affise and its platforms: the click id travels in sub1; status 1 is approved, and the goal says what happened.',
  },
  tune: { name: 'TUNE style', words: 'TUNE (HasOffers) and its platforms: the click id travels in aff_sub.' },
  plain: { name: 'Plain', words: 'Any other network: plain names, to be filled with the network’s own macros.' },
} as const
export const TEMPLATE_NAMES = Object.keys(TEMPLATE_LABELS) as [keyof typeof TEMPLATE_LABELS]
const TemplateName = z.enum(TEMPLATE_NAMES)
export type TemplateName = z.output<typeof TemplateName>

/** In place of a currency's code: each call has to name its own. */
export const FROM_CALL = 'from_call'

const NetworkCurrency = z
  .union([z.literal(FROM_CALL), Currency])
  .meta({ description: 'What a call is in that names no currency; from_call: a call with a payout must name one' })
const Convert = z.boolean().meta({
  description:
    'Whether a payout in another currency is turned into US dollars by the rate of the day; false: it is refused',
})

const Amend = z.boolean().meta({
  description:
    'Whether a later paid word with another amount, or after a refusal, changes the conversion; false: it is kept as differing',
})
const HoldDays = z.number().int().min(1).max(365).nullable().meta({
  description:
    'After so many days what is put on hold from then on is approved, unless something else is said; null: never',
})

const RANGE = /^[0-9a-f:.]{2,45}(\/\d{1,3})?$/i
const IpList = z
  .array(z.string().trim().regex(RANGE, { message: 'must be an address or a range such as 203.0.113.0/24' }))
  .max(100)
  .meta({ description: 'Addresses and ranges calls may come from; empty: any' })

export const Network = z
  .object({
    id: Id,
    name: z.string(),
    template: TemplateName,
    parameters: ParameterMap,
    statuses: StatusMap,
    default_type: EventType.nullable().meta({
      description:
        'What a call without a status stands for, unless the click’s offer names the types it pays for and this is none of them; null: it is refused',
    }),
    unpaid_types: z
      .array(EventType)
      .meta({ description: 'Reported before they are paid: recorded with a payout of 0' }),
    currency: z.string().meta({ description: 'What a call is in that names no currency; from_call: it must name one' }),
    convert: Convert,
    amend: Amend,
    hold_days: HoldDays,
    ips: z.array(z.string()),
    active: z.boolean(),
    postback_url: z.string().meta({
      description:
        'The address to enter at the network, its macros in place. Whoever knows its token can record conversions, so members read it with ******** instead.',
    }),
    token_withheld: z.boolean().meta({ description: 'The reader is a member: the address stands without its token' }),
    offer_parameter: z
      .string()
      .meta({ description: 'What to add to the offer’s address, so that the click id comes back' }),
    waiting: z.number().int().meta({ description: 'Calls that are stored and run later' }),
    last_received_at: Instant.nullable(),
    created_at: Instant,
    updated_at: Instant,
  })
  .meta({ id: 'Network' })
export type Network = z.output<typeof Network>

export const NetworkDraft = z.object({
  name: Name(),
  template: TemplateName,
  currency: NetworkCurrency.nullish().meta({
    description:
      'What a call is in that names no currency, US dollars unless sent; with another, or from_call, the network converts',
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
  description: 'Owners and admins read the addresses with their tokens, members without them.',
  query: z.object(paging),
  reply: Page(Network),
})

export const readNetwork = endpoint({
  route: 'GET /api/networks/:id',
  access: { session: 'member' },
  summary: 'Read a network with its postback address',
  description: 'Owners and admins read the address with its token, members without it.',
  reply: Network,
  refuses: ['object_not_found'],
})

export const createNetwork = endpoint({
  route: 'POST /api/networks',
  access: { session: 'admin' },
  summary: 'Create a network from a template',
  description: 'Its parameters and statuses are those of the template, and can be changed afterwards.',
  body: NetworkDraft,
  reply: Network,
  status: 201,
})

export const updateNetwork = endpoint({
  route: 'PATCH /api/networks/:id',
  access: { session: 'admin' },
  summary: 'Change a network',
  body: NetworkChanges,
  reply: Network,
  refuses: ['object_not_found'],
})

export const tryNetworkCall = endpoint({
  route: 'POST /api/networks/:id/try',
  access: { session: 'member' },
  summary: 'Read a call as the network’s maps read it, and say what it would do',
  description:
    'Nothing is recorded. Maps that are sent are taken in place of the saved ones, to be tried before they are saved.',
  body: z.object({
    call: z
      .string()
      .trim()
      .min(1)
      .max(8000)
      .meta({ description: 'The address a network called, its query, or the body it sent' }),
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
        type: EventType.nullable().meta({ description: 'null: it is a verdict on what is recorded' }),
        by_offer: z.boolean().meta({
          description:
            'The call names no event: where the click’s offer pays for other types than `type`, it is one of those',
        }),
        verdict: z.enum(EVENT_STATUSES).nullable().meta({
          description: 'What it says of a conversion; pending beside a type: recorded and held; null: recorded',
        }),
        payout: Money.nullable().meta({ description: 'In `currency`; null: the offer’s, or what was recorded' }),
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
  summary: 'Delete a network',
  description: 'Its address is unknown from then on. What it has reported stays; calls that still wait are run.',
  reply: Done,
  refuses: ['object_not_found'],
})

export const rotateNetworkToken = endpoint({
  route: 'POST /api/networks/:id/rotate',
  access: { session: 'admin' },
  summary: 'Give a network a new address',
  description:
    'The old one works for as many hours as are given, so that the network can be changed without a gap; 0 ends it at once.',
  body: z.object({ overlap_hours: z.number().int().min(0).max(168).optional() }),
  reply: Network,
  refuses: ['object_not_found'],
})

const described = {
  access: 'anyone',
  summary: 'What affiliate networks call to report a conversion',
  description:
    'Reads the parameters that the network’s map names, from the query and, with POST, from a form or a JSON object. Answers short plain text.',
  visit: true,
  hosts: 'any',
  answers: {
    200: {
      words: 'Recorded, stored to be run later, or not recorded and why: sending again would not change it',
      type: 'text/plain',
    },
    403: { words: 'The caller is not on the IP list', type: 'text/plain' },
    404: { words: 'There is no such address, or its time is over', type: 'text/plain' },
    409: { words: 'The organization is deleted', type: 'text/plain' },
    503: { words: 'Nothing can be stored: send it again', type: 'text/plain', headers: ['Retry-After'] },
  },
} as const

export const receivePostback = endpoint({ route: 'GET /postback/:token', ...described })
export const receivePostbackByPost = endpoint({ route: 'POST /postback/:token', ...described, takesRaw: true })
