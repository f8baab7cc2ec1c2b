// Raises clicks to landed when their visitor opens a landing page or goes on to an offer. The browser does not send it again, so a raise that
// cannot be written now is kept in memory and retried.
import type { Logger } from 'pino'
import { keepRecent } from '../../ground/recent.ts'
import type { Clicks } from '../clicks/clicks.ts'
import { within } from '../clicks/deadline.ts'
import type { Conversions } from '../events/conversions.ts'

export type Landed = {
  /** Raises the click; resolves once that is written, or after a second and goes on in the background. Never rejects. */
  mark: (org_id: number, click_id: string) => Promise<void>
  /** Stops retrying. Call it while conversions are still accepted. */
  close: () => Promise<void>
}

/** A visitor is waiting for the redirect. */
const WAIT_MS = 1000
const AGAIN_MS = 1000
/** Limits the memory of a long outage, and the retries at once when it ends. */
const MOST_KEPT = 100_000
const MOST_AT_ONCE = 500
/** Repeated beacons of a click are written once. */
const REMEMBERED = 50_000

type LandedParts = { conversions: Pick<Conversions, 'raise'>; clicks: Pick<Clicks, 'isKept'>; log: Logger }

/** Starts raising clicks; waiting raises are in this process's memory only. */
export function openLanded({ conversions, clicks, log }: LandedParts): Landed {
  /** The organization of each click whose raise waits. */
  const waiting = new Map<string, number>()
  const done = keepRecent<true>(REMEMBERED)
  let trying: Promise<unknown> | undefined

  const raise = async (org_id: number, click_id: string): Promise<void> => {
    if (done.has(click_id)) return void waiting.delete(click_id)
    try {
      await conversions.raise(org_id, click_id)
      done.set(click_id, true)
      waiting.delete(click_id)
    } catch (error) {
      log.debug({ err: error }, 'could not raise a click yet; retrying')
      // To the end, because the others may be on another node.
      waiting.delete(click_id)
      if (waiting.size < MOST_KEPT) waiting.set(click_id, org_id)
    }
  }
  const tryAgain = () => {
    if (trying !== undefined || waiting.size === 0) return
    const isInJournal = clicks.isKept()
    const some = [...waiting].filter(([, org_id]) => !isInJournal(org_id)).slice(0, MOST_AT_ONCE)
    trying = Promise.all(some.map(([click_id, org_id]) => raise(org_id, click_id))).finally(() => (trying = undefined))
  }
  const timer = setInterval(tryAgain, AGAIN_MS)
  timer.unref()

  return {
    mark: (org_id, click_id) => within(WAIT_MS, raise(org_id, click_id)).catch(() => {}),
    async close() {
      clearInterval(timer)
      await trying
      if (waiting.size > 0)
        log.warn({ clicks: waiting.size }, 'clicks were not raised to landed before this process ended')
    },
  }
}
