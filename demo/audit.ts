// Whether the demo is right: its books by the product's own audit, and its reports by a recount of the clicks.
import type pg from 'pg'
import { auditBooks } from '../src/billing/audit.ts'
import { DAY_MS } from '../src/contract/days.ts'
import { DIMENSIONS } from '../src/reports/api.ts'
import { COUNTERS } from '../src/reports/deltas.ts'
import { recount } from '../src/reports/recount.ts'
import { statementFor } from '../src/reports/report.ts'

const WINDOW_DAYS = 90

/** @throws naming the first thing that is wrong in the organization's books, or in its reports over the days of the demo. */
export async function auditDemo(pool: pg.Pool, org_id: number, now: number): Promise<void> {
  const [finding] = await auditBooks(pool, org_id)
  if (finding !== undefined) throw new Error(`the demo is wrong: not so that ${finding.check}: ${finding.wrong}`)
  const to = now - (now % DAY_MS) + DAY_MS - 1
  const window = { from: to + 1 - WINDOW_DAYS * DAY_MS, to }
  for (const dimension of DIMENSIONS) {
    const { text, values = [] } = statementFor(org_id, { dimension, window, campaigns: null }, now)
    const told = await pool.query<Record<string, string>>(text, [...values])
    const counted = await recount(pool, org_id, window.from, window.to, dimension)
    const lines = told.rows.map(row => [row['key'], ...COUNTERS.map(name => row[name]), row['revenue']].join(' '))
    const differing = counted
      .map(row => [row.key, ...COUNTERS.map(name => row[name]), Number(row.revenue).toFixed(2)].join(' '))
      .find((line, at) => line !== lines[at])
    if (differing !== undefined)
      throw new Error(`the demo is wrong: the report by ${dimension} is not what its clicks say, at ${differing}`)
  }
}
