/** What amounts in another currency come to before they are said, by the rules they are booked by. */
import { USD } from '../../contract/currencies.ts'
import { dayOf } from '../../contract/days.ts'
import { Refusal } from '../../contract/refusals.ts'
import type { Context } from '../../ground/room.ts'
import { sourceOrder, readRates } from '../../money/rates/rate-of-day.ts'
import { wantRates } from '../../money/rates/wanted.ts'
import { BOOKED, Booked, type BookedRow, type Foreign, worthOf } from '../events/booked.ts'
import type { RevisionDraft } from './api.ts'
import type { Line, WrongLine } from './revision-file.ts'

type Amount = Pick<RevisionDraft, 'amount' | 'currency'>

/** What is said, as dollars or as what has yet to become dollars. */
export function amountOf({ amount, currency }: Amount): {
  readonly amount: string | undefined
  readonly foreign: Foreign | undefined
} {
  if (amount == null || currency == null || currency === USD || !/[1-9]/.test(amount))
    return { amount: amount ?? undefined, foreign: undefined }
  return { amount: undefined, foreign: { amount, currency } }
}

type Asking = Pick<Context<never>, 'database' | 'config'> & { readonly actor: { readonly org_id: number } }

/** Has the sources asked for rates from now on where something is in another currency. */
export async function wantFor({ database, config }: Omit<Asking, 'actor'>, said: readonly Amount[]): Promise<void> {
  if (said.some(one => amountOf(one).foreign !== undefined)) await wantRates({ pool: database.reads, config })
}

/** The lines in dollars, as they would be booked at this moment; one without a rate is wrong. */
export async function linesInDollars<Meant extends Line>(
  { database, config, actor }: Asking,
  lines: readonly (Meant | WrongLine)[],
): Promise<((Meant & { dollars: string | undefined }) | WrongLine)[]> {
  const day = dayOf(Date.now())
  const foreign = lines.flatMap(line => ('error' in line ? [] : (amountOf(line).foreign ?? [])))
  const events = lines.flatMap(line => ('error' in line || line.event_id === null ? [] : line.event_id))
  const places = foreign.map(({ currency }) => ({ currency, day }))
  const pool = database.reads
  const rateOf = await readRates({ pool, order: sourceOrder(config) }, actor.org_id, places)
  const { rows } = foreign.length === 0 ? { rows: [] } : await pool.query<BookedRow>(BOOKED, [actor.org_id, events])
  const booked = new Booked(rows)
  return lines.map(line => {
    if ('error' in line) return line
    const { amount, foreign: said } = amountOf(line)
    if (said === undefined) return { ...line, dollars: amount }
    const worth = worthOf(line.event_id ?? '', said, { booked, rateOf }, day)
    return worth instanceof Refusal ? { line: line.line, error: worth.message } : { ...line, dollars: worth.dollars }
  })
}
