/**
 * What a network's later call says otherwise than the conversion that is recorded for it. Nothing of the conversion changes, and nothing of
 * the call is thrown away: both values are kept. A call that says nothing else is a plain resend and leaves nothing.
 */
import { hash } from 'node:crypto'
import type { z } from 'zod'
import { USD } from '../../contract/currencies.ts'
import { hasAmount } from '../../contract/revisions.ts'
import { fromMillionths, toMillionths } from '../../money/billing/money.ts'
import type { Conversion } from '../events/items.ts'
import type { Present, StoredEvent } from '../events/known.ts'
import type { Difference as Wire } from './api.ts'
import { Diagnosed } from './diagnosis.ts'

/** Of a call what may say something else: its payout in dollars, what that was in another currency, and its status in the payload. */
type NetworkCall = Pick<Conversion, 'payout' | 'money' | 'payload'>

/** The recorded event's id, and of what differs both values: amounts as decimal strings, statuses as they were sent. */
export type Difference = z.output<typeof Wire>

/** The refusal of such a call. `kept_once_by` is the same for every call that differs from this event in the same way. */
export class Differing extends Diagnosed {
  readonly difference: Difference
  readonly kept_once_by: string
  constructor(difference: Difference) {
    super('differs_from_recorded', wordsOf(difference))
    this.difference = difference
    const { event_id, payout, status } = difference
    const sent = payout?.sent ?? originalIn(payout) ?? null
    this.kept_once_by = onceId([event_id, sent, status?.sent.toLowerCase() ?? null])
  }
}

/**
 * Throws `Differing` where the call says another payout or status than the event it was answered with: than what is recorded, and where
 * something was said of it since, than how it stands.
 */
export function requireSame(call: NetworkCall, event: StoredEvent, present?: Present): void {
  const [payout, status] = [payoutOf(call, event), statusOf(call, event)]
  if (present !== undefined && present.seq > 0 && (payout !== null || status !== null))
    return requireStanding(call, event, present)
  if (payout !== null || status !== null) throw new Differing({ event_id: event.id, payout, status })
}

/** A paid word says that its conversion is approved. */
function requireStanding(call: NetworkCall, event: StoredEvent, present: Present): void {
  const payout = payoutOf(call, { payout: fromMillionths(present.amount) })
  const sent = textOf(call.payload?.['status'])
  const isRefused = !hasAmount(present.status)
  const status = isRefused && sent !== null ? { recorded: present.status, sent } : null
  if (payout !== null || status !== null) throw new Differing({ event_id: event.id, payout, status })
}

/**
 * What a call with a status that is ignored says otherwise than the event; undefined where the event has that status, because the
 * map came to ignore it later. The recorded payout is told whatever was sent: it stands.
 */
export function differingFrom(
  sent: { status: string; payout: { amount: string; currency: string } | undefined },
  event: StoredEvent,
): Differing | undefined {
  const status = statusOf({ payload: { status: sent.status } }, event)
  if (status === null) return undefined
  const recorded = fromMillionths(toMillionths(event.payout ?? '0'))
  const { payout } = sent
  const isForeign = payout !== undefined && payout.currency !== USD
  const amount = payout === undefined || isForeign ? null : fromMillionths(toMillionths(payout.amount))
  return new Differing({
    event_id: event.id,
    payout: { recorded, sent: amount, ...(isForeign && { original: payout }) },
    status,
  })
}

/** A call without a payout says nothing of it; an event without one is worth nothing. */
function payoutOf(
  { payout, money }: Pick<NetworkCall, 'payout' | 'money'>,
  event: Pick<StoredEvent, 'payout'>,
): Difference['payout'] {
  if (payout === undefined) return null
  const [recorded, sent] = [toMillionths(event.payout ?? '0'), toMillionths(payout)]
  if (recorded === sent) return null
  const original = money && { amount: money.original_amount, currency: money.currency }
  return { recorded: fromMillionths(recorded), sent: fromMillionths(sent), ...(original && { original }) }
}

/** Of an event that no network reported no status is known; of one that a network did, none may have been sent. */
function statusOf({ payload }: Pick<Conversion, 'payload'>, event: StoredEvent): Difference['status'] {
  const sent = textOf(payload?.['status'])
  if (sent === null || textOf(event.payload?.['network_id']) === null) return null
  const recorded = textOf(event.payload?.['status'])
  return recorded?.toLowerCase() === sent.toLowerCase() ? null : { recorded, sent }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

function wordsOf({ payout, status }: Difference): string {
  const said = [
    payout === null ? [] : wordsOfPayout(payout),
    status === null ? [] : `the status is ${status.sent}, recorded is ${status.recorded ?? 'none'}`,
  ]
  return said.flat().join('; ')
}

/** `25 EUR`, where the payout was sent in another currency. */
function originalIn(payout: Difference['payout']): string | undefined {
  return payout?.original && `${payout.original.amount} ${payout.original.currency}`
}

function wordsOfPayout(payout: NonNullable<Difference['payout']>): string {
  const { recorded, sent } = payout
  const original = originalIn(payout)
  if (original !== undefined)
    return `the payout is ${original}${sent === null ? '' : ` (${sent} USD)`}, recorded is ${recorded} USD`
  if (sent === null || sent === recorded) return `a payout of ${recorded} is recorded`
  return `the payout is ${sent}, recorded is ${recorded}`
}

/** A uuid of version 8 out of what makes one refusal the same as another. */
export function onceId(parts: readonly (string | null)[]): string {
  const hex = hash('sha256', JSON.stringify(parts), 'hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
