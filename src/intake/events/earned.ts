/** What the click's offer decides for a conversion: the type if the network's call names no event, and the payout. */
import type { EventType } from '../../contract/event-types.ts'
import { fromMillionths, toMillionths } from '../../money/billing/money.ts'
import { USUAL_GOAL } from '../../traffic/event-settings/api.ts'
import type { Conversion } from './items.ts'
import type { KnownClick, StoredEvent } from './organization-state.ts'

type Offer = Pick<KnownClick, 'offer_payout' | 'payout_types'>

/**
 * The type of a conversion. If the network's call names no event, it is a type that the click's offer pays on: the call's own type if the offer pays on
 * it, else purchase, else the offer's first type. Steps before that, such as bot starts, are only recorded if the call names them.
 */
export function typeOf({ type, isByOffer }: Conversion, { payout_types }: Offer): EventType {
  if (isByOffer !== true) return type
  const paid = USUAL_GOAL.filter(one => payout_types?.includes(one))
  if (paid.includes(type)) return type
  return paid.find(one => one === 'purchase') ?? paid[0] ?? type
}

/** The offer's payout if it pays on the type. Sluice's own events earn only if the offer names their type. */
export function inheritedPayout(item: Conversion, offer: Offer): string | null {
  if (item.isUnpaid === true) return null
  const types = offer.payout_types ?? []
  const isEarned = types.includes(typeOf(item, offer)) || (types.length === 0 && item.source !== 'service')
  return isEarned && offer.offer_payout !== null ? fromMillionths(toMillionths(offer.offer_payout)) : null
}

/** The types the click's offer pays on, if the event has another type and no payout and so is worth nothing; else undefined. */
export function paidInstead(
  { type, payout, payout_is_explicit }: StoredEvent,
  { offer_payout, payout_types }: Offer,
): readonly string[] | undefined {
  if (payout !== null || payout_is_explicit || offer_payout === null || toMillionths(offer_payout) === 0n)
    return undefined
  return payout_types === null || payout_types.length === 0 || payout_types.includes(type) ? undefined : payout_types
}
