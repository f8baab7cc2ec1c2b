/** Checks that the objects which a campaign refers to exist: destination, offer, ad account, traffic source, domain. Owns no table. */
import { isDeepStrictEqual } from 'node:util'
import type { Kysely } from 'kysely'
import { refuse } from '../../contract/refusals.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Context } from '../../ground/room.ts'
import { requireDomain } from '../domains/addresses.ts'
import type * as api from './api.ts'
import {
  type DestinationAndOffer,
  isFollowing,
  storedBotDestination,
  storedChannelDestination,
  type StoredDestination,
} from './destination.ts'

type SentFields = { readonly [F in 'destination' | 'offer_id']?: api.CampaignDraft[F] | undefined }

/**
 * The destination and offer to store for a change; fields that stay are left out. If a campaign leads to its offer, sending another `offer_id`
 * alone changes the destination too. Refuses `invalid_request` for an object that does not exist, and for an `offer_id` that differs from the
 * offer of the destination.
 */
export async function checkedDestination(
  db: Kysely<Tables>,
  org_id: number,
  { destination, offer_id }: SentFields,
  before?: DestinationAndOffer,
): Promise<Partial<DestinationAndOffer>> {
  const followed = before !== undefined && isFollowing(before) ? before.offer_id : null
  if (destination?.type === 'offer') {
    if (offer_id != null && offer_id !== destination.offer_id)
      refuse('invalid_request', {
        error: 'offer_id: is another offer than the destination',
        hint: 'Leave it out: clicks are credited to the offer that they lead to.',
      })
    return destination.offer_id === followed
      ? {}
      : await toOffer(db, org_id, destination.offer_id, before, 'destination.offer_id')
  }
  if (destination === undefined && followed !== null && offer_id !== undefined && offer_id !== followed) {
    if (offer_id !== null) return await toOffer(db, org_id, offer_id, before, 'offer_id')
    refuse('invalid_request', {
      error: 'offer_id: the campaign leads to this offer',
      hint: 'Send another destination with it, such as {"type": "redirect", "url": …}.',
    })
  }
  const stored =
    destination === undefined ? undefined : await requireDestination(db, org_id, destination, before?.destination)
  if (offer_id !== before?.offer_id) await requireOffer(db, org_id, offer_id)
  return { ...(stored === undefined ? {} : { destination: stored }), ...(offer_id === undefined ? {} : { offer_id }) }
}

async function toOffer(
  db: Kysely<Tables>,
  org_id: number,
  id: string,
  before: DestinationAndOffer | undefined,
  field: string,
): Promise<DestinationAndOffer> {
  const url = await requireOffer(db, org_id, id, { isKept: before?.offer_id === id, field })
  return { destination: { type: 'redirect', url, offer_id: id }, offer_id: id }
}

/**
 * The stored form of a destination. Refuses `invalid_request` if it does not exist, or if it is an archived click flow that the campaign does
 * not have already. Click flows that were never published are allowed.
 */
async function requireDestination(
  db: Kysely<Tables>,
  org_id: number,
  destination: Exclude<api.CampaignDraft['destination'], { type: 'offer' }>,
  before?: StoredDestination,
): Promise<StoredDestination> {
  if (destination.type === 'bot' || destination.type === 'mini_app')
    return storedBotDestination(await requireBot(db, org_id, destination.bot_id), destination)
  if (destination.type === 'channel')
    return storedChannelDestination(await requireChannel(db, org_id, destination.channel_id), destination, before)
  if (destination.type === 'click_flow') {
    const isKept = before?.type === 'click_flow' && before.click_flow_id === destination.click_flow_id
    await requireFlow(db, org_id, destination.click_flow_id, isKept)
  }
  if (destination.type === 'funnel') await requireFunnel(db, org_id, destination.funnel_id)
  return destination
}

async function requireFunnel(db: Kysely<Tables>, org_id: number, id: string): Promise<void> {
  const funnel = await db
    .selectFrom('funnels')
    .select('id')
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (funnel === undefined) refuse('invalid_request', { error: 'destination.funnel_id: no such funnel' })
}

/** The username of the bot. */
async function requireBot(db: Kysely<Tables>, org_id: number, id: string): Promise<string> {
  const bot = await db
    .selectFrom('bots')
    .select('username')
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return bot?.username ?? refuse('invalid_request', { error: 'destination.bot_id: no such bot' })
}

/** The username of the channel; null for a private one. */
async function requireChannel(db: Kysely<Tables>, org_id: number, id: string): Promise<string | null> {
  const channel = await db
    .selectFrom('channels')
    .select('username')
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (channel === undefined) refuse('invalid_request', { error: 'destination.channel_id: no such channel' })
  return channel.username
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

/** Refuses `invalid_request` unless the ad account exists. Call it between conversions, where accounts are disconnected too, so that it cannot disappear meanwhile. */
export async function requireAdAccount(
  db: Kysely<Tables>,
  org_id: number,
  id: string | null | undefined,
): Promise<void> {
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

/** Refuses `invalid_request` unless the traffic source exists. Call it between conversions, where sources are deleted too, so that it cannot disappear meanwhile. */
export async function requireTrafficSource(
  db: Kysely<Tables>,
  org_id: number,
  id: string | null | undefined,
): Promise<void> {
  if (id == null) return
  const source = await db
    .selectFrom('traffic_sources')
    .select('id')
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (source === undefined) refuse('invalid_request', { error: 'traffic_source_id: no such traffic source' })
}

type SessionFields = Partial<Pick<api.CampaignDraft, 'domain_id' | 'sites' | 'browser_types'>>

/**
 * Refuses `api_key_resource_forbidden` for an API key that changes a field that only people change, and `invalid_request` for a domain that does not
 * exist or does not lead here. `stored` is left out for a new campaign.
 */
export async function requireSessionFields(
  db: Kysely<Tables>,
  actor: Pick<Context<typeof api.createCampaign>['actor'], 'kind' | 'org_id'>,
  sent: SessionFields,
  stored: SessionFields = {},
): Promise<void> {
  const isChanged = (field: 'sites' | 'browser_types') =>
    sent[field] !== undefined && !isDeepStrictEqual(sent[field] ?? [], stored[field] ?? [])
  const isOtherDomain = sent.domain_id !== undefined && sent.domain_id !== (stored.domain_id ?? null)
  const changed = isOtherDomain ? 'domain_id' : (['sites', 'browser_types'] as const).find(isChanged)
  if (changed !== undefined && actor.kind === 'key')
    refuse('api_key_resource_forbidden', { error: `${changed}: no API key can change this` })
  if (isOtherDomain) await requireDomain(db, actor.org_id, sent.domain_id ?? null)
}

/** The address of the offer, empty for none. Refuses `invalid_request` if it does not exist, or is archived and not `isKept`. */
async function requireOffer(
  db: Kysely<Tables>,
  org_id: number,
  id: string | null | undefined,
  { isKept = false, field = 'offer_id' } = {},
): Promise<string> {
  if (id == null) return ''
  const offer = await db
    .selectFrom('offers')
    .select(['status', 'url'])
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (offer === undefined) refuse('invalid_request', { error: `${field}: no such offer` })
  if (offer.status !== 'active' && !isKept)
    refuse('invalid_request', { error: `${field}: the offer is archived`, hint: 'Unarchive it first.' })
  return offer.url
}
