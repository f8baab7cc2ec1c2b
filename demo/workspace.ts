// The demo's organization: its owner, its objects, and a key for the curl lines.
import type { Kysely, Transaction } from 'kysely'
import { newId } from '../src/contract/ids.ts'
import { RIGHTS, type Right } from '../src/contract/rights.ts'
import type { Tables } from '../src/ground/db/tables.ts'
import type { Ground } from '../src/ground/room.ts'
import { openLibrary } from '../src/people/sign-in/library.ts'
import { createAccount } from '../src/people/sign-in/sign-up.ts'
import { firstCharacters, hashSecret, newSecret } from '../src/people/keys/secret.ts'
import { insertOrganization } from '../src/people/organizations/organizations.ts'
import { letters } from './chance.ts'
import { EVENT_NAMES, USUAL_GOAL } from './world.ts'
import { placeAll, type Workspace } from './placing.ts'

export const EMAIL = 'demo@example.com'
export const NAME = 'Demo Media'
const KEY_NAME = 'Demo'

/** Creates the demo's person if missing, and gives them a new password, hashed as at sign-up. */
export async function admitPerson(ground: Ground): Promise<{ user_id: string; password: string }> {
  const { db, config } = ground
  const { password: library } = await openLibrary(ground).auth.$context
  const password = letters(Math.random, 16, 'abcdefghjkmnpqrstuvwxyz23456789').replace(/(.{4})(?=.)/g, '$1-')
  const known = await db.selectFrom('users').select('id').where('email', '=', EMAIL).executeTakeFirst()
  if (known === undefined) {
    // No invitation is needed: the operator owns the database.
    await createAccount(db, { ...config, signUp: 'open' }, { name: 'Demo', email: EMAIL, password }, library.hash)
  } else {
    await db
      .updateTable('accounts')
      .set({ password: await library.hash(password), updated_at: new Date().toISOString() })
      .where('user_id', '=', known.id)
      .where('provider_id', '=', 'credential')
      .execute()
  }
  const { id } = await db.selectFrom('users').select('id').where('email', '=', EMAIL).executeTakeFirstOrThrow()
  return { user_id: id, password }
}

/** The organization of an earlier run. */
export async function findWorkspace(
  db: Kysely<Tables>,
  user_id: string,
): Promise<{ org_id: number; id: string } | undefined> {
  return db
    .selectFrom('organizations as o')
    .innerJoin('members as m', 'm.org_id', 'o.org_id')
    .where('m.user_id', '=', user_id)
    .where('m.role', '=', 'owner')
    .where('o.name', '=', NAME)
    .where('o.deleted_at', 'is', null)
    .orderBy('m.joined_at')
    .select(['o.org_id', 'o.id'])
    .executeTakeFirst()
}

/** A new key of the person that can read and write, but not delete. The earlier key is revoked. */
export async function makeKey(
  trx: Transaction<Tables>,
  { org_id, user_id }: { org_id: number; user_id: string },
): Promise<{ secret: string; read: Right[]; write: Right[] }> {
  const now = new Date().toISOString()
  const secret = newSecret()
  const id = newId()
  await trx
    .updateTable('api_keys')
    .set({ revoked_at: now })
    .where('user_id', '=', user_id)
    .where('name', '=', KEY_NAME)
    .where('revoked_at', 'is', null)
    .execute()
  const stored = { hash: hashSecret(secret), first_characters: firstCharacters(secret), created_at: now, enabled: true }
  await trx
    .insertInto('api_keys')
    .values({ id, user_id, name: KEY_NAME, ...stored })
    .execute()
  const tier = (name: string) => (Object.keys(RIGHTS) as Right[]).filter(right => RIGHTS[right].tier === name)
  const rights = { read: tier('read'), write: tier('write') }
  await trx
    .insertInto('api_key_grants')
    .values({ key_id: id, org_id, ...rights, delete: [], saved_at: now, saved_by: user_id })
    .execute()
  return { secret, ...rights }
}

/**
 * Creates the organization on its first day, `founded`, with everything that traffic runs on; `today` is the last day of its traffic (Unix ms). Its
 * balance is empty.
 */
export async function foundWorkspace(
  trx: Transaction<Tables>,
  { config, secrets }: Pick<Ground, 'config' | 'secrets'>,
  { user_id, founded, today }: { user_id: string; founded: number; today: number },
): Promise<Workspace & { org_id: number }> {
  // The books begin with the credit on the first day.
  const { org_id } = await insertOrganization(trx, { ...config, welcomeCredit: '0' }, { name: NAME, user_id })
  const at = new Date(founded).toISOString()
  await trx.updateTable('organizations').set({ created_at: at }).where('org_id', '=', org_id).execute()
  await trx.updateTable('members').set({ joined_at: at }).where('org_id', '=', org_id).execute()
  const events = { names: JSON.stringify(EVENT_NAMES), goal: [...USUAL_GOAL] }
  await trx
    .insertInto('event_settings')
    .values({ org_id, ...events, updated_by: user_id, updated_at: at })
    .execute()
  // Changed now, so that a running Sluice finds the new objects.
  const times = { created_at: at, updated_at: new Date().toISOString() }
  let made = founded
  const nextId = () => newId(made++)
  return { org_id, ...(await placeAll({ trx, config, secrets, org_id, today, times, nextId })) }
}
