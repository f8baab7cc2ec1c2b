/**
 * Decides the revisions of conversions within a batch: status changes by people and networks, holds, and a network's later call for a recorded
 * conversion. The event's row never changes; its last revision says what it counts for. Repeating the current state is a no-op.
 */
import type { Act } from '../../ground/history/record.ts'
import type { EventType } from '../../contract/event-types.ts'
import { MOST_REVISIONS } from '../../contract/revisions.ts'
import { Refusal } from '../../contract/refusals.ts'
import { fromMillionths } from '../../money/billing/money.ts'
import { withAmount, withOne } from '../counters/conversions.ts'
import { type ForeignAmount, amountInDollars, dayReceived } from './booked-rates.ts'
import type { Changes } from './changes.ts'
import type { Paid } from './earned.ts'
import type { Conversion, Revision, NetworkVerdict } from './items.ts'
import {
  type OrganizationState,
  type KnownClick,
  type EventStanding,
  isUnconfirmed,
  type StandingCounts,
  type StoredEvent,
} from './organization-state.ts'
import type { DeliveryDecisions } from './deliveries.ts'
import { eventReferredTo, isReportedBy } from './referred-event.ts'
import {
  countedAmount,
  countIndex,
  countsOf,
  isSameCounts,
  isStandingChange,
  nextStanding,
  NO_CONVERSIONS,
  standingIn,
  sumOf,
} from './standing.ts'

/** An event's standing before and after; `isNew`: a revision was added. */
export type Revised = {
  readonly event: StoredEvent
  readonly before: EventStanding
  readonly present: EventStanding
  readonly isNew: boolean
}

type RevisionTerms = Pick<
  Revision,
  'status' | 'amount' | 'foreign' | 'received_at' | 'reason' | 'source' | 'network_id' | 'actor' | 'hold_days' | 'act'
>

/** The standing of a conversion that was reported again, and the new call's payout in dollars. */
type RepeatedReport = { readonly present: EventStanding; readonly payout: string | undefined }

/** The terms of a revision that no person made. */
const BY_MACHINE = { reason: null, network_id: null, actor: null } as const

/** The terms of a revision that the sender of a conversion causes. */
function termsOf({ source, standing, act }: Conversion) {
  const { network_id = null, reason = null } = standing ?? {}
  const by = source === 'network' || source === 'dashboard' ? source : 'api'
  return { ...BY_MACHINE, source: by, network_id, reason, ...(act === undefined ? {} : { act }) } as const
}

/** A conversion's payout in its own currency. */
function foreignOf({ money }: Pick<Conversion, 'money'>): ForeignAmount | undefined {
  if (money === undefined) return undefined
  const { original_amount: amount, currency, usd_per_unit } = money
  return { amount, currency, usd_per_unit }
}

/** Decides for one organization; its changes are gathered with those of the batch. */
export class Judge {
  readonly #org_id: number
  readonly #state: OrganizationState
  readonly #changes: Changes
  readonly #at: string
  readonly #deliveries: DeliveryDecisions

  /** `at` is the time of the batch, as text of the database. */
  constructor(org_id: number, state: OrganizationState, changes: Changes, at: string, deliveries: DeliveryDecisions) {
    this.#org_id = org_id
    this.#state = state
    this.#changes = changes
    this.#at = at
    this.#deliveries = deliveries
  }

  presentOf(event: StoredEvent): EventStanding {
    return standingIn(this.#state, event)
  }

  revise(item: Revision): Revised | Refusal {
    const event = this.#eventOf(item)
    if (event instanceof Refusal) return event
    const present = this.presentOf(event)
    if (item.follows !== undefined && item.follows !== present.seq)
      return { event, before: present, present, isNew: false }
    return this.#deliver(this.#revise(event, item))
  }

  #eventOf({ click_id, of }: Revision): StoredEvent | Refusal {
    const events = this.#state.ofClick.get(click_id) ?? []
    if ('network_id' in of) return eventReferredTo(events, of, event => this.#state.revised.has(event.id))
    return events.find(({ id }) => id === of.event_id) ?? new Refusal('object_not_found')
  }

  /** Puts a conversion of this batch on hold; its deliveries are decided together with the conversion's. */
  hold(event: StoredEvent, standing: NetworkVerdict): EventStanding {
    const { network_id, reason, hold_days } = standing
    const held = this.#revise(event, {
      status: 'pending',
      amount: undefined,
      reason,
      source: 'network',
      network_id,
      actor: null,
      hold_days,
    })
    return held instanceof Refusal ? this.presentOf(event) : held.present
  }

  /** Puts a browser's report on hold for nothing. Nobody is told. */
  holdUnconfirmed(event: StoredEvent): EventStanding {
    const held = this.#revise(event, { ...BY_MACHINE, status: 'pending', amount: '0', source: 'browser' })
    return held instanceof Refusal ? this.presentOf(event) : held.present
  }

  /** Puts a browser's report on a network's hold, for the amount that the end of the hold approves. Nobody is told. */
  holdReported(event: StoredEvent, { payout, money }: Paid, item: Conversion): EventStanding | Refusal {
    const { received_at, standing } = item
    const terms = {
      ...termsOf(item),
      foreign: foreignOf({ money }),
      received_at,
      hold_days: standing?.hold_days ?? null,
    }
    // The first hold is written even if it changes no amount, because its end confirms the report.
    const isFirst = event.payload === null
    const held = this.#revise(event, { ...terms, status: 'pending', amount: payout ?? '0' }, isFirst)
    return held instanceof Refusal ? held : held.present
  }

  /** Approves a browser's report with an amount, for the first time. It is told as a new conversion, not as a revision. */
  approveUnconfirmed(event: StoredEvent, amount: string, item: Conversion): EventStanding | Refusal {
    const approved = this.#revise(event, { ...termsOf(item), status: 'approved', amount })
    return approved instanceof Refusal ? approved : approved.present
  }

  /** Gives a browser's report that counted at once the payout of its first sender who can be trusted. */
  payFirst(event: StoredEvent, { payout, money }: Paid, item: Conversion): EventStanding | Refusal {
    const terms = { ...termsOf(item), foreign: foreignOf({ money }), received_at: item.received_at }
    const revised = this.#deliver(this.#revise(event, { ...terms, status: 'approved', amount: payout ?? '0' }))
    return revised instanceof Refusal ? revised : revised.present
  }

  /** Applies a network's repeated call to the recorded conversion: a paid status approves a held one, and changes the amount if the network may amend. */
  applyRepeated(event: StoredEvent, item: Conversion): RepeatedReport | Refusal {
    const { standing, received_at } = item
    const present = this.presentOf(event)
    const foreign = foreignOf(item)
    const worth = this.#amountInDollars(event, { foreign, received_at })
    if (worth instanceof Refusal) return worth
    const payout = worth?.dollars ?? item.payout
    const unchanged = { present, payout }
    if (standing?.says !== 'paid') return unchanged
    if (!isReportedBy(event, standing.network_id)) return unchanged
    const isPaid = present.status === 'approved'
    if (present.status !== 'pending' && !standing.amend) return unchanged
    if (isPaid && payout === undefined) return unchanged
    const { network_id, reason } = standing
    const terms = { status: 'approved', amount: payout, reason, source: 'network', network_id, actor: null } as const
    const revised = this.#deliver(this.#revise(event, { ...terms, foreign, received_at }))
    return revised instanceof Refusal ? revised : { present: revised.present, payout }
  }

  #amountInDollars(event: StoredEvent, { foreign, received_at }: Pick<RevisionTerms, 'foreign' | 'received_at'>) {
    if (foreign === undefined) return undefined
    return amountInDollars(event.id, foreign, this.#state, dayReceived(received_at, this.#at))
  }

  /** Adds the deliveries of a revision to the same transaction. */
  #deliver(revised: Revised | Refusal): Revised | Refusal {
    if (revised instanceof Refusal || !revised.isNew || isUnconfirmed(revised.event)) return revised
    const click = this.#state.clicks.get(revised.event.click_id)
    if (click !== undefined) this.#deliveries.revised(revised.event, click, revised.before, revised.present)
    return revised
  }

  /** `isForced`: also if neither status nor amount change. */
  #revise(event: StoredEvent, terms: RevisionTerms, isForced = false): Revised | Refusal {
    const present = this.presentOf(event)
    const worth = this.#amountInDollars(event, terms)
    if (worth instanceof Refusal) return worth
    const next = nextStanding(event, present, { status: terms.status, amount: worth?.dollars ?? terms.amount })
    const click = this.#state.clicks.get(event.click_id)
    if (!isForced && !isStandingChange(present, next)) {
      // A process of the previous version may have recorded the event without counts by status; this adds them.
      this.#countRevised(click, event, present, present)
      return { event, before: present, present, isNew: false }
    }
    if (present.seq >= MOST_REVISIONS) return new Refusal('too_many_revisions')
    // Its counters were dropped with the click.
    if (click === undefined) return new Refusal('click_not_kept')
    const revised = { ...next, seq: present.seq + 1, was_held: present.was_held || next.status === 'pending' }
    this.#state.revised.set(event.id, revised)
    this.#countRevised(click, event, present, revised)
    this.#write(event, revised, terms, worth?.rate)
    if (terms.act !== undefined) this.#record(event, present, revised, terms.act)
    return { event, before: present, present: revised, isNew: true }
  }

  /** Writes a new conversion that a person recorded from a file into the history. */
  recordCreated(event: StoredEvent, act: Act): void {
    this.#record(event, undefined, this.presentOf(event), act)
  }

  #record(event: StoredEvent, before: EventStanding | undefined, after: EventStanding, act: Act): void {
    const name = event.nonce === null ? event.type : `${event.type} / ${event.nonce}`
    const snapshot = ({ status, amount }: EventStanding) => ({
      name,
      fields: { status, amount: fromMillionths(amount) },
      secrets: {},
      only_for: null,
    })
    const change = { kind: 'event', id: event.id, before: before && snapshot(before), after: snapshot(after) } as const
    this.#changes.byPeople.push({ ...change, org_id: this.#org_id, act })
  }

  #countRevised(click: KnownClick | undefined, event: StoredEvent, before: EventStanding, now: EventStanding): void {
    if (!isUnconfirmed(event)) this.count(click, event.type, before, now)
  }

  #write(
    event: StoredEvent,
    { seq, status, amount }: EventStanding,
    terms: RevisionTerms,
    rate: string | undefined,
  ): void {
    const { foreign, reason, source, network_id, actor, hold_days = null } = terms
    const row = { org_id: this.#org_id, event_id: event.id, seq, status, amount: fromMillionths(amount) }
    if (foreign !== undefined && rate !== undefined) this.#state.booked.put(event.id, foreign.currency, rate)
    const original = {
      original_amount: foreign?.amount ?? null,
      original_currency: foreign?.currency ?? null,
      rate: rate ?? null,
    }
    const counted = isUnconfirmed(event)
    this.#changes.revisions.push({ ...row, ...original, reason, source, network_id, actor, counted })
    this.#changes.hold({ ...row, click_id: event.click_id }, status === 'pending' ? hold_days : null)
  }

  /**
   * Updates the click's revenue and counts for an event whose standing was `before` (null: the event is new) and is `now`. Revenue is the sum of
   * what its events count for, null if that is zero.
   */
  count(click: KnownClick | undefined, type: EventType, before: EventStanding | null, now: EventStanding): void {
    if (click === undefined) return
    const more = countedAmount(now) - (before === null ? 0n : countedAmount(before))
    const standing = this.#countsAfter(click, before, now)
    const isOtherStatus = before === null || countIndex(before) !== countIndex(now)
    if (more === 0n && standing === click.standing && !isOtherStatus) return
    this.#changes.touch(this.#org_id, click)
    if (before !== null && isOtherStatus) click.conversions = withOne(click.conversions, type, countIndex(before), -1)
    if (isOtherStatus) click.conversions = withOne(click.conversions, type, countIndex(now), 1)
    if (more !== 0n) click.conversions = withAmount(click.conversions, type, more)
    const revenue = (click.revenue ?? 0n) + more
    click.revenue = revenue === 0n ? null : revenue
    click.standing = standing
  }

  /**
   * The click's counts by status. They are counted anew if all events of the click were read, because the previous version did not count by status.
   */
  #countsAfter(click: KnownClick, before: EventStanding | null, now: EventStanding): StandingCounts | null {
    const all = this.#state.ofClick.get(click.id)
    if (all !== undefined) {
      const counts = sumOf(all.filter(event => !isUnconfirmed(event)).map(event => countsOf(this.presentOf(event))))
      return isSameCounts(counts, click.standing ?? NO_CONVERSIONS) ? click.standing : counts
    }
    const [was, is] = [before === null ? NO_CONVERSIONS : countsOf(before), countsOf(now)]
    if (isSameCounts(was, is) || (click.standing === null && click.revenue !== null)) return click.standing
    return sumOf([click.standing ?? NO_CONVERSIONS, is], was)
  }
}
