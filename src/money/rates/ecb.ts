/**
 * The European Central Bank's reference rates, about 30 currencies per euro, published on its working days about 16:00 of Frankfurt. One file
 * holds the last day, another the last 90 days.
 */
import { crossed, dayAfter, type Quote, type Source, UnexpectedAnswer } from './source.ts'

const DAY = /<Cube time=(["'])(\d{4}-\d\d-\d\d)\1\s*>([^]*?)<\/Cube>/g
const RATE = /<Cube currency=(["'])([^"']+)\1 rate=(["'])([^"']+)\3\s*\/>/g
/** With more missing, a day may lie between what is stored and what the daily file holds. */
const FRESH_DAYS = 1

/** What a file holds, of one day or many. Throws `UnexpectedAnswer`. */
function readEcb(xml: string): Quote[] {
  const days = [...xml.matchAll(DAY)]
  if (days.length === 0) throw new UnexpectedAnswer('it is no file of reference rates')
  return days.flatMap(([, , day = '', inside = '']) => {
    const rates = [...inside.matchAll(RATE)].map(([, , currency = '', , rate = '']) => [currency, rate] as const)
    return crossed('EUR', day, new Map(rates), 'own')
  })
}

export const ecb = (origin: string): Source => ({
  name: 'ecb',
  async read(get, newest, today) {
    const isFresh = newest !== undefined && newest >= dayAfter(today, -FRESH_DAYS)
    return readEcb(await get(`${origin}/stats/eurofxref/eurofxref-${isFresh ? 'daily' : 'hist-90d'}.xml`))
  },
})
