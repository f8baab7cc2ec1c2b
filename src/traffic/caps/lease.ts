// The transaction by which a process takes places of a cap on clicks, tells what it has used and gives places back. Caps on cost are told of
// in cents, and give no places.
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'
import { readMoment } from '../../money/billing/balance.ts'
import { announceChange } from '../campaigns/live.ts'
import type { CapMetric, CapPeriod } from './api.ts'
import { msOf, periodAt, unitsOf } from './period.ts'

/** What a process tells: of its places `used` were taken by visitors, `beyond` had none, `returned` are given back. */
type Told = {
  readonly cap_id: string
  readonly period_start: string
  readonly used: number
  readonly beyond: number
  readonly returned: number
  readonly wantsMore: boolean
}

export type Leased = { readonly places: number }

/** Of what is left a process takes a sixteenth: a few of them come to the end together, and a crash loses little. */
const SHARE = 16
const MOST_PLACES = 500
/** What the column holds: of cost in cents 21 million dollars, which whoever writes costs into links can come to. */
const MOST_COUNTED = 2_147_483_647

type CapRow = { metric: CapMetric; limit: number; period: CapPeriod; timezone: string; closed_until: string | null }
type Standing = CapRow & { used: number; reserved: number; is_reopened: boolean }

/** Nothing of it was written: it may be told again. */
export class NotLeased extends Error {}

/**
 * Answers how many places the process has more; 0 where there are none, and the cap is then reached. @throws NotLeased, or what the database
 * throws where it is not known whether it was written
 */
export async function lease(db: Kysely<Tables>, org_id: number, told: Told): Promise<Leased> {
  let isDecided = false
  try {
    const now = await readMoment(db, org_id)
    const { places, isChanged } = await db.transaction().execute(async trx => {
      const leased = await leaseIn(trx, org_id, told, now)
      isDecided = true
      return leased
    })
    const announced = isChanged ? announceChange(db, org_id, told.cap_id) : undefined
    // A visitor may be waiting for places.
    if (!told.wantsMore) await announced
    return { places }
  } catch (cause) {
    throw isDecided ? cause : new NotLeased('no places could be asked for', { cause })
  }
}

async function leaseIn(trx: Transaction<Tables>, org_id: number, told: Told, now: string) {
  const { cap_id, period_start } = told
  const standing = await lock(trx, org_id, told)
  if (standing === undefined) return { places: 0, isChanged: false }
  const period = periodAt(standing, msOf(now))
  const used = Math.min(standing.used + told.used + told.beyond, MOST_COUNTED)
  const reserved = Math.max(0, standing.reserved - told.used - told.returned)
  const limit = Math.min(unitsOf(standing), MOST_COUNTED)
  const left = standing.is_reopened ? Number.POSITIVE_INFINITY : limit - used - reserved
  const places = told.wantsMore && left > 0 ? Math.min(left, MOST_PLACES, Math.max(1, Math.floor(left / SHARE))) : 0
  const isReached = left <= 0
  await sql`
    update cap_counts
    set used = ${used}, reserved = ${reserved + places}, reached_at = coalesce(reached_at, ${isReached ? now : null}::timestamptz)
    where org_id = ${org_id} and cap_id = ${cap_id} and period_start = ${period_start}`.execute(trx)
  const wasReached = standing.closed_until !== null && msOf(standing.closed_until) === period.end_ms
  // What is told late of a period that is over, or of a cap that was another, neither closes nor opens it.
  const isChanged = period.start === period_start && isReached !== wasReached
  if (isChanged)
    await sql`
      update caps set closed_until = ${isReached ? period.end : null}, updated_at = ${now}
      where org_id = ${org_id} and id = ${cap_id}`.execute(trx)
  return { places, isChanged }
}

/** The cap before its count, as whoever changes it locks them. Undefined where it is gone. */
async function lock(trx: Transaction<Tables>, org_id: number, told: Told): Promise<Standing | undefined> {
  const { cap_id, period_start } = told
  const { rows: caps } = await sql<CapRow>`
    select metric, "limit", period, timezone, closed_until
    from caps
    where org_id = ${org_id} and id = ${cap_id} and active and deleted_at is null
    for update`.execute(trx)
  await sql`
    insert into cap_counts (org_id, cap_id, period_start, used, reserved)
    values (${org_id}, ${cap_id}, ${period_start}, 0, 0)
    on conflict (org_id, cap_id, period_start) do nothing`.execute(trx)
  const { rows: counts } = await sql<Omit<Standing, keyof CapRow>>`
    select used, reserved, reopened_at is not null as is_reopened
    from cap_counts
    where org_id = ${org_id} and cap_id = ${cap_id} and period_start = ${period_start}
    for update`.execute(trx)
  return caps[0] === undefined || counts[0] === undefined ? undefined : { ...caps[0], ...counts[0] }
}
