/**
 * Which rate holds. Of a UTC day it is the latest of a day strictly before it, at most seven days old, so that all of a day has one rate
 * however late a file came; an organization's own rate goes before it, from its day until the one of a later day. There is no other: what has
 * none is refused, never guessed.
 */
import type pg from 'pg'
import { USD } from '../../contract/currencies.ts'
import { Refusal } from '../../contract/refusals.ts'
import type { Config } from '../../ground/config.ts'
import { ask, type Question } from '../../ground/db/flight.ts'

/** Days a rate is good for beyond its own: the longest row of holidays is shorter. */
export const GOOD_FOR_DAYS = 7

/** What an amount was booked by. `rate_day` is the day the rate is of, `rate_source` a source's name, `import` or `own`. */
export type Rate = { readonly usd_per_unit: string; readonly rate_day: string; readonly rate_source: string }

/** An amount in another currency, with the rate it was booked by. Decimal strings; `original_amount` as it was sent. */
export type Money = Rate & { readonly original_amount: string; readonly currency: string }

/** A currency on a UTC day, `YYYY-MM-DD`. */
export type Place = { readonly currency: string; readonly day: string }

type Row = Place & Omit<Rate, 'usd_per_unit'> & { usd_per_unit: string | null }

/** The rates of a few places, once they have been read. */
export type RatesRead = (place: Place) => Rate | undefined

const OWN = `
  select p.currency, p.day, r.usd_per_unit, r.from_day as rate_day, 'own' as rate_source
  from unnest($2::text[], $3::date[]) as p (currency, day)
  cross join lateral (
    select usd_per_unit, from_day from org_rates
    where org_id = $1 and currency = p.currency and from_day <= p.day
    order by from_day desc, created_at desc, id desc limit 1
  ) r`

const OF_SOURCES = `
  select p.currency, p.day, r.usd_per_unit, r.day as rate_day, r.source as rate_source
  from unnest($1::text[], $2::date[]) as p (currency, day)
  cross join lateral (
    select usd_per_unit, day, source from fx_rates
    where currency = p.currency and day < p.day and day >= p.day - ${GOOD_FOR_DAYS}
    order by array_position($3::text[], source) nulls last, source, day desc limit 1
  ) r`

/** Whose word goes first: what the operator has imported, then the sources in the order of FX_SOURCES. */
export const orderOf = ({ fxSources }: Pick<Config, 'fxSources'>): string[] => ['import', ...fxSources]

/** The two statements that read the rates of these places for an organization, for whoever asks on a connection of their own. */
export function rateQuestions(
  org_id: number,
  order: readonly string[],
  places: readonly Place[],
): { own: Question<Row>; ofSources: Question<Row> } {
  const [currencies, days] = [places.map(({ currency }) => currency), places.map(({ day }) => day)]
  return {
    own: ask(OWN, [org_id, currencies, days]),
    ofSources: ask(OF_SOURCES, [currencies, days, [...order]]),
  }
}

/** What the two statements answered, as one. A dollar is a dollar, and is not asked about. */
export function ratesRead({ own, ofSources }: { own: readonly Row[]; ofSources: readonly Row[] }): RatesRead {
  const found = new Map<string, Rate>()
  // An own rate without an amount gives the currency back to the sources.
  for (const { currency, day, usd_per_unit, rate_day, rate_source } of [...ofSources, ...own])
    if (usd_per_unit !== null) found.set(`${currency} ${day}`, { usd_per_unit, rate_day, rate_source })
  return ({ currency, day }) => found.get(`${currency} ${day}`)
}

/** The refusal of what cannot be turned into dollars. */
export const unknownRate = ({ currency, day }: Place): Refusal =>
  new Refusal('rate_unknown', { error: `no rate of ${currency} is known for ${day}` })

type Asked = { readonly pool: Pick<pg.Pool, 'query'>; readonly order: readonly string[] }

/** Reads the rates that hold for an organization. Throws what the database throws. */
export async function readRates({ pool, order }: Asked, org_id: number, places: readonly Place[]): Promise<RatesRead> {
  const distinct = new Map(
    places.filter(({ currency }) => currency !== USD).map(place => [`${place.currency} ${place.day}`, place]),
  )
  if (distinct.size === 0) return () => undefined
  const { own, ofSources } = rateQuestions(org_id, order, [...distinct.values()])
  const [mine, theirs] = await Promise.all([
    pool.query<Row>(own.text, [...own.values]),
    pool.query<Row>(ofSources.text, [...ofSources.values]),
  ])
  return ratesRead({ own: mine.rows, ofSources: theirs.rows })
}
