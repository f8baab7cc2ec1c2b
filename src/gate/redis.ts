/** The store that several processes share for quotas and keys in flight, and how long the door waits for it. */
import { Redis } from 'ioredis'
import type { Logger } from 'pino'

const ANSWER_MS = 150

/** A connection that fails at once while the store is away, and is made anew when a command was left without an answer for two seconds. */
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
    if (!isDown) log.warn({ err: error }, 'Redis cannot be reached: writes by key are refused until it is back')
    isDown = true
  })
  redis.on('ready', () => {
    if (isDown) log.info('Redis is back')
    isDown = false
  })
  return redis
}

/**
 * What the store answers. Rejects after 150 ms, because a hung store must not hang the door; but not before what has arrived meanwhile is
 * read, so that a process which was busy itself does not take that for the store's silence.
 */
export function inTime<T>(asked: Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const giveUp = () => reject(new Error(`Redis did not answer within ${ANSWER_MS} ms`))
  // Timers come before the sockets in a turn of the event loop, and immediates behind them.
  const timer = setTimeout(() => setImmediate(giveUp), ANSWER_MS)
  asked.then(resolve, reject).finally(() => clearTimeout(timer))
  return promise
}
