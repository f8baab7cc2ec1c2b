/** What a campaign names must be there when it is named: what it leads to, its offer, its ad account, its traffic source. Owns no table. */
import type { Kysely } from 'kysely'
import { refuse } from '../../contract/refusals.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Context } from '../../ground/room.ts'
import { requireDomain } from '../domains/addresses.ts'
import type * as api from './api.ts'
import { intoChannel, intoTelegram, isFollowing, type Leading, type StoredDestination } from './destination.ts'

type Sent = { readonly [F in 'destination' | 'offer_id']?: api.CampaignDraft[F] | undefined }

/**
 * What a change of destination or offer comes to; what is left out stays. A campaign that leads to an offer names that offer, so another
 * offer alone moves it there. Refuses `invalid_request` for what is not there, and for an offer beside another one as destination.
 */
export async function ledTo(
  db: Kysely<Tables>,
  org_id: number,
  { destination, offer_id }: Sent,
  before?: Leading,
): Promise<Partial<Leading>> {
  const followed = before !== undefined && isFollowing(before) ? before.offer_id : null
  if (destination?.type === 'offer') {
    if (offer_id != null && offer_id !== destination.offer_id)
      refuse('invalid_request', {
        error: 'offer_id: is another offer than the destination',
        hint: 'Leave it out: clicks earn for the offer they are led to.',
      })
    return destination.offer_id === followed
      ? {}
      : await towards(db, org_id, destination.offer_id, before, 'destination.offer_id')
  }
  if (destination === undefined && followed !== null && offer_id !== undefined && offer_id !== followed) {
    if (offer_id !== null) return await towards(db, org_id, offer_id, before, 'offer_id')
    refuse('invalid_request', {
      error: 'offer_id: the campaign leads to this offer',
      hint: 'Send another destination with it, such as {"type": "redirect", "url": …}.',
    })
  }
  const led =
    destination === undefined ? undefined : await requireDestination(db, org_id, destination, before?.destination)
  if (offer_id !== before?.offer_id) await requireOffer(db, org_id, offer_id)
  return { ...(led === undefined ? {} : { destination: led }), ...(offer_id === undefined ? {} : { offer_id }) }
}

async function towards(
  db: Kysely<Tables>,
  org_id: number,
  id: string,
  before: Leading | undefined,
  field: string,
): Promise<Leading> {
  const url = await requireOffer(db, org_id, id, { isKept: before?.offer_id === id, field })
  return { destination: { type: 'redirect', url, offer_id: id }, offer_id: id }
}

/**
 * What a campaign leads to must be there; of click flows also those that are not published yet; one that is archived may only stay.
 * Answers it as it is stored; refuses `invalid_request`.
 */
async function requireDestination(
  db: Kysely<Tables>,
  org_id: number,
  destination: Exclude<api.CampaignDraft['destination'], { type: 'offer' }>,
  before?: StoredDestination,
): Promise<StoredDestination> {
  if (destination.type === 'bot' || destination.type === 'mini_app')
    return intoTelegram(await requireBot(db, org_id, destination.bot_id), destination)
  if (destination.type === 'channel')
    return intoChannel(await requireChannel(db, org_id, destination.channel_id), destination, before)
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

/** The name of a bot that is there. */
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

/** The name of a channel that is there, null for a private one. */
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

/** Refuses `invalid_request` for an ad account that is not there. Asked between conversions: it is disconnected there too, and not meanwhile. */
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

/** Refuses `invalid_request` for a traffic source that is not there. Asked between conversions: it is deleted there too, and not meanwhile. */
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

/**
 * Refuses `invalid_request` for a domain that is not there or leads elsewhere, and `api_key_resource_forbidden` for a key that sends another
 * one than stands there: on which name links are shown is for people to say.
 */
export async function requireDomainChange(
  db: Kysely<Tables>,
  actor: Pick<Context<typeof api.createCampaign>['actor'], 'kind' | 'org_id'>,
  sent: string | null | undefined,
  stored: string | null,
): Promise<void> {
  if (sent === undefined || sent === stored) return
  if (actor.kind === 'key') refuse('api_key_resource_forbidden', { error: 'domain_id: no API key can change this' })
  await requireDomain(db, actor.org_id, sent)
}

/** Refuses `invalid_request` for an offer that is not there or archived, unless it `isKept`; answers its address, empty for none. */
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
