/**
 * API keys: their names, their states and who may see them. Owns `api_keys`; grants.ts owns `api_key_grants`. Only the SHA-256 of a
 * secret is stored, so nothing can show it again. Revoking is final. Nothing about a key is cached.
 */
import { type Kysely, sql } from 'kysely'
import type { z } from 'zod'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, idOf, type Member } from '../../ground/room.ts'
import { earliestMembership, JOIN_ORGANIZATION } from './key-organization.ts'
import type * as api from './api.ts'
import { firstCharacters, hashSecret, newSecret } from './secret.ts'

export type KeyRow = z.output<typeof api.ApiKey> & { readonly user_id: string }

/** The keys a person may see: their own and, for owners and admins, all keys that act in the active organization. */
async function readKeys(db: Kysely<Tables>, actor: Member, id?: string): Promise<KeyRow[]> {
  const now = new Date().toISOString()
  const { rows } = await sql<KeyRow>`
    select k.id, k.user_id, k.name, case when c.key_id is null then 'key' else 'connection' end as kind, c.host_domain,
      k.first_characters, k.created_at, l.last_used_at, k.expires_at,
      case
        when k.revoked_at is not null then 'revoked'
        when not k.enabled then 'disabled'
        when k.expires_at <= ${now} then 'expired'
        else 'accepted'
      end as state, k.ask_first,
      case
        when g.key_id is null then 'fresh'
        when g.emptied_at = g.saved_at then 'emptied'
        else 'granted'
      end as permission_state,
      case when o.id is not null then json_build_object('id', o.id, 'name', o.name) end as organization,
      json_build_object('user_id', u.id, 'name', u.name, 'email', u.email) as owner,
      k.user_id = ${actor.user_id} as is_yours
    from api_keys k
    join users u on u.id = k.user_id
    left join api_key_grants g on g.key_id = k.id
    left join api_key_uses l on l.key_id = k.id
    left join connections c on c.key_id = k.id
    ${sql.raw(JOIN_ORGANIZATION)}
    where (k.user_id = ${actor.user_id} or (o.org_id = ${actor.org_id} and ${actor.role !== 'member'}))
      ${id === undefined ? sql`` : sql`and k.id = ${id}`}
    order by k.id desc
    limit 1000`.execute(db)
  return rows
}

/** The key that a path names. Refuses `object_not_found` when the caller may not see it. */
export async function requireKey(db: Kysely<Tables>, actor: Member, wire_id: string): Promise<KeyRow> {
  const id = idOf(wire_id)
  const [key] = await readKeys(db, actor, id)
  return key ?? refuse('object_not_found')
}

/** The key that a path names, for changes by its owner. Also refuses `role_forbidden` to others and `key_revoked`. */
export async function requireOwnKey(db: Kysely<Tables>, actor: Member, wire_id: string): Promise<KeyRow> {
  const key = await requireKey(db, actor, wire_id)
  if (!key.is_yours)
    refuse('role_forbidden', {
      error: 'only the owner of a key may change it',
      hint: 'Owners and admins of the organization may revoke it.',
    })
  return key.state === 'revoked' ? refuse('key_revoked') : key
}

/** The keys the caller may see, newest first, in one page. */
export async function listKeys({ db, actor }: Context<typeof api.listKeys>) {
  return { data: await readKeys(db, actor), next_cursor: null }
}

type OrganizationRef = { org_id: number } | { id: string }

/**
 * Refuses `second_factor_required` if the organization requires a second factor and the caller has none. A key acts without a second
 * factor, so such a person may not create or enable keys that act there.
 */
async function requireSecondFactorOf(db: Kysely<Tables>, actor: Member, organization: OrganizationRef) {
  if (actor.has_second_factor) return
  const requiring = await db
    .selectFrom('organizations')
    .select('id')
    .where(on => ('id' in organization ? on('id', '=', organization.id) : on('org_id', '=', organization.org_id)))
    .where('requires_second_factor', '=', true)
    .executeTakeFirst()
  if (requiring !== undefined) refuse('second_factor_required')
}

/** Creates a fresh key of the caller. The reply holds the secret, which nothing can show again. Refuses `second_factor_required`. */
export async function createKey({ db, actor }: Context<typeof api.createKey>, { body }: Call<typeof api.createKey>) {
  const org_id = await earliestMembership(db, actor.user_id)
  if (org_id !== null) await requireSecondFactorOf(db, actor, { org_id })
  const secret = newSecret()
  const key = { ...keyRow(secret), user_id: actor.user_id, name: body.name }
  await db.insertInto('api_keys').values(key).execute()
  const [row] = await readKeys(db, actor, key.id)
  return { ...(row ?? refuse('object_not_found')), secret }
}

/** Enables or disables the caller's own key, sets its expiry, or makes its tools ask first. Refuses `key_revoked` and `second_factor_required`. */
export async function updateKey(
  { db, actor }: Context<typeof api.updateKey>,
  { params, body }: Call<typeof api.updateKey>,
) {
  const { id, organization } = await requireOwnKey(db, actor, params.id)
  if (organization !== null) await requireSecondFactorOf(db, actor, organization)
  const sent = Object.entries(body).filter(([, value]) => value !== undefined)
  if (sent.length > 0) {
    const { numUpdatedRows } = await db
      .updateTable('api_keys')
      .set(Object.fromEntries(sent))
      .where('id', '=', id)
      .where('revoked_at', 'is', null)
      .executeTakeFirst()
    if (numUpdatedRows !== 1n) refuse('key_revoked')
  }
  return requireKey(db, actor, params.id)
}

/** Revokes a key for good, from its next call. Revoking it again is a no-op. */
export async function revokeKey({ db, actor }: Context<typeof api.revokeKey>, { params }: Call<typeof api.revokeKey>) {
  const { id } = await requireKey(db, actor, params.id)
  await revokeKeyIn(db, id)
  return { ok: true as const }
}

/** Revokes a key for good, in the caller's transaction. */
export async function revokeKeyIn(db: Kysely<Tables>, id: string): Promise<void> {
  await db
    .updateTable('api_keys')
    .set({ revoked_at: new Date().toISOString() })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .execute()
}

type KeyWithoutSecret = {
  readonly user_id: string
  readonly name: string
  readonly expires_at: string | null
  readonly ask_first: boolean
}

/** Creates a key whose secret nobody knows, for a connection, in the caller's transaction. Returns its id. */
export async function createKeyIn(trx: Kysely<Tables>, key: KeyWithoutSecret): Promise<string> {
  const row = keyRow(newSecret())
  await trx
    .insertInto('api_keys')
    .values({ ...row, ...key })
    .execute()
  return row.id
}

const keyRow = (secret: string) => ({
  id: newId(),
  hash: hashSecret(secret),
  first_characters: firstCharacters(secret),
  created_at: new Date().toISOString(),
  enabled: true,
})
