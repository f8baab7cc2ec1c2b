/** What a source of rates is: it reads what has been published since it was read last, as dollars per unit. */
import { DAY_MS } from '../../contract/days.ts'
import { quotient } from './exact.ts'

/** A currency's rate of a day, `YYYY-MM-DD`, to 12 significant digits. */
export type Quote = { readonly currency: string; readonly day: string; readonly usd_per_unit: string }

/** Answers the text behind an address, latin-1 or UTF-8 alike for what is read of it. Throws what is wrong, without the address. */
export type Get = (address: string) => Promise<string>

/** `newest` is the newest day that is stored of it; `today` the UTC day. Throws for an answer that is not what the source publishes. */
export type Source = {
  readonly name: string
  read(get: Get, newest: string | undefined, today: string): Promise<Quote[]>
}

/** An answer that is not what the source is known to send. */
export class UnexpectedAnswer extends Error {}

const AMOUNT = /^\d{1,12}(\.\d{1,15})?$/
const CODE = /^[A-Z]{3}$/

/**
 * Cross rates: what a unit of each currency is worth in dollars, where `worth` says how much of each of them one unit of the source's own
 * currency buys (`per: 'own'`), or what one unit of each costs in it (`per: 'other'`). Dollars must be among them.
 */
export function crossed(own: string, day: string, worth: ReadonlyMap<string, string>, per: 'own' | 'other'): Quote[] {
  const dollar = worth.get('USD')
  if (dollar === undefined) throw new UnexpectedAnswer(`the rates of ${day} hold no dollar`)
  for (const [currency, amount] of worth)
    if (!CODE.test(currency) || !AMOUNT.test(amount) || !/[1-9]/.test(amount))
      throw new UnexpectedAnswer(`the rates of ${day} hold ${currency.slice(0, 8)} at ${amount.slice(0, 20)}`)
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

/** The day so many days later, or earlier. */
export const dayAfter = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10)
