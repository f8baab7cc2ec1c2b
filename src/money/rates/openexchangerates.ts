/** Open Exchange Rates, for who has an app id: about 170 currencies per dollar, of days that are over. */
import { crossed, dayAfter, type Quote, type Source, UnexpectedAnswer } from './source.ts'

/** An app id without a plan has 1,000 calls a month. */
const FIRST_DAYS = 7

/** Numbers as they were written: a float would round them. */
const asWritten = (_name: string, value: unknown, { source = '' }: { source?: string } = {}): unknown =>
  typeof value === 'number' ? plain(source) : value

/** `2.3e-5` as a plain decimal. */
function plain(number: string): string {
  const [, whole = '', fraction = '', power = '0'] = /^(\d+)(?:\.(\d+))?(?:e([-+]?\d{1,2}))?$/i.exec(number) ?? []
  const moved = fraction.length - Number(power)
  const digits = (whole + fraction).padStart(Math.max(moved, 0) + 1, '0') + '0'.repeat(Math.max(-moved, 0))
  return moved <= 0 ? digits : `${digits.slice(0, -moved)}.${digits.slice(-moved)}`
}

/** What the answer for `day` holds. Throws `UnexpectedAnswer`. */
function readOpenExchangeRates(json: string, day: string): Quote[] {
  let answer: unknown
  try {
    answer = JSON.parse(json, asWritten)
  } catch {
    throw new UnexpectedAnswer('it is no JSON')
  }
  const { base, rates } = (answer ?? {}) as { base?: unknown; rates?: unknown }
  if (base !== 'USD' || typeof rates !== 'object' || rates === null)
    throw new UnexpectedAnswer('it holds no rates per dollar')
  const worth = Object.entries(rates as Record<string, unknown>).flatMap(([currency, rate]) =>
    /^[A-Z]{3}$/.test(currency) && typeof rate === 'string' && /[1-9]/.test(rate)
      ? [[currency, rate.slice(0, 28)] as const]
      : [],
  )
  return crossed('USD', day, new Map(worth).set('USD', '1'), 'own')
}

export const openexchangerates = (origin: string, app_id: string): Source => ({
  name: 'openexchangerates',
  async read(get, newest, today) {
    const first = dayAfter(today, -FIRST_DAYS)
    const from = newest === undefined || newest < first ? first : dayAfter(newest, 1)
    const quotes: Quote[] = []
    for (let day = from; day < today; day = dayAfter(day, 1))
      quotes.push(
        ...readOpenExchangeRates(
          await get(`${origin}/api/historical/${day}.json?app_id=${encodeURIComponent(app_id)}`),
          day,
        ),
      )
    return quotes
  },
})
