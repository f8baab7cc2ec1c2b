// The rows of caps, and caps as the API shows them, with the count of their current period. Owns no table.
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'
import type * as api from './api.ts'
import { type CapPeriodSpan, msOf, periodAt, shownUnits, unitsOf } from './period.ts'

export const CAP_COLUMNS = [
  'id',
  'object',
  'object_id',
  'metric',
  'event_types',
  'limit',
  'period',
  'timezone',
  'then_offer_id',
  'when_unknown',
  'active',
  'closed_until',
  'created_at',
] as const

/** A cap's row in the database. */
export type CapRow = Pick<
  api.Cap,
  | 'id'
  | 'object'
  | 'object_id'
  | 'metric'
  | 'event_types'
  | 'limit'
  | 'period'
  | 'timezone'
  | 'then_offer_id'
  | 'when_unknown'
  | 'active'
  | 'created_at'
> & { readonly closed_until: string | null }

type CapCount = Pick<api.Cap, 'used' | 'reserved' | 'reached_at' | 'reopened_at' | 'reopened_by'>

/** Whether a cap's limit is reached at a time (Unix milliseconds), and nobody has opened the cap again. */
export const isReached = ({ active, closed_until }: Pick<CapRow, 'active' | 'closed_until'>, ms: number): boolean =>
  active && closed_until !== null && msOf(closed_until) > ms

/** Caps as the API shows them: with their object's name, their state and the count of the current period. */
export async function describeCaps(db: Kysely<Tables>, org_id: number, caps: readonly CapRow[]): Promise<api.Cap[]> {
  if (caps.length === 0) return []
  const now_ms = Date.now()
  const names = await namesOf(db, org_id, caps)
  const periods = new Map(caps.map(cap => [cap.id, periodAt(cap, now_ms)]))
  const counts = await countsOf(db, org_id, periods)
  return caps.map(({ closed_until, ...cap }) => {
    const { start, end } = periods.get(cap.id) as CapPeriodSpan
    const {
      used = 0,
      reserved = 0,
      reached_at = null,
      reopened_at = null,
      reopened_by = null,
    } = counts.get(cap.id) ?? {}
    return {
      ...cap,
      object_name: names.get(cap.object_id) ?? '',
      state: isReached({ ...cap, closed_until }, now_ms) ? 'reached' : 'open',
      used: shownUnits(cap.metric, used),
      reserved,
      over_by: shownUnits(cap.metric, Math.max(0, used - unitsOf(cap))),
      reached_at,
      reopened_at,
      reopened_by,
      counted_from: countedFrom(cap, start),
      resets_at: cap.period === 'total' ? null : end,
    }
  })
}

/** Clicks and cost are counted from the cap's creation, conversions from the start of the period. */
function countedFrom(
  { period, metric, created_at }: Pick<CapRow, 'period' | 'metric' | 'created_at'>,
  start: string,
): string {
  return period === 'total' || (metric !== 'conversions' && msOf(created_at) > msOf(start)) ? created_at : start
}

async function namesOf(db: Kysely<Tables>, org_id: number, caps: readonly CapRow[]): Promise<Map<string, string>> {
  const ids = caps.map(({ object_id }) => object_id)
  const { rows } = await sql<{ id: string; name: string }>`
    select id, name from offers where org_id = ${org_id} and id = any(${ids}::uuid[])
    union all
    select id, name from campaigns where org_id = ${org_id} and id = any(${ids}::uuid[])`.execute(db)
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** The count of each cap's current period, by cap id; missing if nothing was counted yet. */
async function countsOf(
  db: Kysely<Tables>,
  org_id: number,
  periods: ReadonlyMap<string, CapPeriodSpan>,
): Promise<Map<string, CapCount>> {
  const { rows } = await sql<CapCount & { cap_id: string }>`
    select n.cap_id, n.used, n.reserved, n.reached_at, n.reopened_at, u.name as reopened_by
    from cap_counts n
    join unnest(${[...periods.keys()]}::uuid[], ${[...periods.values()].map(({ start }) => start)}::timestamptz[])
      as asked (cap_id, period_start) on asked.cap_id = n.cap_id and asked.period_start = n.period_start
    left join users u on u.id = n.reopened_by
    where n.org_id = ${org_id}`.execute(db)
  return new Map(rows.map(({ cap_id, ...count }) => [cap_id, count]))
}
