/**
 * Amounts of a window that were spread over its clicks, by UTC day and sub1: the way of a bill that is of other days than UTC's, or of no day. Writes
 * `spend_spreads`. A spread stays as it was divided, later clicks do not shift it, and it is taken back as a whole.
 */
import type pg from 'pg'
import { type Kysely, sql, type Transaction } from 'kysely'
import { USD } from '../../contract/currencies.ts'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { cut, TEXT_BYTES } from '../../contract/texts.ts'
import type { Window } from '../../contract/window.ts'
import { newestFirst } from '../../ground/db/lists.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { fromMillionths, toMillionths } from '../billing/money.ts'
import { unknownRate } from '../rates/rate-of-day.ts'
import { dollarsOf } from './ad-spend.ts'
import type * as api from './api.ts'
import { book, unbook } from './booked.ts'
import { bookingsOf, sharedBy } from './share.ts'

/** 92 days of a zone may be an hour longer than 92 of UTC. */
const WIDEST_MS = 92 * DAY_MS + 3_600_000
/** More would hold up the reports they are read by. */
const MOST_CELLS = 50_000
const MOST_NAMED = 10

type Wanted = { readonly org_id: number; readonly campaign_id: string; readonly sub1: string | undefined }
type CellClicks = { readonly day: string; readonly sub1: string; readonly clicks: number }

/** What is counted of the clicks, by who counts them. Days are UTC's; the window includes both of its ends. */
type Counted = {
  readonly clicksByCell: (reads: pg.Pool, wanted: Wanted, window: Window) => Promise<CellClicks[]>
  /** Which of the days have clicks that have cost something themselves. */
  readonly daysWithCost: (reads: pg.Pool, wanted: Wanted, days: readonly string[]) => Promise<string[]>
}

/** The deeds of spreads. */
export function spreadDeeds(counted: Counted) {
  return {
    spreadAdSpend: (context: Context<typeof api.spreadAdSpend>, call: Call<typeof api.spreadAdSpend>) =>
      spreadAdSpend(counted, context, call),
    listSpreads,
    takeBackSpread,
  }
}

/**
 * Divides the amount and, unless it is a dry run, books the parts in one transaction. Refuses `object_not_found` for a campaign that is not the
 * organization's, `rate_unknown`, `no_clicks_to_spread`, `cells_taken` with the days where spend is recorded, `spread_overlaps`, and `partial_day` where a UTC
 * day that is covered in part has cost that the share would take the place of.
 */
async function spreadAdSpend(
  counted: Counted,
  context: Context<typeof api.spreadAdSpend>,
  { body }: Call<typeof api.spreadAdSpend>,
) {
  const { db, database, actor } = context
  const { org_id } = actor
  const { campaign_id } = body
  const sub1 = cut(body.sub1 ?? '', TEXT_BYTES)
  const span = spanOf(body)
  const campaign = db.selectFrom('campaigns').select('id').where('org_id', '=', org_id).where('id', '=', campaign_id)
  if ((await campaign.executeTakeFirst()) === undefined) refuse('object_not_found')
  const wanted = { org_id, campaign_id, sub1: sub1 === '' ? undefined : sub1 }
  const cells = await counted.clicksByCell(database.reads, wanted, { from: span.from, to: span.to - 1 })
  requireCells(cells)
  const linked = await counted.daysWithCost(database.reads, wanted, span.partial)
  const booked = await partsOf(context, body, cells)
  const amount = sumOf(booked)
  const clicks = cells.reduce((sum, cell) => sum + cell.clicks, 0)
  const spread = await db.transaction().execute(async trx => {
    if (!body.dry_run) await holdCampaign(trx, wanted)
    await requireFree(trx, wanted, span, cells)
    await requireWholeDays(trx, wanted, span, linked)
    if (body.dry_run) return null
    const [id, created_at] = [newId(), new Date().toISOString()]
    const [from_at, to_at] = [new Date(span.from).toISOString(), new Date(span.to).toISOString()]
    const made = { clicks: String(clicks), created_by: actor.user_id, created_at }
    const row = { org_id, id, campaign_id, sub1, from_at, to_at, amount, ...originalOf(body), ...made }
    await trx.insertInto('spend_spreads').values(row).execute()
    await book(trx, org_id, `spread:${id}`, bookingsOf(booked, { campaign_id, sub1, days: span.days }))
    return readSpread(trx, org_id, id)
  })
  return { dry_run: body.dry_run, spread, amount, clicks, cells: cells.length, days: byDay(booked) }
}

/** The cells with their parts in dollars: divided in its own currency, then each by the rate of its day. */
async function partsOf(
  context: Context<typeof api.spreadAdSpend>,
  { amount, currency }: api.SpreadDraft,
  cells: readonly CellClicks[],
): Promise<(CellClicks & { amount: string })[]> {
  const parts = sharedBy(
    amount,
    cells.map(({ clicks }) => clicks),
  )
  const shares = cells.map((cell, at) => ({ ...cell, amount: parts[at] ?? '0' }))
  const dollars = await dollarsOf(
    context,
    shares.map(share => ({ currency: currency ?? USD, day: share.day, amount: share.amount })),
  )
  return shares.map((share, at) => {
    const paid = dollars[at]
    if (paid === undefined) throw unknownRate({ currency: currency ?? USD, day: share.day })
    return { ...share, amount: paid.amount }
  })
}

function originalOf({ amount, currency }: api.SpreadDraft) {
  return currency == null || currency === USD
    ? { original_amount: null, currency: null }
    : { original_amount: amount, currency }
}

const sumOf = (shares: readonly { amount: string }[]): string =>
  fromMillionths(shares.reduce((sum, { amount }) => sum + toMillionths(amount), 0n))

/** Moments in Unix milliseconds, `to` the first behind it; the UTC days it touches, and those it covers in part. */
type Span = { from: number; to: number; days: string[]; partial: string[] }

function spanOf(body: api.SpreadDraft): Span {
  const [from, to] = [Date.parse(body.from), Date.parse(body.to)]
  if (to <= from) refuse('invalid_window', { error: 'invalid window: to is not after from' })
  if (to - from > WIDEST_MS) refuse('window_too_wide')
  if (to > Date.now())
    refuse('invalid_window', {
      error: 'invalid window: to is in the future',
      hint: 'Clicks that are still to come would get no share. Let it end now, or earlier.',
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
    error: `the clicks of this window are of ${cells.length} days and values of sub1; at most ${MOST_CELLS} can share an amount`,
    hint: 'Spread it in parts: fewer days, or one sub1 after the other.',
  })
}

/** Spreads of a campaign go one after another: two at once would not see each other. */
async function holdCampaign(trx: Transaction<Tables>, { org_id, campaign_id }: Wanted): Promise<void> {
  await sql`select 1 from campaigns where org_id = ${org_id} and id = ${campaign_id} for no key update`.execute(trx)
}

async function requireFree(
  trx: Kysely<Tables>,
  wanted: Wanted,
  span: Span,
  cells: readonly CellClicks[],
): Promise<void> {
  const { org_id, campaign_id, sub1 = '' } = wanted
  const { rows: others } = await sql<{ from_at: string; to_at: string }>`
    select from_at, to_at from spend_spreads
    where org_id = ${org_id} and campaign_id = ${campaign_id} and sub1 = ${sub1} and taken_back_at is null
      and from_at < ${new Date(span.to).toISOString()} and to_at > ${new Date(span.from).toISOString()}
    order by from_at limit 1`.execute(trx)
  const [other] = others
  if (other !== undefined)
    refuse('spread_overlaps', {
      error: `from ${told(other.from_at)} to ${told(other.to_at)} an amount was spread already`,
    })
  const { rows: taken } = await sql<{ day: string; sub1: string }>`
    select s.day, s.sub1 from ad_spend s
    where s.org_id = ${org_id} and s.campaign_id = ${campaign_id} and s.day = any(${cells.map(({ day }) => day)}::date[])
      and (s.sub1 = '' or (s.day, s.sub1) in (
        select day, sub1 from unnest(${cells.map(({ day }) => day)}::date[], ${cells.map(cell => cell.sub1)}::text[]) as cell (day, sub1)))
    order by s.day, s.sub1 limit ${MOST_NAMED + 1}`.execute(trx)
  if (taken.length > 0) refuse('cells_taken', { error: `spend is recorded for ${named(taken)}` })
}

const told = (moment: string) => new Date(moment.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00')).toISOString()

function named(taken: readonly { day: string; sub1: string }[]): string {
  const places = taken.slice(0, MOST_NAMED).map(({ day, sub1 }) => (sub1 === '' ? day : `${day} with sub1 ${sub1}`))
  return `${places.join(', ')}${taken.length > MOST_NAMED ? ' and others' : ''}`
}

/** A share takes the place of what else is known of its cell, so where that is known the day has to be meant as a whole. */
async function requireWholeDays(
  trx: Kysely<Tables>,
  wanted: Wanted,
  span: Span,
  linked: readonly string[],
): Promise<void> {
  const { org_id, campaign_id, sub1 = null } = wanted
  const { rows } = await sql<{ day: string }>`
    select distinct day from booked_spend
    where org_id = ${org_id} and campaign_id = ${campaign_id} and day = any(${span.partial}::date[]) and origin like 'account:%'
      and (${sub1}::text is null or sub1 = ${sub1})`.execute(trx)
  const [day] = [...linked, ...rows.map(row => row.day)].toSorted()
  if (day === undefined) return
  const of = linked.includes(day) ? 'its clicks themselves cost' : 'an ad account says'
  refuse('partial_day', { error: `${day} is covered in part, and what ${of} that day would be replaced whole` })
}

function byDay(shares: readonly (CellClicks & { amount: string })[]) {
  const days = Map.groupBy(shares, ({ day }) => day)
  return [...days].map(([day, of]) => ({
    day,
    clicks: of.reduce((sum, { clicks }) => sum + clicks, 0),
    amount: sumOf(of),
  }))
}

/** What of a spread counts: where nothing was entered for its cell, or for the day as a whole. */
const counting = (org_id: number) => sql<string>`(
  select trim_scale(coalesce(sum(b.amount), 0))::text from booked_spend b
  where b.org_id = ${org_id} and b.origin = 'spread:' || s.id::text and not exists (
    select from ad_spend e
    where e.org_id = ${org_id} and e.day = b.day and e.campaign_id = b.campaign_id and e.sub1 in ('', b.sub1)))`

const ORIGINAL = sql<api.Spread['original']>`
  case when s.currency is not null then
    json_build_object('original_amount', s.original_amount::text, 'currency', s.currency) end`

/** Amounts that were spread, newest first, those that were taken back too. */
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

/** Takes a spread back as a whole. Refuses `object_not_found`, also for one that was taken back before. */
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
    await unbook(trx, org_id, `spread:${id}`)
  })
  return { ok: true as const }
}
