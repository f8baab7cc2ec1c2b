/**
 * Organizations (screens call them workspaces): creating, deleting and restoring them, and which one a session acts in. Owns
 * `organizations`, `members`, `invitations` and `active_organizations`. Deletion is soft: the organization's rows are not touched, so
 * restoring brings everything back. An organization always has an owner.
 */
import { randomInt } from 'node:crypto'
import { type Kysely, sql, type Transaction } from 'kysely'
import { USD } from '../../contract/currencies.ts'
import type { Call, Role } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { isTimeZone } from '../../contract/time-zones.ts'
import type { Config } from '../../ground/config.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, idOf, type Person } from '../../ground/room.ts'
import { openBalance } from '../../money/billing/balance.ts'
import { wantRates } from '../../money/rates/wanted.ts'
import { announceOrganization } from '../../traffic/campaigns/live.ts'
import { touchLeftOut } from '../../traffic/left-out/left-out.ts'
import type * as api from './api.ts'
import { ACTING_FIRST } from './active-membership.ts'

type PersonSession = Pick<Person, 'user_id' | 'session_id'>
type OrganizationRow = {
  id: string
  name: string
  role: Role
  active: boolean
  timezone: string
  reporting_currency: string | null
  requires_second_factor: boolean
  created_at: string
  deleted_at: string | null
}

/** The caller's organizations, the oldest membership first. A deleted one is listed only if the caller owns it or acts in it. */
async function readOrganizations(
  db: Kysely<Tables>,
  { user_id, session_id }: PersonSession,
): Promise<OrganizationRow[]> {
  const { rows } = await sql<OrganizationRow>`
    select id, name, role, active, timezone, reporting_currency, requires_second_factor, created_at, deleted_at
    from (
      select o.id, o.name, m.role, coalesce(o.timezone, 'UTC') as timezone, o.reporting_currency, o.requires_second_factor, o.created_at, o.deleted_at, m.joined_at,
        m.id as member_id,
        row_number() over (order by ${ACTING_FIRST}) = 1 as active
      from members m
      join organizations o on o.org_id = m.org_id
      left join active_organizations a on a.org_id = m.org_id and a.session_id = ${session_id}
      where m.user_id = ${user_id}
    ) mine
    where deleted_at is null or role = 'owner' or active
    order by joined_at, member_id`.execute(db)
  return rows
}

/** One of the caller's organizations. Refuses `object_not_found`. */
export async function readOrganization(
  db: Kysely<Tables>,
  person: PersonSession,
  id: string,
): Promise<OrganizationRow> {
  const all = await readOrganizations(db, person)
  return all.find(organization => organization.id === id) ?? refuse('object_not_found')
}

type Membership = {
  org_id: number
  id: string
  role: Role
  deleted_at: string | null
  requires_second_factor: boolean
}

/** The caller's membership in the organization that a path names. Refuses `object_not_found` when they are not a member. */
async function requireMembership(db: Kysely<Tables>, user_id: string, wire_id: string): Promise<Membership> {
  const id = idOf(wire_id)
  const { rows } = await sql<Membership>`
    select o.org_id, o.id, m.role, o.deleted_at, o.requires_second_factor
    from organizations o
    join members m on m.org_id = o.org_id and m.user_id = ${user_id}
    where o.id = ${id}`.execute(db)
  return rows[0] ?? refuse('object_not_found')
}

/** The caller's ownership of the organization. Refuses `second_factor_required` and `role_forbidden`. */
async function requireOwnership(db: Kysely<Tables>, person: Person, wire_id: string): Promise<Membership> {
  const membership = await requireMembership(db, person.user_id, wire_id)
  if (membership.requires_second_factor && !person.has_second_factor) refuse('second_factor_required')
  return membership.role === 'owner' ? membership : refuse('role_forbidden', { error: 'this needs the role owner' })
}

/** The organizations the caller is a member of. A deleted one is listed only if the caller owns it or acts in it. */
export async function listOrganizations({ db, actor }: Context<typeof api.listOrganizations>) {
  return { data: await readOrganizations(db, actor), next_cursor: null }
}

/** Creates an organization with the caller as owner and activates it in their session. Refuses `organization_limit`. */
export async function createOrganization(
  { db, config, actor }: Context<typeof api.createOrganization>,
  { body }: Call<typeof api.createOrganization>,
) {
  const { id } = await db.transaction().execute(async trx => {
    await requireWorkspaceQuota(trx, config, actor.user_id)
    const organization = await insertOrganization(trx, config, { name: body.name, user_id: actor.user_id })
    await activate(trx, actor.session_id, organization.org_id)
    return organization
  })
  return readOrganization(db, actor, id)
}

/**
 * Refuses `organization_limit` when MAX_WORKSPACES_PER_PERSON live organizations were created by the person, whatever their role there is
 * now. It locks the person's row, so concurrent calls count one after another.
 */
async function requireWorkspaceQuota(trx: Transaction<Tables>, config: Config, founder_id: string): Promise<void> {
  await sql`select from users where id = ${founder_id} for update`.execute(trx)
  const { rows } = await sql<{ count: number }>`
    select count(org_id)::int as count from organizations where founded_by = ${founder_id} and deleted_at is null`.execute(
    trx,
  )
  const limit = config.maxWorkspacesPerPerson
  if ((rows[0]?.count ?? 0) >= limit)
    refuse('organization_limit', { error: `one person may create at most ${limit} workspaces on this installation` })
}

// A random number of 2^31 is rarely taken, so eight failures in a row mean that something else is wrong.
const DRAWS = 8

/** Inserts an organization with its first owner and its balance, in the caller's transaction. */
export async function insertOrganization(
  trx: Transaction<Tables>,
  config: Config,
  { name, user_id }: { name: string; user_id: string },
): Promise<{ org_id: number; id: string }> {
  const id = newId()
  const now = new Date().toISOString()
  for (let draw = 0; draw < DRAWS; draw += 1) {
    const org_id = randomInt(1, 2 ** 31)
    const { numInsertedOrUpdatedRows } = await trx
      .insertInto('organizations')
      .values({ org_id, id, name, created_at: now, founded_by: user_id })
      .onConflict(on => on.doNothing())
      .executeTakeFirst()
    if (numInsertedOrUpdatedRows !== 1n) continue
    await trx.insertInto('members').values({ id: newId(), org_id, user_id, role: 'owner', joined_at: now }).execute()
    await openBalance(trx, org_id, config)
    return { org_id, id }
  }
  throw new Error('found no free org_id for a new organization')
}

/** Renames an organization or sets its time zone. Refuses `role_forbidden` to all but owners, `org_deleted` and `tz_unknown`. */
export async function updateOrganization(
  { db, actor }: Context<typeof api.updateOrganization>,
  { params, body }: Call<typeof api.updateOrganization>,
) {
  const { org_id, id, deleted_at } = await requireOwnership(db, actor, params.id)
  if (deleted_at !== null) refuse('org_deleted')
  if (body.timezone !== undefined && !isTimeZone(body.timezone)) refuse('tz_unknown')
  if (Object.keys(body).length > 0)
    await db.updateTable('organizations').set(body).where('org_id', '=', org_id).execute()
  // Hours of left-out values are in this zone.
  if (body.timezone !== undefined) await touchLeftOut(db, org_id)
  return readOrganization(db, actor, id)
}

/** Sets the currency in which the dashboard shows daily amounts, and starts fetching its rates. */
export async function setReportingCurrency(
  { db, database, config, actor }: Context<typeof api.setReportingCurrency>,
  { body }: Call<typeof api.setReportingCurrency>,
) {
  const reporting_currency = body.currency === USD ? null : body.currency
  if (reporting_currency !== null) await wantRates({ pool: database.reads, config })
  const { id } = await db
    .updateTable('organizations')
    .set({ reporting_currency })
    .where('org_id', '=', actor.org_id)
    .returning('id')
    .executeTakeFirstOrThrow()
  return readOrganization(db, actor, id)
}

/**
 * Sets whether the organization requires a second factor of its members. Refuses `second_factor_missing` when the caller has none, so that
 * they cannot lock themselves out.
 */
export async function requireSecondFactor(
  { db, actor }: Context<typeof api.requireSecondFactor>,
  { body }: Call<typeof api.requireSecondFactor>,
) {
  if (body.required && !actor.has_second_factor) refuse('second_factor_missing')
  await db
    .updateTable('organizations')
    .set({ requires_second_factor: body.required })
    .where('org_id', '=', actor.org_id)
    .execute()
  return readOrganization(db, actor, actor.organization_id)
}

/** Deletes an organization softly: keys and conversions are refused from then on, and visitors go to the fallback. Owners only. */
export async function deleteOrganization(
  { db, actor }: Context<typeof api.deleteOrganization>,
  { params }: Call<typeof api.deleteOrganization>,
) {
  const { org_id, id } = await requireOwnership(db, actor, params.id)
  await db
    .updateTable('organizations')
    .set({ deleted_at: new Date().toISOString() })
    .where('org_id', '=', org_id)
    .where('deleted_at', 'is', null)
    .execute()
  await announceOrganization(db, org_id)
  return readOrganization(db, actor, id)
}

/** Restores a deleted organization. Owners only. Refuses `organization_limit`, because deleting and restoring could otherwise exceed it. */
export async function restoreOrganization(
  { db, config, actor }: Context<typeof api.restoreOrganization>,
  { params }: Call<typeof api.restoreOrganization>,
) {
  const { org_id, id, deleted_at } = await requireOwnership(db, actor, params.id)
  if (deleted_at !== null)
    await db.transaction().execute(async trx => {
      const { rows } = await sql<{ founded_by: string | null }>`
        select founded_by from organizations where org_id = ${org_id}`.execute(trx)
      const founder_id = rows[0]?.founded_by ?? null
      if (founder_id !== null) await requireWorkspaceQuota(trx, config, founder_id)
      await trx.updateTable('organizations').set({ deleted_at: null }).where('org_id', '=', org_id).execute()
    })
  await announceOrganization(db, org_id)
  return readOrganization(db, actor, id)
}

/** Activates an organization in the caller's session. Refuses `object_not_found` to non-members, and `org_deleted`. */
export async function activateOrganization(
  { db, actor }: Context<typeof api.activateOrganization>,
  { params }: Call<typeof api.activateOrganization>,
) {
  const { org_id, id, deleted_at } = await requireMembership(db, actor.user_id, params.id)
  if (deleted_at !== null) refuse('org_deleted')
  await activate(db, actor.session_id, org_id)
  return readOrganization(db, actor, id)
}

/** Activates an organization in a session. */
export async function activate(db: Kysely<Tables>, session_id: string, org_id: number): Promise<void> {
  await db
    .insertInto('active_organizations')
    .values({ session_id, org_id })
    .onConflict(on => on.column('session_id').doUpdateSet({ org_id }))
    .execute()
}

/** Locks an organization until the transaction ends, so that its members cannot change meanwhile. */
export async function lockOrganization(trx: Transaction<Tables>, org_id: number): Promise<void> {
  await sql`select 1 from organizations where org_id = ${org_id} for no key update`.execute(trx)
}
