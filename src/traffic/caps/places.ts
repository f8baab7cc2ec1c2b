/**
 * The places of caps on clicks that this process may give to visitors. It reserves them from the cap's row ahead of the visitors, in separate
 * transactions, so that no redirect holds a lock and the limit is never exceeded, however many processes there are. Places that a process has
 * reserved but not yet reported are `reserved`. After a crash they stay reserved and no visitor gets them.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds } from '../../ground/rounds.ts'
import type { LiveCap } from '../campaigns/live.ts'
import { NothingWritten, reportCapUse, type ReservedPlaces } from './lease.ts'
import { type CapPeriodSpan, periodAt } from './period.ts'

/** How long a visitor waits for places if this process has none left. */
const PATIENCE_MS = 1000
/** How often use is reported. */
const REPORT_MS = 2000
/** Places unused for this long are returned, for other processes. */
const IDLE_MS = 5000
/** How long to wait after the database did not answer. */
const RETRY_MS = 2000

export type Places = {
  /** Whether this process has no place of a cap and can get none. Only a look-up. */
  isSpent(cap: LiveCap, ms: number): boolean
  /** Takes a place of each cap, or of none; false if a cap has none left. Waits if places must be reserved first. */
  take(caps: readonly LiveCap[], ms: number): boolean | Promise<boolean>
  /** Gives back a place of each cap, taken at `ms` by a visit that turned out to be a click which was there before. */
  putBack(caps: readonly LiveCap[], ms: number): void
  /** Reports the use and returns unused places. */
  close(): Promise<void>
}

/** Opens the places of this process, none at first. A visitor waits at most `patience_ms` for one. */
export function openPlaces({ db, log }: Pick<Ground, 'db' | 'log'>, patience_ms = PATIENCE_MS): Places {
  const held = new Map<string, CapPlaces>()
  /** Places of earlier periods, or of caps that have changed since. */
  const retired = new Set<CapPlaces>()

  const placesOf = (cap: LiveCap, ms: number): CapPlaces => {
    const current = held.get(cap.id)
    if (current?.isFor(cap, ms) === true) return current
    if (current !== undefined) retired.add(current)
    const fresh = new CapPlaces(db, cap, periodAt(cap, ms))
    held.set(cap.id, fresh)
    return fresh
  }
  const onError = (error: unknown) => log.warn({ err: error }, 'could not report the use of caps on clicks; retrying')
  const report = async () => {
    // One by one: a failure of one organization's cap must not stop the others.
    for (const places of retired) if (await places.giveBack().catch(onError)) retired.delete(places)
    for (const places of held.values()) await places.report(performance.now() - IDLE_MS).catch(onError)
  }
  const rounds = openRounds('caps/places', REPORT_MS, report, onError)

  const takeWaiting = async (caps: readonly LiveCap[], ms: number): Promise<boolean> => {
    const until = performance.now() + patience_ms
    for (;;) {
      const empty = caps.map(cap => placesOf(cap, ms)).filter(places => !places.hasPlace())
      if (empty.length === 0) return takeAll(caps.map(cap => placesOf(cap, ms)))
      if (empty.some(places => places.isSpent())) return false
      const left_ms = until - performance.now()
      if (left_ms <= 0) return false
      await Promise.race([
        Promise.all(empty.map(places => places.reserveMore())),
        sleep(left_ms, undefined, { ref: false }).then(() => empty.forEach(places => places.giveUp())),
      ])
    }
  }
  return {
    isSpent(cap, ms) {
      const current = held.get(cap.id)
      return current?.isFor(cap, ms) === true ? current.isSpent() : cap.closed_ms !== null && cap.closed_ms > ms
    },
    take(caps, ms) {
      const all = caps.map(cap => placesOf(cap, ms))
      return all.every(places => places.hasPlace()) ? takeAll(all) : takeWaiting(caps, ms)
    },
    putBack(caps, ms) {
      for (const cap of caps) {
        const current = held.get(cap.id)
        // If the period has ended or changed, nobody looks at its count any more.
        if (current?.counts(cap, ms) === true) current.putBack()
      }
    },
    async close() {
      await rounds.close()
      await Promise.allSettled([...retired, ...held.values()].map(places => places.giveBack()))
    },
  }
}

function takeAll(all: readonly CapPlaces[]): true {
  for (const places of all) places.take()
  return true
}

/** The places of one cap in one period that this process holds. */
class CapPlaces {
  readonly #db: Kysely<Tables>
  readonly #period: CapPeriodSpan
  #cap: LiveCap
  #left = 0
  /** The size of the last reservation. When a quarter of it is left, more places are reserved. */
  #size = 0
  #used = 0
  /** Visitors who were taken without a place while the database did not answer, less those whose use is taken back. */
  #beyond = 0
  #taken_at = 0
  #reserving: Promise<void> | undefined
  /** Whether the cap is reached. */
  #isReached = false
  /** Until when the database is not asked again, after it did not answer. */
  #unknown_until = 0

  constructor(db: Kysely<Tables>, cap: LiveCap, period: CapPeriodSpan) {
    this.#db = db
    this.#cap = cap
    this.#period = period
    this.#isReached = cap.closed_ms !== null && cap.closed_ms >= period.end_ms
  }

  /** Whether these places still count for the cap at this time. A change of the cap that keeps limit, period and zone may open or close it. */
  isFor(cap: LiveCap, ms: number): boolean {
    if (ms >= this.#period.end_ms || ms < this.#period.start_ms) return false
    if (cap === this.#cap) return true
    const { limit, period, timezone } = this.#cap
    if (cap.limit !== limit || cap.period !== period || cap.timezone !== timezone) return false
    this.#cap = cap
    this.#isReached = cap.closed_ms !== null && cap.closed_ms > ms
    return true
  }

  /** Whether these places are of the period in which the cap counts a click of this time; its limit may have changed. */
  counts({ period, timezone }: LiveCap, ms: number): boolean {
    const isWithin = ms >= this.#period.start_ms && ms < this.#period.end_ms
    return isWithin && period === this.#cap.period && timezone === this.#cap.timezone
  }

  #isUnknown(): boolean {
    return performance.now() < this.#unknown_until
  }

  hasPlace(): boolean {
    return this.#left > 0 || (this.#cap.when_unknown === 'open' && this.#isUnknown())
  }

  isSpent(): boolean {
    return !this.hasPlace() && (this.#isReached || this.#isUnknown())
  }

  take(): void {
    this.#taken_at = performance.now()
    if (this.#left === 0) {
      this.#beyond += 1
      return
    }
    this.#left -= 1
    this.#used += 1
    if (this.#left <= this.#size / 4 && !this.#isReached && !this.#isUnknown()) void this.reserveMore()
  }

  /** Takes back that a place was used, with the next report. The place is then free for every process. */
  putBack(): void {
    this.#beyond -= 1
  }

  /** Reserves more places, one request at a time. Never rejects. */
  reserveMore(): Promise<void> {
    this.#reserving ??= this.#report('more').then(
      ({ places }) => {
        this.#left += places
        this.#size = places
        this.#isReached = places === 0
        this.#reserving = undefined
      },
      () => {
        this.giveUp()
        this.#reserving = undefined
      },
    )
    return this.#reserving
  }

  /** Notes that the database did not answer in time. */
  giveUp(): void {
    this.#unknown_until = performance.now() + RETRY_MS
  }

  /** Reports the use. Returns the places too if none was taken since `idle_since`. */
  async report(idle_since: number): Promise<void> {
    if (this.#reserving !== undefined) return
    const isIdle = this.#left > 0 && this.#taken_at < idle_since
    if (isIdle) await this.giveBack()
    else if (this.#used !== 0 || this.#beyond !== 0) await this.#report('none')
  }

  /** Reports the use and returns the unused places; false while more are being reserved. @throws the database's error */
  async giveBack(): Promise<boolean> {
    await this.#reserving
    if (this.#left > 0 || this.#used !== 0 || this.#beyond !== 0) await this.#report('rest')
    return this.#reserving === undefined
  }

  async #report(wants: 'more' | 'none' | 'rest'): Promise<ReservedPlaces> {
    const { id: cap_id, org_id } = this.#cap
    const [used, beyond] = [this.#used, this.#beyond]
    const returned = wants === 'rest' ? this.#left : 0
    this.#used -= used
    this.#beyond -= beyond
    this.#left -= returned
    try {
      const period_start = this.#period.start
      return await reportCapUse(this.#db, org_id, {
        cap_id,
        period_start,
        used,
        beyond,
        returned,
        wantsMore: wants === 'more',
      })
    } catch (error) {
      // If it is unknown whether the report was written, it is not repeated, because it could count twice. Its places stay reserved.
      if (error instanceof NothingWritten) {
        this.#used += used
        this.#beyond += beyond
        this.#left += returned
      }
      throw error
    }
  }
}
