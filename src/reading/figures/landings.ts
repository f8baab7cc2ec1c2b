/** Counts clicks by landing, one by one, because no counter has landings and no index finds them. Reads `clicks` and `events`. */
import type pg from 'pg'
import { firstIdAt } from '../../contract/ids.ts'
import { REACHED } from '../../contract/ladder.ts'
import type { Window } from '../../contract/window.ts'
import type { Value } from '../../ground/db/statement.ts'
import { COUNTERS } from '../../intake/counters/deltas.ts'
import type { Goals } from '../../traffic/event-settings/goals.ts'
import { BY_KEY, CONVERTED, conversionsOfEvents } from '../reports/converted.ts'

/** A row of the database, with its counters and `revenue` by name. */
export type FiguresSqlRow = { readonly [column: string]: string | null }

const REACHED_BY = REACHED.map(
  (bit, at) => `count(*) filter (where tracked and stages & ${bit} <> 0) as ${COUNTERS[at + 1]}`,
)

/** The tracked clicks of the window by landing (`key`), without clicks that have none; undefined where the window has more than `most` clicks. */
export async function countLandings(
  reads: Pick<pg.Pool, 'query'>,
  org_id: number,
  { from, to }: Window,
  goals: Goals,
  most: number,
): Promise<FiguresSqlRow[] | undefined> {
  if (from > to) return []
  const values: Value[] = [org_id, firstIdAt(from), firstIdAt(to + 1), most + 1]
  const converted = conversionsOfEvents(
    {
      key: 'c.landing_id',
      campaign: 'c.campaign_id',
      from: 'events e join clicks c on c.org_id = $1 and c.id = e.click_id',
      where: 'e.click_id >= $2::uuid and e.click_id < $3::uuid and c.landing_id is not null',
    },
    goals,
    value => `$${values.push(value)}`,
  )
  const { rows } = await reads.query<FiguresSqlRow>(
    `with looked as (
      select landing_id, tracked, stages, revenue from clicks
      where org_id = $1 and id >= $2::uuid and id < $3::uuid limit $4
    ), found as (
      select landing_id as key, count(*) as looked, count(*) filter (where tracked) as clicks, ${REACHED_BY.join(', ')},
        round(coalesce(sum(revenue) filter (where tracked), 0), 2)::text as revenue
      from looked group by 1
    ), converted as (
      ${converted}
    )
    select found.*, ${CONVERTED.map(name => `by_key.${name}`).join(', ')}
    from found left join (${BY_KEY}) by_key on by_key.key = found.key
    order by clicks desc, found.key`,
    values,
  )
  const looked = rows.reduce((sum, row) => sum + Number(row['looked']), 0)
  return looked > most ? undefined : rows.filter(({ key, clicks }) => key !== null && Number(clicks) > 0)
}
