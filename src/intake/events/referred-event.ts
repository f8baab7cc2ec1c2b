// Which recorded event a revision or a network's call refers to.
import { toWireId } from '../../contract/ids.ts'
import { Refusal } from '../../contract/refusals.ts'
import type { NetworkReference } from './items.ts'
import type { StoredEvent } from './organization-state.ts'
import { standingAsRecorded } from './standing.ts'

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
