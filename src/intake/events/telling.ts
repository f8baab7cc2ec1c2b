/**
 * Whom a conversion is told, decided within a batch: when it is recorded, and when something is said of it later. The deliveries are written in
 * the same transaction as what they tell of.
 */
import { hasAmount } from '../../contract/revisions.ts'
import { toMillionths } from '../../money/billing/money.ts'
import { whyNotRestated, whyTooOld } from '../../outgoing/ad-accounts/restating.ts'
import { isCalledFor, isOnRecorded, isOnRevision } from '../../outgoing/postbacks/matching.ts'
import type { Changes } from './changes.ts'
import type { Known, KnownClick, Present, StoredEvent } from './known.ts'
import type { Account } from './targets.ts'

type Told = StoredEvent & { readonly person_id: string }

/** For one organization; `isEmpty` says whether its deliveries have to wait for a top-up. */
export class Telling {
  readonly #org_id: number
  readonly #known: Known
  readonly #changes: Changes
  readonly #at: string
  readonly #isEmpty: () => boolean

  constructor(org_id: number, known: Known, changes: Changes, at: string, isEmpty: () => boolean) {
    this.#org_id = org_id
    this.#known = known
    this.#changes = changes
    this.#at = at
    this.#isEmpty = isEmpty
  }

  /** A conversion was recorded; `held` is how it stands where it was put on hold at once. */
  recorded(event: Told, click: KnownClick, held: Present | undefined): void {
    if (!isTold(click)) return
    this.#call(event, click, 0, told_on => isOnRecorded(told_on, held !== undefined))
    if (held !== undefined) this.#call(event, click, held.seq, told_on => isOnRevision(told_on, held.status))
    event.is_withheld = held !== undefined
    const account = accountOf(click, this.#known.accounts)
    if (!account?.sends.includes(event.type) || (held !== undefined && account.send_when === 'approved')) return
    this.#deliver(event, 'ad_account', account.id, 0)
    this.#known.told.set(event.id, [account.id])
  }

  /** Something was said of a conversion that had been recorded before. */
  revised(event: StoredEvent, click: KnownClick, before: Present, present: Present): void {
    const { person_id } = event
    if (person_id === undefined || !isTold(click)) return
    this.#call({ ...event, person_id }, click, present.seq, told_on => isOnRevision(told_on, present.status))
    const told = this.#known.told.get(event.id)
    if (told === undefined) this.#tellApproved(event, click, present)
    for (const { id, ...account } of this.#known.accounts)
      if (told?.includes(id) && isLess(event, before, present)) {
        const reason = whyNotRestated(account, { status: present.status, isWorth: present.amount > 0n })
        this.#deliver(event, 'ad_account', id, present.seq, { reason })
      }
  }

  /**
   * A conversion that was held when it was recorded, to an account that waits for the approval: as its first delivery, so that the outbox's
   * own index keeps it to one, however often it is approved.
   */
  #tellApproved(event: StoredEvent, click: KnownClick, { status }: Present): void {
    if (status !== 'approved' || event.is_withheld !== true) return
    const account = accountOf(click, this.#known.accounts)
    if (account?.send_when !== 'approved' || !account.sends.includes(event.type)) return
    const reason = whyTooOld(account.platform, msOf(this.#at) - msOf(event.created_at))
    this.#deliver(event, 'ad_account', account.id, 0, { reason, mayBeThere: true })
    this.#known.told.set(event.id, reason === undefined ? [account.id] : [])
  }

  #call(event: Told, click: KnownClick, seq: number, isOn: (told_on: string | null) => boolean): void {
    for (const { id, told_on, once_per_person, ...rule } of this.#known.rules) {
      if (!isOn(told_on) || !isCalledFor(rule, event, click)) continue
      this.#deliver(event, 'postback', id, seq, once_per_person ? { person_id: event.person_id } : {})
    }
  }

  #deliver(
    event: StoredEvent,
    kind: 'postback' | 'ad_account',
    target_id: string,
    seq: number,
    { person_id = null, reason = null, mayBeThere = person_id !== null }: More = {},
  ): void {
    const due = this.#isEmpty() ? 'held' : 'pending'
    const state = reason === null ? due : 'skipped'
    const to = { kind, target_id, seq, state, reason, person_id, mayBeThere } as const
    this.#changes.deliveries.push({ org_id: this.#org_id, event, ...to })
  }
}

type More = {
  readonly person_id?: string | null
  /** Why it is skipped. */
  readonly reason?: string | null | undefined
  readonly mayBeThere?: boolean
}

/** Whether a conversion is said to be worth less than it was, or nothing: being held says nothing yet. */
function isLess({ payout }: StoredEvent, before: Present, present: Present): boolean {
  if (present.status === 'pending') return false
  if (present.status !== 'approved') return hasAmount(before.status)
  return present.amount < (hasAmount(before.status) ? before.amount : toMillionths(payout ?? '0'))
}

/** A time as the database writes it, in the form of the wire. */
const isoOf = (at: string): string => at.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00')

const msOf = (at: string): number => Date.parse(isoOf(at))

const isTold = ({ test, suppressed_delivery }: KnownClick): boolean => !test && !suppressed_delivery

/**
 * The account a click's conversions are told to: its campaign's, else the one of the platform whose click id it carries. Of several none:
 * what was told to the wrong advertiser cannot be taken back, and the campaign can name the right one.
 */
function accountOf(click: KnownClick, accounts: readonly Account[]): Account | undefined {
  if (click.ad_account_id !== null) return accounts.find(({ id }) => id === click.ad_account_id)
  if (click.platform === null) return undefined
  const [only, ...others] = accounts.filter(({ platform }) => platform === click.platform)
  return others.length === 0 ? only : undefined
}
