/** Redis, in which several processes share quotas and Idempotency-Keys in flight, and the time the gate waits for it. */
import { Redis } from 'ioredis'
import type { Logger } from 'pino'

const ANSWER_MS = 150

/** A connection whose commands fail at once while Redis is down. It reconnects when a command gets no answer for two seconds. */
export function openRedis(url: string, log: Logger): Redis {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 500,
    socketTimeout: 2000,
    retryStrategy: tries => Math.min(50 * 2 ** tries, 1000),
  })
  let isDown = false
  redis.on('error', (error: Error) => {
    if (!isDown) log.warn({ err: error }, 'cannot reach Redis: refusing writes by key until it is back')
    isDown = true
  })
  redis.on('ready', () => {
    if (isDown) log.info('Redis is reachable again')
    isDown = false
  })
  return redis
}

/**
 * Waits at most 150 ms for an answer of Redis, because a hung Redis must not hang the gate. Sockets are read once more before it rejects, so
 * that a process that was busy itself does not mistake its own delay for a silent Redis.
 */
export function inTime<T>(command: Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const giveUp = () => reject(new Error(`Redis did not answer within ${ANSWER_MS} ms`))
  // In a turn of the event loop, timers run before sockets are read and immediates after.
  const timer = setTimeout(() => setImmediate(giveUp), ANSWER_MS)
  command.then(resolve, reject).finally(() => clearTimeout(timer))
  return promise
}
