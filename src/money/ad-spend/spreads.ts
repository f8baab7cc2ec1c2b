/**
 * Spreads: amounts divided over the clicks of a time window, by UTC day and sub1. They are for bills that are not by UTC day. Writes
 * `spend_spreads`. A spread never changes, also when later clicks arrive, and is taken back as a whole.
 */
import type pg from 'pg'
import { type Kysely, sql, type Transaction } from 'kysely'
import { USD } from '../../contract/currencies.ts'
import { DAY_MS, HOUR_MS, dayOf } from '../../contract/days.ts'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { msOfDatabase } from '../../contract/moments.ts'
import { refuse } from '../../contract/refusals.ts'
import { cut, TEXT_BYTES } from '../../contract/texts.ts'
import type { Window } from '../../contract/window.ts'
import { newestFirst } from '../../ground/db/lists.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { fromMillionths, toMillionths } from '../billing/money.ts'
import { unknownRate } from '../rates/rate-of-day.ts'
import { type HasClicks, spendInDollars } from './ad-spend.ts'
import type * as api from './api.ts'
import { bookSpend, unbookSpend } from './booked.ts'
import { rowsToBook, divideByWeights } from './share.ts'

/** 92 days, and an hour more for a time zone that turns its clocks back. */
const WIDEST_MS = 92 * DAY_MS + HOUR_MS
/** More would slow down the reports that read them. */
const MOST_CELLS = 50_000
const MOST_NAMED = 10

type SpreadScope = { readonly org_id: number; readonly campaign_id: string; readonly sub1: string | undefined }
type CellClicks = { readonly day: string; readonly sub1: string; readonly clicks: number }

/** Counts clicks; provided by `reading`, which this wing may not import. Days are UTC days. The window includes both ends. */
export type ClickCounts = {
  readonly clicksByCell: (reads: pg.Pool, scope: SpreadScope, window: Window) => Promise<CellClicks[]>
  readonly hasClicks: HasClicks
  /** The days on which clicks have a cost of their own. */
  readonly daysWithCost: (reads: pg.Pool, scope: SpreadScope, days: readonly string[]) => Promise<string[]>
}

/** The deeds of spreads, with the functions that count clicks. */
export function spreadDeeds(clickCounts: ClickCounts) {
  return {
    spreadAdSpend: (context: Context<typeof api.spreadAdSpend>, call: Call<typeof api.spreadAdSpend>) =>
      spreadAdSpend(clickCounts, context, call),
    listSpreads,
    takeBackSpread,
  }
}

/**
 * Divides the amount and, unless it is a dry run, books the parts in one transaction. Refuses `object_not_found` for a campaign of another
 * organization, `rate_unknown`, `no_clicks_to_spread`, `cells_taken` with the days that have recorded spend, `spread_overlaps`, and
 * `partial_day` if the window covers only part of a UTC day whose other cost the share would override.
 */
async function spreadAdSpend(
  clickCounts: ClickCounts,
  context: Context<typeof api.spreadAdSpend>,
  { body }: Call<typeof api.spreadAdSpend>,
) {
  const { db, database, actor } = context
  const { org_id } = actor
  const { campaign_id } = body
  const sub1 = cut(body.sub1 ?? '', TEXT_BYTES)
  const window = windowOf(body)
  const campaign = db.selectFrom('campaigns').select('id').where('org_id', '=', org_id).where('id', '=', campaign_id)
  if ((await campaign.executeTakeFirst()) === undefined) refuse('object_not_found')
  const scope = { org_id, campaign_id, sub1: sub1 === '' ? undefined : sub1 }
  const cells = await clickCounts.clicksByCell(database.reads, scope, { from: window.from, to: window.to - 1 })
  requireCells(cells)
  const linked = await clickCounts.daysWithCost(database.reads, scope, window.partial)
  const booked = await partsInDollars(context, body, cells)
  const amount = sumOf(booked)
  const clicks = cells.reduce((sum, cell) => sum + cell.clicks, 0)
  const spread = await db.transaction().execute(async trx => {
    if (!body.dry_run) await lockCampaign(trx, scope)
    await requireFree(trx, scope, window, cells)
    await requireWholeDays(trx, scope, window, linked)
    if (body.dry_run) return null
    const [id, created_at] = [newId(), new Date().toISOString()]
    const [from_at, to_at] = [new Date(window.from).toISOString(), new Date(window.to).toISOString()]
    const made = { clicks: String(clicks), created_by: actor.user_id, created_at }
    const row = { org_id, id, campaign_id, sub1, from_at, to_at, amount, ...originalOf(body), ...made }
    await trx.insertInto('spend_spreads').values(row).execute()
    await bookSpend(trx, org_id, `spread:${id}`, rowsToBook(booked, { campaign_id, sub1, days: window.days }))
    return readSpread(trx, org_id, id)
  })
  return { dry_run: body.dry_run, spread, amount, clicks, cells: cells.length, days: partsByDay(booked) }
}

/** The cells with their parts in dollars: the amount is divided in its own currency, then each part is converted at the rate of its day. */
async function partsInDollars(
  context: Context<typeof api.spreadAdSpend>,
  { amount, currency }: api.SpreadDraft,
  cells: readonly CellClicks[],
): Promise<(CellClicks & { amount: string })[]> {
  const parts = divideByWeights(
    amount,
    cells.map(({ clicks }) => clicks),
  )
  const shares = cells.map((cell, at) => ({ ...cell, amount: parts[at] ?? '0' }))
  const dollars = await spendInDollars(
    context,
    shares.map(share => ({ currency: currency ?? USD, day: share.day, amount: share.amount })),
  )
  return shares.map((share, at) => {
    const converted = dollars[at]
    if (converted === undefined) throw unknownRate({ currency: currency ?? USD, day: share.day })
    return { ...share, amount: converted.amount }
  })
}

function originalOf({ amount, currency }: api.SpreadDraft) {
  return currency == null || currency === USD
    ? { original_amount: null, currency: null }
    : { original_amount: amount, currency }
}

const sumOf = (shares: readonly { amount: string }[]): string =>
  fromMillionths(shares.reduce((sum, { amount }) => sum + toMillionths(amount), 0n))

/** A window in Unix milliseconds, `to` exclusive, with the UTC days it touches and those it covers only in part. */
type SpreadWindow = { from: number; to: number; days: string[]; partial: string[] }

function windowOf(body: api.SpreadDraft): SpreadWindow {
  const [from, to] = [Date.parse(body.from), Date.parse(body.to)]
  if (to <= from) refuse('invalid_window', { error: 'invalid window: to is not after from' })
  if (to - from > WIDEST_MS) refuse('window_too_wide')
  if (to > Date.now())
    refuse('invalid_window', {
      error: 'invalid window: to is in the future',
      hint: 'Later clicks would get no share. Let it end now or earlier.',
    })
  const first = Math.floor(from / DAY_MS)
  const last = Math.floor((to - 1) / DAY_MS)
  const days = Array.from({ length: last - first + 1 }, (_, at) => dayOf((first + at) * DAY_MS))
  const cutDays = [from, to].filter(ms => ms % DAY_MS !== 0).map(dayOf)
  return { from, to, days, partial: [...new Set(cutDays)] }
}

function requireCells(cells: readonly CellClicks[]): void {
  if (cells.length === 0) refuse('no_clicks_to_spread')
  if (cells.length <= MOST_CELLS) return
  refuse('invalid_request', {
    error: `the clicks of this window have ${cells.length} combinations of day and sub1; at most ${MOST_CELLS} can share an amount`,
    hint: 'Spread it in parts: choose fewer days, or one sub1 at a time.',
  })
}

/** Locks the campaign, so that two simultaneous spreads see each other's overlap. */
async function lockCampaign(trx: Transaction<Tables>, { org_id, campaign_id }: SpreadScope): Promise<void> {
  await sql`select 1 from campaigns where org_id = ${org_id} and id = ${campaign_id} for no key update`.execute(trx)
}

async function requireFree(
  trx: Kysely<Tables>,
  scope: SpreadScope,
  window: SpreadWindow,
  cells: readonly CellClicks[],
): Promise<void> {
  const { org_id, campaign_id, sub1 = '' } = scope
  const { rows: others } = await sql<{ from_at: string; to_at: string }>`
    select from_at, to_at from spend_spreads
    where org_id = ${org_id} and campaign_id = ${campaign_id} and sub1 = ${sub1} and taken_back_at is null
      and from_at < ${new Date(window.to).toISOString()} and to_at > ${new Date(window.from).toISOString()}
    order by from_at limit 1`.execute(trx)
  const [other] = others
  if (other !== undefined)
    refuse('spread_overlaps', {
      error: `an amount was already spread from ${isoOf(other.from_at)} to ${isoOf(other.to_at)}`,
    })
  const { rows: taken } = await sql<{ day: string; sub1: string }>`
    select s.day, s.sub1 from ad_spend s
    where s.org_id = ${org_id} and s.campaign_id = ${campaign_id} and s.day = any(${cells.map(({ day }) => day)}::date[])
      and (s.sub1 = '' or (s.day, s.sub1) in (
        select day, sub1 from unnest(${cells.map(({ day }) => day)}::date[], ${cells.map(cell => cell.sub1)}::text[]) as cell (day, sub1)))
    order by s.day, s.sub1 limit ${MOST_NAMED + 1}`.execute(trx)
  if (taken.length > 0) refuse('cells_taken', { error: `spend is recorded for ${listCells(taken)}` })
}

const isoOf = (moment: string) => new Date(msOfDatabase(moment)).toISOString()

function listCells(taken: readonly { day: string; sub1: string }[]): string {
  const places = taken.slice(0, MOST_NAMED).map(({ day, sub1 }) => (sub1 === '' ? day : `${day} with sub1 ${sub1}`))
  return `${places.join(', ')}${taken.length > MOST_NAMED ? ' and others' : ''}`
}

/** A share overrides all other cost of its cell, so a day with other cost must be covered as a whole. */
async function requireWholeDays(
  trx: Kysely<Tables>,
  scope: SpreadScope,
  window: SpreadWindow,
  linked: readonly string[],
): Promise<void> {
  const { org_id, campaign_id, sub1 = null } = scope
  const { rows } = await sql<{ day: string }>`
    select distinct day from booked_spend
    where org_id = ${org_id} and campaign_id = ${campaign_id} and day = any(${window.partial}::date[]) and origin like 'account:%'
      and (${sub1}::text is null or sub1 = ${sub1})`.execute(trx)
  const [day] = [...linked, ...rows.map(row => row.day)].toSorted()
  if (day === undefined) return
  const of = linked.includes(day) ? 'cost of clicks' : 'spend of ad accounts'
  refuse('partial_day', { error: `${day} is covered only in part, but the whole day’s ${of} would be replaced` })
}

function partsByDay(shares: readonly (CellClicks & { amount: string })[]) {
  const days = Map.groupBy(shares, ({ day }) => day)
  return [...days].map(([day, of]) => ({
    day,
    clicks: of.reduce((sum, { clicks }) => sum + clicks, 0),
    amount: sumOf(of),
  }))
}

/** The part of a spread that counts: cells without entered spend for themselves or for the whole day. */
const counting = (org_id: number) => sql<string>`(
  select trim_scale(coalesce(sum(b.amount), 0))::text from booked_spend b
  where b.org_id = ${org_id} and b.origin = 'spread:' || s.id::text and not exists (
    select from ad_spend e
    where e.org_id = ${org_id} and e.day = b.day and e.campaign_id = b.campaign_id and e.sub1 in ('', b.sub1)))`

const ORIGINAL = sql<api.Spread['original']>`
  case when s.currency is not null then
    json_build_object('original_amount', s.original_amount::text, 'currency', s.currency) end`

/** Spreads, newest first, including those taken back. */
async function listSpreads({ db, actor }: Context<typeof api.listSpreads>, { query }: Call<typeof api.listSpreads>) {
  const { campaign_id } = query
  let rows = spreadsOf(db, actor.org_id)
  if (campaign_id !== undefined) rows = rows.where('s.campaign_id', '=', campaign_id)
  return await newestFirst(rows.$castTo<api.Spread>(), query, 's.id')
}

const spreadsOf = (db: Kysely<Tables>, org_id: number) =>
  db
    .selectFrom('spend_spreads as s')
    .leftJoin('users as maker', 'maker.id', 's.created_by')
    .leftJoin('users as taker', 'taker.id', 's.taken_back_by')
    .where('s.org_id', '=', org_id)
    .select(['s.id', 's.campaign_id', 's.sub1', 's.from_at as from', 's.to_at as to', 's.amount'])
    .select(['s.created_at', 'maker.name as created_by', 's.taken_back_at', 'taker.name as taken_back_by'])
    .select([sql<number>`s.clicks::int`.as('clicks'), counting(org_id).as('counting'), ORIGINAL.as('original')])

async function readSpread(db: Kysely<Tables>, org_id: number, id: string): Promise<api.Spread> {
  return await spreadsOf(db, org_id).where('s.id', '=', id).$castTo<api.Spread>().executeTakeFirstOrThrow()
}

/** Takes a spread back. Refuses `object_not_found`, also if it was already taken back. */
async function takeBackSpread(
  { db, actor }: Context<typeof api.takeBackSpread>,
  { params }: Call<typeof api.takeBackSpread>,
) {
  const { org_id, user_id } = actor
  const id = idOf(params.id)
  await db.transaction().execute(async trx => {
    const { numUpdatedRows } = await trx
      .updateTable('spend_spreads')
      .set({ taken_back_by: user_id, taken_back_at: new Date().toISOString() })
      .where('org_id', '=', org_id)
      .where('id', '=', id)
      .where('taken_back_at', 'is', null)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) refuse('object_not_found')
    await unbookSpend(trx, org_id, `spread:${id}`)
  })
  return { ok: true as const }
}
