/**
 * Campaigns. Owns `campaigns` and `campaign_keys`. A key belongs to one campaign for ever, across all organizations and after deletion,
 * because it stays in paid ads. Deletion is soft.
 */
import { isDeepStrictEqual } from 'node:util'
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { createOnce } from '../../ground/create-once.ts'
import { newestFirstFile } from '../../ground/db/list-file.ts'
import { newestFirst, picked, type Wanted } from '../../ground/db/lists.ts'
import { hasTag, noteDeed, tagsDeed } from '../../ground/db/labels.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { isInScope, requireScope } from '../../ground/scope.ts'
import { betweenConversions, readMoment } from '../../money/billing/balance.ts'
import * as api from './api.ts'
import { costText, storedCost } from './cost.ts'
import { takeKey } from './key.ts'
import { withLinks, type CampaignRow, campaignLink } from './link.ts'
import { announceChange } from './live.ts'
import { checkedDestination, requireAdAccount, requireSessionFields, requireTrafficSource } from './references.ts'
import { CAMPAIGN_COLUMNS, type CampaignChanges, campaignOf, leadsTo, liveCampaigns, writeCampaign } from './stored.ts'
import { placeWarnings, warningsOn } from './warnings.ts'

/** Campaigns of the organization, newest first; `q` searches name and key. Archived ones only if `status` asks for them. */
export async function listCampaigns(
  context: Context<typeof api.listCampaigns>,
  { query }: Call<typeof api.listCampaigns>,
) {
  const { data, next_cursor } = await newestFirst(listed(context.db, context.actor.org_id, query), query)
  return { data: await withLinks(context, data), next_cursor }
}

/** The listed campaigns as a CSV file. Refuses `too_many_lines`. */
export async function exportCampaigns(
  context: Context<typeof api.exportCampaigns>,
  { body }: Call<typeof api.exportCampaigns>,
) {
  const rows = listed(context.db, context.actor.org_id, picked(body))
  return await newestFirstFile(api.Campaign, rows, found => withLinks(context, found))
}

type WantedCampaigns = Wanted<Call<typeof api.listCampaigns>['query']>

function listed(
  db: Kysely<Tables>,
  org_id: number,
  { ids, q, tag_id, offer_id, funnel_id, traffic_source_id, domain_id, status }: WantedCampaigns,
) {
  let rows = liveCampaigns(db, org_id).select(CAMPAIGN_COLUMNS)
  if (ids !== undefined) rows = rows.where('id', 'in', ids)
  else if (status === undefined) rows = rows.where('status', '<>', 'archived')
  else if (status !== 'all') rows = rows.where('status', '=', status)
  if (q) rows = rows.where(sql<boolean>`(strpos(lower(name), lower(${q})) > 0 or strpos(key, lower(${q})) > 0)`)
  if (offer_id !== undefined) rows = rows.where('offer_id', '=', offer_id)
  if (traffic_source_id !== undefined) rows = rows.where('traffic_source_id', '=', traffic_source_id)
  if (domain_id !== undefined) rows = rows.where('domain_id', '=', domain_id)
  if (funnel_id !== undefined) rows = rows.where(leadsTo('funnel', funnel_id))
  if (tag_id !== undefined) rows = rows.where(hasTag(tag_id))
  return rows.$castTo<CampaignRow>()
}

/** One campaign. Refuses `object_not_found`. */
export async function readCampaign(
  context: Context<typeof api.readCampaign>,
  { params }: Call<typeof api.readCampaign>,
) {
  const { db, actor } = context
  const row = await campaignOf(db, actor.org_id, idOf(params.id))
  return { ...(await withLink(context, row)), warnings: await placeWarnings(db, actor.org_id, row.destination) }
}

/** The campaign link with the macros of its source. Refuses `object_not_found`. */
export async function readCampaignLink(
  context: Context<typeof api.readCampaignLink>,
  { params }: Call<typeof api.readCampaignLink>,
) {
  return await campaignLink(context, await campaignOf(context.db, context.actor.org_id, idOf(params.id)))
}

/**
 * Creates a campaign. Refuses `already_exists` for a key that was ever used, and `invalid_request` for a destination, offer, ad account or
 * traffic source that does not exist. The campaign is not added to the list of a restricted API key.
 */
export async function createCampaign(
  context: Context<typeof api.createCampaign>,
  { body }: Call<typeof api.createCampaign>,
) {
  const { db, actor } = context
  await requireSessionFields(db, actor, body)
  const { destination, offer_id } = await checkedDestination(db, actor.org_id, body)
  const { org_id } = actor
  const isBinding = body.ad_account_id != null || body.traffic_source_id != null
  const insert = async (trx: Transaction<Tables>, id: string, now: string) => {
    await requireAdAccount(trx, org_id, body.ad_account_id)
    await requireTrafficSource(trx, org_id, body.traffic_source_id)
    const key = await takeKey(trx, org_id, id, body.key ?? undefined)
    await trx
      .insertInto('campaigns')
      .values({
        org_id,
        id,
        name: body.name,
        key,
        destination: JSON.stringify(destination),
        offer_id: offer_id ?? null,
        fallback_url: body.fallback_url ?? null,
        ad_account_id: body.ad_account_id ?? null,
        traffic_source_id: body.traffic_source_id ?? null,
        domain_id: body.domain_id ?? null,
        source: sourceText(body.source),
        strict_filter: body.strict_filter ?? false,
        cost: costText(storedCost(body.cost)),
        goal: body.goal ?? null,
        sites: body.sites ?? [],
        browser_types: body.browser_types ?? [],
        status: 'active',
        created_at: now,
        updated_at: now,
      })
      .execute()
  }
  const id = await change(db, org_id, isBinding, (trx, now) => {
    const created = { table: 'campaigns', id: newId(), body } as const
    return createOnce(trx, context, created, () => insert(trx, created.id, now))
  })
  await announceChange(db, org_id, id)
  const row = await campaignOf(db, org_id, id)
  return { ...(await withLink(context, row)), warnings: await warningsOn(context, body, row) }
}

/** Changes the fields that are sent; null clears an optional field. Refuses another key, because the old one is in ads. */
export async function updateCampaign(
  context: Context<typeof api.updateCampaign>,
  { params, body }: Call<typeof api.updateCampaign>,
) {
  const { db, actor } = context
  const now = await campaignOf(db, actor.org_id, idOf(params.id))
  requireScope(actor, now.id)
  if (body.key != null && body.key !== now.key)
    refuse('invalid_request', {
      error: 'key: cannot be changed',
      hint: 'Running ads use it. Create another campaign for another key.',
    })
  await requireSessionFields(db, actor, body, now)
  const { destination, offer_id } = await checkedDestination(db, actor.org_id, body, now)
  const changes = {
    ...(body.name === undefined ? {} : { name: body.name }),
    ...(destination === undefined ? {} : { destination }),
    ...(offer_id === undefined ? {} : { offer_id }),
    ...(body.fallback_url === undefined ? {} : { fallback_url: body.fallback_url }),
    ...(body.ad_account_id === undefined ? {} : { ad_account_id: body.ad_account_id }),
    ...(body.traffic_source_id === undefined ? {} : { traffic_source_id: body.traffic_source_id }),
    ...(body.domain_id === undefined ? {} : { domain_id: body.domain_id }),
    ...(body.source === undefined ? {} : { source: sourceOf(body.source) }),
    ...(body.strict_filter == null ? {} : { strict_filter: body.strict_filter }),
    ...(body.cost === undefined ? {} : { cost: storedCost(body.cost) }),
    ...(body.goal === undefined ? {} : { goal: body.goal }),
    ...(body.sites === undefined ? {} : { sites: body.sites ?? [] }),
    ...(body.browser_types === undefined ? {} : { browser_types: body.browser_types ?? [] }),
  }
  if (isDeepStrictEqual({ ...now, ...changes }, now))
    return { ...(await withLink(context, now)), warnings: await warningsOn(context, body, now) }
  const isBinding = body.ad_account_id !== undefined || body.traffic_source_id !== undefined
  const row = await change(db, actor.org_id, isBinding, async (trx, at) => {
    const bound = await campaignOf(trx, actor.org_id, now.id)
    if (body.ad_account_id !== bound.ad_account_id) await requireAdAccount(trx, actor.org_id, body.ad_account_id)
    if (body.traffic_source_id !== bound.traffic_source_id)
      await requireTrafficSource(trx, actor.org_id, body.traffic_source_id)
    return await writeCampaign(trx, actor.org_id, now.id, at, {
      ...changes,
      ...(destination === undefined ? {} : { destination: JSON.stringify(destination) }),
      ...(body.source === undefined ? {} : { source: sourceText(body.source) }),
      ...(changes.cost === undefined ? {} : { cost: costText(changes.cost) }),
    } as CampaignChanges)
  })
  await announceChange(db, actor.org_id, now.id)
  return { ...(await withLink(context, row)), warnings: await warningsOn(context, body, row) }
}

/** Pauses, archives or activates. Repeating the current status is a no-op, because someone else may have been faster. */
export async function setCampaignStatus(
  context: Context<typeof api.setCampaignStatus>,
  { params, body }: Call<typeof api.setCampaignStatus>,
) {
  const { db, actor } = context
  const now = await campaignOf(db, actor.org_id, idOf(params.id))
  if (now.status === body.status) return await withLink(context, now)
  const at = await readMoment(db, actor.org_id)
  const row = await writeCampaign(db, actor.org_id, now.id, at, { status: body.status })
  await announceChange(db, actor.org_id, row.id)
  return await withLink(context, row)
}

/**
 * Deletes softly. The link then redirects to the fallback and records no clicks; reports stay, and late conversions still count and are
 * reported. Refuses `campaign_not_archived` if a person deletes a campaign that is not archived; API keys need no such step.
 */
export async function deleteCampaign(
  context: Context<typeof api.deleteCampaign>,
  { params }: Call<typeof api.deleteCampaign>,
) {
  const { db, actor } = context
  const { id, name, status, fallback_url } = await campaignOf(db, actor.org_id, idOf(params.id))
  requireScope(actor, id)
  const mustBeArchived = actor.kind === 'member'
  if (mustBeArchived && status !== 'archived') refuse('campaign_not_archived')
  const now = await readMoment(db, actor.org_id)
  await writeCampaign(db, actor.org_id, id, now, { deleted_at: now }, mustBeArchived)
  await announceChange(db, actor.org_id, id)
  // A paused or archived campaign sent its visitors to the fallback before.
  return {
    ok: true as const,
    id,
    campaigns_on_fallback: status === 'active' ? [{ id, name, has_fallback: fallback_url !== null }] : [],
  }
}

const withLink = async (context: Parameters<typeof withLinks>[0], row: CampaignRow): Promise<api.Campaign> =>
  (await withLinks(context, [row]))[0] ?? refuse('object_not_found')

/**
 * Runs a change in a transaction and passes it the time (the database's text). `isBinding` says that it sets or clears the ad account or the
 * traffic source. Such a change runs between conversions, because conversions read both, and their deletion runs between conversions too.
 * Conversions read nothing else of a campaign.
 */
function change<T>(
  db: Kysely<Tables>,
  org_id: number,
  isBinding: boolean,
  write: (trx: Transaction<Tables>, at: string) => Promise<T>,
): Promise<T> {
  if (isBinding) return betweenConversions(db, org_id, write)
  return db.transaction().execute(async trx => write(trx, await readMoment(trx, org_id)))
}

/**
 * For rooms whose rows name a campaign. Refuses `invalid_request` unless the organization has it, and `campaign_scope_forbidden` if the
 * actor is restricted to other campaigns.
 */
export async function requireCampaign(
  { db, actor }: Pick<Context<typeof api.createCampaign>, 'db' | 'actor'>,
  id: string,
): Promise<void> {
  const found = await liveCampaigns(db, actor.org_id).select('id').where('id', '=', id).executeTakeFirst()
  if (found === undefined) refuse('invalid_request', { error: 'campaign_id: no such campaign' })
  requireScope(actor, id)
}

/**
 * Refuses `campaign_scope_forbidden` unless the actor may change every campaign that leads to the funnel or click flow. If no campaign leads
 * to it, any actor with the right may change it.
 */
export async function requireScopeOfAll(
  { db, actor }: Pick<Context<typeof api.createCampaign>, 'db' | 'actor'>,
  type: 'funnel' | 'click_flow',
  id: string,
): Promise<void> {
  const campaigns = await liveCampaigns(db, actor.org_id).select('id').where(leadsTo(type, id)).execute()
  if (!campaigns.every(campaign => isInScope(actor, campaign.id)))
    refuse('campaign_scope_forbidden', {
      hint: `The ${type.replace('_', ' ')} is the destination of a campaign that this key does not list. The key needs all campaigns that lead there.`,
    })
}

const sourceOf = (source: api.CampaignDraft['source']) =>
  Object.fromEntries(Object.entries(source ?? {}).filter(([, parameter]) => parameter != null))

const sourceText = (source: api.CampaignDraft['source']): string => JSON.stringify(sourceOf(source))

export const setCampaignTags = tagsDeed('campaigns')
export const setCampaignNote = noteDeed('campaigns')
