/**
 * What a person has beside their password. Owns `two_factors`, a row for each who has anything, kept by the sign-in library (the app's secret, the
 * recovery codes), and `passkeys`. Whoever has an app or a passkey is not let in by the password alone: `users.two_factor_enabled` says so, and
 * every change of either settles it while the person's row is held.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'
import type { Context, Ground } from '../../ground/room.ts'
import { setSecondFactor } from '../accounts/accounts.ts'
import type * as api from './api.ts'
import { sealingOf } from './recovery-codes.ts'

type Trx = Transaction<Tables>

/** What the caller has set up, how many recovery codes are left, and which of their workspaces ask for it. */
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
    workspacesAsking(db, user_id),
  ])
  const app = factor?.verified ?? false
  const isOn = app || passkeys.length > 0
  const recovery_codes_left =
    factor === undefined || !isOn ? 0 : countOf(await sealingOf(secrets).decrypt(factor.backup_codes))
  return { app, passkeys, recovery_codes_left, required_by }
}

const countOf = (codes: string) => (JSON.parse(codes) as string[]).length

async function workspacesAsking(db: Kysely<Tables>, user_id: string): Promise<string[]> {
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

/** Holds the person, so that of two changes at once each knows what the other has left. */
export async function holdPerson(trx: Trx, user_id: string): Promise<void> {
  await sql`select 1 from users where id = ${user_id} for no key update`.execute(trx)
}

/**
 * Says whether the password is enough, by what there is; with neither app nor passkey the recovery codes go too. Under `holdPerson`. Answers whether
 * there is a second factor.
 */
export async function settle(trx: Trx, user_id: string): Promise<boolean> {
  const { rows } = await sql<{ is_on: boolean }>`
    select exists (select from two_factors where user_id = ${user_id} and verified)
      or exists (select from passkeys where user_id = ${user_id}) as is_on`.execute(trx)
  const isOn = rows[0]?.is_on ?? false
  if (!isOn) await trx.deleteFrom('two_factors').where('user_id', '=', user_id).execute()
  await setSecondFactor(trx, user_id, isOn)
  return isOn
}

/** Which ways are open to someone of this address after the password, the usual one first. */
export async function waysIn({ db, secrets }: Pick<Ground, 'db' | 'secrets'>, email: string): Promise<string[]> {
  const { rows } = await sql<{ app: boolean; passkey: boolean; backup_codes: string }>`
    select f.verified as app, f.backup_codes, exists (select from passkeys where user_id = u.id) as passkey
    from users u join two_factors f on f.user_id = u.id
    where u.email = ${email.toLowerCase()}`.execute(db)
  const [held] = rows
  if (held === undefined) return []
  const left = countOf(await sealingOf(secrets).decrypt(held.backup_codes))
  return [...(held.app ? ['totp'] : []), ...(held.passkey ? ['passkey'] : []), ...(left > 0 ? ['backup-code'] : [])]
}

/** The recovery codes of someone, as they are kept; undefined where there are none. */
export async function heldCodes(db: Kysely<Tables>, user_id: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('two_factors')
    .select('backup_codes')
    .where('user_id', '=', user_id)
    .executeTakeFirst()
  return row?.backup_codes
}

/** Keeps these, sealed as they are. */
export async function keepCodes(db: Kysely<Tables>, user_id: string, backup_codes: string): Promise<void> {
  await db.updateTable('two_factors').set({ backup_codes }).where('user_id', '=', user_id).execute()
}

/** `settle`, after the library has changed something. */
export async function settleAnew(db: Kysely<Tables>, user_id: string): Promise<void> {
  await db.transaction().execute(async trx => {
    await holdPerson(trx, user_id)
    await settle(trx, user_id)
  })
}

/** In place of the app's secret, where the second factor is a passkey and there is no app. */
export const NO_SECRET = ''

/** Makes an end of the app. Its secret is nobody's any more; recovery codes stay where there is a passkey. */
export async function dropApp(db: Kysely<Tables>, user_id: string): Promise<void> {
  await db.transaction().execute(async trx => {
    await holdPerson(trx, user_id)
    await trx
      .updateTable('two_factors')
      .set({ verified: false, secret: NO_SECRET })
      .where('user_id', '=', user_id)
      .execute()
    await settle(trx, user_id)
  })
}
