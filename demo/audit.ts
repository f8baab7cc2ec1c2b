// Checks the demo: its books by Sluice's own audit, and its reports by a recount of the clicks.
import type pg from 'pg'
import { DAY_MS } from '../src/contract/days.ts'
import { COUNTERS } from '../src/intake/counters/deltas.ts'
import { auditBooks } from '../src/reading/audit/audit.ts'
import { DIMENSIONS } from '../src/reading/reports/api.ts'
import { recount } from '../src/reading/reports/recount.ts'
import { reportStatement } from '../src/reading/reports/report.ts'

const WINDOW_DAYS = 90

/**
 * Sluice's audit checks reports to ad accounts only since accounts and campaigns last changed, which is when the demo was made. So
 * this checks the demo's past: from the account's connection on, each conversion of a Meta click, or of a campaign with the account, was reported once.
 */
const UNTOLD = `
  select e.id::text as wrong
  from ad_accounts a
  join events e on e.org_id = $1
  join clicks c on c.org_id = $1 and c.id = e.click_id
  join campaigns p on p.org_id = $1 and p.id = e.campaign_id
  left join deliveries d on d.org_id = $1 and d.event_id = e.id and d.kind = 'ad_account' and d.target_id = a.id
  where a.org_id = $1 and (d.id is not null) <> (
    e.created_at >= a.created_at and e.created_at < a.state_changed_at and a.event_map ? e.type
    and coalesce(p.ad_account_id = a.id, c.platform = a.platform, false))
  limit 1`

/** @throws with the first fault in the organization's books, or in its reports over the demo's days. */
export async function auditDemo(pool: pg.Pool, org_id: number, now: number): Promise<void> {
  const [finding] = await auditBooks(pool, org_id)
  if (finding !== undefined) throw new Error(`the demo is wrong: not so that ${finding.check}: ${finding.wrong}`)
  const untold = await pool.query<{ wrong: string }>(UNTOLD, [org_id])
  if (untold.rows[0] !== undefined)
    throw new Error(`the demo is wrong: it was not told to the ad account as it should be: ${untold.rows[0].wrong}`)
  const to = now - (now % DAY_MS) + DAY_MS - 1
  const window = { from: to + 1 - WINDOW_DAYS * DAY_MS, to }
  for (const dimension of DIMENSIONS) {
    const { text, values = [] } = reportStatement(org_id, { dimension, window, campaigns: null }, now)
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
