/** Copies of campaigns take their left-out values along. */
import { type Kysely, sql } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { refuse } from '../../contract/refusals.ts'
import { inOneTransaction } from '../../ground/db/one-transaction.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Context } from '../../ground/room.ts'
import type * as api from '../campaigns/api.ts'
import { createCampaign } from '../campaigns/campaigns.ts'
import { announceChange } from '../campaigns/live.ts'
import { LEFT_OUT_COLUMNS, type LeftOutRow, touchLists, withIds } from './lists.ts'

/**
 * Creates a campaign, with the left-out values of `left_out_of`. Refuses what `createCampaign` refuses, `invalid_request` if there is
 * no such campaign, and `api_key_resource_forbidden` for a key that sends the field.
 */
export async function createCampaignWithList(
  context: Context<typeof api.createCampaign>,
  call: Call<typeof api.createCampaign>,
): Promise<Awaited<ReturnType<typeof createCampaign>>> {
  const { left_out_of: from, ...body } = call.body
  if (from == null) return await createCampaign(context, { ...call, body })
  const { actor, db } = context
  if (actor.kind === 'key') refuse('api_key_resource_forbidden', { error: 'left_out_of: no API key can send this' })
  return await inOneTransaction(db, async trx => {
    const original = await trx
      .selectFrom('campaigns')
      .select('id')
      .where('org_id', '=', actor.org_id)
      .where('id', '=', from)
      .where('deleted_at', 'is', null)
      .executeTakeFirst()
    if (original === undefined) refuse('invalid_request', { error: 'left_out_of: no such campaign' })
    const made = await createCampaign({ ...context, db: trx }, { ...call, body })
    await copyList(trx, actor.org_id, from, made.id)
    return made
  })
}

async function copyList(trx: Kysely<Tables>, org_id: number, from: string, to: string): Promise<void> {
  const rows = await trx
    .selectFrom('left_out_values')
    .select(LEFT_OUT_COLUMNS)
    .where('org_id', '=', org_id)
    .where('campaign_id', '=', from)
    .orderBy('id')
    .$castTo<LeftOutRow>()
    .execute()
  if (rows.length === 0) return
  const copies = withIds(
    rows.map(({ field, value, offer_id, note, until }) => ({ field, value, offer_id, note, until })),
  )
  const now = await touchLists(trx, org_id, [to])
  await sql`
    insert into left_out_values (org_id, id, campaign_id, field, value, offer_id, note, until, created_at)
    select ${org_id}::int, t.id, ${to}::uuid, t.field, t.value, t.offer_id, t.note, t.until, ${now}::timestamptz
    from json_to_recordset(${JSON.stringify(copies)})
      as t (id uuid, field text, value text, offer_id uuid, note text, until timestamptz)`.execute(trx)
  await announceChange(trx, org_id, to)
}
