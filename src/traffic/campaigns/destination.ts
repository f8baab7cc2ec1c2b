/**
 * Where a campaign leads, as it is stored and as it is shown. Owns no table. A campaign that leads to an offer is stored as a redirect to the
 * offer's address at that time with the offer's id beside it: a process of a version that knows no such destination goes on by the address,
 * and what it writes follows no offer.
 */
import type * as api from './api.ts'

type Shown = api.Campaign['destination']

/** A destination as the database holds it. */
export type StoredDestination =
  | { readonly type: 'redirect'; readonly url: string; readonly offer_id?: string }
  | Exclude<Shown, { type: 'redirect' | 'offer' }>

export type Leading = { readonly destination: StoredDestination; readonly offer_id: string | null }

/** Whether a campaign's visitors go to the address that its offer has now. The two ids differ where an older version changed the offer. */
export function isFollowing({ destination, offer_id }: Leading): boolean {
  return destination.type === 'redirect' && offer_id !== null && destination.offer_id === offer_id
}

/** The destination as the API says it. */
export function shownDestination(campaign: Leading): Shown {
  const { destination, offer_id } = campaign
  if (destination.type !== 'redirect') return destination
  if (offer_id !== null && isFollowing(campaign)) return { type: 'offer', offer_id }
  return { type: 'redirect', url: destination.url }
}
