// Whom the conversions of the demo were told to: the partners that rules call, and the ad account; with each try and its answer.

import { toUnits } from '../src/contract/decimals.ts'
import type { EventType } from '../src/contract/event-types.ts'
import { newId, toWireId } from '../src/contract/ids.ts'
import type { Ground } from '../src/ground/room.ts'
import { fillMacros } from '../src/outgoing/postbacks/macros.ts'
import { isTold, openTelling, type Telling, type Try } from './ad-account.ts'
import { type Chance, chanceOf } from './chance.ts'
import type { Place } from './traffic.ts'
import { type PlacedAccount } from './world.ts'

/** A rule as it stands in the organization. */
export type PlacedRule = { id: string; event_type: EventType; url: string; campaign_id: string | null }

/** A conversion as it was recorded, at `ms`. */
export type Recorded = Omit<Telling, 'led_to'> & { campaign_id: string | null; nonce: string | null }

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
type Attempt = Try & { delivery_id: string; number: number }

type Terms = {
  seed: string
  rules: readonly PlacedRule[]
  account: PlacedAccount
  places: ReadonlyMap<string | null, Place>
}

/** How many of the calls met a receiver that was busy, and went through at the second try. */
const BUSY = 0.015
const RETRY_MS = 5000

export class Outbox {
  readonly deliveries: Delivery[] = []
  readonly attempts: Attempt[] = []
  readonly #terms: Terms
  readonly #chance: Chance
  readonly #toMeta: Chance
  readonly #tell: ReturnType<typeof openTelling>

  constructor(ground: Pick<Ground, 'config' | 'secrets'>, terms: Terms) {
    this.#terms = terms
    this.#chance = chanceOf(terms.seed, 'deliveries')
    this.#toMeta = chanceOf(terms.seed, 'meta')
    this.#tell = openTelling(ground, this.#toMeta)
  }

  put(event: Recorded): void {
    for (const rule of this.#terms.rules) {
      const isMeant = rule.campaign_id === null || rule.campaign_id === event.campaign_id
      if (rule.event_type === event.type && isMeant) this.#call(event, rule)
    }
    this.#report(event)
  }

  #call(event: Recorded, rule: PlacedRule): void {
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

  /** To the account that the campaign names, else to the only one of the platform whose click id the visitor came with. */
  #report(event: Recorded): void {
    const { account, places } = this.#terms
    const { type, click, ms } = event
    const place = places.get(event.campaign_id)
    if (ms < account.since || place === undefined || !isTold(type)) return
    if (place.campaign.namesAccount !== true && click.platform !== 'meta') return
    const begun = ms + 60 + Math.floor(this.#toMeta() * 160)
    const { tries, ...outcome } = this.#tell({ ...event, led_to: place.led_to }, begun)
    this.#log(event, { kind: 'ad_account', target_id: account.id, ...outcome }, tries)
  }

  #log(
    { id: event_id, click, campaign_id, ms }: Recorded,
    outcome: Pick<Delivery, 'kind' | 'target_id' | 'state' | 'reason' | 'failure'>,
    tries: readonly Try[],
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

/** How long a try takes. */
export const TRY_MS = 140
