/** What a conversion earns: its type if the network's call names no event, and its payout, its own or that of the offer. */
import { USD } from '../../contract/currencies.ts'
import type { EventType } from '../../contract/event-types.ts'
import { MAX_PAYOUT } from '../../contract/fields.ts'
import { Refusal } from '../../contract/refusals.ts'
import { fromMillionths, toMillionths } from '../../money/billing/money.ts'
import { USUAL_GOAL } from '../../traffic/event-settings/api.ts'
import { payoutInDollars } from '../../money/rates/payout.ts'
import { type CurrencyDay, type ForeignMoney, type RatesRead, unknownRate } from '../../money/rates/rate-of-day.ts'
import { dayReceived } from './booked-rates.ts'
import type { Conversion } from './items.ts'
import type { KnownClick, StoredEvent } from './organization-state.ts'

/** The payout in US dollars, and its amount in another currency. */
export type Paid = { payout: string | null; money: ForeignMoney | undefined }

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
function inheritedPayout(item: Conversion, offer: Offer): string | null {
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

/** The conversion's own payout, else the offer's, converted at the rate of the day it was received. Refuses `rate_unknown`. */
export function payoutFor(item: Conversion, click: KnownClick, rateOf: RatesRead, at: string): Paid | Refusal {
  if (item.payout !== undefined) return { payout: item.payout, money: item.money }
  const offerMoney = inheritedIn(item, click, at)
  if (offerMoney === undefined) return { payout: inheritedPayout(item, click), money: undefined }
  const rate = rateOf(offerMoney)
  if (rate === undefined) return unknownRate(offerMoney)
  const { dollars: payout, isTooMuch } = payoutInDollars(offerMoney.amount, rate.usd_per_unit)
  if (isTooMuch) return tooMuch(offerMoney, payout)
  return { payout, money: { original_amount: offerMoney.amount, currency: offerMoney.currency, ...rate } }
}

/** Refused as a doubtful rate, because most often an own rate was entered the wrong way round. */
const tooMuch = ({ amount, currency, day }: CurrencyDay & { amount: string }, payout: string): Refusal =>
  new Refusal('rate_unknown', {
    error: `the offer's payout of ${amount} ${currency} is $${payout} by the rate of ${day}, more than ${MAX_PAYOUT.toLocaleString('en-US')}: correct the rate or the payout`,
  })

/** The offer's payout in another currency that a conversion inherits, and the UTC day of its rate; undefined if it is in dollars or there is none. */
export function inheritedIn(
  item: Conversion,
  click: KnownClick,
  at: string,
): (CurrencyDay & { amount: string }) | undefined {
  const currency = click.payout_currency ?? USD
  if (item.payout !== undefined || currency === USD) return undefined
  const amount = inheritedPayout(item, click)
  return amount === null ? undefined : { amount, currency, day: dayReceived(item.received_at, at) }
}
