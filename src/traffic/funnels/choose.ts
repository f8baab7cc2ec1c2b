/**
 * Chooses a member of a funnel for a visitor by weighted rendezvous hashing: each member gets a number from the hash of visitor and member,
 * divided by its weight, and the smallest number wins. So visitors keep their landing and offer, the shares follow the weights, and a change of
 * one weight or status moves as few visitors as possible.
 */

import { mixBits, stableHashOf } from '../../ground/stable-hash.ts'
import type { LiveFunnel, LiveLanding, LiveObjects, LiveOffer } from '../campaigns/live.ts'

/** Looks up objects by id. */
type Lookup = { object: <K extends keyof LiveObjects>(kind: K, id: string) => LiveObjects[K] | undefined }

type Share = { readonly id: string; readonly seed: number; readonly weight: number }

/** A funnel, prepared for the redirect. */
export type CompiledFunnel = { readonly landings: readonly Share[]; readonly offers: readonly Share[] }

/** Each member with its own seed, so that two funnels with the same members share visitors differently. */
export function compileFunnel({ id, landings, offers }: LiveFunnel): CompiledFunnel {
  const share = (member: string, weight: number): Share => ({ id: member, seed: stableHashOf(id + member), weight })
  return {
    landings: landings.map(({ landing_id, weight }) => share(landing_id, weight)),
    offers: offers.map(({ offer_id, weight }) => share(offer_id, weight)),
  }
}

/** Whether an offer or landing takes traffic: it exists, is active and is not deleted. */
export function isOpen(object: LiveOffer | LiveLanding | undefined): object is LiveOffer | LiveLanding {
  return object !== undefined && !object.is_deleted && object.status === 'active'
}

/**
 * The landing or offer of a visitor; undefined if no member is open and `takes` visitors now. `visitor` is the `stableHashOf` of the visitor's id.
 */
export function choose<K extends 'landing' | 'offer'>(
  shares: readonly Share[],
  visitor: number,
  kind: K,
  live: Lookup,
  takes: (object: LiveObjects[K]) => boolean = () => true,
): LiveObjects[K] | undefined {
  let chosen: LiveObjects[K] | undefined
  let least = Number.POSITIVE_INFINITY
  for (const { id, seed, weight } of shares) {
    const object = live.object(kind, id)
    if (!isOpen(object) || !takes(object)) continue
    const lot = -Math.log(draw(visitor, seed)) / weight
    if (lot >= least) continue
    least = lot
    chosen = object
  }
  return chosen
}

/** The member with this id, if it takes visitors now: the winner of an ended split test. */
export function keptOf<K extends 'landing' | 'offer'>(
  shares: readonly Share[],
  winner: string | undefined,
  kind: K,
  live: Lookup,
  takes: (object: LiveObjects[K]) => boolean = () => true,
): LiveObjects[K] | undefined {
  if (winner === undefined || !shares.some(({ id }) => id === winner)) return undefined
  const object = live.object(kind, winner)
  return isOpen(object) && takes(object) ? object : undefined
}

/** A number above 0 and at most 1, by visitor and member: the mixed hash of both. */
function draw(visitor: number, seed: number): number {
  return (mixBits(mixBits(visitor) ^ seed) + 1) / 0x1_0000_0000
}
