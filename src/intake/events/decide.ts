/**
 * Decides a batch in the order it came: what each item is answered, and what it changes. Nothing here waits or reads, so what an item
 * changes is what the next one finds, and a duplicate within a batch is a replay like any other.
 */

import { USD } from '../../contract/currencies.ts'
import { MAX_PAYOUT } from '../../contract/fields.ts'
import { newId } from '../../contract/ids.ts'
import { rungOfEvent, stageOf } from '../../contract/ladder.ts'
import { Refusal, tellLater } from '../../contract/refusals.ts'
import { isOutside } from '../../ground/scope.ts'
import { fromMillionths, toMillionths } from '../../money/billing/money.ts'
import { inDollars } from '../../money/rates/exact.ts'
import { type ForeignMoney, type CurrencyDay, type RatesRead, unknownRate } from '../../money/rates/rate-of-day.ts'
import { dayReceived } from './booked.ts'
import type { Changes } from './changes.ts'
import { inheritedPayout, paidInstead, typeOf } from './earned.ts'
import type { Conversion, Item, Revision, Rise } from './items.ts'
import { Judge, type Revised } from './judge.ts'
import { botOf, type Known, type KnownClick, type Person, type Present, type StoredEvent, startOf } from './known.ts'
import { People } from './people.ts'
import { Telling } from './telling.ts'

/**
 * What became of a conversion. `replayed`: this very request had been recorded before. `present`: of a network's, how it stands; `payout`: what
 * that sent, in dollars by the rate its conversion was booked by, where it was sent in the currency of the booking. `paid_instead`: the types that the
 * offer pays for, where this is of another and therefore worth nothing.
 */
export type Recorded = {
  event: StoredEvent
  replayed: boolean
  present?: Present
  payout?: string | undefined
  paid_instead?: readonly string[] | undefined
}

/** What an item is answered; a rise says whether its click is known. */
export type Outcome = Recorded | Revised | Refusal | boolean

/** Whether a click that is not in the database, given by its id, may be in a journal, of whatever process. */
export type IsUnsettled = (click_id: string) => boolean

/** Decides for one organization; what it changes is gathered with that of the batch's others. */
export class Decisions {
  readonly #org_id: number
  readonly #changes: Changes
  readonly #people: People
  readonly #known: Known
  readonly #at: string
  readonly #isUnsettled: IsUnsettled
  readonly #telling: Telling
  readonly #judge: Judge
  readonly #price: bigint
  #balance: bigint

  /** `at` is the moment all of it happens (the database's text); an unknown click that is unsettled may still be in a journal. */
  constructor(org_id: number, known: Known, changes: Changes, at: string, isUnsettled: IsUnsettled) {
    this.#org_id = org_id
    this.#known = known
    this.#changes = changes
    this.#at = at
    this.#isUnsettled = isUnsettled
    this.#balance = toMillionths(known.balance.balance)
    this.#price = toMillionths(known.balance.price_per_person)
    this.#people = new People(known.people)
    const isEmpty = () => known.balance.hold_when_empty && this.#balance < 0n
    this.#telling = new Telling(org_id, known, changes, at, isEmpty)
    this.#judge = new Judge(org_id, known, changes, at, this.#telling)
    changes.concern(org_id, this.#people)
    changes.caps.concern(org_id, known.caps, at)
  }

  decide(item: Item): Outcome {
    if (item.kind === 'rise') return this.#rise(item)
    return item.kind === 'revision' ? this.#revise(item) : this.#record(item)
  }

  #rise({ click_id, rung }: Rise): Outcome {
    const click = this.#known.clicks.get(click_id)
    if (click === undefined) return this.#isUnsettled(click_id) ? tellLater() : false
    this.#changes.touch(this.#org_id, click)
    click.stages |= stageOf(rung)
    return true
  }

  #revise(item: Revision): Outcome {
    const revised = this.#judge.revise(item)
    const isUnknown = revised instanceof Refusal && revised.refusal === 'conversion_unknown'
    if (!isUnknown || this.#known.clicks.has(item.click_id)) return revised
    return this.#isUnsettled(item.click_id) ? tellLater() : new Refusal('click_not_found')
  }

  // The event before the click: a resend is answered for ever, also when its click is gone.
  #record(item: Conversion): Outcome {
    const { events, aliased, clicks } = this.#known
    const click = clicks.get(item.click_id)
    const type = click === undefined ? item.type : typeOf(item, click)
    const recorded = aliased.get(item.once?.id ?? item.id) ?? this.#judge.recorded(item, type)
    if (recorded !== undefined) {
      if (isOutside(item.campaigns, recorded.campaign_id)) return new Refusal('campaign_scope_forbidden')
      if (click !== undefined && item.source === 'service') this.#meetAgain(item, click)
      if (item.standing !== undefined) {
        const again = this.#judge.again(recorded, item)
        if (again instanceof Refusal) return again
        const paid_instead = again.present.seq === 0 && click !== undefined ? paidInstead(recorded, click) : undefined
        return { event: recorded, replayed: true, ...again, paid_instead }
      }
      return { event: recorded, replayed: true }
    }
    if (click === undefined) return this.#isUnsettled(item.click_id) ? tellLater() : new Refusal('click_not_found')
    if (botOf(item, this.#known) === 'unknown') return new Refusal('bot_not_found')
    if (isOutside(item.campaigns, click.campaign_id)) return new Refusal('campaign_scope_forbidden')
    const start_id = startOf(item, this.#known)
    const started = start_id === undefined ? undefined : events.get(start_id)
    if (started !== undefined) return this.#merge(item, click, started)
    const paid = payoutOf(item, click, this.#known.rateOf, this.#at)
    if (paid instanceof Refusal) return paid
    // What was reported before it was paid has that type already, and is counted once.
    const isAsSaid = type === item.type || this.#judge.wasUnpaid(item, type)
    return this.#add(isAsSaid ? item : { ...item, type }, click, start_id ?? item.id, paid)
  }

  /** One start, reported twice: the call is remembered as this event, and its explicit payout may be the first. */
  #merge(item: Conversion, click: KnownClick, started: StoredEvent): Outcome {
    if (isOutside(item.campaigns, started.campaign_id)) return new Refusal('campaign_scope_forbidden')
    this.#alias(item, started)
    this.#people.of(click, item.telegram_user_id)
    const isFirstPayout = item.payout !== undefined && !started.payout_is_explicit
    const isFirstPayload = item.payload !== null && started.payload === null
    if (isFirstPayload) started.payload = item.payload
    if (isFirstPayout) {
      const before = this.#judge.presentOf(started)
      started.payout = item.payout
      started.payout_is_explicit = true
      this.#pay(started, item.money, true)
      // What was said of it since stays in effect.
      this.#judge.count(this.#known.clicks.get(started.click_id), started.type, before, this.#judge.presentOf(started))
    }
    if (isFirstPayout || isFirstPayload) this.#changes.merge(this.#org_id, started)
    return { event: started, replayed: false }
  }

  #add(item: Conversion, click: KnownClick, id: string, { payout, money }: Paid): Recorded {
    const person = this.#people.of(click, item.telegram_user_id)
    const event = this.#eventOf(item, click, id, person, payout)
    this.#changes.events.push(event)
    this.#pay(event, money, false)
    this.#known.events.set(id, event)
    this.#known.ofClick.get(click.id)?.push(event)
    if (item.once !== undefined) this.#alias(item.once, event)
    else if (id !== item.id) this.#alias(item, event)
    this.#proveClick(item, click)
    this.#judge.count(click, event.type, null, this.#judge.presentOf(event))
    const { standing } = item
    const recorded: Recorded = { event, replayed: false, paid_instead: paidInstead(event, click) }
    if (standing?.says === 'pending') recorded.present = this.#judge.hold(event, standing)
    if (click.test) return recorded
    this.#changes.caps.add(this.#org_id, event)
    if (!person.is_charged) {
      person.is_charged = true
      this.#balance -= this.#price
      const amount = fromMillionths(-this.#price)
      this.#changes.charges.push({ org_id: this.#org_id, id: newId(), amount, person_id: person.id, event_id: id })
    }
    this.#telling.recorded(event, click, recorded.present)
    return recorded
  }

  #pay(event: StoredEvent, money: ForeignMoney | undefined, isAgain: boolean): void {
    this.#changes.pay(this.#org_id, event, money, isAgain)
    if (money !== undefined) this.#known.booked.put(event.id, money.currency, money.usd_per_unit)
  }

  #eventOf(item: Conversion, click: KnownClick, id: string, person: Person, payout: Paid['payout']) {
    return {
      org_id: this.#org_id,
      id,
      created_at: this.#at,
      click_id: click.id,
      campaign_id: click.campaign_id,
      offer_id: click.offer_id,
      type: item.type,
      payout,
      payout_is_explicit: item.payout !== undefined,
      nonce: item.nonce,
      payload: item.payload,
      person_id: person.id,
      bot_id: botOf(item, this.#known) ?? null,
      telegram_user_id: item.telegram_user_id ?? null,
      source: item.source,
      test: click.test,
    }
  }

  #alias({ id }: { readonly id: string }, event: StoredEvent): void {
    this.#changes.aliases.push({ org_id: this.#org_id, id, event_id: event.id })
    this.#known.aliased.set(id, event)
  }

  /** A conversion proves its click: it counts from now on, unless it is a test. */
  #proveClick(item: Conversion, click: KnownClick): void {
    this.#changes.touch(this.#org_id, click)
    const rung = rungOfEvent(item.type)
    if (rung !== undefined) click.stages |= stageOf(rung)
    if (!click.test) click.tracked = true
    this.#bind(item, click)
  }

  /** Someone who had started the bot before came to it over another click: the same person, one event. */
  #meetAgain(item: Conversion, click: KnownClick): void {
    this.#people.of(click, item.telegram_user_id)
    this.#bind(item, click)
  }

  /** Sluice's own events say which bot is behind the click. */
  #bind(item: Conversion, click: KnownClick): void {
    if (item.source !== 'service' || item.bot === undefined || !('id' in item.bot) || click.bot_id !== null) return
    this.#changes.touch(this.#org_id, click)
    click.bot_id = item.bot.id
  }
}

/** US dollars, and what they were in another currency. */
type Paid = { payout: string | null; money: ForeignMoney | undefined }

/** What it pays: its own payout, else the offer's, in another currency by the rate of the day it was received. Refuses `rate_unknown`. */
function payoutOf(item: Conversion, click: KnownClick, rateOf: RatesRead, at: string): Paid | Refusal {
  if (item.payout !== undefined) return { payout: item.payout, money: item.money }
  const place = inheritedIn(item, click, at)
  if (place === undefined) return { payout: inheritedPayout(item, click), money: undefined }
  const rate = rateOf(place)
  if (rate === undefined) return unknownRate(place)
  const payout = inDollars(place.amount, rate.usd_per_unit)
  if (toMillionths(payout) > toMillionths(String(MAX_PAYOUT))) return tooMuch(place, payout)
  return { payout, money: { original_amount: place.amount, currency: place.currency, ...rate } }
}

/** A rate of which nobody knows whether it is meant so: most often it is written the wrong way round. */
const tooMuch = ({ amount, currency, day }: CurrencyDay & { amount: string }, payout: string): Refusal =>
  new Refusal('rate_unknown', {
    error: `the offer's payout of ${amount} ${currency} is $${payout} by the rate of ${day}, more than ${MAX_PAYOUT.toLocaleString('en-US')}: correct the rate or the payout`,
  })

/** What a conversion inherits in another currency, and the UTC day whose rate it takes; undefined for dollars, and for nothing. */
export function inheritedIn(
  item: Conversion,
  click: KnownClick,
  at: string,
): (CurrencyDay & { amount: string }) | undefined {
  const currency = click.payout_currency ?? USD
  if (item.payout !== undefined || currency === USD) return undefined
  const amount = inheritedPayout(item, click)
  return amount === null ? undefined : { amount, currency, day: dayReceived(item.received_at, at) }
}
