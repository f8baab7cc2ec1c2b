/**
 * Writes the result of a check: which organization holds the name, and the status of the domain. A name is decided under the lock of its row, or by
 * its first insert, so that two organizations never hold it at once. A failing domain is still served: a request that arrives proves that DNS leads here.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../contract/days.ts'
import { msOfDatabase } from '../../contract/moments.ts'
import type { Config } from '../../ground/config.ts'
import { isTaken } from '../../ground/db/faults.ts'
import type { Secrets } from '../../ground/db/secrets.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { DomainStatus, DomainProblem } from './api.ts'
import type { CheckResult } from './check.ts'
import { problem } from './problems.ts'
import { lockZone, proofValue, reasonForProof, sharedZone } from './proof.ts'
import { proofRecord } from './records.ts'

/** A domain by its ids and its name. */
export type DomainRef = { readonly org_id: number; readonly id: string; readonly name: string }

/** How many checks in a row must miss a TXT record before it counts as deleted. A single miss may be a resolver's mistake. */
const MOST_MISSES = 3
/** A domain counts as failing after this many failed checks in a row that span this time. */
const FAILURES = 3
const FAILING_MS = HOUR_MS

const ACTIVE_INTERVAL_MS = 6 * HOUR_MS
const FAILED_INTERVAL_MS = 10 * MINUTE_MS
/** The interval of checks of a pending domain by its age. Older ones are checked only on request. */
const PENDING_INTERVALS: readonly (readonly [age_ms: number, interval_ms: number])[] = [
  [MINUTE_MS, 10_000],
  [11 * MINUTE_MS, MINUTE_MS],
  [DAY_MS, 10 * MINUTE_MS],
  [15 * DAY_MS, HOUR_MS],
]

type ResultGround = {
  db: Kysely<Tables>
  config: Pick<Config, 'signUp' | 'baseUrl' | 'alsoHosts'>
  secrets: Pick<Secrets, 'mac'>
}
type NameHolder = { org_id: number; domain_id: string; txt_seen_at: string | null; txt_missed: number }
type DomainBefore = {
  status: DomainStatus
  failures: number
  failing_since: string | null
  created_at: string
  notice: string | null
}
type Decision = { status: DomainStatus; problems: DomainProblem[]; isTakenOver?: true }

/**
 * Writes the result of a check. Returns the domains whose serving has changed, with their organizations; none if the domain was deleted in the
 * meantime.
 */
export async function writeCheck(
  ground: ResultGround,
  domain: DomainRef,
  result: CheckResult,
): Promise<Omit<DomainRef, 'name'>[]> {
  const changed = await ground.db.transaction().execute(trx => writeIn(trx, ground, domain, result))
  if (changed.length > 0) await makeDefault(ground.db, domain)
  return changed
}

async function writeIn(trx: Transaction<Tables>, ground: ResultGround, domain: DomainRef, result: CheckResult) {
  const { secrets, config } = ground
  const { org_id, id, name } = domain
  const { rows: times } = await sql<{ now: string }>`select clock_timestamp() as now`.execute(trx)
  const now = times[0]?.now ?? new Date().toISOString()
  // Lock order: the zone, then the name, then the domains, here and in deletions. The zone is needed only if the name can be taken.
  if (result.way !== undefined) await lockZone(trx, name)
  const { rows: holders } = await sql<NameHolder>`
    select org_id, domain_id, txt_seen_at, txt_missed from domain_names where name = ${name} for update`.execute(trx)
  const { rows } = await sql<DomainBefore>`
    select status, failures, failing_since, created_at, notice from domains
    where org_id = ${org_id} and id = ${id} and deleted_at is null for update`.execute(trx)
  const [before] = rows
  if (before === undefined) return []
  const reason = await reasonForProof(trx, config, domain)
  const token = proofValue(secrets, org_id, name)
  const isProven = result.texts.state === 'found' && result.texts.values.includes(token)
  const [holder] = holders
  const isHeld = holder?.org_id === org_id && holder.domain_id === id
  const context = { trx, now, domain, result, before, reason, isProven, secrets }
  const decision = isHeld ? await decideHeld(context, holder) : await decideUnheld(context, holder)
  const records =
    reason === undefined ? result.records : [...result.records, proofRecord(name, token, reason, result.texts)]
  await write(context, { ...decision, records })
  const isChanged = decision.status !== before.status || isHeld
  const lost = decision.isTakenOver && holder !== undefined ? [{ org_id: holder.org_id, id: holder.domain_id }] : []
  return isChanged ? [{ org_id, id }, ...lost] : []
}

type DecisionContext = {
  trx: Transaction<Tables>
  now: string
  domain: DomainRef
  result: CheckResult
  before: DomainBefore
  /** Why the TXT record is needed, if it is. */
  reason: string | undefined
  isProven: boolean
  secrets: Pick<Secrets, 'mac'>
}

/** The decision for the organization that holds the name. */
async function decideHeld(context: DecisionContext, holder: NameHolder): Promise<Decision> {
  const { result, before, now } = context
  await noteHolderText(context, holder)
  if (result.isSilent) return { status: before.status, problems: result.problems }
  if (result.way !== undefined) return { status: 'active', problems: result.problems }
  const since = msOfDatabase(before.failing_since ?? now)
  const isFailing = before.failures + 1 >= FAILURES && msOfDatabase(now) - since >= FAILING_MS
  return { status: isFailing ? 'failing' : before.status, problems: result.problems }
}

/** The decision for an organization that does not hold the name yet. */
async function decideUnheld(context: DecisionContext, holder: NameHolder | undefined): Promise<Decision> {
  const { result, before, reason, isProven, domain } = context
  const isDefended = holder !== undefined && (await noteHolderText(context, holder))
  const missing = reason !== undefined && !isProven ? [textProblem(context)] : []
  const waiting = before.status === 'lost' ? 'lost' : 'pending'
  if (result.way === undefined || missing.length > 0)
    return { status: waiting, problems: [...result.problems, ...missing] }
  if (isDefended) return { status: waiting, problems: [...result.problems, problem('held_by_other', domain)] }
  if (holder === undefined) {
    if (await insertName(context)) return { status: 'active', problems: result.problems }
    // Another organization proved the name at the same time. The next check gives the exact problem.
    return { status: waiting, problems: [...result.problems, textProblem(context)] }
  }
  await takeOver(context, holder)
  return { status: 'active', problems: result.problems, isTakenOver: true }
}

function textProblem({ result, domain: { name }, reason = sharedZone(name) }: DecisionContext): DomainProblem {
  return problem(result.texts.state === 'found' ? 'txt_wrong' : 'txt_missing', { name, reason })
}

/** Writes whether the holder's TXT record was found. Returns whether it counts as existing. */
async function noteHolderText(context: DecisionContext, holder: NameHolder): Promise<boolean> {
  const { trx, now, domain, result, secrets } = context
  const { state } = result.texts
  if (state === 'silent' || state === 'broken') return holder.txt_seen_at !== null
  const value = proofValue(secrets, holder.org_id, domain.name)
  const isThere = result.texts.state === 'found' && result.texts.values.includes(value)
  if (!isThere && holder.txt_seen_at === null) return false
  const missed = isThere ? 0 : holder.txt_missed + 1
  const seen_at = isThere ? now : missed >= MOST_MISSES ? null : holder.txt_seen_at
  await sql`update domain_names set txt_seen_at = ${seen_at}, txt_missed = ${missed} where name = ${domain.name}`.execute(
    trx,
  )
  return seen_at !== null
}

const wayOf = ({ result, reason }: DecisionContext) => (reason !== undefined ? 'txt' : (result.way ?? 'pointing'))

/** Gives a free name to the organization. False if another organization was faster. */
async function insertName(context: DecisionContext): Promise<boolean> {
  const { trx, now, domain, isProven } = context
  const { numAffectedRows } = await sql`
    insert into domain_names (name, org_id, domain_id, way, proven_at, txt_seen_at, txt_missed)
    values (${domain.name}, ${domain.org_id}, ${domain.id}, ${wayOf(context)}, ${now}, ${isProven ? now : null}, 0)
    on conflict (name) do nothing`.execute(trx)
  if (numAffectedRows !== 1n) return false
  await recordHolder(trx, domain.name, domain.org_id, now)
  return true
}

/** Moves a name to the organization that has proven it. The holder's domain becomes `lost`. */
async function takeOver(context: DecisionContext, holder: NameHolder): Promise<void> {
  const { trx, now, domain } = context
  await sql`
    update domain_names set org_id = ${domain.org_id}, domain_id = ${domain.id}, way = ${wayOf(context)}, proven_at = ${now},
      txt_seen_at = ${now}, txt_missed = 0
    where name = ${domain.name}`.execute(trx)
  await sql`
    update domains set status = 'lost', is_default = false, next_check_at = null, notice = 'lost', mailed_at = null,
      claimed_until = null, updated_at = ${now}
    where org_id = ${holder.org_id} and id = ${holder.domain_id} and deleted_at is null`.execute(trx)
  await recordHolder(trx, domain.name, holder.org_id, now)
  await recordHolder(trx, domain.name, domain.org_id, now)
}

/** Records that an organization holds a name, or held it until now. Another organization then needs a TXT record to get it. */
export async function recordHolder(trx: Transaction<Tables>, name: string, org_id: number, at: string): Promise<void> {
  await sql`
    insert into domain_holders (name, org_id, last_held_at) values (${name}, ${org_id}, ${at})
    on conflict (name, org_id) do update set last_held_at = excluded.last_held_at`.execute(trx)
}

async function write(
  { trx, now, domain, result, before }: DecisionContext,
  { status, problems, records }: Decision & { records: CheckResult['records'] },
): Promise<void> {
  const isFailed = result.way === undefined && !result.isSilent
  const failures = isFailed ? before.failures + 1 : result.isSilent ? before.failures : 0
  const failing_since = isFailed ? (before.failing_since ?? now) : result.isSilent ? before.failing_since : null
  const startsFailing = status === 'failing' && before.status !== 'failing'
  const found = JSON.stringify({ arrived: result.way !== undefined, addresses: result.addresses, problems })
  await trx
    .updateTable('domains')
    .set({
      status,
      found,
      records: JSON.stringify(records),
      ...(result.isSilent
        ? {}
        : { certificate: result.certificate === undefined ? null : JSON.stringify(result.certificate) }),
      checked_at: now,
      next_check_at: nextCheck(status, result, before.created_at, now),
      failures,
      failing_since,
      ...(startsFailing ? { notice: 'failing', mailed_at: null, claimed_until: null } : {}),
      ...(status === 'active' ? { notice: null, mailed_at: null, claimed_until: null } : {}),
      ...(status === 'active' && before.status !== 'active' && before.status !== 'failing' ? { proven_at: now } : {}),
      updated_at: now,
    })
    .where('org_id', '=', domain.org_id)
    .where('id', '=', domain.id)
    .execute()
}

/** The time of the next check, by the database's clock; null: only on request. */
function nextCheck(status: DomainStatus, result: CheckResult, created_at: string, now: string): string | null {
  const at = msOfDatabase(now)
  if (status === 'lost') return null
  if (status !== 'pending')
    return new Date(at + (result.way === undefined ? FAILED_INTERVAL_MS : ACTIVE_INTERVAL_MS)).toISOString()
  const interval = PENDING_INTERVALS.find(([age_ms]) => at - msOfDatabase(created_at) < age_ms)?.[1]
  return interval === undefined ? null : new Date(at + interval).toISOString()
}

/** Makes the first active domain of an organization its default. */
async function makeDefault(db: Kysely<Tables>, { org_id, id }: DomainRef): Promise<void> {
  const makeIt = sql`
    update domains set is_default = true
    where org_id = ${org_id} and id = ${id} and status = 'active' and deleted_at is null and not exists (
      select from domains d where d.org_id = ${org_id} and d.is_default and d.deleted_at is null
    )`
  await makeIt.execute(db).catch((error: unknown) => {
    // Two domains became active at once, and the other one is the default.
    if (!isTaken(error)) throw error
  })
}
