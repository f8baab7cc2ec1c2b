/**
 * Limits the calls in progress and shares them out by turns. A slow target, origin or organization keeps only its own call slots busy.
 */
import type { DeliveryTarget } from './lane.ts'

export const SLOT_LIMITS = { all: 64, origin: 4, organization: 16 }
export type SlotLimits = typeof SLOT_LIMITS

/** The most targets whose results are remembered. Beyond it all are forgotten, which slows each target down for a call or two. */
const MOST_REMEMBERED = 10_000

/**
 * Counts calls in progress. A target's limit grows from one with each success and falls back on a failure. Targets whose last call failed share at
 * most half of the slots of their origin, organization and process, so that they never block healthy ones, however many they are.
 */
export class CallSlots {
  readonly #limits: SlotLimits
  readonly #origins = new Map<string, number>()
  readonly #organizations = new Map<number, number>()
  readonly #inHand = new Map<string, { target: DeliveryTarget; count: number }>()
  /** The limit of each target; 0 after a failure, which allows one call from the shared half. */
  readonly #widths = new Map<string, number>()
  #all = 0

  constructor(limits: SlotLimits = SLOT_LIMITS) {
    this.#limits = limits
  }

  /** Takes a slot for a call to the target. False if none is free. */
  take(target: DeliveryTarget): boolean {
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

  #hasRoomForSick({ org_id, origin }: DeliveryTarget): boolean {
    const sick = [...this.#inHand.values()].filter(({ target }) => this.#widths.get(target.target_id) === 0)
    const sum = (list: typeof sick) => list.reduce((total, { count }) => total + count, 0)
    const isBelowHalf = (count: number, limit: number) => count < Math.max(1, Math.floor(limit / 2))
    return (
      isBelowHalf(sum(sick), this.#limits.all) &&
      isBelowHalf(sum(sick.filter(({ target }) => target.origin === origin)), this.#limits.origin) &&
      isBelowHalf(sum(sick.filter(({ target }) => target.org_id === org_id)), this.#limits.organization)
    )
  }

  /** Adjusts the target's limit by the result of a call. */
  note({ target_id }: DeliveryTarget, isGood: boolean): void {
    if (this.#widths.size > MOST_REMEMBERED) this.#widths.clear()
    const width = this.#widths.get(target_id) ?? 1
    this.#widths.set(target_id, isGood ? Math.min(Math.max(2 * width, 2), this.#limits.origin) : 0)
  }

  /** Frees a slot. */
  free({ org_id, origin, target_id }: DeliveryTarget): void {
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
 * Takes slots for the targets in rounds, one each in the given order, until no more are free. Returns the number each got; the caller frees unused
 * ones.
 */
export function shareSlots<T extends DeliveryTarget>(targets: Iterable<T>, slots: CallSlots): Map<T, number> {
  const shares = new Map<T, number>()
  let hopeful = [...targets]
  while (hopeful.length > 0) {
    hopeful = hopeful.filter(target => {
      const isTaken = slots.take(target)
      if (isTaken) shares.set(target, (shares.get(target) ?? 0) + 1)
      return isTaken
    })
  }
  return shares
}
