/** The SQL of a report's counters as one union: days and weeks, changes that are not folded yet, and the clicks of the window's ragged ends. */
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { firstIdAt } from '../../contract/ids.ts'
import { REACHED } from '../../contract/ladder.ts'
import type { Value } from '../../ground/db/statement.ts'
import { COUNTERS, NO_ID, STATUS_COUNTERS } from '../../intake/counters/deltas.ts'
import type { ReportDimension } from './api.ts'
import { type Cover, type DayRange, isAny, type Stretch, weeksOf } from './cover.ts'
import { ALL_CAMPAIGNS, UNITS, WEEK } from './units.ts'

/** Adds a value to a statement's parameters and returns its placeholder. */
export type Put = (value: Value) => string
type Slice = {
  /** Whether verdicts on conversions are counted too. */
  readonly verdicts: boolean
  readonly dimension: ReportDimension
  readonly campaigns: readonly string[] | null
  readonly cover: Cover
}

/** SQL of an id as a key, empty for a missing one. */
export const UUID_KEY = (column: string) => `case when ${column} <> '${NO_ID}' then ${column}::text else '' end`

/** SQL of the key of a row, by source. */
const KEYS: Record<Exclude<ReportDimension, 'day'>, { counted: string; unfolded: string; clicked: string }> = {
  campaign: {
    counted: UUID_KEY('campaign_id'),
    unfolded: UUID_KEY('campaign_id'),
    clicked: `coalesce(campaign_id::text, '')`,
  },
  geo: { counted: 'key', unfolded: 'geo', clicked: `coalesce(geo, '')` },
  sub1: { counted: 'key', unfolded: 'sub1', clicked: `coalesce(sub1, '')` },
  offer: { counted: 'key', unfolded: UUID_KEY('offer_id'), clicked: `coalesce(offer_id::text, '')` },
}

const NUMBERS = [...COUNTERS, 'revenue', 'cost', 'unread_costs']

/**
 * Rows of `key`, the counters, `revenue`, the clicks' own `cost`, `unread_costs` and, with `verdicts`, those; not yet summed, for the organization in
 * `$1`.
 */
export function sourcesOf({ dimension, campaigns, cover, verdicts }: Slice, put: Put): string {
  const judged = verdicts ? STATUS_COUNTERS : []
  const numbers = [...NUMBERS, ...judged].join(', ')
  const within = campaigns === null ? '' : ` and campaign_id = any(${put(campaigns)}::uuid[])`
  const key = dimension === 'day' ? { counted: 'day::text', unfolded: 'day::text' } : KEYS[dimension]
  const unit = UNITS[dimension === 'day' ? 'campaign' : dimension]
  const level = unit + (campaigns === null && dimension !== 'campaign' ? ALL_CAMPAIGNS : 0)
  const between = ({ first, last }: DayRange) =>
    `day between ${put(dayOf(first * DAY_MS))}::date and ${put(dayOf(last * DAY_MS))}::date${within}`
  const counted = (days: DayRange, of: number) =>
    `select ${key.counted} as key, ${numbers} from report_day where org_id = $1 and dimension = ${of} and ${between(days)}`
  const { weeks, around } = dimension === 'day' ? { weeks: undefined, around: [cover.days] } : weeksOf(cover.days)
  const sources = around.filter(isAny).map(days => counted(days, level))
  if (weeks !== undefined && isAny(weeks)) sources.push(counted(weeks, level + WEEK))
  if (isAny(cover.days))
    sources.push(
      `select ${key.unfolded} as key, ${numbers} from report_delta where org_id = $1 and ${between(cover.days)}`,
    )
  for (const end of cover.ends)
    sources.push(
      clicksOf(end, dimension === 'day' ? `${put(dayOf(end.from))}` : KEYS[dimension].clicked, within, judged, put),
    )
  return sources.join('\n    union all ')
}

function clicksOf(
  { sign, from, to }: Stretch,
  key: string,
  within: string,
  judged: readonly string[],
  put: Put,
): string {
  const signed = (sum: string) => (sign < 0 ? `-${sum}` : sum)
  // Columns are named in every part, because Citus takes the names of a union from its first part alone.
  const [, ...names] = COUNTERS
  const rungs = names.map((name, at) => `${signed(`count(*) filter (where stages & ${REACHED[at]} <> 0)`)} as ${name}`)
  return `select ${key}::text as key, ${signed('count(*)')} as clicks, ${rungs.join(', ')},
      ${signed('coalesce(sum(revenue), 0)')} as revenue,
      ${signed('coalesce(sum(cost) filter (where cost_counts), 0)')} as cost,
      ${signed('count(*) filter (where cost_counts and cost is null)')} as unread_costs${judged.map(name => `, ${signed(`coalesce(sum(${name}), 0)`)} as ${name}`).join('')}
      from clicks where org_id = $1 and id >= ${put(firstIdAt(from))}::uuid and id < ${put(firstIdAt(to + 1))}::uuid
        and tracked${within} group by 1`
}
