// The transaction in which a process reports its use of a cap, returns reserved places and reserves new ones. Caps on clicks reserve places; caps
// on cost only get reports, in cents.
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'
import { readMoment } from '../../money/billing/balance.ts'
import { announceChange } from '../campaigns/live.ts'
import type { CapMetric, CapPeriod } from './api.ts'
import { msOf, periodAt, unitsOf } from './period.ts'

/**
 * What a process reports: `used` places were taken by visitors, `beyond` visitors came without a place, `returned` places are given back. Visitors whose
 * use is taken back are subtracted from `beyond`, so it may be below 0.
 */
type CapUse = {
  readonly cap_id: string
  readonly period_start: string
  readonly used: number
  readonly beyond: number
  readonly returned: number
  readonly wantsMore: boolean
}

export type ReservedPlaces = { readonly places: number }

/** A process reserves a sixteenth of what is left: small enough that processes run out together and a crash loses little. */
const SHARE = 16
const MOST_PLACES = 500
/** The largest number that the column holds. In cents it is 21 million dollars, which a forged cost in a link can exceed. */
const MOST_COUNTED = 2_147_483_647

type LeasedCap = { metric: CapMetric; limit: number; period: CapPeriod; timezone: string; closed_until: string | null }
type CapAndCount = LeasedCap & { used: number; reserved: number; is_reopened: boolean }

/** Nothing was written, so the report may be repeated. */
export class NothingWritten extends Error {}

/**
 * Reports the use of a cap, and returns how many more places the process may give; 0 if the cap is reached.
 * @throws NothingWritten, or the database's error if it is unknown whether the report was written
 */
export async function reportCapUse(db: Kysely<Tables>, org_id: number, use: CapUse): Promise<ReservedPlaces> {
  let isCommitting = false
  try {
    const now = await readMoment(db, org_id)
    const { places, isChanged } = await db.transaction().execute(async trx => {
      const reserved = await reportIn(trx, org_id, use, now)
      isCommitting = true
      return reserved
    })
    const announced = isChanged ? announceChange(db, org_id, use.cap_id) : undefined
    // With `wantsMore` a visitor may be waiting for the places, so the announcement is not awaited.
    if (!use.wantsMore) await announced
    return { places }
  } catch (cause) {
    throw isCommitting ? cause : new NothingWritten('the use of a cap could not be reported', { cause })
  }
}

async function reportIn(trx: Transaction<Tables>, org_id: number, use: CapUse, now: string) {
  const { cap_id, period_start } = use
  const cap = await lockCap(trx, org_id, use)
  if (cap === undefined) return { places: 0, isChanged: false }
  const period = periodAt(cap, msOf(now))
  const used = Math.max(0, Math.min(cap.used + use.used + use.beyond, MOST_COUNTED))
  const reserved = Math.max(0, cap.reserved - use.used - use.returned)
  const limit = Math.min(unitsOf(cap), MOST_COUNTED)
  const left = cap.is_reopened ? Number.POSITIVE_INFINITY : limit - used - reserved
  const places = use.wantsMore && left > 0 ? Math.min(left, MOST_PLACES, Math.max(1, Math.floor(left / SHARE))) : 0
  const isReached = left <= 0
  await sql`
    update cap_counts
    set used = ${used}, reserved = ${reserved + places}, reached_at = coalesce(reached_at, ${isReached ? now : null}::timestamptz)
    where org_id = ${org_id} and cap_id = ${cap_id} and period_start = ${period_start}`.execute(trx)
  const wasReached = cap.closed_until !== null && msOf(cap.closed_until) === period.end_ms
  // A late report about an earlier period, or from before the cap changed its period, neither closes nor opens the cap.
  const isChanged = period.start === period_start && isReached !== wasReached
  if (isChanged)
    await sql`
      update caps set closed_until = ${isReached ? period.end : null}, updated_at = ${now}
      where org_id = ${org_id} and id = ${cap_id}`.execute(trx)
  return { places, isChanged }
}

/** Locks the cap and then its count, in the order in which changes lock them. Undefined if the cap was deleted or is inactive. */
async function lockCap(trx: Transaction<Tables>, org_id: number, use: CapUse): Promise<CapAndCount | undefined> {
  const { cap_id, period_start } = use
  const { rows: caps } = await sql<LeasedCap>`
    select metric, "limit", period, timezone, closed_until
    from caps
    where org_id = ${org_id} and id = ${cap_id} and active and deleted_at is null
    for update`.execute(trx)
  await sql`
    insert into cap_counts (org_id, cap_id, period_start, used, reserved)
    values (${org_id}, ${cap_id}, ${period_start}, 0, 0)
    on conflict (org_id, cap_id, period_start) do nothing`.execute(trx)
  const { rows: counts } = await sql<Omit<CapAndCount, keyof LeasedCap>>`
    select used, reserved, reopened_at is not null as is_reopened
    from cap_counts
    where org_id = ${org_id} and cap_id = ${cap_id} and period_start = ${period_start}
    for update`.execute(trx)
  return caps[0] === undefined || counts[0] === undefined ? undefined : { ...caps[0], ...counts[0] }
}
