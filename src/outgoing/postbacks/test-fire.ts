/** Test fires: call a rule at once with a real click's values. They write no delivery and no attempt. */
import { sql } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { newId, toWireId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { guardedAgent } from '../../ground/guard.ts'
import type { Context } from '../../ground/room.ts'
import { isSuccess, sendCall } from '../deliveries/send.ts'
import type * as api from './api.ts'
import { ruleOf } from './postbacks.ts'
import { CLICK_MACRO_COLUMNS, type PostbackConversion, composeCall, revenueColumn } from './render.ts'

/**
 * Calls the rule's address with the values of the given click, or else of the newest click that matches the rule. The event id is made up, and also
 * fills the transaction id, so that the receiver does not take the test for a real conversion. The amount is the offer's payout. Works for a rule that
 * is off. Refuses `object_not_found`, `invalid_request` for an unknown click or an address that cannot be called, `no_click_yet`.
 */
export async function testPostbackRule(
  context: Context<typeof api.testPostbackRule>,
  { params, body }: Call<typeof api.testPostbackRule>,
) {
  const { db, actor, config } = context
  const rule = await ruleOf(db, actor.org_id, params.id)
  const conversion = await readClick(context, rule, body.click_id ?? undefined)
  const call = composeCall(rule, conversion)
  if (call === undefined)
    refuse('invalid_request', {
      error: 'the address of the rule cannot be called with these values',
      hint: 'Use macros only behind the host.',
    })
  const agent = guardedAgent({ allowPrivate: config.allowPrivateTargets, connections: 1 })
  const began = performance.now()
  try {
    const outcome = await sendCall(agent, call)
    const { status, error, answer } = outcome
    const { click_id } = conversion
    const took_ms = Math.round(performance.now() - began)
    return { ok: isSuccess(outcome), click_id, method: call.method, url: call.url, status, error, answer, took_ms }
  } finally {
    await agent.close()
  }
}

async function readClick(
  { db, actor }: Context<typeof api.testPostbackRule>,
  rule: api.PostbackRule,
  click_id: string | undefined,
): Promise<PostbackConversion> {
  // Only tracked clicks: those of crawlers have no parameters.
  const matches =
    click_id === undefined
      ? sql`(${rule.campaign_id}::uuid is null or c.campaign_id = ${rule.campaign_id}) and c.tracked
          and (${rule.traffic_source_id}::uuid is null or (c.ref_id is not null and c.campaign_id in (
            select s.id from campaigns s where s.org_id = ${actor.org_id} and s.traffic_source_id = ${rule.traffic_source_id})))`
      : sql`c.id = ${click_id}`
  const event_id = newId()
  const inherited = sql.raw(
    revenueColumn(
      'case when coalesce(cardinality(o.payout_types), 0) = 0 or t.type = any(o.payout_types) then o.payout end',
    ),
  )
  const { rows } = await sql<PostbackConversion>`
    select ${event_id}::text as event_id, ${toWireId(event_id)}::text as txid, 'approved' as status, ${inherited}, t.type as event_type, c.id as click_id, c.campaign_id, c.offer_id,
      ${String(Math.floor(Date.now() / 1000))}::text as timestamp, ${sql.raw(CLICK_MACRO_COLUMNS)}
    from clicks c
    cross join (select ${rule.event_type}::text as type) t
    left join offers o on o.org_id = c.org_id and o.id = c.offer_id
    where c.org_id = ${actor.org_id} and ${matches}
    order by c.id desc
    limit 1`.execute(db)
  if (rows[0] !== undefined) return rows[0]
  if (click_id === undefined) refuse('no_click_yet')
  return refuse('invalid_request', {
    error: 'click_id: no such click',
    hint: 'Send the id of a click of this organization.',
  })
}
