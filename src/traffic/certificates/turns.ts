/** The order in which due names are ordered. Pure. */
import { MOST_NEW_A_DAY } from './api.ts'

/** A name whose certificate may be ordered now. */
export type DueName = {
  readonly name: string
  /** The organization of the domain; null for the main host. */
  readonly org_id: number | null
  /** Whether it has no certificate yet. */
  readonly is_new: boolean
  /** Unix milliseconds. */
  readonly waits_since: number
}

/** How many orders an organization has started within the last day, for new names or for renewals. */
export type OrdersOfDay = (org_id: number, is_new: boolean) => number

/**
 * Sorts the due names: the main host first, then renewals, then new names. Organizations take turns: one with fewer orders within the day comes
 * first, then the name that has waited longest. New names beyond the daily limit of their organization are left out.
 */
export function inTurns(due: readonly DueName[], ordersOfDay: OrdersOfDay): DueName[] {
  const main = due.filter(({ org_id }) => org_id === null).toSorted(byWaiting)
  return [...main, ...takeTurns(due, false, ordersOfDay), ...takeTurns(due, true, ordersOfDay)]
}

function takeTurns(due: readonly DueName[], is_new: boolean, ordersOfDay: OrdersOfDay): DueName[] {
  const turns: { turn: number; name: DueName }[] = []
  for (const [org_id, names] of Map.groupBy(due, ({ org_id }) => org_id)) {
    if (org_id === null) continue
    const begun = ordersOfDay(org_id, is_new)
    const waiting = names.filter(name => name.is_new === is_new).toSorted(byWaiting)
    turns.push(...waiting.map((name, at) => ({ turn: begun + at + 1, name })))
  }
  return turns
    .filter(({ turn }) => !is_new || turn <= MOST_NEW_A_DAY)
    .toSorted((a, b) => a.turn - b.turn || byWaiting(a.name, b.name))
    .map(({ name }) => name)
}

const byWaiting = (a: DueName, b: DueName) => a.waits_since - b.waits_since || (a.name < b.name ? -1 : 1)
