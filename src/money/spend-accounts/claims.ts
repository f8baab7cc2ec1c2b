/**
 * Claims of spend accounts: one process at a time reads an account, under a lease by the database's clock. Every write checks the claim, so a
 * process whose lease another one has taken over changes nothing. Writes `spend_accounts`.
 */
import { type Kysely, sql, type UpdateObject } from 'kysely'
import { MINUTE_MS } from '../../contract/days.ts'
import { newId } from '../../contract/ids.ts'
import { databaseTimeIn } from '../../ground/db/clock.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Ground } from '../../ground/room.ts'
import type { SpendAccount } from './api.ts'
import type { SpendFault } from './reader.ts'

/** Longer than a page of a report may take. The claim is kept while pages arrive. */
export const ACCOUNT_LEASE_MS = 3 * MINUTE_MS
/** The most due accounts read at a time, those due longest first. */
const MOST_DUE = 50

const DUE = (among: Among) => `
  select org_id, id from spend_accounts
  where due_at <= now() and state = 'active' and deleted_at is null and (claimed_until is null or claimed_until < now())${among('org_id')}
  order by due_at limit ${MOST_DUE}`

/** An account claimed by this process. */
export type ClaimedAccount = Pick<
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

/** Thrown if another process has claimed the account, or someone changed or disconnected it. */
export class LostClaim extends Error {}

/** The due accounts of all organizations. Database errors are thrown. */
export async function dueAccounts({ database }: Pick<Ground, 'database'>) {
  return (await askEverywhere<{ org_id: number; id: string }>(database.worker, DUE)).rows
}

/** Claims a due account. Returns undefined if another process has it. */
export async function claimAccount(
  db: Kysely<Tables>,
  { org_id, id }: { org_id: number; id: string },
  lease_ms: number,
): Promise<ClaimedAccount | undefined> {
  const [claim, until] = [newId(), await databaseTimeIn(db, lease_ms)]
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
    .$castTo<ClaimedAccount>()
    .executeTakeFirst()
}

type AccountClaim = Pick<ClaimedAccount, 'org_id' | 'id' | 'claim'>

/** Extends the claim by another lease. @throws LostClaim */
export async function keepAccount(db: Kysely<Tables>, account: AccountClaim, lease_ms: number): Promise<void> {
  await updateClaimed(db, account, { claimed_until: await databaseTimeIn(db, lease_ms) })
}

/** Locks the account's row, so that nobody claims it before the transaction ends. @throws LostClaim */
export async function lockClaim(trx: Kysely<Tables>, { org_id, id, claim }: AccountClaim): Promise<void> {
  const { rows } = await sql`
    select 1 from spend_accounts where org_id = ${org_id} and id = ${id} and claim = ${claim} and deleted_at is null for update`.execute(
    trx,
  )
  if (rows.length === 0) throw new LostClaim()
}

/** Stores the account's time zone and billing currency. @throws LostClaim */
export async function storeBilling(
  db: Kysely<Tables>,
  account: AccountClaim,
  billing: { timezone: string; currency: string },
) {
  await updateClaimed(db, account, billing)
}

/** Releases an account that was read; it is due again in `next_ms`. `deep_on` is the account's day if its last week was read. @throws LostClaim */
export async function releaseSynced(
  db: Kysely<Tables>,
  account: AccountClaim,
  { next_ms, deep_on }: { next_ms: number; deep_on: string | undefined },
): Promise<void> {
  await updateClaimed(db, account, {
    due_at: await databaseTimeIn(db, next_ms),
    synced_at: await databaseTimeIn(db, 0),
    asked_days: null,
    ...(deep_on !== undefined && { deep_on }),
    ...UNCLAIMED,
    failures: 0,
    fault_code: null,
    fault_words: null,
    fault_since: null,
  })
}

/** Releases an account with its fault. `fault_since` stays if the fault is the same as before. @throws LostClaim */
export async function releaseFaulty(
  db: Kysely<Tables>,
  account: AccountClaim & Pick<ClaimedAccount, 'failures'>,
  { code, message }: SpendFault,
  next_ms: number,
): Promise<void> {
  const now = await databaseTimeIn(db, 0)
  await updateClaimed(db, account, {
    due_at: await databaseTimeIn(db, next_ms),
    ...UNCLAIMED,
    failures: account.failures + 1,
    fault_code: code,
    fault_words: message,
    fault_since: sql<string>`case when fault_code = ${code} then fault_since else ${now}::timestamptz end`,
  })
}

/** Releases an account unread; it stays due for the next process. @throws LostClaim */
export async function releaseAccount(db: Kysely<Tables>, account: AccountClaim): Promise<void> {
  await updateClaimed(db, account, UNCLAIMED)
}

const UNCLAIMED = { claim: null, claimed_until: null }

async function updateClaimed(
  db: Kysely<Tables>,
  { org_id, id, claim }: AccountClaim,
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
