// Named statements for node-postgres: a text is parsed once per connection, and its plan is kept for a minute at most.
import { createHash } from 'node:crypto'
import pg from 'pg'
import { DISCARD_PLANS, mustDiscardPlans } from './stale-plans.ts'

/** Each connection keeps its prepared statements for life, so not every varying text may be named. */
const MOST_NAMES = 500
const names = new Map<string, string>()

function nameOf(text: string): string | undefined {
  const known = names.get(text)
  if (known !== undefined || names.size >= MOST_NAMES) return known
  const name = createHash('sha1').update(text).digest('hex')
  names.set(text, name)
  return name
}

type AnyQuery = (config: unknown, values?: unknown, callback?: unknown) => unknown

/**
 * A client that sends every statement with parameters under a name made from its text. Statements without parameters,
 * and objects that already carry their own settings, pass unchanged. Not for a pooler that shares connections between
 * transactions (pgbouncer before 1.21).
 */
export class Prepared extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config)
    // Assigned, because an override with one signature cannot satisfy the declared overloads of `query`.
    const send: AnyQuery = super.query.bind(this)
    const query: AnyQuery = (config, values, callback) => {
      const name = typeof config === 'string' && Array.isArray(values) && values.length > 0 ? nameOf(config) : undefined
      if (name === undefined) return send(config, values, callback)
      // A connection that is gone, or whose transaction has failed, says so at the statement itself.
      if (mustDiscardPlans(this)) void (send(DISCARD_PLANS) as Promise<unknown>).catch(() => {})
      return send({ name, text: config, values }, undefined, callback)
    }
    Object.defineProperty(this, 'query', { value: query })
  }
}
