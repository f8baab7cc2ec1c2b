/**
 * Rates: the values of currencies in US dollars. Owns `fx_rates`, published by sources, and `org_rates`, a workspace's own rates. Rows are only
 * added. Each booked amount keeps its rate; later rates do not change it.
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
import { GOOD_FOR_DAYS, sourceOrder, readRates } from './rate-of-day.ts'
import { sourceNames, wantRates } from './wanted.ts'

/** Enough for years of a workspace that saves one each day. */
const MOST_OWN = 1000

const LIST_PUBLISHED = `
  select distinct currency from fx_rates where day < $1::date and day >= $1::date - ${GOOD_FOR_DAYS} order by currency`
const LIST_OWN = 'select distinct currency from org_rates where org_id = $1 and from_day <= $2::date order by currency'
const SOURCES = 'select source, fetched_at, newest_day, error from fx_sources'

type SourceRow = { source: string; fetched_at: string | null; newest_day: string | null; error: string | null }

/** The rates that apply to a UTC day, all own rates, and the state of the sources. */
export async function listRates(context: Context<typeof api.listRates>, { query }: Call<typeof api.listRates>) {
  const { database, db, config, actor } = context
  const { org_id } = actor
  const day = query.day ?? dayOf(Date.now())
  const pool = database.reads
  const [published, mine, states, own] = await Promise.all([
    pool.query<{ currency: string }>(LIST_PUBLISHED, [day]),
    pool.query<{ currency: string }>(LIST_OWN, [org_id, day]),
    pool.query<SourceRow>(SOURCES),
    readOwnRates(db, org_id),
  ])
  const currencies = [...new Set([...published.rows, ...mine.rows].map(({ currency }) => currency))].toSorted()
  const currencyDays = currencies.map(currency => ({ currency, day }))
  const rateOf = await readRates({ pool, order: sourceOrder(config) }, org_id, currencyDays)
  const rates = currencyDays.flatMap(currencyDay => {
    const rate = rateOf(currencyDay)
    return rate === undefined ? [] : [{ currency: currencyDay.currency, ...rate } as api.DayRate]
  })
  const sourceRows = new Map(states.rows.map(row => [row.source, row]))
  const sources = sourceNames(config).map(name => {
    const { fetched_at = null, newest_day = null, error = null } = sourceRows.get(name) ?? {}
    return { source: name as api.RateSource, asked: sourceRows.has(name), fetched_at, newest_day, error }
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

/** Adds an own rate. Refuses `invalid_request` for an unknown currency and for US dollars. */
export async function setOwnRate(
  context: Context<typeof api.setOwnRate>,
  { params, body }: Call<typeof api.setOwnRate>,
): Promise<api.OwnRate> {
  const { db, database, config, actor } = context
  const read = api.CurrencyOfPath.safeParse(params.currency)
  if (!read.success) refuse('invalid_request', { error: `currency: ${read.error.issues[0]?.message}` })
  const currency = read.data
  if (currency === USD)
    refuse('invalid_request', { error: 'currency: amounts are kept in US dollars, so USD has no rate' })
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
