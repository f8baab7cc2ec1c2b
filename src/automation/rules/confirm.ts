/** The checks that people ask for: now, and those of a rule that asks before it acts. */
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { msOfDatabase } from '../../contract/moments.ts'
import { refuse } from '../../contract/refusals.ts'
import { inOneTransaction } from '../../ground/db/one-transaction.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { type Acting, doActs, withHistory } from './acts.ts'
import type * as api from './api.ts'
import { actsOf, checkRule, lockRule, campaignNames } from './check.ts'
import { type CheckRow, checksOf, describeCheck, storeCheck } from './log.ts'
import type { Tools } from '../own-acts/calls.ts'
import { isActable, readStanding } from './objects.ts'
import { campaignsOver } from './reach.ts'
import { ASKED_MS, requireRule, type RuleRow, workspaceZone } from './stored.ts'
import { tellConfirmed } from './telling.ts'

/** The rule may be changed while its figures are read; then they are read again. */
const MOST_TRIES = 5

/** `tools` are known once all rooms are open. */
export const checkDeeds = (tools: () => Tools) => ({
  /** Refuses `object_not_found`, and what Explore refuses. */
  async checkRule(
    context: Context<typeof api.checkRule>,
    { params }: Call<typeof api.checkRule>,
  ): Promise<api.RuleCheck> {
    const { actor, db } = context
    const { org_id, organization_id } = actor
    for (let tries = 1; ; tries += 1) {
      const rule = await requireRule(db, org_id, idOf(params.id))
      const place = { org_id, organization_id, zone: await workspaceZone(db, org_id) }
      const check = await checkRule({ ground: context, tools: tools(), place, rule }, { now_ms: Date.now() })
      if (check !== undefined) return check
      if (tries === MOST_TRIES) return refuse('service_unavailable', { headers: { 'retry-after': '5' } })
    }
  },

  confirmRule: (context: Context<typeof api.confirmRule>, call: Call<typeof api.confirmRule>) =>
    confirmAsked(context, call, tools()),
})

/** Does what a check asked for, once. Refuses `object_not_found`, `asked_before` and `check_outdated`. */
async function confirmAsked(
  context: Context<typeof api.confirmRule>,
  { params, body }: Call<typeof api.confirmRule>,
  tools: Tools,
): Promise<api.RuleCheck> {
  const { actor, db } = context
  const { org_id, organization_id } = actor
  const now_ms = Date.now()
  const place = { org_id, organization_id, zone: await workspaceZone(db, org_id) }
  const known = await requireRule(db, org_id, idOf(params.id))
  const touched = (await requireAsked(db, org_id, known, body.check_id)).objects
  return await inOneTransaction(db, async trx => {
    const rule = await lockRule(trx, { place, rule: known }, touched)
    const asked = await requireAsked(trx, org_id, rule, body.check_id)
    if (asked.confirmed_at !== null) refuse('asked_before')
    if (asked.rule_version !== rule.version || msOfDatabase(asked.checked_at) <= now_ms - ASKED_MS)
      refuse('check_outdated')
    const campaigns = await campaignsOver(trx, org_id, rule.definition.over)
    const standing = await readStanding(trx, { org_id, now_ms, rule }, campaigns, asked.objects)
    const isOver = new Set(campaigns.map(({ id }) => id))
    const objects = asked.objects
      .filter(object => isOver.has(object.campaign_id) && isActable(rule.definition.then, object, standing, now_ms))
      .map(({ campaign_id, field, value, figures }) => ({ campaign_id, field, value, figures }))
    const id = newId(now_ms)
    const acting: Acting = {
      trx,
      ground: context,
      tools,
      place,
      rule,
      check_id: id,
      act_id: newId(),
      now_ms,
    }
    const { done, failed } = await doActs(acting, actsOf(rule), objects)
    const check: api.RuleCheck = {
      ...describeCheck(asked),
      id,
      checked_at: new Date(now_ms).toISOString(),
      state: 'acted',
      reason: failed ?? null,
      objects: await withHistory(acting, done),
    }
    await storeCheck(trx, org_id, rule.id, check)
    await noteConfirmed(acting, rule, asked.id)
    await tellConfirmed({ trx, place, rule, now_ms, names: campaignNames(campaigns) }, asked.id)
    return check
  })
}

/** Refuses `object_not_found` for a check that asked nothing, or of another rule. */
async function requireAsked(db: Acting['trx'], org_id: number, rule: RuleRow, check_id: string): Promise<CheckRow> {
  const row = await checksOf(db, org_id, rule.id).where('id', '=', check_id).executeTakeFirst()
  return row?.state === 'asked' ? row : refuse('object_not_found')
}

async function noteConfirmed({ trx, place, now_ms }: Acting, rule: RuleRow, check_id: string): Promise<void> {
  const { org_id } = place
  const confirmed_at = new Date(now_ms).toISOString()
  await trx
    .updateTable('rule_checks')
    .set({ confirmed_at })
    .where('org_id', '=', org_id)
    .where('id', '=', check_id)
    .execute()
  if (rule.asked_check_id !== check_id) return
  await trx
    .updateTable('rules')
    .set({ state: 'watching', asked_check_id: null, asked_at: null })
    .where('org_id', '=', org_id)
    .where('id', '=', rule.id)
    .execute()
}
