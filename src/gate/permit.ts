/**
 * Step 3 of the door: what the caller may do here. For a key: the grant is readable, its owner a member of its organization, the
 * organization there, the owner's role, the right, in this order (decision 19). For a person: the role in the active organization.
 */
import type pg from 'pg'
import type { Access, Endpoint, Role } from '../contract/endpoint.ts'
import { rightOf } from '../contract/endpoint.ts'
import { refuse, type RefusalName } from '../contract/refusals.ts'
import { isRight, RIGHTS, type Right, TIERS, type Tier } from '../contract/rights.ts'
import { type KeyRecord, rereadKeys } from '../keys/verify.ts'
import type { Key, Member, Person } from '../room.ts'
import type { Caller } from './identify.ts'

/** A person's place in their active organization; undefined when they have none. */
export type Standing = { member: Member; organization_deleted: boolean } | undefined
export type Standings = { standingOf(person: Person): Promise<Standing> }

export type Actor = Person | Member | Key | undefined

const RANK: Record<Role, number> = { member: 0, admin: 1, owner: 2 }

/** Keys issued before this day skip the role check on intake over HTTP (Authentication 6). */
const ROLE_CHECKED_SINCE = Date.UTC(2026, 8, 2)

export async function permit(endpoint: Endpoint, caller: Caller, standings: Standings): Promise<Actor> {
  if (caller.kind === 'anyone') return undefined
  if (caller.kind === 'key') return permitKey(endpoint, caller.record)
  const needed = neededRole(endpoint.access)
  return needed === 'person' ? caller.person : permitPerson(caller.person, needed, standings)
}

function neededRole(access: Access): Role | 'person' {
  return access === 'anyone' || access.session === undefined ? 'person' : access.session
}

async function permitPerson(person: Person, needed: Role, standings: Standings): Promise<Member> {
  const standing = await standings.standingOf(person)
  if (standing === undefined) refuse('no_organization')
  if (standing.organization_deleted) refuse('org_deleted')
  if (RANK[standing.member.role] < RANK[needed])
    refuse('role_forbidden', {
      error: `this needs the role ${needed}`,
      hint: 'Ask an owner or admin of the organization.',
    })
  return standing.member
}

function permitKey(endpoint: Endpoint, record: KeyRecord): Key {
  if (record.grant !== null && !isReadable(record.grant)) refuse('api_key_grant_unverifiable')
  const { org_id, organization_id, role } = record
  if (org_id === null || organization_id === null || role === null) refuse('api_key_org_not_member')
  if (record.organization_deleted) refuse('org_deleted')
  if (role === 'member' && !skipsRole(endpoint, record)) refuse('role_forbidden')
  const right = rightOf(endpoint.access)
  if (right === undefined) refuse('api_key_resource_forbidden')
  if (!holds(record, right)) refuseUngranted(right)
  const { key_id, user_id, read_at } = record
  return { kind: 'key', key_id, user_id, org_id, organization_id, campaigns: record.grant?.campaigns ?? null, read_at }
}

function isReadable(grant: NonNullable<KeyRecord['grant']>): boolean {
  const inPlace = (tier: Tier) => grant[tier].every(slug => isRight(slug) && RIGHTS[slug].tier === tier)
  return grant.org_id !== null && TIERS.every(inPlace)
}

function skipsRole(endpoint: Endpoint, record: KeyRecord): boolean {
  return endpoint.quota === 'events' && isOlderThanRoles(record)
}

function isOlderThanRoles({ issued_at }: KeyRecord): boolean {
  return Date.parse(issued_at) < ROLE_CHECKED_SINCE
}

/** Whether the key holds the right; one whose permissions were never saved holds `events` alone (Authentication 4). */
export function holds({ grant }: Pick<KeyRecord, 'grant'>, right: Right): boolean {
  return grant === null ? right === 'events' : grant[RIGHTS[right].tier].includes(right)
}

const NOT_GRANTED: Record<Tier, RefusalName> = {
  read: 'api_key_read_not_granted',
  write: 'api_key_write_not_granted',
  delete: 'api_key_delete_not_granted',
}

function refuseUngranted(right: Right): never {
  const { tier } = RIGHTS[right]
  refuse(NOT_GRANTED[tier], {
    error: `this key does not hold the ${tier} right "${right}"`,
    hint: `Ask an owner or admin of the workspace to grant "${right}" (${tier}) to this key in Settings, API keys.`,
  })
}

/**
 * What keys may still do for an organization, read again inside the transaction of work that waited (decision 30): their campaigns, or
 * the refusal that now stands.
 */
export async function stillAllowed(
  client: pg.ClientBase,
  org_id: number,
  key_ids: readonly string[],
): Promise<ReadonlyMap<string, { campaigns: readonly string[] | null } | RefusalName>> {
  const records = await rereadKeys(client, key_ids)
  return new Map(key_ids.map(key_id => [key_id, standingNow(records.get(key_id), org_id)]))
}

function standingNow(
  record: KeyRecord | undefined,
  org_id: number,
): { campaigns: readonly string[] | null } | RefusalName {
  if (record === undefined || !record.accepted) return 'key_not_accepted'
  if (record.grant !== null && !isReadable(record.grant)) return 'api_key_grant_unverifiable'
  if (record.org_id !== org_id || record.role === null) return 'api_key_org_not_member'
  if (record.organization_deleted) return 'org_deleted'
  if (record.role === 'member' && !isOlderThanRoles(record)) return 'role_forbidden'
  return holds(record, 'events') ? { campaigns: record.grant?.campaigns ?? null } : 'api_key_write_not_granted'
}
