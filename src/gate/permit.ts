/**
 * Step 4 of the gate: check what the caller may do. For a key, in this order: the grant is readable, the owner is a member of its organization,
 * the organization is not deleted, the owner's role, the right. For a person: a second factor if the active organization requires one, and
 * the role in it.
 */
import type pg from 'pg'
import type { Access, Endpoint, Role } from '../contract/endpoint.ts'
import { rightOf } from '../contract/endpoint.ts'
import type { RefusalName } from '../contract/refusal-catalogue.ts'
import { Refusal, refuse } from '../contract/refusals.ts'
import { isRight, RIGHTS, type Right, TIERS, type Tier } from '../contract/rights.ts'
import type { Key, Member, Person } from '../ground/room.ts'
import { type KeyRecord, rereadKeys } from '../people/keys/verify.ts'
import type { ActiveMembership } from '../people/organizations/active-membership.ts'
import type { Caller } from './identify.ts'

/** Reads a person's membership in their active organization. Undefined when they have none. */
export type Memberships = { activeMembershipOf(person: Person): Promise<ActiveMembership | undefined> }

export type Actor = Person | Member | Key | undefined

const RANK: Record<Role, number> = { member: 0, admin: 1, owner: 2 }

/** Keys issued before this day skip the role check on intake over HTTP. */
const ROLE_CHECKED_SINCE = Date.UTC(2026, 8, 2)

/** Returns the actor for the deed. Refuses in the order above. `through` decides whether the exemptions for HTTP apply. */
export async function permit(
  endpoint: Endpoint,
  caller: Caller,
  memberships: Memberships,
  through: Key['through'],
): Promise<Actor> {
  if (caller.kind === 'anyone') return undefined
  if (caller.kind === 'key') return permitKey(endpoint, caller.record, through)
  const needed = neededRole(endpoint.access)
  return needed === 'person' ? caller.person : permitPerson(caller.person, needed, memberships)
}

function neededRole(access: Access): Role | 'person' {
  return access === 'anyone' || access.session === undefined ? 'person' : access.session
}

async function permitPerson(person: Person, needed: Role, memberships: Memberships): Promise<Member> {
  const membership = await memberships.activeMembershipOf(person)
  if (membership === undefined) refuse('no_organization')
  if (membership.organization_deleted) refuse('org_deleted')
  if (membership.lacks_second_factor) refuse('second_factor_required')
  if (RANK[membership.member.role] < RANK[needed])
    refuse('role_forbidden', {
      error: `this needs the role ${needed}`,
      hint: 'Ask an owner or admin of the organization.',
    })
  return membership.member
}

function permitKey(endpoint: Endpoint, record: KeyRecord, through: Key['through']): Key {
  const keyCall = { right: rightOf(endpoint.access), isIntake: endpoint.quota === 'events', through }
  const scope = scopeOf(record, keyCall)
  if (scope instanceof Refusal) throw scope
  const { key_id, user_id, read_at } = record
  return { kind: 'key', key_id, user_id, ...scope, through, read_at }
}

/** A call by a key: the right it needs, whether it is conversion intake, and whether it came over HTTP or from a tool. */
type KeyCall = { readonly right: Right | undefined; readonly isIntake: boolean; readonly through: Key['through'] }

/** The organization and campaigns in which the key may make the call, or the first refusal in the order above. */
function scopeOf(
  record: KeyRecord,
  { right, isIntake, through }: KeyCall,
): Pick<Key, 'org_id' | 'organization_id' | 'campaigns'> | Refusal {
  const { grant, org_id, organization_id, role } = record
  if (grant !== null && !isReadable(grant)) return new Refusal('api_key_grant_unverifiable')
  if (org_id === null || organization_id === null || role === null) return new Refusal('api_key_org_not_member')
  if (record.organization_deleted) return new Refusal('org_deleted')
  if (role === 'member' && !(isIntake && skipsRole(record, through))) return new Refusal('role_forbidden')
  if (right === undefined) return new Refusal('api_key_resource_forbidden')
  if (!holds(record, right, through)) return ungranted(right, through)
  return { org_id, organization_id, campaigns: grant?.campaigns ?? null }
}

function isReadable(grant: NonNullable<KeyRecord['grant']>): boolean {
  const inPlace = (tier: Tier) => grant[tier].every(slug => isRight(slug) && RIGHTS[slug].tier === tier)
  return grant.org_id !== null && TIERS.every(inPlace)
}

/** Whether intake skips the role check for this key. It never does for a tool. */
function skipsRole({ issued_at }: KeyRecord, through: Key['through']): boolean {
  return through === 'http' && Date.parse(issued_at) < ROLE_CHECKED_SINCE
}

/** Whether the key holds the right. A key whose permissions were never saved holds only `events`, over HTTP. */
function holds({ grant }: KeyRecord, right: Right, through: Key['through']): boolean {
  return grant === null ? right === 'events' && through === 'http' : grant[RIGHTS[right].tier].includes(right)
}

const NOT_GRANTED: Record<Tier, RefusalName> = {
  read: 'api_key_read_not_granted',
  write: 'api_key_write_not_granted',
  delete: 'api_key_delete_not_granted',
}

const HTTP_ONLY =
  ' The exemption for keys whose permissions were never saved covers POST /api/events over HTTP only, not MCP.'

function ungranted(right: Right, through: Key['through']): Refusal {
  const { tier } = RIGHTS[right]
  const advice = `Ask a workspace owner or admin to grant "${right}" (${tier}) to this key in Settings, API keys.`
  return new Refusal(NOT_GRANTED[tier], {
    error: `this key does not hold the ${tier} right "${right}"`,
    hint: right === 'events' && through === 'tool' ? advice + HTTP_ONLY : advice,
  })
}

type UsedKey = Pick<Key, 'key_id' | 'through'>
type CurrentScope = { campaigns: readonly string[] | null } | Refusal

/**
 * Checks again whether keys may report events to an organization, inside the transaction of work that waited. Returns each key's campaigns
 * or its refusal.
 */
export async function stillAllowed<K extends UsedKey>(
  client: pg.ClientBase,
  org_id: number,
  keys: readonly K[],
): Promise<ReadonlyMap<K, CurrentScope>> {
  const records = await rereadKeys(client, [...new Set(keys.map(key => key.key_id))])
  return new Map(keys.map(key => [key, currentScope(records.get(key.key_id), org_id, key.through)]))
}

function currentScope(record: KeyRecord | undefined, org_id: number, through: Key['through']): CurrentScope {
  if (record === undefined || !record.accepted) return new Refusal('key_not_accepted')
  const scope = scopeOf(record, { right: 'events', isIntake: true, through })
  if (scope instanceof Refusal) return scope
  // The key may have moved to another organization, which does not have this click.
  return scope.org_id === org_id ? { campaigns: scope.campaigns } : new Refusal('click_not_found')
}
