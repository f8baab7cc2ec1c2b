/**
 * One request at a time per Idempotency-Key, and 55 seconds for it. A signal for the caller, not the lock: what happens once is
 * decided by primary keys. Freed when the work settles, not when the caller leaves.
 */
import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import { Refusal, refuse } from '../contract/refusals.ts'
import { inTime } from './redis.ts'

const BUDGET_MS = 55_000
/** The most characters of an Idempotency-Key: those of a nonce, which it stands in for. */
export const IDEMPOTENCY_KEY_LENGTH = 128
/** Outlives the budget, so that a token never frees the key while its work may still be running. */
const TOKEN_MS = BUDGET_MS + 5000

const RELEASE = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`

export type Once = {
  /** Runs `work` unless a request with this key is in flight (409); answers 504 when it takes over 55 s from arrival. */
  run<T>(org_id: number, idempotencyKey: string, arrived_at: number, work: () => Promise<T>): Promise<T>
}

/** Opens the guard: a map in this process, and tokens in Redis where there is one. */
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
      const settle = async () => {
        try {
          return await work()
        } finally {
          inFlight.delete(name)
          await release()
        }
      }
      return withinBudget(settle(), arrived_at + budget_ms - performance.now())
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
    // Without the store the signal is lost, not the guarantee; the quota has refused by then in most cases.
    if (error instanceof Refusal) throw error
    // The token may have been taken all the same, and would tell every resend for a minute of a request that is long answered.
    void release()
    return nothing
  }
  return release
}

async function withinBudget<T>(work: Promise<T>, left_ms: number): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Refusal('timed_out')), Math.max(0, left_ms))
  // The work goes on after a 504; what it ends with then has no one left to tell.
  work.catch(() => undefined)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
