/** The names of campaigns for rows of other rooms, such as clicks and deliveries, which outlive their campaigns. Reads `campaigns`. */
import type pg from 'pg'
import type { Call } from '../../contract/endpoint.ts'
import type { Context } from '../../ground/room.ts'
import type * as api from './api.ts'
import type { NamedCampaigns } from './api.ts'

type CampaignReference = { readonly campaign_id: string | null }

/** The names of the rows' campaigns, including deleted ones. Ids are uuids. */
export async function campaignsNamed(
  reads: Pick<pg.Pool, 'query'>,
  org_id: number,
  rows: readonly CampaignReference[],
): Promise<NamedCampaigns> {
  const ids = new Set(rows.flatMap(({ campaign_id }) => campaign_id ?? []))
  if (ids.size === 0) return []
  const { rows: found } = await reads.query<NamedCampaigns[number]>(
    `select id, name, deleted_at is not null as is_deleted from campaigns where org_id = $1 and id = any($2::uuid[])
    order by id`,
    [org_id, [...ids]],
  )
  return found
}

/** The names of campaigns by their ids. Ids outside the organization are left out. */
export async function nameCampaigns(
  { database, actor }: Context<typeof api.nameCampaigns>,
  { query }: Call<typeof api.nameCampaigns>,
) {
  const rows = query.ids.map(campaign_id => ({ campaign_id }))
  return { data: await campaignsNamed(database.reads, actor.org_id, rows) }
}
