/** Open Exchange Rates: about 170 currencies per dollar, for past days. Needs an app id. */
import { crossRates, addDays, type Quote, type SourceReader, UnexpectedAnswer } from './source.ts'

/** Days read at first, one request each: a free app id has 1,000 requests a month. */
const FIRST_DAYS = 7

/** Keeps the text of numbers, because a float would round them. */
const asWritten = (_name: string, value: unknown, { source = '' }: { source?: string } = {}): unknown =>
  typeof value === 'number' ? plainDecimal(source) : value

/** `2.3e-5` as a plain decimal. */
function plainDecimal(number: string): string {
  const [, whole = '', fraction = '', power = '0'] = /^(\d+)(?:\.(\d+))?(?:e([-+]?\d{1,2}))?$/i.exec(number) ?? []
  const moved = fraction.length - Number(power)
  const digits = (whole + fraction).padStart(Math.max(moved, 0) + 1, '0') + '0'.repeat(Math.max(-moved, 0))
  return moved <= 0 ? digits : `${digits.slice(0, -moved)}.${digits.slice(-moved)}`
}

/** The rates in the answer for `day`. Throws `UnexpectedAnswer`. */
function readOpenExchangeRates(json: string, day: string): Quote[] {
  let answer: unknown
  try {
    answer = JSON.parse(json, asWritten)
  } catch {
    throw new UnexpectedAnswer('its answer is not JSON')
  }
  const { base, rates } = (answer ?? {}) as { base?: unknown; rates?: unknown }
  if (base !== 'USD' || typeof rates !== 'object' || rates === null)
    throw new UnexpectedAnswer('its answer has no rates per dollar')
  const worth = Object.entries(rates as Record<string, unknown>).flatMap(([currency, rate]) =>
    /^[A-Z]{3}$/.test(currency) && typeof rate === 'string' && /[1-9]/.test(rate)
      ? [[currency, rate.slice(0, 28)] as const]
      : [],
  )
  return crossRates('USD', day, new Map(worth).set('USD', '1'), 'own')
}

export const openexchangerates = (origin: string, app_id: string): SourceReader => ({
  name: 'openexchangerates',
  async read(get, newest, today) {
    const first = addDays(today, -FIRST_DAYS)
    const from = newest === undefined || newest < first ? first : addDays(newest, 1)
    const quotes: Quote[] = []
    for (let day = from; day < today; day = addDays(day, 1))
      quotes.push(
        ...readOpenExchangeRates(
          await get(`${origin}/api/historical/${day}.json?app_id=${encodeURIComponent(app_id)}`),
          day,
        ),
      )
    return quotes
  },
})
