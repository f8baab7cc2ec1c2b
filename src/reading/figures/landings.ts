/** Counts clicks by their landing, one by one: no counter has them, and no index finds them. Reads `clicks`. */
import type pg from 'pg'
import { firstIdAt } from '../../contract/ids.ts'
import { REACHED } from '../../contract/ladder.ts'
import type { Window } from '../../contract/window.ts'
import { COUNTERS } from '../../intake/counters/deltas.ts'

/** A row as the database answers it, its counters and `revenue` by their names. */
export type Found = { readonly [column: string]: string | null }

const REACHED_BY = REACHED.map(
  (bit, at) => `count(*) filter (where tracked and stages & ${bit} <> 0) as ${COUNTERS[at + 1]}`,
)

/** The tracked clicks of the window by landing, as `key`, those without one left out; undefined where the window holds more than `most` clicks. */
export async function countLandings(
  reads: Pick<pg.Pool, 'query'>,
  org_id: number,
  { from, to }: Window,
  most: number,
): Promise<Found[] | undefined> {
  if (from > to) return []
  const { rows } = await reads.query<Found>(
    `with looked as (
      select landing_id, tracked, stages, revenue from clicks
      where org_id = $1 and id >= $2::uuid and id < $3::uuid limit $4
    )
    select landing_id as key, count(*) as looked, count(*) filter (where tracked) as clicks, ${REACHED_BY.join(', ')},
      round(coalesce(sum(revenue) filter (where tracked), 0), 2)::text as revenue
    from looked group by 1 order by clicks desc, 1`,
    [org_id, firstIdAt(from), firstIdAt(to + 1), most + 1],
  )
  const looked = rows.reduce((sum, row) => sum + Number(row['looked']), 0)
  return looked > most ? undefined : rows.filter(({ key, clicks }) => key !== null && Number(clicks) > 0)
}
