/**
 * Ad spend: what the traffic of a campaign, day and sub1 cost, as entered. Owns `ad_spend`; and `booked_spend` and
 * `spend_spreads`, of what was not entered cell by cell. A row is replaced whole, so sending it again changes nothing, and reports read it as it
 * stands.
 */
import { type Kysely, sql } from 'kysely'
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
import type * as api from './api.ts'

const USUAL_DAYS = 30

const COLUMNS = ['campaign_id', 'day', 'sub1', 'amount', 'source', 'updated_at'] as const
type Row = api.AdSpend

/**
 * Sets the spend of a campaign, day and sub1, or deletes it where the amount is empty. Refuses `campaign_scope_forbidden` for a
 * campaign outside a key's list, `object_not_found` for one that is not the organization's.
 */
export async function recordAdSpend(
  { db, actor }: Context<typeof api.recordAdSpend>,
  { body }: Call<typeof api.recordAdSpend>,
) {
  const { campaign_id, day, amount } = body
  const { org_id } = actor
  requireScope(actor, campaign_id)
  const campaign = db.selectFrom('campaigns').select('id').where('org_id', '=', org_id).where('id', '=', campaign_id)
  if ((await campaign.executeTakeFirst()) === undefined) refuse('object_not_found')
  // As much as clicks keep of it, because spend has to meet them.
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
      source: null,
      updated_at: null,
      deleted: numDeletedRows > 0n,
      warnings: [],
    }
  }
  const row = { campaign_id, day, sub1, amount, source: actor.kind === 'key' ? 'api' : 'manual' } as const
  return { ...(await setSpend(db, org_id, row)), deleted: false, warnings: futureWarnings([day], Date.now()) }
}

type Set = Omit<Row, 'updated_at'>

/** Sets the amount of a place. One that has it already stays as it is, with who entered it and when. */
async function setSpend(db: Kysely<Tables>, org_id: number, row: Set): Promise<Row> {
  const { campaign_id, day, sub1 } = row
  const written = await db
    .insertInto('ad_spend')
    .values({ org_id, ...row, updated_at: new Date().toISOString() })
    .onConflict(on =>
      on
        .columns(['org_id', 'day', 'campaign_id', 'sub1'])
        .doUpdateSet({
          amount: excluded => excluded.ref('excluded.amount'),
          source: excluded => excluded.ref('excluded.source'),
          updated_at: excluded => excluded.ref('excluded.updated_at'),
        })
        .where(sql<boolean>`ad_spend.amount is distinct from excluded.amount`),
    )
    .returning(COLUMNS)
    .$castTo<Row>()
    .executeTakeFirst()
  if (written !== undefined) return { ...written, amount: row.amount }
  const kept = await db
    .selectFrom('ad_spend')
    .select(['source', 'updated_at'])
    .where('org_id', '=', org_id)
    .where('day', '=', day)
    .where('campaign_id', '=', campaign_id)
    .where('sub1', '=', sub1)
    .$castTo<Pick<Row, 'source' | 'updated_at'>>()
    .executeTakeFirst()
  // Gone since: someone has deleted it after this had found it as it was to be.
  return { ...row, updated_at: new Date().toISOString(), ...kept }
}

/** Spend of days that have not begun, which are UTC's: mostly a year that was mistyped. `now` in Unix milliseconds. */
export function futureWarnings(days: readonly string[], now: number): Warning[] {
  const today = dayOf(now)
  const ahead = [...new Set(days.filter(day => day > today))].toSorted()
  if (ahead.length === 0) return []
  const named = `${ahead.slice(0, 3).join(', ')}${ahead.length > 3 ? ` and ${ahead.length - 3} more` : ''}`
  const message = `${named} ${ahead.length === 1 ? 'is a day' : 'are days'} in the future (UTC), so no clicks stand beside this spend. Check the year, and delete what is wrong.`
  return [{ code: 'day_in_future', field: 'day', message }]
}

/** Spend of the days a window touches, newest first. Without a window the last 30 days, with one bound as far from it. */
export async function listAdSpend(
  { db, actor }: Context<typeof api.listAdSpend>,
  { query }: Call<typeof api.listAdSpend>,
) {
  const { campaign_id, cursor, limit } = query
  const [first, last] = daysOf(query)
  const before = cursor === undefined ? undefined : opened(cursor)
  let rows = db
    .selectFrom('ad_spend')
    .select(COLUMNS)
    .where('org_id', '=', actor.org_id)
    .where('day', '>=', first)
    .where('day', '<=', last)
  if (campaign_id !== undefined) rows = rows.where('campaign_id', '=', campaign_id)
  if (before !== undefined)
    rows = rows.where(
      sql<boolean>`(day, campaign_id, sub1) < (${before.day}::date, ${before.campaign_id}::uuid, ${before.sub1})`,
    )
  const found = await rows
    .orderBy('day', 'desc')
    .orderBy('campaign_id', 'desc')
    .orderBy('sub1', 'desc')
    .limit(limit + 1)
    .$castTo<Row>()
    .execute()
  const data = found.slice(0, limit)
  const end = data.at(-1)
  return { data, next_cursor: found.length > limit && end !== undefined ? sealed(end) : null }
}

function daysOf({ date_from, date_to }: Call<typeof api.listAdSpend>['query']): [first: string, last: string] {
  const now = { ms: Date.now(), finer: '' }
  const to = date_to === undefined ? undefined : momentOf(date_to, 'date_to')
  const from = date_from === undefined ? after(to ?? now, -USUAL_DAYS * DAY_MS) : momentOf(date_from, 'date_from')
  const window = windowBetween(from, to ?? (date_from === undefined ? now : after(from, USUAL_DAYS * DAY_MS)))
  return [dayOf(window.from), dayOf(window.to)]
}

type Place = Pick<Row, 'day' | 'campaign_id' | 'sub1'>

function sealed({ day, campaign_id, sub1 }: Place): string {
  return Buffer.from(JSON.stringify([day, campaign_id, sub1])).toString('base64url')
}

/** Refuses `invalid_cursor` for anything that does not hold the place of a row. */
function opened(cursor: string): Place {
  try {
    const [day, campaign, sub1] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as unknown[]
    const campaign_id = toUuid(String(campaign))
    const isDay = typeof day === 'string' && day.length === 10 && parseMoment(day) !== undefined
    if (isDay && campaign_id !== undefined && typeof sub1 === 'string' && isFaithful(sub1))
      return { day, campaign_id, sub1 }
  } catch {
    // Said below.
  }
  return refuse('invalid_cursor')
}
