/** Amounts of revisions in other currencies, converted for a preview by the same rules as when they are recorded. */
import { USD } from '../../contract/currencies.ts'
import { dayOf } from '../../contract/days.ts'
import { Refusal } from '../../contract/refusals.ts'
import type { Context } from '../../ground/room.ts'
import { sourceOrder, readRates } from '../../money/rates/rate-of-day.ts'
import { wantRates } from '../../money/rates/wanted.ts'
import {
  READ_BOOKED_RATES,
  BookedRates,
  type BookedRateRow,
  type ForeignAmount,
  amountInDollars,
} from '../events/booked-rates.ts'
import type { RevisionDraft } from './api.ts'
import type { RevisionFileLine, WrongLine } from './revision-file.ts'

type AmountInCurrency = Pick<RevisionDraft, 'amount' | 'currency'>

/** The amount in dollars, or the foreign amount to convert. */
export function revisedAmountOf({ amount, currency }: AmountInCurrency): {
  readonly amount: string | undefined
  readonly foreign: ForeignAmount | undefined
} {
  if (amount == null || currency == null || currency === USD || !/[1-9]/.test(amount))
    return { amount: amount ?? undefined, foreign: undefined }
  return { amount: undefined, foreign: { amount, currency } }
}

type RatesReader = Pick<Context<never>, 'database' | 'config'> & { readonly actor: { readonly org_id: number } }

/** Switches on the fetching of rates if an amount is in another currency. */
export async function wantRatesFor(
  { database, config }: Omit<RatesReader, 'actor'>,
  amounts: readonly AmountInCurrency[],
): Promise<void> {
  if (amounts.some(one => revisedAmountOf(one).foreign !== undefined)) await wantRates({ pool: database.reads, config })
}

/** The lines with their amounts in dollars, as they would be booked now. A line without a rate is wrong. */
export async function linesInDollars<FoundLine extends RevisionFileLine>(
  { database, config, actor }: RatesReader,
  lines: readonly (FoundLine | WrongLine)[],
): Promise<((FoundLine & { dollars: string | undefined }) | WrongLine)[]> {
  const day = dayOf(Date.now())
  const foreign = lines.flatMap(line => ('error' in line ? [] : (revisedAmountOf(line).foreign ?? [])))
  const events = lines.flatMap(line => ('error' in line || line.event_id === null ? [] : line.event_id))
  const places = foreign.map(({ currency }) => ({ currency, day }))
  const pool = database.reads
  const rateOf = await readRates({ pool, order: sourceOrder(config) }, actor.org_id, places)
  const { rows } =
    foreign.length === 0 ? { rows: [] } : await pool.query<BookedRateRow>(READ_BOOKED_RATES, [actor.org_id, events])
  const booked = new BookedRates(rows)
  return lines.map(line => {
    if ('error' in line) return line
    const { amount, foreign: foreignAmount } = revisedAmountOf(line)
    if (foreignAmount === undefined) return { ...line, dollars: amount }
    const worth = amountInDollars(line.event_id ?? '', foreignAmount, { booked, rateOf }, day)
    return worth instanceof Refusal ? { line: line.line, error: worth.message } : { ...line, dollars: worth.dollars }
  })
}
