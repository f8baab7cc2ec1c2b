// The demo's campaigns with their destinations, rules and networks: as rows, and in the form that traffic is drawn with.
import { decide, compiledCampaign } from '../src/intake/clicks/decide.ts'
import { costText, type StoredCost } from '../src/traffic/campaigns/cost.ts'
import {
  storedChannelDestination,
  storedBotDestination,
  type StoredDestination,
} from '../src/traffic/campaigns/destination.ts'
import type { LiveCampaign } from '../src/traffic/campaigns/live.ts'
import { placeAccount } from './ad-account.ts'
import { CAMPAIGNS } from './campaigns.ts'
import { letters } from './chance.ts'
import { type PlacedNetwork, placeNetwork } from './network.ts'
import { placeChannels } from './channels.ts'
import { BOT, type Founding, offerUrl, placeBot, placeFlow, placeFunnel, placeOffers, Standing } from './objects.ts'
import { NIL_ID } from '../src/contract/ids.ts'
import type { PlacedRule } from './outbox.ts'
import { placeSources } from './sources.ts'
import type { Place } from './traffic.ts'
import {
  type DemoCampaign,
  type DemoOffer,
  OFFERS,
  type OfferName,
  type PlacedAccount,
  RULES,
  TELLS_CHANGES,
  USUAL_GOAL,
} from './world.ts'

export type Workspace = {
  places: Place[]
  /** By id. */
  offers: Map<string, DemoOffer>
  rules: PlacedRule[]
  network: PlacedNetwork
  account: PlacedAccount
  /** The ids of all objects that affect traffic: campaigns and their destinations. */
  ids: string[]
}

/** Inserts everything that traffic runs on. */
export async function placeAll(founding: Founding): Promise<Workspace> {
  const standing = new Standing()
  const offerId = await placeOffers(founding, standing)
  const bot_id = await placeBot(founding, standing)
  const channelId = await placeChannels(founding, standing, bot_id)
  const network = await placeNetwork(founding)
  const account = await placeAccount(founding)
  const sourceId = await placeSources(founding, standing)
  const keys = await freeKeys(founding)
  const places: Place[] = []
  for (const campaign of CAMPAIGNS) {
    const destination = await placeDestination(founding, standing, campaign, { offerId, bot_id, channelId })
    const row = campaignRow(founding, campaign, {
      destination,
      key: keys.get(campaign.key) ?? '',
      // A funnel chooses the offer itself, and so does a flow whose paths all end at an offer.
      offer_id: destination.type === 'redirect' || campaign.offer === 'bot' ? offerId(campaign.offer) : null,
      ad_account_id: campaign.namesAccount === true ? account.id : null,
      traffic_source_id: campaign.origin === 'push' ? sourceId(campaign.name) : null,
    })
    await insertCampaign(founding, campaign, row)
    places.push(placeOf(campaign, row, standing, account))
  }
  const offers = new Map((Object.keys(OFFERS) as OfferName[]).map(name => [offerId(name), OFFERS[name]]))
  const ids = [...standing.ids, ...places.map(({ campaign_id }) => campaign_id)]
  return { places, offers, rules: await placeRules(founding, places), network, account, ids }
}

async function placeDestination(
  founding: Founding,
  standing: Standing,
  { name, offer, ownAddress, leadsTo }: DemoCampaign,
  {
    offerId,
    bot_id,
    channelId,
  }: {
    offerId: (name: OfferName) => string
    bot_id: string
    channelId: (title: string) => string
  },
): Promise<StoredDestination> {
  if (ownAddress !== undefined) return { type: 'redirect', url: ownAddress }
  if (leadsTo === undefined) return { type: 'redirect', url: offerUrl(offer), offer_id: offerId(offer) }
  if ('funnel' in leadsTo)
    return {
      type: 'funnel',
      funnel_id: await placeFunnel(founding, standing, { name, ...leadsTo.funnel }, offerId),
    }
  if ('app' in leadsTo)
    return storedBotDestination(BOT.username, {
      type: 'mini_app',
      bot_id,
      app: leadsTo.app,
      start: 'ads-{click_id}',
      open: 'page',
    })
  if ('channel' in leadsTo)
    return storedChannelDestination(null, { type: 'channel', channel_id: channelId(leadsTo.channel) }, undefined)
  const click_flow_id = await placeFlow(founding, standing, leadsTo.flow, { offer: offerId, bot: bot_id })
  return { type: 'click_flow', click_flow_id }
}

type Leading = Pick<LiveCampaign, 'destination' | 'key' | 'offer_id' | 'ad_account_id' | 'traffic_source_id'>

const LINK_COST: StoredCost = { model: 'link', amount: null, currency: 'USD', max: '1' }

function campaignRow({ org_id, nextId }: Founding, { origin, dearZones, sites = [] }: DemoCampaign, leading: Leading) {
  const source = sourceOf(origin)
  const fallback_url = 'https://offers.example/closed'
  const cost = dearZones === undefined ? null : LINK_COST
  return {
    org_id,
    id: nextId(),
    ...leading,
    fallback_url,
    source,
    strict_filter: false,
    cost,
    sites: [...sites],
    browser_types: [],
    status: 'active' as const,
  }
}

/** The parameters of clicks, and the template of the link, for campaigns without a traffic source. */
function sourceOf(origin: DemoCampaign['origin']): Readonly<Record<string, string>> {
  if (origin === 'push') return { ref_id: 'clickid', sub1: 'zoneid' }
  return origin === 'telegram' ? {} : { template: origin }
}

type CampaignRow = ReturnType<typeof campaignRow>

async function insertCampaign(
  { trx, org_id, times }: Founding,
  { name, offer, status = 'active' }: Pick<DemoCampaign, 'name' | 'offer'> & { status?: LiveCampaign['status'] },
  { destination, source, cost, ...row }: CampaignRow,
): Promise<void> {
  await trx
    .insertInto('campaigns')
    .values({
      ...row,
      name,
      status,
      destination: JSON.stringify(destination),
      source: JSON.stringify(source),
      cost: costText(cost),
      goal: goalOf(offer),
      ...times,
    })
    .execute()
  await trx.insertInto('campaign_keys').values({ org_id, campaign_id: row.id, key: row.key }).execute()
}

/** The offer's paid types; null if they are the workspace's goal anyway. */
function goalOf(offer: OfferName): string[] | null {
  const types: readonly string[] = OFFERS[offer].payout_types
  return types.join() === USUAL_GOAL.join() ? null : [...types]
}

function placeOf(campaign: DemoCampaign, row: CampaignRow, standing: Standing, account: PlacedAccount): Place {
  const traffic = compiledCampaign({ ...row, is_deleted: false, organization: { is_deleted: false } }, standing.at(0))
  const { destination } = row
  return {
    campaign,
    campaign_id: row.id,
    led_to: destination.type === 'redirect' ? destination.url : offerUrl(campaign.offer),
    channel_id: destination.type === 'redirect' ? destination.channel?.channel_id : undefined,
    account: campaign.namesAccount === true ? account : undefined,
    courseOf: guest => decide(traffic, standing.at(guest.ms), guest),
  }
}

/** The public key of each campaign, by its key in the catalogue, which another organization may have. */
async function freeKeys({ trx }: Founding): Promise<Map<string, string>> {
  const wanted = CAMPAIGNS.map(({ key }) => key)
  const rows = await trx.selectFrom('campaign_keys').select('key').where('key', 'in', wanted).execute()
  const taken = new Set(rows.map(({ key }) => key))
  const free = (key: string) => (taken.has(key) ? `${key}-${letters(Math.random, 5, '0123456789abcdef')}` : key)
  return new Map(wanted.map(key => [key, free(key)]))
}

async function placeRules(
  { trx, org_id, nextId, times: { created_at, updated_at } }: Founding,
  places: readonly Place[],
): Promise<PlacedRule[]> {
  const rules = RULES.map(({ campaign, ...rule }) => ({
    ...rule,
    id: nextId(),
    campaign_id: places.find(({ campaign: { key } }) => key === campaign)?.campaign_id ?? null,
  }))
  await trx
    .insertInto('postback_rules')
    .values(rules.map(rule => ({ org_id, method: 'GET', active: true, ...rule, created_at, updated_at: created_at })))
    .execute()
  // Made today, so that it has made no call yet. It shows on the screen what a rule can be called on.
  const told = { told_on: 'any_change', told_campaign_id: null, campaign_id: NIL_ID, method: 'GET', active: true }
  await trx
    .insertInto('postback_rules')
    .values({ org_id, id: nextId(), ...told, ...TELLS_CHANGES, created_at: updated_at, updated_at })
    .execute()
  return rules
}
