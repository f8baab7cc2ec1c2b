/**
 * Finds the rate of a UTC day: an organization's own rate, which applies from its day until the own rate of a later day, or else the latest
 * published rate of an earlier day, at most seven days old. A rate of the day itself is not used, so that the whole day has one rate however
 * late it is published. An amount without a rate is refused, never guessed.
 */
import type pg from 'pg'
import { USD } from '../../contract/currencies.ts'
import { Refusal } from '../../contract/refusals.ts'
import type { Config } from '../../ground/config.ts'
import { ask, type FlightStatement } from '../../ground/db/flight.ts'

/** Days a published rate may be used for: longer than any run of bank holidays. */
export const GOOD_FOR_DAYS = 7

/** The rate of a booking. `rate_day` is the day of the rate, `rate_source` a source's name, `import` or `own`. */
export type Rate = { readonly usd_per_unit: string; readonly rate_day: string; readonly rate_source: string }

/** An amount in another currency with the rate of its booking. Decimal strings; `original_amount` as it was sent. */
export type ForeignMoney = Rate & { readonly original_amount: string; readonly currency: string }

/** A currency on a UTC day, `YYYY-MM-DD`. */
export type CurrencyDay = { readonly currency: string; readonly day: string }

type RateRow = CurrencyDay & Omit<Rate, 'usd_per_unit'> & { usd_per_unit: string | null }

/** Finds the rate of a currency on a day among the rates that were read. */
export type RatesRead = (currencyDay: CurrencyDay) => Rate | undefined

const READ_OWN = `
  select p.currency, p.day, r.usd_per_unit, r.from_day as rate_day, 'own' as rate_source
  from unnest($2::text[], $3::date[]) as p (currency, day)
  cross join lateral (
    select usd_per_unit, from_day from org_rates
    where org_id = $1 and currency = p.currency and from_day <= p.day
    order by from_day desc, created_at desc, id desc limit 1
  ) r`

const READ_PUBLISHED = `
  select p.currency, p.day, r.usd_per_unit, r.day as rate_day, r.source as rate_source
  from unnest($1::text[], $2::date[]) as p (currency, day)
  cross join lateral (
    select usd_per_unit, day, source from fx_rates
    where currency = p.currency and day < p.day and day >= p.day - ${GOOD_FOR_DAYS}
    order by array_position($3::text[], source) nulls last, source, day desc limit 1
  ) r`

/** The precedence of sources: the operator's import, then the order of FX_SOURCES. */
export const sourceOrder = ({ fxSources }: Pick<Config, 'fxSources'>): string[] => ['import', ...fxSources]

/** The two statements that read an organization's rates of these currencies and days, for callers that send them on their own connection. */
export function rateQuestions(
  org_id: number,
  order: readonly string[],
  currencyDays: readonly CurrencyDay[],
): { own: FlightStatement<RateRow>; ofSources: FlightStatement<RateRow> } {
  const [currencies, days] = [currencyDays.map(({ currency }) => currency), currencyDays.map(({ day }) => day)]
  return {
    own: ask(READ_OWN, [org_id, currencies, days]),
    ofSources: ask(READ_PUBLISHED, [currencies, days, [...order]]),
  }
}

/** Combines the rows of the two statements. US dollars must not be among them. */
export function ratesRead({ own, ofSources }: { own: readonly RateRow[]; ofSources: readonly RateRow[] }): RatesRead {
  const ratesByDay = new Map<string, Rate>()
  // A null own rate means that the sources' rates apply again.
  for (const { currency, day, usd_per_unit, rate_day, rate_source } of [...ofSources, ...own])
    if (usd_per_unit !== null) ratesByDay.set(`${currency} ${day}`, { usd_per_unit, rate_day, rate_source })
  return ({ currency, day }) => ratesByDay.get(`${currency} ${day}`)
}

/** The refusal for an amount that cannot be converted into dollars. */
export const unknownRate = ({ currency, day }: CurrencyDay): Refusal =>
  new Refusal('rate_unknown', { error: `no rate of ${currency} is known for ${day}` })

type RateGround = { readonly pool: Pick<pg.Pool, 'query'>; readonly order: readonly string[] }

/** Reads an organization's rates of these currencies and days. Database errors are thrown. */
export async function readRates(
  { pool, order }: RateGround,
  org_id: number,
  currencyDays: readonly CurrencyDay[],
): Promise<RatesRead> {
  const distinct = new Map(
    currencyDays
      .filter(({ currency }) => currency !== USD)
      .map(currencyDay => [`${currencyDay.currency} ${currencyDay.day}`, currencyDay]),
  )
  if (distinct.size === 0) return () => undefined
  const { own, ofSources } = rateQuestions(org_id, order, [...distinct.values()])
  const [mine, theirs] = await Promise.all([
    pool.query<RateRow>(own.text, [...own.values]),
    pool.query<RateRow>(ofSources.text, [...ofSources.values]),
  ])
  return ratesRead({ own: mine.rows, ofSources: theirs.rows })
}
