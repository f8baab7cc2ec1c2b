/**
 * What a check has found, written down: who holds the name, and how the domain stands. Each name is decided under a lock of its row, or by the
 * first insert of it, so that no two organizations hold one at any moment. A domain that fails is served on: if a request is here, it is here.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../contract/days.ts'
import type { Config } from '../../ground/config.ts'
import { isTaken } from '../../ground/db/faults.ts'
import type { Secrets } from '../../ground/db/secrets.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { DomainStatus, Problem } from './api.ts'
import type { Found } from './check.ts'
import { problem } from './problems.ts'
import { lockZone, proofValue, reasonForProof, sharedZone } from './proof.ts'
import { proofRecord } from './records.ts'

/** The domain that was checked. */
export type Claim = { readonly org_id: number; readonly id: string; readonly name: string }

/** Clear answers without the record that was there: one may be a resolver's mistake. */
const MISSES = 3
/** Checks in a row, and the time from the first of them, before a domain counts as failing. */
const FAILURES = 3
const FAILING_MS = HOUR_MS

const EACH_ACTIVE_MS = 6 * HOUR_MS
const EACH_FAILED_MS = 10 * MINUTE_MS
/** By the age of a claim how often it is looked at; older ones when somebody asks. */
const PATIENCE: readonly (readonly [age_ms: number, each_ms: number])[] = [
  [MINUTE_MS, 10_000],
  [11 * MINUTE_MS, MINUTE_MS],
  [DAY_MS, 10 * MINUTE_MS],
  [15 * DAY_MS, HOUR_MS],
]

const msOf = (moment: string): number => Date.parse(moment.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'))

type Settling = {
  db: Kysely<Tables>
  config: Pick<Config, 'signUp' | 'baseUrl' | 'alsoHosts'>
  secrets: Pick<Secrets, 'mac'>
}
type Holder = { org_id: number; domain_id: string; txt_seen_at: string | null; txt_missed: number }
type Standing = {
  status: DomainStatus
  failures: number
  failing_since: string | null
  created_at: string
  notice: string | null
}
type Outcome = { status: DomainStatus; problems: Problem[]; isTaken?: true }

/**
 * Writes down what was found. Answers the organizations whose domains serve otherwise than before: each with the id of the domain. Nothing where
 * the domain was deleted meanwhile.
 */
export async function settle(settling: Settling, claim: Claim, found: Found): Promise<Omit<Claim, 'name'>[]> {
  const changed = await settling.db.transaction().execute(trx => settleIn(trx, settling, claim, found))
  if (changed.length > 0) await makeDefault(settling.db, claim)
  return changed
}

async function settleIn(trx: Transaction<Tables>, settling: Settling, claim: Claim, found: Found) {
  const { secrets, config } = settling
  const { org_id, id, name } = claim
  const { rows: times } = await sql<{ now: string }>`select clock_timestamp() as now`.execute(trx)
  const now = times[0]?.now ?? new Date().toISOString()
  // The zone first, then the name, then the domains: whoever settles or deletes takes them in this order. A name that does not lead here is not taken.
  if (found.way !== undefined) await lockZone(trx, name)
  const { rows: holders } = await sql<Holder>`
    select org_id, domain_id, txt_seen_at, txt_missed from domain_names where name = ${name} for update`.execute(trx)
  const { rows } = await sql<Standing>`
    select status, failures, failing_since, created_at, notice from domains
    where org_id = ${org_id} and id = ${id} and deleted_at is null for update`.execute(trx)
  const [before] = rows
  if (before === undefined) return []
  const reason = await reasonForProof(trx, config, claim)
  const token = proofValue(secrets, org_id, name)
  const isProven = found.texts.state === 'found' && found.texts.values.includes(token)
  const [holder] = holders
  const isHeld = holder?.org_id === org_id && holder.domain_id === id
  const context = { trx, now, claim, found, before, reason, isProven, secrets }
  const outcome = isHeld ? await keep(context, holder) : await claimName(context, holder)
  const records =
    reason === undefined ? found.records : [...found.records, proofRecord(name, token, reason, found.texts)]
  await write(context, { ...outcome, records })
  const isChanged = outcome.status !== before.status || isHeld
  const lost = outcome.isTaken && holder !== undefined ? [{ org_id: holder.org_id, id: holder.domain_id }] : []
  return isChanged ? [{ org_id, id }, ...lost] : []
}

type Context = {
  trx: Transaction<Tables>
  now: string
  claim: Claim
  found: Found
  before: Standing
  /** Why the TXT record is needed, if it is. */
  reason: string | undefined
  isProven: boolean
  secrets: Pick<Secrets, 'mac'>
}

/** Of the organization that holds the name. */
async function keep(context: Context, holder: Holder): Promise<Outcome> {
  const { found, before, now } = context
  await noteText(context, holder)
  if (found.isSilent) return { status: before.status, problems: found.problems }
  if (found.way !== undefined) return { status: 'active', problems: found.problems }
  const since = msOf(before.failing_since ?? now)
  const isFailing = before.failures + 1 >= FAILURES && msOf(now) - since >= FAILING_MS
  return { status: isFailing ? 'failing' : before.status, problems: found.problems }
}

/** Of an organization that would like to hold it. */
async function claimName(context: Context, holder: Holder | undefined): Promise<Outcome> {
  const { found, before, reason, isProven, claim } = context
  const stays = holder !== undefined && (await noteText(context, holder))
  const missing = reason !== undefined && !isProven ? [textProblem(context)] : []
  const waiting = before.status === 'lost' ? 'lost' : 'pending'
  if (found.way === undefined || missing.length > 0)
    return { status: waiting, problems: [...found.problems, ...missing] }
  if (stays) return { status: waiting, problems: [...found.problems, problem('held_by_other', claim)] }
  if (holder === undefined) {
    if (await holdFirst(context)) return { status: 'active', problems: found.problems }
    // Somebody else proved it at this very moment; the next check says what is needed from here on.
    return { status: waiting, problems: [...found.problems, textProblem(context)] }
  }
  await takeOver(context, holder)
  return { status: 'active', problems: found.problems, isTaken: true }
}

function textProblem({ found, claim: { name }, reason = sharedZone(name) }: Context): Problem {
  return problem(found.texts.state === 'found' ? 'txt_wrong' : 'txt_missing', { name, reason })
}

/** Writes down whether the record of who holds the name is there; answers whether it counts as there. */
async function noteText({ trx, now, claim, found, secrets }: Context, holder: Holder): Promise<boolean> {
  const { state } = found.texts
  if (state === 'silent' || state === 'broken') return holder.txt_seen_at !== null
  const value = proofValue(secrets, holder.org_id, claim.name)
  const isThere = found.texts.state === 'found' && found.texts.values.includes(value)
  if (!isThere && holder.txt_seen_at === null) return false
  const missed = isThere ? 0 : holder.txt_missed + 1
  const seen_at = isThere ? now : missed >= MISSES ? null : holder.txt_seen_at
  await sql`update domain_names set txt_seen_at = ${seen_at}, txt_missed = ${missed} where name = ${claim.name}`.execute(
    trx,
  )
  return seen_at !== null
}

const wayOf = ({ found, reason }: Context) => (reason !== undefined ? 'txt' : (found.way ?? 'pointing'))

/** Whether nobody was faster. */
async function holdFirst(context: Context): Promise<boolean> {
  const { trx, now, claim, isProven } = context
  const { numAffectedRows } = await sql`
    insert into domain_names (name, org_id, domain_id, way, proven_at, txt_seen_at, txt_missed)
    values (${claim.name}, ${claim.org_id}, ${claim.id}, ${wayOf(context)}, ${now}, ${isProven ? now : null}, 0)
    on conflict (name) do nothing`.execute(trx)
  if (numAffectedRows !== 1n) return false
  await remember(trx, claim.name, claim.org_id, now)
  return true
}

async function takeOver(context: Context, holder: Holder): Promise<void> {
  const { trx, now, claim } = context
  await sql`
    update domain_names set org_id = ${claim.org_id}, domain_id = ${claim.id}, way = ${wayOf(context)}, proven_at = ${now},
      txt_seen_at = ${now}, txt_missed = 0
    where name = ${claim.name}`.execute(trx)
  await sql`
    update domains set status = 'lost', is_default = false, next_check_at = null, notice = 'lost', mailed_at = null,
      claimed_until = null, updated_at = ${now}
    where org_id = ${holder.org_id} and id = ${holder.domain_id} and deleted_at is null`.execute(trx)
  await remember(trx, claim.name, holder.org_id, now)
  await remember(trx, claim.name, claim.org_id, now)
}

/** Writes down that an organization holds a name, or did until now: nobody else gets it without proof. */
export async function remember(trx: Transaction<Tables>, name: string, org_id: number, at: string): Promise<void> {
  await sql`
    insert into domain_holders (name, org_id, last_held_at) values (${name}, ${org_id}, ${at})
    on conflict (name, org_id) do update set last_held_at = excluded.last_held_at`.execute(trx)
}

async function write(
  { trx, now, claim, found, before }: Context,
  { status, problems, records }: Outcome & { records: Found['records'] },
): Promise<void> {
  const isFailed = found.way === undefined && !found.isSilent
  const failures = isFailed ? before.failures + 1 : found.isSilent ? before.failures : 0
  const failing_since = isFailed ? (before.failing_since ?? now) : found.isSilent ? before.failing_since : null
  const hasFallen = status === 'failing' && before.status !== 'failing'
  const kept = JSON.stringify({ arrived: found.way !== undefined, addresses: found.addresses, problems })
  await trx
    .updateTable('domains')
    .set({
      status,
      found: kept,
      records: JSON.stringify(records),
      ...(found.isSilent
        ? {}
        : { certificate: found.certificate === undefined ? null : JSON.stringify(found.certificate) }),
      checked_at: now,
      next_check_at: nextCheck(status, found, before.created_at, now),
      failures,
      failing_since,
      ...(hasFallen ? { notice: 'failing', mailed_at: null, claimed_until: null } : {}),
      ...(status === 'active' ? { notice: null, mailed_at: null, claimed_until: null } : {}),
      ...(status === 'active' && before.status !== 'active' && before.status !== 'failing' ? { proven_at: now } : {}),
      updated_at: now,
    })
    .where('org_id', '=', claim.org_id)
    .where('id', '=', claim.id)
    .execute()
}

/** When a domain is looked at next, by the database's clock; null: when somebody asks. */
function nextCheck(status: DomainStatus, found: Found, created_at: string, now: string): string | null {
  const at = msOf(now)
  if (status === 'lost') return null
  if (status !== 'pending')
    return new Date(at + (found.way === undefined ? EACH_FAILED_MS : EACH_ACTIVE_MS)).toISOString()
  const each = PATIENCE.find(([age_ms]) => at - msOf(created_at) < age_ms)?.[1]
  return each === undefined ? null : new Date(at + each).toISOString()
}

/** The first domain in service is the default one. */
async function makeDefault(db: Kysely<Tables>, { org_id, id }: Claim): Promise<void> {
  const made = sql`
    update domains set is_default = true
    where org_id = ${org_id} and id = ${id} and status = 'active' and deleted_at is null and not exists (
      select from domains d where d.org_id = ${org_id} and d.is_default and d.deleted_at is null
    )`
  await made.execute(db).catch((error: unknown) => {
    // Two came into service at once: the other one is.
    if (!isTaken(error)) throw error
  })
}
