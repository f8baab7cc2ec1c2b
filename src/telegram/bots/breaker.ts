/** A circuit breaker per bot: after ten failures within a minute it blocks calls to the bot's program for 15 seconds, then lets one through as a test. */
import { MINUTE_MS } from '../../contract/days.ts'
const FAILURES = 10
const WITHIN_MS = MINUTE_MS
const PAUSE_MS = 15_000

export type Breaker = {
  /** Whether a call may be made now. After true, the caller must `report` the result. */
  mayTry(): boolean
  report(isSuccess: boolean): void
}

export function openBreaker(): Breaker {
  let failures: number[] = []
  let paused_until = 0
  let isTesting = false
  return {
    mayTry() {
      if (paused_until === 0) return true
      if (isTesting || performance.now() < paused_until) return false
      isTesting = true
      return true
    },
    report(isSuccess) {
      const now = performance.now()
      const wasTesting = isTesting
      isTesting = false
      if (isSuccess) {
        // While the breaker is closed, a success does not erase earlier failures.
        if (paused_until !== 0) failures = []
        paused_until = 0
        return
      }
      failures = [...failures.filter(at => now - at < WITHIN_MS), now].slice(-FAILURES)
      if (wasTesting || failures.length >= FAILURES) paused_until = now + PAUSE_MS
    },
  }
}
