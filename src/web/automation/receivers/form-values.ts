/** The form of a receiver, and the requests that it makes. */
import type { z } from 'zod'
import type { AlertKind } from '../../../contract/alerts.ts'
import type { Receiver, ReceiverChanges, ReceiverDraft, ReceiverType } from '../../../automation/receivers/api.ts'

export type ReceiverRow = z.input<typeof Receiver>
type ReceiverRequest = z.input<typeof ReceiverDraft>
type ReceiverPatch = z.input<typeof ReceiverChanges>

export const RECEIVER_WORDS: Readonly<Record<ReceiverType, string>> = {
  mail: 'Mail',
  telegram: 'Telegram',
  webhook: 'Webhook',
}

export type ReceiverForm = {
  type: ReceiverType
  name: string
  email: string
  bot_id: string
  chat_id: string
  url: string
  is_about: 'all' | 'some'
  kinds: AlertKind[]
  quiet_hours: ReceiverRow['quiet_hours']
  digest: ReceiverRow['digest']
}

export const BLANK_RECEIVER: ReceiverForm = {
  type: 'mail',
  name: '',
  email: '',
  bot_id: '',
  chat_id: '',
  url: '',
  is_about: 'all',
  kinds: [],
  quiet_hours: null,
  digest: null,
}

export function receiverFormOf({ about, name, quiet_hours, digest, ...place }: ReceiverRow): ReceiverForm {
  const is_about = about === null ? 'all' : 'some'
  return { ...BLANK_RECEIVER, ...place, name, is_about, kinds: about ?? [], quiet_hours, digest }
}

export function requestOfReceiver(form: ReceiverForm): ReceiverRequest {
  const { name, quiet_hours, digest } = form
  const settings = { name, about: form.is_about === 'all' ? null : form.kinds, quiet_hours, digest }
  if (form.type === 'mail') return { type: form.type, email: form.email, ...settings }
  if (form.type === 'webhook') return { type: form.type, url: form.url, ...settings }
  return { type: form.type, bot_id: form.bot_id, chat_id: form.chat_id, ...settings }
}

export function patchOfReceiver(form: ReceiverForm): ReceiverPatch {
  const { type: _, ...patch } = requestOfReceiver(form)
  return patch
}
