/** Reads the times of a network's file: days, local times, moments with a zone, and Unix times. Ambiguous dates are refused, never guessed. */
import { DAY_MS } from '../../contract/days.ts'
import { parseMoment } from '../../contract/moments.ts'
import { dayBeginsIn, minutesAhead } from '../../contract/time-zones.ts'

export type DateOrder = 'month_first' | 'day_first'
/** A time of a line, Unix ms. `until` is its last moment, for a day the end of it. `isDay`: the line names no time of day. */
export type FileTime = { readonly ms: number; readonly until: number; readonly isDay: boolean }

const SLASHED = /^(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?:[ ,T]+(.*))?$/
const CLOCK = /^(\d{1,2}):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?\s*(am|pm)?$/i
const ZONED = /(?:[Zz]|[+-]\d\d:?\d\d)$/

/** Whether the month or the day comes first, told by the dates that can be read in one way only. Undefined if none tells it, or they disagree. */
export function dateOrderOf(texts: readonly string[]): DateOrder | undefined {
  const found = new Set<DateOrder>()
  for (const text of texts) {
    const [, one, mark, two] = SLASHED.exec(text) ?? []
    if (mark !== '/' && mark !== '-') continue
    if (Number(one) > 12) found.add('day_first')
    if (Number(two) > 12) found.add('month_first')
  }
  const [only, ...others] = found
  return others.length === 0 ? only : undefined
}

/** Reads a cell. Null for an empty one. */
export function readTime(
  text: string,
  zone: string,
  order: DateOrder | undefined,
): FileTime | { error: string } | null {
  if (text === '') return null
  const quoted = `“${text.slice(0, 40)}”`
  if (/^\d{10}$|^\d{13}$/.test(text)) return momentAt(Number(text) * (text.length === 10 ? 1000 : 1))
  const iso = isoOf(text, order)
  if (iso === UNCLEAR)
    return { error: `${quoted} can be read as two days: choose whether the month or the day comes first` }
  const plain = iso === undefined ? undefined : parseMoment(iso)
  if (iso === undefined || plain === undefined)
    return { error: `${quoted} is not a time: write it as 2026-03-31 14:05:00` }
  if (ZONED.test(iso) && iso.includes(':')) return momentAt(plain.ms)
  if (!iso.includes(':')) {
    const day = iso.slice(0, 10)
    const next = new Date(Date.parse(`${day}T00:00:00Z`) + DAY_MS).toISOString().slice(0, 10)
    return { ms: dayBeginsIn(zone, day), until: dayBeginsIn(zone, next) - 1, isDay: true }
  }
  return momentAt(inZone(zone, plain.ms))
}

const momentAt = (ms: number): FileTime => ({ ms, until: ms, isDay: false })

/** The moment of a local time, given as if it were UTC. If the hour occurs twice, the first one. */
function inZone(zone: string, local: number): number {
  if (zone === 'UTC') return local
  const ahead = (ms: number) => (minutesAhead(zone, ms) ?? 0) * 60_000
  const before = ahead(local - DAY_MS)
  const both = [local - before, local - ahead(local + DAY_MS)]
  return both.find(moment => moment + ahead(moment) === local) ?? local - before
}

/** In place of ISO 8601, for a date that can be read as two days. */
const UNCLEAR = 'unclear'

/** The text as ISO 8601, or `UNCLEAR`. Undefined if it has no known form. */
function isoOf(text: string, order: DateOrder | undefined): string | undefined {
  const [, one = '', mark, two = '', year = '', clock] = SLASHED.exec(text) ?? []
  if (mark === undefined) {
    const [, date, time] = /^(\d{4}[-/.]\d\d[-/.]\d\d)(?:[ T]+(.+))?$/.exec(text) ?? []
    if (date === undefined) return undefined
    const day = date.replaceAll(/[/.]/g, '-')
    if (time === undefined) return day
    const rest = /[ap]m$/i.test(time) ? clockOf(time) : time.replace(/\s*(UTC|GMT)$/i, 'Z').replace(/\s+(?=[+-])/, '')
    return rest === undefined ? undefined : `${day}T${rest}`
  }
  const chosen = mark === '.' ? 'day_first' : order
  if (chosen === undefined) return UNCLEAR
  const [day, month] = chosen === 'day_first' ? [one, two] : [two, one]
  const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  if (clock === undefined || clock === '') return date
  const read = clockOf(clock)
  return read === undefined ? undefined : `${date}T${read}`
}

/** A time of day as HH:MM:SS. */
function clockOf(text: string): string | undefined {
  const [, hour, minute, second = '00', fraction, half] = CLOCK.exec(text) ?? []
  if (hour === undefined || minute === undefined) return undefined
  const isLate = half?.toLowerCase() === 'pm'
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (isLate ? 12 : 0)
  return `${String(hours).padStart(2, '0')}:${minute}:${second}${fraction === undefined ? '' : `.${fraction}`}`
}
