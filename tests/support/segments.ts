// Reads an organization's segments, and compares them with its clicks by SQL that does not use facts.
import assert from 'node:assert/strict'
import { DAY_MS } from '../../src/contract/days.ts'
import { TEXT_DIMENSIONS } from '../../src/contract/explore-dimensions.ts'
import type { Database } from '../../src/ground/db/connect.ts'
import type { Secrets } from '../../src/ground/db/secrets.ts'
import { net, type FactRow } from '../../src/reading/segments/facts.ts'
import { decode } from '../../src/reading/segments/parquet.ts'

type Reads = Pick<Database, 'reads'>

const TEXTS = TEXT_DIMENSIONS.map(name => (name === 'path' ? 'click_flow_node_path as path' : name)).join(', ')

/** A fact as a line of text, with its fields in order. */
const lineOf = (fact: object): string =>
  JSON.stringify(
    Object.entries(fact)
      .filter(([name]) => name !== 'sign')
      .map(([name, value]) => [name, typeof value === 'bigint' ? String(value) : value])
      .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  )

/** Every click as a fact, by day. */
async function recounted({ reads }: Reads, secrets: Secrets, org_id: number): Promise<Map<string, string[]>> {
  const { rows } = await reads.query(
    `select (date '1970-01-01' + (made / ${DAY_MS})::int)::text as day, (made % ${DAY_MS})::int as ms, campaign_id as campaign, offer_id as offer,
      landing_id as landing, ad_account_id as ad_account, bot_id as bot, ${TEXTS}, way, case when left_out is not null then 'true' end as is_left_out, visitor_id,
      coalesce(visitor_is_new, false) as is_new, tracked, stages, (revenue * 1000000)::bigint as revenue,
      case when cost_counts then (cost * 1000000000)::bigint end as cost, coalesce(cost_counts and cost is null, false) as unread_cost,
      coalesce(approved, 0) as approved, coalesce(pending, 0) as pending, coalesce(rejected, 0) as rejected,
      (coalesce(revenue_pending, 0) * 1000000)::bigint as revenue_pending, (
        select string_agg(concat(type, ':', approved, ',', pending, ',', rejected, ',', paid), ' ' order by type collate "C") from (
          select type, count(*) filter (where status = 'approved') as approved, count(*) filter (where status = 'pending') as pending,
            count(*) filter (where status not in ('approved', 'pending')) as rejected,
            (coalesce(sum(amount) filter (where status = 'approved'), 0) * 1000000)::bigint as paid
          from (
            select type, coalesce(said.status, 'approved') as status, coalesce(said.amount, e.payout, 0) as amount
            from events e left join lateral (
              select r.status, r.amount from event_revisions r where r.org_id = $1 and r.event_id = e.id order by seq desc limit 1
            ) said on true
            where e.org_id = $1 and e.click_id = clicks.id
          ) stood group by type
        ) by_type
      ) as conversions
    from (
      select *, ('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint as made from clicks where org_id = $1
    ) clicks`,
    [org_id],
  )
  const days = new Map<string, string[]>()
  for (const { day, visitor_id, ...fact } of rows) {
    const visitor =
      visitor_id === null ? null : String(secrets.mac('explore visitor', `${org_id} ${visitor_id}`).readBigInt64BE(0))
    days.set(day, [...(days.get(day) ?? []), lineOf({ ...fact, visitor })])
  }
  return days
}

export type StoredSegment = { id: string; day: string; rows: number; taken: number; clicks: string; body: Buffer }

/** The segments of an organization by day. */
export async function readSegments({ reads }: Reads, org_id: number): Promise<StoredSegment[]> {
  const { rows } = await reads.query<StoredSegment>(
    'select id, day, rows, taken, clicks, body from segments where org_id = $1 order by day, id',
    [org_id],
  )
  return rows
}

/** The rows of all segments, by day. */
export async function rowsByDay(database: Reads, org_id: number): Promise<Map<string, FactRow[]>> {
  const days = new Map<string, FactRow[]>()
  for (const { day, body, rows, taken } of await readSegments(database, org_id)) {
    const decoded = await decode(body)
    assert.equal(decoded.length, rows)
    assert.equal(decoded.filter(({ sign }) => sign === -1).length, taken)
    days.set(day, [...(days.get(day) ?? []), ...decoded])
  }
  return days
}

/** Asserts that the segments equal the clicks, fact by fact, that their sums equal the report's counters, and that nothing is unsealed. */
export async function assertSealed(database: Reads, secrets: Secrets, org_id: number): Promise<void> {
  const waiting = await database.reads.query('select id from click_sheet where org_id = $1', [org_id])
  assert.equal(waiting.rows.length, 0, 'nothing waits')
  const sealed = new Map<string, string[]>()
  for (const [day, rows] of await rowsByDay(database, org_id)) {
    const left = net(rows)
    assert.ok(
      left.every(({ sign }) => sign === 1),
      'nothing is taken that was not put',
    )
    if (left.length > 0) sealed.set(day, left.map(lineOf).sort())
  }
  const clicks = await recounted(database, secrets, org_id)
  for (const day of new Set([...clicks.keys(), ...sealed.keys()])) {
    const [are, must] = [sealed.get(day) ?? [], [...(clicks.get(day) ?? [])].sort()]
    const without = (some: string[], others: Set<string>) => some.filter(line => !others.has(line)).slice(0, 3)
    const differing = { odd: without(are, new Set(must)), missing: without(must, new Set(are)) }
    assert.deepEqual(differing, { odd: [], missing: [] }, day)
    assert.equal(are.join('\n') === must.join('\n'), true, `${day} has ${are.length} facts of ${must.length} clicks`)
  }
  await assertSums(database, org_id)
}

const SUMS =
  'clicks, landed, started, registered, lead, deposit, ftd, revenue, cost, unread_costs, revenue_pending, approved, pending, rejected'
const sums = SUMS.split(', ')
  .map(name => `trim_scale(coalesce(sum(${name}), 0)::numeric)::text as ${name}`)
  .join(', ')

/** Asserts that the sums of segments equal the report's counters, day by day. */
async function assertSums({ reads }: Reads, org_id: number): Promise<void> {
  const isAny = (of: string) =>
    `select * from (${of}) days where (${SUMS}) is distinct from (${SUMS.replace(/\w+/g, "'0'")}) order by day`
  const ofSegments = await reads.query(isAny(`select day, ${sums} from segments where org_id = $1 group by day`), [
    org_id,
  ])
  const counted = await reads.query(
    isAny(`select day, ${sums} from (
      select day, ${SUMS} from report_day where org_id = $1 and dimension = 11
      union all select day, ${SUMS} from report_delta where org_id = $1
    ) counted group by day`),
    [org_id],
  )
  assert.deepEqual(ofSegments.rows, counted.rows)
}
