/**
 * Certificates of the names that are served, obtained from an authority by ACME. Owns `certificates`, `acme_accounts`, `acme_orders`; claim.ts
 * chooses what is ordered next. One process at a time orders for a row, under a lease by the database's clock. What is written under a lease
 * that has passed on changes nothing, so no certificate replaces one that was ordered later. Keys lie sealed by SECRET. An expired certificate is
 * served until there is another: browsers warn, programs may go on.
 */
import { type Kysely, sql } from 'kysely'
import { DAY_MS, HOUR_MS } from '../../contract/days.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Leaf } from './chain.ts'

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

export const later = (ms: number) => sql<string>`now() + ${ms}::float8 * interval '1 millisecond'`

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
      insert into certificates (name, wanted_at) select name, now() from unnest(${missing}::text[]) as wanted (name)
      on conflict (name) do update set gone_at = null, wanted_at = now()`.execute(db)
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
      renew_at = ${instant(renew_at)}, ari_from = null, ari_to = null, ari_at = ${asks ? sql`now()` : null},
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
