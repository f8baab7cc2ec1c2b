/**
 * Rates: what currencies are worth in US dollars. Owns `fx_rates`, what sources have published, and `org_rates`, what a workspace goes by
 * itself. Rows are only added, and what is booked keeps the rate it was booked by: no rate that comes later changes it.
 */
import type { Kysely } from 'kysely'
import { USD } from '../../contract/currencies.ts'
import { dayOf } from '../../contract/days.ts'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Context } from '../../ground/room.ts'
import * as api from './api.ts'
import { announceOwnRate } from './live.ts'
import { GOOD_FOR_DAYS, orderOf, readRates } from './rate-of-day.ts'
import { sourceNames, wantRates } from './wanted.ts'

/** Enough for a page; a workspace that writes one a day has years of them. */
const MOST_OWN = 1000

const KNOWN = `
  select distinct currency from fx_rates where day < $1::date and day >= $1::date - ${GOOD_FOR_DAYS} order by currency`
const KNOWN_OWN = 'select distinct currency from org_rates where org_id = $1 and from_day <= $2::date order by currency'
const SOURCES = 'select source, fetched_at, newest_day, error from fx_sources'

type SourceRow = { source: string; fetched_at: string | null; newest_day: string | null; error: string | null }

/** The rates of a UTC day as they would be booked by, own rates, and how the sources stand. */
export async function listRates(context: Context<typeof api.listRates>, { query }: Call<typeof api.listRates>) {
  const { database, db, config, actor } = context
  const { org_id } = actor
  const day = query.day ?? dayOf(Date.now())
  const pool = database.reads
  const [published, mine, states, own] = await Promise.all([
    pool.query<{ currency: string }>(KNOWN, [day]),
    pool.query<{ currency: string }>(KNOWN_OWN, [org_id, day]),
    pool.query<SourceRow>(SOURCES),
    readOwnRates(db, org_id),
  ])
  const currencies = [...new Set([...published.rows, ...mine.rows].map(({ currency }) => currency))].toSorted()
  const places = currencies.map(currency => ({ currency, day }))
  const rateOf = await readRates({ pool, order: orderOf(config) }, org_id, places)
  const rates = places.flatMap(place => {
    const rate = rateOf(place)
    return rate === undefined ? [] : [{ currency: place.currency, ...rate } as api.DayRate]
  })
  const asked = new Map(states.rows.map(row => [row.source, row]))
  const sources = sourceNames(config).map(name => {
    const { fetched_at = null, newest_day = null, error = null } = asked.get(name) ?? {}
    return { source: name as api.RateSource, asked: asked.has(name), fetched_at, newest_day, error }
  })
  return { day, rates, own, sources }
}

async function readOwnRates(db: Kysely<Tables>, org_id: number): Promise<api.OwnRate[]> {
  const rows = await db
    .selectFrom('org_rates')
    .select(['id', 'currency', 'from_day', 'usd_per_unit', 'note', 'actor', 'created_at'])
    .where('org_id', '=', org_id)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(MOST_OWN)
    .execute()
  const people = [...new Set(rows.map(({ actor }) => actor))]
  const names =
    people.length === 0 ? [] : await db.selectFrom('users').select(['id', 'name']).where('id', 'in', people).execute()
  const nameOf = new Map(names.map(({ id, name }) => [id, name]))
  return rows.map(({ actor, ...row }) => ({ ...row, actor: { id: actor, name: nameOf.get(actor) ?? null } }))
}

/** Adds an own rate. Refuses `invalid_request` for what is no currency, and for dollars, which are worth themselves. */
export async function setOwnRate(
  context: Context<typeof api.setOwnRate>,
  { params, body }: Call<typeof api.setOwnRate>,
): Promise<api.OwnRate> {
  const { db, database, config, actor } = context
  const read = api.CurrencyOfPath.safeParse(params.currency)
  if (!read.success) refuse('invalid_request', { error: `currency: ${read.error.issues[0]?.message}` })
  const currency = read.data
  if (currency === USD)
    refuse('invalid_request', { error: 'currency: the books are in US dollars, so USD has no rate' })
  const row = {
    id: newId(),
    currency,
    from_day: body.from_day,
    usd_per_unit: body.usd_per_unit,
    note: body.note || null,
    actor: actor.user_id,
    created_at: new Date().toISOString(),
  }
  await db
    .insertInto('org_rates')
    .values({ org_id: actor.org_id, ...row })
    .execute()
  await announceOwnRate(db)
  await wantRates({ pool: database.reads, config })
  return { ...row, actor: { id: actor.user_id, name: actor.name } }
}
