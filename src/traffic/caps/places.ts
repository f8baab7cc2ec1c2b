/**
 * The places of caps on clicks that this process may give away. It takes them from the cap's row in transactions of their own, ahead of the
 * visitors, so that no redirect holds a lock and the limit is never passed, however many processes there are. What a process has taken and not
 * told of is `reserved`: after a crash it stays so, and is not given to anybody.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds } from '../../ground/rounds.ts'
import type { LiveCap } from '../campaigns/live.ts'
import { type Leased, lease, NotLeased } from './lease.ts'
import { type Period, periodAt } from './period.ts'

/** A visitor waits so long for the places of a cap that this process has none of. */
const PATIENCE_MS = 1000
/** What was used is told so often. */
const TELL_MS = 2000
/** Places that nobody has come for meanwhile go back, for other processes. */
const IDLE_MS = 5000
/** While the database does not answer it is asked so often. */
const AGAIN_MS = 2000

export type Places = {
  /** Whether this process has no place of a cap and knows of none. Nothing but a look-up. */
  isSpent(cap: LiveCap, ms: number): boolean
  /** Takes a place of each of these caps or of none; false where one has none left. Waits where places must be asked for first. */
  take(caps: readonly LiveCap[], ms: number): boolean | Promise<boolean>
  /** Tells what was used and gives back the rest. */
  close(): Promise<void>
}

/** Opens the places of this process, none at first. Visitors wait `patience_ms` for one. */
export function openPlaces({ db, log }: Pick<Ground, 'db' | 'log'>, patience_ms = PATIENCE_MS): Places {
  const holdings = new Map<string, Holding>()
  const retired = new Set<Holding>()

  const of = (cap: LiveCap, ms: number): Holding => {
    const known = holdings.get(cap.id)
    if (known?.isFor(cap, ms) === true) return known
    if (known !== undefined) retired.add(known)
    const fresh = new Holding(db, cap, periodAt(cap, ms))
    holdings.set(cap.id, fresh)
    return fresh
  }
  const onError = (error: unknown) =>
    log.warn({ err: error }, 'what caps on clicks have used could not be written; it is tried again')
  const tell = async () => {
    // Each for itself: they are of many organizations.
    for (const holding of retired) if (await holding.giveBack().catch(onError)) retired.delete(holding)
    for (const holding of holdings.values()) await holding.tell(performance.now() - IDLE_MS).catch(onError)
  }
  const rounds = openRounds('caps/places', TELL_MS, tell, onError)

  const takeWaiting = async (caps: readonly LiveCap[], ms: number): Promise<boolean> => {
    const until = performance.now() + patience_ms
    for (;;) {
      const wanted = caps.map(cap => of(cap, ms)).filter(holding => !holding.hasPlace())
      if (wanted.length === 0) return takeAll(caps.map(cap => of(cap, ms)))
      if (wanted.some(holding => holding.isSpent())) return false
      const left_ms = until - performance.now()
      if (left_ms <= 0) return false
      await Promise.race([
        Promise.all(wanted.map(holding => holding.ask())),
        sleep(left_ms, undefined, { ref: false }).then(() => wanted.forEach(holding => holding.giveUp())),
      ])
    }
  }
  return {
    isSpent(cap, ms) {
      const known = holdings.get(cap.id)
      return known?.isFor(cap, ms) === true ? known.isSpent() : cap.closed_ms !== null && cap.closed_ms > ms
    },
    take(caps, ms) {
      const held = caps.map(cap => of(cap, ms))
      return held.every(holding => holding.hasPlace()) ? takeAll(held) : takeWaiting(caps, ms)
    },
    async close() {
      await rounds.close()
      await Promise.allSettled([...retired, ...holdings.values()].map(holding => holding.giveBack()))
    },
  }
}

function takeAll(holdings: readonly Holding[]): true {
  for (const holding of holdings) holding.take()
  return true
}

/** What this process holds of a cap in one of its periods. */
class Holding {
  readonly #db: Kysely<Tables>
  readonly #period: Period
  #cap: LiveCap
  #left = 0
  /** So many were taken at last: with a quarter of them left more are asked for. */
  #size = 0
  #used = 0
  /** Given without a place, because nobody could say. */
  #beyond = 0
  #taken_at = 0
  #asking: Promise<void> | undefined
  #isOut = false
  /** Until when the database is not asked, because it did not answer. */
  #unknown_until = 0

  constructor(db: Kysely<Tables>, cap: LiveCap, period: Period) {
    this.#db = db
    this.#cap = cap
    this.#period = period
    this.#isOut = cap.closed_ms !== null && cap.closed_ms >= period.end_ms
  }

  /** Whether it is of the cap as it is, and of the period of this moment. What has changed otherwise may let it ask again. */
  isFor(cap: LiveCap, ms: number): boolean {
    if (ms >= this.#period.end_ms || ms < this.#period.start_ms) return false
    if (cap === this.#cap) return true
    const { limit, period, timezone } = this.#cap
    if (cap.limit !== limit || cap.period !== period || cap.timezone !== timezone) return false
    this.#cap = cap
    this.#isOut = cap.closed_ms !== null && cap.closed_ms > ms
    return true
  }

  #isUnknown(): boolean {
    return performance.now() < this.#unknown_until
  }

  hasPlace(): boolean {
    return this.#left > 0 || (this.#cap.when_unknown === 'open' && this.#isUnknown())
  }

  isSpent(): boolean {
    return !this.hasPlace() && (this.#isOut || this.#isUnknown())
  }

  take(): void {
    this.#taken_at = performance.now()
    if (this.#left === 0) {
      this.#beyond += 1
      return
    }
    this.#left -= 1
    this.#used += 1
    if (this.#left <= this.#size / 4 && !this.#isOut && !this.#isUnknown()) void this.ask()
  }

  /** Asks for more places, once at a time. Never rejects. */
  ask(): Promise<void> {
    this.#asking ??= this.#lease('more').then(
      ({ places }) => {
        this.#left += places
        this.#size = places
        this.#isOut = places === 0
        this.#asking = undefined
      },
      () => {
        this.giveUp()
        this.#asking = undefined
      },
    )
    return this.#asking
  }

  /** The database has not answered in time. */
  giveUp(): void {
    this.#unknown_until = performance.now() + AGAIN_MS
  }

  /** Tells what was used, and gives back what nobody has come for since then. */
  async tell(idle_since: number): Promise<void> {
    if (this.#asking !== undefined) return
    const isIdle = this.#left > 0 && this.#taken_at < idle_since
    if (isIdle) await this.giveBack()
    else if (this.#used + this.#beyond > 0) await this.#lease('none')
  }

  /** Tells what was used and gives back the rest; false while places are asked for. @throws what the database throws */
  async giveBack(): Promise<boolean> {
    await this.#asking
    if (this.#left + this.#used + this.#beyond > 0) await this.#lease('rest')
    return this.#asking === undefined
  }

  async #lease(wants: 'more' | 'none' | 'rest'): Promise<Leased> {
    const { id: cap_id, org_id } = this.#cap
    const [used, beyond] = [this.#used, this.#beyond]
    const returned = wants === 'rest' ? this.#left : 0
    this.#used -= used
    this.#beyond -= beyond
    this.#left -= returned
    try {
      const period_start = this.#period.start
      return await lease(this.#db, org_id, {
        cap_id,
        period_start,
        used,
        beyond,
        returned,
        wantsMore: wants === 'more',
      })
    } catch (error) {
      // Where it is not known whether it was written it is not told again, lest it counts twice: it stays reserved, and nobody gets it.
      if (error instanceof NotLeased) {
        this.#used += used
        this.#beyond += beyond
        this.#left += returned
      }
      throw error
    }
  }
}
