/**
 * A prepared statement keeps the plan that suited the tables when it was made. On a young installation they were empty then, and until
 * the database analyzes them by itself, minutes of traffic would be searched by the wrong index. So each connection makes its plans
 * anew, soon at first and then once a minute.
 */
import type pg from 'pg'
import { ask, type Question } from './flight.ts'

const FIRST_MS = 500
const LAST_MS = 60_000

const due = new WeakMap<pg.PoolClient, { at: number; gap_ms: number }>()

/** What to ask first on a connection whose plans are to be made anew, if they are. */
export function discardStalePlans(client: pg.PoolClient): Question<never> | undefined {
  const now = performance.now()
  const last = due.get(client)
  if (last !== undefined && now < last.at) return undefined
  const gap_ms = last === undefined ? FIRST_MS : Math.min(last.gap_ms * 2, LAST_MS)
  due.set(client, { at: now + gap_ms, gap_ms })
  return last === undefined ? undefined : ask('discard plans')
}
