// What a batch adds to the counts of caps, and which of them it fills: in the transaction of the conversions themselves.
import { msOf, type CapPeriodSpan, periodAt } from '../../traffic/caps/period.ts'
import type { CapPeriod } from '../../traffic/caps/api.ts'

/** What of a conversion says which caps it counts for. */
type Counting = { readonly offer_id: string | null; readonly campaign_id: string | null; readonly type: string }

/** A cap on conversions that is in use, with what was counted in the latest period it has; null where nothing was. */
export type CapRow = {
  id: string
  object_id: string
  event_types: string[]
  limit: number
  period: CapPeriod
  timezone: string
  period_start: string | null
  used: number | null
}

type Count = { org_id: number; cap_id: string; period_start: string; used: number; reached_at: string | null }
type Filled = { org_id: number; id: string; closed_until: string }

/** The count of one cap in the period of the batch. */
class Tally {
  readonly #cap: CapRow
  readonly #period: CapPeriodSpan
  readonly #before: number
  #used: number

  constructor(cap: CapRow, at_ms: number) {
    this.#cap = cap
    this.#period = periodAt(cap, at_ms)
    const isSame = cap.period_start !== null && msOf(cap.period_start) === this.#period.start_ms
    this.#before = isSame ? (cap.used ?? 0) : 0
    this.#used = this.#before
  }

  add(event: Counting): void {
    const { object_id, event_types } = this.#cap
    if (event.offer_id !== object_id && event.campaign_id !== object_id) return
    if (event_types.length === 0 || event_types.includes(event.type)) this.#used += 1
  }

  /** Whether the limit was reached by what was added; once in a period, because what is there already is not undone. */
  #isFilled(): boolean {
    return this.#before < this.#cap.limit && this.#used >= this.#cap.limit
  }

  counted(org_id: number, at: string): Count[] {
    const used = this.#used - this.#before
    const { start: period_start } = this.#period
    const reached_at = this.#isFilled() ? at : null
    return used === 0 ? [] : [{ org_id, cap_id: this.#cap.id, period_start, used, reached_at }]
  }

  filled(org_id: number): Filled[] {
    return this.#isFilled() ? [{ org_id, id: this.#cap.id, closed_until: this.#period.end }] : []
  }
}

/** Counts the conversions of a batch for the caps of its organizations. */
export class CapCounts {
  readonly #tallies = new Map<number, Tally[]>()

  /** Takes the caps of an organization along; `at` is the moment its conversions happen at. */
  concern(org_id: number, caps: readonly CapRow[], at: string): void {
    if (caps.length === 0) return
    const at_ms = msOf(at)
    this.#tallies.set(
      org_id,
      caps.map(cap => new Tally(cap, at_ms)),
    )
  }

  /** A conversion that is recorded and no test, whenever its click was made. */
  add(org_id: number, event: Counting): void {
    for (const tally of this.#tallies.get(org_id) ?? []) tally.add(event)
  }

  counted(at: string): Count[] {
    return this.#all().flatMap(([org_id, tally]) => tally.counted(org_id, at))
  }

  /** The caps whose limit is reached from now on. */
  filled(): Filled[] {
    return this.#all().flatMap(([org_id, tally]) => tally.filled(org_id))
  }

  #all(): [number, Tally][] {
    return [...this.#tallies].flatMap(([org_id, tallies]) => tallies.map((tally): [number, Tally] => [org_id, tally]))
  }
}
