/**
 * What is said of conversions after they were recorded, decided within a batch: verdicts of people and networks, conversions that
 * are held, and what a network's later call says of one that is recorded. The event stays as it was; its last revision says what it counts
 * for. Whoever says what is so already changes nothing.
 */
import type { EventType } from '../../contract/event-types.ts'
import { toWireId } from '../../contract/ids.ts'
import { hasAmount, MOST_REVISIONS } from '../../contract/revisions.ts'
import { Refusal } from '../../contract/refusals.ts'
import { fromMillionths, toMillionths } from '../../money/billing/money.ts'
import { withOne } from '../counters/conversions.ts'
import { type Foreign, worthOf, dayReceived } from './booked.ts'
import type { Changes } from './changes.ts'
import type { Conversion, Meant, Revision, Standing } from './items.ts'
import type { Known, KnownClick, Present, Standings, StoredEvent } from './known.ts'
import type { Telling } from './telling.ts'

/** How an event stands, and whether that was said just now. */
export type Revised = {
  readonly event: StoredEvent
  readonly before: Present
  readonly present: Present
  readonly isNew: boolean
}

type Said = Pick<
  Revision,
  'status' | 'amount' | 'foreign' | 'received_at' | 'reason' | 'source' | 'network_id' | 'actor' | 'hold_days'
>

/** How a conversion stands that was called again, and what the call's payout is in dollars. */
type Again = { readonly present: Present; readonly payout: string | undefined }

/** What a conversion's payout was sent as. */
function foreignOf({ money }: Conversion): Foreign | undefined {
  if (money === undefined) return undefined
  const { original_amount: amount, currency, usd_per_unit } = money
  return { amount, currency, usd_per_unit }
}

/** How an event without revisions stands. */
export function asRecorded(event: Pick<StoredEvent, 'payout'>): Present {
  return { seq: 0, status: 'approved', amount: toMillionths(event.payout ?? '0'), was_held: false }
}

/** What an event counts for, in millionths. */
export function effective({ status, amount }: Pick<Present, 'status' | 'amount'>): bigint {
  return status === 'approved' ? amount : 0n
}

/** How an event would stand: an amount that is not said is the one that counts or is held, after a refusal the recorded payout. */
export function wanted(
  event: Pick<StoredEvent, 'payout'>,
  present: Present,
  { status, amount }: { readonly status: Present['status']; readonly amount?: string | undefined },
): Pick<Present, 'status' | 'amount'> {
  if (!hasAmount(status)) return { status, amount: 0n }
  if (amount !== undefined) return { status, amount: toMillionths(amount) }
  return { status, amount: hasAmount(present.status) ? present.amount : asRecorded(event).amount }
}

/** Whether something would change. */
export function isChange(present: Present, next: Pick<Present, 'status' | 'amount'>): boolean {
  return present.status !== next.status || present.amount !== next.amount
}

/**
 * The one of several events that is meant by a transaction id, or without one by the click alone: the only one that was ever worth
 * something, and of a transaction id without such the only one. Undefined: none, `'several'`: it cannot be told.
 */
export function oneOf<Event>(
  events: readonly Event[],
  isWorth: (event: Event) => boolean,
  isNamed: boolean,
): Event | 'several' | undefined {
  const worth = events.filter(isWorth)
  const [first, ...others] = worth.length > 0 || !isNamed ? worth : events
  return others.length === 0 ? first : 'several'
}

/** The one event a network means, of its own on the click. */
function eventMeant(
  events: readonly StoredEvent[],
  { network_id, nonce }: Meant,
  isRevised: (event: StoredEvent) => boolean,
): StoredEvent | Refusal {
  const named = nonce === null ? events : events.filter(event => event.nonce === nonce)
  const own = named.filter(event => isOf(event, network_id))
  const one = oneOf(own, event => isRevised(event) || asRecorded(event).amount > 0n, nonce !== null)
  if (one === 'several') return new Refusal('conversion_ambiguous')
  if (one !== undefined) return one
  return new Refusal(nonce !== null && named.length > 0 && own.length === 0 ? 'not_yours' : 'conversion_unknown')
}

/** Whether this network has recorded it. */
function isOf(event: StoredEvent, network_id: string): boolean {
  return event.payload?.['network_id'] === toWireId(network_id)
}

/** Judges for one organization; what it changes is gathered with the rest of the batch. */
export class Judge {
  readonly #org_id: number
  readonly #known: Known
  readonly #changes: Changes
  readonly #at: string
  readonly #telling: Telling

  /** `at` is the moment all of it happens, as the database writes it. */
  constructor(org_id: number, known: Known, changes: Changes, at: string, telling: Telling) {
    this.#org_id = org_id
    this.#known = known
    this.#changes = changes
    this.#at = at
    this.#telling = telling
  }

  /** How an event stands. Of one that was not looked up nothing was said: nobody asks for others. */
  presentOf(event: StoredEvent): Present {
    return this.#known.revised.get(event.id) ?? asRecorded(event)
  }

  revise(item: Revision): Revised | Refusal {
    const event = this.#eventOf(item)
    if (event instanceof Refusal) return event
    const present = this.presentOf(event)
    if (item.follows !== undefined && item.follows !== present.seq)
      return { event, before: present, present, isNew: false }
    return this.#tell(this.#say(event, item))
  }

  #eventOf({ click_id, of }: Revision): StoredEvent | Refusal {
    const events = this.#known.ofClick.get(click_id) ?? []
    if ('network_id' in of) return eventMeant(events, of, event => this.#known.revised.has(event.id))
    return events.find(({ id }) => id === of.event_id) ?? new Refusal('object_not_found')
  }

  /** Puts a conversion of this batch on hold; it is told together with the conversion. */
  hold(event: StoredEvent, standing: Standing): Present {
    const { network_id, reason, hold_days } = standing
    const held = this.#say(event, {
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

  /**
   * The event a network's conversion of a type stands for, where it was recorded before: its own, else one of the transaction that was held, else
   * one of the transaction that has the type, because a call that names no event may have recorded it.
   */
  recorded(item: Conversion, type: EventType): StoredEvent | undefined {
    const own = this.#known.events.get(item.id)
    if (own !== undefined) return own
    const events = this.#ofTransaction(item)
    const held = item.nonce === null ? undefined : events.find(event => this.presentOf(event).was_held)
    return held ?? events.find(event => event.type === type && this.#isWorth(event))
  }

  /** Whether the network has reported this type of the transaction, worth nothing. */
  wasUnpaid(item: Conversion, type: EventType): boolean {
    return this.#ofTransaction(item).some(event => event.type === type && !this.#isWorth(event))
  }

  #ofTransaction({ click_id, nonce, standing }: Conversion): StoredEvent[] {
    if (standing === undefined) return []
    const events = this.#known.ofClick.get(click_id) ?? []
    return events.filter(event => event.nonce === nonce && isOf(event, standing.network_id))
  }

  /** Whether it was ever worth something, or something was said of it. */
  #isWorth(event: StoredEvent): boolean {
    const { seq, amount } = this.presentOf(event)
    return seq > 0 || amount > 0n
  }

  /** What a network's call says of a conversion that is recorded: a paid word approves what is held, and amends where it may. */
  again(event: StoredEvent, item: Conversion): Again | Refusal {
    const { standing, received_at } = item
    const present = this.presentOf(event)
    const foreign = foreignOf(item)
    const worth = this.#worthOf(event, { foreign, received_at })
    if (worth instanceof Refusal) return worth
    const payout = worth?.dollars ?? item.payout
    const stands = { present, payout }
    if (standing?.says !== 'paid') return stands
    if (!isOf(event, standing.network_id)) return stands
    const isPaid = present.status === 'approved'
    if (present.status !== 'pending' && !standing.amend) return stands
    if (isPaid && payout === undefined) return stands
    const { network_id, reason } = standing
    const said = { status: 'approved', amount: payout, reason, source: 'network', network_id, actor: null } as const
    const revised = this.#tell(this.#say(event, { ...said, foreign, received_at }))
    return revised instanceof Refusal ? revised : { present: revised.present, payout }
  }

  #worthOf(event: StoredEvent, { foreign, received_at }: Pick<Said, 'foreign' | 'received_at'>) {
    if (foreign === undefined) return undefined
    return worthOf(event.id, foreign, this.#known, dayReceived(received_at, this.#at))
  }

  /** What was said of a conversion is told in the same transaction. */
  #tell(revised: Revised | Refusal): Revised | Refusal {
    if (revised instanceof Refusal || !revised.isNew) return revised
    const click = this.#known.clicks.get(revised.event.click_id)
    if (click !== undefined) this.#telling.revised(revised.event, click, revised.before, revised.present)
    return revised
  }

  #say(event: StoredEvent, said: Said): Revised | Refusal {
    const present = this.presentOf(event)
    const worth = this.#worthOf(event, said)
    if (worth instanceof Refusal) return worth
    const next = wanted(event, present, { status: said.status, amount: worth?.dollars ?? said.amount })
    const click = this.#known.clicks.get(event.click_id)
    if (!isChange(present, next)) {
      // What the version before added beside figures that it does not know is counted with this.
      this.count(click, event.type, present, present)
      return { event, before: present, present, isNew: false }
    }
    if (present.seq >= MOST_REVISIONS) return new Refusal('too_many_revisions')
    // Where it was counted went with it.
    if (click === undefined) return new Refusal('click_not_kept')
    const revised = { ...next, seq: present.seq + 1, was_held: present.was_held || next.status === 'pending' }
    this.#known.revised.set(event.id, revised)
    this.count(click, event.type, present, revised)
    this.#write(event, revised, said, worth?.rate)
    return { event, before: present, present: revised, isNew: true }
  }

  #write(event: StoredEvent, { seq, status, amount }: Present, said: Said, rate: string | undefined): void {
    const { foreign, reason, source, network_id, actor, hold_days = null } = said
    const row = { org_id: this.#org_id, event_id: event.id, seq, status, amount: fromMillionths(amount) }
    if (foreign !== undefined && rate !== undefined) this.#known.booked.put(event.id, foreign.currency, rate)
    const original = {
      original_amount: foreign?.amount ?? null,
      original_currency: foreign?.currency ?? null,
      rate: rate ?? null,
    }
    this.#changes.revisions.push({ ...row, ...original, reason, source, network_id, actor })
    this.#changes.hold({ ...row, click_id: event.click_id }, status === 'pending' ? hold_days : null)
  }

  /**
   * Counts an event of the click as it stands now instead of as it stood before, null: it was not there. Revenue is the sum of what its
   * events count for, null when there is none.
   */
  count(click: KnownClick | undefined, type: EventType, before: Present | null, now: Present): void {
    if (click === undefined) return
    const more = effective(now) - (before === null ? 0n : effective(before))
    const standing = this.#standing(click, before, now)
    const isOtherwise = before === null || placeOf(before) !== placeOf(now)
    if (more === 0n && standing === click.standing && !isOtherwise) return
    this.#changes.touch(this.#org_id, click)
    if (before !== null && isOtherwise) click.conversions = withOne(click.conversions, type, placeOf(before), -1)
    if (isOtherwise) click.conversions = withOne(click.conversions, type, placeOf(now), 1)
    const revenue = (click.revenue ?? 0n) + more
    click.revenue = revenue === 0n ? null : revenue
    click.standing = standing
  }

  /** Conversions of the version before were not counted: only who has read all of the click's can, and does. */
  #standing(click: KnownClick, before: Present | null, now: Present): Standings | null {
    const all = this.#known.ofClick.get(click.id)
    if (all !== undefined) {
      const whole = sumOf(all.map(event => standingOf(this.presentOf(event))))
      return isAlike(whole, click.standing ?? NOTHING) ? click.standing : whole
    }
    const [was, is] = [before === null ? NOTHING : standingOf(before), standingOf(now)]
    if (isAlike(was, is) || (click.standing === null && click.revenue !== null)) return click.standing
    return sumOf([click.standing ?? NOTHING, is], was)
  }
}

/** Where an event is counted among those of its type: approved, pending, or rejected like refunds and chargebacks. */
const placeOf = ({ status }: Present): 0 | 1 | 2 => (status === 'approved' ? 0 : status === 'pending' ? 1 : 2)

const NOTHING: Standings = { approved: 0, pending: 0, rejected: 0, held: 0n }

/** As what an event is counted: without revisions only where it pays. */
function standingOf({ seq, status, amount }: Present): Standings {
  if (status === 'pending') return { ...NOTHING, pending: 1, held: amount }
  if (status !== 'approved') return { ...NOTHING, rejected: 1 }
  return seq > 0 || amount > 0n ? { ...NOTHING, approved: 1 } : NOTHING
}

function sumOf(all: readonly Standings[], less: Standings = NOTHING): Standings {
  const sum = (of: (one: Standings) => number) => all.reduce((total, one) => total + of(one), -of(less))
  return {
    approved: sum(one => one.approved),
    pending: sum(one => one.pending),
    rejected: sum(one => one.rejected),
    held: all.reduce((total, one) => total + one.held, -less.held),
  }
}

function isAlike(one: Standings, other: Standings): boolean {
  const isCountedAlike =
    one.approved === other.approved && one.pending === other.pending && one.rejected === other.rejected
  return isCountedAlike && one.held === other.held
}
