/**
 * The European Central Bank's reference rates, about 30 currencies per euro, published on its working days at about 16:00 Frankfurt time. One
 * file has the last day, another the last 90 days.
 */
import { crossRates, addDays, type Quote, type SourceReader, UnexpectedAnswer } from './source.ts'

const DAY = /<Cube time=(["'])(\d{4}-\d\d-\d\d)\1\s*>([^]*?)<\/Cube>/g
const RATE = /<Cube currency=(["'])([^"']+)\1 rate=(["'])([^"']+)\3\s*\/>/g
/** If the newest stored day is older, the daily file may leave a gap. */
const FRESH_DAYS = 1

/** The rates in a file of one day or many. Throws `UnexpectedAnswer`. */
function readEcb(xml: string): Quote[] {
  const days = [...xml.matchAll(DAY)]
  if (days.length === 0) throw new UnexpectedAnswer('its answer is not a file of reference rates')
  return days.flatMap(([, , day = '', inside = '']) => {
    const rates = [...inside.matchAll(RATE)].map(([, , currency = '', , rate = '']) => [currency, rate] as const)
    return crossRates('EUR', day, new Map(rates), 'own')
  })
}

export const ecb = (origin: string): SourceReader => ({
  name: 'ecb',
  async read(get, newest, today) {
    const isFresh = newest !== undefined && newest >= addDays(today, -FRESH_DAYS)
    return readEcb(await get(`${origin}/stats/eurofxref/eurofxref-${isFresh ? 'daily' : 'hist-90d'}.xml`))
  },
})
