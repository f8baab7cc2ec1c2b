/** Logs statements that took long, with the route of the request that sent them. The log has their text with `$1`, never a value. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type pg from 'pg'
import type { Logger } from 'pino'

type AskingRequest = { readonly route: string; readonly request_id: string }
const asking = new AsyncLocalStorage<AskingRequest>()

/** Runs `act`, whose slow statements are logged as those of this request. */
export const askingFor = <T>(request: AskingRequest, act: () => T): T => asking.run(request, act)

/** Longer texts have more columns, and nothing that identifies them better. */
const MOST_CHARACTERS = 500

type Query = (...sent: unknown[]) => unknown

/** Logs the statements on each connection of the pool that take `slow_ms` or longer, failed ones too. */
export function logSlowQueries(pool: pg.Pool, name: string, slow_ms: number, log: Logger): void {
  pool.on('connect', client => {
    const query = client.query.bind(client) as Query
    const timed: Query = (...sent) => {
      const began = performance.now()
      const request = asking.getStore()
      const note = () => {
        const duration_ms = Math.round(performance.now() - began)
        if (duration_ms >= slow_ms)
          log.warn({ ...request, pool: name, duration_ms, sql: textOf(sent[0]) }, 'slow query')
      }
      const done = sent.at(-1)
      // The pool passes a callback; others wait for the promise.
      if (typeof done === 'function')
        return query(...sent.slice(0, -1), (...answer: unknown[]) => {
          note()
          ;(done as Query)(...answer)
        })
      const result = query(...sent)
      if (result instanceof Promise) void result.then(note, note)
      return result
    }
    client.query = timed as typeof client.query
  })
}

function textOf(sent: unknown): string {
  const text = typeof sent === 'object' && sent !== null && 'text' in sent ? sent.text : sent
  return String(text).replaceAll(/\s+/g, ' ').trim().slice(0, MOST_CHARACTERS)
}
