/**
 * Who reads an account: one process at a time, under a lease by the database's clock. What it books counts only while the claim is its own, so that one
 * that slept through its lease changes nothing. Writes `spend_accounts`.
 */
import { type Kysely, sql, type UpdateObject } from 'kysely'
import { newId } from '../../contract/ids.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Ground } from '../../ground/room.ts'
import type { SpendAccount } from './api.ts'
import type { SpendFault } from './reader.ts'

/** Longer than a page of a report may take; it is kept with each page. */
export const LEASE_MS = 3 * 60_000
/** So many accounts are looked for at a time, those that wait longest first. */
const MOST_DUE = 50

const DUE = (among: Among) => `
  select org_id, id from spend_accounts
  where due_at <= now() and state = 'active' and deleted_at is null and (claimed_until is null or claimed_until < now())${among('org_id')}
  order by due_at limit ${MOST_DUE}`

/** An account that this process reads. */
export type Claimed = Pick<
  SpendAccount,
  'id' | 'provider' | 'external_id' | 'id_in' | 'level' | 'campaign_id' | 'synced_at'
> & {
  readonly org_id: number
  readonly claim: string
  readonly token: Buffer
  readonly asked_days: number | null
  readonly deep_on: string | null
  readonly failures: number
}

/** Thrown where another process has taken the account over, or it was changed or disconnected meanwhile. */
export class LostClaim extends Error {}

/** Which accounts are due, of all organizations. Throws what the database throws. */
export async function dueAccounts({ database }: Pick<Ground, 'database'>) {
  return (await askEverywhere<{ org_id: number; id: string }>(database.worker, DUE)).rows
}

/** The database's moment so many milliseconds from now. An update reads no clock beside its columns: nodes would each read their own. */
async function momentIn(db: Kysely<Tables>, ms: number): Promise<string> {
  const { rows } = await sql<{ at: string }>`select now() + ${ms}::float8 * interval '1 millisecond' as at`.execute(db)
  return rows[0]?.at ?? new Date(Date.now() + ms).toISOString()
}

/** Claims a due account, or answers undefined where another process has it. */
export async function claimAccount(
  db: Kysely<Tables>,
  { org_id, id }: { org_id: number; id: string },
  lease_ms: number,
): Promise<Claimed | undefined> {
  const [claim, until] = [newId(), await momentIn(db, lease_ms)]
  const { numAffectedRows } = await sql`
    update spend_accounts set claim = ${claim}, claimed_until = ${until}
    where org_id = ${org_id} and id = ${id} and due_at <= now() and state = 'active' and deleted_at is null
      and (claimed_until is null or claimed_until < now())`.execute(db)
  if (numAffectedRows !== 1n) return undefined
  return db
    .selectFrom('spend_accounts')
    .select(['org_id', 'id', 'claim', 'provider', 'external_id', 'token', 'id_in', 'level', 'campaign_id'])
    .select(['asked_days', 'deep_on', 'synced_at', 'failures'])
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('claim', '=', claim)
    .$castTo<Claimed>()
    .executeTakeFirst()
}

type Held = Pick<Claimed, 'org_id' | 'id' | 'claim'>

/** Keeps the account for another lease. @throws LostClaim */
export async function keepClaim(db: Kysely<Tables>, held: Held, lease_ms: number): Promise<void> {
  await change(db, held, { claimed_until: await momentIn(db, lease_ms) })
}

/** Holds the account's row, so that nobody takes it over before the transaction ends. @throws LostClaim */
export async function holdClaim(trx: Kysely<Tables>, { org_id, id, claim }: Held): Promise<void> {
  const { rows } = await sql`
    select 1 from spend_accounts where org_id = ${org_id} and id = ${id} and claim = ${claim} and deleted_at is null for update`.execute(
    trx,
  )
  if (rows.length === 0) throw new LostClaim()
}

/** Writes down by what the platform bills. @throws LostClaim */
export async function noteBilling(db: Kysely<Tables>, held: Held, billing: { timezone: string; currency: string }) {
  await change(db, held, billing)
}

/** Gives the account back, which is due again in `next_ms`. `deep_on` is the account's day if its last week was read. */
export async function endWell(
  db: Kysely<Tables>,
  held: Held,
  { next_ms, deep_on }: { next_ms: number; deep_on: string | undefined },
): Promise<void> {
  await change(db, held, {
    due_at: await momentIn(db, next_ms),
    synced_at: await momentIn(db, 0),
    asked_days: null,
    ...(deep_on !== undefined && { deep_on }),
    ...free,
    failures: 0,
    fault_code: null,
    fault_words: null,
    fault_since: null,
  })
}

/** Gives the account back with what is wrong; a fault that was there keeps its time. */
export async function endWithFault(
  db: Kysely<Tables>,
  held: Held & Pick<Claimed, 'failures'>,
  { code, message }: SpendFault,
  next_ms: number,
): Promise<void> {
  const now = await momentIn(db, 0)
  await change(db, held, {
    due_at: await momentIn(db, next_ms),
    ...free,
    failures: held.failures + 1,
    fault_code: code,
    fault_words: message,
    fault_since: sql<string>`case when fault_code = ${code} then fault_since else ${now}::timestamptz end`,
  })
}

/** Gives the account back as it was, for the next process. */
export async function giveBack(db: Kysely<Tables>, held: Held): Promise<void> {
  await change(db, held, free)
}

const free = { claim: null, claimed_until: null }

async function change(
  db: Kysely<Tables>,
  { org_id, id, claim }: Held,
  set: UpdateObject<Tables, 'spend_accounts'>,
): Promise<void> {
  const changed = db
    .updateTable('spend_accounts')
    .set(set)
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('claim', '=', claim)
  if ((await changed.executeTakeFirst()).numUpdatedRows !== 1n) throw new LostClaim()
}
