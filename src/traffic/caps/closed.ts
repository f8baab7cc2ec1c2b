// Who takes visitors while a cap is reached or outside of open hours, as the redirect asks it. Pure, and nothing but look-ups where there is neither.
import type { LiveCampaigns, LiveCap, LiveOffer } from '../campaigns/live.ts'
import { isOpen } from '../funnels/choose.ts'
import { isWithin } from '../open-hours/week.ts'
import { MOST_LED_ON } from './api.ts'

/** `isSpent`: of a cap on clicks, whether this process has no place to give. */
export type Live = Pick<LiveCampaigns, 'object' | 'capsOf'> & { isSpent: (cap: LiveCap, ms: number) => boolean }

const isReached = (live: Live, cap: LiveCap, ms: number): boolean =>
  cap.metric === 'clicks' ? live.isSpent(cap, ms) : cap.closed_ms !== null && cap.closed_ms > ms

/** Whether an offer or a campaign takes nobody at a moment (Unix): one of its caps is reached, or these are not its hours. */
export function isClosed(live: Live, object_id: string, ms: number): boolean {
  return isOutside(live, object_id, ms) || (live.capsOf(object_id)?.some(cap => isReached(live, cap, ms)) ?? false)
}

function isOutside(live: Live, object_id: string, ms: number): boolean {
  const hours = live.object('open_hours', object_id)
  return hours !== undefined && !hours.is_deleted && !isWithin(hours, ms)
}

/**
 * The offer that takes the visitors of this one: itself, while it is full the one its cap leads to, and so on. Undefined where one on the way is
 * archived, deleted or outside of its hours, or is full and leads nowhere.
 */
export function offerTaking(live: Live, offer: LiveOffer | undefined, ms: number): LiveOffer | undefined {
  let at = offer
  for (let steps = 0; steps <= MOST_LED_ON && isOpen(at) && !isOutside(live, at.id, ms); steps += 1) {
    const reached = live.capsOf(at.id)?.filter(cap => isReached(live, cap, ms))
    if (reached === undefined || reached.length === 0) return at
    const then = reached.find(({ then_offer_id }) => then_offer_id !== null)?.then_offer_id
    at = then == null ? undefined : live.object('offer', then)
  }
  return undefined
}

/** The caps on clicks, or on what they cost, that a click for this offer and campaign counts for. */
export function capsOnClick(
  live: Pick<Live, 'capsOf'>,
  campaign_id: string,
  offer_id: string | null,
  metric: 'clicks' | 'cost',
): LiveCap[] {
  const own = live.capsOf(campaign_id)
  const offers = offer_id === null ? undefined : live.capsOf(offer_id)
  if (own === undefined && offers === undefined) return NONE
  return [...(own ?? NONE), ...(offers ?? NONE)].filter(cap => cap.metric === metric)
}
const NONE: LiveCap[] = []
