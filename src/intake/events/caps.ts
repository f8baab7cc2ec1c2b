// Counts a batch's conversions for caps, and closes the caps that reach their limit, in the transaction of the conversions.
import { msOf, type CapPeriodSpan, periodAt } from '../../traffic/caps/period.ts'
import type { CapPeriod } from '../../traffic/caps/api.ts'

/** The fields of a conversion that decide for which caps it counts. */
type CountedConversion = {
  readonly offer_id: string | null
  readonly campaign_id: string | null
  readonly type: string
}

/** An active cap on conversions, with the count of its latest period; null if it has none. */
export type ConversionCap = {
  id: string
  object_id: string
  event_types: string[]
  limit: number
  period: CapPeriod
  timezone: string
  period_start: string | null
  used: number | null
}

type CapCount = { org_id: number; cap_id: string; period_start: string; used: number; reached_at: string | null }
type FilledCap = { org_id: number; id: string; closed_until: string }

/** The count of one cap in the period of the batch. */
class Tally {
  readonly #cap: ConversionCap
  readonly #period: CapPeriodSpan
  readonly #before: number
  #used: number

  constructor(cap: ConversionCap, at_ms: number) {
    this.#cap = cap
    this.#period = periodAt(cap, at_ms)
    const isSame = cap.period_start !== null && msOf(cap.period_start) === this.#period.start_ms
    this.#before = isSame ? (cap.used ?? 0) : 0
    this.#used = this.#before
  }

  add(event: CountedConversion): void {
    const { object_id, event_types } = this.#cap
    if (event.offer_id !== object_id && event.campaign_id !== object_id) return
    if (event_types.length === 0 || event_types.includes(event.type)) this.#used += 1
  }

  /** Whether this batch reached the limit. True once per period, because counts never fall. */
  #isFilled(): boolean {
    return this.#before < this.#cap.limit && this.#used >= this.#cap.limit
  }

  counted(org_id: number, at: string): CapCount[] {
    const used = this.#used - this.#before
    const { start: period_start } = this.#period
    const reached_at = this.#isFilled() ? at : null
    return used === 0 ? [] : [{ org_id, cap_id: this.#cap.id, period_start, used, reached_at }]
  }

  filled(org_id: number): FilledCap[] {
    return this.#isFilled() ? [{ org_id, id: this.#cap.id, closed_until: this.#period.end }] : []
  }
}

/** Counts the conversions of a batch for the caps of its organizations. */
export class CapCounts {
  readonly #tallies = new Map<number, Tally[]>()

  /** Adds the caps of an organization; `at` is the time of its conversions. */
  addOrganization(org_id: number, caps: readonly ConversionCap[], at: string): void {
    if (caps.length === 0) return
    const at_ms = msOf(at)
    this.#tallies.set(
      org_id,
      caps.map(cap => new Tally(cap, at_ms)),
    )
  }

  /** Counts a new conversion that is not a test. */
  add(org_id: number, event: CountedConversion): void {
    for (const tally of this.#tallies.get(org_id) ?? []) tally.add(event)
  }

  counted(at: string): CapCount[] {
    return this.#all().flatMap(([org_id, tally]) => tally.counted(org_id, at))
  }

  /** The caps whose limit is reached from now on. */
  filled(): FilledCap[] {
    return this.#all().flatMap(([org_id, tally]) => tally.filled(org_id))
  }

  #all(): [number, Tally][] {
    return [...this.#tallies].flatMap(([org_id, tallies]) => tallies.map((tally): [number, Tally] => [org_id, tally]))
  }
}
