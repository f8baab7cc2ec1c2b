/** Rows of campaigns that are not deleted. */
import { type Kysely, sql, type Updateable } from 'kysely'
import { refuse } from '../../contract/refusals.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { CampaignRow } from './link.ts'

export const CAMPAIGN_COLUMNS = [
  'id',
  'name',
  'key',
  'destination',
  'offer_id',
  'fallback_url',
  'ad_account_id',
  'traffic_source_id',
  'domain_id',
  'source',
  'strict_filter',
  'cost',
  'goal',
  'sites',
  'browser_types',
  'status',
  'tag_ids',
  'note',
  'created_at',
  'updated_at',
] as const

export const liveCampaigns = (db: Kysely<Tables>, org_id: number) =>
  db.selectFrom('campaigns').where('org_id', '=', org_id).where('deleted_at', 'is', null)

/** A condition for campaigns with this destination. */
export const leadsTo = (type: 'funnel' | 'click_flow', id: string) =>
  sql<boolean>`destination->>'type' = ${type} and destination->>${`${type}_id`} = ${id}`

/** One campaign. Refuses `object_not_found`. */
export async function campaignOf(db: Kysely<Tables>, org_id: number, id: string): Promise<CampaignRow> {
  const row = await liveCampaigns(db, org_id)
    .select(CAMPAIGN_COLUMNS)
    .where('id', '=', id)
    .$castTo<CampaignRow>()
    .executeTakeFirst()
  return row ?? refuse('object_not_found')
}

export type CampaignChanges = Updateable<Tables['campaigns']>

/**
 * Writes the changes to a campaign that is not deleted, and returns the row. Refuses `object_not_found`. `updated_at` never goes back: a change
 * that waited for another change may carry an earlier time than that change.
 */
export async function writeCampaign(
  db: Kysely<Tables>,
  org_id: number,
  id: string,
  at: string,
  changes: CampaignChanges,
  mustBeArchived = false,
): Promise<CampaignRow> {
  let written = db
    .updateTable('campaigns')
    .set({ ...changes, updated_at: sql<string>`greatest(updated_at, ${at}::timestamptz)` })
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
  if (mustBeArchived) written = written.where('status', '=', 'archived')
  const row = await written.returning(CAMPAIGN_COLUMNS).$castTo<CampaignRow>().executeTakeFirst()
  if (row !== undefined) return row
  // Someone may have unarchived it in the meantime.
  if (
    mustBeArchived &&
    (await liveCampaigns(db, org_id).select('id').where('id', '=', id).executeTakeFirst()) !== undefined
  )
    refuse('campaign_not_archived')
  return refuse('object_not_found')
}
