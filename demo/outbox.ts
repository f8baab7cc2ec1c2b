// The deliveries of the demo's conversions: to partners by rules, and to the ad account, with every attempt and its answer.

import { toUnits } from '../src/contract/decimals.ts'
import type { EventType } from '../src/contract/event-types.ts'
import { newId, toWireId } from '../src/contract/ids.ts'
import type { Ground } from '../src/ground/room.ts'
import { fillMacros } from '../src/outgoing/postbacks/macros.ts'
import { isReported, openReporting, type ReportedConversion, type CallAttempt } from './ad-account.ts'
import { type Chance, chanceOf } from './chance.ts'
import type { Place } from './traffic.ts'
import { type PlacedAccount } from './world.ts'

/** A rule of the organization. */
export type PlacedRule = { id: string; event_type: EventType; url: string; campaign_id: string | null }

/** A conversion recorded at `ms`. */
export type RecordedConversion = Omit<ReportedConversion, 'led_to'> & {
  campaign_id: string | null
  nonce: string | null
}

type Delivery = {
  id: string
  event_id: string
  kind: 'postback' | 'ad_account'
  target_id: string
  click_id: string
  campaign_id: string | null
  state: 'delivered' | 'failed'
  reason: string | null
  failure: 'rejected' | null
  ms: number
  finished: number
  attempts: number
}
type Attempt = CallAttempt & { delivery_id: string; number: number }

type OutboxTerms = {
  seed: string
  rules: readonly PlacedRule[]
  account: PlacedAccount
  places: ReadonlyMap<string | null, Place>
}

/** The share of calls with a busy receiver, which succeed at the second attempt. */
const BUSY = 0.015
const RETRY_MS = 5000

export class Outbox {
  readonly deliveries: Delivery[] = []
  readonly attempts: Attempt[] = []
  readonly #terms: OutboxTerms
  readonly #chance: Chance
  readonly #toMeta: Chance
  readonly #tell: ReturnType<typeof openReporting>

  constructor(ground: Pick<Ground, 'config' | 'secrets'>, terms: OutboxTerms) {
    this.#terms = terms
    this.#chance = chanceOf(terms.seed, 'deliveries')
    this.#toMeta = chanceOf(terms.seed, 'meta')
    this.#tell = openReporting(ground, this.#toMeta)
  }

  put(event: RecordedConversion): void {
    for (const rule of this.#terms.rules) {
      const isMeant = rule.campaign_id === null || rule.campaign_id === event.campaign_id
      if (rule.event_type === event.type && isMeant) this.#call(event, rule)
    }
    this.#report(event)
  }

  #call(event: RecordedConversion, rule: PlacedRule): void {
    const { id, type, click, ms, payout, nonce } = event
    const url = fillMacros(rule.url, {
      ...click,
      event_type: type,
      status: 'approved',
      event_id: toWireId(id),
      click_id: toWireId(click.id),
      campaign_id: click.campaign_id && toWireId(click.campaign_id),
      offer_id: click.offer_id && toWireId(click.offer_id),
      timestamp: String(Math.floor(ms / 1000)),
      revenue: payout ?? '0',
      revenue_cents: String(toUnits(payout ?? '0', 2)),
      currency: 'USD',
      txid: nonce,
    })
    if (url === undefined) return
    const isBusy = this.#chance() < BUSY
    const begun = ms + 40 + Math.floor(this.#chance() * 120)
    const call = { method: 'GET', url, body: null }
    const tries = isBusy ? [{ ...call, ms: begun, status: 503, answer: 'Service Unavailable' }] : []
    tries.push({ ...call, ms: begun + tries.length * RETRY_MS, status: 200, answer: 'OK' })
    this.#log(event, { kind: 'postback', target_id: rule.id, state: 'delivered', reason: null, failure: null }, tries)
  }

  /** Reports to the campaign's account, else to the only account of the platform of the visitor's click id. */
  #report(event: RecordedConversion): void {
    const { account, places } = this.#terms
    const { type, click, ms } = event
    const place = places.get(event.campaign_id)
    if (ms < account.since || place === undefined || !isReported(type)) return
    if (place.campaign.namesAccount !== true && click.platform !== 'meta') return
    const begun = ms + 60 + Math.floor(this.#toMeta() * 160)
    const { tries, ...outcome } = this.#tell({ ...event, led_to: place.led_to }, begun)
    this.#log(event, { kind: 'ad_account', target_id: account.id, ...outcome }, tries)
  }

  #log(
    { id: event_id, click, campaign_id, ms }: RecordedConversion,
    outcome: Pick<Delivery, 'kind' | 'target_id' | 'state' | 'reason' | 'failure'>,
    tries: readonly CallAttempt[],
  ): void {
    const id = newId(ms)
    for (const [at, one] of tries.entries()) this.attempts.push({ ...one, delivery_id: id, number: at + 1 })
    const finished = (tries.at(-1)?.ms ?? ms) + TRY_MS
    this.deliveries.push({
      id,
      event_id,
      ...outcome,
      click_id: click.id,
      campaign_id,
      ms,
      finished,
      attempts: tries.length,
    })
  }
}

/** The duration of a call. */
export const TRY_MS = 140
