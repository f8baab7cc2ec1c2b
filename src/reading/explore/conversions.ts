/**
 * Conversions of the goal, as a question counts them: the local copy has how many of each type are approved, pending and rejected, and which types
 * are a campaign's goal is looked up when it is asked, because that may change at any time and holds for the past.
 */
import { EVENT_TYPES } from '../../contract/event-types.ts'
import type { Goals } from '../../traffic/event-settings/goals.ts'
import { quoted } from './columns.ts'
import { PAIR_SIZE } from './pairs.ts'

/** A type's approved and pending ones in one number, as `PAIRS` are; and its rejected ones. */
const heldIn = (type: string) => `of_${type}`
const refusedIn = (type: string) => `refused_${type}`

/** How many of a type a fact's `conversions` name, by the place among its three counts. */
const named = (type: string, place: 1 | 2 | 3) =>
  `regexp_extract(conversions, '${type}:(\\d+),(\\d+),(\\d+)', ${place})::bigint`
const whereNamed = (type: string, count: string) =>
  `case when contains(conversions, '${type}:') then sign * (${count}) else 0 end`

/** The columns of the local copy, read from a fact's `conversions`; with their sign. */
export const STANDING_COLUMNS = EVENT_TYPES.flatMap(type => [
  `(${whereNamed(type, `${named(type, 1)} + ${named(type, 2)} * ${PAIR_SIZE}`)})::bigint as ${heldIn(type)}`,
  `(${whereNamed(type, named(type, 3))})::integer as ${refusedIn(type)}`,
])

/** The types of each campaign's goal added up, of the columns that `of` names. */
function ofGoal({ goal, own }: Goals, of: (type: string) => string): string {
  const sum = (types: readonly string[]) => `(${types.map(of).join(' + ')})`
  const alike = Map.groupBy(own, one => one.goal.toSorted().join())
  const whens = [...alike.values()].map(
    all => `when campaign in (${all.map(({ id }) => quoted(id)).join(', ')}) then ${sum(all[0]?.goal ?? goal)}`,
  )
  return whens.length === 0 ? sum(goal) : `case ${whens.join(' ')} else ${sum(goal)} end`
}

/** The sums that are made of types, as columns of a scan. */
export const goalColumns = (goals: Goals): Readonly<Record<string, string>> => ({
  conversions_conversions_pending: ofGoal(goals, heldIn),
  conversions_rejected: ofGoal(goals, refusedIn),
})
