/**
 * Brakes on guessing and on mail sent to others. What succeeds is not counted, so that nobody is held up for signing in. Counted in
 * this process: several processes let through as many times more, which scrypt's price still makes slow.
 */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { HOUR_MS, MINUTE_MS } from '../../contract/days.ts'
import { refuse } from '../../contract/refusals.ts'

/**
 * Ten wrong passwords in five minutes and network, a hundred new accounts an hour and network, five mails an hour and mailbox. Before its
 * mailbox a reset mail is counted by the wide network it is asked from, a hundred an hour: invented addresses cost the same there. A mail
 * that a signed-in person sends to an address of their choice is counted by that person, thirty an hour.
 */
const LIMITS = {
  password: { points: 10, window_ms: 5 * MINUTE_MS },
  account: { points: 100, window_ms: HOUR_MS },
  reset: { points: 100, window_ms: HOUR_MS },
  mail: { points: 5, window_ms: HOUR_MS },
  sender: { points: 30, window_ms: HOUR_MS },
}

/** How many keys of a kind are remembered, the latest used: some 10 MB, whatever is sent. */
export const KEPT_KEYS = 50_000

type Kind = keyof typeof LIMITS
type Counter = LRUCache<string, { used: number }>
export type Attempts = ReturnType<typeof openAttempts>

/** Opens the counters of one process: attempts at a password, at an account, and mails to an address. */
export function openAttempts() {
  const open = (): Counter => new LRUCache({ max: KEPT_KEYS })
  const counters: Readonly<Record<Kind, Counter>> = {
    password: open(),
    account: open(),
    reset: open(),
    mail: open(),
    sender: open(),
  }
  return {
    /**
     * Counts an attempt before it is made, so that many at once do not slip through; `forgive` takes it back.
     * Refuses `rate_limited` when there were too many. A window begins with its first attempt.
     */
    async count(kind: Kind, of: string): Promise<{ forgive(): Promise<void> }> {
      const { points, window_ms } = LIMITS[kind]
      const counter = counters[kind]
      // Hashed, because whoever asks chooses how long an address is.
      const key = createHash('sha256').update(of).digest('base64url')
      const counted = counter.get(key) ?? { used: 0 }
      if (counted.used === 0) counter.set(key, counted, { ttl: window_ms })
      if (counted.used >= points) {
        const seconds = Math.max(1, Math.ceil(counter.getRemainingTTL(key) / 1000))
        refuse('rate_limited', { error: 'too many attempts', headers: { 'retry-after': String(seconds) } })
      }
      counted.used += 1
      return {
        async forgive() {
          counted.used -= 1
        },
      }
    },
    /** How many keys are remembered, of all kinds. */
    get size(): number {
      return Object.values(counters).reduce((sum, { size }) => sum + size, 0)
    },
  }
}
