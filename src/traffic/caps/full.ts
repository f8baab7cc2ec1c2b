// Who takes visitors while a cap is reached, as the redirect asks it. Pure, and nothing but a look-up where there is no cap.
import type { LiveCampaigns, LiveCap, LiveOffer } from '../campaigns/live.ts'
import { isOpen } from '../funnels/choose.ts'
import { MOST_LED_ON } from './api.ts'

type Live = Pick<LiveCampaigns, 'object' | 'capsOf'>

const isReached = ({ closed_ms }: LiveCap, ms: number): boolean => closed_ms !== null && closed_ms > ms

/** Whether an offer or a campaign has all that one of its caps lets it take, at a moment (Unix). */
export function isFull(live: Pick<Live, 'capsOf'>, object_id: string, ms: number): boolean {
  return live.capsOf(object_id)?.some(cap => isReached(cap, ms)) ?? false
}

/**
 * The offer that takes the visitors of this one: itself, while it is full the one its cap leads to, and so on. Undefined where one on the way is
 * archived or deleted, or is full and leads nowhere.
 */
export function offerTaking(live: Live, offer: LiveOffer | undefined, ms: number): LiveOffer | undefined {
  let at = offer
  for (let steps = 0; steps <= MOST_LED_ON && isOpen(at); steps += 1) {
    const reached = live.capsOf(at.id)?.filter(cap => isReached(cap, ms))
    if (reached === undefined || reached.length === 0) return at
    const then = reached.find(({ then_offer_id }) => then_offer_id !== null)?.then_offer_id
    at = then == null ? undefined : live.object('offer', then)
  }
  return undefined
}
