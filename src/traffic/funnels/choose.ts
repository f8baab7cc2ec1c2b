/**
 * Which member of a funnel a visitor gets: weighted rendezvous hashing. Each member draws a lot from the visitor and itself, and the
 * least lot by its weight wins. So a visitor stays with his landing and his offer, the shares follow the weights, and a change of one
 * weight, or of a member's status, moves only the visitors that it must.
 */

import { hashOf, mixed } from '../../ground/stable-hash.ts'
import type { LiveFunnel, LiveLanding, LiveObjects, LiveOffer } from '../campaigns/live.ts'

/** Where objects are looked up by their id. */
type Lookup = { object: <K extends keyof LiveObjects>(kind: K, id: string) => LiveObjects[K] | undefined }

type Share = { readonly id: string; readonly seed: number; readonly weight: number }

/** A funnel as the redirect needs it. */
export type CompiledFunnel = { readonly landings: readonly Share[]; readonly offers: readonly Share[] }

/** Each member with its own seed, so that two funnels with the same members share visitors differently. */
export function compileFunnel({ id, landings, offers }: LiveFunnel): CompiledFunnel {
  const share = (member: string, weight: number): Share => ({ id: member, seed: hashOf(id + member), weight })
  return {
    landings: landings.map(({ landing_id, weight }) => share(landing_id, weight)),
    offers: offers.map(({ offer_id, weight }) => share(offer_id, weight)),
  }
}

/** Archived and deleted objects, and those that never were, take no traffic. */
export function isOpen(object: LiveOffer | LiveLanding | undefined): object is LiveOffer | LiveLanding {
  return object !== undefined && !object.is_deleted && object.status === 'active'
}

/**
 * What a visitor gets of a funnel's landings or offers; undefined where none is open, and `takes` visitors now. `visitor` is `hashOf` his id.
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

/** A number above 0 and at most 1, by visitor and member: the mixed hash of both. */
function draw(visitor: number, seed: number): number {
  return (mixed(mixed(visitor) ^ seed) + 1) / 0x1_0000_0000
}
