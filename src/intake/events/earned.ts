/** What an offer has to say of a conversion: its type, where the network's call names none, and what it earns. */
import type { EventType } from '../../contract/event-types.ts'
import { fromMillionths, toMillionths } from '../../money/billing/money.ts'
import { USUAL_GOAL } from '../../traffic/event-settings/api.ts'
import type { Conversion } from './items.ts'
import type { KnownClick, StoredEvent } from './known.ts'

type Offer = Pick<KnownClick, 'offer_payout' | 'payout_types'>

/**
 * The type of a conversion: as it was said; of a call that names no event one that the click's offer pays for, which is the type that it would have
 * anyhow, else a purchase, else the first of the offer's. Steps on the way, such as bot starts, are reported by their name only.
 */
export function typeOf({ type, isByOffer }: Conversion, { payout_types }: Offer): EventType {
  if (isByOffer !== true) return type
  const paid = USUAL_GOAL.filter(one => payout_types?.includes(one))
  if (paid.includes(type)) return type
  return paid.find(one => one === 'purchase') ?? paid[0] ?? type
}

/** The offer's payout, for the types that earn it; Sluice's own events earn only where the offer names their type. */
export function inheritedPayout(item: Conversion, offer: Offer): string | null {
  if (item.isUnpaid === true) return null
  const types = offer.payout_types ?? []
  const isEarned = types.includes(typeOf(item, offer)) || (types.length === 0 && item.source !== 'service')
  return isEarned && offer.offer_payout !== null ? fromMillionths(toMillionths(offer.offer_payout)) : null
}

/** The types that the click's offer pays for, where an event of another type came without a payout and so is worth nothing; else undefined. */
export function paidInstead(
  { type, payout, payout_is_explicit }: StoredEvent,
  { offer_payout, payout_types }: Offer,
): readonly string[] | undefined {
  if (payout !== null || payout_is_explicit || offer_payout === null || toMillionths(offer_payout) === 0n)
    return undefined
  return payout_types === null || payout_types.length === 0 || payout_types.includes(type) ? undefined : payout_types
}
