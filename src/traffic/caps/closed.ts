// Which offer or campaign takes a visitor, considering reached caps and open hours. Called by every redirect: pure, and only look-ups if there are neither caps nor hours.
import type { LiveCampaigns, LiveCap, LiveOffer } from '../campaigns/live.ts'
import { isOpen } from '../funnels/choose.ts'
import { isWithin } from '../open-hours/week.ts'
import { MOST_CHAINED_OFFERS } from './api.ts'

/** `isSpent`: whether this process has no place left of a cap on clicks. */
export type Live = Pick<LiveCampaigns, 'object' | 'capsOf'> & { isSpent: (cap: LiveCap, ms: number) => boolean }

const isReached = (live: Live, cap: LiveCap, ms: number): boolean =>
  cap.metric === 'clicks' ? live.isSpent(cap, ms) : cap.closed_ms !== null && cap.closed_ms > ms

/** Whether an offer or a campaign takes no visitors at a time (Unix milliseconds): a cap is reached, or it is outside its open hours. */
export function isClosed(live: Live, object_id: string, ms: number): boolean {
  return isOutside(live, object_id, ms) || (live.capsOf(object_id)?.some(cap => isReached(live, cap, ms)) ?? false)
}

function isOutside(live: Live, object_id: string, ms: number): boolean {
  const hours = live.object('open_hours', object_id)
  return hours !== undefined && !hours.is_deleted && !isWithin(hours, ms)
}

/**
 * The offer that takes the visitors of an offer: the offer itself, or, if its cap is reached, the one that its cap leads to, and so on. Undefined
 * if an offer of this chain is archived, deleted or outside its hours, or is capped and leads nowhere.
 */
export function offerTaking(live: Live, offer: LiveOffer | undefined, ms: number): LiveOffer | undefined {
  let current = offer
  for (let steps = 0; steps <= MOST_CHAINED_OFFERS && isOpen(current) && !isOutside(live, current.id, ms); steps += 1) {
    const reached = live.capsOf(current.id)?.filter(cap => isReached(live, cap, ms))
    if (reached === undefined || reached.length === 0) return current
    const then = reached.find(({ then_offer_id }) => then_offer_id !== null)?.then_offer_id
    current = then == null ? undefined : live.object('offer', then)
  }
  return undefined
}

/** The caps on clicks or on cost that count a click of this campaign and offer. */
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
