// Which recorded event a revision, a network's call or a repeated conversion refers to.
import type { EventType } from '../../contract/event-types.ts'
import { toWireId } from '../../contract/ids.ts'
import { Refusal } from '../../contract/refusals.ts'
import type { Conversion, NetworkReference } from './items.ts'
import { awaitsPayout, isUnconfirmed, type OrganizationState, type StoredEvent } from './organization-state.ts'
import { standingAsRecorded, standingIn } from './standing.ts'

/**
 * The one event that a revision refers to: the only one that was ever worth something. If none was, and the revision names a transaction id, the only
 * one with that id. Undefined: none; `'several'`: ambiguous.
 */
export function singleEvent<Event>(
  events: readonly Event[],
  isWorth: (event: Event) => boolean,
  isNamed: boolean,
): Event | 'several' | undefined {
  const worth = events.filter(isWorth)
  const [first, ...others] = worth.length > 0 || !isNamed ? worth : events
  return others.length === 0 ? first : 'several'
}

/** The event of the click that a network refers to; only events it reported itself count. */
export function eventReferredTo(
  events: readonly StoredEvent[],
  { network_id, nonce }: NetworkReference,
  isRevised: (event: StoredEvent) => boolean,
): StoredEvent | Refusal {
  const named = nonce === null ? events : events.filter(event => event.nonce === nonce)
  const own = named.filter(event => isReportedBy(event, network_id))
  const one = singleEvent(own, event => isRevised(event) || standingAsRecorded(event).amount > 0n, nonce !== null)
  if (one === 'several') return new Refusal('conversion_ambiguous')
  if (one !== undefined) return one
  return new Refusal(nonce !== null && named.length > 0 && own.length === 0 ? 'not_yours' : 'conversion_unknown')
}

/** Whether this network reported the event. */
export function isReportedBy(event: StoredEvent, network_id: string): boolean {
  return event.payload?.['network_id'] === toWireId(network_id)
}

/**
 * The event that already records a network's conversion of a type: the event with its id, else an event of the same transaction that was held, else one
 * of the same transaction with this type, because a call that named no event may have recorded it.
 */
export function recordedEvent(state: OrganizationState, item: Conversion, type: EventType): StoredEvent | undefined {
  const own = state.events.get(item.id)
  if (own !== undefined) return own
  const events = ofTransaction(state, item)
  const held = item.nonce === null ? undefined : events.find(event => standingIn(state, event).was_held)
  return (
    held ?? events.find(event => event.type === type && isWorth(state, event)) ?? reportedByBrowser(state, item, type)
  )
}

/** A browser's report of the transaction that nobody has confirmed or paid yet; of another type only if the call names no event. */
function reportedByBrowser(
  { ofClick }: OrganizationState,
  { click_id, nonce, standing, isByOffer }: Conversion,
  type: EventType,
): StoredEvent | undefined {
  if (standing === undefined || nonce === null) return undefined
  const events = (ofClick.get(click_id) ?? []).filter(
    event => event.nonce === nonce && (isUnconfirmed(event) || awaitsPayout(event)),
  )
  return events.find(event => event.type === type) ?? (isByOffer === true ? events[0] : undefined)
}

/** Whether the network already reported this type for the transaction, as worth nothing. */
export const wasUnpaid = (state: OrganizationState, item: Conversion, type: EventType): boolean =>
  ofTransaction(state, item).some(event => event.type === type && !isWorth(state, event))

function ofTransaction({ ofClick }: OrganizationState, { click_id, nonce, standing }: Conversion): StoredEvent[] {
  if (standing === undefined) return []
  const events = ofClick.get(click_id) ?? []
  return events.filter(event => event.nonce === nonce && isReportedBy(event, standing.network_id))
}

/** Whether it was ever worth something or was revised. */
function isWorth(state: OrganizationState, event: StoredEvent): boolean {
  const { seq, amount } = standingIn(state, event)
  return seq > 0 || amount > 0n
}
