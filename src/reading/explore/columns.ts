/** What a dimension is in SQL over the local files, and what its keys are on the wire. */
import { DAY_MS, HOUR_MS } from '../../contract/days.ts'
import { type ExploreDimension, isObjectDimension, isTextDimension } from '../../contract/explore-dimensions.ts'
import { toWireId } from '../../contract/ids.ts'
import { LADDER } from '../../contract/ladder.ts'
import { minutesAhead } from '../../contract/time-zones.ts'
import type { Window } from '../../contract/window.ts'

/** A value as it is found. */
export type Cell = string | number | bigint | boolean | null
export type Dimension = ExploreDimension

/** Text of outside as a literal: the scanner knows no escape but the doubled quote. */
export const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`

/** The highest stage, as the click's status has it. */
const RUNG = `case ${LADDER.map((_, rung) => rung)
  .toReversed()
  .filter(rung => rung > 0)
  .map(rung => `when stages >= ${1 << rung} then ${rung}`)
  .join(' ')} else 0 end`

/** The moment of a click, in milliseconds by UTC. */
export const MADE = `(d::bigint * ${DAY_MS} + ms)`

/** The value of a click in a dimension. `local` is the moment by the clocks of the zone, in milliseconds. */
export function columnOf(dimension: Dimension, local: string): string {
  if (isTextDimension(dimension) || isObjectDimension(dimension)) return dimension
  // Where the clocks are UTC's, nothing is to be worked out of a moment.
  const day = local === MADE ? 'd' : `${local} // ${DAY_MS}`
  const hour = local === MADE ? `ms // ${HOUR_MS}` : `(${local} // ${HOUR_MS}) % 24`
  // The first of January 1970 was a Thursday.
  const weekday = `(${day} + 3) % 7 + 1`
  switch (dimension) {
    case 'day':
      return `(${day})::integer`
    case 'hour':
      return `(${hour})::integer`
    case 'weekday':
      return `(${weekday})::integer`
    case 'weekday_hour':
      return `((${weekday}) * 24 + ${hour})::integer`
    case 'is_new':
      return `case when is_new then 'true' else 'false' end`
    case 'status':
      return RUNG
  }
}

const two = (number: number) => String(number).padStart(2, '0')

/** A value of `columnOf` as the key that is sent. */
export function keyOf(dimension: Dimension, value: Cell | undefined): string | null {
  if (value === null || value === undefined) return null
  if (isObjectDimension(dimension)) return toWireId(String(value))
  const number = Number(value)
  switch (dimension) {
    case 'day':
      return new Date(number * DAY_MS).toISOString().slice(0, 10)
    case 'hour':
      return two(number)
    case 'weekday_hour':
      return `${Math.floor(number / 24)}-${two(number % 24)}`
    case 'status':
      return LADDER[number] ?? 'clicked'
    default:
      return String(value)
  }
}

const LOOK_EVERY_MS = 6 * HOUR_MS

/** The moment of a click by the clocks of a zone, in milliseconds as if they were UTC's. `window` holds all that are asked for. */
export function localTime(zone: string, { from, to }: Window): string {
  const offset = (ms: number) => Math.round((minutesAhead(zone, ms) ?? 0) * 60_000)
  let current = offset(from)
  const whens: string[] = []
  for (let ms = from; ms < to; ) {
    const next = Math.min(ms + LOOK_EVERY_MS, to)
    const changed = offset(next)
    if (changed !== current) {
      const at = firstWith(changed, ms, next, offset)
      whens.push(`when ${MADE} < ${at} then ${current}`)
      current = changed
    }
    ms = next
  }
  const ahead = whens.length === 0 ? String(current) : `case ${whens.join(' ')} else ${current} end`
  return current === 0 && whens.length === 0 ? MADE : `(${MADE} + ${ahead})`
}

/** The first moment after `low` at which the clocks show what they show at `high`. */
function firstWith(changed: number, low: number, high: number, offset: (ms: number) => number): number {
  let [before, after] = [low, high]
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (offset(middle) === changed) after = middle
    else before = middle
  }
  return after
}
