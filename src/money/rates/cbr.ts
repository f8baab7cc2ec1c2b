/**
 * The Bank of Russia's official rates in roubles for a number of units, set for a day on the day before: roubles, hryvnias, tenge, soums and
 * others the European Central Bank has none of. A day without rates of its own is answered with those of the last one that has.
 */
import { crossed, dayAfter, type Quote, type Source, UnexpectedAnswer } from './source.ts'

/** So far back it is read at first: as long as a refused call can be run again, and what a rate is good for. */
const FIRST_DAYS = 37

const HEAD = /<ValCurs Date="(\d\d)\.(\d\d)\.(\d{4})"/
const RATE =
  /<Valute[^>]*>\s*<NumCode>\d*<\/NumCode>\s*<CharCode>([^<]+)<\/CharCode>\s*<Nominal>(\d+)<\/Nominal>[^]*?<Value>([^<]+)<\/Value>[^]*?<\/Valute>/g

/** What the answer for a day holds; its own day is the one it is set for. Throws `UnexpectedAnswer`. */
function readCbr(xml: string): Quote[] {
  const [, date, month, year] = HEAD.exec(xml) ?? []
  if (year === undefined) throw new UnexpectedAnswer('it is no list of official rates')
  const rates = [...xml.matchAll(RATE)].map(
    ([, currency = '', nominal = '', value = '']) => [currency, ofOne(value.replace(',', '.'), nominal)] as const,
  )
  return crossed('RUB', `${year}-${month}-${date}`, new Map(rates), 'other')
}

/** Nominals are powers of ten, so the point moves and nothing is rounded. */
function ofOne(value: string, nominal: string): string {
  if (!/^10*$/.test(nominal) || !/^\d+(\.\d+)?$/.test(value))
    throw new UnexpectedAnswer(`${value} for ${nominal} units`)
  const [whole = '', fraction = ''] = value.split('.')
  const digits = whole.padStart(nominal.length, '0')
  const cut = digits.length - (nominal.length - 1)
  return `${digits.slice(0, cut)}.${digits.slice(cut)}${fraction}0`
}

export const cbr = (origin: string): Source => ({
  name: 'cbr',
  async read(get, newest, today) {
    // Tomorrow's are set in the afternoon, and asked for too early answered with today's.
    const last = dayAfter(today, 1)
    const days: string[] = []
    const first = dayAfter(today, -FIRST_DAYS)
    const from = newest === undefined || newest < first ? first : newest < last ? dayAfter(newest, 1) : last
    for (let day = from; day <= last; day = dayAfter(day, 1)) days.push(day)
    const quotes: Quote[] = []
    // One after the other: it is a public office's machine.
    for (const day of days) {
      const [year, month, date] = day.split('-')
      quotes.push(...readCbr(await get(`${origin}/scripts/XML_daily.asp?date_req=${date}/${month}/${year}`)))
    }
    return quotes
  },
})
