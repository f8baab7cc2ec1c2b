/**
 * The goal of each campaign: its own types, or else those of the workspace, or else those that its offers pay on.
 */
import type pg from 'pg'
import { USUAL_GOAL } from './api.ts'
import { OFFERS_OF_CAMPAIGNS } from './offers-of-campaigns.ts'

/** `own` are the campaigns whose goal differs from `goal`, including deleted ones, because reports contain their clicks. */
export type Goals = {
  readonly goal: readonly string[]
  readonly own: readonly { readonly id: string; readonly goal: readonly string[] }[]
}

// An offer without types pays on all of them, which is the usual goal. A campaign without an offer has the usual goal too.
const READ = `
  with chosen as (
    select goal from event_settings where org_id = $1 and goal is not null
  ), paid as (
    select reached.campaign_id, array_agg(distinct paid.type order by paid.type) as goal
    from (${OFFERS_OF_CAMPAIGNS}) reached
    join offers o on o.org_id = $1 and o.id = reached.offer_id
    cross join lateral unnest(case when cardinality(o.payout_types) > 0 then o.payout_types else $2::text[] end) as paid(type)
    where not exists (select from chosen)
    group by reached.campaign_id
  )
  select null::uuid as id, goal from chosen
  union all
  select c.id, coalesce(c.goal, paid.goal) from campaigns c left join paid on paid.campaign_id = c.id
  where c.org_id = $1 and (c.goal is not null or paid.goal is not null)`

/** The goals of an organization as they are now. */
export async function readGoals(db: Pick<pg.Pool, 'query'>, org_id: number): Promise<Goals> {
  const { rows } = await db.query<{ id: string | null; goal: string[] }>(READ, [org_id, USUAL_GOAL])
  const goal = rows.find(({ id }) => id === null)?.goal ?? USUAL_GOAL
  const own = rows.flatMap(({ id, goal: of }) => (id === null || isAlike(of, goal) ? [] : [{ id, goal: of }]))
  return { goal, own }
}

const isAlike = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every(type => other.includes(type))
