/**
 * Decides within a batch where a conversion is delivered, when it is recorded and when it is revised. The deliveries are written in the same
 * transaction as the event or revision.
 */
import { msOfDatabase } from '../../contract/moments.ts'
import { hasAmount } from '../../contract/revisions.ts'
import { toMillionths } from '../../money/billing/money.ts'
import { whyNotRestated, whyTooOld } from '../../outgoing/ad-accounts/restating.ts'
import { isCalledFor, isOnRecorded, isOnRevision } from '../../outgoing/postbacks/matching.ts'
import type { Changes } from './changes.ts'
import type { OrganizationState, KnownClick, EventStanding, StoredEvent } from './organization-state.ts'
import type { Account } from './targets.ts'

type EventOfPerson = StoredEvent & { readonly person_id: string }

/** Decides for one organization; `isEmpty` returns whether its deliveries must wait for a top-up. */
export class DeliveryDecisions {
  readonly #org_id: number
  readonly #state: OrganizationState
  readonly #changes: Changes
  readonly #at: string
  readonly #isEmpty: () => boolean

  constructor(org_id: number, state: OrganizationState, changes: Changes, at: string, isEmpty: () => boolean) {
    this.#org_id = org_id
    this.#state = state
    this.#changes = changes
    this.#at = at
    this.#isEmpty = isEmpty
  }

  /** For a new conversion; `held` is its standing if it was put on hold at once. */
  recorded(event: EventOfPerson, click: KnownClick, held: EventStanding | undefined): void {
    if (!isDelivered(click)) return
    this.#call(event, click, 0, told_on => isOnRecorded(told_on, held !== undefined))
    if (held !== undefined) this.#call(event, click, held.seq, told_on => isOnRevision(told_on, held.status))
    event.is_withheld = held !== undefined
    const account = accountOf(click, this.#state.accounts)
    if (!account?.sends.includes(event.type) || (held !== undefined && account.send_when === 'approved')) return
    this.#deliver(event, 'ad_account', account.id, 0)
    this.#state.deliveredTo.set(event.id, [account.id])
  }

  /** For a revision of a conversion that was recorded before. */
  revised(event: StoredEvent, click: KnownClick, before: EventStanding, present: EventStanding): void {
    const { person_id } = event
    if (person_id === undefined || !isDelivered(click)) return
    this.#call({ ...event, person_id }, click, present.seq, told_on => isOnRevision(told_on, present.status))
    const deliveredTo = this.#state.deliveredTo.get(event.id)
    if (deliveredTo === undefined) this.#deliverApproved(event, click, present)
    for (const { id, ...account } of this.#state.accounts)
      if (deliveredTo?.includes(id) && isLess(event, before, present)) {
        const reason = whyNotRestated(account, { status: present.status, isWorth: present.amount > 0n })
        this.#deliver(event, 'ad_account', id, present.seq, { reason })
      }
  }

  /**
   * Delivers an approved conversion that was recorded on hold to an account that waits for the approval. It gets `seq` 0 like any first delivery, so
   * that the outbox's unique index allows one, however often it is approved.
   */
  #deliverApproved(event: StoredEvent, click: KnownClick, { status }: EventStanding): void {
    if (status !== 'approved' || event.is_withheld !== true) return
    const account = accountOf(click, this.#state.accounts)
    if (account?.send_when !== 'approved' || !account.sends.includes(event.type)) return
    const reason = whyTooOld(account.platform, msOfDatabase(this.#at) - msOfDatabase(event.created_at))
    this.#deliver(event, 'ad_account', account.id, 0, { reason, mayBeThere: true })
    this.#state.deliveredTo.set(event.id, reason === undefined ? [account.id] : [])
  }

  #call(event: EventOfPerson, click: KnownClick, seq: number, isOn: (told_on: string | null) => boolean): void {
    for (const { id, told_on, once_per_person, ...rule } of this.#state.rules) {
      if (!isOn(told_on) || !isCalledFor(rule, event, click)) continue
      this.#deliver(event, 'postback', id, seq, once_per_person ? { person_id: event.person_id } : {})
    }
  }

  #deliver(
    event: StoredEvent,
    kind: 'postback' | 'ad_account',
    target_id: string,
    seq: number,
    { person_id = null, reason = null, mayBeThere = person_id !== null }: DeliveryOptions = {},
  ): void {
    const due = this.#isEmpty() ? 'held' : 'pending'
    const state = reason === null ? due : 'skipped'
    const to = { kind, target_id, seq, state, reason, person_id, mayBeThere } as const
    this.#changes.deliveries.push({ org_id: this.#org_id, event, ...to })
  }
}

type DeliveryOptions = {
  readonly person_id?: string | null
  /** Why it is skipped. */
  readonly reason?: string | null | undefined
  readonly mayBeThere?: boolean
}

/** Whether a revision lowers a conversion's worth. A hold does not, because it may still be approved. */
function isLess({ payout }: StoredEvent, before: EventStanding, present: EventStanding): boolean {
  if (present.status === 'pending') return false
  if (present.status !== 'approved') return hasAmount(before.status)
  return present.amount < (hasAmount(before.status) ? before.amount : toMillionths(payout ?? '0'))
}

const isDelivered = ({ test, suppressed_delivery }: KnownClick): boolean => !test && !suppressed_delivery

/**
 * The ad account for a click's conversions: its campaign's, else the only one of the platform whose click id the click has. If there are several,
 * none: a conversion sent to the wrong advertiser cannot be taken back, and the campaign can name the right account.
 */
function accountOf(click: KnownClick, accounts: readonly Account[]): Account | undefined {
  if (click.ad_account_id !== null) return accounts.find(({ id }) => id === click.ad_account_id)
  if (click.platform === null) return undefined
  const [only, ...others] = accounts.filter(({ platform }) => platform === click.platform)
  return others.length === 0 ? only : undefined
}
