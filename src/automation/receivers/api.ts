/** Receivers of alerts over HTTP: mail addresses, Telegram chats and webhooks. Sessions only: no right of keys covers these routes. */
import { z } from 'zod'
import { Address } from '../../contract/address.ts'
import { ALERT_KINDS } from '../../contract/alerts.ts'
import { endpoint } from '../../contract/endpoint.ts'
import { Done, Id, Instant, Name, Page } from '../../contract/fields.ts'
import { paging } from '../../contract/paging.ts'
import { Clock, HoursOfDay } from '../../contract/telegram-audience.ts'
import { TimeZone } from '../../contract/time-zones.ts'

export const RECEIVER_TYPES = ['mail', 'telegram', 'webhook'] as const
export type ReceiverType = (typeof RECEIVER_TYPES)[number]

const AlertKind = z.enum(ALERT_KINDS)
const About = z.array(AlertKind).nullable().meta({
  description: 'The kinds of alerts that are sent; null: all. Rules that name the receiver tell it in any case',
})
const QuietHours = HoursOfDay.nullable().meta({ description: 'Messages wait until these hours are over' })
const Digest = z
  .strictObject({ at: Clock, time_zone: TimeZone })
  .nullable()
  .meta({ description: 'Messages are collected, and sent as one message a day at this time' })

const received = {
  about: About,
  quiet_hours: QuietHours,
  digest: Digest,
  state: z.enum(['works', 'fails']).meta({ description: 'fails: the last attempt has failed' }),
  last_error: z.string().nullable().meta({ description: 'Why the last attempt has failed' }),
  created_at: Instant,
  updated_at: Instant,
}
const named = { id: Id, name: z.string() }
const mail = { type: z.literal('mail'), email: z.string() }
const telegram = {
  type: z.literal('telegram'),
  bot_id: Id,
  chat_id: z.string().meta({ description: 'The id of the chat, or @ and its public name' }),
}
const webhook = {
  type: z.literal('webhook'),
  url: z.string().meta({ description: 'The address that is called. Members see its host only' }),
}
const secret = z.string().meta({
  description: 'The secret that signs the calls: whsec_ and base64. Shown only once',
  examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
})

export const Receiver = z
  .discriminatedUnion('type', [
    z.object({ ...named, ...mail, ...received }),
    z.object({ ...named, ...telegram, ...received }),
    z.object({ ...named, ...webhook, ...received }),
  ])
  .meta({ id: 'Receiver' })
export type Receiver = z.output<typeof Receiver>

const CreatedReceiver = z
  .discriminatedUnion('type', [
    z.object({ ...named, ...mail, ...received }),
    z.object({ ...named, ...telegram, ...received }),
    z.object({ ...named, ...webhook, ...received, secret }),
  ])
  .meta({ id: 'CreatedReceiver' })

const Email = z.string().trim().max(254).pipe(z.email()).meta({ format: 'email' })
const ChatId = z
  .union([z.string(), z.number().int()])
  .transform(sent => String(sent).trim())
  .refine(text => /^(-?\d{1,19}|@[A-Za-z]\w{3,31})$/.test(text), {
    message: 'must be the id of a chat, or @ and its public name',
  })

const settings = { about: About.optional(), quiet_hours: QuietHours.optional(), digest: Digest.optional() }

export const ReceiverDraft = z
  .discriminatedUnion('type', [
    z.object({ name: Name(), type: z.literal('mail'), email: Email, ...settings }),
    z.object({ name: Name(), type: z.literal('telegram'), bot_id: Id, chat_id: ChatId, ...settings }),
    z.object({ name: Name(), type: z.literal('webhook'), url: Address, ...settings }),
  ])
  .meta({ id: 'ReceiverDraft' })
export type ReceiverDraft = z.output<typeof ReceiverDraft>

export const ReceiverChanges = z
  .object({ name: Name(), email: Email, bot_id: Id, chat_id: ChatId, url: Address, ...settings })
  .partial()
  .meta({ id: 'ReceiverChanges' })
export type ReceiverChanges = z.output<typeof ReceiverChanges>

export const listReceivers = endpoint({
  route: 'GET /api/receivers',
  access: { session: 'member' },
  summary: 'List receivers of alerts, newest first',
  query: z.object(paging),
  reply: Page(Receiver),
})

export const readReceiver = endpoint({
  route: 'GET /api/receivers/:id',
  access: { session: 'member' },
  summary: 'Read a receiver',
  reply: Receiver,
  refuses: ['object_not_found'],
})

export const createReceiver = endpoint({
  route: 'POST /api/receivers',
  access: { session: 'admin' },
  history: 'receiver',
  summary: 'Create a receiver',
  description:
    'It is told about alerts from now on. The answer to creating a webhook has its secret, which is never shown again.',
  body: ReceiverDraft,
  reply: CreatedReceiver,
  status: 201,
  refuses: ['invalid_request'],
})

export const updateReceiver = endpoint({
  route: 'PATCH /api/receivers/:id',
  access: { session: 'admin' },
  history: 'receiver',
  summary: 'Change a receiver',
  description:
    'Fields that are not sent stay as they are. The type cannot change. Messages that wait are looked at again at once, by the new settings.',
  body: ReceiverChanges,
  reply: Receiver,
  refuses: ['object_not_found', 'invalid_request'],
})

export const deleteReceiver = endpoint({
  route: 'DELETE /api/receivers/:id',
  access: { session: 'admin' },
  history: 'receiver',
  summary: 'Delete a receiver, with the messages that wait for it',
  reply: Done,
  refuses: ['object_not_found'],
})

export const rotateReceiver = endpoint({
  route: 'POST /api/receivers/:id/rotate',
  access: { session: 'admin' },
  history: 'receiver',
  summary: 'Give a webhook a new secret',
  description: 'For 24 hours each call is signed with the new and the former secret. Then the former one is gone.',
  reply: CreatedReceiver,
  refuses: ['object_not_found', 'invalid_request'],
})

export const testReceiver = endpoint({
  route: 'POST /api/receivers/:id/test',
  access: { session: 'admin' },
  history: { none: 'it sends a message and changes no settings' },
  summary: 'Send a test message at once',
  description:
    'Its type is `test`. Quiet hours and the digest do not apply. The answer tells how the first attempt went; after a failure it is sent again like any other message, until the next test.',
  reply: z.object({
    ok: z.boolean(),
    error: z.string().nullable().meta({ description: 'Why the attempt has failed' }),
    took_ms: z.number().int(),
  }),
  refuses: ['object_not_found'],
})
