/**
 * A prepared statement keeps the plan that suited the tables when it was made. In a new installation the tables were empty then, and until the
 * database analyzes them, traffic would use the wrong index for minutes. So each connection discards its plans, soon at first and then once a minute.
 */
import type pg from 'pg'
import { MINUTE_MS } from '../../contract/days.ts'
import { ask, type FlightStatement } from './flight.ts'

const FIRST_MS = 500
const LAST_MS = MINUTE_MS

const due = new WeakMap<pg.PoolClient, { at: number; gap_ms: number }>()

/** The statement to send first on a connection, if its plans are due to be discarded. */
export function discardStalePlans(client: pg.PoolClient): FlightStatement<never> | undefined {
  const now = performance.now()
  const last = due.get(client)
  if (last !== undefined && now < last.at) return undefined
  const gap_ms = last === undefined ? FIRST_MS : Math.min(last.gap_ms * 2, LAST_MS)
  due.set(client, { at: now + gap_ms, gap_ms })
  return last === undefined ? undefined : ask('discard plans')
}
