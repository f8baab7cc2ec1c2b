/**
 * Offers: an address and a payout. An offer belongs to the whole organization, so a key's list of campaigns does not restrict who may change it.
 * Owns `offers`. Deletion is soft: clicks keep their offer, and their late conversions earn its payout.
 */
import { isDeepStrictEqual } from 'node:util'
import { CompiledQuery, type Kysely, sql } from 'kysely'
import { dayOf } from '../../contract/days.ts'
import type { Call } from '../../contract/endpoint.ts'
import { EVENT_TYPES } from '../../contract/event-types.ts'
import { toSixPlaces } from '../../contract/fields.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { addressWarnings, type Warning } from '../../contract/warnings.ts'
import { createOnce } from '../../ground/create-once.ts'
import { newestFirstFile } from '../../ground/db/list-file.ts'
import { nameHolds, newestFirst, picked, type Wanted } from '../../ground/db/lists.ts'
import { undelete } from '../../ground/db/undelete.ts'
import { hasTag, noteDeed, tagsDeed } from '../../ground/db/labels.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { readMoment } from '../../money/billing/balance.ts'
import { sourceOrder, readRates } from '../../money/rates/rate-of-day.ts'
import { wantRates } from '../../money/rates/wanted.ts'
import { previewOf, unknownMacros } from '../addresses/preview.ts'
import { announceChange } from '../campaigns/live.ts'
import { campaignsOnFallback } from '../campaigns/on-fallback.ts'
import { OFFERS_OF_CAMPAIGNS } from '../event-settings/offers-of-campaigns.ts'
import * as api from './api.ts'

const COLUMNS = [
  'id',
  'name',
  'url',
  'payout',
  'payout_currency',
  'payout_types',
  'status',
  'tag_ids',
  'note',
  'created_at',
  'updated_at',
] as const

/** Offers of the organization, newest first, including archived ones unless `status` says otherwise. */
export async function listOffers(
  { db, actor }: Context<typeof api.listOffers>,
  { query }: Call<typeof api.listOffers>,
) {
  const { data, next_cursor } = await newestFirst(listed(db, actor.org_id, query), query)
  return { data: await withCampaigns(db, actor.org_id, data), next_cursor }
}

/** The listed offers as a CSV file. Refuses `too_many_lines`. */
export async function exportOffers(
  { db, actor }: Context<typeof api.exportOffers>,
  { body }: Call<typeof api.exportOffers>,
) {
  const rows = listed(db, actor.org_id, picked(body))
  return await newestFirstFile(api.Offer, rows, found => withCampaigns(db, actor.org_id, found))
}

function listed(
  db: Kysely<Tables>,
  org_id: number,
  { ids, q, tag_id, status }: Wanted<Call<typeof api.listOffers>['query']>,
) {
  let rows = live(db, org_id).select(COLUMNS)
  if (ids !== undefined) rows = rows.where('id', 'in', ids)
  if (q) rows = rows.where(nameHolds(q))
  if (status !== undefined) rows = rows.where('status', '=', status)
  if (tag_id !== undefined) rows = rows.where(hasTag(tag_id))
  return rows.$castTo<OfferRow>()
}

/** One offer. Refuses `object_not_found`. */
export async function readOffer({ db, actor }: Context<typeof api.readOffer>, { params }: Call<typeof api.readOffer>) {
  const found = live(db, actor.org_id).select(COLUMNS).where('id', '=', idOf(params.id)).$castTo<OfferRow>()
  const [offer] = await withCampaigns(db, actor.org_id, await found.execute())
  return offer ?? refuse('object_not_found')
}

/** Creates an active offer. */
export async function createOffer(context: Context<typeof api.createOffer>, { body }: Call<typeof api.createOffer>) {
  const { db, actor } = context
  const { org_id } = actor
  const now = await readMoment(db, org_id)
  const created = { org_id, id: newId(), ...columnsOf(body), status: 'active', created_at: now, updated_at: now }
  const id = await db
    .transaction()
    .execute(trx =>
      createOnce(trx, context, { table: 'offers', id: created.id, body }, () =>
        trx.insertInto('offers').values(created).execute(),
      ),
    )
  await announceChange(db, org_id, id)
  const offer = await live(db, org_id)
    .select(COLUMNS)
    .where('id', '=', id)
    .$castTo<OfferRow>()
    .executeTakeFirstOrThrow()
  return { ...describeOffer(offer, NONE), warnings: await warningsOn(context, body, null) }
}

/** A preview of the address with sample values. */
export function previewOffer(_context: Context<typeof api.previewOffer>, { body }: Call<typeof api.previewOffer>) {
  return previewOf(body.url)
}

/** Replaces all fields except the status, which needs another right. Fields that are not sent are cleared. */
export async function replaceOffer(
  context: Context<typeof api.replaceOffer>,
  { params, body }: Call<typeof api.replaceOffer>,
) {
  const { offer, before } = await changeOffer(context.db, context.actor.org_id, params.id, columnsOf(body))
  return { ...offer, warnings: await warningsOn(context, body, before) }
}

/** Archives or unarchives. An archived offer gets no new clicks and cannot be chosen anew. */
export async function setOfferStatus(
  context: Context<typeof api.setOfferStatus>,
  { params, body }: Call<typeof api.setOfferStatus>,
) {
  const { db, actor } = context
  const { offer, before } = await changeOffer(db, actor.org_id, params.id, { status: body.status })
  const isClosed = before.status === 'active' && offer.status === 'archived'
  return { ...offer, campaigns_on_fallback: isClosed ? await campaignsOnFallback(context, 'offer', offer.id) : [] }
}

/** Deletes softly. Campaigns and funnels send its visitors elsewhere, as for an archived offer. */
export async function deleteOffer(context: Context<typeof api.deleteOffer>, { params }: Call<typeof api.deleteOffer>) {
  const { db, actor } = context
  const { id, status } = (await changeOffer(db, actor.org_id, params.id, 'deleted')).before
  const campaigns_on_fallback = status === 'active' ? await campaignsOnFallback(context, 'offer', id) : []
  return { ok: true as const, id, campaigns_on_fallback }
}

type WriteContext = Pick<Context<typeof api.createOffer>, 'database' | 'config' | 'actor'>

/** The warnings after a write: unknown macros, a missing rate of the payout's currency, and what the write cleared of the offer `before`. */
async function warningsOn({ database, config, actor }: WriteContext, draft: api.OfferDraft, before: OfferRow | null) {
  const { url, payout_currency: currency } = draft
  const cleared = before === null ? [] : clearedWarnings(draft, before)
  const warnings = [...addressWarnings('url', url, unknownMacros(url)), ...cleared]
  if (currency === null) return warnings
  const pool = database.reads
  await wantRates({ pool, config })
  const place = { currency, day: dayOf(Date.now()) }
  const rateOf = await readRates({ pool, order: sourceOrder(config) }, actor.org_id, [place])
  return rateOf(place) === undefined ? [...warnings, rateWarning(currency)] : warnings
}

const rateWarning = (currency: string): Warning => ({
  code: 'rate_unknown',
  field: 'payout_currency',
  message: `There is no rate for ${currency} today. Until there is one, conversions that use this payout are refused. Rates are fetched within a minute; otherwise set your own rate in Settings, Rates.`,
})

/** Fields that a replacement cleared because it did not send them. */
function clearedWarnings(draft: api.OfferDraft, before: OfferRow): Warning[] {
  const { payout, payout_currency, payout_types } = draft
  const { payout_currency: currency } = before
  const warnings: Warning[] = []
  if (payout === undefined && before.payout !== null)
    warnings.push({
      code: 'field_cleared',
      field: 'payout',
      message:
        'The offer had a payout and now has none, because none was sent. Conversions without a payout of their own earn nothing. Send all fields with each replacement.',
    })
  if (payout != null && payout_currency === null && currency !== null)
    warnings.push({
      code: 'payout_currency_cleared',
      field: 'payout_currency',
      message: `The payout was in ${currency} and is now in US dollars, because no payout_currency was sent. Send it with each replacement.`,
    })
  if (payout_types === undefined && before.payout_types.length > 0)
    warnings.push({
      code: 'field_cleared',
      field: 'payout_types',
      message:
        'The offer paid for some event types only and now pays for all, because none were sent. Send all fields with each replacement.',
    })
  return warnings
}

type OfferRow = Omit<api.Offer, 'unknown_macros' | 'campaigns'>

/** The offer with its campaigns and the unknown macros of its address. */
const describeOffer = (row: OfferRow, campaigns: api.Offer['campaigns']): api.Offer => ({
  ...row,
  campaigns,
  unknown_macros: unknownMacros(row.url),
})

const live = (db: Kysely<Tables>, org_id: number) =>
  db.selectFrom('offers').where('org_id', '=', org_id).where('deleted_at', 'is', null)

type Columns = Pick<Tables['offers'], 'name' | 'url' | 'payout' | 'payout_currency' | 'payout_types'>

const columnsOf = ({ name, url, payout, payout_currency, payout_types }: api.OfferDraft): Columns => ({
  name,
  url,
  payout: payout ?? null,
  payout_currency,
  payout_types: EVENT_TYPES.filter(type => payout_types?.includes(type)),
})

type Changes = Columns | Pick<Tables['offers'], 'status'> | 'deleted'

/** Writes the changes, and returns the offer and its row before. Equal values change nothing. Refuses `object_not_found`. */
async function changeOffer(
  db: Kysely<Tables>,
  org_id: number,
  id: string,
  changes: Changes,
): Promise<{ offer: api.Offer; before: OfferRow }> {
  const found = live(db, org_id).select(COLUMNS).where('id', '=', idOf(id)).$castTo<OfferRow>()
  const before = (await found.executeTakeFirst()) ?? refuse('object_not_found')
  const isChanged =
    changes === 'deleted' || !isDeepStrictEqual(comparable({ ...before, ...changes }), comparable(before))
  const row = isChanged ? await writeOffer(db, org_id, before.id, changes) : before
  const [offer = refuse('object_not_found')] = await withCampaigns(db, org_id, [row])
  return { offer, before }
}

/** Makes amounts comparable that differ only in trailing zeros. */
const comparable = <R extends Pick<Columns, 'payout'>>(row: R): R => ({
  ...row,
  payout: row.payout === null ? null : toSixPlaces(row.payout),
})

async function writeOffer(db: Kysely<Tables>, org_id: number, id: string, changes: Changes): Promise<OfferRow> {
  const now = await readMoment(db, org_id)
  const row = await db
    .updateTable('offers')
    .set({ ...(changes === 'deleted' ? { deleted_at: now } : changes), updated_at: now })
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returning(COLUMNS)
    .$castTo<OfferRow>()
    .executeTakeFirst()
  if (row === undefined) refuse('object_not_found')
  await announceChange(db, org_id, row.id)
  return row
}

const NONE: api.Offer['campaigns'] = { following: 0, own_address: 0, by_funnel: 0, by_click_flow: 0 }

const THROUGH_OTHERS = `
  select reached.offer_id, count(*) filter (where way = 'funnel')::int as by_funnel,
    count(*) filter (where way = 'click_flow')::int as by_click_flow
  from (${OFFERS_OF_CAMPAIGNS}) reached
  join campaigns c on c.org_id = $1 and c.id = reached.campaign_id
  where c.deleted_at is null and reached.offer_id = any($2::uuid[])
  group by reached.offer_id`
type ThroughOthers = { offer_id: string; by_funnel: number; by_click_flow: number }

/** The offers with the number of campaigns that lead to each. */
async function withCampaigns(db: Kysely<Tables>, org_id: number, offers: readonly OfferRow[]): Promise<api.Offer[]> {
  if (offers.length === 0) return []
  const ids = offers.map(({ id }) => id)
  const through = await db.executeQuery<ThroughOthers>(CompiledQuery.raw(THROUGH_OTHERS, [org_id, ids]))
  const direct = await db
    .selectFrom('campaigns')
    .select('offer_id')
    .select(sql<number>`(count(*) filter (where destination ->> 'offer_id' = offer_id::text))::int`.as('following'))
    .select(sql<number>`count(*)::int`.as('all'))
    .where('org_id', '=', org_id)
    .where('deleted_at', 'is', null)
    .where('offer_id', 'in', ids)
    .where(
      sql<boolean>`destination ->> 'type' = 'redirect' and destination -> 'telegram' is null and destination -> 'channel' is null`,
    )
    .groupBy('offer_id')
    .execute()
  return offers.map(offer => {
    const { following = 0, all = 0 } = direct.find(({ offer_id }) => offer_id === offer.id) ?? {}
    const { by_funnel = 0, by_click_flow = 0 } = through.rows.find(({ offer_id }) => offer_id === offer.id) ?? {}
    return describeOffer(offer, { following, own_address: all - following, by_funnel, by_click_flow })
  })
}

/** Takes back the deletion of an offer, for the history; traffic goes there again. False if it is not deleted. */
export async function restoreOffer(db: Kysely<Tables>, org_id: number, id: string): Promise<boolean> {
  const isRestored = await undelete(db, 'offers', { org_id, id, at: await readMoment(db, org_id) })
  await announceChange(db, org_id, id)
  return isRestored
}

export const setOfferTags = tagsDeed('offers')
export const setOfferNote = noteDeed('offers')
