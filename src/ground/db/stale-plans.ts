/**
 * A prepared statement keeps the plan that suited the tables when it was made. In a new installation, and at the start of a month, tables are empty, and until the
 * database analyzes them, statements would use the wrong index for as long as their connection lives. So each connection with prepared statements discards its
 * plans, soon at first and then once a minute.
 */
import type pg from 'pg'
import { MINUTE_MS } from '../../contract/days.ts'
import { ask, type FlightStatement } from './flight.ts'

const FIRST_MS = 500
const LAST_MS = MINUTE_MS
/** The statement that discards them. */
export const DISCARD_PLANS = 'discard plans'

const due = new WeakMap<object, { at: number; gap_ms: number }>()

/** Whether the caller must discard the connection's plans now: true once in each interval. */
export function mustDiscardPlans(client: object): boolean {
  const now = performance.now()
  const last = due.get(client)
  if (last !== undefined && now < last.at) return false
  const gap_ms = last === undefined ? FIRST_MS : Math.min(last.gap_ms * 2, LAST_MS)
  due.set(client, { at: now + gap_ms, gap_ms })
  return last !== undefined
}

/** The statement to send first on a connection, if its plans are due to be discarded. */
export const discardStalePlans = (client: pg.PoolClient): FlightStatement<never> | undefined =>
  mustDiscardPlans(client) ? ask(DISCARD_PLANS) : undefined
