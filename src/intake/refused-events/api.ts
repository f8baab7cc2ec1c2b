/** Refused intake over HTTP: what was not recorded, why, and running it again after a fix. No right covers it: a key is refused here. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { EventType } from '../../contract/event-types.ts'
import { Id, Instant, Money, Page } from '../../contract/fields.ts'
import { paging, Search } from '../../contract/paging.ts'
import { EVENT_STATUSES } from '../../contract/revisions.ts'

/** Who can mend it: the people of the workspace, whoever sent it, or nobody needs to. */
export type Fault = 'yours' | 'sender' | 'nobody'

/** Why a request was not recorded, as far as Sluice can tell: `words` name it, `advice` says what mends it. */
export const DIAGNOSES = {
  macro_not_replaced: {
    fault: 'sender',
    words: 'Macro not replaced',
    advice:
      'The sender sent a placeholder such as {click_id} as it is. Write the macro the way that network writes it.',
  },
  click_id_missing: {
    fault: 'sender',
    words: 'No click id',
    advice: 'The request holds no click id. Pass {click_id} on in the offer’s address, and have it sent back.',
  },
  click_id_truncated: {
    fault: 'sender',
    words: 'Click id cut short',
    advice: 'A click id has 26 characters. Use a parameter of the network that holds as many.',
  },
  click_id_malformed: {
    fault: 'sender',
    words: 'Not a click id',
    advice: 'What was sent is no id that Sluice makes. Look whether another macro stands in its place.',
  },
  click_unknown: {
    fault: 'sender',
    words: 'Unknown click',
    advice: 'No click has this id, and Sluice does not seem to have made it.',
  },
  click_other_organization: {
    fault: 'yours',
    words: 'Click of another workspace',
    advice:
      'The id was made by this installation, but not for this workspace. Look whether the key or address belongs to another one.',
  },
  click_not_stored: {
    fault: 'nobody',
    words: 'Click not stored',
    advice:
      'The id was made for this workspace, but its click is not stored: it is still on its way, its month is no longer kept, or nobody ever clicked with it. Run it again later.',
  },
  type_unknown: { fault: 'sender', words: 'Unknown type', advice: 'The type is none of the event types.' },
  status_unmapped: {
    fault: 'yours',
    words: 'Status without meaning',
    advice: 'The network sent a status its map does not name. Add it to the network’s statuses, then run it again.',
  },
  status_ignored: {
    fault: 'nobody',
    words: 'Ignored by your status map',
    advice:
      'The network’s status map ignores this status, as for rejected conversions, and no conversion of that transaction was recorded: nothing is.',
  },
  payout_invalid: {
    fault: 'sender',
    words: 'Bad payout',
    advice: 'A payout is a plain decimal from 0 to 1,000,000, such as 12.50.',
  },
  currency_not_usd: {
    fault: 'sender',
    words: 'Not in US dollars',
    advice: 'The network is set to US dollars only. Have it convert, then run it again, or have it send dollars.',
  },
  currency_missing: {
    fault: 'sender',
    words: 'No currency',
    advice: 'The network’s calls have to name their currency. Add its macro to the address, or say what they are in.',
  },
  rate_unknown: {
    fault: 'yours',
    words: 'No rate',
    advice:
      'No rate of the currency is known for the day it came. Set an own rate in Settings, Rates, or see what ails the sources there, then run it again: it takes the rate of that day.',
  },
  nonce_invalid: {
    fault: 'sender',
    words: 'Bad transaction id',
    advice: 'A transaction id (nonce) has 1 to 128 characters.',
  },
  telegram_user_id_missing: {
    fault: 'sender',
    words: 'No Telegram user',
    advice: 'A bot start needs payload.telegram_user_id.',
  },
  telegram_user_id_invalid: {
    fault: 'sender',
    words: 'Bad Telegram user id',
    advice: 'payload.telegram_user_id is a whole number, or a text of at most 128 characters.',
  },
  bot_unknown: {
    fault: 'yours',
    words: 'Unknown bot',
    advice: 'The bot it names is none of this workspace. Add it under Bots, then run it again.',
  },
  outside_campaigns: {
    fault: 'yours',
    words: 'Outside the key’s campaigns',
    advice: 'The key is restricted to campaigns, and the click is of none of them.',
  },
  right_missing: {
    fault: 'yours',
    words: 'Right not granted',
    advice: 'The key does not hold the right events. Grant it, then run it again.',
  },
  key_unusable: {
    fault: 'yours',
    words: 'Key not usable here',
    advice: 'The owner of the key is no admin or no member here any more, or its grant is unreadable.',
  },
  ip_not_listed: {
    fault: 'sender',
    words: 'Address not listed',
    advice:
      'The call came from an address that the network’s IP list does not hold. Nobody who is not on it can report for the network.',
  },
  network_off: { fault: 'yours', words: 'Network switched off', advice: 'Switch the network on, then run it again.' },
  body_unreadable: {
    fault: 'sender',
    words: 'Not readable',
    advice: 'The body is no JSON that can be stored. It cannot be run again.',
  },
  body_invalid: { fault: 'sender', words: 'Does not fit', advice: 'A field is not as the interface wants it.' },
  differs_from_recorded: {
    fault: 'sender',
    words: 'Differs from what was recorded',
    advice:
      'The conversion was recorded before, stays as it is, and this call says nothing that changes it. A status that says !reject or !refund would, and so would a network that may amend. Where the network pays more than was recorded, record the rest by hand with a transaction id of its own; where it pays less or takes it back, hold this against its bill. Where it is another conversion, have the network send a transaction id of its own with each.',
  },
  conversion_unknown: {
    fault: 'sender',
    words: 'Verdict on nothing recorded',
    advice:
      'It says that a conversion is approved, on hold or taken back, and none of this transaction is recorded on the click. It was tried again for a day. Run it again once the conversion is there.',
  },
  conversion_ambiguous: {
    fault: 'sender',
    words: 'Several conversions can be meant',
    advice:
      'It says what became of a conversion, and the click has several. Have the network send its transaction id, or say it of the right one under Conversions.',
  },
  not_yours: {
    fault: 'sender',
    words: 'Not this network’s conversion',
    advice: 'A network changes only what it has recorded itself. Change it under Conversions if it is right.',
  },
  too_many_revisions: {
    fault: 'yours',
    words: 'Revised too often',
    advice: 'It was revised 100 times. Look which systems contradict each other.',
  },
  click_not_kept: {
    fault: 'nobody',
    words: 'Click no longer kept',
    advice: 'The month of its click was deleted, so the figures of the conversion can change no more.',
  },
  failed: {
    fault: 'yours',
    words: 'Could not be stored',
    advice: 'The database would not take it. The log of the service says why.',
  },
  not_kept: {
    fault: 'nobody',
    words: 'Too many to keep',
    advice: 'More was refused within a minute than is kept. The number says how many.',
  },
} as const satisfies Record<string, { fault: Fault; words: string; advice: string }>

export const Diagnosis = z.enum(Object.keys(DIAGNOSES) as [keyof typeof DIAGNOSES])
export type Diagnosis = keyof typeof DIAGNOSES

export const RefusedSurface = z.enum(['api', 'dashboard', 'network'])
export const RefusedState = z.enum(['refused', 'recorded'])

const Status = z.string()

/** What a network's later call says otherwise than the conversion that is recorded. */
export const Difference = z
  .object({
    event_id: Id.meta({ description: 'The event that is recorded' }),
    payout: z.object({ recorded: Money, sent: Money.nullable() }).nullable().meta({
      description:
        'null: it says no other payout. Told with any status that is ignored; `sent` is null where it came with none',
    }),
    status: z
      .object({ recorded: Status.nullable(), sent: Status })
      .nullable()
      .meta({ description: 'null: it says no other status' }),
  })
  .meta({ id: 'RecordedDifference' })

export const RefusedEvent = z
  .object({
    id: Id,
    received_at: Instant,
    surface: RefusedSurface.meta({ description: 'By which way it came' }),
    key_id: Id.nullable(),
    network_id: Id.nullable(),
    status: z
      .number()
      .int()
      .meta({ description: 'The HTTP status a refusal of the API has; a network was answered differently' }),
    error: z.string(),
    diagnosis: Diagnosis,
    click_text: z.string().nullable().meta({ description: 'The click id as it was sent' }),
    click_id: Id.nullable().meta({ description: 'The click id it can be read as' }),
    type: z.string().nullable().meta({ description: 'The type, or a network’s status, as it was sent' }),
    body: z
      .string()
      .nullable()
      .meta({ description: 'What was sent, as JSON, at most 8 KiB, without what looks like a secret' }),
    is_whole: z.boolean().meta({ description: 'Whether that is all of it, so that it can be run again' }),
    state: RefusedState,
    runs: z.number().int().meta({ description: 'How often it was run again' }),
    run_at: Instant.nullable(),
    event_id: Id.nullable().meta({ description: 'The event it has become' }),
    difference: Difference.nullable().meta({
      description:
        'Of a network’s later call for a recorded conversion: what it says otherwise. It cannot be run again.',
    }),
  })
  .meta({ id: 'RefusedEvent' })
export type RefusedEvent = z.output<typeof RefusedEvent>

const filters = {
  q: Search.meta({
    description: 'Part of what was sent (a click id, a transaction id, any field), of the status or of the reason',
  }),
  diagnosis: Diagnosis.optional(),
  surface: RefusedSurface.optional(),
  network_id: Id.optional(),
}

export const listRefusedEvents = endpoint({
  route: 'GET /api/refused-events',
  access: { session: 'member' },
  summary: 'List refused intake, newest first',
  description:
    'Kept 30 days, the newest 10,000 of a workspace. 401, 409, 413, 429, 503 and 504 are not kept: sending again mends them.',
  query: z.object({ ...paging, ...filters, state: RefusedState.optional(), click_id: Id.optional() }),
  reply: Page(RefusedEvent),
})

export const runRefusedEvent = endpoint({
  route: 'POST /api/refused-events/:id/run',
  access: { session: 'admin' },
  summary: 'Run refused intake again',
  description:
    'With the maps, bots and clicks of today, and without the restriction of its key. Its identity is the one it had, so running it twice, or ' +
    'after the sender has sent it again, does nothing more. The event is dated when it is recorded. Refused again, it says why.',
  reply: RefusedEvent,
  refuses: ['object_not_found', 'cannot_run_again', 'service_unavailable'],
})

export const MOST_AT_ONCE = 200

/** What may be run at once: what the filters name and was received in the period. */
const runnable = {
  ...filters,
  from: Instant.nullish().meta({ description: 'Received at or after' }),
  to: Instant.nullish().meta({ description: 'Received at or before' }),
}

const READS_AS =
  'null: it stays refused. A payout of null is the offer’s. Without a type it is a verdict on what is recorded; pending beside one: it is held'

/** How many of a run are shown before it. */
export const SHOWN_BEFORE = 20

export const previewRefusedRun = endpoint({
  route: 'POST /api/refused-events/run/preview',
  access: { session: 'admin' },
  summary: 'Show what running refused intake again would run',
  description: `How many there are, and how the oldest ${SHOWN_BEFORE} are read by the maps of today. Nothing is recorded; whether its click and bot are known shows when it runs.`,
  body: z.object(runnable),
  reply: z.object({
    count: z.number().int(),
    first: z.array(
      z.object({
        id: Id,
        received_at: Instant,
        click_text: z.string().nullable(),
        reads_as: z
          .object({ type: EventType.nullable(), verdict: z.enum(EVENT_STATUSES).nullable(), payout: Money.nullable() })
          .nullable()
          .meta({ description: READS_AS }),
        error: z.string().nullable().meta({ description: 'Why it stays refused' }),
      }),
    ),
  }),
})

export const runRefusedEvents = endpoint({
  route: 'POST /api/refused-events/run',
  access: { session: 'admin' },
  summary: 'Run refused intake again, a portion at a time',
  description:
    'The oldest first. Send next_cursor back as `cursor` until it is null; what stays refused is not met again.',
  body: z.object({
    ...runnable,
    cursor: Id.nullish(),
  }),
  reply: z.object({
    recorded: z.number().int(),
    refused: z.number().int(),
    next_cursor: z.string().nullable(),
  }),
  refuses: ['service_unavailable'],
})
