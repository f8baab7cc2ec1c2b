// What a cap comes to when it is made or changed: counted anew from the conversions, and closed where that is its limit.
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'
import type { Row } from './shown.ts'
import { msOf, periodAt, unitsOf } from './period.ts'

/** What of a cap its count depends on. */
export type Counted = Pick<
  Row,
  'id' | 'object' | 'object_id' | 'metric' | 'event_types' | 'limit' | 'period' | 'timezone' | 'active' | 'created_at'
>

/** How much was counted, by which fields, and until when. */
type SoFar = { readonly used: number; readonly until: string; readonly by: string }

/** A transaction of conversions lives for seconds; those that are under way when one counts are at most so old. */
const UNDER_WAY = `interval '1 minute'`

/** Counts the conversions before `now` that are certainly there: most of them, so that only the last are counted under the lock. */
export async function countConversions(db: Kysely<Tables>, org_id: number, cap: Counted, now: string): Promise<SoFar> {
  const { rows } = await sql<{ until: string }>`select ${now}::timestamptz - ${sql.raw(UNDER_WAY)} as until`.execute(db)
  const until = rows[0]?.until ?? now
  if (cap.metric !== 'conversions') return { used: 0, until, by: keyOf(cap, now) }
  return { used: await between(db, org_id, cap, beginningOf(cap, now), until), until, by: keyOf(cap, now) }
}

type Settling = { readonly now: string; readonly so_far: SoFar; readonly isAnew: boolean }

/**
 * Writes what the cap has used in its period and whether that closes it; under the lock of conversions. `isAnew`: another limit, which a cap
 * that somebody had opened again is held against as well.
 */
export async function settle(
  trx: Transaction<Tables>,
  org_id: number,
  cap: Counted,
  { now, so_far, isAnew }: Settling,
): Promise<void> {
  const period = periodAt(cap, msOf(now))
  // Of another zone or kind of period: the latest row is the one that is counted in.
  await sql`
    delete from cap_counts where org_id = ${org_id} and cap_id = ${cap.id} and period_start > ${period.start}`.execute(
    trx,
  )
  const { rows } = await sql<Before>`
    select used, reserved, reached_at, reopened_at from cap_counts
    where org_id = ${org_id} and cap_id = ${cap.id} and period_start = ${period.start}`.execute(trx)
  const [before] = rows
  const used =
    cap.metric !== 'conversions'
      ? (before?.used ?? 0)
      : await usedSince(trx, org_id, cap, { from: beginningOf(cap, now), now, so_far })
  const isOpened = !isAnew && before?.reopened_at != null
  const isReached = cap.active && used + (before?.reserved ?? 0) >= unitsOf(cap) && !isOpened
  const reached_at = isReached || isOpened ? (before?.reached_at ?? now) : null
  // Whoever changes it is told by the answer: a mail is for what happens behind everybody's back.
  const mailed_at = reached_at === null ? null : now
  const opened = isOpened ? sql`n.reopened_at, reopened_by = n.reopened_by` : sql`null, reopened_by = null`
  await sql`
    insert into cap_counts as n (org_id, cap_id, period_start, used, reserved, reached_at, mailed_at)
    values (${org_id}, ${cap.id}, ${period.start}, ${used}, 0, ${reached_at}, ${mailed_at})
    on conflict (org_id, cap_id, period_start) do update
    set used = excluded.used, reached_at = excluded.reached_at, mailed_at = excluded.mailed_at,
      reopened_at = ${opened}`.execute(trx)
  await sql`
    update caps set closed_until = ${isReached ? period.end : null}
    where org_id = ${org_id} and id = ${cap.id}`.execute(trx)
}

type Before = { used: number; reserved: number; reached_at: string | null; reopened_at: string | null }

/** What was counted so far with what came since, or all anew where something else was counted. */
async function usedSince(
  trx: Transaction<Tables>,
  org_id: number,
  cap: Counted,
  { from, now, so_far }: { from: string; now: string; so_far: SoFar },
): Promise<number> {
  if (so_far.by !== keyOf(cap, now)) return between(trx, org_id, cap, from, null)
  return so_far.used + (await between(trx, org_id, cap, later(from, so_far.until), null))
}

/** Since when a cap counts: its period's beginning, of a total one when it was made. */
function beginningOf(cap: Pick<Row, 'period' | 'timezone' | 'created_at'>, now: string): string {
  return cap.period === 'total' ? cap.created_at : periodAt(cap, msOf(now)).start
}

const later = (a: string, b: string): string => (msOf(a) > msOf(b) ? a : b)

const keyOf = (cap: Counted, now: string): string => JSON.stringify([beginningOf(cap, now), cap.event_types])

async function between(
  db: Kysely<Tables>,
  org_id: number,
  { object, object_id, event_types }: Counted,
  from: string,
  until: string | null,
): Promise<number> {
  let events = db
    .selectFrom('events')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('org_id', '=', org_id)
    .where('created_at', '>=', from)
    .where(object === 'offer' ? 'offer_id' : 'campaign_id', '=', object_id)
    .where('test', '=', false)
  if (until !== null) events = events.where('created_at', '<', until)
  if (event_types.length > 0) events = events.where('type', 'in', event_types)
  return (await events.executeTakeFirstOrThrow()).count
}
