/** Lists payments. */
import { sql } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { newestFirst } from '../../ground/db/lists.ts'
import type { Context } from '../../ground/room.ts'
import { paidAmountOf } from './amounts.ts'
import type * as api from './api.ts'

/** Payments of the organization in the order they were recorded, newest first. */
export async function listPayments(
  { db, actor: { org_id } }: Context<typeof api.listPayments>,
  { query }: Call<typeof api.listPayments>,
) {
  const { bot_id, kind, is_refunded, from, to } = query
  let rows = db
    .selectFrom('payments as p')
    .innerJoin('bots as b', join => join.onRef('b.org_id', '=', 'p.org_id').onRef('b.id', '=', 'p.bot_id'))
    .leftJoin('subscribers as s', join =>
      join
        .onRef('s.org_id', '=', 'p.org_id')
        .onRef('s.bot_id', '=', 'p.bot_id')
        .onRef('s.telegram_user_id', '=', 'p.telegram_user_id'),
    )
    .select(['p.id', 'p.bot_id', 'b.username as bot', 's.id as subscriber_id', 'p.currency', 'p.total_amount'])
    .select(['p.paid_at', 'p.expires_at', 'p.refunded_at', 'p.cancelled_at', 'p.click_id', 'p.event_id'])
    .select(['p.kind', 'p.found_by', 'p.charge_id', 'p.telegram_user_id'])
    .select(sql<string | null>`trim_scale(p.payout)::text`.as('payout'))
    .where('p.org_id', '=', org_id)
  if (bot_id !== undefined) rows = rows.where('p.bot_id', '=', bot_id)
  if (kind !== undefined) rows = rows.where('p.kind', '=', kind)
  if (is_refunded !== undefined) rows = rows.where('p.refunded_at', is_refunded === 'true' ? 'is not' : 'is', null)
  if (from !== undefined) rows = rows.where('p.paid_at', '>=', from)
  if (to !== undefined) rows = rows.where('p.paid_at', '<=', to)
  const { data, next_cursor } = await newestFirst(rows, query, 'p.id')
  return {
    data: data.map(({ total_amount, ...row }) => ({
      ...row,
      kind: row.kind as (typeof api.KINDS)[number],
      found_by: row.found_by as 'update' | 'look',
      amount: paidAmountOf(row.currency, Number(total_amount)),
      total_amount: Number(total_amount),
    })),
    next_cursor,
  }
}
