// The conditions of click flows. A condition is compiled once per published version; evaluating it allocates nothing and reads no clock.
import type { TestEnds } from '../campaigns/live-rows.ts'
import { HOUR_MS, MINUTE_MS } from '../../contract/days.ts'
import type { Sub } from '../../contract/fields.ts'
import type { FlowNode } from './api.ts'
import { DAYS } from './api.ts'

/** A visitor. `seed` identifies them for splits; `ms` is the time of the visit (Unix). */
export type FlowVisitor = Readonly<Record<Sub, string | null>> & {
  readonly geo: string | null
  readonly device: string | null
  readonly os: string | null
  readonly browser: string | null
  /** The preferred language, as sent: `pt-BR`. */
  readonly language: string | null
  readonly is_new: boolean
  /** The last visit to this campaign; null if there was none, or it was too long ago to be remembered. */
  readonly seen_ms: number | null
  readonly is_bot: boolean
  readonly ms: number
  readonly seed: string
  /** The ended split tests of the flow. */
  readonly ends?: TestEnds
}

type Test = (visitor: FlowVisitor) => boolean

const never: Test = () => false

/** Compiles a condition node. An incomplete one, which only a draft can have, is always false. */
export function compileCondition(node: FlowNode): Test {
  const { field } = node
  if (field == null) return never
  if (field === 'uniqueness') return uniquenessTest(node)
  if (field === 'bot') return visitor => visitor.is_bot
  if (field === 'time') return timeTest(node)
  if (field === 'language') return languageTest(node)
  const fits = textTest(node)
  return visitor => {
    const value = visitor[field]
    return value !== null && fits(value)
  }
}

/** With hours: no visit to this campaign in that time. Without: no earlier visit to any campaign. */
function uniquenessTest({ within_hours }: FlowNode): Test {
  if (within_hours == null) return visitor => visitor.is_new
  const span_ms = within_hours * HOUR_MS
  return ({ seen_ms, ms }) => seen_ms === null || ms - seen_ms >= span_ms
}

function textTest({ field, match, values }: FlowNode): (value: string) => boolean {
  // Countries and devices come from fixed lists, so only whole values are compared.
  const how = field === 'geo' || field === 'device' ? 'is' : (match ?? 'is')
  if (how === 'is_set') return value => value !== ''
  const wanted = (values ?? []).map(value => value.toLowerCase())
  if (how === 'contains') return value => some(wanted, value, (text, part) => text.includes(part))
  if (how === 'starts_with') return value => some(wanted, value, (text, part) => text.startsWith(part))
  const set = new Set(wanted)
  return value => set.has(value.toLowerCase())
}

function some(wanted: readonly string[], value: string, fits: (text: string, part: string) => boolean): boolean {
  const text = value.toLowerCase()
  return wanted.some(part => fits(text, part))
}

/** `pt` matches every Portuguese, `pt-BR` only Brazilian Portuguese. */
function languageTest({ values }: FlowNode): Test {
  const wanted = new Set((values ?? []).map(value => value.toLowerCase().replace('_', '-')))
  return ({ language }) => {
    if (language === null) return false
    const tag = language.toLowerCase()
    const dash = tag.indexOf('-')
    return wanted.has(tag) || (dash > 0 && wanted.has(tag.slice(0, dash)))
  }
}

const DAY_MINUTES = 1440

/** The day is the calendar day of the visit: 23:00 to 02:00 on Saturdays means the first two hours and the last hour of Saturday. */
function timeTest({ days, from_time, to_time, time_zone }: FlowNode): Test {
  const clock = zoneClock(time_zone ?? 'UTC')
  if (clock === undefined) return never
  const wanted = new Set((days?.length ? days : DAYS).map(day => DAYS.indexOf(day)))
  const from = minutesOf(from_time) ?? 0
  const to = minutesOf(to_time) ?? DAY_MINUTES
  return ({ ms }) => {
    const { day, minute } = clock(ms)
    if (!wanted.has(day)) return false
    return from <= to ? from <= minute && minute < to : minute >= from || minute < to
  }
}

/** The minutes since midnight of a time such as `09:30`. */
function minutesOf(time: string | null | undefined): number | undefined {
  if (time == null) return undefined
  const [hours = '0', minutes = '0'] = time.split(':')
  return Number(hours) * 60 + Number(minutes)
}

type Moment = { readonly day: number; readonly minute: number }

/**
 * The day (0 is Monday) and the minute of the day in a time zone; undefined for an unknown zone. The result is cached for its minute, because the
 * calendar call takes longer than the rest of a walk.
 */
export function zoneClock(zone: string): ((ms: number) => Moment) | undefined {
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      weekday: 'short',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    })
  } catch {
    return undefined
  }
  let kept = { at: Number.NaN, moment: { day: 0, minute: 0 } }
  return ms => {
    const at = Math.floor(ms / MINUTE_MS)
    if (kept.at !== at) kept = { at, moment: momentOf(format, ms) }
    return kept.moment
  }
}

function momentOf(format: Intl.DateTimeFormat, ms: number): Moment {
  const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, value]))
  const day = DAYS.findIndex(name => name === parts.get('weekday')?.slice(0, 3).toLowerCase())
  return { day, minute: Number(parts.get('hour')) * 60 + Number(parts.get('minute')) }
}

/** The first language of an Accept-Language header, without its weight; null if there is none. */
export function languageOf(header: string | string[] | undefined): string | null {
  const text = Array.isArray(header) ? header.join(',') : header
  if (!text) return null
  let best: string | null = null
  let most = 0
  for (const item of text.slice(0, 500).split(',')) {
    const [tag = '', ...parameters] = item.split(';')
    const name = tag.trim()
    const weight = weightOf(parameters)
    if (weight > most && /^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8}){0,3}$/.test(name)) [best, most] = [name, weight]
  }
  return best
}

function weightOf(parameters: readonly string[]): number {
  const said = parameters
    .map(parameter => /^\s*q=([\d.]+)\s*$/i.exec(parameter)?.[1])
    .find(value => value !== undefined)
  return said === undefined ? 1 : Number(said)
}
