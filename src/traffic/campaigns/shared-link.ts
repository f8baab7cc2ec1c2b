/** Stores a campaign's shared invite link as its address, for processes of older versions that do not know channels. Owns no table. */
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'
import { readMoment } from '../../money/billing/balance.ts'

type SharedLink = Readonly<Record<'campaign_id' | 'channel_id' | 'url', string>> & { readonly org_id: number }

/** Makes the link the campaign's address if the campaign still leads into that channel. */
export async function nameSharedLink(
  db: Kysely<Tables>,
  { org_id, campaign_id, channel_id, url }: SharedLink,
): Promise<void> {
  const now = await readMoment(db, org_id)
  await sql`
    update campaigns set destination = jsonb_set(destination, '{url}', to_jsonb(${url}::text)), updated_at = greatest(updated_at, ${now}::timestamptz)
    where org_id = ${org_id} and id = ${campaign_id} and deleted_at is null
      and destination -> 'channel' ->> 'channel_id' = ${channel_id}`.execute(db)
}
