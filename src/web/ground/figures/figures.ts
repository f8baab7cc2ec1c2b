/** Formats numbers, money and times. Times are in the screen's time zone, calendar dates as they are. Money stays exact, and a ratio without a base is a dash. */
import { zoneNow, zoneWords } from '../zone.ts'

export const NONE = '—'

const counts = new Intl.NumberFormat('en-US')
const dollars = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
const fine = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 6 })
const small = new Intl.NumberFormat('en-US', { minimumFractionDigits: 3, maximumFractionDigits: 3 })
const short = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 })

export const count = (value: number) => counts.format(value)

/** A decimal string with two decimals and grouping, formatted as text so that no digit is lost. */
export const money = (text: string) => dollars.format(text as Intl.StringNumericLiteral)

/** The prefix of an amount: `$`, `€`, or the code if the currency has no sign. */
export function signOf(currency: string): string {
  if (currency.length !== 3) return `${currency} `
  const parts = new Intl.NumberFormat('en-US', { style: 'currency', currency }).formatToParts(0)
  const sign = parts.find(({ type }) => type === 'currency')?.value ?? currency
  return /[A-Za-z]$/.test(sign) ? `${sign} ` : sign
}

/** For tables: a dash if there is no amount, and the minus sign of the other figures. */
export const moneyOrNone = (text: string | undefined) => (text === undefined ? NONE : money(text).replace('-', '−'))

/** With all stored decimals. */
export const exactMoney = (text: string) => fine.format(text as Intl.StringNumericLiteral)

export const compact = (value: number) => short.format(value)

/** The whole cents of a two-decimal string. Use them for sums and differences of money. */
export function cents(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.')
  const value = BigInt(whole.replace('-', '') + fraction.slice(0, 2).padEnd(2, '0'))
  return whole.startsWith('-') ? -value : value
}

export function fromCents(value: bigint): string {
  const digits = (value < 0n ? -value : value).toString().padStart(3, '0')
  return `${value < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

/** part / base, or undefined where there is no base. */
export function ratio(part: number, base: number): number | undefined {
  return base === 0 ? undefined : part / base
}

export function percent(value: number | undefined, signed = false): string {
  if (value === undefined) return NONE
  const shown =
    Math.abs(value) >= 10
      ? counts.format(Math.round(value * 100))
      : (value * 100).toFixed(Math.abs(value) < 0.1 ? 2 : 1)
  return `${signed && value > 0 ? '+' : ''}${shown.replace('-', '−')}%`
}

/** Dollars of a ratio, such as EPC: three decimals below one dollar, two above. */
export function perUnit(value: number | undefined): string {
  if (value === undefined) return NONE
  return value !== 0 && Math.abs(value) < 1 ? small.format(value) : dollars.format(value)
}

type Shape = Intl.DateTimeFormatOptions
const DAY: Shape = { day: 'numeric', month: 'short', year: 'numeric' }
const SHORT_DAY: Shape = { day: 'numeric', month: 'short' }
const MOMENT: Shape = { ...DAY, hour: '2-digit', minute: '2-digit' }
const CLOCK: Shape = { ...SHORT_DAY, hour: '2-digit', minute: '2-digit', second: '2-digit' }

/** Creating a format takes longer than using it a hundred times. */
const formats = new Map<string, Intl.DateTimeFormat>()

function formatted(shape: Shape, iso: string): string {
  // A date without a time is a calendar date in every time zone.
  const timeZone = iso.length === 10 ? 'UTC' : zoneNow()
  const key = `${timeZone} ${Object.keys(shape).join()}`
  const format = formats.get(key) ?? new Intl.DateTimeFormat('en-GB', { ...shape, timeZone })
  formats.set(key, format)
  return format.format(new Date(iso))
}

export const day = (iso: string) => formatted(DAY, iso)
export const shortDay = (iso: string) => formatted(SHORT_DAY, iso)
export const moment = (iso: string) => `${formatted(MOMENT, iso)} ${zoneWords()}`
export const exactMoment = (iso: string) => formatted(CLOCK, iso)

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const STEPS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const

/** "3 hours ago". Show the exact time in a title. */
export function ago(iso: string, now = Date.now()): string {
  const seconds = (Date.parse(iso) - now) / 1000
  for (const [unit, length] of STEPS)
    if (Math.abs(seconds) >= length) return relative.format(Math.round(seconds / length), unit)
  return 'just now'
}

const UNITS = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
] as const

/** A duration in its two largest units: "2 h 10 min". */
export function span(seconds: number): string {
  if (seconds < 60) return `${Math.max(1, Math.round(seconds))} s`
  const at = UNITS.findIndex(([length]) => seconds >= length)
  const [length = 60, unit = 'min'] = UNITS[at] ?? []
  const rest = UNITS[at + 1]
  const whole = Math.floor(seconds / length)
  const left = rest === undefined ? 0 : Math.floor((seconds % length) / rest[0])
  return left === 0 || rest === undefined ? `${whole} ${unit}` : `${whole} ${unit} ${left} ${rest[1]}`
}

/** The size of a file: "45.2 MB". */
export const fileSize = (size: number): string =>
  size < 1e6
    ? `${count(Math.ceil(size / 1000))} kB`
    : size < 1e9
      ? `${(size / 1e6).toFixed(1)} MB`
      : `${(size / 1e9).toFixed(1)} GB`

const regions = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' })

/** The English name of a country code. */
export function country(code: string): string {
  return /^[A-Z]{2}$/.test(code) ? (regions.of(code) ?? code) : code
}
