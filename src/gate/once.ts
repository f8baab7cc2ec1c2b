/**
 * Allows one request at a time per Idempotency-Key, for 55 seconds. It only informs the caller: primary keys, not this guard, prevent a
 * second event. The key is released when the work ends, not when the caller disconnects.
 */
import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import { Refusal, refuse } from '../contract/refusals.ts'
import { inTime } from './redis.ts'

const BUDGET_MS = 55_000
/** The longest Idempotency-Key in characters: that of a nonce, which it replaces. */
export const IDEMPOTENCY_KEY_LENGTH = 128
/** Longer than the budget, so that a token does not expire while its work may still be running. */
const TOKEN_MS = BUDGET_MS + 5000

const RELEASE = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`

export type Once = {
  /** Runs `work` unless a request with this key is in flight (409); answers 504 when it takes over 55 s from arrival. */
  run<T>(org_id: number, idempotencyKey: string, arrived_at: number, work: () => Promise<T>): Promise<T>
}

/** Opens the guard: a set in this process and, with Redis, tokens shared by all processes. */
export function openOnce(redis: Redis | undefined, budget_ms = BUDGET_MS): Once {
  const inFlight = new Set<string>()
  return {
    async run(org_id, idempotencyKey, arrived_at, work) {
      const name = `${org_id}:${idempotencyKey}`
      if (inFlight.has(name)) refuse('in_flight')
      inFlight.add(name)
      const release = await claim(redis, `once:${name}`).catch(error => {
        inFlight.delete(name)
        throw error
      })
      const runAndRelease = async () => {
        try {
          return await work()
        } finally {
          inFlight.delete(name)
          await release()
        }
      }
      return withinBudget(runAndRelease(), arrived_at + budget_ms - performance.now())
    },
  }
}

async function claim(redis: Redis | undefined, name: string): Promise<() => Promise<void>> {
  const nothing = () => Promise.resolve()
  if (redis === undefined) return nothing
  const token = randomUUID()
  const release = async () => {
    await inTime(redis.eval(RELEASE, 1, name, token)).catch(() => undefined)
  }
  try {
    if ((await inTime(redis.set(name, token, 'PX', TOKEN_MS, 'NX'))) === null) refuse('in_flight')
  } catch (error) {
    // Without Redis callers are not informed, but nothing happens twice. In most cases the quota has already refused the request.
    if (error instanceof Refusal) throw error
    // Redis may have stored the token although its answer was lost. Unreleased, it would refuse every resend for a minute.
    void release()
    return nothing
  }
  return release
}

async function withinBudget<T>(work: Promise<T>, left_ms: number): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Refusal('timed_out')), Math.max(0, left_ms))
  // After a 504 the work continues, and nobody waits for its failure any longer.
  work.catch(() => undefined)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
