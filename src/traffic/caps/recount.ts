// Counts a cap again when it is created or changed, and closes it if its limit is reached.
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'
import type { CapRow } from './rows.ts'
import { msOf, periodAt, unitsOf } from './period.ts'

/** The columns of a cap that its count depends on. */
export type CountedCap = Pick<
  CapRow,
  'id' | 'object' | 'object_id' | 'metric' | 'event_types' | 'limit' | 'period' | 'timezone' | 'active' | 'created_at'
>

/** A count of the conversions before `until`. `key` identifies what was counted. */
type EarlierCount = { readonly used: number; readonly until: string; readonly key: string }

/** Longer than a transaction of conversions takes: older conversions are committed. */
const LONGEST_TRANSACTION = `interval '1 minute'`

/** Counts the conversions that are certainly committed before `now`. This is done before the lock, so that only the last minute is counted under it. */
export async function countConversions(
  db: Kysely<Tables>,
  org_id: number,
  cap: CountedCap,
  now: string,
): Promise<EarlierCount> {
  const { rows } = await sql<{
    until: string
  }>`select ${now}::timestamptz - ${sql.raw(LONGEST_TRANSACTION)} as until`.execute(db)
  const until = rows[0]?.until ?? now
  if (cap.metric !== 'conversions') return { used: 0, until, key: keyOf(cap, now) }
  return { used: await conversionsBetween(db, org_id, cap, startOfCount(cap, now), until), until, key: keyOf(cap, now) }
}

type Recount = { readonly now: string; readonly earlier: EarlierCount; readonly hasNewLimit: boolean }

/**
 * Writes the count of the cap's period and whether the cap is reached. Runs under the lock of conversions. `hasNewLimit`: the limit has changed;
 * then it also applies to a cap that somebody had opened again.
 */
export async function recountCap(
  trx: Transaction<Tables>,
  org_id: number,
  cap: CountedCap,
  { now, earlier, hasNewLimit }: Recount,
): Promise<void> {
  const period = periodAt(cap, msOf(now))
  // After a change of the zone or the period, later rows are left over. The latest row is the one that counts, so they are deleted.
  await sql`
    delete from cap_counts where org_id = ${org_id} and cap_id = ${cap.id} and period_start > ${period.start}`.execute(
    trx,
  )
  const { rows } = await sql<CountBefore>`
    select used, reserved, reached_at, reopened_at from cap_counts
    where org_id = ${org_id} and cap_id = ${cap.id} and period_start = ${period.start}`.execute(trx)
  const [before] = rows
  const used =
    cap.metric !== 'conversions'
      ? (before?.used ?? 0)
      : await totalCount(trx, org_id, cap, { from: startOfCount(cap, now), now, earlier })
  const isReopened = !hasNewLimit && before?.reopened_at != null
  const isReached = cap.active && used + (before?.reserved ?? 0) >= unitsOf(cap) && !isReopened
  const reached_at = isReached || isReopened ? (before?.reached_at ?? now) : null
  // Counts as mailed: the person who changes the cap sees its state in the answer.
  const mailed_at = reached_at === null ? null : now
  const reopened = isReopened ? sql`n.reopened_at, reopened_by = n.reopened_by` : sql`null, reopened_by = null`
  await sql`
    insert into cap_counts as n (org_id, cap_id, period_start, used, reserved, reached_at, mailed_at)
    values (${org_id}, ${cap.id}, ${period.start}, ${used}, 0, ${reached_at}, ${mailed_at})
    on conflict (org_id, cap_id, period_start) do update
    set used = excluded.used, reached_at = excluded.reached_at, mailed_at = excluded.mailed_at,
      reopened_at = ${reopened}`.execute(trx)
  await sql`
    update caps set closed_until = ${isReached ? period.end : null}
    where org_id = ${org_id} and id = ${cap.id}`.execute(trx)
}

type CountBefore = { used: number; reserved: number; reached_at: string | null; reopened_at: string | null }

/** The earlier count plus the conversions since then; or a full count if the earlier one counted something else. */
async function totalCount(
  trx: Transaction<Tables>,
  org_id: number,
  cap: CountedCap,
  { from, now, earlier }: { from: string; now: string; earlier: EarlierCount },
): Promise<number> {
  if (earlier.key !== keyOf(cap, now)) return conversionsBetween(trx, org_id, cap, from, null)
  return earlier.used + (await conversionsBetween(trx, org_id, cap, later(from, earlier.until), null))
}

/** The start of a cap's count: the start of its period, or the creation of a total cap. */
function startOfCount(cap: Pick<CapRow, 'period' | 'timezone' | 'created_at'>, now: string): string {
  return cap.period === 'total' ? cap.created_at : periodAt(cap, msOf(now)).start
}

const later = (a: string, b: string): string => (msOf(a) > msOf(b) ? a : b)

const keyOf = (cap: CountedCap, now: string): string => JSON.stringify([startOfCount(cap, now), cap.event_types])

async function conversionsBetween(
  db: Kysely<Tables>,
  org_id: number,
  { object, object_id, event_types }: CountedCap,
  from: string,
  until: string | null,
): Promise<number> {
  let events = db
    .selectFrom('events')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('org_id', '=', org_id)
    .where(sql<boolean>`coalesce(confirmed_at, created_at) >= ${from}`)
    .where(object === 'offer' ? 'offer_id' : 'campaign_id', '=', object_id)
    .where('test', '=', false)
  if (until !== null) events = events.where(sql<boolean>`coalesce(confirmed_at, created_at) < ${until}`)
  if (event_types.length > 0) events = events.where('type', 'in', event_types)
  return (await events.executeTakeFirstOrThrow()).count
}
