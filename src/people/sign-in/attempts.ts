/**
 * Brakes on guessing and on mail sent to others. What succeeds is not counted, so that nobody is held up for signing in. Counted in
 * this process: several processes let through as many times more, which scrypt's price still makes slow.
 */
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import { refuse } from '../../contract/refusals.ts'

/** Ten wrong passwords in five minutes and network, a hundred new accounts an hour and network, five reset mails an hour and mailbox. */
const LIMITS = {
  password: { points: 10, duration: 300 },
  account: { points: 100, duration: 3600 },
  mail: { points: 5, duration: 3600 },
}

export type Attempts = ReturnType<typeof openAttempts>

/** Opens the counters of one process: attempts at a password, at an account, and mails to an address. */
export function openAttempts() {
  const limiters = {
    password: new RateLimiterMemory(LIMITS.password),
    account: new RateLimiterMemory(LIMITS.account),
    mail: new RateLimiterMemory(LIMITS.mail),
  }
  return {
    /**
     * Counts an attempt before it is made, so that many at once do not slip through; `forgive` takes it back.
     * Refuses `rate_limited` when there were too many.
     */
    async count(kind: keyof typeof LIMITS, of: string): Promise<{ forgive(): Promise<void> }> {
      const limiter = limiters[kind]
      try {
        await limiter.consume(of)
      } catch (thrown) {
        if (thrown instanceof Error) throw thrown
        const seconds = Math.max(1, Math.ceil((thrown as RateLimiterRes).msBeforeNext / 1000))
        refuse('rate_limited', { error: 'too many attempts', headers: { 'retry-after': String(seconds) } })
      }
      return { forgive: async () => void (await limiter.reward(of)) }
    },
  }
}
