/**
 * How many deliveries may be under way, and whose turn it is (decision 37). A target, an origin or an organization that is slow keeps
 * only its own places busy.
 */
import type { Target } from './lane.ts'

export const LIMITS = { all: 64, origin: 4, organization: 16 }
export type Limits = typeof LIMITS

/** Counts what is under way. */
export class Places {
  readonly #limits: Limits
  readonly #origins = new Map<string, number>()
  readonly #organizations = new Map<number, number>()
  #all = 0
  constructor(limits: Limits = LIMITS) {
    this.#limits = limits
  }
  get taken(): number {
    return this.#all
  }
  /** Takes a place for a call to the target, if one is free. */
  take({ org_id, origin }: Target): boolean {
    const atOrigin = this.#origins.get(origin) ?? 0
    const ofOrganization = this.#organizations.get(org_id) ?? 0
    const { all, origin: perOrigin, organization } = this.#limits
    if (this.#all >= all || atOrigin >= perOrigin || ofOrganization >= organization) return false
    this.#all += 1
    this.#origins.set(origin, atOrigin + 1)
    this.#organizations.set(org_id, ofOrganization + 1)
    return true
  }
  /** Gives a place back. */
  free({ org_id, origin }: Target): void {
    this.#all -= 1
    lower(this.#origins, origin)
    lower(this.#organizations, org_id)
  }
}

function lower<Key>(counts: Map<Key, number>, key: Key): void {
  const count = (counts.get(key) ?? 1) - 1
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
}

/**
 * Takes places for the targets in turns, one each per round in the order given, until nothing more fits. Answers how many each got;
 * the caller frees what it does not use.
 */
export function shareOut<T extends Target>(targets: Iterable<T>, places: Places): Map<T, number> {
  const shares = new Map<T, number>()
  let hopeful = [...targets]
  while (hopeful.length > 0) {
    hopeful = hopeful.filter(target => {
      const isTaken = places.take(target)
      if (isTaken) shares.set(target, (shares.get(target) ?? 0) + 1)
      return isTaken
    })
  }
  return shares
}
