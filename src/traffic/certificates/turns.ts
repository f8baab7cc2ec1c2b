/** Which of the due names is ordered next. Pure. */
import { MOST_NEW_A_DAY } from './api.ts'

/** A name whose certificate may be ordered now. */
export type DueName = {
  readonly name: string
  /** The workspace of the domain; null: the main host. */
  readonly org_id: number | null
  /** It has no certificate yet. */
  readonly is_new: boolean
  /** Unix milliseconds. */
  readonly waits_since: number
}

/** How many orders of a kind a workspace has begun within the last day. */
export type OrdersOfDay = (org_id: number, is_new: boolean) => number

/**
 * The names in the order they are to be ordered in: the main host, then renewals, then new names. Workspaces take turns: one that has begun fewer
 * orders within the day comes first, then whoever waits longest. New names beyond the limit of their workspace are left out.
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
