/**
 * The second factors of people. Owns `passkeys`, and `two_factors` with a row for each person who has a factor; the sign-in library writes
 * the app's secret and the recovery codes there. `users.two_factor_enabled` must be true exactly while the person has an app or a passkey,
 * so every change updates it while it holds a lock on the person's row.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'
import type { Context, Ground } from '../../ground/room.ts'
import { setSecondFactor } from '../accounts/accounts.ts'
import type * as api from './api.ts'
import { codeEncryption } from './recovery-codes.ts'

type Trx = Transaction<Tables>

/** The caller's app and passkeys, how many recovery codes are left, and which of their workspaces require a second factor. */
export async function readSecondFactor({ db, secrets, actor }: Context<typeof api.readSecondFactor>) {
  const { user_id } = actor
  const [factor, passkeys, required_by] = await Promise.all([
    db.selectFrom('two_factors').select(['verified', 'backup_codes']).where('user_id', '=', user_id).executeTakeFirst(),
    db
      .selectFrom('passkeys')
      .select(['id', 'name', 'is_synced', 'created_at', 'last_used_at'])
      .where('user_id', '=', user_id)
      .orderBy('created_at')
      .orderBy('id')
      .execute(),
    requiringWorkspaces(db, user_id),
  ])
  const app = factor?.verified ?? false
  const isOn = app || passkeys.length > 0
  const recovery_codes_left =
    factor === undefined || !isOn ? 0 : countOf(await codeEncryption(secrets).decrypt(factor.backup_codes))
  return { app, passkeys, recovery_codes_left, required_by }
}

const countOf = (codes: string) => (JSON.parse(codes) as string[]).length

async function requiringWorkspaces(db: Kysely<Tables>, user_id: string): Promise<string[]> {
  const rows = await db
    .selectFrom('members as m')
    .innerJoin('organizations as o', 'o.org_id', 'm.org_id')
    .select('o.name')
    .where('m.user_id', '=', user_id)
    .where('o.requires_second_factor', '=', true)
    .where('o.deleted_at', 'is', null)
    .orderBy('o.name')
    .execute()
  return rows.map(({ name }) => name)
}

/** Locks the person's row, so that concurrent changes of their factors run one after another. */
export async function lockPerson(trx: Trx, user_id: string): Promise<void> {
  await sql`select 1 from users where id = ${user_id} for no key update`.execute(trx)
}

/**
 * Sets `users.two_factor_enabled` by the factors that exist, and deletes the recovery codes when none is left. The caller holds
 * `lockPerson`. Returns whether there is a second factor.
 */
export async function updateFactorFlag(trx: Trx, user_id: string): Promise<boolean> {
  const { rows } = await sql<{ is_on: boolean }>`
    select exists (select from two_factors where user_id = ${user_id} and verified)
      or exists (select from passkeys where user_id = ${user_id}) as is_on`.execute(trx)
  const isOn = rows[0]?.is_on ?? false
  if (!isOn) await trx.deleteFrom('two_factors').where('user_id', '=', user_id).execute()
  await setSecondFactor(trx, user_id, isOn)
  return isOn
}

/** The second steps available to the person with this address, the usual one first. */
export async function secondStepMethods(
  { db, secrets }: Pick<Ground, 'db' | 'secrets'>,
  email: string,
): Promise<string[]> {
  const { rows } = await sql<{ app: boolean; passkey: boolean; backup_codes: string }>`
    select f.verified as app, f.backup_codes, exists (select from passkeys where user_id = u.id) as passkey
    from users u join two_factors f on f.user_id = u.id
    where u.email = ${email.toLowerCase()}`.execute(db)
  const [factors] = rows
  if (factors === undefined) return []
  const codesLeft = countOf(await codeEncryption(secrets).decrypt(factors.backup_codes))
  return [
    ...(factors.app ? ['totp'] : []),
    ...(factors.passkey ? ['passkey'] : []),
    ...(codesLeft > 0 ? ['backup-code'] : []),
  ]
}

/** The person's recovery codes, encrypted as stored. Undefined when there are none. */
export async function readSealedCodes(db: Kysely<Tables>, user_id: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('two_factors')
    .select('backup_codes')
    .where('user_id', '=', user_id)
    .executeTakeFirst()
  return row?.backup_codes
}

/** Stores recovery codes that are already encrypted. */
export async function storeSealedCodes(db: Kysely<Tables>, user_id: string, backup_codes: string): Promise<void> {
  await db.updateTable('two_factors').set({ backup_codes }).where('user_id', '=', user_id).execute()
}

/** `updateFactorFlag` with its lock, after the library has changed a factor. */
export async function refreshFactorFlag(db: Kysely<Tables>, user_id: string): Promise<void> {
  await db.transaction().execute(async trx => {
    await lockPerson(trx, user_id)
    await updateFactorFlag(trx, user_id)
  })
}

/** Stored in place of the app's secret while there is a passkey but no app. */
export const NO_SECRET = ''

/** Removes the app and erases its secret. The recovery codes stay if the person has a passkey. */
export async function removeApp(db: Kysely<Tables>, user_id: string): Promise<void> {
  await db.transaction().execute(async trx => {
    await lockPerson(trx, user_id)
    await trx
      .updateTable('two_factors')
      .set({ verified: false, secret: NO_SECRET })
      .where('user_id', '=', user_id)
      .execute()
    await updateFactorFlag(trx, user_id)
  })
}
