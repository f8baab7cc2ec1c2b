/**
 * The Bank of Russia's official rates in roubles per number of units, set for a day on the day before. It has currencies that the European
 * Central Bank lacks, such as rouble, hryvnia, tenge and soum. For a day without rates it returns those of the last day with rates.
 */
import { crossRates, addDays, type Quote, type SourceReader, UnexpectedAnswer } from './source.ts'

/** Days read at first: a refused call can be run again for 30 days, and a rate is used for 7. */
const FIRST_DAYS = 37

const HEAD = /<ValCurs Date="(\d\d)\.(\d\d)\.(\d{4})"/
const RATE =
  /<Valute[^>]*>\s*<NumCode>\d*<\/NumCode>\s*<CharCode>([^<]+)<\/CharCode>\s*<Nominal>(\d+)<\/Nominal>[^]*?<Value>([^<]+)<\/Value>[^]*?<\/Valute>/g

/** The rates in the answer for a day. The answer names the day it is set for. Throws `UnexpectedAnswer`. */
function readCbr(xml: string): Quote[] {
  const [, date, month, year] = HEAD.exec(xml) ?? []
  if (year === undefined) throw new UnexpectedAnswer('its answer is not a list of official rates')
  const rates = [...xml.matchAll(RATE)].map(
    ([, currency = '', nominal = '', value = '']) => [currency, perUnit(value.replace(',', '.'), nominal)] as const,
  )
  return crossRates('RUB', `${year}-${month}-${date}`, new Map(rates), 'other')
}

/** Nominals are powers of ten, so the point moves and nothing is rounded. */
function perUnit(value: string, nominal: string): string {
  if (!/^10*$/.test(nominal) || !/^\d+(\.\d+)?$/.test(value))
    throw new UnexpectedAnswer(`${value} for ${nominal} units`)
  const [whole = '', fraction = ''] = value.split('.')
  const digits = whole.padStart(nominal.length, '0')
  const cut = digits.length - (nominal.length - 1)
  return `${digits.slice(0, cut)}.${digits.slice(cut)}${fraction}0`
}

export const cbr = (origin: string): SourceReader => ({
  name: 'cbr',
  async read(get, newest, today) {
    // Tomorrow's rates are set in the afternoon; before that the answer holds today's.
    const last = addDays(today, 1)
    const days: string[] = []
    const first = addDays(today, -FIRST_DAYS)
    const from = newest === undefined || newest < first ? first : newest < last ? addDays(newest, 1) : last
    for (let day = from; day <= last; day = addDays(day, 1)) days.push(day)
    const quotes: Quote[] = []
    // One request at a time, to spare a public server.
    for (const day of days) {
      const [year, month, date] = day.split('-')
      quotes.push(...readCbr(await get(`${origin}/scripts/XML_daily.asp?date_req=${date}/${month}/${year}`)))
    }
    return quotes
  },
})
