/**
 * Reads days and amounts of spend files. Ambiguous values are refused, never guessed: `1,234` may be a thousand or a little more than one, and
 * `03/04/2026` may be March or April.
 */
import { USD } from '../../contract/currencies.ts'
import { EARLIEST_DAY, MAX_SPEND } from './api.ts'

type WrongValue = { readonly error: string }
type DateOrder = 'month_first' | 'day_first'

const MAX = BigInt(MAX_SPEND)

/** Reads a UTC day as `YYYY-MM-DD` from that format, with or without a time of midnight, from `DD.MM.YYYY`, or from slashes in a known order. */
export function readDay(text: string, order: DateOrder | undefined): { day: string } | WrongValue {
  if (text === '') return { error: 'it has no day' }
  const iso = /^(\d{4})-(\d\d)-(\d\d)(?:[T ]00:00(?::00(?:\.0+)?)?(?:Z|\+00:00)?)?$/.exec(text)
  if (iso !== null) return calendarDay(text, iso[1], iso[2], iso[3])
  const dotted = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(text)
  if (dotted !== null) return calendarDay(text, dotted[3], dotted[2], dotted[1])
  const slashed = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(text)
  if (slashed === null) return { error: `${quoted(text)} is not a day: write it as 2026-03-31` }
  const [, one, two, year] = slashed
  if (order === undefined)
    return { error: `${quoted(text)} can be read as two days: choose whether the month or the day comes first` }
  return order === 'day_first' ? calendarDay(text, year, two, one) : calendarDay(text, year, one, two)
}

function calendarDay(text: string, year = '', month = '', date = ''): { day: string } | WrongValue {
  const day = `${year}-${month.padStart(2, '0')}-${date.padStart(2, '0')}`
  const time = Date.parse(`${day}T00:00:00Z`)
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== day)
    return { error: `${quoted(text)} does not exist in the calendar` }
  return day < EARLIEST_DAY ? { error: `${quoted(text)} is before ${EARLIEST_DAY}` } : { day }
}

/** The decimal mark of a file's amounts, determined by the amounts that can be read in one way only. */
export type Notation = 'point' | 'comma' | 'unsure' | 'mixed'

// Unambiguous: other than three decimals, more than three digits before them, both marks, or the grouping mark twice.
const CERTAIN = /^(\d+\.(\d{1,2}|\d{4,})|0\.\d+|\d{4,}\.\d+|\d{1,3}(,\d{3})+\.\d+|\d{1,3}(,\d{3}){2,})$/

/** Determines the decimal mark of the amounts of one file. */
export function notationOf(texts: readonly string[]): Notation {
  const numbers = texts.map(bareNumber)
  const isPoint = numbers.some(number => CERTAIN.test(number))
  const isComma = numbers.some(number => CERTAIN.test(swapMarks(number)))
  if (isPoint && isComma) return 'mixed'
  return isPoint ? 'point' : isComma ? 'comma' : 'unsure'
}

/** Reads an amount as a decimal string, or null for an empty cell. A sign of another currency than the line's is an error. */
export function readAmount(
  text: string,
  notation: Notation,
  currency: string = USD,
): { amount: string | null } | WrongValue {
  if (text === '') return { amount: null }
  const number = bareNumber(text)
  if (/^[-\u2212(]/.test(number)) return { error: `${quoted(text)} is negative` }
  const sign = signOf(text)
  if ((sign ?? currency) !== currency || /[$€£¥₽₴₹]|[A-Za-z]{3}/.test(number))
    return { error: `${quoted(text)} is not in ${currency === USD ? 'US dollars' : currency}` }
  if (/^\d{1,15}$/.test(number)) return withinMaximum(text, number)
  const pointed = notation === 'comma' ? swapMarks(number) : number
  const isAmount = /^(\d{1,15}|\d{1,3}(,\d{3})+)(\.\d{1,20})?$/.test(pointed)
  if (isAmount && (notation === 'point' || notation === 'comma'))
    return withinMaximum(text, pointed.replaceAll(',', ''))
  if (notation === 'mixed' && /^[\d.,]+$/.test(number))
    return { error: `${quoted(text)}: the file uses both a comma and a point for decimals` }
  return {
    error: /^\d{1,3}[.,]\d{3}$/.test(number)
      ? `${quoted(text)} can be read as two amounts: write it without a thousands separator`
      : `${quoted(text)} is not an amount: write it as 12.50`,
  }
}

function withinMaximum(text: string, decimal: string): { amount: string } | WrongValue {
  const [whole = '0', fraction = ''] = decimal.split('.')
  const isMore = BigInt(whole) > MAX || (BigInt(whole) === MAX && /[1-9]/.test(fraction))
  return isMore ? { error: `${quoted(text)} is more than ${MAX.toLocaleString('en-US')}` } : { amount: decimal }
}

/** Swaps points and commas, so that both notations are read alike. */
const swapMarks = (number: string) => number.replace(/[.,]/g, mark => (mark === '.' ? ',' : '.'))

/** Signs of a single currency. `$` is read as the US dollar. */
const SIGNS: Readonly<Record<string, string>> = {
  US$: USD,
  $: USD,
  '€': 'EUR',
  '£': 'GBP',
  '₽': 'RUB',
  '₴': 'UAH',
  '₹': 'INR',
}
const SIGN = String.raw`US\$|[$€£₽₴₹]|[A-Z]{3}`
const FRONT = new RegExp(`^(${SIGN})`)
const BACK = new RegExp(`(${SIGN})$`)

const withoutSpaces = (text: string) => text.replace(/[\s\u00a0\u202f]+/g, '')

/** The currency of an amount by its own sign or code. */
function signOf(text: string): string | undefined {
  const sign = FRONT.exec(withoutSpaces(text))?.[1] ?? BACK.exec(withoutSpaces(text))?.[1]
  return sign === undefined ? undefined : (SIGNS[sign] ?? sign)
}

/** The number without spaces and without a currency sign or code in front or behind. */
const bareNumber = (text: string) => withoutSpaces(text).replace(FRONT, '').replace(BACK, '')

/** The cell in quotation marks, cut to fit into a sentence. */
const quoted = (text: string) => `“${text.length > 40 ? `${text.slice(0, 40)}…` : text}”`
