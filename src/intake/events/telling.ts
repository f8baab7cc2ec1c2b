/**
 * Whom a conversion is told, decided within a batch: when it is recorded, and when something is said of it later. The deliveries are written in
 * the same transaction as what they tell of.
 */
import { isCalledFor, isOnRecorded, isOnRevision } from '../../outgoing/postbacks/matching.ts'
import type { Changes } from './changes.ts'
import type { Account, Known, KnownClick, Present, StoredEvent } from './known.ts'

type Told = StoredEvent & { readonly person_id: string }

/** For one organization; `isEmpty` says whether its deliveries have to wait for a top-up. */
export class Telling {
  readonly #org_id: number
  readonly #known: Known
  readonly #changes: Changes
  readonly #isEmpty: () => boolean

  constructor(org_id: number, known: Known, changes: Changes, isEmpty: () => boolean) {
    this.#org_id = org_id
    this.#known = known
    this.#changes = changes
    this.#isEmpty = isEmpty
  }

  /** A conversion was recorded; `held` is how it stands where it was put on hold at once. */
  recorded(event: Told, click: KnownClick, held: Present | undefined): void {
    if (!isTold(click)) return
    this.#call(event, click, 0, told_on => isOnRecorded(told_on, held !== undefined))
    if (held !== undefined) this.#call(event, click, held.seq, told_on => isOnRevision(told_on, held.status))
    const account = accountOf(click, this.#known.accounts)
    if (account?.sends.includes(event.type)) this.#deliver(event, 'ad_account', account.id, 0)
  }

  /** Something was said of a conversion that had been recorded before. */
  revised(event: StoredEvent, click: KnownClick, present: Present): void {
    const { person_id } = event
    if (person_id === undefined || !isTold(click)) return
    this.#call({ ...event, person_id }, click, present.seq, told_on => isOnRevision(told_on, present.status))
  }

  #call(event: Told, click: KnownClick, seq: number, isOn: (told_on: string | null) => boolean): void {
    for (const { id, told_on, once_per_person, ...rule } of this.#known.rules) {
      if (!isOn(told_on) || !isCalledFor(rule, event, click)) continue
      this.#deliver(event, 'postback', id, seq, once_per_person ? event.person_id : null)
    }
  }

  #deliver(
    event: StoredEvent,
    kind: 'postback' | 'ad_account',
    target_id: string,
    seq: number,
    person_id: string | null = null,
  ): void {
    const state = this.#isEmpty() ? 'held' : 'pending'
    this.#changes.deliveries.push({ org_id: this.#org_id, event, kind, target_id, seq, state, person_id })
  }
}

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
