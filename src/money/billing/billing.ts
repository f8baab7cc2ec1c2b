/**
 * Billing: an organization's balance and its ledger. Owns `balances` and `ledger`. Ledger rows are only added, and their sum is the balance.
 * Every change of the balance locks its row first.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { pageOf } from '../../contract/paging.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Context } from '../../ground/room.ts'
import type * as api from './api.ts'
import { endNotices } from './low-balance.ts'

type Balance = {
  balance: string
  price_per_person: string
  hold_when_empty: boolean
  low_balance_threshold: string | null
  persons_charged: number
  deliveries_held: number
}

const READ_BALANCE = `
  select b.balance, b.price_per_person, b.hold_when_empty, b.low_balance_threshold,
    (select count(*)::int from ledger where org_id = $1 and kind = 'charge') as persons_charged,
    (select count(*)::int from deliveries where org_id = $1 and state = 'held') as deliveries_held
  from balances b
  where b.org_id = $1`

const LIST_ENTRIES = `
  select l.id, l.kind, l.amount, l.event_id, l.note, l.created_at, e.type as event_type, e.click_id
  from ledger l
  left join events e on e.org_id = $1 and e.id = l.event_id
  where l.org_id = $1 and ($2::uuid is null or l.id < $2) and ($4::text is null or l.kind = $4)
  order by l.id desc
  limit $3`

/** The balance with its settings and a page of the ledger, newest first. */
export async function readBilling(
  { database, actor }: Context<typeof api.readBilling>,
  { query }: Call<typeof api.readBilling>,
) {
  const parameters = [actor.org_id, query.cursor ?? null, query.limit + 1, query.kind ?? null]
  const [balances, entries] = await Promise.all([
    database.reads.query<Balance>(READ_BALANCE, [actor.org_id]),
    database.reads.query<api.ReadEntry>(LIST_ENTRIES, parameters),
  ])
  const [balance] = balances.rows
  if (balance === undefined) throw new Error('the organization has no balance')
  return { ...balance, ...pageOf(entries.rows, query.limit) }
}

type Entry = {
  id: string
  kind: 'charge' | Movement['kind']
  amount: string
  event_id: string | null
  note: string | null
  created_at: string
  balance: string
}

/** An amount that a person adds, or subtracts if it is negative. The same nonce again is the same entry. */
type Movement = {
  kind: 'top_up' | 'adjustment'
  amount: string
  note: string | null
  created_by: string | null
  nonce: string | null
}

const NEW_NONCE_HINT = 'Nothing was entered. Send it with a new nonce.'
const NONCE_TAKEN = {
  top_up: { error: 'nonce: it belongs to a top-up', hint: NEW_NONCE_HINT },
  adjustment: { error: 'nonce: it belongs to an adjustment', hint: NEW_NONCE_HINT },
}

/**
 * Changes the balance and writes the ledger in one transaction, under the balance row's lock. Returns the new entry, or the earlier one with the
 * same nonce. Refuses `already_exists` if that is of the other kind.
 */
export async function moveBalance(
  db: Kysely<Tables>,
  org_id: number,
  movement: Movement,
): Promise<{ entry: Entry; replayed: boolean }> {
  return db.transaction().execute(async trx => {
    const { rows } = await sql<{ balance: string }>`
      select balance from balances where org_id = ${org_id} for update`.execute(trx)
    const [now] = rows
    if (now === undefined) throw new Error('the organization has no balance')
    const before = movement.nonce === null ? undefined : await entryOf(trx, org_id, movement.nonce)
    if (before !== undefined && before.kind !== movement.kind) refuse('already_exists', NONCE_TAKEN[before.kind])
    if (before !== undefined) return { entry: { ...before, ...now }, replayed: true }
    return { entry: await enter(trx, org_id, movement), replayed: false }
  })
}

async function enter(trx: Transaction<Tables>, org_id: number, movement: Movement): Promise<Entry> {
  const { kind, amount, note, created_by, nonce } = movement
  const entry = { id: newId(), kind, amount, event_id: null, note, created_at: new Date().toISOString() }
  const { rows } = await sql<{ balance: string }>`
    update balances set balance = balance + ${amount}::numeric where org_id = ${org_id} returning balance`.execute(trx)
  await sql`
    insert into ledger (org_id, id, kind, amount, note, created_by, nonce, created_at)
    values (${org_id}, ${entry.id}, ${kind}, ${amount}, ${note}, ${created_by}, ${nonce}, ${entry.created_at})`.execute(
    trx,
  )
  await endNotices(trx, org_id, entry.created_at)
  return { ...entry, balance: rows[0]?.balance ?? '' }
}

/** A charge is never entered by hand and has no nonce. */
type Entered = Omit<Entry, 'balance' | 'kind'> & { kind: Movement['kind'] }

async function entryOf(trx: Transaction<Tables>, org_id: number, nonce: string): Promise<Entered | undefined> {
  const { rows } = await sql<Entered>`
    select id, kind, amount, event_id, note, created_at from ledger where org_id = ${org_id} and nonce = ${nonce}`.execute(
    trx,
  )
  return rows[0]
}

/**
 * Records a payment made elsewhere. With a nonce it is entered once: a resend gets the first entry and `Idempotent-Replayed: true`. Refuses
 * `already_exists` if an adjustment has the nonce.
 */
export const topUpBalance = (
  context: Context<typeof api.topUpBalance>,
  { body }: Call<typeof api.topUpBalance>,
): Promise<Entry> => enterByHand(context, 'top_up', body)

/**
 * Corrects the balance by an amount that may be negative; idempotent like `topUpBalance`. Refuses `already_exists` if a top-up has the nonce.
 */
export const adjustBalance = (
  context: Context<typeof api.adjustBalance>,
  { body }: Call<typeof api.adjustBalance>,
): Promise<Entry> => enterByHand(context, 'adjustment', body)

async function enterByHand(
  context: Context<typeof api.topUpBalance | typeof api.adjustBalance>,
  kind: Movement['kind'],
  { amount, note, nonce }: { amount: string; note?: string | null | undefined; nonce?: string | null | undefined },
): Promise<Entry> {
  const { db, actor } = context
  const { entry, replayed } = await moveBalance(db, actor.org_id, {
    kind,
    amount,
    note: note ?? null,
    created_by: actor.user_id,
    nonce: nonce ?? null,
  })
  if (replayed) context.header('Idempotent-Replayed', 'true')
  return entry
}

/** Sets the price per person for people first reported from now on. Earlier charges stay as they are. */
export async function setPrice({ db, actor }: Context<typeof api.setPrice>, { body }: Call<typeof api.setPrice>) {
  await sql`
    update balances set price_per_person = ${body.price_per_person} where org_id = ${actor.org_id}`.execute(db)
  return { ok: true as const }
}

/** Sets whether deliveries wait while the balance is below zero. */
export async function setHolding({ db, actor }: Context<typeof api.setHolding>, { body }: Call<typeof api.setHolding>) {
  await sql`
    update balances set hold_when_empty = ${body.hold_when_empty} where org_id = ${actor.org_id}`.execute(db)
  return { ok: true as const }
}
