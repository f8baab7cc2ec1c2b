/**
 * Organizations (the screen says workspace): founding, deleting, restoring, and which one a session acts in. Owns `organizations`,
 * `members`, `invitations` and `active_organizations`. Deletion is soft: nothing an organization holds is touched, so that
 * restoring it brings everything back. An organization always has an owner.
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
import type * as api from './api.ts'
import { ACTING_FIRST } from './standing.ts'

type Place = Pick<Person, 'user_id' | 'session_id'>
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

/** The caller's organizations, the oldest membership first. A deleted one is shown to its owners, and to whoever acts in it. */
async function readOrganizations(db: Kysely<Tables>, { user_id, session_id }: Place): Promise<OrganizationRow[]> {
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

/** One of them, by its id. */
export async function readOrganization(db: Kysely<Tables>, place: Place, id: string): Promise<OrganizationRow> {
  const all = await readOrganizations(db, place)
  return all.find(organization => organization.id === id) ?? refuse('object_not_found')
}

type Membership = {
  org_id: number
  id: string
  role: Role
  deleted_at: string | null
  requires_second_factor: boolean
}

/** The caller's membership in the organization a path names; one they are not in is as if it were not there. */
async function requireMembership(db: Kysely<Tables>, user_id: string, wire_id: string): Promise<Membership> {
  const id = idOf(wire_id)
  const { rows } = await sql<Membership>`
    select o.org_id, o.id, m.role, o.deleted_at, o.requires_second_factor
    from organizations o
    join members m on m.org_id = o.org_id and m.user_id = ${user_id}
    where o.id = ${id}`.execute(db)
  return rows[0] ?? refuse('object_not_found')
}

/** Nobody changes an organization whose second factor they lack, from wherever they act. */
async function requireOwnership(db: Kysely<Tables>, person: Person, wire_id: string): Promise<Membership> {
  const membership = await requireMembership(db, person.user_id, wire_id)
  if (membership.requires_second_factor && !person.has_second_factor) refuse('second_factor_required')
  return membership.role === 'owner' ? membership : refuse('role_forbidden', { error: 'this needs the role owner' })
}

/** Where the caller is a member; of the deleted ones those they own and may restore, and the one the session acts in. */
export async function listOrganizations({ db, actor }: Context<typeof api.listOrganizations>) {
  return { data: await readOrganizations(db, actor), next_cursor: null }
}

/** Founds an organization with the caller as owner, and lets the session act in it. Refuses `organization_limit`. */
export async function createOrganization(
  { db, config, actor }: Context<typeof api.createOrganization>,
  { body }: Call<typeof api.createOrganization>,
) {
  const { id } = await db.transaction().execute(async trx => {
    await requireRoom(trx, config, actor.user_id)
    const founded = await foundOrganization(trx, config, { name: body.name, user_id: actor.user_id })
    await activate(trx, actor.session_id, founded.org_id)
    return founded
  })
  return readOrganization(db, actor, id)
}

/**
 * Refuses `organization_limit` where the person has founded as many living organizations as MAX_WORKSPACES_PER_PERSON, whatever their role there
 * is by now. Of two foundings at once the second waits for the person's row.
 */
async function requireRoom(trx: Transaction<Tables>, config: Config, founder_id: string): Promise<void> {
  await sql`select from users where id = ${founder_id} for update`.execute(trx)
  const { rows } = await sql<{ count: number }>`
    select count(org_id)::int as count from organizations where founded_by = ${founder_id} and deleted_at is null`.execute(
    trx,
  )
  const most = config.maxWorkspacesPerPerson
  if ((rows[0]?.count ?? 0) >= most)
    refuse('organization_limit', { error: `one person may found ${most} workspaces here, and that many are there` })
}

// Of 2^31 numbers a taken one is rare; eight draws in a row fail only when something else is wrong.
const DRAWS = 8

/** Makes an organization with its first owner and its opened balance, all in the caller's transaction. */
export async function foundOrganization(
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
  throw new Error('no free number for a new organization')
}

/** Renames, or sets the time zone. Refuses `role_forbidden` to all but owners, `org_deleted`, and `tz_unknown`. */
export async function updateOrganization(
  { db, actor }: Context<typeof api.updateOrganization>,
  { params, body }: Call<typeof api.updateOrganization>,
) {
  const { org_id, id, deleted_at } = await requireOwnership(db, actor, params.id)
  if (deleted_at !== null) refuse('org_deleted')
  if (body.timezone !== undefined && !isTimeZone(body.timezone)) refuse('tz_unknown')
  if (Object.keys(body).length > 0)
    await db.updateTable('organizations').set(body).where('org_id', '=', org_id).execute()
  return readOrganization(db, actor, id)
}

/** Sets what the dashboard shows amounts by day in, and has the rates of it asked for from then on. */
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
 * Asks everyone here for a second factor, or ceases to. Only who has one may ask for it: nobody shuts themself out with the rest. Refuses
 * `second_factor_missing`.
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

/** Deletes softly: keys and conversions are refused from now on, visitors go to the fallbacks. Owners only. */
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

/** Brings a deleted one back with everything in it. Owners only. Refuses `organization_limit`, else deleting and restoring would pass the limit. */
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
      if (founder_id !== null) await requireRoom(trx, config, founder_id)
      await trx.updateTable('organizations').set({ deleted_at: null }).where('org_id', '=', org_id).execute()
    })
  await announceOrganization(db, org_id)
  return readOrganization(db, actor, id)
}

/** Lets the session act there. Refuses `object_not_found` to strangers, and `org_deleted`. */
export async function activateOrganization(
  { db, actor }: Context<typeof api.activateOrganization>,
  { params }: Call<typeof api.activateOrganization>,
) {
  const { org_id, id, deleted_at } = await requireMembership(db, actor.user_id, params.id)
  if (deleted_at !== null) refuse('org_deleted')
  await activate(db, actor.session_id, org_id)
  return readOrganization(db, actor, id)
}

/** Lets a session act in an organization from now on. */
export async function activate(db: Kysely<Tables>, session_id: string, org_id: number): Promise<void> {
  await db
    .insertInto('active_organizations')
    .values({ session_id, org_id })
    .onConflict(on => on.column('session_id').doUpdateSet({ org_id }))
    .execute()
}

/** Holds an organization until the transaction ends: what is read of its members behind this call stays so. */
export async function holdOrganization(trx: Transaction<Tables>, org_id: number): Promise<void> {
  await sql`select 1 from organizations where org_id = ${org_id} for no key update`.execute(trx)
}
