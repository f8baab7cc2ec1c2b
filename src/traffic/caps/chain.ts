// Where full offers lead on to: never round in a circle, and not through more than a few.
import { refuse } from '../../contract/refusals.ts'
import { MOST_LED_ON } from './api.ts'

/** A cap that leads from its offer on to another. */
type Lead = { readonly from: string; readonly to: string }

/** Refuses `cap_cycle` where these leads come back to an offer, and `invalid_request` where more than five follow one another. */
export function requireChain(leads: readonly Lead[]): void {
  const onward = Map.groupBy(leads, ({ from }) => from)
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
    if (lengthFrom(offer, new Set()) > MOST_LED_ON)
      refuse('invalid_request', {
        error: `then_offer_id: more than ${MOST_LED_ON} offers would follow one another`,
        hint: 'Lead to an offer that leads on to fewer.',
      })
}
