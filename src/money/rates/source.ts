/** The interface of rate sources: each reads the rates published since the last fetch, as dollars per unit. */
import { DAY_MS } from '../../contract/days.ts'
import { quotient } from './exact.ts'

/** A currency's rate of a day, `YYYY-MM-DD`, to 12 significant digits. */
export type Quote = { readonly currency: string; readonly day: string; readonly usd_per_unit: string }

/** Fetches the text at an address, decoded as latin-1, which suffices for codes and numbers. Errors do not contain the address. */
export type FetchText = (address: string) => Promise<string>

/** Reads a source. `newest` is its newest stored day, `today` the UTC day. `read` throws `UnexpectedAnswer` for an answer it cannot use. */
export type SourceReader = {
  readonly name: string
  read(get: FetchText, newest: string | undefined, today: string): Promise<Quote[]>
}

/** The source sent something else than its usual format. */
export class UnexpectedAnswer extends Error {}

const AMOUNT = /^\d{1,12}(\.\d{1,15})?$/
const CODE = /^[A-Z]{3}$/

/**
 * Computes each currency's value in dollars from the rates of a source in its own currency. `worth` holds the units of each currency per unit of
 * the own one (`per: 'own'`), or the units of the own one per unit of each (`per: 'other'`). Dollars must be among them.
 */
export function crossRates(
  own: string,
  day: string,
  worth: ReadonlyMap<string, string>,
  per: 'own' | 'other',
): Quote[] {
  const dollar = worth.get('USD')
  if (dollar === undefined) throw new UnexpectedAnswer(`the rates of ${day} lack the dollar`)
  for (const [currency, amount] of worth)
    if (!CODE.test(currency) || !AMOUNT.test(amount) || !/[1-9]/.test(amount))
      throw new UnexpectedAnswer(`the rates of ${day} have ${currency.slice(0, 8)} at ${amount.slice(0, 20)}`)
  const others = [...worth].filter(([currency]) => currency !== 'USD' && currency !== own)
  const quotes = others.map(([currency, amount]) => ({
    currency,
    day,
    usd_per_unit: per === 'own' ? quotient(dollar, amount) : quotient(amount, dollar),
  }))
  if (own === 'USD') return quotes
  return [
    { currency: own, day, usd_per_unit: per === 'own' ? quotient(dollar, '1') : quotient('1', dollar) },
    ...quotes,
  ]
}

/** Adds days to a day, YYYY-MM-DD; a negative number goes back. */
export const addDays = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10)
