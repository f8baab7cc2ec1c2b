// The demo's offers, postback rules, and the types of its campaigns.

import type { EventType } from '../src/contract/event-types.ts'
import type { Graph } from '../src/traffic/click-flows/api.ts'
import type { Weighted } from './chance.ts'

export type DemoOffer = {
  name: string
  path: string
  payout: string
  payout_types: EventType[]
  /** The network reports its conversions; else the advertiser does. */
  byNetwork?: true
}

/** The origin of a campaign's traffic, which decides click ids and devices. */
export type Origin = 'meta' | 'tiktok' | 'google' | 'push' | 'telegram'

/** The organization's ad account, connected at `since` (Unix ms). */
export type PlacedAccount = { id: string; since: number }

/**
 * A step of visitors, as a share of the step before: `landed` of the clicks, each event of the previous one. `payout` is the range of the
 * sender's payouts; without it the offer's payout counts. `again` is the mean number of further events.
 */
export type Step = {
  type: EventType
  chance: number
  /** Mean time after the step before, in hours. */
  hours: number
  payout?: readonly [number, number]
  again?: number
  /** The sender sends the person's Telegram id. */
  telegram?: true
}

/** A page before the offer, and its weight. */
export type DemoLanding = { name: string; path: string; weight: number }

/** The landings and offers of a campaign's visitors. */
export type DemoFunnel = { landings: readonly DemoLanding[]; offers: readonly (readonly [OfferName, weight: number])[] }

/** A click flow with its published versions, each from so many days ago on. */
export type DemoFlow = {
  name: string
  landings: readonly { key: string; name: string; path: string }[]
  versions: readonly { from: number; graph: (idOf: IdOf) => Graph }[]
}
/** The ids for the nodes of a graph: of a landing, of an offer, of the bot. */
export type IdOf = { landing: (key: string) => string; offer: (name: OfferName) => string; bot: string }

export type OfferName = keyof typeof OFFERS

export type DemoCampaign = {
  name: string
  key: string
  origin: Origin
  offer: OfferName
  /** Since its last day, if that is over. */
  status?: 'paused' | 'archived'
  /** The address of its redirect, instead of the offer's address. */
  ownAddress?: string
  /** Its destination: `app` is a Mini App of the bot, `channel` a channel's title; without any of them it is the offer. */
  leadsTo?: { funnel: DemoFunnel } | { flow: DemoFlow } | { app: string } | { channel: string }
  /** Hosts whose pages count visits of it without a redirect. */
  sites?: readonly string[]
  /** It names the ad account, so that conversions without the platform's click id are reported too. */
  namesAccount?: true
  /** Clicks on an ordinary day at full spend. */
  clicks: number
  /** Its first and last day, counted back from today. */
  from: number
  to: number
  countries: Weighted<string>
  /** Its creatives or zones, as sub1. */
  subs: Weighted<string | null>
  cost_per_click: number
  /** For links with a cost: the zones that bid several times as much and lose money. */
  dearZones?: readonly string[]
  /** Whether the spend is known per sub1. */
  splitSpend?: true
  /** The spend of its last weeks comes from the spend account, by the ads' ids in sub1. */
  readFromAccount?: true
  /** Billed by the week of this time zone: the bill is spread over the clicks. */
  billedIn?: string
  landed: number
  steps: readonly Step[]
}

export const OFFERS = {
  spin: {
    name: 'Royal Spin Casino · FTD · AffMine',
    path: 'royal-spin',
    payout: '85',
    payout_types: ['ftd'],
    byNetwork: true,
  },
  bet: { name: 'LuckyBet Sports · FTD · GamblePartners', path: 'luckybet', payout: '110', payout_types: ['ftd'] },
  keto: { name: 'Keto Prime · COD lead · LeadHub', path: 'keto-prime', payout: '14.5', payout_types: ['lead'] },
  solar: { name: 'SolarSave quote · CPL · Leadrocket', path: 'solarsave', payout: '32', payout_types: ['lead'] },
  dating: { name: 'NearMe Dating · SOI · CrakLane', path: 'nearme', payout: '3.2', payout_types: ['registration'] },
  // With the same payout as the funnel's other offer, because ids decide which one a visitor gets, and the revenue must not depend on ids.
  flirt: { name: 'FlirtZone · SOI · CrakLane', path: 'flirtzone', payout: '3.2', payout_types: ['registration'] },
  vpn: { name: 'VPN Shield · trial to paid · SaaSReach', path: 'vpn-shield', payout: '18', payout_types: ['purchase'] },
  bot: { name: 'CoinPulse bot · deposit · direct', path: 'coinpulse', payout: '60', payout_types: ['deposit'] },
} as const satisfies Record<string, DemoOffer>

/** The workspace's goal, for campaigns whose offer is not paid for another type. */
export const USUAL_GOAL: readonly EventType[] = ['ftd']
/** Its names of event types. */
export const EVENT_NAMES: Partial<Record<EventType, string>> = {
  purchase: 'Paid plan',
  subscription_renewed: 'Renewal',
}

/** Rules that call a partner's tracker and the team's chat; `.example` domains never exist. */
export const RULES: readonly { event_type: EventType; url: string; preset: string; campaign?: string }[] = [
  {
    event_type: 'ftd',
    url: 'https://tracker.partner.example/a1b2c3/postback?subid={ref_id}&status={event_type}&tid={event_id}&payout={revenue}&currency={currency}',
    preset: 'keitaro',
  },
  {
    event_type: 'lead',
    url: 'https://crm.leadhub.example/click.php?cnv_id={ref_id}&cnv_status={event_type}&click={click_id}',
    preset: 'binom',
    campaign: 'keto-cee-push',
  },
  {
    event_type: 'deposit',
    url: 'https://hooks.team.example/deposit?click={click_id}&creative={sub1}',
    preset: 'custom',
  },
]

/** The rule that reports later status changes of purchases to the partner. */
export const TELLS_CHANGES = {
  event_type: 'purchase',
  url: 'https://tracker.partner.example/a1b2c3/postback?subid={ref_id}&status={status}&tid={event_id}&payout={revenue}&currency={currency}',
  preset: 'keitaro',
} as const
