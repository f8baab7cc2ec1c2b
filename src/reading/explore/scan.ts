/** The clicks a question is about, in SQL over the local files: which of them, by which keys, and the sums of them that are asked for. */
import { DAY_MS } from '../../contract/days.ts'
import type { Measure } from '../../contract/explore.ts'
import type { Window } from '../../contract/window.ts'
import { columnOf, type Dimension, localTime, quoted } from './columns.ts'
import type { Filter, Question, Value } from './question.ts'

/** The campaigns of an organization with what they lead to and come from. */
export type CampaignTie = { readonly campaign: string; readonly source: string | null; readonly funnel: string | null }

/** What a scan reads. `files` have the days in their names. */
export type Facts = {
  readonly files: readonly string[]
  readonly ties: readonly CampaignTie[]
  /** Of the days before this one nobody's visitors are known. */
  readonly emptied_before?: string | null
}

/** As many bits as stages, by what they are called. */
const OF_STAGES = { landed: 2, started: 4, registered: 8, lead: 16, deposit: 32, ftd: 64 } as const

const SUMS = {
  clicks: 'sum(sign)',
  new_visitors: 'sum(sign) filter (where is_new)',
  ...(Object.fromEntries(
    Object.entries(OF_STAGES).map(([name, bit]) => [name, `sum(sign) filter (where stages & ${bit} <> 0)`]),
  ) as Record<keyof typeof OF_STAGES, string>),
  approved: 'sum(sign * approved)',
  pending: 'sum(sign * pending)',
  rejected: 'sum(sign * rejected)',
  unread_costs: 'sum(sign) filter (where unread_cost)',
  revenue: 'sum(sign * revenue)',
  revenue_pending: 'sum(sign * revenue_pending)',
  cost: 'sum(sign * cost)',
} as const
export type Sum = keyof typeof SUMS

/** The sums a measure is made of. */
const MADE_OF: Readonly<Partial<Record<Measure, readonly Sum[]>>> = {
  profit: ['revenue', 'cost'],
  epc: ['revenue'],
  cpc: ['cost'],
  cpa: ['cost', 'approved'],
  cr: ['approved'],
  roi: ['revenue', 'cost'],
  approval_rate: ['approved', 'rejected'],
  unique_visitors: [],
}

/** The sums that these measures need, clicks always among them. */
export function sumsOf(measures: readonly Measure[]): Sum[] {
  return [...new Set<Sum>(['clicks', ...measures.flatMap(measure => MADE_OF[measure] ?? [measure as Sum])])]
}

export const sumColumns = (sums: readonly Sum[]) => sums.map(name => `coalesce(${SUMS[name]}, 0) as ${name}`).join(', ')

/** What rows are ordered by, of columns that hold sums: whole numbers, so that the quotients are the same wherever they are made. */
export function orderOf(measure: Measure | 'key'): string {
  const ratio = (above: string, below: string) => `(${above})::double / nullif(${below}, 0)::double`
  switch (measure) {
    case 'key':
      return 'k'
    case 'profit':
      return 'revenue * 1000 - cost'
    case 'epc':
      return ratio('revenue', 'clicks')
    case 'cpc':
      return ratio('cost', 'clicks')
    case 'cpa':
      return ratio('cost', 'approved')
    case 'cr':
      return ratio('approved', 'clicks')
    case 'roi':
      return ratio('revenue * 1000 - cost', 'cost')
    case 'approval_rate':
      return ratio('approved', 'approved + rejected')
    default:
      return measure
  }
}

const TEXT_COLUMNS = `campaign offer landing path ad_account bot geo device os browser platform sub1 sub2 sub3 sub4 sub5 sub6 sub7 sub8 sub9 ref_id`
const NUMBER_COLUMNS = 'd sign ms visitor stages revenue cost approved pending rejected revenue_pending'
const BOOLEAN_COLUMNS = 'is_new tracked unread_cost'
const as = (names: string, type: string) =>
  names
    .split(' ')
    .map(name => `null::${type} as ${name}`)
    .join(', ')
/** What is read where there are no files. */
const NOTHING = `(select ${as(TEXT_COLUMNS, 'varchar')}, ${as(NUMBER_COLUMNS, 'bigint')}, ${as(BOOLEAN_COLUMNS, 'boolean')} where false)`

/** All rows of these files, for a `from`. */
export const rowsIn = (files: Facts['files']) =>
  files.length === 0
    ? NOTHING
    : `read_parquet([${files.map(quoted).join(', ')}], hive_partitioning = true, hive_types = {'d': INTEGER})`

/** Rows with a value `k1`… for each of these dimensions, and the columns that sums are made of. */
export function factsOf(
  { files, ties }: Facts,
  question: Question,
  window: Window,
  dimensions: readonly Dimension[],
): string {
  const local = localTime(question.time_zone, window)
  const keys = dimensions.map((dimension, at) => `${columnOf(dimension, local)} as k${at + 1}`)
  const opened = (question.within ?? []).map((value, at): Filter => {
    const { dimension } = question.levels[at] as Question['levels'][number]
    return { dimension, op: value === null ? 'is_empty' : 'is', values: value === null ? [] : [value] }
  })
  const filters = [...question.filters, ...opened]
  const isTied = [...dimensions, ...filters.map(({ dimension }) => dimension)].some(
    dimension => dimension === 'source' || dimension === 'funnel',
  )
  const conditions = ['tracked', ...withinWindow(window), ...filters.map(filter => conditionOf(filter, local))]
  return `select ${[...keys, 'sign, stages, is_new, revenue, cost, unread_cost, approved, pending, rejected, revenue_pending, visitor'].join(', ')}
    from ${rowsIn(files)} facts ${isTied ? `left join ${tiesOf(ties)} using (campaign)` : ''}
    where ${conditions.join(' and ')}`
}

/** Days in the middle need no look at the clock: the files of others are not even opened. */
function withinWindow({ from, to }: Window): string[] {
  const [first, last] = [Math.floor(from / DAY_MS), Math.floor(to / DAY_MS)]
  const conditions = [`d >= ${first}`, `d <= ${last}`]
  if (from % DAY_MS !== 0) conditions.push(`(d > ${first} or ms >= ${from % DAY_MS})`)
  if ((to + 1) % DAY_MS !== 0) conditions.push(`(d < ${last} or ms <= ${to % DAY_MS})`)
  return conditions
}

function tiesOf(ties: readonly CampaignTie[]): string {
  const text = (value: string | null) => (value === null ? 'null' : quoted(value))
  const rows = ties.map(({ campaign, source, funnel }) => `(${text(campaign)}, ${text(source)}, ${text(funnel)})`)
  const all = rows.length === 0 ? '(null::varchar, null::varchar, null::varchar)' : rows.join(', ')
  return `(values ${all}) ties(campaign, source, funnel)`
}

const literal = (value: Value) => (typeof value === 'number' ? String(value) : value === null ? 'null' : quoted(value))

function conditionOf({ dimension, op, values }: Filter, local: string): string {
  const column = columnOf(dimension, local)
  const named = values.filter(value => value !== null)
  const isEmptyNamed = named.length < values.length
  switch (op) {
    case 'is_empty':
      return `${column} is null`
    case 'is_filled':
      return `${column} is not null`
    case 'is':
    case 'in':
      return `(${isAmong(column, named)}${isEmptyNamed ? ` or ${column} is null` : ''})`
    case 'is_not':
    case 'not_in':
      return isEmptyNamed
        ? `(${column} is not null and not ${isAmong(column, named)})`
        : `(${column} is null or not ${isAmong(column, named)})`
    case 'contains':
      return `(${containsAny(column, named)})`
    case 'not_contains':
      return `(${column} is null or not (${containsAny(column, named)}))`
  }
}

const isAmong = (column: string, values: readonly Value[]) =>
  values.length === 0 ? 'false' : `(${column}) in (${values.map(literal).join(', ')})`

const containsAny = (column: string, values: readonly Value[]) =>
  values.map(value => `contains(lower(${column}), lower(${literal(value)}))`).join(' or ')
