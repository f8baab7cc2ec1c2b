/**
 * Grants: what a key may do, in which organization, on which campaigns. Owns `api_key_grants`. One row per key, replaced whole by
 * one statement while the key's row is held, so that of two saves at once the last one stands and never a mix of both. A key with
 * no row is fresh; its first save or revocation ends that for ever.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { z } from 'zod'
import type { Call, Role } from '../../contract/endpoint.ts'
import { toWireId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { isRight, RIGHTS, type Right, TIERS, type Tier } from '../../contract/rights.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Context, Member } from '../../ground/room.ts'
import { earliestMembership } from './acts-in.ts'
import type * as api from './api.ts'
import { requireKey, requireOwnKey } from './keys.ts'

type Draft = z.output<typeof api.GrantDraft>
type Rights = Record<Tier, Right[]>
type Stored = {
  org_id: number | null
  read: string[]
  write: string[]
  delete: string[]
  campaigns: string[] | null
  saved_at: string
}

const NOTHING = { read: [], write: [], delete: [], campaigns: null, saved_at: null }

/** A key's state, organization, rights and named campaigns; never saved, all lists are empty. Refuses `object_not_found`. */
export async function readGrant({ db, actor }: Context<typeof api.readGrant>, { params }: Call<typeof api.readGrant>) {
  return showGrant(db, actor, params.id)
}

async function showGrant(db: Kysely<Tables>, actor: Member, wire_id: string) {
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

/** The listed campaigns in the order of the list; deleted ones stay in it, so that the list never widens by itself. */
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
 * Replaces all lists of the caller's own key. Refuses an organization where the caller may not grant, a campaign list beside rights it cannot
 * narrow, and new delete rights without the word DELETE.
 */
export async function saveGrant(
  { db, actor }: Context<typeof api.saveGrant>,
  { params, body }: Call<typeof api.saveGrant>,
) {
  const { id } = await requireOwnKey(db, actor, params.id)
  const rights = readRights(body)
  const campaigns = body.campaigns == null ? null : [...new Set(body.campaigns)]
  if (campaigns !== null) refuseUnrestrictable(rights)
  const org_id = await requireOrganization(db, actor, body.organization_id)
  await db.transaction().execute(async trx => {
    const held = await holdGrant(trx, id)
    const heldHere = held?.org_id === org_id ? held : undefined
    if (campaigns !== null) await requireCampaigns(trx, org_id, campaigns, heldHere?.campaigns ?? [])
    requireConfirmation(body, rights, heldHere?.delete ?? [])
    await storeGrant(trx, actor, id, { org_id, ...rights, campaigns })
  })
  return showGrant(db, actor, params.id)
}

/** Every slug in its tier, each once. Refuses an unknown or misplaced one by its name. */
function readRights(draft: Draft): Rights {
  const rights: Rights = { read: [], write: [], delete: [] }
  for (const tier of TIERS)
    for (const slug of new Set(draft[tier])) {
      if (!isRight(slug)) refuse('invalid_request', { error: `${tier}: "${slug}" is no right` })
      if (RIGHTS[slug].tier !== tier)
        refuse('invalid_request', { error: `${tier}: "${slug}" belongs to the tier ${RIGHTS[slug].tier}` })
      rights[tier].push(slug)
    }
  return rights
}

/** What acts on the whole organization by nature cannot be narrowed to campaigns. */
function refuseUnrestrictable(rights: Rights): void {
  const blocking = TIERS.flatMap(tier => rights[tier]).filter(slug => RIGHTS[slug].reach === 'organization')
  if (blocking.length === 0) return
  const named = blocking.map(slug => `"${slug}"`).join(', ')
  refuse('grant_scope_unsupported_resource', {
    error: `a key restricted to campaigns cannot hold ${named}`,
    hint: `Take ${named} out of the grant, or leave the campaigns unrestricted.`,
  })
}

/** The caller must be there with the role the key will need at every call. */
async function requireOrganization(db: Kysely<Tables>, actor: Member, organization_id: string): Promise<number> {
  const { rows } = await sql<{ org_id: number; role: Role; is_deleted: boolean; requires_second_factor: boolean }>`
    select o.org_id, m.role, o.deleted_at is not null as is_deleted, o.requires_second_factor
    from organizations o
    join members m on m.org_id = o.org_id and m.user_id = ${actor.user_id}
    where o.id = ${organization_id}`.execute(db)
  const place = rows[0] ?? refuse('grant_organization_forbidden')
  if (place.is_deleted) refuse('org_deleted')
  if (place.requires_second_factor && !actor.has_second_factor) refuse('second_factor_required')
  if (place.role === 'member')
    refuse('role_forbidden', { error: 'only owners and admins of an organization grant rights in it' })
  return place.org_id
}

/** Campaigns that are in the list already may stay when they are deleted: their late conversions go on, and rights can still be changed. */
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

/** Rights are bound to one organization, so in another one all of them are new. */
function requireConfirmation(draft: Draft, rights: Rights, held: readonly string[]): void {
  const added = rights.delete.filter(slug => !held.includes(slug))
  if (added.length === 0 || draft.confirmation === 'DELETE') return
  const named = added.map(slug => `"${slug}"`).join(', ')
  refuse('delete_confirmation_required', { error: `adding ${named} needs confirmation: "DELETE"` })
}

/** Holds the key against other saves and its revocation, and reads what is stored now. */
async function holdGrant(trx: Transaction<Tables>, key_id: string): Promise<Stored | undefined> {
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
  grant: Omit<Stored, 'saved_at'>,
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

/** Empties the lists of the caller's own key where it acts; it never becomes fresh again. */
export async function revokeGrant(
  { db, actor }: Context<typeof api.revokeGrant>,
  { params }: Call<typeof api.revokeGrant>,
) {
  const { id, user_id } = await requireOwnKey(db, actor, params.id)
  await db.transaction().execute(async trx => {
    const held = await holdGrant(trx, id)
    const org_id = held === undefined ? await earliestMembership(trx, user_id) : held.org_id
    await storeGrant(trx, actor, id, { org_id, read: [], write: [], delete: [], campaigns: null }, true)
  })
  return showGrant(db, actor, params.id)
}
