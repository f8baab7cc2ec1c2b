/**
 * Claims the names that are ordered next: as many as the authority's limits allow, in the order of turns.ts. The lock of the authority's row makes
 * processes count one after the other. Writes `certificates`, `acme_accounts` and `acme_orders`; reads `domain_names`.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../contract/days.ts'
import { newId } from '../../contract/ids.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type ClaimedCertificate, later } from './certificates.ts'
import { type DueName, inTurns, type OrdersOfDay } from './turns.ts'

/** Longer than the time limit of an order, ORDER_MS in order.ts. */
const LEASE_MS = 10 * MINUTE_MS
/** Authorities allow 300 orders in three hours. The rest is left for a second installation with the same account, or for manual orders. */
const MOST_ORDERS = 250
const ORDERS_MS = 3 * HOUR_MS
/** Orders under way at once, across all processes. */
const MOST_AT_ONCE = 5
/** `main`: the names of the main host; `except`: names that must not be ordered now. */
type ClaimScope = { readonly directory: string; readonly main: readonly string[]; readonly except: readonly string[] }

/** Claims as many due names as may be ordered now; none while the account is on hold. */
export async function claimDue(db: Kysely<Tables>, scope: ClaimScope): Promise<ClaimedCertificate[]> {
  // Checked without the lock first, because usually nothing is due.
  const { rows } = await sql`${dueNames(scope)} limit 1`.execute(db)
  if (rows.length === 0) return []
  return db.transaction().execute(async trx => {
    const most = await allowedOrders(trx, scope.directory)
    if (most <= 0) return []
    const next = inTurns(await readDue(trx, scope), await readOrdersOfDay(trx)).slice(0, most)
    return Promise.all(next.map(name => claim(trx, scope.directory, name)))
  })
}

const dueNames = ({ directory, except }: ClaimScope) => sql`
  select name, chain is null as is_new,
    coalesce(next_try_at, case when chain is null then wanted_at else renew_at end) as waits_since
  from certificates
  where gone_at is null and (chain is null or renew_at <= now() or directory <> ${directory}) and (next_try_at is null or next_try_at <= now())
    and (leased_until is null or leased_until < now()) and name <> all(${except})`

async function readDue(trx: Transaction<Tables>, scope: ClaimScope): Promise<DueName[]> {
  const { rows } = await sql<{ name: string; is_new: boolean; waits_since: string | null }>`${dueNames(scope)}`.execute(
    trx,
  )
  const { rows: held } = await sql<{ name: string; org_id: number }>`
    select name, org_id from domain_names where name = any(${rows.map(({ name }) => name)})`.execute(trx)
  const workspaces = new Map(held.map(({ name, org_id }) => [name, org_id]))
  const due = rows.map(({ name, is_new, waits_since }) => ({
    name,
    org_id: scope.main.includes(name) ? null : workspaces.get(name),
    is_new,
    waits_since: waits_since === null ? 0 : Date.parse(waits_since),
  }))
  // A name without a workspace belongs to a domain that was just deleted.
  return due.filter((name): name is DueName => name.org_id !== undefined)
}

async function readOrdersOfDay(trx: Transaction<Tables>): Promise<OrdersOfDay> {
  const { rows } = await sql<{ org_id: number; is_new: boolean; orders: number }>`
    select org_id, is_new, count(*)::int as orders from acme_orders
    where ordered_at > ${later(-DAY_MS)} and org_id is not null
    group by org_id, is_new`.execute(trx)
  const counted = new Map(rows.map(({ org_id, is_new, orders }) => [`${org_id} ${is_new}`, orders]))
  return (org_id, is_new) => counted.get(`${org_id} ${is_new}`) ?? 0
}

/** How many orders may start now. Locks the authority's row until the transaction ends. */
async function allowedOrders(trx: Transaction<Tables>, directory: string): Promise<number> {
  await sql`insert into acme_accounts (directory) values (${directory}) on conflict do nothing`.execute(trx)
  const { rows: accounts } = await sql<{ is_held: boolean | null }>`
    select held_until > now() as is_held from acme_accounts where directory = ${directory} for update`.execute(trx)
  if (accounts[0]?.is_held === true) return 0
  await sql`delete from acme_orders where ordered_at < ${later(-7 * DAY_MS)}`.execute(trx)
  const { rows: counted } = await sql<{ orders: string; under_way: string }>`
    select
      (select count(*) from acme_orders where directory = ${directory} and ordered_at > ${later(-ORDERS_MS)}) as orders,
      (select count(*) from certificates where leased_until > now()) as under_way`.execute(trx)
  const { orders = '0', under_way = '0' } = counted[0] ?? {}
  return Math.min(MOST_ORDERS - Number(orders), MOST_AT_ONCE - Number(under_way))
}

async function claim(
  trx: Transaction<Tables>,
  directory: string,
  { name, org_id, is_new }: DueName,
): Promise<ClaimedCertificate> {
  const lease_token = newId()
  const { rows } = await sql<Omit<ClaimedCertificate, 'lease_token'>>`
    update certificates set lease_token = ${lease_token}, leased_until = ${later(LEASE_MS)}
    where name = ${name}
    returning name, directory, chain, attempts`.execute(trx)
  await sql`
    insert into acme_orders (id, directory, name, ordered_at, org_id, is_new)
    values (${lease_token}, ${directory}, ${name}, now(), ${org_id}, ${is_new})`.execute(trx)
  const [row] = rows
  if (row === undefined) throw new Error(`the row of ${name} is gone`)
  return { ...row, lease_token }
}
