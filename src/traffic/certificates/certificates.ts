/**
 * The certificates of the served names, obtained from an authority by ACME. Owns `certificates`, `acme_accounts` and `acme_orders`; claim.ts
 * chooses which names are ordered next. One process at a time orders for a row, under a lease by the database's clock. A write under a lost lease
 * changes nothing, so an old order never replaces a newer certificate. Keys are encrypted with SECRET. An expired certificate is served until
 * there is a new one: browsers warn, but some programs go on.
 */
import { type Kysely, sql } from 'kysely'
import { DAY_MS, HOUR_MS } from '../../contract/days.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Leaf } from './chain.ts'

/** How long the certificate of a removed name is kept, in case the name comes back: authorities issue the same certificate only five times in seven days. */
const KEPT_MS = 30 * DAY_MS

/** The NOTIFY channel for changes of certificates. */
export const CHANNEL = 'sluice_certificates'

/** A row that this process has leased for an order. `chain` is the certificate to replace, `directory` its authority. */
export type ClaimedCertificate = {
  readonly name: string
  readonly lease_token: string
  readonly directory: string | null
  readonly chain: string | null
  readonly attempts: number
}

export const later = (ms: number) => sql<string>`now() + ${ms}::float8 * interval '1 millisecond'`

/** Creates the rows of new names, takes the rows of removed names out of service, and deletes those that were removed thirty days ago. */
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
      on conflict (name) do update set gone_at = null, wanted_at = excluded.wanted_at`.execute(db)
  if (gone.length > 0) await sql`update certificates set gone_at = now() where name = any(${gone})`.execute(db)
  if (old.length > 0) await sql`delete from certificates where name = any(${old}) and gone_at is not null`.execute(db)
  if (missing.length > 0 || gone.length > 0) await announceCertificates(db)
}

/** Writes why due names are not ordered. Nothing was tried, so the time of the next try does not change. */
export async function noteObstacles(db: Kysely<Tables>, obstacles: ReadonlyMap<string, string>): Promise<void> {
  const [names, texts] = [[...obstacles.keys()], [...obstacles.values()]]
  await sql`
    update certificates set problem = fault.words
    from unnest(${names}::text[], ${texts}::text[]) as fault (name, words)
    where certificates.name = fault.name and certificates.problem is distinct from fault.words
      and (certificates.chain is null or certificates.renew_at <= now())`.execute(db)
}

/** Tells every process that certificates have changed. A process that misses it finds the change by polling. */
async function announceCertificates(db: Kysely<Tables>): Promise<void> {
  await sql`select pg_notify(${CHANNEL}, '')`.execute(db)
}

type Issued = Leaf & {
  readonly chain: string
  readonly sealed_key: Buffer
  readonly renew_at: number
  /** Whether to ask the authority when to renew. */
  readonly asks: boolean
}

const instant = (ms: number): string => new Date(ms).toISOString()

/** Puts a certificate into service in all processes. False if the lease was lost: then nothing has changed. */
export async function putInService(
  db: Kysely<Tables>,
  { name, lease_token }: ClaimedCertificate,
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
  await announceCertificates(db)
  return true
}

/** Ends a failed order. The next try is after the pause. */
export async function noteFailure(
  db: Kysely<Tables>,
  { name, lease_token }: ClaimedCertificate,
  problem: string,
  pause_ms: number,
): Promise<void> {
  await sql`
    update certificates
    set problem = ${problem}, attempts = attempts + 1, next_try_at = ${later(pause_ms)}, leased_until = null, lease_token = null
    where name = ${name} and lease_token = ${lease_token}`.execute(db)
}

/** Releases the lease without any other change. */
export async function releaseCertificate(db: Kysely<Tables>, { name, lease_token }: ClaimedCertificate): Promise<void> {
  await sql`
    update certificates set leased_until = null, lease_token = null
    where name = ${name} and lease_token = ${lease_token}`.execute(db)
}

/** Stops all orders of the account for a time. */
export async function holdAccount(db: Kysely<Tables>, directory: string, why: string, ms: number): Promise<void> {
  await sql`
    update acme_accounts set held_until = greatest(held_until, ${later(ms)}), held_because = ${why}
    where directory = ${directory}`.execute(db)
}

/** Claims certificates whose renewal time the authority is to be asked for. No other process asks for them within an hour. */
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

/** Writes the renewal window of a certificate. The chosen time stays as long as the window stays. */
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

/** Schedules the next question to the authority, which has given no window. */
export async function askAgain(
  db: Kysely<Tables>,
  { name, serial }: { name: string; serial: string },
  ms: number,
): Promise<void> {
  await sql`update certificates set ari_at = ${later(ms)} where name = ${name} and serial = ${serial}`.execute(db)
}
