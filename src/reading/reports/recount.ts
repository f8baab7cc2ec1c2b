/**
 * The same question answered from the raw clicks alone, without counters: what tests, the bench and audits hold a report against. Reads every
 * click of the window, so it is no way to serve anyone; and says nothing of months whose clicks are no longer kept.
 */
import type pg from 'pg'
import { firstIdAt } from '../../contract/ids.ts'
import { LADDER, REACHED } from '../../contract/ladder.ts'
import type { Counts } from '../../intake/counters/deltas.ts'
import type { Dimension } from './api.ts'

/** A row of a report before money is rounded and names are added; ids are uuids, a missing value is ''. Revenue is exact. */
export type Recounted = Counts & { readonly key: string }

const KEYS: Record<Dimension, string> = {
  campaign: 'campaign_id::text',
  geo: 'geo',
  sub1: 'sub1',
  offer: 'offer_id::text',
  // The id's first 48 bits are its milliseconds.
  day: `(date '1970-01-01' + (('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 86400000)::int)::text`,
}

const reached = LADDER.slice(1).map((rung, at) => `count(*) filter (where stages & ${REACHED[at]} > 0)::int as ${rung}`)

/**
 * Counts the tracked clicks from `from` to `to` (Unix ms, both inclusive) by one dimension, only of these campaigns unless null. All rows,
 * in the report's order. `db` is any pool or client, with a statement timeout that suits the number of clicks.
 */
export async function recount(
  db: Pick<pg.Pool, 'query'>,
  org_id: number,
  from: number,
  to: number,
  dimension: Dimension,
  campaigns: readonly string[] | null = null,
): Promise<Recounted[]> {
  const { rows } = await db.query<Recounted>(
    `select coalesce(${KEYS[dimension]}, '') as key, count(*)::int as clicks, ${reached.join(', ')},
      trim_scale(coalesce(sum(revenue), 0))::text as revenue
    from clicks where org_id = $1 and id >= $2::uuid and id < $3::uuid and tracked and ($4::uuid[] is null or campaign_id = any($4::uuid[]))
    group by 1 order by ${dimension === 'day' ? 'key' : 'clicks desc, coalesce(' + KEYS[dimension] + `, '') collate "C"`}`,
    [org_id, firstIdAt(from), firstIdAt(to + 1), campaigns],
  )
  return rows
}
