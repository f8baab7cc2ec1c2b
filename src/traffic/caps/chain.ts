// The chains of capped offers that lead to one another: they must not form a cycle, and their length is limited.
import { refuse } from '../../contract/refusals.ts'
import { MOST_CHAINED_OFFERS } from './api.ts'

/** A cap that sends visitors from its offer to another one. */
type ChainLink = { readonly from: string; readonly to: string }

/** Refuses `cap_cycle` if the links form a cycle, and `invalid_request` if a chain is longer than MOST_CHAINED_OFFERS. */
export function requireChain(links: readonly ChainLink[]): void {
  const onward = Map.groupBy(links, ({ from }) => from)
  const lengths = new Map<string, number>()
  const lengthFrom = (offer: string, passed: ReadonlySet<string>): number => {
    if (passed.has(offer)) refuse('cap_cycle')
    const known = lengths.get(offer)
    if (known !== undefined) return known
    const more = new Set(passed).add(offer)
    const length = Math.max(0, ...(onward.get(offer) ?? []).map(({ to }) => 1 + lengthFrom(to, more)))
    lengths.set(offer, length)
    return length
  }
  for (const offer of onward.keys())
    if (lengthFrom(offer, new Set()) > MOST_CHAINED_OFFERS)
      refuse('invalid_request', {
        error: `then_offer_id: more than ${MOST_CHAINED_OFFERS} offers would follow one another`,
        hint: 'Choose an offer with a shorter chain behind it.',
      })
}
