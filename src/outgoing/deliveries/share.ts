/**
 * How many deliveries may be under way, and whose turn it is. A target, an origin or an organization that is slow keeps
 * only its own places busy.
 */
import type { Target } from './lane.ts'

export const LIMITS = { all: 64, origin: 4, organization: 16 }
export type Limits = typeof LIMITS

/** Beyond this many remembered targets it is forgotten how they went, which costs each a call or two at half speed. */
const REMEMBERED = 10_000

/**
 * Counts what is under way. How many calls a target may have at once grows from one with its successes and falls back with a failure, and
 * those that failed last share half of what their origin, their organization and the process have: so sick targets never take all the
 * places of healthy ones, however many they are.
 */
export class Places {
  readonly #limits: Limits
  readonly #origins = new Map<string, number>()
  readonly #organizations = new Map<number, number>()
  readonly #inHand = new Map<string, { target: Target; count: number }>()
  /** How many calls at once; 0 is one call on probation, after a failure. */
  readonly #widths = new Map<string, number>()
  #all = 0

  constructor(limits: Limits = LIMITS) {
    this.#limits = limits
  }

  /** Takes a place for a call to the target, if one is free. */
  take(target: Target): boolean {
    const { org_id, origin, target_id } = target
    const { all, origin: perOrigin, organization } = this.#limits
    if (this.#all >= all) return false
    const atOrigin = this.#origins.get(origin) ?? 0
    const ofOrganization = this.#organizations.get(org_id) ?? 0
    if (atOrigin >= perOrigin || ofOrganization >= organization) return false
    const mine = this.#inHand.get(target_id) ?? { target, count: 0 }
    const width = this.#widths.get(target_id) ?? 1
    if (mine.count >= Math.max(1, width) || (width === 0 && !this.#hasRoomForSick(target))) return false
    mine.count += 1
    this.#inHand.set(target_id, mine)
    this.#all += 1
    this.#origins.set(origin, atOrigin + 1)
    this.#organizations.set(org_id, ofOrganization + 1)
    return true
  }

  #hasRoomForSick({ org_id, origin }: Target): boolean {
    const sick = [...this.#inHand.values()].filter(({ target }) => this.#widths.get(target.target_id) === 0)
    const sum = (list: typeof sick) => list.reduce((total, { count }) => total + count, 0)
    const isBelowHalf = (count: number, limit: number) => count < Math.max(1, Math.floor(limit / 2))
    return (
      isBelowHalf(sum(sick), this.#limits.all) &&
      isBelowHalf(sum(sick.filter(({ target }) => target.origin === origin)), this.#limits.origin) &&
      isBelowHalf(sum(sick.filter(({ target }) => target.org_id === org_id)), this.#limits.organization)
    )
  }

  /** Remembers how a call to the target went. */
  note({ target_id }: Target, isGood: boolean): void {
    if (this.#widths.size > REMEMBERED) this.#widths.clear()
    const width = this.#widths.get(target_id) ?? 1
    this.#widths.set(target_id, isGood ? Math.min(Math.max(2 * width, 2), this.#limits.origin) : 0)
  }

  /** Gives a place back. */
  free({ org_id, origin, target_id }: Target): void {
    this.#all -= 1
    lower(this.#origins, origin)
    lower(this.#organizations, org_id)
    const mine = this.#inHand.get(target_id)
    if (mine === undefined || mine.count <= 1) this.#inHand.delete(target_id)
    else mine.count -= 1
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
