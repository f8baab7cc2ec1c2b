/**
 * Campaigns: the addresses traffic is sent to. Owns `campaigns` and `campaign_keys`. A key names one campaign for ever, over all
 * organizations and after deletion, because it stays in ads that someone has paid for. Deletion is soft.
 */
import { randomInt } from 'node:crypto'
import { type Kysely, sql, type Transaction, type Updateable } from 'kysely'
import type { Call } from '../contract/endpoint.ts'
import { newId } from '../contract/ids.ts'
import { refuse } from '../contract/refusals.ts'
import { newestFirst } from '../db/lists.ts'
import type { Tables } from '../db/tables.ts'
import { type Context, idOf } from '../room.ts'
import type * as api from './api.ts'
import { announceChange } from './live.ts'
import { isInScope, requireScope } from './scope.ts'

const COLUMNS = [
  'id',
  'name',
  'key',
  'destination',
  'offer_id',
  'fallback_url',
  'ad_account_id',
  'source',
  'strict_filter',
  'created_at',
  'updated_at',
] as const

type Row = Omit<api.Campaign, 'url'>
type Asking = { readonly origin: string | undefined }

/** The campaign with the address traffic is sent to: under BASE_URL, else where the caller reached us, else the path alone. */
const addressed =
  ({ origin }: Asking) =>
  (row: Row): api.Campaign => ({ ...row, url: `${origin ?? ''}/c/${row.key}` })

/** Campaigns of the organization, newest first; `q` looks into name and key. */
export async function listCampaigns(
  context: Context<typeof api.listCampaigns>,
  { query }: Call<typeof api.listCampaigns>,
) {
  const { q, offer_id, funnel_id } = query
  let rows = live(context.db, context.actor.org_id).select(COLUMNS)
  if (q) rows = rows.where(sql<boolean>`strpos(lower(name), lower(${q})) > 0 or strpos(key, lower(${q})) > 0`)
  if (offer_id !== undefined) rows = rows.where('offer_id', '=', offer_id)
  if (funnel_id !== undefined) rows = rows.where(leadsTo('funnel', funnel_id))
  const { data, next_cursor } = await newestFirst(rows.$castTo<Row>(), query)
  return { data: data.map(addressed(context)), next_cursor }
}

/** One campaign. Refuses `object_not_found`. */
export async function readCampaign(
  context: Context<typeof api.readCampaign>,
  { params }: Call<typeof api.readCampaign>,
) {
  return addressed(context)(await campaignOf(context.db, context.actor.org_id, idOf(params.id)))
}

/**
 * Creates a campaign. Refuses `already_exists` for a key someone has or had, `invalid_request` for a destination, offer or ad
 * account that is not there. A restricted key's list does not grow by it.
 */
export async function createCampaign(
  context: Context<typeof api.createCampaign>,
  { body }: Call<typeof api.createCampaign>,
) {
  const { db, actor } = context
  await requireDestination(db, actor.org_id, body.destination)
  await requireOffer(db, actor.org_id, body.offer_id)
  await requireAdAccount(db, actor.org_id, body.ad_account_id)
  const now = new Date().toISOString()
  const id = newId()
  const row = await db.transaction().execute(async db => {
    const key = await takeKey(db, actor.org_id, id, body.key ?? undefined)
    return await db
      .insertInto('campaigns')
      .values({
        org_id: actor.org_id,
        id,
        name: body.name,
        key,
        destination: JSON.stringify(body.destination),
        offer_id: body.offer_id ?? null,
        fallback_url: body.fallback_url ?? null,
        ad_account_id: body.ad_account_id ?? null,
        source: sourceText(body.source),
        strict_filter: body.strict_filter ?? false,
        created_at: now,
        updated_at: now,
      })
      .returning(COLUMNS)
      .$castTo<Row>()
      .executeTakeFirstOrThrow()
  })
  await announceChange(db, actor.org_id, id)
  return addressed(context)(row)
}

/** Changes the fields that are sent; null clears one that may be empty. The key stays: it is in ads. */
export async function updateCampaign(
  context: Context<typeof api.updateCampaign>,
  { params, body }: Call<typeof api.updateCampaign>,
) {
  const { db, actor } = context
  const now = await campaignOf(db, actor.org_id, idOf(params.id))
  requireScope(actor, now.id)
  if (body.key != null && body.key !== now.key)
    refuse('invalid_request', {
      error: 'key: a campaign keeps its key',
      hint: 'Running ads hold it. Create another campaign for another key.',
    })
  if (body.destination !== undefined) await requireDestination(db, actor.org_id, body.destination, now.destination)
  if (body.offer_id !== now.offer_id) await requireOffer(db, actor.org_id, body.offer_id)
  if (body.ad_account_id !== now.ad_account_id) await requireAdAccount(db, actor.org_id, body.ad_account_id)
  const row = await changeCampaign(db, actor.org_id, now.id, {
    ...(body.name === undefined ? {} : { name: body.name }),
    ...(body.destination === undefined ? {} : { destination: JSON.stringify(body.destination) }),
    ...(body.offer_id === undefined ? {} : { offer_id: body.offer_id }),
    ...(body.fallback_url === undefined ? {} : { fallback_url: body.fallback_url }),
    ...(body.ad_account_id === undefined ? {} : { ad_account_id: body.ad_account_id }),
    ...(body.source === undefined ? {} : { source: sourceText(body.source) }),
    ...(body.strict_filter == null ? {} : { strict_filter: body.strict_filter }),
  })
  return addressed(context)(row)
}

/** Deletes softly: the address goes to the fallback and stores nothing, reports and late conversions go on. */
export async function deleteCampaign(
  context: Context<typeof api.deleteCampaign>,
  { params }: Call<typeof api.deleteCampaign>,
) {
  const { db, actor } = context
  const { id } = await campaignOf(db, actor.org_id, idOf(params.id))
  requireScope(actor, id)
  await changeCampaign(db, actor.org_id, id, { deleted_at: new Date().toISOString() })
  return { ok: true as const }
}

type Changes = Updateable<Tables['campaigns']>

/** Writes the changes to a live campaign, tells every process and answers the row. Refuses `object_not_found`. */
async function changeCampaign(db: Kysely<Tables>, org_id: number, id: string, changes: Changes): Promise<Row> {
  const row = await db
    .updateTable('campaigns')
    .set({ ...changes, updated_at: new Date().toISOString() })
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returning(COLUMNS)
    .$castTo<Row>()
    .executeTakeFirst()
  if (row === undefined) refuse('object_not_found')
  await announceChange(db, org_id, id)
  return row
}

/**
 * Refuses `invalid_request` with "no such campaign" unless the organization has it, and `campaign_scope_forbidden` where the actor is
 * restricted to others; for rooms whose rows name a campaign. Another organization's campaign is as if it were not there.
 */
export async function requireCampaign(
  { db, actor }: Pick<Context<typeof api.createCampaign>, 'db' | 'actor'>,
  id: string,
): Promise<void> {
  const found = await live(db, actor.org_id).select('id').where('id', '=', id).executeTakeFirst()
  if (found === undefined) refuse('invalid_request', { error: 'campaign_id: no such campaign' })
  requireScope(actor, id)
}

/**
 * Refuses `campaign_scope_forbidden` unless the actor may act on every campaign that leads to the object. One that no campaign
 * leads to is anybody's who has the right: nothing outside the list changes with it.
 */
export async function requireScopeOfAll(
  { db, actor }: Pick<Context<typeof api.createCampaign>, 'db' | 'actor'>,
  type: 'funnel' | 'click_flow',
  id: string,
): Promise<void> {
  const campaigns = await live(db, actor.org_id).select('id').where(leadsTo(type, id)).execute()
  if (!campaigns.every(campaign => isInScope(actor, campaign.id)))
    refuse('campaign_scope_forbidden', {
      hint: `The ${type.replace('_', ' ')} carries traffic of a campaign that this key does not list. It needs all that lead there.`,
    })
}

const leadsTo = (type: 'funnel' | 'click_flow', id: string) =>
  sql<boolean>`destination->>'type' = ${type} and destination->>${`${type}_id`} = ${id}`

const live = (db: Kysely<Tables>, org_id: number) =>
  db.selectFrom('campaigns').where('org_id', '=', org_id).where('deleted_at', 'is', null)

async function campaignOf(db: Kysely<Tables>, org_id: number, id: string): Promise<Row> {
  const row = await live(db, org_id).select(COLUMNS).where('id', '=', id).$castTo<Row>().executeTakeFirst()
  return row ?? refuse('object_not_found')
}

// Without letters and digits that people mistake for each other.
const KEY_LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789'
const KEY_LENGTH = 8
const newKey = () => Array.from({ length: KEY_LENGTH }, () => KEY_LETTERS[randomInt(KEY_LETTERS.length)]).join('')

/** Reserves the wanted key, or a free random one, for the campaign. Refuses `already_exists`. */
async function takeKey(db: Transaction<Tables>, org_id: number, campaign_id: string, wanted?: string): Promise<string> {
  const key = wanted ?? newKey()
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('campaign_keys')
    .values({ key, org_id, campaign_id })
    .onConflict(on => on.doNothing())
    .executeTakeFirst()
  if (numInsertedOrUpdatedRows === 1n) return key
  if (wanted !== undefined)
    refuse('already_exists', { error: 'key: is taken', hint: 'Choose another key, or leave it out for a random one.' })
  return takeKey(db, org_id, campaign_id)
}

function sourceText(source: api.CampaignDraft['source']): string {
  return JSON.stringify(Object.fromEntries(Object.entries(source ?? {}).filter(([, parameter]) => parameter != null)))
}

/** What a campaign leads to must be there; of click flows also those that are not published yet; one that is archived may only stay. */
async function requireDestination(
  db: Kysely<Tables>,
  org_id: number,
  destination: api.CampaignDraft['destination'],
  before?: Row['destination'],
): Promise<void> {
  if (destination.type === 'click_flow') {
    const isKept = before?.type === 'click_flow' && before.click_flow_id === destination.click_flow_id
    return await requireFlow(db, org_id, destination.click_flow_id, isKept)
  }
  if (destination.type !== 'funnel') return
  const funnel = await db
    .selectFrom('funnels')
    .select('id')
    .where('org_id', '=', org_id)
    .where('id', '=', destination.funnel_id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (funnel === undefined) refuse('invalid_request', { error: 'destination.funnel_id: no such funnel' })
}

async function requireFlow(db: Kysely<Tables>, org_id: number, id: string, isKept: boolean): Promise<void> {
  const flow = await db
    .selectFrom('click_flows')
    .select('status')
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (flow === undefined) refuse('invalid_request', { error: 'destination.click_flow_id: no such click flow' })
  if (flow.status === 'archived' && !isKept)
    refuse('invalid_request', {
      error: 'destination.click_flow_id: the click flow is archived',
      hint: 'Pause or publish it first.',
    })
}

async function requireAdAccount(db: Kysely<Tables>, org_id: number, id: string | null | undefined): Promise<void> {
  if (id == null) return
  const account = await db
    .selectFrom('ad_accounts')
    .select('id')
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (account === undefined) refuse('invalid_request', { error: 'ad_account_id: no such ad account' })
}

async function requireOffer(db: Kysely<Tables>, org_id: number, id: string | null | undefined): Promise<void> {
  if (id == null) return
  const offer = await db
    .selectFrom('offers')
    .select('status')
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (offer === undefined) refuse('invalid_request', { error: 'offer_id: no such offer' })
  if (offer.status !== 'active')
    refuse('invalid_request', { error: 'offer_id: the offer is archived', hint: 'Unarchive it first.' })
}
