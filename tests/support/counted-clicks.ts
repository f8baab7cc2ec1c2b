// Stores clicks as Sluice would, with their report deltas in one transaction, for tests of rooms that only read.
import type pg from 'pg'
import { newId, timeOfId } from '../../src/contract/ids.ts'
import { highestRung } from '../../src/contract/ladder.ts'
import type { Database } from '../../src/ground/db/connect.ts'
import {
  type Cell,
  type Costs,
  type Counts,
  costsOf,
  DeltaSheet,
  NO_ID,
  type Verdicts,
} from '../../src/intake/counters/deltas.ts'

/** The columns of a stored click that are read. `stages` has one bit per rung reached. */
export type CountedClick = {
  id: string
  campaign_id: string | null
  offer_id: string | null
  stages: number
  tracked: boolean
  revenue: string | null
  geo: string | null
  sub1: string | null
  cost: string | null
  cost_counts: boolean | null
}

/** The fields of a seeded click that differ from the defaults; `at` is its time in Unix milliseconds. */
export type ClickSeed = Partial<CountedClick> & { at?: number }

const clickOf = ({ at = Date.now(), ...given }: ClickSeed): CountedClick => ({
  id: newId(at),
  campaign_id: null,
  offer_id: null,
  stages: 1,
  tracked: true,
  revenue: null,
  geo: 'DE',
  sub1: null,
  cost: null,
  cost_counts: null,
  ...given,
})

/** Values of every seeded click in columns that no answer may show. */
export const WITHHELD = {
  visitor_id: '5ec4e700-0000-7000-8000-000000000000',
  user_agent: 'withheld-agent',
  fbclid: 'withheld-fbclid',
  click_flow_node_path: 'withheld-path',
}

/** A cost counts as soon as its click does. */
const withItsCost = (click: CountedClick): CountedClick => ({
  ...click,
  cost_counts: click.cost_counts === null ? null : click.cost_counts || click.tracked,
})

/** The statuses of a seeded click's conversions: clicks that reached a deposit have paid, held or rejected ones. */
function standingOf({ stages, revenue }: Pick<CountedClick, 'stages' | 'revenue'>): Verdicts {
  const hasDeposit = (stages & 32) !== 0
  return {
    approved: revenue === null ? 0 : 1,
    pending: hasDeposit && revenue === null ? 1 : 0,
    rejected: hasDeposit && (stages & 8) !== 0 ? 2 : 0,
    revenue_pending: hasDeposit && revenue === null ? '0.75' : '0',
  }
}

const KNOWN = ['clicks', 'landed', 'started', 'registered', 'lead', 'deposit', 'ftd', 'revenue']
const known = (of: (name: string) => string) => KNOWN.map(of).join(', ')
/** The same changes as a version without half hours writes them; what it does not count goes to `counter_sheet` without a half hour. */
const OF_BEFORE = [
  `insert into report_sheet (org_id, id, changes)
    select $1, $2, array_agg(row(org_id, day, campaign_id, offer_id, geo, sub1, ${known(name => `coalesce(${name}, 0)`)})::report_change)
    from unnest($3::report_change2[])`,
  `insert into counter_sheet (org_id, id, changes)
    select $1, $2, array_agg(row(org_id, day, null, campaign_id, offer_id, geo, sub1, ${known(() => 'null')},
      cost, unread_costs, revenue_pending, approved, pending, rejected)::report_change2)
    from unnest($3::report_change2[])`,
]

/** With `slots: false`, counted as a process of a version without half hours does. */
type Counting = { readonly slots?: boolean }

/** Stores clicks and counts them. Returns the stored clicks in the given order. */
export async function seedCountedClicks(
  { worker }: Pick<Database, 'worker'>,
  org_id: number,
  seeds: readonly ClickSeed[],
  how: Counting = {},
): Promise<CountedClick[]> {
  const clicks = seeds.map(clickOf).map(withItsCost)
  const sheet = new DeltaSheet()
  for (const click of clicks) count(sheet, org_id, click, 1)
  await transact(worker, async client => {
    const rows = JSON.stringify(
      clicks.map(click => ({ ...click, ...standingOf(click), status: highestRung(click.stages) })),
    )
    await client.query(
      `insert into clicks (org_id, id, campaign_id, offer_id, status, stages, tracked, test, revenue, geo, sub1, cost, cost_counts,
        approved, pending, rejected, revenue_pending, suppressed_delivery, ip_hash, visitor_id, user_agent, fbclid, click_flow_node_path)
      select $1::int, id, campaign_id, offer_id, status, stages, tracked, false, revenue, geo, sub1, cost, cost_counts,
        approved, pending, rejected, revenue_pending, false,
        '\\x5ec4e7', $3::uuid, $4, $5, $6
      from json_to_recordset($2::json) as click
        (id uuid, campaign_id uuid, offer_id uuid, status smallint, stages smallint, tracked boolean, revenue numeric, geo text, sub1 text,
          cost numeric, cost_counts boolean, approved smallint, pending smallint, rejected smallint, revenue_pending numeric)`,
      [org_id, rows, ...Object.values(WITHHELD)],
    )
    await append(client, sheet, how)
  })
  return clicks
}

/** Changes a click as a conversion would, and counts the difference. */
export async function changeClick(
  { worker }: Pick<Database, 'worker'>,
  org_id: number,
  click: CountedClick,
  change: Partial<CountedClick>,
  how: Counting = {},
): Promise<CountedClick> {
  const changed = withItsCost({ ...click, ...change })
  const sheet = new DeltaSheet()
  count(sheet, org_id, click, -1)
  count(sheet, org_id, changed, 1)
  const { id, offer_id, stages, tracked, revenue, cost_counts } = changed
  const { approved, pending, rejected, revenue_pending } = standingOf(changed)
  const verdicts = [approved, pending, rejected, revenue_pending]
  await transact(worker, async client => {
    await client.query(
      `update clicks set offer_id = $3, status = $4, stages = $5, tracked = $6, revenue = $7, cost_counts = $8,
        approved = $9, pending = $10, rejected = $11, revenue_pending = $12
      where org_id = $1 and id = $2`,
      [org_id, id, offer_id, highestRung(stages), stages, tracked, revenue, cost_counts, ...verdicts],
    )
    await append(client, sheet, how)
  })
  return changed
}

function count(sheet: DeltaSheet, org_id: number, click: CountedClick, sign: 1 | -1): void {
  if (!click.tracked) return
  const at = new Date(timeOfId(click.id))
  const cell: Cell = {
    day: at.toISOString().slice(0, 10),
    slot: at.getUTCHours() * 2 + Math.floor(at.getUTCMinutes() / 30),
    campaign_id: click.campaign_id ?? NO_ID,
    offer_id: click.offer_id ?? NO_ID,
    geo: click.geo ?? '',
    sub1: click.sub1 ?? '',
  }
  const rung = (bit: number) => (click.stages & bit ? sign : 0)
  const { cost = '0', unread_costs = 0 } = costsOf(click) ?? {}
  const signed = (amount: string) => `${sign < 0 ? '-' : ''}${amount}`
  const standing = standingOf(click)
  const change: Counts & Costs & Verdicts = {
    clicks: sign,
    landed: rung(2),
    started: rung(4),
    registered: rung(8),
    lead: rung(16),
    deposit: rung(32),
    ftd: rung(64),
    revenue: signed(click.revenue ?? '0'),
    cost: signed(cost),
    unread_costs: sign * unread_costs,
    approved: sign * standing.approved,
    pending: sign * standing.pending,
    rejected: sign * standing.rejected,
    revenue_pending: signed(standing.revenue_pending),
  }
  sheet.add(org_id, cell, change)
}

async function append(client: pg.PoolClient, sheet: DeltaSheet, { slots = true }: Counting): Promise<void> {
  const { text, values = [] } = sheet.statement() ?? {}
  if (text === undefined) return
  if (slots) await client.query(text, [...values])
  else for (const statement of OF_BEFORE) await client.query(statement, [...values])
}

async function transact(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await work(client)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}
