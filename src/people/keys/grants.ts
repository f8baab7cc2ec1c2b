/**
 * Grants: the rights of a key, its organization and its campaigns. Owns `api_key_grants`, one row per key. A save locks the key's row and
 * replaces the grant in one statement, so two concurrent saves never mix. A key without a grant row is fresh; its first save or
 * revocation ends that for good.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { z } from 'zod'
import type { Call, Role } from '../../contract/endpoint.ts'
import { toWireId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { isRight, RIGHTS, type Right, TIERS, type Tier } from '../../contract/rights.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Context, Member } from '../../ground/room.ts'
import { earliestMembership } from './key-organization.ts'
import type * as api from './api.ts'
import { requireKey, requireOwnKey } from './keys.ts'

type Draft = z.output<typeof api.GrantDraft>
type Rights = Record<Tier, Right[]>
type StoredGrant = {
  org_id: number | null
  read: string[]
  write: string[]
  delete: string[]
  campaigns: string[] | null
  saved_at: string
}

const NOTHING = { read: [], write: [], delete: [], campaigns: null, saved_at: null }

/** A key's state, organization, rights and campaigns with names. A fresh key has empty lists. Refuses `object_not_found`. */
export async function readGrant({ db, actor }: Context<typeof api.readGrant>, { params }: Call<typeof api.readGrant>) {
  return readGrantOf(db, actor, params.id)
}

async function readGrantOf(db: Kysely<Tables>, actor: Member, wire_id: string) {
  const { id, permission_state, organization } = await requireKey(db, actor, wire_id)
  const stored = await db
    .selectFrom('api_key_grants')
    .select(['org_id', 'read', 'write', 'delete', 'campaigns', 'saved_at'])
    .where('key_id', '=', id)
    .executeTakeFirst()
  if (stored === undefined) return { state: permission_state, organization, ...NOTHING }
  const { org_id, campaigns, ...rest } = stored
  const named = campaigns === null || org_id === null ? null : await nameCampaigns(db, org_id, campaigns)
  return { state: permission_state, organization, ...rest, campaigns: named }
}

/** The campaigns with their names, in the order of `ids`. Deleted ones stay in the list: removing them could leave an unrestricted key. */
async function nameCampaigns(db: Kysely<Tables>, org_id: number, ids: readonly string[]) {
  const rows = await db
    .selectFrom('campaigns')
    .select(['id', 'name', 'deleted_at'])
    .where('org_id', '=', org_id)
    .where('id', 'in', ids)
    .execute()
  return ids.flatMap(id =>
    rows.filter(row => row.id === id).map(({ name, deleted_at }) => ({ id, name, deleted: deleted_at !== null })),
  )
}

/**
 * Replaces all permissions of the caller's own key. Refuses `grant_organization_forbidden`, `org_deleted` and `role_forbidden` for an
 * organization where the caller may not grant, `grant_scope_unsupported_resource` for a campaign list with a right that cannot be
 * restricted, and `delete_confirmation_required` for new delete rights without the word DELETE.
 */
export async function saveGrant(
  { db, actor }: Context<typeof api.saveGrant>,
  { params, body }: Call<typeof api.saveGrant>,
) {
  const { id } = await requireOwnKey(db, actor, params.id)
  await db.transaction().execute(trx => writeGrant(trx, actor, id, body))
  return readGrantOf(db, actor, params.id)
}

/** Replaces the permissions of the actor's key in a transaction, with the refusals of `saveGrant`. */
export async function writeGrant(trx: Transaction<Tables>, actor: Member, key_id: string, body: Draft): Promise<void> {
  const rights = readRights(body)
  const campaigns = body.campaigns == null ? null : [...new Set(body.campaigns)]
  if (campaigns !== null) refuseUnrestrictable(rights)
  const org_id = await requireOrganization(trx, actor, body.organization_id)
  const held = await lockGrant(trx, key_id)
  const heldHere = held?.org_id === org_id ? held : undefined
  if (campaigns !== null) await requireCampaigns(trx, org_id, campaigns, heldHere?.campaigns ?? [])
  requireConfirmation(body, rights, heldHere?.delete ?? [])
  await storeGrant(trx, actor, key_id, { org_id, ...rights, campaigns })
}

/** Every slug in its tier, each once. Refuses `invalid_request` for a slug that is unknown or in the wrong tier, and names it. */
function readRights(draft: Draft): Rights {
  const rights: Rights = { read: [], write: [], delete: [] }
  for (const tier of TIERS)
    for (const slug of new Set(draft[tier])) {
      if (!isRight(slug)) refuse('invalid_request', { error: `${tier}: "${slug}" is not a right` })
      if (RIGHTS[slug].tier !== tier)
        refuse('invalid_request', { error: `${tier}: "${slug}" belongs to the tier ${RIGHTS[slug].tier}` })
      rights[tier].push(slug)
    }
  return rights
}

/** Refuses rights that act on the whole organization, because they cannot be restricted to campaigns. */
function refuseUnrestrictable(rights: Rights): void {
  const blocking = TIERS.flatMap(tier => rights[tier]).filter(slug => RIGHTS[slug].reach === 'organization')
  if (blocking.length === 0) return
  const named = blocking.map(slug => `"${slug}"`).join(', ')
  refuse('grant_scope_unsupported_resource', {
    error: `a key restricted to campaigns cannot hold ${named}`,
    hint: `Remove ${named} from the grant, or allow every campaign.`,
  })
}

/** Reads the organization to grant in. The caller needs the role there that the key will need at every call. */
async function requireOrganization(db: Kysely<Tables>, actor: Member, organization_id: string): Promise<number> {
  const { rows } = await sql<{ org_id: number; role: Role; is_deleted: boolean; requires_second_factor: boolean }>`
    select o.org_id, m.role, o.deleted_at is not null as is_deleted, o.requires_second_factor
    from organizations o
    join members m on m.org_id = o.org_id and m.user_id = ${actor.user_id}
    where o.id = ${organization_id}`.execute(db)
  const organization = rows[0] ?? refuse('grant_organization_forbidden')
  if (organization.is_deleted) refuse('org_deleted')
  if (organization.requires_second_factor && !actor.has_second_factor) refuse('second_factor_required')
  if (organization.role === 'member')
    refuse('role_forbidden', { error: 'only owners and admins of an organization may grant rights in it' })
  return organization.org_id
}

/**
 * Refuses unknown and deleted campaigns. A deleted campaign that the grant already lists may stay: its late conversions are still
 * accepted, and the key's rights can still be changed.
 */
async function requireCampaigns(
  trx: Transaction<Tables>,
  org_id: number,
  ids: readonly string[],
  listed: readonly string[],
): Promise<void> {
  const live = await trx
    .selectFrom('campaigns')
    .select('id')
    .where('org_id', '=', org_id)
    .where('id', 'in', ids)
    .where('deleted_at', 'is', null)
    .execute()
  const found = new Set([...listed, ...live.map(({ id }) => id)])
  const missing = ids.filter(id => !found.has(id)).map(toWireId)
  if (missing.length > 0)
    refuse('invalid_request', { error: `campaigns: not in this organization, or deleted: ${missing.join(', ')}` })
}

/** Refuses new delete rights without confirmation. `held` is empty when the organization changes, so that all rights count as new. */
function requireConfirmation(draft: Draft, rights: Rights, held: readonly string[]): void {
  const added = rights.delete.filter(slug => !held.includes(slug))
  if (added.length === 0 || draft.confirmation === 'DELETE') return
  const named = added.map(slug => `"${slug}"`).join(', ')
  refuse('delete_confirmation_required', { error: `adding ${named} needs confirmation: "DELETE"` })
}

/** Locks the key against other saves and its revocation, then reads its stored grant. Refuses `key_revoked`. */
async function lockGrant(trx: Transaction<Tables>, key_id: string): Promise<StoredGrant | undefined> {
  const key = await trx
    .selectFrom('api_keys')
    .select('revoked_at')
    .where('id', '=', key_id)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (key === undefined || key.revoked_at !== null) refuse('key_revoked')
  return trx
    .selectFrom('api_key_grants')
    .select(['org_id', 'read', 'write', 'delete', 'campaigns', 'saved_at'])
    .where('key_id', '=', key_id)
    .executeTakeFirst()
}

async function storeGrant(
  trx: Transaction<Tables>,
  actor: Member,
  key_id: string,
  grant: Omit<StoredGrant, 'saved_at'>,
  isEmptied = false,
): Promise<void> {
  const saved_at = new Date().toISOString()
  const row = { ...grant, saved_at, saved_by: actor.user_id, emptied_at: isEmptied ? saved_at : null }
  await trx
    .insertInto('api_key_grants')
    .values({ key_id, ...row })
    .onConflict(on => on.column('key_id').doUpdateSet(row))
    .execute()
}

/** Revokes all permissions of the caller's own key in its organization. The key never becomes fresh again. */
export async function revokeGrant(
  { db, actor }: Context<typeof api.revokeGrant>,
  { params }: Call<typeof api.revokeGrant>,
) {
  const { id, user_id } = await requireOwnKey(db, actor, params.id)
  await db.transaction().execute(async trx => {
    const held = await lockGrant(trx, id)
    const org_id = held === undefined ? await earliestMembership(trx, user_id) : held.org_id
    await storeGrant(trx, actor, id, { org_id, read: [], write: [], delete: [], campaigns: null }, true)
  })
  return readGrantOf(db, actor, params.id)
}
