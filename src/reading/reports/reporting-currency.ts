/**
 * Converts the report by day into another currency: each UTC day's dollars by the rate of that day. Totals are the sums of the converted days. The
 * books stay in US dollars.
 */
import type { Context } from '../../ground/room.ts'
import { fromMillionths, toMillionths } from '../../money/billing/money.ts'
import { inCurrency } from '../../money/rates/exact.ts'
import { sourceOrder, readRates, unknownRate } from '../../money/rates/rate-of-day.ts'
import type * as api from './api.ts'

const MONEY = ['revenue', 'cost', 'cost_of_clicks', 'revenue_pending'] as const
type Amounts = Pick<api.MemberReportRow, (typeof MONEY)[number]>

/** The report in `currency`. Refuses `rate_unknown` where a day that has money has no rate. */
export async function inReportingCurrency(
  { database, config, actor }: Pick<Context<typeof api.readReportAsMember>, 'database' | 'config' | 'actor'>,
  report: api.MemberReport,
  currency: string,
): Promise<api.MemberReport> {
  const places = report.rows.map(({ key }) => ({ currency, day: key }))
  const rateOf = await readRates({ pool: database.reads, order: sourceOrder(config) }, actor.org_id, places)
  const rows = report.rows.map(row => {
    const currencyDay = { currency, day: row.key }
    const rate = rateOf(currencyDay)?.usd_per_unit
    return {
      ...row,
      ...amounts(name => {
        const dollars = row[name] ?? '0.00'
        if (!/[1-9]/.test(dollars)) return '0.00'
        if (rate === undefined) throw unknownRate(currencyDay)
        return inCurrency(dollars, rate)
      }),
    }
  })
  const totals = amounts(name => sumOf(rows.map(row => row[name] ?? '0.00')))
  return { ...report, rows, totals: { ...report.totals, ...totals } }
}

/** The amounts of a row, by their names. */
const amounts = (of: (name: (typeof MONEY)[number]) => string) =>
  Object.fromEntries(MONEY.map(name => [name, of(name)])) as Required<Amounts>

function sumOf(all: readonly string[]): string {
  const [whole = '0', fraction = ''] = fromMillionths(all.reduce((sum, one) => sum + toMillionths(one), 0n)).split('.')
  return `${whole}.${fraction.padEnd(2, '0')}`
}
