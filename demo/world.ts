// What the demo's organization runs: offers of networks, and the campaigns a media buyer would have on them in one quarter.
import type { EventType } from '../src/contract/event-types.ts'
import type { Weighted } from './chance.ts'

export type DemoOffer = { name: string; path: string; payout: string; payout_types: EventType[] }

/** Where the traffic of a campaign comes from, which decides the ids it carries and the devices it comes on. */
export type Origin = 'meta' | 'tiktok' | 'google' | 'push' | 'telegram'

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

export type DemoCampaign = {
  name: string
  key: string
  origin: Origin
  offer: keyof typeof OFFERS
  /** Pages before the offer; without any the campaign redirects to it. */
  landings?: readonly DemoLanding[]
  /** Clicks on an ordinary day at full spend. */
  clicks: number
  /** First and last day it ran, counted back from today. */
  from: number
  to: number
  countries: Weighted<string>
  /** Its creatives or zones, as sub1. */
  subs: Weighted<string | null>
  cost_per_click: number
  /** Whether the spend is known per sub1. */
  splitSpend?: true
  landed: number
  steps: readonly Step[]
}

export const OFFERS = {
  spin: { name: 'Royal Spin Casino · FTD · AffMine', path: 'royal-spin', payout: '85', payout_types: ['ftd'] },
  bet: { name: 'LuckyBet Sports · FTD · GamblePartners', path: 'luckybet', payout: '110', payout_types: ['ftd'] },
  keto: { name: 'Keto Prime · COD lead · LeadHub', path: 'keto-prime', payout: '14.5', payout_types: ['lead'] },
  solar: { name: 'SolarSave quote · CPL · Leadrocket', path: 'solarsave', payout: '32', payout_types: ['lead'] },
  dating: { name: 'NearMe Dating · SOI · CrakLane', path: 'nearme', payout: '3.2', payout_types: ['registration'] },
  vpn: { name: 'VPN Shield · trial to paid · SaaSReach', path: 'vpn-shield', payout: '18', payout_types: ['purchase'] },
  bot: { name: 'CoinPulse bot · deposit · direct', path: 'coinpulse', payout: '60', payout_types: ['deposit'] },
} as const satisfies Record<string, DemoOffer>

const casino = (registered: number, first: number): Step[] => [
  { type: 'registration', chance: registered, hours: 0.3 },
  { type: 'ftd', chance: first, hours: 9 },
  { type: 'deposit', chance: 0.55, hours: 60, payout: [4, 38], again: 1.1 },
]
const lead = (chance: number): Step[] => [{ type: 'lead', chance, hours: 0.2 }]

const creatives = (prefix: string, ...weights: number[]): Weighted<string | null> => [
  ...weights.map((weight, at) => [`${prefix}_${String(at + 1).padStart(2, '0')}`, weight] as const),
  [null, 2],
]

export const CAMPAIGNS: readonly DemoCampaign[] = [
  {
    name: 'Meta · US · Keto Prime · Advantage+',
    key: 'keto-us-meta',
    origin: 'meta',
    offer: 'keto',
    clicks: 115,
    from: 89,
    to: 0,
    countries: [
      ['US', 94],
      ['CA', 4],
      ['PR', 2],
    ],
    subs: creatives('keto_video', 34, 27, 18, 9, 7, 3),
    cost_per_click: 0.58,
    landed: 0.71,
    steps: lead(0.082),
  },
  {
    name: 'Meta · US · Keto Prime · creative test',
    key: 'keto-us-test',
    origin: 'meta',
    offer: 'keto',
    clicks: 70,
    from: 89,
    to: 61,
    countries: [['US', 1]],
    subs: creatives('keto_static', 10, 10, 10, 10),
    cost_per_click: 0.74,
    landed: 0.66,
    steps: lead(0.051),
  },
  {
    name: 'Meta · DACH · SolarSave · lookalike 2 %',
    key: 'solar-dach',
    origin: 'meta',
    offer: 'solar',
    clicks: 84,
    from: 74,
    to: 0,
    countries: [
      ['DE', 78],
      ['AT', 14],
      ['CH', 8],
    ],
    subs: creatives('dach_lal2', 40, 31, 16, 11),
    cost_per_click: 0.91,
    landed: 0.78,
    steps: lead(0.059),
  },
  {
    name: 'TikTok · BR+MX · Royal Spin · UGC',
    key: 'spin-latam-tt',
    origin: 'tiktok',
    offer: 'spin',
    clicks: 160,
    from: 89,
    to: 0,
    countries: [
      ['BR', 61],
      ['MX', 31],
      ['CO', 5],
      ['AR', 3],
    ],
    subs: creatives('ugc', 30, 25, 22, 14, 9, 6, 4),
    cost_per_click: 0.16,
    splitSpend: true,
    landed: 0.58,
    steps: casino(0.088, 0.19),
  },
  {
    name: 'TikTok · ID+PH · NearMe · Spark Ads',
    key: 'nearme-sea-tt',
    origin: 'tiktok',
    offer: 'dating',
    landings: [
      { name: 'NearMe · quiz', path: 'nearme-quiz', weight: 70 },
      { name: 'NearMe · chat story', path: 'nearme-chat', weight: 30 },
    ],
    clicks: 130,
    from: 52,
    to: 0,
    countries: [
      ['ID', 55],
      ['PH', 38],
      ['MY', 7],
    ],
    subs: creatives('spark', 22, 21, 19, 12),
    cost_per_click: 0.09,
    splitSpend: true,
    landed: 0.64,
    steps: [{ type: 'registration', chance: 0.075, hours: 0.1 }],
  },
  {
    name: 'Google · UK · LuckyBet · generic + brand',
    key: 'luckybet-uk',
    origin: 'google',
    offer: 'bet',
    clicks: 62,
    from: 89,
    to: 0,
    countries: [
      ['GB', 96],
      ['IE', 4],
    ],
    subs: [
      ['football betting', 34],
      ['luckybet', 26],
      ['best odds today', 21],
      ['acca insurance', 12],
      [null, 7],
    ],
    cost_per_click: 1.85,
    landed: 0.86,
    steps: casino(0.14, 0.31),
  },
  {
    name: 'Google PMax · CA+AU · VPN Shield',
    key: 'vpn-pmax',
    origin: 'google',
    offer: 'vpn',
    clicks: 58,
    from: 66,
    to: 3,
    countries: [
      ['CA', 52],
      ['AU', 41],
      ['NZ', 7],
    ],
    subs: creatives('asset_group', 5, 4, 2),
    cost_per_click: 0.62,
    landed: 0.8,
    steps: [
      { type: 'registration', chance: 0.11, hours: 0.2 },
      { type: 'purchase', chance: 0.34, hours: 110 },
    ],
  },
  {
    name: 'PropellerAds push · IN+BD · Royal Spin',
    key: 'spin-push-in',
    origin: 'push',
    offer: 'spin',
    clicks: 235,
    from: 89,
    to: 0,
    countries: [
      ['IN', 82],
      ['BD', 13],
      ['LK', 5],
    ],
    subs: [
      ['zone-4481207', 26],
      ['zone-5120934', 22],
      ['zone-4770019', 18],
      ['zone-3992846', 15],
      ['zone-5340771', 9],
      ['zone-2284410', 6],
      ['zone-6001283', 4],
      [null, 1],
    ],
    cost_per_click: 0.018,
    landed: 0.37,
    steps: casino(0.034, 0.14),
  },
  {
    name: 'RichAds push · PL+CZ+RO · Keto Prime',
    key: 'keto-cee-push',
    origin: 'push',
    offer: 'keto',
    clicks: 140,
    from: 41,
    to: 0,
    countries: [
      ['PL', 58],
      ['RO', 24],
      ['CZ', 18],
    ],
    subs: [
      ['pub-1187', 31],
      ['pub-2093', 27],
      ['pub-0754', 20],
      ['pub-3316', 14],
      ['pub-4420', 8],
    ],
    cost_per_click: 0.041,
    landed: 0.46,
    steps: lead(0.028),
  },
  {
    name: 'Telegram Ads · UA+KZ+UZ · CoinPulse bot',
    key: 'coinpulse-tg',
    origin: 'telegram',
    offer: 'bot',
    clicks: 74,
    from: 58,
    to: 0,
    countries: [
      ['UA', 47],
      ['KZ', 31],
      ['UZ', 22],
    ],
    subs: [
      ['crypto_signals_uz', 33],
      ['obmen_kz', 28],
      ['finansy_ua', 25],
      ['invest_daily', 14],
    ],
    cost_per_click: 0.23,
    landed: 0.9,
    steps: [
      { type: 'bot_start', chance: 0.36, hours: 0.05, telegram: true },
      { type: 'registration', chance: 0.33, hours: 4, telegram: true },
      { type: 'deposit', chance: 0.21, hours: 40, telegram: true, again: 0.5 },
    ],
  },
]

/** Rules that call the tracker of a partner and a chat of the team; `.example` is a domain that never leads anywhere. */
export const RULES: readonly { event_type: EventType; url: string; preset: string; campaign?: string }[] = [
  {
    event_type: 'ftd',
    url: 'https://tracker.partner.example/a1b2c3/postback?subid={ref_id}&status={event_type}&tid={event_id}',
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
