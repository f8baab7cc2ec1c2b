/**
 * Ad spend: the cost of a campaign's traffic by UTC day and sub1. Owns `ad_spend`, the amounts entered per cell (campaign, day, sub1), and
 * `booked_spend` and `spend_spreads`, the spend that was not entered per cell. A row is replaced as a whole, so sending it again changes nothing.
 */
import { type Kysely, sql } from 'kysely'
import type pg from 'pg'
import { USD } from '../../contract/currencies.ts'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import type { Call } from '../../contract/endpoint.ts'
import { isFaithful } from '../../contract/fields.ts'
import { toUuid } from '../../contract/ids.ts'
import { parseMoment } from '../../contract/moments.ts'
import { refuse } from '../../contract/refusals.ts'
import { cut, TEXT_BYTES } from '../../contract/texts.ts'
import { after, momentOf, windowBetween } from '../../contract/window.ts'
import type { Warning } from '../../contract/warnings.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Context } from '../../ground/room.ts'
import { requireScope } from '../../ground/scope.ts'
import { inDollars } from '../rates/exact.ts'
import { type CurrencyDay, sourceOrder, readRates, unknownRate } from '../rates/rate-of-day.ts'
import { wantRates } from '../rates/wanted.ts'
import type * as api from './api.ts'

const USUAL_DAYS = 30

const COLUMNS = ['campaign_id', 'day', 'sub1', 'amount', 'source', 'updated_at'] as const
/** Null where the original amount no longer yields `amount`: an older version replaces `amount` and leaves the original. */
const ORIGINAL = sql<AdSpendRow['original']>`
  case when currency is not null and round(original_amount * usd_per_unit, 6) = amount then
    json_build_object('original_amount', original_amount::text, 'currency', currency, 'usd_per_unit', usd_per_unit::text,
      'rate_day', rate_day, 'rate_source', rate_source) end`
type AdSpendRow = api.AdSpend

/** Whether clicks of the campaign, day and sub1 (undefined: any) are counted; provided by `reading`, which this wing may not import. */
export type HasClicks = (
  reads: pg.Pool,
  wanted: { readonly org_id: number; readonly campaign_id: string; readonly sub1: string | undefined },
  day: string,
) => Promise<boolean>

/** The deed that records spend, with the function that looks for clicks. */
export const entryDeeds = (hasClicks: HasClicks) => ({
  recordAdSpend: (context: Context<typeof api.recordAdSpend>, call: Call<typeof api.recordAdSpend>) =>
    recordAdSpend(hasClicks, context, call),
})

/**
 * Sets the spend of a campaign, day and sub1, or deletes it if the amount is empty. Refuses `campaign_scope_forbidden` for a campaign outside
 * a key's list, `object_not_found` for a campaign of another organization, `rate_unknown` for a currency without a rate for the day.
 */
async function recordAdSpend(
  hasClicks: HasClicks,
  context: Context<typeof api.recordAdSpend>,
  { body }: Call<typeof api.recordAdSpend>,
) {
  const { db, actor } = context
  const { campaign_id, day, amount } = body
  const { org_id } = actor
  requireScope(actor, campaign_id)
  const campaign = db.selectFrom('campaigns').select('id').where('org_id', '=', org_id).where('id', '=', campaign_id)
  if ((await campaign.executeTakeFirst()) === undefined) refuse('object_not_found')
  // Cut like the sub1 of clicks, so that spend matches them.
  const sub1 = cut(body.sub1 ?? '', TEXT_BYTES)
  if (amount === null) {
    const { numDeletedRows } = await db
      .deleteFrom('ad_spend')
      .where('org_id', '=', org_id)
      .where('day', '=', day)
      .where('campaign_id', '=', campaign_id)
      .where('sub1', '=', sub1)
      .executeTakeFirstOrThrow()
    return {
      campaign_id,
      day,
      sub1,
      amount,
      original: null,
      source: null,
      updated_at: null,
      deleted: numDeletedRows > 0n,
      warnings: [],
    }
  }
  const currency = actor.kind === 'key' ? USD : (body.currency ?? USD)
  const money = await spendInDollars(context, [{ currency, day, amount }])
  const [converted] = money
  if (converted === undefined) throw unknownRate({ currency, day })
  const row = { campaign_id, day, sub1, ...converted, source: actor.kind === 'key' ? 'api' : 'manual' } as const
  const spend = await setSpend(db, org_id, row)
  const early = futureWarnings([day], Date.now())
  const wanted = { org_id, campaign_id, sub1: sub1 === '' ? undefined : sub1 }
  const isVain = early.length === 0 && !(await hasClicks(context.database.reads, wanted, day))
  return { ...spend, deleted: false, warnings: isVain ? [withoutClicks(day, sub1)] : early }
}

const withoutClicks = (day: string, sub1: string): Warning => ({
  code: 'no_clicks',
  field: sub1 === '' ? 'day' : 'sub1',
  message: `The campaign has no counted click ${sub1 === '' ? '' : 'with this sub1 '}on ${day} (UTC), so this spend stands in the report without clicks. Check ${sub1 === '' ? 'the day' : 'day and sub1'}, and delete a wrong amount.`,
})

type UnconvertedAmount = CurrencyDay & { readonly amount: string }
/** US dollars, with the original amount if that was in another currency. */
type ConvertedAmount = Pick<AdSpendRow, 'original'> & { readonly amount: string }

/** Converts the amounts into dollars, each at the rate of its day. Undefined where no rate is known; the rate is then fetched for later calls. */
export async function spendInDollars(
  {
    database,
    config,
    actor,
  }: Pick<Context<typeof api.importAdSpend>, 'database' | 'config'> & { actor: { org_id: number } },
  amounts: readonly UnconvertedAmount[],
): Promise<(ConvertedAmount | undefined)[]> {
  const source = { pool: database.reads, order: sourceOrder(config) }
  const foreign = amounts.filter(({ currency }) => currency !== USD)
  if (foreign.length > 0) await wantRates({ pool: database.reads, config })
  const rateOf = await readRates(source, actor.org_id, foreign)
  return amounts.map(({ amount, ...currencyDay }) => {
    if (currencyDay.currency === USD) return { amount, original: null }
    const rate = rateOf(currencyDay)
    if (rate === undefined) return undefined
    const original = { original_amount: amount, currency: currencyDay.currency, ...rate }
    return { amount: inDollars(amount, rate.usd_per_unit), original }
  })
}

type SpendToSet = Omit<AdSpendRow, 'updated_at'>

/** Sets the amount of a cell. A cell that already has this amount keeps its `source` and `updated_at`. */
async function setSpend(db: Kysely<Tables>, org_id: number, row: SpendToSet): Promise<AdSpendRow> {
  const { campaign_id, day, sub1, original, ...entered } = row
  const money = original ?? {
    original_amount: null,
    currency: null,
    usd_per_unit: null,
    rate_day: null,
    rate_source: null,
  }
  const written = await db
    .insertInto('ad_spend')
    .values({ org_id, campaign_id, day, sub1, ...entered, ...money, updated_at: new Date().toISOString() })
    .onConflict(on =>
      on
        .columns(['org_id', 'day', 'campaign_id', 'sub1'])
        .doUpdateSet({
          amount: excluded => excluded.ref('excluded.amount'),
          source: excluded => excluded.ref('excluded.source'),
          updated_at: excluded => excluded.ref('excluded.updated_at'),
          original_amount: excluded => excluded.ref('excluded.original_amount'),
          currency: excluded => excluded.ref('excluded.currency'),
          usd_per_unit: excluded => excluded.ref('excluded.usd_per_unit'),
          rate_day: excluded => excluded.ref('excluded.rate_day'),
          rate_source: excluded => excluded.ref('excluded.rate_source'),
        })
        .where(
          sql<boolean>`(ad_spend.amount, ad_spend.currency, ad_spend.original_amount) is distinct from (excluded.amount, excluded.currency, excluded.original_amount)`,
        ),
    )
    .returning(COLUMNS)
    .$castTo<Omit<AdSpendRow, 'original'>>()
    .executeTakeFirst()
  if (written !== undefined) return { ...written, amount: row.amount, original }
  const kept = await db
    .selectFrom('ad_spend')
    .select(['source', 'updated_at'])
    .where('org_id', '=', org_id)
    .where('day', '=', day)
    .where('campaign_id', '=', campaign_id)
    .where('sub1', '=', sub1)
    .$castTo<Pick<AdSpendRow, 'source' | 'updated_at'>>()
    .executeTakeFirst()
  // `kept` is undefined if someone deleted the row between the two statements.
  return { ...row, updated_at: new Date().toISOString(), ...kept }
}

/** Warns of spend on UTC days in the future, mostly a mistyped year. `now` in Unix milliseconds. */
export function futureWarnings(days: readonly string[], now: number): Warning[] {
  const today = dayOf(now)
  const ahead = [...new Set(days.filter(day => day > today))].toSorted()
  if (ahead.length === 0) return []
  const named = `${ahead.slice(0, 3).join(', ')}${ahead.length > 3 ? ` and ${ahead.length - 3} more` : ''}`
  const message = `${named} ${ahead.length === 1 ? 'is a day' : 'are days'} in the future (UTC), so this spend has no clicks yet. Check the year, and delete wrong amounts.`
  return [{ code: 'day_in_future', field: 'day', message }]
}

/** Spend of the days a window touches, newest first. A window without bounds is the last 30 days; one bound makes it 30 days from that. */
export async function listAdSpend(
  { db, actor }: Context<typeof api.listAdSpend>,
  { query }: Call<typeof api.listAdSpend>,
) {
  const { campaign_id, cursor, limit } = query
  const [first, last] = daysOf(query)
  const before = cursor === undefined ? undefined : cellOfCursor(cursor)
  let rows = db
    .selectFrom('ad_spend')
    .select(COLUMNS)
    .select(ORIGINAL.as('original'))
    .where('org_id', '=', actor.org_id)
    .where('day', '>=', first)
    .where('day', '<=', last)
  if (campaign_id !== undefined) rows = rows.where('campaign_id', '=', campaign_id)
  if (before !== undefined)
    rows = rows.where(
      sql<boolean>`(day, campaign_id, sub1) < (${before.day}::date, ${before.campaign_id}::uuid, ${before.sub1})`,
    )
  const page = await rows
    .orderBy('day', 'desc')
    .orderBy('campaign_id', 'desc')
    .orderBy('sub1', 'desc')
    .limit(limit + 1)
    .$castTo<AdSpendRow>()
    .execute()
  const data = page.slice(0, limit)
  const end = data.at(-1)
  return { data, next_cursor: page.length > limit && end !== undefined ? cursorOf(end) : null }
}

function daysOf({ date_from, date_to }: Call<typeof api.listAdSpend>['query']): [first: string, last: string] {
  const now = { ms: Date.now(), finer: '' }
  const to = date_to === undefined ? undefined : momentOf(date_to, 'date_to')
  const from = date_from === undefined ? after(to ?? now, -USUAL_DAYS * DAY_MS) : momentOf(date_from, 'date_from')
  const window = windowBetween(from, to ?? (date_from === undefined ? now : after(from, USUAL_DAYS * DAY_MS)))
  return [dayOf(window.from), dayOf(window.to)]
}

type SpendCell = Pick<AdSpendRow, 'day' | 'campaign_id' | 'sub1'>

function cursorOf({ day, campaign_id, sub1 }: SpendCell): string {
  return Buffer.from(JSON.stringify([day, campaign_id, sub1])).toString('base64url')
}

/** The cell a cursor names. Refuses `invalid_cursor` for anything else. */
function cellOfCursor(cursor: string): SpendCell {
  try {
    const [day, campaign, sub1] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as unknown[]
    const campaign_id = toUuid(String(campaign))
    const isDay = typeof day === 'string' && day.length === 10 && parseMoment(day) !== undefined
    if (isDay && campaign_id !== undefined && typeof sub1 === 'string' && isFaithful(sub1))
      return { day, campaign_id, sub1 }
  } catch {
    // Not JSON: refused below.
  }
  return refuse('invalid_cursor')
}
