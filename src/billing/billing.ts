/**
 * Billing: what an organization has left and what it was spent on. Owns `balances` and `ledger`. The ledger only grows, and its sum
 * is the balance (decision 16); whatever moves money locks the balance row first.
 */
import { type Kysely, sql } from 'kysely'
import type { Call } from '../contract/endpoint.ts'
import { newId } from '../contract/ids.ts'
import { pageOf } from '../contract/paging.ts'
import type { Tables } from '../db/tables.ts'
import type { Context } from '../room.ts'
import type * as api from './api.ts'

type Balance = { balance: string; price_per_person: string; hold_when_empty: boolean; persons_charged: number }

const READ_BALANCE = `
  select b.balance, b.price_per_person, b.hold_when_empty,
    (select count(*)::int from ledger where org_id = $1 and kind = 'charge') as persons_charged
  from balances b
  where b.org_id = $1`

const LIST_ENTRIES = `
  select id, kind, amount, event_id, note, created_at
  from ledger
  where org_id = $1 and ($2::uuid is null or id < $2)
  order by id desc
  limit $3`

export async function readBilling(
  { database, actor }: Context<typeof api.readBilling>,
  { query }: Call<typeof api.readBilling>,
) {
  const [balances, entries] = await Promise.all([
    database.reads.query<Balance>(READ_BALANCE, [actor.org_id]),
    database.reads.query<Omit<Entry, 'balance'>>(LIST_ENTRIES, [actor.org_id, query.cursor ?? null, query.limit + 1]),
  ])
  const [balance] = balances.rows
  if (balance === undefined) throw new Error('the organization has no balance')
  return { ...balance, ...pageOf(entries.rows, query.limit) }
}

type Entry = {
  id: string
  kind: 'charge' | 'top_up' | 'adjustment'
  amount: string
  event_id: string | null
  note: string | null
  created_at: string
  balance: string
}

/** What is added, or taken with a negative amount, by a person. */
export type Movement = { kind: 'top_up' | 'adjustment'; amount: string; note: string | null; created_by: string | null }

/** Moves the balance and writes the ledger in one transaction; the update is the row's lock, so it comes first. */
export async function moveBalance(
  db: Kysely<Tables>,
  org_id: number,
  { kind, amount, note, created_by }: Movement,
): Promise<Entry> {
  const entry = { id: newId(), kind, amount, event_id: null, note, created_at: new Date().toISOString() }
  return db.transaction().execute(async trx => {
    const { rows } = await sql<{ balance: string }>`
      update balances set balance = balance + ${amount}::numeric where org_id = ${org_id} returning balance`.execute(
      trx,
    )
    const [moved] = rows
    if (moved === undefined) throw new Error('the organization has no balance')
    await sql`
      insert into ledger (org_id, id, kind, amount, note, created_by, created_at)
      values (${org_id}, ${entry.id}, ${kind}, ${amount}, ${note}, ${created_by}, ${entry.created_at})`.execute(trx)
    return { ...entry, balance: moved.balance }
  })
}

export async function topUpBalance(
  { db, actor }: Context<typeof api.topUpBalance>,
  { body }: Call<typeof api.topUpBalance>,
) {
  const { amount, note = null } = body
  return moveBalance(db, actor.org_id, { kind: 'top_up', amount, note, created_by: actor.user_id })
}

export async function setHolding({ db, actor }: Context<typeof api.setHolding>, { body }: Call<typeof api.setHolding>) {
  await sql`
    update balances set hold_when_empty = ${body.hold_when_empty} where org_id = ${actor.org_id}`.execute(db)
  return { ok: true as const }
}
