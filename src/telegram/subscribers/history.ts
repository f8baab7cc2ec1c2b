/** The history of a subscriber's person, from other rooms' tables. */
import { type Kysely, sql } from 'kysely'
import type { EventType } from '../../contract/event-types.ts'
import { timeOfId } from '../../contract/ids.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { paidAmountOf } from '../payments/amounts.ts'
import type { SUBSCRIBER_STATES } from './api.ts'

const MOST = 100

type Person = { readonly org_id: number; readonly telegram_user_id: string; readonly click_id: string | null }

const botsOf = async (db: Kysely<Tables>, { org_id, telegram_user_id }: Person) =>
  (
    await sql<{ id: string; subscriber_id: string; username: string; state: (typeof SUBSCRIBER_STATES)[number] }>`
          select b.id, s.id as subscriber_id, b.username,
            case when s.state = 'reachable' and s.opted_out_at is not null then 'opted_out' else s.state end as state
          from subscribers s
          join bots b on b.org_id = s.org_id and b.id = s.bot_id
          where s.org_id = ${org_id} and s.telegram_user_id = ${telegram_user_id} and b.deleted_at is null
          order by b.id`.execute(db)
  ).rows

const clickOf = async (db: Kysely<Tables>, { org_id, click_id }: Person) => {
  const { rows } = await sql<{
    id: string
    campaign_id: string | null
    campaign: string | null
    country: string | null
  }>`
        select c.id, c.campaign_id, k.name as campaign, c.geo as country
        from clicks c
        left join campaigns k on k.org_id = c.org_id and k.id = c.campaign_id
        where c.org_id = ${org_id} and c.id = ${click_id}`.execute(db)
  const [click] = rows
  return click === undefined ? null : { ...click, at: new Date(timeOfId(click.id)).toISOString() }
}

/** Events of the person on the clicks of their starts, payments and joins, with events there that name no person, such as a sale from a network. */
const eventsOf = async (db: Kysely<Tables>, { org_id, telegram_user_id }: Person) =>
  (
    await sql<{ id: string; at: string; type: EventType; click_id: string; payout: string | null }>`
          select e.id, e.created_at as at, e.type, e.click_id, trim_scale(e.payout)::text as payout
          from events e
          where e.org_id = ${org_id} and (e.telegram_user_id = ${telegram_user_id} or e.telegram_user_id is null)
            and e.click_id in (
              select s.click_id from subscribers s where s.org_id = ${org_id} and s.telegram_user_id = ${telegram_user_id}
              union select p.click_id from payments p where p.org_id = ${org_id} and p.telegram_user_id = ${telegram_user_id}
              union select m.click_id from channel_members m where m.org_id = ${org_id} and m.telegram_user_id = ${telegram_user_id})
          order by e.created_at desc limit ${sql.lit(MOST)}`.execute(db)
  ).rows

const paymentsOf = async (db: Kysely<Tables>, { org_id, telegram_user_id }: Person) =>
  (
    await sql<{
      id: string
      at: string
      bot_id: string
      currency: string
      total_amount: string
      payout: string | null
      refunded_at: string | null
    }>`
          select id, paid_at as at, bot_id, currency, total_amount, trim_scale(payout)::text as payout, refunded_at
          from payments where org_id = ${org_id} and telegram_user_id = ${telegram_user_id}
          order by paid_at desc limit ${sql.lit(MOST)}`.execute(db)
  ).rows.map(({ total_amount, ...row }) => ({ ...row, amount: paidAmountOf(row.currency, Number(total_amount)) }))

const tasksOf = async (db: Kysely<Tables>, { org_id, telegram_user_id }: Person) =>
  (
    await sql<{
      id: string
      at: string
      bot_id: string
      kind: string
      state: 'waiting' | 'done' | 'gone' | 'failed'
      reason: string | null
    }>`
          select id, created_at as at, bot_id, kind, state, reason from bot_tasks
          where org_id = ${org_id} and telegram_user_id = ${telegram_user_id}
          order by created_at desc limit ${sql.lit(MOST)}`.execute(db)
  ).rows

const channelsOf = async (db: Kysely<Tables>, { org_id, telegram_user_id }: Person) =>
  (
    await sql<{
      id: string
      at: string
      channel_id: string
      title: string
      state: string
      certainty: string | null
    }>`
          select m.id, m.state_at as at, m.channel_id, c.title, m.state, m.certainty
          from channel_members m
          join channels c on c.org_id = m.org_id and c.id = m.channel_id
          where m.org_id = ${org_id} and m.telegram_user_id = ${telegram_user_id}
          order by m.state_at desc limit ${sql.lit(MOST)}`.execute(db)
  ).rows

const broadcastsOf = async (db: Kysely<Tables>, { org_id, telegram_user_id }: Person) =>
  (
    await sql<{ broadcast_id: string; name: string; at: string; state: string; reason: string | null }>`
          select d.broadcast_id, b.name, d.at, d.state, d.reason
          from broadcast_sends d
          join broadcasts b on b.org_id = d.org_id and b.id = d.broadcast_id
          where d.org_id = ${org_id} and d.subscriber_id in (
            select id from subscribers where org_id = ${org_id} and telegram_user_id = ${telegram_user_id})
          order by d.at desc limit ${sql.lit(MOST)}`.execute(db)
  ).rows

/** The newest entries of each kind. */
export async function historyOf(db: Kysely<Tables>, org_id: number, person: Omit<Person, 'org_id'>) {
  const of = { org_id, ...person }
  const [bots, click, events, payments, tasks, channels, broadcasts] = await Promise.all([
    botsOf(db, of),
    clickOf(db, of),
    eventsOf(db, of),
    paymentsOf(db, of),
    tasksOf(db, of),
    channelsOf(db, of),
    broadcastsOf(db, of),
  ])
  return { bots, click, events, payments, tasks, channels, broadcasts }
}
