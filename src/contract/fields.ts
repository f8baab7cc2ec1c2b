/**
 * Shared fields. A codec has two formats: the wire's and the internal one (uuid, database text). Requests are decoded and replies encoded, so one
 * schema serves validation, the API reference and the browser.
 */
import { z } from 'zod'
import { LAST_MS } from './days.ts'
import { fromUnits, toUnits } from './decimals.ts'
import { toUuid, toWireId } from './ids.ts'
import { msOfDatabase, parseMoment } from './moments.ts'

/** An id: 26 base32 characters on the wire (uuids are accepted too), a uuid inside. */
export const Id = z.codec(
  z.string().meta({ description: 'Id, 26 lower-case characters', examples: ['01h455vb4pex5vsknk084sn02q'] }),
  z.string(),
  {
    decode: (wire, context) => {
      const uuid = toUuid(wire)
      if (uuid !== undefined) return uuid
      context.issues.push({ code: 'custom', message: 'is not an id', input: wire })
      return z.NEVER
    },
    encode: uuid => toWireId(uuid),
  },
)

/** With `LAST_MS`: the years 1 to 9999, which fit the database and four digits. */
const FIRST_MS = Date.parse('0001-01-01T00:00:00Z')

/** A moment: ISO 8601 in UTC with a trailing Z on the wire, the database's own text or ISO inside. */
export const Instant = z.codec(z.string().meta({ format: 'date-time', description: 'UTC, ISO 8601' }), z.string(), {
  decode: (wire, context) => {
    const ms = parseMoment(wire)?.ms
    if (ms !== undefined && ms >= FIRST_MS && ms <= LAST_MS) return new Date(ms).toISOString()
    context.issues.push({ code: 'custom', message: 'is not an ISO 8601 time', input: wire })
    return z.NEVER
  },
  encode: text => new Date(msOfDatabase(text)).toISOString(),
})

/** An exact amount of US dollars as a decimal string. */
export const Money = z.string().meta({ description: 'US dollars, a decimal string', examples: ['12.50'] })

/** The highest payout of a conversion, and so of an offer, in US dollars. */
export const MAX_PAYOUT = 1_000_000

const PLAIN_DECIMAL = /^\d{1,15}(\.\d{1,30})?$/

/**
 * An amount in a request: a number or a plain decimal string ("12.5", not "0x10", "1e3" or " "), at most `max`, rounded half up to 6 decimals. Decodes
 * to a decimal string.
 */
export function Amount(max: number) {
  const error = `must be a number or a decimal string from 0 to ${max.toLocaleString('en-US')}`
  return z
    .union([z.number().meta({ minimum: 0, maximum: max }), z.string().meta({ pattern: PLAIN_DECIMAL.source })], {
      error,
    })
    .transform((sent, context) => {
      const text = typeof sent === 'number' ? plainDecimal(sent) : sent
      if (text !== undefined && PLAIN_DECIMAL.test(text) && isAtMost(text, max)) return toSixPlaces(text)
      context.addIssue({ code: 'custom', message: (text === undefined ? undefined : wordsOnCommas(text)) ?? error })
      return z.NEVER
    })
    .meta({ description: `A number or a decimal string, 0 to ${max.toLocaleString('en-US')}, rounded to 6 decimals` })
}

/** Nobody types longer amounts, so longer texts get no advice. */
const AMOUNT_LENGTH = 40

/**
 * Advice on an amount that was typed with commas; undefined if it has none. A comma counts as the decimal mark only if it can be nothing else, because
 * three digits after it may be thousands.
 */
export function wordsOnCommas(text: string): string | undefined {
  if (text.length > AMOUNT_LENGTH || !text.includes(',') || !/^-?[\d.,\s]+$/.test(text)) return undefined
  if (/^-?(0,\d+|\d+,(\d{1,2}|\d{4,}))$/.test(text)) return `write ${text.replace(',', '.')}: a point, not a comma`
  return 'write it with a point before the decimals and nothing between thousands, such as 1234.50'
}

function plainDecimal(value: number): string | undefined {
  if (!Number.isFinite(value) || value < 0) return undefined
  const text = String(value)
  return text.includes('e') ? value.toFixed(20) : text
}

/** A plain decimal with at most six places, rounded half up, without trailing zeros. */
export function toSixPlaces(text: string): string {
  return fromUnits(toUnits(text, 6), 6)
}

function isAtMost(amount: string, max: number): boolean {
  const [whole = '0', fraction = ''] = amount.split('.')
  return BigInt(whole) < BigInt(max) || (BigInt(whole) === BigInt(max) && !/[1-9]/.test(fraction))
}

/** Whether PostgreSQL and JSON can hold a text unchanged: well-formed, without U+0000. */
export function isFaithful(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000')
}

/** For schemas of texts: `refine(...FAITHFUL)`. */
export const FAITHFUL = [isFaithful, { message: 'holds characters that cannot be stored' }] as const

/** Text of 1 to `max` characters, trimmed. */
export const Name = (max = 200) =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    .refine(...FAITHFUL)

/** Text that may be empty. */
export const Text = (max: number) =>
  z
    .string()
    .trim()
    .max(max)
    .refine(...FAITHFUL)

/** The fields in which a traffic source passes its own values with a click. */
export const SUBS = ['sub1', 'sub2', 'sub3', 'sub4', 'sub5', 'sub6', 'sub7', 'sub8', 'sub9'] as const
export type Sub = (typeof SUBS)[number]

/** An object with a value for each sub, such as the fields of a schema. */
export const eachSub = <T>(of: (sub: Sub) => T): Record<Sub, T> =>
  Object.fromEntries(SUBS.map(sub => [sub, of(sub)])) as Record<Sub, T>

/** The reply of a list: a page of rows, and the cursor of the next page or null. */
export const Page = <T extends z.ZodType>(item: T) =>
  z.object({ data: z.array(item), next_cursor: z.string().nullable() })

/** The reply of a route that only confirms. */
export const Done = z.object({ ok: z.literal(true) }).meta({ id: 'Done' })
