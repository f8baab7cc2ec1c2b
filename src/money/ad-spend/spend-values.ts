/**
 * Days and amounts as files write them. What can be read in two ways is refused, never guessed: `1,234` may be a thousand or a little
 * more than one, and `03/04/2026` two days.
 */
import { USD } from '../../contract/currencies.ts'
import { EARLIEST_DAY, MAX_SPEND } from './api.ts'

type Wrong = { readonly error: string }
type DateOrder = 'month_first' | 'day_first'

const MAX = BigInt(MAX_SPEND)

/** A UTC day, `YYYY-MM-DD`, out of that form, one with a time of midnight behind it, `DD.MM.YYYY`, or slashes in a known order. */
export function readDay(text: string, order: DateOrder | undefined): { day: string } | Wrong {
  if (text === '') return { error: 'it has no day' }
  const iso = /^(\d{4})-(\d\d)-(\d\d)(?:[T ]00:00(?::00(?:\.0+)?)?(?:Z|\+00:00)?)?$/.exec(text)
  if (iso !== null) return checked(text, iso[1], iso[2], iso[3])
  const dotted = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(text)
  if (dotted !== null) return checked(text, dotted[3], dotted[2], dotted[1])
  const slashed = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(text)
  if (slashed === null) return { error: `${quoted(text)} is no day: write it as 2026-03-31` }
  const [, one, two, year] = slashed
  if (order === undefined)
    return { error: `${quoted(text)} can be read as two days: say whether the month or the day is first` }
  return order === 'day_first' ? checked(text, year, two, one) : checked(text, year, one, two)
}

function checked(text: string, year = '', month = '', date = ''): { day: string } | Wrong {
  const day = `${year}-${month.padStart(2, '0')}-${date.padStart(2, '0')}`
  const time = Date.parse(`${day}T00:00:00Z`)
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== day)
    return { error: `${quoted(text)} is no day of the calendar` }
  return day < EARLIEST_DAY ? { error: `${quoted(text)} is before ${EARLIEST_DAY}` } : { day }
}

/** Which mark stands before the decimals of a file's amounts: told by those that can be read in one way only. */
export type Notation = 'point' | 'comma' | 'unsure' | 'mixed'

// Not three decimals behind up to three digits, or both marks, or the grouping mark twice.
const CERTAIN = /^(\d+\.(\d{1,2}|\d{4,})|0\.\d+|\d{4,}\.\d+|\d{1,3}(,\d{3})+\.\d+|\d{1,3}(,\d{3}){2,})$/

/** How the amounts of one file mark their decimals. */
export function notationOf(texts: readonly string[]): Notation {
  const numbers = texts.map(bare)
  const isPoint = numbers.some(number => CERTAIN.test(number))
  const isComma = numbers.some(number => CERTAIN.test(swapped(number)))
  if (isPoint && isComma) return 'mixed'
  return isPoint ? 'point' : isComma ? 'comma' : 'unsure'
}

/** An amount as a decimal string; null for an empty cell. What says another currency than its line is refused. */
export function readAmount(
  text: string,
  notation: Notation,
  currency: string = USD,
): { amount: string | null } | Wrong {
  if (text === '') return { amount: null }
  const number = bare(text)
  if (/^[-\u2212(]/.test(number)) return { error: `${quoted(text)} is negative` }
  const sign = signOf(text)
  if ((sign ?? currency) !== currency || /[$€£¥₽₴₹]|[A-Za-z]{3}/.test(number))
    return { error: `${quoted(text)} is not in ${currency === USD ? 'US dollars' : currency}` }
  if (/^\d{1,15}$/.test(number)) return withinMost(text, number)
  const pointed = notation === 'comma' ? swapped(number) : number
  const isAmount = /^(\d{1,15}|\d{1,3}(,\d{3})+)(\.\d{1,20})?$/.test(pointed)
  if (isAmount && (notation === 'point' || notation === 'comma')) return withinMost(text, pointed.replaceAll(',', ''))
  if (notation === 'mixed' && /^[\d.,]+$/.test(number))
    return { error: `${quoted(text)}: the file marks its decimals in two ways, with a comma and with a point` }
  return {
    error: /^\d{1,3}[.,]\d{3}$/.test(number)
      ? `${quoted(text)} can be read as two amounts: write it without a mark for thousands`
      : `${quoted(text)} is no amount: write it as 12.50`,
  }
}

function withinMost(text: string, decimal: string): { amount: string } | Wrong {
  const [whole = '0', fraction = ''] = decimal.split('.')
  const isMore = BigInt(whole) > MAX || (BigInt(whole) === MAX && /[1-9]/.test(fraction))
  return isMore ? { error: `${quoted(text)} is more than ${MAX.toLocaleString('en-US')}` } : { amount: decimal }
}

/** Points for commas and commas for points: so one notation is read like the other. */
const swapped = (number: string) => number.replace(/[.,]/g, mark => (mark === '.' ? ',' : '.'))

/** Signs that one currency alone is written with, and the dollar's, which is taken for the American one. */
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

const close = (text: string) => text.replace(/[\s\u00a0\u202f]+/g, '')

/** The currency that an amount says of itself by a sign or code. */
function signOf(text: string): string | undefined {
  const sign = FRONT.exec(close(text))?.[1] ?? BACK.exec(close(text))?.[1]
  return sign === undefined ? undefined : (SIGNS[sign] ?? sign)
}

/** Without what surrounds a number: spaces, a sign or a code in front or behind. */
const bare = (text: string) => close(text).replace(FRONT, '').replace(BACK, '')

/** As much of a cell as fits into a sentence. */
const quoted = (text: string) => `“${text.length > 40 ? `${text.slice(0, 40)}…` : text}”`
