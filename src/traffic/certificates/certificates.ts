/**
 * Certificates of the names that are served, had of an authority by ACME. Owns `certificates`, `acme_accounts`, `acme_orders`. A row is
 * ordered by one process at a time, under a lease by the database's clock; what is written under a lease that has passed on changes
 * nothing, so no certificate replaces one that was ordered later. Keys lie sealed by SECRET. A certificate that has ended is served
 * until there is another: browsers warn, programs may go on.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../contract/days.ts'
import { newId } from '../../contract/ids.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Leaf } from './chain.ts'

/** Longer than an order is given: see ORDER_MS in order.ts. */
const LEASE_MS = 10 * MINUTE_MS
/** Authorities count 300 in three hours; the rest is left to a second installation under the same account, or a hand. */
const MOST_ORDERS = 250
const ORDERS_MS = 3 * HOUR_MS
/** At once, over all processes. */
const MOST_AT_ONCE = 5
/** A name that comes back within it has its certificate: authorities give five of the same in seven days. */
const KEPT_MS = 30 * DAY_MS

/** Told where certificates have changed. */
export const CHANNEL = 'sluice_certificates'

/** A row this process may order for. `chain`: the one to be replaced, and `directory` whose it is. */
export type Claimed = {
  readonly name: string
  readonly lease_token: string
  readonly directory: string | null
  readonly chain: string | null
  readonly attempts: number
}

const later = (ms: number) => sql<string>`now() + ${ms}::float8 * interval '1 millisecond'`

/** Makes the rows of these names, takes those of all others out of service, and forgets whom nobody has missed for thirty days. */
export async function wantNames(db: Kysely<Tables>, names: readonly string[]): Promise<void> {
  const { rows } = await sql<{ name: string; is_wanted: boolean; is_old: boolean }>`
    select name, gone_at is null as is_wanted, gone_at < ${later(-KEPT_MS)} as is_old from certificates`.execute(db)
  const known = new Map(rows.map(row => [row.name, row]))
  const wanted = new Set(names)
  const missing = names.filter(name => known.get(name)?.is_wanted !== true)
  const gone = rows.filter(({ name, is_wanted }) => is_wanted && !wanted.has(name)).map(({ name }) => name)
  const old = rows.filter(({ name, is_old }) => is_old && !wanted.has(name)).map(({ name }) => name)
  if (missing.length > 0)
    await sql`
      insert into certificates (name) select name from unnest(${missing}::text[]) as wanted (name)
      on conflict (name) do update set gone_at = null`.execute(db)
  if (gone.length > 0) await sql`update certificates set gone_at = now() where name = any(${gone})`.execute(db)
  if (old.length > 0) await sql`delete from certificates where name = any(${old}) and gone_at is not null`.execute(db)
  if (missing.length > 0 || gone.length > 0) await tell(db)
}

/** Writes down why nothing is ordered for those of these names that are due. Nothing was tried, so the next try is not put off. */
export async function noteObstacles(db: Kysely<Tables>, obstacles: ReadonlyMap<string, string>): Promise<void> {
  const [names, texts] = [[...obstacles.keys()], [...obstacles.values()]]
  await sql`
    update certificates set problem = told.why
    from unnest(${names}::text[], ${texts}::text[]) as told (name, why)
    where certificates.name = told.name and certificates.problem is distinct from told.why
      and (certificates.chain is null or certificates.renew_at <= now())`.execute(db)
}

/** Tells every process that certificates have changed; those that miss it look by themselves. */
async function tell(db: Kysely<Tables>): Promise<void> {
  await sql`select pg_notify(${CHANNEL}, '')`.execute(db)
}

/** Claims names whose certificate is due, as many as may be ordered now; none while the authority wants to be left alone, and not `except`. */
export async function claimDue(
  db: Kysely<Tables>,
  directory: string,
  except: readonly string[] = [],
): Promise<Claimed[]> {
  // Asked without the lock first: most of the time there is nothing to do.
  const { rows: due } = await sql`${dueOf(directory, except)} limit 1`.execute(db)
  if (due.length === 0) return []
  return db.transaction().execute(async trx => {
    const room = await roomFor(trx, directory)
    if (room <= 0) return []
    const { rows } = await sql<{
      name: string
    }>`${dueOf(directory, except)} order by next_try_at nulls first, name limit ${room}`.execute(trx)
    return Promise.all(rows.map(({ name }) => claim(trx, directory, name)))
  })
}

const dueOf = (directory: string, except: readonly string[]) => sql`
  select name from certificates
  where gone_at is null and (chain is null or renew_at <= now() or directory <> ${directory}) and (next_try_at is null or next_try_at <= now())
    and (leased_until is null or leased_until < now()) and name <> all(${except})`

/** How many orders may begin. Locks the authority's row until the transaction ends, so that processes count one after the other. */
async function roomFor(trx: Transaction<Tables>, directory: string): Promise<number> {
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

async function claim(trx: Transaction<Tables>, directory: string, name: string): Promise<Claimed> {
  const lease_token = newId()
  const { rows } = await sql<Omit<Claimed, 'lease_token'>>`
    update certificates set lease_token = ${lease_token}, leased_until = ${later(LEASE_MS)}
    where name = ${name}
    returning name, directory, chain, attempts`.execute(trx)
  await sql`
    insert into acme_orders (id, directory, name, ordered_at) values (${lease_token}, ${directory}, ${name}, now())`.execute(
    trx,
  )
  const [row] = rows
  if (row === undefined) throw new Error(`the row of ${name} is gone`)
  return { ...row, lease_token }
}

type Issued = Leaf & {
  readonly chain: string
  readonly sealed_key: Buffer
  readonly renew_at: number
  /** Whether the authority will be asked when to renew. */
  readonly asks: boolean
}

const instant = (ms: number): string => new Date(ms).toISOString()

/** Puts a certificate into service everywhere. False where the lease has passed on: then nothing has changed. */
export async function putInService(
  db: Kysely<Tables>,
  { name, lease_token }: Claimed,
  directory: string,
  issued: Issued,
): Promise<boolean> {
  const { chain, sealed_key, serial, not_before, not_after, renew_at, asks } = issued
  const { numAffectedRows } = await sql`
    update certificates
    set directory = ${directory}, chain = ${chain}, key = ${sealed_key}, serial = ${serial}, not_before = ${instant(not_before)}, not_after = ${instant(not_after)},
      renew_at = ${instant(renew_at)}, ari_from = null, ari_to = null, ari_at = case when ${asks} then now() end,
      next_try_at = null, attempts = 0, problem = null, leased_until = null, lease_token = null,
      told_at = null, telling_until = null
    where name = ${name} and lease_token = ${lease_token}`.execute(db)
  if (numAffectedRows !== 1n) return false
  await tell(db)
  return true
}

/** Ends an order that has failed; it is tried again after the pause. */
export async function noteFailure(
  db: Kysely<Tables>,
  { name, lease_token }: Claimed,
  problem: string,
  pause_ms: number,
): Promise<void> {
  await sql`
    update certificates
    set problem = ${problem}, attempts = attempts + 1, next_try_at = ${later(pause_ms)}, leased_until = null, lease_token = null
    where name = ${name} and lease_token = ${lease_token}`.execute(db)
}

/** Gives a row back as it was, for the next process. */
export async function giveBack(db: Kysely<Tables>, { name, lease_token }: Claimed): Promise<void> {
  await sql`
    update certificates set leased_until = null, lease_token = null
    where name = ${name} and lease_token = ${lease_token}`.execute(db)
}

/** Leaves the authority alone for so long: nothing of the account is ordered meanwhile. */
export async function holdAccount(db: Kysely<Tables>, directory: string, why: string, ms: number): Promise<void> {
  await sql`
    update acme_accounts set held_until = greatest(held_until, ${later(ms)}), held_because = ${why}
    where directory = ${directory}`.execute(db)
}

/** The certificates whose renewal the authority is to be asked about, none of which any other process asks about meanwhile. */
export async function claimQuestions(
  db: Kysely<Tables>,
  most: number,
): Promise<{ name: string; chain: string; serial: string }[]> {
  const { rows } = await sql<{ name: string; chain: string; serial: string }>`
    update certificates set ari_at = ${later(HOUR_MS)}
    where name in (
        select name from certificates
        where gone_at is null and chain is not null and ari_at <= now() and (leased_until is null or leased_until < now())
        order by ari_at limit ${most} for update skip locked)
    returning name, chain, serial`.execute(db)
  return rows
}

/** When the authority wants the certificate of this serial renewed. The moment that was chosen stays while its window does. */
export async function noteWindow(
  db: Kysely<Tables>,
  { name, serial }: { name: string; serial: string },
  { from, to, moment, again_ms }: { from: number; to: number; moment: number; again_ms: number },
): Promise<void> {
  await sql`
    update certificates
    set renew_at = case when ari_from = ${instant(from)} and ari_to = ${instant(to)} then renew_at else ${instant(moment)}::timestamptz end,
      ari_from = ${instant(from)}, ari_to = ${instant(to)}, ari_at = ${later(again_ms)}
    where name = ${name} and serial = ${serial}`.execute(db)
}

/** Asks again then; nothing else changes where the authority has not said a thing. */
export async function askAgain(
  db: Kysely<Tables>,
  { name, serial }: { name: string; serial: string },
  ms: number,
): Promise<void> {
  await sql`update certificates set ari_at = ${later(ms)} where name = ${name} and serial = ${serial}`.execute(db)
}
