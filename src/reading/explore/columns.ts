/** The SQL of each dimension over the local files, and its keys in answers. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../contract/days.ts'
import { type ExploreDimension, isObjectDimension, isTextDimension } from '../../contract/explore-dimensions.ts'
import { toWireId } from '../../contract/ids.ts'
import { LADDER, REACHED } from '../../contract/ladder.ts'
import { minutesAhead } from '../../contract/time-zones.ts'
import type { Window } from '../../contract/window.ts'

/** A value that a scan returns. */
export type ScanValue = string | number | bigint | boolean | null

/** Untrusted text as a literal: DuckDB knows no escape but the doubled quote. */
export const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`

/** The number of the highest stage, which is the click's status. */
const RUNG = `case ${REACHED.map((bit, at) => `when stages >= ${bit} then ${at + 1}`)
  .toReversed()
  .join(' ')} else 0 end`

/** Days since 1970 of a UTC day, YYYY-MM-DD. */
export const dayNumber = (day: string): number => Date.parse(day) / DAY_MS

/** The moment of a click, in milliseconds by UTC. */
export const MADE = `(d::bigint * ${DAY_MS} + ms)`

/** A click's value in a dimension, in SQL. `local` is the SQL of `localTime`. */
export function columnOf(dimension: ExploreDimension, local: string): string {
  if (isTextDimension(dimension) || isObjectDimension(dimension)) return dimension
  // By UTC the columns hold day and time already.
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
    case 'way':
    case 'is_left_out':
      return dimension
  }
}

/** At least two digits. */
export const two = (number: number) => String(number).padStart(2, '0')

/** A value of `columnOf` as a key of the answer. */
export function wireKeyOf(dimension: ExploreDimension, value: ScanValue | undefined): string | null {
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

/** No zone changes its clocks twice within so long. */
const STEP_MS = 6 * HOUR_MS

/** SQL of a click's local time in a zone, in milliseconds as if it were UTC. It holds for the clicks of `window`. */
export function localTime(zone: string, { from, to }: Window): string {
  const offset = (ms: number) => Math.round((minutesAhead(zone, ms) ?? 0) * MINUTE_MS)
  let current = offset(from)
  const whens: string[] = []
  for (let ms = from; ms < to; ) {
    const next = Math.min(ms + STEP_MS, to)
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

/** The first moment after `low` at which the offset is `changed`, as it is at `high`. */
function firstWith(changed: number, low: number, high: number, offset: (ms: number) => number): number {
  let [before, after] = [low, high]
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (offset(middle) === changed) after = middle
    else before = middle
  }
  return after
}
