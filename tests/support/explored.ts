// Clicks with every dimension and figure of Explore, stored as clicks and as facts in segments, some of which cancel.
import { createHash } from 'node:crypto'
import { zstdCompressSync } from 'node:zlib'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { DAY_MS, dayOf } from '../../src/contract/days.ts'
import { toUnits } from '../../src/contract/decimals.ts'
import { TEXT_DIMENSIONS } from '../../src/contract/explore-dimensions.ts'
import { newId, NIL_ID, timeOfId } from '../../src/contract/ids.ts'
import { CLICKED, highestRung, LADDER, REACHED } from '../../src/contract/ladder.ts'
import type { Database } from '../../src/ground/db/connect.ts'
import { ClickSheet, type ClickState } from '../../src/intake/counters/click-sheet.ts'

const OBJECTS = {
  campaign: 'campaign_id',
  offer: 'offer_id',
  landing: 'landing_id',
  ad_account: 'ad_account_id',
  bot: 'bot_id',
} as const
type Text = keyof typeof OBJECTS | (typeof TEXT_DIMENSIONS)[number] | 'way' | 'is_left_out'
/** The column of each text of a fact. */
const TEXTS: Readonly<Record<Text, string>> = {
  ...OBJECTS,
  ...(Object.fromEntries(TEXT_DIMENSIONS.map(name => [name, name])) as Record<
    (typeof TEXT_DIMENSIONS)[number],
    string
  >),
  path: 'click_flow_node_path',
  way: 'way',
  is_left_out: 'left_out',
}

/** A conversion; `amount` is what it pays if approved, 0 by default. */
export type Converted = {
  readonly type: string
  readonly status: 'approved' | 'pending' | 'rejected'
  readonly amount?: string
}

export type ExploredClick = { readonly at: number } & { readonly [name in Text]?: string | null } & {
  readonly visitor_id?: string | null
  readonly is_new?: boolean
  readonly tracked?: boolean
  readonly stages?: number
  readonly revenue?: string | null
  readonly cost?: string | null
  readonly cost_counts?: boolean | null
  readonly approved?: number
  readonly pending?: number
  readonly rejected?: number
  readonly revenue_pending?: string
  /** Its conversions with their last status. */
  readonly converted?: readonly Converted[]
}

type Whole = { -readonly [K in keyof Required<ExploredClick>]: Required<ExploredClick>[K] } & { id: string }

const wholeOf = (click: ExploredClick): Whole => ({
  ...(Object.fromEntries(Object.keys(TEXTS).map(name => [name, null])) as Record<Text, null>),
  id: newId(click.at),
  visitor_id: null,
  is_new: false,
  tracked: true,
  stages: 1,
  revenue: null,
  cost: null,
  cost_counts: null,
  approved: 0,
  pending: 0,
  rejected: 0,
  revenue_pending: '0',
  converted: [],
  ...click,
})

type Row = Whole & { readonly sign: 1 | -1 }

/**
 * Stores clicks, and their facts in several segments a day; each third click was in another state before. The segments lack the columns of `lacking`,
 * like those of earlier versions.
 */
export async function seedExplored(
  database: Pick<Database, 'worker'>,
  org_id: number,
  clicks: readonly ExploredClick[],
  parts = 3,
  lacking: readonly string[] = [],
): Promise<void> {
  const whole = clicks.map(wholeOf)
  await storeClicks(database, org_id, whole)
  const rows: (Row & { part: number })[] = []
  for (const [at, click] of whole.entries()) {
    rows.push({ ...click, sign: 1, part: at % parts })
    if (at % 3 !== 0) continue
    const was = { ...click, stages: 1, revenue: null, approved: 0, converted: [], tracked: at % 2 === 0 }
    rows.push({ ...was, sign: 1, part: (at + 1) % parts }, { ...was, sign: -1, part: at % parts })
  }
  const groups = Map.groupBy(rows, row => `${dayOf(timeOfId(row.id))} ${row.part}`)
  for (const [key, inside] of groups) await storeSegment(database, org_id, key.slice(0, 10), inside, lacking)
  // These segments have only the sum of clicks.
  await count(
    database,
    org_id,
    whole.map(({ id, tracked }) => ({ id, tracked, stages: CLICKED })),
  )
}

/** Counts clicks in the report, so that their days are complete. */
async function count(
  { worker }: Pick<Database, 'worker'>,
  org_id: number,
  clicks: readonly Pick<Whole, 'id' | 'tracked' | 'stages'>[],
): Promise<void> {
  const tracked = clicks.filter(click => click.tracked)
  for (const [day, inside] of Map.groupBy(tracked, ({ id }) => dayOf(timeOfId(id)))) {
    const reached = REACHED.map(bit => inside.filter(({ stages }) => stages & bit).length)
    const numbers = ['clicks', ...LADDER.slice(1)]
    await worker.query(
      `insert into report_day as counted (org_id, dimension, day, campaign_id, key, ${numbers.join(', ')}, revenue)
      values ($1, 11, $2, '${NIL_ID}', '', $3, $4, $5, $6, $7, $8, $9, 0)
      on conflict (org_id, dimension, day, campaign_id, key) do update
        set ${numbers.map(name => `${name} = counted.${name} + excluded.${name}`).join(', ')}`,
      [org_id, day, inside.length, ...reached],
    )
  }
}

async function storeClicks({ worker }: Pick<Database, 'worker'>, org_id: number, clicks: readonly Whole[]) {
  const columns = Object.values(TEXTS)
  const rows = clicks.map(click => ({
    ...Object.fromEntries(Object.entries(TEXTS).map(([name, column]) => [column, click[name as Text]])),
    ...click,
    status: highestRung(click.stages),
    visitor_is_new: click.is_new,
  }))
  const typed = columns.map(column => `${column} ${column.endsWith('_id') && column !== 'ref_id' ? 'uuid' : 'text'}`)
  await worker.query(
    `insert into clicks (org_id, id, ${columns.join(', ')}, visitor_id, visitor_is_new, tracked, test, stages, status, revenue, cost, cost_counts,
      approved, pending, rejected, revenue_pending, suppressed_delivery)
    select $1::int, id, ${columns.join(', ')}, visitor_id, visitor_is_new, tracked, false, stages, status, revenue, cost, cost_counts,
      approved, pending, rejected, revenue_pending, false
    from json_to_recordset($2::json) as click (id uuid, ${typed.join(', ')}, visitor_id uuid, visitor_is_new boolean, tracked boolean,
      stages smallint, status smallint, revenue numeric, cost numeric, cost_counts boolean, approved smallint, pending smallint, rejected smallint,
      revenue_pending numeric)`,
    [org_id, JSON.stringify(rows)],
  )
  const events = clicks.flatMap(({ id, campaign, converted }) =>
    converted.map(({ amount = '0', ...one }) => ({ id: newId(), click_id: id, campaign_id: campaign, amount, ...one })),
  )
  await worker.query(
    `with stored as (
      insert into events (created_at, payout_is_explicit, person_id, source, test, id, click_id, campaign_id, type, payout, org_id)
      select now(), false, gen_random_uuid(), 'api', false, id, click_id, campaign_id, type, amount, $1::int from json_to_recordset($2::json)
        as event (id uuid, click_id uuid, campaign_id uuid, type text, amount numeric)
    )
    insert into event_revisions (org_id, event_id, seq, status, amount, source, created_at)
    select $1::int, id, 1, status, 0, 'dashboard', now() from json_to_recordset($2::json) as event (id uuid, status text)
    where status <> 'approved'`,
    [org_id, JSON.stringify(events)],
  )
}

/** The conversions of a fact: by type, how many are approved, pending and rejected, and the millionths that the approved ones pay. */
function conversionsOf({ converted }: Pick<Whole, 'converted'>): string | null {
  const types = [...new Set(converted.map(({ type }) => type))].sort()
  const counts = types.map(type => {
    const of = (status: string) => converted.filter(one => one.type === type && one.status === status)
    const paid = of('approved').reduce((sum, { amount = '0' }) => sum + toUnits(amount, 6), 0n)
    return [...['approved', 'pending', 'rejected'].map(status => of(status).length), paid]
  })
  return types.length === 0 ? null : types.map((type, at) => `${type}:${counts[at]?.join(',')}`).join(' ')
}

const visitorOf = (id: string | null) =>
  id === null ? null : createHash('sha256').update(id).digest().readBigInt64BE(0)

/** Stores one segment. */
async function storeSegment(
  { worker }: Pick<Database, 'worker'>,
  org_id: number,
  day: string,
  rows: readonly Row[],
  lacking: readonly string[],
): Promise<void> {
  const tracked = rows.filter(row => row.tracked)
  const count = (of: (row: Row) => number) => tracked.reduce((sum, row) => sum + row.sign * of(row), 0)
  await worker.query(
    `insert into segments (org_id, id, day, rows, taken, is_emptied, clicks, landed, started, registered, lead, deposit, ftd, revenue, cost,
      unread_costs, revenue_pending, approved, pending, rejected, without_amounts, body)
    values ($1, $2, $3, $4, $5, false, $6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, $7)`,
    [org_id, newId(), day, rows.length, rows.filter(row => row.sign < 0).length, count(() => 1), bodyOf(rows, lacking)],
  )
}

function bodyOf(rows: readonly Row[], lacking: readonly string[]): Buffer {
  // A click has the left-out value itself, a fact only that there is one.
  const factText = (name: Text, value: string | null) => (name === 'is_left_out' && value !== null ? 'true' : value)
  const text = (name: Text) => ({ name, type: 'STRING' as const, data: rows.map(row => factText(name, row[name])) })
  const column = (name: string, type: 'INT32' | 'INT64' | 'BOOLEAN', of: (row: Row) => unknown) => ({
    name,
    type,
    data: rows.map(of),
  })
  const isCosting = (row: Row) => row.cost_counts === true && row.tracked
  const columns = [
    column('sign', 'INT32', row => row.sign),
    column('ms', 'INT32', row => timeOfId(row.id) % DAY_MS),
    ...(Object.keys(TEXTS) as Text[]).map(text),
    column('visitor', 'INT64', row => visitorOf(row.visitor_id)),
    column('is_new', 'BOOLEAN', row => row.is_new),
    column('tracked', 'BOOLEAN', row => row.tracked),
    column('stages', 'INT32', row => row.stages),
    column('revenue', 'INT64', row => (row.revenue === null ? null : toUnits(row.revenue, 6))),
    column('cost', 'INT64', row => (isCosting(row) && row.cost !== null ? toUnits(row.cost, 9) : null)),
    column('unread_cost', 'BOOLEAN', row => isCosting(row) && row.cost === null),
    column('approved', 'INT32', row => row.approved),
    column('pending', 'INT32', row => row.pending),
    column('rejected', 'INT32', row => row.rejected),
    column('revenue_pending', 'INT64', row => toUnits(row.revenue_pending, 6)),
    { name: 'conversions', type: 'STRING' as const, data: rows.map(conversionsOf) },
  ]
  const body = parquetWriteBuffer({
    columnData: columns.filter(({ name }) => !lacking.includes(name)) as never,
    codec: 'ZSTD',
    compressors: { ZSTD: bytes => zstdCompressSync(bytes) },
  })
  return Buffer.from(body)
}

/** Stores new clicks and their sheets: a click with more stages than the first is born and then changed. */
export async function seedUnsealed(
  database: Pick<Database, 'worker'>,
  org_id: number,
  clicks: readonly ExploredClick[],
): Promise<void> {
  const whole = clicks.map(wholeOf)
  await storeClicks(database, org_id, whole)
  const sheet = new ClickSheet()
  for (const { id, tracked, bot: bot_id, stages } of whole) {
    const was: ClickState = { ...NEW, tracked, bot_id }
    sheet.addNew(org_id, { id, tracked, bot_id })
    if (stages !== CLICKED) sheet.addChange(org_id, id, was, { ...was, stages })
  }
  const statement = sheet.statement()
  if (statement !== undefined) await database.worker.query(statement.text, [...(statement.values ?? [])])
  await count(database, org_id, whole)
}

const NEW = {
  stages: CLICKED,
  revenue: null,
  cost_counts: null,
  approved: null,
  pending: null,
  rejected: null,
  revenue_pending: null,
  conversions: null,
}
