// Twenty typical questions of media buyers to Explore, each also as plain SQL over the clicks.
import type { ExploreFilter, ExploreQuestion } from '../src/contract/explore.ts'
import type { ExploreDimension } from '../src/contract/explore-dimensions.ts'
import { toWireId } from '../src/contract/ids.ts'

/** `sql` returns up to 500 groups, with the totals `all_clicks` and `all_revenue` in each row. `$1` is the organization, `$2` and `$3` the first id and the one after the last. */
export type BenchQuestion = { readonly name: string; readonly question: ExploreQuestion; readonly sql: string }

const MADE = `to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0) at time zone 'UTC'`
const COLUMNS: Partial<Record<ExploreDimension, string>> = {
  campaign: 'campaign_id',
  offer: 'offer_id',
  landing: 'landing_id',
  path: 'click_flow_node_path',
  is_new: 'visitor_is_new',
  day: `(${MADE})::date`,
  weekday: `extract(isodow from ${MADE})`,
  hour: `extract(hour from ${MADE})`,
}
const columnOf = (dimension: ExploreDimension): string => COLUMNS[dimension] ?? dimension

type Sketch = {
  readonly by: readonly ExploreDimension[]
  readonly where?: readonly ExploreFilter[]
  readonly days?: number
  readonly withVisitors?: boolean
}

/** The first of `campaigns` has the most clicks. */
const sketches = (campaigns: readonly string[]): readonly Sketch[] => {
  const five: ExploreFilter = { dimension: 'campaign', op: 'in', values: campaigns.slice(0, 5).map(toWireId) }
  const largest: ExploreFilter = { dimension: 'campaign', op: 'is', values: campaigns.slice(0, 1).map(toWireId) }
  return [
    { by: ['campaign'] },
    { by: ['geo'] },
    { by: ['sub1'] },
    { by: ['day', 'campaign'], where: [five] },
    { by: ['geo', 'device', 'os'] },
    { by: ['weekday', 'hour'] },
    { by: ['sub1', 'sub2'], where: [largest] },
    { by: ['campaign'], where: [{ dimension: 'sub4', op: 'contains', values: ['ord 12'] }] },
    { by: ['sub5'], where: [largest] },
    { by: ['browser', 'platform'], where: [{ dimension: 'geo', op: 'in', values: ['AA', 'AB', 'AC', 'AD', 'AE'] }] },
    { by: ['offer', 'landing'], days: 30 },
    { by: ['path'] },
    { by: ['sub3'], where: [{ dimension: 'sub1', op: 'is', values: ['zone-7'] }] },
    { by: ['campaign', 'status'] },
    { by: ['device', 'is_new'], withVisitors: true },
    { by: ['campaign'], withVisitors: true },
    { by: ['sub6', 'sub7', 'sub8', 'geo'], where: [five] },
    { by: ['day'] },
    { by: ['ref_id'], days: 30 },
    { by: ['sub1', 'geo', 'device', 'browser'] },
  ]
}

const MEASURES = [
  'clicks',
  'landed',
  'started',
  'registered',
  'lead',
  'deposit',
  'ftd',
  'revenue',
  'cost',
  'profit',
] as const

/** The questions over a window that ends at `to` and has `days` days, or fewer if a question asks for fewer. */
export function questionsOn(
  campaigns: readonly string[],
  { to, days }: { to: number; days: number },
): { asked: BenchQuestion; from: number }[] {
  return sketches(campaigns).map(({ by, where = [], days: fewer = days, withVisitors = false }) => {
    const from = to + 1 - Math.min(fewer, days) * 86_400_000
    const question: ExploreQuestion = {
      date_from: new Date(from).toISOString(),
      date_to: new Date(to).toISOString(),
      levels: by.map(dimension => ({ dimension })),
      filters: [...where],
      measures: withVisitors ? [...MEASURES, 'unique_visitors'] : [...MEASURES],
    }
    const name = `${by.join(' > ')}${where.map(({ dimension, op }) => ` where ${dimension} ${op}`).join('')}${withVisitors ? ' with visitors' : ''}`
    return { from, asked: { name, question, sql: plainly(by, where, withVisitors, campaigns) } }
  })
}

function plainly(
  by: readonly ExploreDimension[],
  where: readonly ExploreFilter[],
  withVisitors: boolean,
  campaigns: readonly string[],
): string {
  const reached = [1, 2, 3, 4, 5, 6].map(rung => `count(*) filter (where stages & ${1 << rung} > 0)`)
  const groups = by.map((_, at) => at + 1).join(', ')
  return `select ${[...by.map(columnOf), ...reached].join(', ')}, count(*) as clicks, sum(revenue) as revenue,
      ${withVisitors ? 'count(distinct visitor_id) as visitors,' : ''} sum(count(*)) over () as all_clicks, sum(sum(revenue)) over () as all_revenue
    from clicks where ${['org_id = $1 and id >= $2 and id < $3 and tracked', ...where.map(one => conditionOf(one, campaigns))].join(' and ')}
    group by ${groups} order by clicks desc limit 500`
}

function conditionOf({ dimension, op, values = [] }: ExploreFilter, campaigns: readonly string[]): string {
  if (op === 'contains') return `strpos(lower(${columnOf(dimension)}), '${values[0]}') > 0`
  const named = dimension === 'campaign' ? campaigns.slice(0, values.length) : values
  return `${columnOf(dimension)} in (${named.map(value => `'${value}'`).join(', ')})`
}
