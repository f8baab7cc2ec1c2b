/**
 * Decides a batch in the order of arrival: the outcome of each item, and its changes. Nothing here waits or reads, so each item sees the changes
 * of the items before it, and a duplicate within a batch is a replay like any other.
 */

import type { EventType } from '../../contract/event-types.ts'
import { newId } from '../../contract/ids.ts'
import { rungOfEvent, stageOf } from '../../contract/ladder.ts'
import { Refusal, retryInAMinute } from '../../contract/refusals.ts'
import { isOutside } from '../../ground/scope.ts'
import { fromMillionths, toMillionths } from '../../money/billing/money.ts'
import type { ForeignMoney } from '../../money/rates/rate-of-day.ts'
import type { Changes } from './changes.ts'
import { type Paid, paidInstead, payoutFor, typeOf } from './earned.ts'
import type { Conversion, Item, Revision, Rise } from './items.ts'
import { Judge, type Revised } from './judge.ts'
import {
  awaitsPayout,
  botOf,
  isUnconfirmed,
  type OrganizationState,
  type KnownClick,
  type ConvertingPerson,
  type EventStanding,
  type StoredEvent,
  startOf,
  UNCONFIRMED,
} from './organization-state.ts'
import { People } from './people.ts'
import { recordedEvent, wasUnpaid } from './referred-event.ts'
import { DeliveryDecisions } from './deliveries.ts'

/**
 * The outcome of a conversion. `replayed`: the same request was recorded before. For a network's conversion, `present` is its standing, and `payout` is
 * the sent payout in dollars, at the rate the conversion was booked by if it is in that currency. `paid_instead`: the types that the offer pays on, if
 * the conversion has another type and so is worth nothing.
 */
export type Recorded = {
  event: StoredEvent
  replayed: boolean
  present?: EventStanding
  payout?: string | undefined
  paid_instead?: readonly string[] | undefined
}

/** The outcome of an item. For a rise, which marks a stage that a click has reached, it is whether the click is known. */
export type Outcome = Recorded | Revised | Refusal | boolean

/** Whether a click that is not in the database may be in the journal of some process. */
export type IsUnsettled = (click_id: string) => boolean

/** Decides for one organization; its changes are gathered with those of the batch's other organizations. */
export class Decisions {
  readonly #org_id: number
  readonly #changes: Changes
  readonly #people: People
  readonly #state: OrganizationState
  readonly #at: string
  readonly #isUnsettled: IsUnsettled
  readonly #deliveries: DeliveryDecisions
  readonly #judge: Judge
  readonly #price: bigint
  #balance: bigint

  /** `at` is the time of the batch, as text of the database; an unknown click that is unsettled may still be in a journal. */
  constructor(org_id: number, state: OrganizationState, changes: Changes, at: string, isUnsettled: IsUnsettled) {
    this.#org_id = org_id
    this.#state = state
    this.#changes = changes
    this.#at = at
    this.#isUnsettled = isUnsettled
    this.#balance = toMillionths(state.balance.balance)
    this.#price = toMillionths(state.balance.price_per_person)
    this.#people = new People(state.people)
    const isEmpty = () => state.balance.hold_when_empty && this.#balance < 0n
    this.#deliveries = new DeliveryDecisions(org_id, state, changes, at, isEmpty)
    this.#judge = new Judge(org_id, state, changes, at, this.#deliveries)
    changes.addOrganization(org_id, this.#people)
    changes.caps.addOrganization(org_id, state.caps, at)
  }

  decide(item: Item): Outcome {
    if (item.kind === 'rise') return this.#raiseStatus(item)
    return item.kind === 'revision' ? this.#revise(item) : this.#record(item)
  }

  #raiseStatus({ click_id, rung }: Rise): Outcome {
    const click = this.#state.clicks.get(click_id)
    if (click === undefined) return this.#isUnsettled(click_id) ? retryInAMinute() : false
    this.#changes.touch(this.#org_id, click)
    click.stages |= stageOf(rung)
    return true
  }

  #revise(item: Revision): Outcome {
    const revised = this.#judge.revise(item)
    if (!(revised instanceof Refusal) && isUnconfirmed(revised.event) && revised.present.status === 'approved') {
      const payout = fromMillionths(revised.present.amount)
      this.#confirm(revised.event, { payout, payout_is_explicit: true, payload: revised.event.payload })
    }
    const isUnknown = revised instanceof Refusal && revised.refusal === 'conversion_unknown'
    if (!isUnknown || this.#state.clicks.has(item.click_id)) return revised
    return this.#isUnsettled(item.click_id) ? retryInAMinute() : new Refusal('click_not_found')
  }

  // Looks for the event before the click: a resend is answered for ever, even after its click was dropped.
  #record(item: Conversion): Outcome {
    const { events, aliased, clicks } = this.#state
    const click = clicks.get(item.click_id)
    const type = click === undefined ? item.type : typeOf(item, click)
    const recorded = aliased.get(item.once?.id ?? item.id) ?? recordedEvent(this.#state, item, type)
    if (recorded !== undefined) {
      if (isOutside(item.campaigns, recorded.campaign_id)) return new Refusal('campaign_scope_forbidden')
      if (isUnconfirmed(recorded)) return this.#confirmBy(item, recorded, click)
      if (item.source === 'browser')
        return { event: recorded, replayed: true, present: this.#judge.presentOf(recorded) }
      if (awaitsPayout(recorded)) return this.#payFirst(item, recorded, click)
      if (click !== undefined && item.source === 'service') this.#linkAgain(item, click)
      if (item.standing !== undefined) {
        const repeated = this.#judge.applyRepeated(recorded, item)
        if (repeated instanceof Refusal) return repeated
        const paid_instead =
          repeated.present.seq === 0 && click !== undefined ? paidInstead(recorded, click) : undefined
        return { event: recorded, replayed: true, ...repeated, paid_instead }
      }
      return { event: recorded, replayed: true }
    }
    if (click === undefined) return this.#isUnsettled(item.click_id) ? retryInAMinute() : new Refusal('click_not_found')
    if (botOf(item, this.#state) === 'unknown') return new Refusal('bot_not_found')
    if (isOutside(item.campaigns, click.campaign_id)) return new Refusal('campaign_scope_forbidden')
    const start_id = startOf(item, this.#state)
    const started = start_id === undefined ? undefined : events.get(start_id)
    if (started !== undefined) return this.#merge(item, click, started)
    const paid = payoutFor(item, click, this.#state.rateOf, this.#at)
    if (paid instanceof Refusal) return paid
    // If the network reported the offer's type before, unpaid, this event keeps the type of its call, so that the offer's type is counted once.
    const keepsType = type === item.type || wasUnpaid(this.#state, item, type)
    return this.#add(keepsType ? item : { ...item, type }, click, start_id ?? item.id, paid)
  }

  /**
   * A browser's report is reported again. The same browser changes nothing. A sender who can be trusted confirms it, unless a person or a network has
   * rejected it, or a network only puts it on hold.
   */
  #confirmBy(item: Conversion, event: StoredEvent, click: KnownClick | undefined): Outcome {
    const present = this.#judge.presentOf(event)
    const isEnded = item.source === 'browser' || present.status !== 'pending'
    if (isEnded || click === undefined) return { event, replayed: true, present, payout: item.payout }
    const paid = payoutFor(item, click, this.#state.rateOf, this.#at)
    if (paid instanceof Refusal) return paid
    if (item.standing?.says === 'pending') return this.#holdReported(item, event, paid)
    const approved = this.#judge.approveUnconfirmed(event, paid.payout ?? '0', item)
    if (approved instanceof Refusal) return approved
    const { payout, money } = paid
    this.#confirm(event, { payout, payout_is_explicit: item.payout !== undefined, payload: item.payload })
    this.#pay(event, money, false)
    return { event, replayed: false, present: approved, payout: item.payout, paid_instead: paidInstead(event, click) }
  }

  /** A network puts a browser's report on hold. It stays outside the books; the end of the network's hold, or its next call, decides it. */
  #holdReported(item: Conversion, event: StoredEvent, paid: Paid): Outcome {
    const held = this.#judge.holdReported(event, paid, item)
    if (held instanceof Refusal) return held
    if (event.payload === null) {
      event.payload = item.payload
      this.#changes.merge(this.#org_id, event)
    }
    return { event, replayed: true, present: held, payout: item.payout }
  }

  /**
   * The first paid report, by a sender who can be trusted, of a conversion that counted at once when a browser reported it. It brings the payout, unless
   * somebody has changed the conversion meanwhile.
   */
  #payFirst(item: Conversion, event: StoredEvent, click: KnownClick | undefined): Outcome {
    const present = this.#judge.presentOf(event)
    if (item.standing?.says === 'pending') return { event, replayed: true, present }
    if (click === undefined || present.seq > 0) return { event, replayed: true, present, payout: item.payout }
    const paid = payoutFor(item, click, this.#state.rateOf, this.#at)
    if (paid instanceof Refusal) return paid
    const revised = this.#judge.payFirst(event, paid, item)
    if (revised instanceof Refusal) return revised
    const payout = paid.payout ?? event.payout
    Object.assign(event, { payout, payout_is_explicit: true, payload: item.payload ?? event.payload })
    this.#changes.merge(this.#org_id, event)
    this.#pay(event, paid.money, true)
    return { event, replayed: false, present: revised, payout: item.payout }
  }

  /** Takes a browser's report into the books, as if it had been recorded now. */
  #confirm(event: StoredEvent, says: Pick<StoredEvent, 'payout' | 'payout_is_explicit' | 'payload'>): void {
    const click = this.#state.clicks.get(event.click_id)
    if (click === undefined) return
    Object.assign(event, says, { confirmed_at: this.#at })
    this.#changes.confirm(this.#org_id, event, click.test)
    this.#prove(event.type, click)
    this.#judge.count(click, event.type, null, this.#judge.presentOf(event))
    const person = this.#people.of(click, undefined)
    this.#bill(event, click, person)
    if (!click.test) this.#deliveries.recorded({ ...event, person_id: person.id }, click, undefined)
  }

  /** A start that was reported twice: the request becomes an alias of the event, and may bring its first explicit payout. */
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
      // Later revisions stay in effect.
      this.#judge.count(this.#state.clicks.get(started.click_id), started.type, before, this.#judge.presentOf(started))
    }
    if (isFirstPayout || isFirstPayload) this.#changes.merge(this.#org_id, started)
    return { event: started, replayed: false }
  }

  #add(item: Conversion, click: KnownClick, id: string, { payout, money }: Paid): Recorded {
    const person = this.#people.of(click, item.telegram_user_id)
    const event = this.#eventOf(item, click, id, person, payout)
    this.#changes.events.push(event)
    this.#pay(event, money, false)
    this.#state.events.set(id, event)
    this.#state.ofClick.get(click.id)?.push(event)
    if (item.once !== undefined) this.#alias(item.once, event)
    else if (id !== item.id) this.#alias(item, event)
    if (isUnconfirmed(event)) return { event, replayed: false, present: this.#judge.holdUnconfirmed(event) }
    this.#prove(event.type, click)
    this.#bind(item, click)
    this.#judge.count(click, event.type, null, this.#judge.presentOf(event))
    const { standing } = item
    const recorded: Recorded = { event, replayed: false, paid_instead: paidInstead(event, click) }
    if (standing?.says === 'pending') recorded.present = this.#judge.hold(event, standing)
    if (item.act !== undefined) this.#judge.recordCreated(event, item.act)
    if (click.test) return recorded
    this.#bill(event, click, person)
    this.#deliveries.recorded(event, click, recorded.present)
    return recorded
  }

  /** Counts a conversion for its caps, and charges its person once. */
  #bill(event: StoredEvent, click: KnownClick, person: ConvertingPerson): void {
    if (click.test) return
    this.#changes.caps.add(this.#org_id, event)
    if (person.is_charged) return
    person.is_charged = true
    this.#balance -= this.#price
    const amount = fromMillionths(-this.#price)
    const charge = { id: newId(), amount, person_id: person.id, event_id: event.id }
    this.#changes.charges.push({ org_id: this.#org_id, ...charge })
  }

  #pay(event: StoredEvent, money: ForeignMoney | undefined, isAgain: boolean): void {
    this.#changes.setMoney(this.#org_id, event, money, isAgain)
    if (money !== undefined) this.#state.booked.put(event.id, money.currency, money.usd_per_unit)
  }

  #eventOf(item: Conversion, click: KnownClick, id: string, person: ConvertingPerson, payout: Paid['payout']) {
    return {
      org_id: this.#org_id,
      id,
      created_at: this.#at,
      click_id: click.id,
      campaign_id: click.campaign_id,
      offer_id: click.offer_id,
      type: item.type,
      payout,
      payout_is_explicit: item.payout !== undefined && item.source !== 'browser',
      nonce: item.nonce,
      payload: item.payload,
      person_id: person.id,
      bot_id: botOf(item, this.#state) ?? null,
      telegram_user_id: item.telegram_user_id ?? null,
      source: item.source,
      test: click.test || item.isUnconfirmed === true,
      counted: item.isUnconfirmed === true,
      claimed: item.claimed ?? null,
      confirmed_at: item.isUnconfirmed === true ? UNCONFIRMED : null,
    }
  }

  #alias({ id }: { readonly id: string }, event: StoredEvent): void {
    this.#changes.aliases.push({ org_id: this.#org_id, id, event_id: event.id })
    this.#state.aliased.set(id, event)
  }

  /** A conversion proves that its click was a person's: the click counts from now on, unless it is a test. */
  #prove(type: EventType, click: KnownClick): void {
    this.#changes.touch(this.#org_id, click)
    const rung = rungOfEvent(type)
    if (rung !== undefined) click.stages |= stageOf(rung)
    if (!click.test) click.tracked = true
  }

  /** A recorded start came again, perhaps over another click: there is no second event, but the click is linked to the person and the bot. */
  #linkAgain(item: Conversion, click: KnownClick): void {
    this.#people.of(click, item.telegram_user_id)
    this.#bind(item, click)
  }

  /** Stores the bot of an event that Sluice itself reported as the click's bot, unless the click has one. */
  #bind(item: Conversion, click: KnownClick): void {
    if (item.source !== 'service' || item.bot === undefined || !('id' in item.bot) || click.bot_id !== null) return
    this.#changes.touch(this.#org_id, click)
    click.bot_id = item.bot.id
  }
}
