// Clicks that were seen on a landing page or on their way to an offer rise to landed. Nobody on the other side can send it again, so
// what cannot be written now is kept and tried until it can.
import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import type { Clicks } from '../clicks/clicks.ts'
import { within } from '../clicks/deadline.ts'
import type { Conversions } from '../events/conversions.ts'

export type Landed = {
  /** Raises the click; resolves when that is written, or after a second, when it goes on in the background. Never rejects. */
  mark: (org_id: number, click_id: string) => Promise<void>
  /** Ends trying. Call it while conversions are still taken. */
  close: () => Promise<void>
}

/** A visitor waits for his redirect. */
const WAIT_MS = 1000
const AGAIN_MS = 1000
/** Bounds the memory of a long outage, and what is tried at once when it ends. */
const MOST_KEPT = 100_000
const MOST_AT_ONCE = 500
/** A page that is opened again and again, or a flood of beacons, is written once. */
const REMEMBERED = 50_000

type Parts = { conversions: Pick<Conversions, 'raise'>; clicks: Pick<Clicks, 'isKept'>; log: Logger }

/** Opens the raising of clicks; what waits is in this process only. */
export function openLanded({ conversions, clicks, log }: Parts): Landed {
  /** Organizations by the click that waits. */
  const kept = new Map<string, number>()
  const done = new LRUCache<string, true>({ max: REMEMBERED })
  let trying: Promise<unknown> | undefined

  const raise = async (org_id: number, click_id: string): Promise<void> => {
    if (done.has(click_id)) return void kept.delete(click_id)
    try {
      await conversions.raise(org_id, click_id)
      done.set(click_id, true)
      kept.delete(click_id)
    } catch (error) {
      log.debug({ err: error }, 'a click could not be raised yet')
      // Behind the others, which may have another node to go to.
      kept.delete(click_id)
      if (kept.size < MOST_KEPT) kept.set(click_id, org_id)
    }
  }
  const tryAgain = () => {
    if (trying !== undefined || kept.size === 0) return
    const isInJournal = clicks.isKept()
    const some = [...kept].filter(([, org_id]) => !isInJournal(org_id)).slice(0, MOST_AT_ONCE)
    trying = Promise.all(some.map(([click_id, org_id]) => raise(org_id, click_id))).finally(() => (trying = undefined))
  }
  const timer = setInterval(tryAgain, AGAIN_MS)
  timer.unref()

  return {
    mark: (org_id, click_id) => within(WAIT_MS, raise(org_id, click_id)).catch(() => {}),
    async close() {
      clearInterval(timer)
      await trying
      if (kept.size > 0) log.warn({ clicks: kept.size }, 'clicks that were seen on a landing page stay as they were')
    },
  }
}
