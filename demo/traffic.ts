// Ninety days of clicks and their conversions, drawn in memory without the database.

import { DAY_MS } from '../src/contract/days.ts'
import type { EventType } from '../src/contract/event-types.ts'
import { CLICKED, LANDED, rungOfEvent, stageOf } from '../src/contract/ladder.ts'
import type { StandingCounts } from '../src/intake/events/organization-state.ts'
import type { Click } from '../src/intake/clicks/click.ts'
import { mintClickId } from '../src/intake/clicks/click-id.ts'
import type { Course, Guest } from '../src/intake/clicks/course.ts'
import { noParameters, platformOf } from '../src/intake/clicks/parameters.ts'
import { drawAgent } from './agents.ts'
import { type Chance, chanceOf, countAround, drawnUuid, later, letters, pick } from './chance.ts'
import type { DemoCampaign, Origin, PlacedAccount, Step } from './world.ts'

/** A conversion as its sender reported it; `payout` is a decimal string if the sender sent one. */
export type DemoEvent = {
  click: DemoClick
  type: EventType
  ms: number
  nonce: string
  payout: string | undefined
  telegram_user_id: string | undefined
}

/** A click with its stages. The books fill in `revenue`, in millionths, and `standing`. */
export type DemoClick = Click & { ms: number; stages: number; revenue: bigint; standing: StandingCounts }

type Traffic = { clicks: DemoClick[]; events: DemoEvent[] }

/** A campaign in the organization. */
export type Place = {
  campaign: DemoCampaign
  campaign_id: string
  /** The address of its redirect or its offer. */
  led_to: string
  /** The channel it sends visitors to. */
  channel_id: string | undefined
  /** Its ad account, and the time since when. */
  account: PlacedAccount | undefined
  /** The destination of a visitor, chosen by the redirect's own code. */
  courseOf: (guest: Guest) => Course
}

type Drawing = { seed: string; now: number; scale: number; org_id: number; clickKey: Uint8Array }

const HOUR_MS = 3_600_000

/** The share of clicks per hour, in the visitors' time: few before dawn, most in the evening. */
const HOURS = [22, 14, 9, 6, 5, 7, 13, 24, 33, 38, 41, 44, 50, 49, 47, 46, 49, 54, 61, 70, 79, 82, 69, 43].map(
  (weight, hour) => [hour, weight] as const,
)
/** Sunday first. */
const WEEK: Record<Origin, readonly number[]> = {
  meta: [1.14, 0.94, 0.95, 0.97, 0.98, 1.01, 1.12],
  tiktok: [1.22, 0.9, 0.91, 0.93, 0.96, 1.05, 1.2],
  google: [0.95, 0.97, 0.98, 1, 1.02, 1.08, 1.21],
  push: [1.05, 0.98, 0.99, 1, 1, 0.98, 1.03],
  telegram: [0.92, 1.04, 1.05, 1.05, 1.03, 1, 0.91],
}
/** Hours ahead of UTC of most visitors in a country. */
const AHEAD: Readonly<Record<string, number>> = { US: -6, CA: -6, BR: -3, GB: 0, DE: 1, PL: 1, UA: 2, IN: 5.5, ID: 7 }

const CRAWLERS = 0.024
const RETURNING = 0.06
/** How many previous visitors may return. */
const REMEMBERED = 400
const UNKNOWN_COUNTRY = 0.012
/** The share of visitors of a Meta campaign without Meta's click id, because somebody shared the link. */
const SHARED = 0.015

/** Draws all traffic up to `now`, with clicks and events in the order they happened. `scale` reduces it for tests. */
export function drawTraffic(drawing: Drawing, placed: readonly Place[]): Traffic {
  const traffic: Traffic = { clicks: [], events: [] }
  for (const place of placed) drawCampaign(drawing, place, traffic)
  traffic.clicks.sort((one, other) => one.ms - other.ms)
  traffic.events.sort((one, other) => one.ms - other.ms)
  return traffic
}

function drawCampaign(drawing: Drawing, place: Place, traffic: Traffic): void {
  const { campaign } = place
  const { seed, now, scale } = drawing
  const today = now - (now % DAY_MS)
  const visitors: string[] = []
  const started = new Set<string>()
  for (let ago = campaign.from; ago >= campaign.to; ago -= 1) {
    // A stream for each day, so that the hour of the run only changes how much of today there is.
    const chance = chanceOf(seed, campaign.key, ago)
    const day = today - ago * DAY_MS
    const count = countAround(chance, campaign.clicks * scale * spendOf(chance, campaign, ago, day))
    const before = visitors.length
    for (let at = 0; at < count; at += 1) {
      const click = drawClick(chance, drawing, place, day, visitors, before)
      const events = drawOutcome(chance, click, campaign, { now, started })
      if (click.ms > now) continue
      traffic.clicks.push(click)
      traffic.events.push(...events)
    }
    if (visitors.length > REMEMBERED) visitors.splice(0, visitors.length - REMEMBERED)
  }
}

/** The share of its ordinary traffic that a campaign gets on a day: it ramps up, grows, is lower on weekends, and sometimes reaches its cap. */
function spendOf(chance: Chance, { origin, from }: DemoCampaign, ago: number, day: number): number {
  const age = from - ago
  const ramp = Math.min(1, 0.3 + age * 0.15)
  const growth = 1 + age * 0.0028
  const week = WEEK[origin][new Date(day).getUTCDay()] ?? 1
  const mood = 0.87 + chance() * 0.26
  const capped = chance() < 0.03 ? 0.35 : 1
  return ramp * growth * week * mood * capped
}

function drawClick(
  chance: Chance,
  { org_id, clickKey }: Drawing,
  { campaign, campaign_id, account, courseOf }: Place,
  day: number,
  visitors: string[],
  before: number,
): DemoClick {
  const { origin } = campaign
  const country = pick(chance, campaign.countries)
  const ms = day + momentIn(chance, country)
  const isCrawler = chance() < CRAWLERS
  const agent = drawAgent(chance, origin, isCrawler)
  const returning =
    !isCrawler && before > 0 && chance() < RETURNING ? visitors[Math.floor(chance() * before)] : undefined
  const visitor_id = isCrawler ? null : (returning ?? drawnUuid(chance))
  if (visitor_id !== null && returning === undefined) visitors.push(visitor_id)
  const parameters = drawParameters(chance, campaign)
  const geo = chance() < UNKNOWN_COUNTRY ? null : country
  const visitor =
    visitor_id === null ? undefined : { id: visitor_id, is_new: returning === undefined, cookie: undefined }
  const guest = { visitor_key: visitor_id ?? '', visitor, agent, geo, parameters, headers: {}, ms }
  const { offer_id, landing_id, bot_id, path } = courseOf(guest)
  return {
    org_id,
    id: mintClickId(clickKey, org_id, ms),
    campaign_id,
    offer_id,
    landing_id,
    tracked: !isCrawler,
    test: false,
    geo,
    device: agent.device,
    os: agent.os,
    browser: agent.browser,
    ...parameters,
    platform: platformOf(parameters),
    visitor_id,
    visitor_is_new: visitor?.is_new ?? null,
    ip_hash: letters(chance, 32, '0123456789abcdef'),
    ip_encrypted: null,
    user_agent: agent.user_agent,
    click_flow_node_path: path,
    ad_account_id: account !== undefined && ms >= account.since ? account.id : null,
    bot_id,
    link_id: null,
    way: null,
    left_out: null,
    suppressed_delivery: false,
    ...drawCost(campaign, parameters.sub1, ms, !isCrawler),
    ms,
    stages: CLICKED,
    revenue: 0n,
    standing: { approved: 0, pending: 0, rejected: 0, held: 0n },
  }
}

/** The cost in a push source's link: its bid, sometimes its unreplaced macro. Drawn from the time, so that other draws do not shift. */
function drawCost({ dearZones, cost_per_click }: DemoCampaign, sub1: string | null, ms: number, counts: boolean) {
  if (dearZones === undefined) return { cost: null, cost_original: null, cost_currency: null, cost_counts: null }
  const usual = dearZones.includes(sub1 ?? '') ? cost_per_click * 4 : cost_per_click
  const cost = ms % 61 === 0 ? null : (usual * (0.85 + (ms % 7) * 0.05)).toFixed(6)
  return { cost, cost_original: cost, cost_currency: 'USD', cost_counts: counts }
}

/** A moment of the UTC day, by the visitors' hours. */
function momentIn(chance: Chance, country: string): number {
  const local = pick(chance, HOURS) + chance()
  const utc = (local - (AHEAD[country] ?? 0) + 48) % 24
  return Math.floor(utc * HOUR_MS)
}

function drawParameters(chance: Chance, { origin, subs, key }: DemoCampaign) {
  const sub1 = pick(chance, subs)
  const placed = (places: readonly string[]) => places[Math.floor(chance() * chance() * places.length)] ?? null
  switch (origin) {
    case 'meta':
      return {
        ...noParameters(),
        sub1,
        sub2: placed(['feed', 'reels', 'stories', 'audience_network']),
        sub3: `adset-${1 + Math.floor(chance() * 4)}`,
        fbclid: chance() < SHARED ? null : `IwZXh0bgNhZW0${letters(chance, 60)}`,
      }
    case 'tiktok':
      return {
        ...noParameters(),
        sub1,
        sub2: placed(['feed', 'search', 'pangle']),
        ttclid: `E.C.P.${letters(chance, 70)}`,
      }
    case 'google':
      return {
        ...noParameters(),
        sub1,
        sub2: placed(['search', 'youtube', 'display']),
        gclid: `Cj0KCQ${letters(chance, 80)}`,
      }
    case 'push':
      return {
        ...noParameters(),
        sub1,
        sub2: placed(['high', 'medium', 'low']),
        ref_id: letters(chance, 24, '0123456789abcdef'),
      }
    case 'telegram':
      return { ...noParameters(), sub1, sub2: key }
  }
}

type Until = { now: number; started: Set<string> }

/** Raises the click to its last stage, and returns its conversions up to now. */
function drawOutcome(chance: Chance, click: DemoClick, campaign: DemoCampaign, { now, started }: Until): DemoEvent[] {
  const events: DemoEvent[] = []
  if (!click.tracked || chance() >= campaign.landed) return events
  // A bot has no page that could report a landing.
  if (click.bot_id === null || click.landing_id !== null) click.stages |= stageOf(LANDED)
  let ms = click.ms
  for (const step of campaign.steps) {
    if (chance() >= step.chance) break
    // A person who has started the bot does not start it again, and their conversions belong to their first click.
    if (step.type === 'bot_start' && isKnown(started, telegramIdOf(click))) break
    ms += later(chance, step.hours * HOUR_MS)
    for (let more = true; more && ms <= now; ) {
      events.push(drawEvent(chance, click, step, ms))
      more = step.again !== undefined && chance() < step.again / (1 + step.again)
      if (more) ms += later(chance, step.hours * HOUR_MS)
    }
    if (ms > now) break
  }
  return events
}

/** Whether it was met before. */
function isKnown(met: Set<string>, one: string): boolean {
  return met.size === met.add(one).size
}

function drawEvent(chance: Chance, click: DemoClick, { type, payout, telegram }: Step, ms: number): DemoEvent {
  const rung = rungOfEvent(type)
  if (rung !== undefined) click.stages |= stageOf(rung)
  const [least, most] = payout ?? [0, 0]
  return {
    click,
    type,
    ms,
    nonce: letters(chance, 12, '0123456789'),
    payout: payout === undefined ? undefined : (least + chance() * (most - least)).toFixed(2),
    telegram_user_id: telegram ? telegramIdOf(click) : undefined,
  }
}

/** The person's Telegram id, the same on all their clicks. */
function telegramIdOf({ visitor_id }: DemoClick): string {
  return String(500_000_000 + (Number.parseInt((visitor_id ?? '').slice(0, 8), 16) % 7_000_000_000))
}
