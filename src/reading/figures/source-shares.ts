/** Counts today's clicks that have the click id and cost of their traffic source. Reads `clicks` and `campaigns`. */
import { DAY_MS } from '../../contract/days.ts'
import { firstIdAt } from '../../contract/ids.ts'
import type { Context } from '../../ground/room.ts'
import * as api from './api.ts'

type SharesRow = { readonly [F in 'clicks' | 'with_ref_id' | 'with_cost']: number } & { readonly key: string }

/** The counts of the newest clicks of the UTC day, by the traffic source that their campaigns name now. */
export async function readSourceShares({ database, actor }: Context<typeof api.readSourceShares>) {
  const now = Date.now()
  const { rows } = await database.reads.query<SharesRow>(
    `with looked as (
      select campaign_id, tracked, ref_id, cost from clicks
      where org_id = $1 and id >= $2::uuid order by id desc limit $3
    ), counted as (
      select campaign_id, count(*) as clicks, count(ref_id) as with_ref_id, count(cost) as with_cost
      from looked where tracked and campaign_id is not null group by 1
    )
    select c.traffic_source_id as key, sum(counted.clicks)::int as clicks, sum(with_ref_id)::int as with_ref_id, sum(with_cost)::int as with_cost
    from counted join campaigns c on c.org_id = $1 and c.id = counted.campaign_id
    where c.traffic_source_id is not null and c.deleted_at is null group by 1 order by 2 desc, 1`,
    [actor.org_id, firstIdAt(now - (now % DAY_MS)), api.MOST_SAMPLED],
  )
  return { rows }
}
