/**
 * Step 4 of the door: what the caller may do here. For a key: the grant is readable, its owner a member of its organization, the
 * organization there, the owner's role, the right, in this order. For a person: the second
 * factor, where the active organization asks for one, and the role in it.
 */
import type pg from 'pg'
import type { Access, Endpoint, Role } from '../contract/endpoint.ts'
import { rightOf } from '../contract/endpoint.ts'
import type { RefusalName } from '../contract/refusal-catalogue.ts'
import { Refusal, refuse } from '../contract/refusals.ts'
import { isRight, RIGHTS, type Right, TIERS, type Tier } from '../contract/rights.ts'
import type { Key, Member, Person } from '../ground/room.ts'
import { type KeyRecord, rereadKeys } from '../people/keys/verify.ts'
import type { Standing } from '../people/organizations/standing.ts'
import type { Caller } from './identify.ts'

/** A person's place in their active organization; undefined when they have none. */
export type Standings = { standingOf(person: Person): Promise<Standing | undefined> }

export type Actor = Person | Member | Key | undefined

const RANK: Record<Role, number> = { member: 0, admin: 1, owner: 2 }

/** Keys issued before this day skip the role check on intake over HTTP. */
const ROLE_CHECKED_SINCE = Date.UTC(2026, 8, 2)

/** Answers who acts, narrowed to what the endpoint lets in. Refuses in the order above; `through` says whether exemptions of HTTP hold. */
export async function permit(
  endpoint: Endpoint,
  caller: Caller,
  standings: Standings,
  through: Key['through'],
): Promise<Actor> {
  if (caller.kind === 'anyone') return undefined
  if (caller.kind === 'key') return permitKey(endpoint, caller.record, through)
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
  if (standing.lacks_second_factor) refuse('second_factor_required')
  if (RANK[standing.member.role] < RANK[needed])
    refuse('role_forbidden', {
      error: `this needs the role ${needed}`,
      hint: 'Ask an owner or admin of the organization.',
    })
  return standing.member
}

function permitKey(endpoint: Endpoint, record: KeyRecord, through: Key['through']): Key {
  const act = { right: rightOf(endpoint.access), isIntake: endpoint.quota === 'events', through }
  const place = placeOf(record, act)
  if (place instanceof Refusal) throw place
  const { key_id, user_id, read_at } = record
  return { kind: 'key', key_id, user_id, ...place, through, read_at }
}

/** What a key is to do: by which right, whether it is intake, and how it came. */
type Act = { readonly right: Right | undefined; readonly isIntake: boolean; readonly through: Key['through'] }

/** Where a key may do it and with which campaigns, or the first of its refusals in the order above. */
function placeOf(
  record: KeyRecord,
  { right, isIntake, through }: Act,
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

/** Whether intake looks away from the role of the key's owner; never for a tool. */
function skipsRole({ issued_at }: KeyRecord, through: Key['through']): boolean {
  return through === 'http' && Date.parse(issued_at) < ROLE_CHECKED_SINCE
}

/** Whether the key holds the right; one whose permissions were never saved holds `events` alone, over HTTP. */
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
type StandingNow = { campaigns: readonly string[] | null } | Refusal

/**
 * What keys may still do for an organization, read again inside the transaction of work that waited: for each, its
 * campaigns, or the refusal that now stands.
 */
export async function stillAllowed<K extends UsedKey>(
  client: pg.ClientBase,
  org_id: number,
  keys: readonly K[],
): Promise<ReadonlyMap<K, StandingNow>> {
  const records = await rereadKeys(client, [...new Set(keys.map(key => key.key_id))])
  return new Map(keys.map(key => [key, standingNow(records.get(key.key_id), org_id, key.through)]))
}

function standingNow(record: KeyRecord | undefined, org_id: number, through: Key['through']): StandingNow {
  if (record === undefined || !record.accepted) return new Refusal('key_not_accepted')
  const place = placeOf(record, { right: 'events', isIntake: true, through })
  if (place instanceof Refusal) return place
  // It acts in another organization by now, where this click is not.
  return place.org_id === org_id ? { campaigns: place.campaigns } : new Refusal('click_not_found')
}
