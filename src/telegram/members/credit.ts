/**
 * Writes which click a member or a join request is credited to. Writes `channel_members` and `join_requests`, which `members.ts` and `requests.ts`
 * own, for these two alone.
 */
import type { Kysely } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'
import type { CreditedClick } from './attribution.ts'

type CreditedTable = 'channel_members' | 'join_requests'
type PersonOfChannel = { readonly org_id: number; readonly channel_id: string; readonly telegram_user_id: string }

/** Marks the person's row as organic, unless it was credited to a click in the meantime. */
export async function markOrganic(
  db: Kysely<Tables>,
  table: CreditedTable,
  { org_id, channel_id, telegram_user_id }: PersonOfChannel,
): Promise<void> {
  await db
    .updateTable(table)
    .set({ certainty: 'organic' })
    .where('org_id', '=', org_id)
    .where('channel_id', '=', channel_id)
    .where('telegram_user_id', '=', telegram_user_id)
    .where('certainty', 'is', null)
    .execute()
}

/** Credits the person's row to a click, unless it is credited to one already. */
export async function creditClick(
  db: Kysely<Tables>,
  table: CreditedTable,
  { org_id, channel_id, telegram_user_id }: PersonOfChannel,
  { click_id, campaign_id, certainty, link_id = null, event_id }: CreditedClick,
): Promise<void> {
  await db
    .updateTable(table)
    .set({ click_id, campaign_id, certainty, link_id, event_id })
    .where('org_id', '=', org_id)
    .where('channel_id', '=', channel_id)
    .where('telegram_user_id', '=', telegram_user_id)
    .where('event_id', 'is', null)
    .execute()
}
