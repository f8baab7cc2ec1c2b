/** Lets nothing through to a program for a while where too many failures have come back, then one to try. */
const FAILURES = 10
const WITHIN_MS = 60_000
const PAUSE_MS = 15_000

export type Breaker = {
  /** Whether it may be called now; who is told yes says how it went. */
  mayTry(): boolean
  told(isGood: boolean): void
}

export function openBreaker(): Breaker {
  let failures: number[] = []
  let paused_until = 0
  let isTrying = false
  return {
    mayTry() {
      if (paused_until === 0) return true
      if (isTrying || performance.now() < paused_until) return false
      isTrying = true
      return true
    },
    told(isGood) {
      const now = performance.now()
      const wasTrying = isTrying
      isTrying = false
      if (isGood) {
        // Below the limit a good answer between failures does not undo them.
        if (paused_until !== 0) failures = []
        paused_until = 0
        return
      }
      failures = [...failures.filter(at => now - at < WITHIN_MS), now].slice(-FAILURES)
      if (wasTrying || failures.length >= FAILURES) paused_until = now + PAUSE_MS
    },
  }
}
