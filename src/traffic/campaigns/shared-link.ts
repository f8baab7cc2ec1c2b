/** The address of a campaign that leads into a channel: the link that its clicks share, for a process of a version that knows no channels. Owns no table. */
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'
import { readMoment } from '../../money/billing/balance.ts'

type Shared = Readonly<Record<'campaign_id' | 'channel_id' | 'url', string>> & { readonly org_id: number }

/** Makes the link the campaign's address, as long as it leads into that channel by itself. */
export async function nameSharedLink(
  db: Kysely<Tables>,
  { org_id, campaign_id, channel_id, url }: Shared,
): Promise<void> {
  const now = await readMoment(db, org_id)
  await sql`
    update campaigns set destination = jsonb_set(destination, '{url}', to_jsonb(${url}::text)), updated_at = greatest(updated_at, ${now}::timestamptz)
    where org_id = ${org_id} and id = ${campaign_id} and deleted_at is null
      and destination -> 'channel' ->> 'channel_id' = ${channel_id}`.execute(db)
}
