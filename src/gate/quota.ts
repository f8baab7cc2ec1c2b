/**
 * Quotas, counted per minute and organization over all its keys; launches of Mini Apps are counted per minute and network (`networkOf`). One
 * process counts in memory, several count in Redis. While Redis is down, writes are refused with 503 and reads pass.
 */
import type { Redis } from 'ioredis'
import { RateLimiterMemory, RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible'
import type { QuotaName as DeclaredQuota } from '../contract/endpoint.ts'
import { refuse, retryInAMinute } from '../contract/refusals.ts'
import { inTime } from './redis.ts'

/** The quotas that endpoints declare, `writes` shared by all other writes by key, and `launches` of Mini Apps. */
export type CountedQuota = DeclaredQuota | 'writes' | 'launches'

/** `perMinute` is the number of requests; `outage` says what happens while Redis cannot be reached. */
const QUOTAS: Record<CountedQuota, { perMinute: number; outage: 'refuse' | 'pass' }> = {
  events: { perMinute: 1800, outage: 'refuse' },
  clicks: { perMinute: 300, outage: 'pass' },
  report: { perMinute: 60, outage: 'pass' },
  writes: { perMinute: 600, outage: 'refuse' },
  launches: { perMinute: 20, outage: 'pass' },
}
const WINDOW_SECONDS = 60

type Headers = { header(name: string, value: string): void }
export type Quotas = { spend(quota: CountedQuota, whose: number | string, answer: Headers): Promise<void> }

/** Opens the counters. `spend` counts a request and sets X-RateLimit-* on its answer. It refuses 429 when the quota is used up. */
export function openQuotas(redis: Redis | undefined, perMinute: Partial<Record<CountedQuota, number>> = {}): Quotas {
  const limiters = new Map(
    (Object.keys(QUOTAS) as CountedQuota[]).map(name => {
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
        throw retryInAMinute()
      }
      const { isOver, result } = counted
      // The in-memory counter uses the wall clock. The minimum keeps a clock that was set back from lengthening the window.
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

type QuotaCount = { isOver: boolean; result: RateLimiterRes }

/**
 * A circuit breaker: after three failures in a row Redis is not asked for a second, so that callers do not wait during an outage. Requests that
 * started before the last failure do not count as further failures, because one slow moment with many callers would otherwise look like an
 * outage.
 */
class Breaker {
  #failures = 0
  /** Both in ms of the performance clock. */
  #failed_at = 0
  #open_until = 0

  async run(consume: () => Promise<RateLimiterRes>): Promise<QuotaCount | 'outage'> {
    const started_at = performance.now()
    if (started_at < this.#open_until) return 'outage'
    try {
      const result = await consume()
      this.#failures = 0
      return { isOver: false, result }
    } catch (thrown) {
      // The limiter throws an Error when Redis failed, and its result when the quota is used up.
      if (!(thrown instanceof Error)) {
        this.#failures = 0
        return { isOver: true, result: thrown as RateLimiterRes }
      }
      if (started_at >= this.#failed_at) this.#recordFailure()
      return 'outage'
    }
  }

  #recordFailure(): void {
    this.#failed_at = performance.now()
    this.#failures += 1
    if (this.#failures >= 3) this.#open_until = this.#failed_at + 1000
  }
}
