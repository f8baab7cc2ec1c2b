/**
 * Limits on guessing passwords and on mail sent to others. Successful attempts are not counted, so that signing in never exhausts the
 * limit. Each process counts by itself, so several processes together allow a multiple of each limit; the cost of scrypt still makes
 * guessing slow.
 */
import { createHash } from 'node:crypto'
import { HOUR_MS, MINUTE_MS } from '../../contract/days.ts'
import { refuse } from '../../contract/refusals.ts'
import { keepRecent } from '../../ground/recent.ts'

/**
 * The limits and what each is counted by: `password` (wrong guesses) and `account` (sign-ups) by network, `mail` by mailbox, `reset` by the
 * wide network that asks for reset mails, so that invented addresses do not evade the limit, `sender` by the signed-in person who
 * sends mail to an address of their choice, and `client` (AI hosts that register themselves) by the wide network.
 */
const LIMITS = {
  password: { points: 10, window_ms: 5 * MINUTE_MS },
  account: { points: 100, window_ms: HOUR_MS },
  reset: { points: 100, window_ms: HOUR_MS },
  mail: { points: 5, window_ms: HOUR_MS },
  sender: { points: 30, window_ms: HOUR_MS },
  client: { points: 20, window_ms: HOUR_MS },
}

/** The most recently used keys remembered per kind. It bounds the memory to some 10 MB, however many keys are sent. */
export const KEPT_KEYS = 50_000

type Kind = keyof typeof LIMITS
export type Attempts = ReturnType<typeof openAttempts>

/** Opens the counters of one process. */
export function openAttempts() {
  const open = () => keepRecent<{ used: number }>(KEPT_KEYS)
  const counters: Readonly<Record<Kind, ReturnType<typeof open>>> = {
    password: open(),
    account: open(),
    reset: open(),
    mail: open(),
    sender: open(),
    client: open(),
  }
  return {
    /**
     * Counts an attempt by `subject` before it is made, so that concurrent attempts cannot pass together; `forgive` takes it back.
     * Refuses `rate_limited` when there were too many. A window begins with its first attempt.
     */
    async count(kind: Kind, subject: string): Promise<{ forgive(): Promise<void> }> {
      const { points, window_ms } = LIMITS[kind]
      const counter = counters[kind]
      // Hashed, because the caller chooses the length of an address.
      const key = createHash('sha256').update(subject).digest('base64url')
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
    /** The number of keys remembered, over all kinds. */
    get size(): number {
      return Object.values(counters).reduce((sum, { size }) => sum + size, 0)
    },
  }
}
