// What the demo's organization runs: offers of networks, rules that tell its partners, and what a campaign on them is made of.

import type { EventType } from '../src/contract/event-types.ts'
import type { Graph } from '../src/traffic/click-flows/api.ts'
import type { Weighted } from './chance.ts'

export type DemoOffer = {
  name: string
  path: string
  payout: string
  payout_types: EventType[]
  /** The network reports its conversions by itself; else the advertiser sends them. */
  byNetwork?: true
}

/** Where the traffic of a campaign comes from, which decides the ids it carries and the devices it comes on. */
export type Origin = 'meta' | 'tiktok' | 'google' | 'push' | 'telegram'

/** The ad account as it stands in the organization, connected at `since` (Unix ms). */
export type PlacedAccount = { id: string; since: number }

/**
 * What visitors do, as chances of the step before: `landed` of the clicks, each event of the one in front of it. `payout` is a range that
 * the sender names with the event; without it the offer's counts. `again` is how many more of the event follow on average.
 */
export type Step = {
  type: EventType
  chance: number
  /** Mean time after the step before, in hours. */
  hours: number
  payout?: readonly [number, number]
  again?: number
  /** The sender names the person by their Telegram id. */
  telegram?: true
}

/** A page before the offer, and its part of the visitors. */
export type DemoLanding = { name: string; path: string; weight: number }

/** Pages and offers that share a campaign's visitors. */
export type DemoFunnel = { landings: readonly DemoLanding[]; offers: readonly (readonly [OfferName, weight: number])[] }

/** A click flow, in the versions that were published: each from so many days ago on. */
export type DemoFlow = {
  name: string
  landings: readonly { key: string; name: string; path: string }[]
  versions: readonly { from: number; graph: (idOf: IdOf) => Graph }[]
}
/** The ids that the nodes of a graph name: of a landing of the flow, of an offer, of the bot. */
export type IdOf = { landing: (key: string) => string; offer: (name: OfferName) => string; bot: string }

export type OfferName = keyof typeof OFFERS

export type DemoCampaign = {
  name: string
  key: string
  origin: Origin
  offer: OfferName
  /** Since its last day, where that is over. */
  status?: 'paused' | 'archived'
  /** Where it redirects to instead of following the offer. */
  ownAddress?: string
  /** Where its visitors come first, `app` being a Mini App of the bot, `channel` the title of one; without any the campaign leads to the offer. */
  leadsTo?: { funnel: DemoFunnel } | { flow: DemoFlow } | { app: string } | { channel: string }
  /** Its conversions go to the ad account also where the visitor came without the platform's click id. */
  namesAccount?: true
  /** Clicks on an ordinary day at full spend. */
  clicks: number
  /** First and last day it ran, counted back from today. */
  from: number
  to: number
  countries: Weighted<string>
  /** Its creatives or zones, as sub1. */
  subs: Weighted<string | null>
  cost_per_click: number
  /** Where each link says what its click costs: the zones that ask for several times the usual bid, and lose money. */
  dearZones?: readonly string[]
  /** Whether the spend is known per sub1. */
  splitSpend?: true
  /** Its last weeks' spend is what its account at the platform says, by the ads' ids in sub1. */
  readFromAccount?: true
  /** Billed by the week, of this zone: its spend is spread over the clicks. */
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
  // Worth as much as the other of its funnel: which of the two a visitor gets hangs on ids, and the money must not.
  flirt: { name: 'FlirtZone · SOI · CrakLane', path: 'flirtzone', payout: '3.2', payout_types: ['registration'] },
  vpn: { name: 'VPN Shield · trial to paid · SaaSReach', path: 'vpn-shield', payout: '18', payout_types: ['purchase'] },
  bot: { name: 'CoinPulse bot · deposit · direct', path: 'coinpulse', payout: '60', payout_types: ['deposit'] },
} as const satisfies Record<string, DemoOffer>

/** What the organization counts as a conversion, where a campaign's offer is not paid for something else. */
export const USUAL_GOAL: readonly EventType[] = ['ftd']
/** What it calls the events of its offers. */
export const EVENT_NAMES: Partial<Record<EventType, string>> = {
  purchase: 'Paid plan',
  subscription_renewed: 'Renewal',
}

/** Rules that call the tracker of a partner and a chat of the team; `.example` is a domain that never leads anywhere. */
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

/** The rule that tells the partner of purchases what became of them after they were recorded. */
export const TELLS_CHANGES = {
  event_type: 'purchase',
  url: 'https://tracker.partner.example/a1b2c3/postback?subid={ref_id}&status={status}&tid={event_id}&payout={revenue}&currency={currency}',
  preset: 'keitaro',
} as const
