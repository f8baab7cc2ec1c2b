/**
 * Quotas, counted per organization and minute over all its keys; launches of Mini Apps per network (`networkOf`) and minute. Counted in
 * memory for one process, in Redis for several. Without the store writes are refused 503 and reads pass.
 */
import type { Redis } from 'ioredis'
import { RateLimiterMemory, RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible'
import type { QuotaName as DeclaredQuota } from '../contract/endpoint.ts'
import { refuse, tellLater } from '../contract/refusals.ts'
import { inTime } from './redis.ts'

/** What an endpoint declares, what all other writes by key share, and launches from one network. */
export type QuotaName = DeclaredQuota | 'writes' | 'launches'

/** `perMinute` requests; what happens when the store cannot be reached. */
const QUOTAS: Record<QuotaName, { perMinute: number; outage: 'refuse' | 'pass' }> = {
  events: { perMinute: 1800, outage: 'refuse' },
  clicks: { perMinute: 300, outage: 'pass' },
  report: { perMinute: 60, outage: 'pass' },
  writes: { perMinute: 600, outage: 'refuse' },
  launches: { perMinute: 20, outage: 'pass' },
}
const WINDOW_SECONDS = 60

type Headers = { header(name: string, value: string): void }
export type Quotas = { spend(quota: QuotaName, whose: number | string, answer: Headers): Promise<void> }

/** Opens the counters. `spend` refuses 429 when the quota is used up, and sets X-RateLimit-* on what it counted. */
export function openQuotas(redis: Redis | undefined, perMinute: Partial<Record<QuotaName, number>> = {}): Quotas {
  const limiters = new Map(
    (Object.keys(QUOTAS) as QuotaName[]).map(name => {
      const options = {
        keyPrefix: `quota:${name}`,
        points: perMinute[name] ?? QUOTAS[name].perMinute,
        duration: WINDOW_SECONDS,
      }
      return [
        name,
        redis === undefined ? new RateLimiterMemory(options) : new RateLimiterRedis({ ...options, storeClient: redis }),
      ]
    }),
  )
  const breaker = new Breaker()
  return {
    async spend(quota, whose, answer) {
      const limiter = limiters.get(quota)
      if (limiter === undefined) throw new Error(`no quota ${quota}`)
      const counted = await breaker.run(() => inTime(limiter.consume(String(whose))))
      if (counted === 'outage') {
        if (QUOTAS[quota].outage === 'pass') return
        throw tellLater()
      }
      const { isOver, result } = counted
      // The counter in memory goes by the wall clock; where that was set back, no window is longer than a window for it.
      const left_ms = Math.min(result.msBeforeNext, WINDOW_SECONDS * 1000)
      const headers = {
        'x-ratelimit-limit': String(limiter.points),
        'x-ratelimit-remaining': String(isOver ? 0 : result.remainingPoints),
        'x-ratelimit-reset': String(Math.ceil((Date.now() + left_ms) / 1000)),
      }
      if (isOver)
        refuse('rate_limited', {
          headers: { ...headers, 'retry-after': String(Math.max(1, Math.ceil(left_ms / 1000))) },
        })
      for (const [name, value] of Object.entries(headers)) answer.header(name, value)
    },
  }
}

type Counted = { isOver: boolean; result: RateLimiterRes }

/**
 * After three failures in a row the store is left alone for a second, so that an outage costs its callers nothing. What was asked before a
 * failure was seen fails with it and is no second one: else one slow moment under many callers would pass for an outage.
 */
class Breaker {
  #failures = 0
  /** Both by the performance clock, ms. */
  #failed_at = 0
  #open_until = 0

  async run(consume: () => Promise<RateLimiterRes>): Promise<Counted | 'outage'> {
    const asked_at = performance.now()
    if (asked_at < this.#open_until) return 'outage'
    try {
      const result = await consume()
      this.#failures = 0
      return { isOver: false, result }
    } catch (thrown) {
      // The limiter throws an Error when the store failed, its result when the quota is used up.
      if (!(thrown instanceof Error)) {
        this.#failures = 0
        return { isOver: true, result: thrown as RateLimiterRes }
      }
      if (asked_at >= this.#failed_at) this.#noteFailure()
      return 'outage'
    }
  }

  #noteFailure(): void {
    this.#failed_at = performance.now()
    this.#failures += 1
    if (this.#failures >= 3) this.#open_until = this.#failed_at + 1000
  }
}
