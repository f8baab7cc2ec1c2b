/**
 * Domains: an organization's own names for campaign links. Owns `domains`, `domain_names`, `domain_holders` and `domain_zones`. What must stay
 * true: a name leads to one organization at any time, and pointing DNS alone is not enough to get a name that another organization has or had.
 * Deletion is soft and keeps a record of who held the name.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { isTaken } from '../../ground/db/faults.ts'
import { nameHolds, newestFirst } from '../../ground/db/lists.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, idOf } from '../../ground/room.ts'
import type * as api from './api.ts'
import { baseAddresses } from './check.ts'
import type { Checker } from './checker.ts'
import { announceDomains } from './live.ts'
import { domainName } from './name.ts'
import { proofValue, reasonForProof } from './proof.ts'
import { NOTHING_FOUND, pointingRecords, proofRecord } from './records.ts'
import { openResolver } from './resolver.ts'
import { type DomainRef, recordHolder } from './results.ts'
import { describeDomains, DOMAIN_COLUMNS, type DomainRow } from './rows.ts'

/** The limit per organization. Each domain is checked separately and kept in memory. */
const MOST_DOMAINS = 200
/** A check that is younger is not repeated. */
const FRESH_MS = 10_000

type CreateContext = Context<typeof api.createDomain>

/** Domains of the organization, newest first; `q` searches the name. */
export async function listDomains(
  { db, config, actor }: Context<typeof api.listDomains>,
  { query }: Call<typeof api.listDomains>,
) {
  let rows = live(db, actor.org_id).select(DOMAIN_COLUMNS)
  if (query.q) rows = rows.where(nameHolds(query.q))
  if (query.status !== undefined) rows = rows.where('status', '=', query.status)
  const { data, next_cursor } = await newestFirst(rows.$castTo<DomainRow>(), query)
  return { data: await describeDomains(db, config, actor.org_id, data), next_cursor }
}

/** One domain. Refuses `object_not_found`. */
export async function readDomain(context: Context<typeof api.readDomain>, { params }: Call<typeof api.readDomain>) {
  return await describeDomain(context, context.actor.org_id, idOf(params.id))
}

/** The deeds that start checks. */
export function domainDeeds(checker: Checker) {
  return {
    /** Adds a pending domain and starts a check. Refuses an invalid name, `already_exists`, `domain_limit`. */
    async createDomain(context: CreateContext, { body }: Call<typeof api.createDomain>) {
      const { db, config, actor, log } = context
      const { org_id } = actor
      const name = domainName(body.name, config)
      await requirePlaces(db, org_id, name, body)
      const id = newId()
      const records = await firstRecords(context, name)
      await context.recorded(
        () => [{ kind: 'domain', id }],
        async trx => {
          await requireRoom(trx, org_id)
          await insertDomain(trx, { org_id, id, name, records }, body)
        },
      )
      // Described first, so that the answer is the domain before its check, however fast that is.
      const described = await describeDomain(context, org_id, id)
      checker.check({ org_id, id, name }).catch((error: unknown) => {
        log.warn({ err: error, domain: name }, 'could not check a domain; retrying')
      })
      return described
    },

    /** Checks a domain unless that was done a moment ago. Refuses `object_not_found`. */
    async checkDomain(context: Context<typeof api.checkDomain>, { params }: Call<typeof api.checkDomain>) {
      const { db, actor } = context
      const { org_id } = actor
      const id = idOf(params.id)
      const { rows } = await sql<{ name: string; is_fresh: boolean | null }>`
        select name, checked_at > now() - ${FRESH_MS}::int * interval '1 millisecond' as is_fresh from domains
        where org_id = ${org_id} and id = ${id} and deleted_at is null`.execute(db)
      const [domain] = rows
      if (domain === undefined) refuse('object_not_found')
      // The result of a fresh check may not be served yet.
      if (domain.is_fresh === true) await checker.settled(id)
      else await checker.check({ org_id, id, name: domain.name })
      return await describeDomain(context, org_id, id)
    },
  }
}

/** Changes the fields that are sent. Refuses `object_not_found`, and `invalid_request` for a campaign that does not exist. */
export async function updateDomain(
  context: Context<typeof api.updateDomain>,
  { params, body }: Call<typeof api.updateDomain>,
) {
  const { db, actor } = context
  const { org_id } = actor
  const id = idOf(params.id)
  const { name } = await describeDomain(context, org_id, id)
  await requirePlaces(db, org_id, name, body)
  await db.transaction().execute(async trx => {
    const { rows } = await sql<{ now: string }>`select clock_timestamp() as now`.execute(trx)
    const updated_at = rows[0]?.now ?? new Date().toISOString()
    if (body.is_default === true) await unsetDefault(trx, org_id, id, updated_at)
    const { https, robots, is_default } = body
    const written = await trx
      .updateTable('domains')
      .set({
        ...(https === undefined ? {} : { https }),
        ...(robots === undefined ? {} : { robots }),
        ...(is_default === undefined ? {} : { is_default }),
        ...(body.root === undefined ? {} : { root: JSON.stringify(body.root) }),
        ...(body.unknown_path === undefined ? {} : { unknown_path: JSON.stringify(body.unknown_path) }),
        updated_at,
      })
      .where('org_id', '=', org_id)
      .where('id', '=', id)
      .where('deleted_at', 'is', null)
      .returning('status')
      .executeTakeFirst()
    if (written === undefined) refuse('object_not_found')
    if (is_default === true && written.status !== 'active' && written.status !== 'failing')
      refuse('invalid_request', {
        error: 'is_default: the domain does not lead here',
        hint: 'It can be the default once a check has found that requests for it reach Sluice.',
      })
  })
  await announceDomains(db)
  return await describeDomain(context, org_id, id)
}

/** Deletes softly. Its links no longer work when this call answers. The name is recorded as formerly the organization's. */
export async function deleteDomain(
  context: Context<typeof api.deleteDomain>,
  { params }: Call<typeof api.deleteDomain>,
) {
  const { db, actor } = context
  const { org_id } = actor
  const id = idOf(params.id)
  const { name } = await describeDomain(context, org_id, id)
  await db.transaction().execute(async trx => {
    const { rows } = await sql<{ now: string }>`select clock_timestamp() as now`.execute(trx)
    const now = rows[0]?.now ?? new Date().toISOString()
    // Locks the name before the domain, as checks do. Releases the name once more at the end, in case a check proved it in between.
    await releaseName(trx, { org_id, id, name }, now)
    await trx
      .updateTable('domains')
      .set({ deleted_at: now, is_default: false, next_check_at: null, notice: null, updated_at: now })
      .where('org_id', '=', org_id)
      .where('id', '=', id)
      .execute()
    await releaseName(trx, { org_id, id, name }, now)
  })
  await announceDomains(db)
  return { ok: true as const }
}

async function releaseName(trx: Transaction<Tables>, { org_id, id, name }: DomainRef, at: string): Promise<void> {
  const { numDeletedRows } = await trx
    .deleteFrom('domain_names')
    .where('name', '=', name)
    .where('org_id', '=', org_id)
    .where('domain_id', '=', id)
    .executeTakeFirst()
  if (numDeletedRows > 0n) await recordHolder(trx, name, org_id, at)
}

const live = (db: Kysely<Tables>, org_id: number) =>
  db.selectFrom('domains').where('org_id', '=', org_id).where('deleted_at', 'is', null)

async function describeDomain(
  { db, config }: Pick<CreateContext, 'db' | 'config'>,
  org_id: number,
  id: string,
): Promise<api.Domain> {
  const row = await live(db, org_id).select(DOMAIN_COLUMNS).where('id', '=', id).$castTo<DomainRow>().executeTakeFirst()
  if (row === undefined) refuse('object_not_found')
  return (await describeDomains(db, config, org_id, [row]))[0] ?? refuse('object_not_found')
}

/** The DNS records before the first check: those that point to BASE_URL's host, and the TXT record if it is needed. */
async function firstRecords({ db, config, actor, secrets }: CreateContext, name: string): Promise<api.DnsRecord[]> {
  const base = await baseAddresses(config, openResolver(config))
  const pointing = pointingRecords(config, name, { ...NOTHING_FOUND, base })
  const { org_id } = actor
  const reason = await reasonForProof(db, config, { org_id, name })
  if (reason === undefined) return pointing
  return [...pointing, proofRecord(name, proofValue(secrets, org_id, name), reason, { state: 'none' })]
}

/** Refuses `domain_limit`. Locks the organization's balance row, which every organization has, so that concurrent calls count one after the other. */
async function requireRoom(trx: Transaction<Tables>, org_id: number): Promise<void> {
  await sql`select from balances where org_id = ${org_id} for update`.execute(trx)
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from domains where org_id = ${org_id} and deleted_at is null`.execute(trx)
  if ((rows[0]?.count ?? 0) >= MOST_DOMAINS) refuse('domain_limit')
}

const NOT_FOUND = { type: 'not_found' } as const

async function insertDomain(
  trx: Transaction<Tables>,
  { records, ...row }: { org_id: number; id: string; name: string; records: api.DnsRecord[] },
  body: Call<typeof api.createDomain>['body'],
): Promise<void> {
  const { rows } = await sql<{ now: string; next: string }>`
    select clock_timestamp() as now, clock_timestamp() + interval '10 seconds' as next`.execute(trx)
  const now = rows[0]?.now ?? new Date().toISOString()
  try {
    await trx
      .insertInto('domains')
      .values({
        ...row,
        status: 'pending',
        is_default: false,
        https: body.https ?? 'optional',
        root: JSON.stringify(body.root ?? NOT_FOUND),
        unknown_path: JSON.stringify(body.unknown_path ?? NOT_FOUND),
        robots: body.robots ?? 'refuse',
        records: JSON.stringify(records),
        next_check_at: rows[0]?.next ?? now,
        created_at: now,
        updated_at: now,
      })
      .execute()
  } catch (error) {
    if (isTaken(error)) refuse('already_exists', { error: `${row.name} already exists` })
    throw error
  }
}

async function unsetDefault(trx: Transaction<Tables>, org_id: number, id: string, at: string): Promise<void> {
  await trx
    .updateTable('domains')
    .set({ is_default: false, updated_at: at })
    .where('org_id', '=', org_id)
    .where('id', '<>', id)
    .where('is_default', '=', true)
    .where('deleted_at', 'is', null)
    .execute()
}

type PathAnswers = Pick<Call<typeof api.updateDomain>['body'], 'root' | 'unknown_path'>

/** Refuses `invalid_request` for a campaign that does not exist, and for a redirect to the domain itself. */
async function requirePlaces(
  db: Kysely<Tables>,
  org_id: number,
  name: string,
  { root, unknown_path }: { [K in keyof PathAnswers]: PathAnswers[K] | null },
): Promise<void> {
  for (const [field, place] of Object.entries({ root, unknown_path })) {
    if (place?.type === 'redirect' && URL.parse(place.url)?.hostname === name)
      refuse('invalid_request', { error: `${field}.url: leads back to the domain itself` })
    if (place?.type !== 'campaign') continue
    const { rows } = await sql`
      select from campaigns where org_id = ${org_id} and id = ${place.campaign_id} and deleted_at is null`.execute(db)
    if (rows.length === 0) refuse('invalid_request', { error: `${field}.campaign_id: no such campaign` })
  }
}
