/**
 * Compares a network's later postback with the recorded conversion. If payout or status differ, the conversion stays, and both values are
 * kept as a refused event. A postback without differences is a resend and is not kept.
 */
import { hash } from 'node:crypto'
import type { z } from 'zod'
import { USD } from '../../contract/currencies.ts'
import { hasAmount } from '../../contract/revisions.ts'
import { fromMillionths, toMillionths } from '../../money/billing/money.ts'
import type { Conversion } from '../events/items.ts'
import type { EventStanding, StoredEvent } from '../events/organization-state.ts'
import type { Difference as DifferenceSchema } from './api.ts'
import { Diagnosed } from './diagnosis.ts'

/** The fields of a postback that may differ: its payout in dollars, that payout in another currency, and its status in the payload. */
type ComparedCall = Pick<Conversion, 'payout' | 'money' | 'payload'>

/** The recorded event's id, and both values of each field that differs: amounts as decimal strings, statuses as sent. */
export type Difference = z.output<typeof DifferenceSchema>

/** The refusal to keep for such a postback. It is kept once per `kept_once_by`: the event and how the postback differs from it. */
export class Differing extends Diagnosed {
  readonly difference: Difference
  readonly kept_once_by: string
  constructor(difference: Difference) {
    super('differs_from_recorded', wordsOf(difference))
    this.difference = difference
    const { event_id, payout, status } = difference
    const sent = payout?.sent ?? originalIn(payout) ?? null
    this.kept_once_by = sameRefusalId([event_id, sent, status?.sent.toLowerCase() ?? null])
  }
}

/**
 * Throws `Differing` if the postback's payout or status differs from the recorded event. If the event was revised since, the postback must only
 * match its current status and amount.
 */
export function requireSame(call: ComparedCall, event: StoredEvent, present?: EventStanding): void {
  const [payout, status] = [payoutOf(call, event), statusOf(call, event)]
  if (present !== undefined && present.seq > 0 && (payout !== null || status !== null))
    return requireCurrent(call, event, present)
  if (payout !== null || status !== null) throw new Differing({ event_id: event.id, payout, status })
}

/** Compares with the current standing: a paid status says that the conversion is approved. */
function requireCurrent(call: ComparedCall, event: StoredEvent, present: EventStanding): void {
  const payout = payoutOf(call, { payout: fromMillionths(present.amount) })
  const sent = textOf(call.payload?.['status'])
  const isRefused = !hasAmount(present.status)
  const status = isRefused && sent !== null ? { recorded: present.status, sent } : null
  if (payout !== null || status !== null) throw new Differing({ event_id: event.id, payout, status })
}

/**
 * The difference of a postback with an ignored status. Undefined if the event was recorded with that status, because the map began to ignore it
 * later. The recorded payout is always included, because it still counts.
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

/** The difference in payout. A postback without a payout has none; an event without one counts as 0. */
function payoutOf(
  { payout, money }: Pick<ComparedCall, 'payout' | 'money'>,
  event: Pick<StoredEvent, 'payout'>,
): Difference['payout'] {
  if (payout === undefined) return null
  const [recorded, sent] = [toMillionths(event.payout ?? '0'), toMillionths(payout)]
  if (recorded === sent) return null
  const original = money && { amount: money.original_amount, currency: money.currency }
  return { recorded: fromMillionths(recorded), sent: fromMillionths(sent), ...(original && { original }) }
}

/** The difference in status. Only events that a network reported have a status, and maybe none was sent. */
function statusOf({ payload }: Pick<Conversion, 'payload'>, event: StoredEvent): Difference['status'] {
  const sent = textOf(payload?.['status'])
  if (sent === null || textOf(event.payload?.['network_id']) === null) return null
  const recorded = textOf(event.payload?.['status'])
  return recorded?.toLowerCase() === sent.toLowerCase() ? null : { recorded, sent }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

function wordsOf({ payout, status }: Difference): string {
  const parts = [
    payout === null ? [] : wordsOfPayout(payout),
    status === null ? [] : `the status is ${status.sent}, recorded is ${status.recorded ?? 'none'}`,
  ]
  return parts.flat().join('; ')
}

/** `25 EUR`, if the payout was sent in another currency. */
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

/** A UUIDv8 from the parts that make two refusals the same. */
export function sameRefusalId(parts: readonly (string | null)[]): string {
  const hex = hash('sha256', JSON.stringify(parts), 'hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
