/**
 * Postback rules: the address called for each kind of conversion. Owns `postback_rules`. A conversion creates one delivery per matching rule, which the
 * worker sends. A rule's method never changes. Deletion is soft, because deliveries keep naming their rule.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Kysely, Transaction } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { newId, NIL_ID } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { addressWarnings, type Warning } from '../../contract/warnings.ts'
import { createOnce } from '../../ground/create-once.ts'
import { newestFirstFile } from '../../ground/db/list-file.ts'
import { newestFirst, picked, type Wanted } from '../../ground/db/lists.ts'
import { undelete } from '../../ground/db/undelete.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { requireScope } from '../../ground/scope.ts'
import { betweenConversions } from '../../money/billing/balance.ts'
import { requireCampaign } from '../../traffic/campaigns/campaigns.ts'
import { requireTrafficSource } from '../../traffic/campaigns/references.ts'
import { resetBreaker } from '../deliveries/breaker.ts'
import * as api from './api.ts'
import { requireOneSubject, requireOwnOn, requirePublicAddress, requireSameSubject } from './rule-terms.ts'

const COLUMNS = [
  'id',
  'event_type',
  'url',
  'method',
  'campaign_id',
  'traffic_source_id',
  'told_on',
  'told_campaign_id',
  'preset',
  'active',
  'once_per_person',
  'switched_off_at',
  'switched_off_reason',
  'created_at',
  'updated_at',
] as const

/** Rules of the organization, newest first. */
export async function listPostbackRules(
  { db, actor }: Context<typeof api.listPostbackRules>,
  { query }: Call<typeof api.listPostbackRules>,
) {
  const { data, next_cursor } = await newestFirst(listed(db, actor.org_id, query), query)
  return { data: data.map(ruleShown), next_cursor }
}

/** The listed rules as a CSV file. Refuses `too_many_lines`. */
export async function exportPostbackRules(
  { db, actor }: Context<typeof api.exportPostbackRules>,
  { body }: Call<typeof api.exportPostbackRules>,
) {
  const rows = listed(db, actor.org_id, picked(body))
  return await newestFirstFile(api.PostbackRule, rows, found => found.map(ruleShown))
}

function listed(
  db: Kysely<Tables>,
  org_id: number,
  { ids, campaign_id, traffic_source_id, event_type, active }: Wanted<Call<typeof api.listPostbackRules>['query']>,
) {
  let rows = rulesNotDeleted(db, org_id).select(COLUMNS)
  if (ids !== undefined) rows = rows.where('id', 'in', ids)
  if (campaign_id !== undefined)
    rows = rows.where(({ fn }) => fn.coalesce('told_campaign_id', 'campaign_id'), '=', campaign_id)
  if (traffic_source_id !== undefined) rows = rows.where('traffic_source_id', '=', traffic_source_id)
  if (event_type !== undefined) rows = rows.where('event_type', '=', event_type)
  if (active !== undefined) rows = rows.where('active', '=', active === 'true')
  return rows.$castTo<RuleRow>()
}

/** One rule. Refuses `object_not_found`. */
export async function readPostbackRule(
  { db, actor }: Context<typeof api.readPostbackRule>,
  { params }: Call<typeof api.readPostbackRule>,
) {
  return await ruleOf(db, actor.org_id, params.id)
}

/**
 * Creates a rule. Keys create GET rules only, restricted ones only for campaigns on their list. Refuses `invalid_request` for a private address.
 */
export async function createPostbackRule(
  context: Context<typeof api.createPostbackRule>,
  { body }: Call<typeof api.createPostbackRule>,
) {
  const { db, actor, config } = context
  const method = body.method ?? 'GET'
  if (actor.kind === 'key' && method !== 'GET') refuse('postback_method_forbidden')
  requirePublicAddress(config, body.url)
  requireOneSubject(actor, body)
  requireOwnOn(actor, body.on ?? 'recorded', 'recorded')
  if (body.campaign_id == null) requireScope(actor, null)
  else await requireCampaign({ db, actor }, body.campaign_id)
  const hasPlaceholder = body.traffic_source_id != null && PLACEHOLDER.test(body.url)
  if (hasPlaceholder && body.active === true) refuse('placeholder_left')
  const insert = (trx: Transaction<Tables>, id: string, now: string) =>
    trx
      .insertInto('postback_rules')
      .values({
        org_id: actor.org_id,
        id,
        event_type: body.event_type,
        url: body.url,
        method,
        traffic_source_id: body.traffic_source_id ?? null,
        ...storedColumns({
          on: body.on ?? 'recorded',
          campaign_id: body.campaign_id ?? null,
          traffic_source_id: body.traffic_source_id ?? null,
        }),
        preset: body.preset ?? null,
        active: body.active ?? !hasPlaceholder,
        once_per_person: body.once_per_person ?? false,
        created_at: now,
        updated_at: now,
      })
      .execute()
  const id = await betweenConversions(db, actor.org_id, async (trx, now) => {
    await requireTrafficSource(trx, actor.org_id, body.traffic_source_id)
    const created = { table: 'postback_rules', id: newId(), body } as const
    return await createOnce(trx, context, created, () => insert(trx, created.id, now))
  })
  const isForAll = actor.kind === 'key' && body.campaign_id == null
  const rule = await ruleOf(db, actor.org_id, id)
  return { ...rule, warnings: [...warningsOn(body), ...(isForAll ? [ALL_CAMPAIGNS] : [])] }
}

/** Only for keys: the dashboard's form shows which campaigns a rule is for. */
const ALL_CAMPAIGNS: Warning = {
  code: 'all_campaigns',
  field: 'campaign_id',
  message:
    'No campaign was named, so the rule fires for the conversions of all campaigns, including future ones. To restrict it, set campaign_id.',
}

/**
 * Changes the fields that are sent; `campaign_id: null` makes the rule apply to all campaigns. For a restricted key both the old and the new campaign
 * must be on its list. Refuses `invalid_request` for another method. Switching it on or changing its address resets its breaker.
 */
export async function updatePostbackRule(
  { db, actor, config }: Context<typeof api.updatePostbackRule>,
  { params, body }: Call<typeof api.updatePostbackRule>,
) {
  const now = await ruleOf(db, actor.org_id, params.id)
  requireScope(actor, now.campaign_id)
  requireOwnOn(actor, body.on ?? now.on, now.on)
  if (body.method != null && body.method !== now.method)
    refuse('invalid_request', {
      error: 'method: it cannot be changed',
      hint: 'Create another rule with the other method.',
    })
  if (body.url !== undefined) requirePublicAddress(config, body.url)
  requireSameSubject(now, body)
  if (now.traffic_source_id !== null && (body.active ?? now.active) && PLACEHOLDER.test(body.url ?? now.url))
    refuse('placeholder_left')
  const campaign_id = now.traffic_source_id === null ? body.campaign_id : undefined
  if (campaign_id === null) requireScope(actor, null)
  else if (campaign_id !== undefined && campaign_id !== now.campaign_id)
    await requireCampaign({ db, actor }, campaign_id)
  const warnings = warningsOn(body)
  const changes = changesOf({ ...body, campaign_id })
  const next = { ...now, ...changes }
  if (isDeepStrictEqual(next, now)) return { ...now, warnings }
  const { on: _, campaign_id: __, ...columns } = changes
  const was = storedColumns(now)
  const row = await betweenConversions(db, actor.org_id, (trx, changed_at) =>
    trx
      .updateTable('postback_rules')
      .set({ ...columns, ...storedColumns(next), updated_at: changed_at })
      .where('org_id', '=', actor.org_id)
      .where('id', '=', now.id)
      .where('deleted_at', 'is', null)
      // If the rule was moved to another campaign meanwhile, this key may not be allowed to change it.
      .where('campaign_id', 'is not distinct from', was.campaign_id)
      .where('told_campaign_id', 'is not distinct from', was.told_campaign_id)
      .where('told_on', 'is not distinct from', was.told_on)
      .returning(COLUMNS)
      .$castTo<RuleRow>()
      .executeTakeFirst(),
  )
  if (row === undefined) refuse('object_not_found')
  if (body.active != null || body.url !== undefined) await resetBreaker(db, actor.org_id, now.id)
  return { ...ruleShown(row), warnings }
}

type RuleChanges = Call<typeof api.updatePostbackRule>['body']

const warningsOn = ({ url }: RuleChanges) =>
  url === undefined ? [] : addressWarnings('url', url, api.unknownPostbackMacros(url))

/** The columns to change. Switching a rule on clears the notice that Sluice had switched it off. */
const changesOf = (body: RuleChanges) => ({
  ...(body.event_type === undefined ? {} : { event_type: body.event_type }),
  ...(body.url === undefined ? {} : { url: body.url }),
  ...(body.campaign_id === undefined ? {} : { campaign_id: body.campaign_id }),
  ...(body.on == null ? {} : { on: body.on }),
  ...(body.preset === undefined ? {} : { preset: body.preset }),
  ...(body.active == null ? {} : { active: body.active }),
  ...(body.active === true ? { switched_off_at: null, switched_off_reason: null } : {}),
  ...(body.once_per_person == null ? {} : { once_per_person: body.once_per_person }),
})

/** Deletes softly. The worker skips its waiting deliveries, so this need not run between conversions. */
export async function deletePostbackRule(
  { db, actor }: Context<typeof api.deletePostbackRule>,
  { params }: Call<typeof api.deletePostbackRule>,
) {
  const { id, campaign_id } = await ruleOf(db, actor.org_id, params.id)
  requireScope(actor, campaign_id)
  const now = new Date().toISOString()
  const { numUpdatedRows } = await db
    .updateTable('postback_rules')
    .set({ deleted_at: now, updated_at: now })
    .where('org_id', '=', actor.org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) refuse('object_not_found')
  // With an open breaker, its waiting deliveries would be skipped only after the pause.
  await resetBreaker(db, actor.org_id, id)
  return { ok: true as const, id }
}

const rulesNotDeleted = (db: Kysely<Tables>, org_id: number) =>
  db.selectFrom('postback_rules').where('org_id', '=', org_id).where('deleted_at', 'is', null)

/** One rule that is not deleted. Refuses `object_not_found`. */
export async function ruleOf(db: Kysely<Tables>, org_id: number, id: string): Promise<api.PostbackRule> {
  const row = rulesNotDeleted(db, org_id).select(COLUMNS).where('id', '=', idOf(id)).$castTo<RuleRow>()
  return ruleShown((await row.executeTakeFirst()) ?? refuse('object_not_found'))
}

type RuleRow = Omit<api.PostbackRule, 'unknown_macros' | 'on'> & {
  told_on: api.PostbackRule['on'] | null
  told_campaign_id: string | null
}

/** The rule as it is shown, with its unknown macros. */
const ruleShown = ({ told_on, told_campaign_id, ...row }: RuleRow): api.PostbackRule => ({
  ...row,
  on: told_on ?? 'recorded',
  campaign_id: told_on !== null ? told_campaign_id : row.traffic_source_id === null ? row.campaign_id : null,
  unknown_macros: api.unknownPostbackMacros(row.url),
})

/** A placeholder in the address of a source's template for a value of the operator's account, such as `YOUR_AID`. */
const PLACEHOLDER = /\bYOUR_[A-Z_]+/

type RuleTerms = Pick<api.PostbackRule, 'on' | 'campaign_id' | 'traffic_source_id'>

/**
 * The columns of a rule. An older version would call a rule with another `on` or a traffic source wrongly, so such a rule gets a campaign_id that matches
 * no campaign.
 */
function storedColumns({ on, campaign_id, traffic_source_id }: RuleTerms) {
  const isPlain = on === 'recorded'
  return {
    campaign_id: isPlain && traffic_source_id === null ? campaign_id : NIL_ID,
    told_on: isPlain ? null : on,
    told_campaign_id: isPlain ? null : campaign_id,
  }
}

/** Takes back the deletion of a rule, for the history: it is called for conversions from now on. False if it is not deleted. */
export async function restorePostbackRule(db: Kysely<Tables>, org_id: number, id: string): Promise<boolean> {
  return await betweenConversions(db, org_id, (trx, at) => undelete(trx, 'postback_rules', { org_id, id, at }))
}
