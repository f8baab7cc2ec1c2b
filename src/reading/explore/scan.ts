/** The clicks a question is about, in SQL over the local files: which of them, by which keys, and the sums of them that are asked for. */
import { DAY_MS } from '../../contract/days.ts'
import type { Measure } from '../../contract/explore.ts'
import { isTimeDimension } from '../../contract/explore-dimensions.ts'
import type { Window } from '../../contract/window.ts'
import type { Goals } from '../../traffic/event-settings/goals.ts'
import { columnOf, type Dimension, localTime, MADE, quoted } from './columns.ts'
import { goalColumns, goalJoin } from './conversions.ts'
import type { Found } from './engine.ts'
import type { Numbered } from './words.ts'
import { nameOfPair, PAIR_SIZE, type Pair, type Paired, PAIRS } from './pairs.ts'
import type { Filter, Question, Value } from './question.ts'

/** The campaigns of an organization with what they lead to and come from. */
export type CampaignTie = { readonly campaign: string; readonly source: string | null; readonly funnel: string | null }

/** What a scan reads: a relation of the columns that `local.ts` keeps, in SQL, and how many values some dimension has in it, roughly. */
export type Facts = {
  readonly from: string
  readonly ties: readonly CampaignTie[]
  readonly valuesOf: (dimension: Dimension) => number
  /** Where the words of a dimension have numbers. */
  readonly numbered: (dimension: Dimension) => Numbered | undefined
  /** Which types of events are the conversion. */
  readonly goals: Goals
  /** Of days before this one nothing tells one visitor from another; null: of all days it does. */
  readonly emptied_before: string | null
}

/** Whether nobody can count the visitors of the window. */
export const areVisitorsGone = ({ emptied_before }: Pick<Facts, 'emptied_before'>, { from }: Window): boolean =>
  emptied_before !== null && from < Date.parse(emptied_before)

/** What sums are made of, as `local.ts` keeps it: one number of a click each, or two in one. */
const MADE_IN: Readonly<Record<Exclude<Sum, Paired>, string>> = {
  clicks: 'sign',
  rejected: 'rejected',
  conversions_rejected: 'conversions_rejected',
  revenue: 'revenue',
  revenue_pending: 'revenue_pending',
  cost: 'cost',
}
export type Sum = 'clicks' | 'rejected' | 'conversions_rejected' | 'revenue' | 'revenue_pending' | 'cost' | Paired

export type Sums = Readonly<Record<Sum, bigint>> & { readonly unique_visitors?: bigint }

/** Both, because a question may count those on hold as well. */
const CONVERSIONS = ['conversions', 'conversions_pending'] as const

/** The sums a measure is made of. */
const MADE_OF: Readonly<Partial<Record<Measure, readonly Sum[]>>> = {
  conversions: CONVERSIONS,
  profit: ['revenue', 'cost'],
  epc: ['revenue'],
  cpc: ['cost'],
  cpa: ['cost', ...CONVERSIONS],
  cr: CONVERSIONS,
  roi: ['revenue', 'cost'],
  approval_rate: ['approved', 'rejected'],
  unique_visitors: [],
}

/** The sums that these measures need, clicks always among them. */
export function sumsOf(measures: readonly Measure[]): Sum[] {
  return [...new Set<Sum>(['clicks', ...measures.flatMap(measure => MADE_OF[measure] ?? [measure as Sum])])]
}

const pairOf = (sum: Sum): Pair | undefined => PAIRS.find(pair => pair.some(name => name === sum))

/** The columns that these sums are made in. */
export const madeIn = (sums: readonly Sum[]): string[] => [
  ...new Set(
    sums.map(sum => {
      const pair = pairOf(sum)
      return pair === undefined ? MADE_IN[sum as keyof typeof MADE_IN] : nameOfPair(pair)
    }),
  ),
]

/** The sums of such columns under their own names. */
export const summed = (columns: readonly string[]): string =>
  columns.map(column => `coalesce(sum(${column}), 0) as ${column}`).join(', ')

/** The sums by their names, out of columns that were summed. */
export const named = (sums: readonly Sum[]): string => sums.map(sum => `${oneOf(sum)} as ${sum}`).join(', ')

function oneOf(sum: Sum): string {
  const pair = pairOf(sum)
  if (pair === undefined) return MADE_IN[sum as keyof typeof MADE_IN]
  const both = `${nameOfPair(pair)}::bigint`
  const low = `(((${both} + ${PAIR_SIZE / 2}) & ${PAIR_SIZE - 1}) - ${PAIR_SIZE / 2})`
  return pair[0] === sum ? low : `((${both} - ${low}) // ${PAIR_SIZE})`
}

/** A found row's sums; none where there is no row. */
export function sumsIn(row: Found | undefined, sums: readonly Sum[]): Sums {
  return Object.fromEntries(sums.map(name => [name, BigInt((row?.[name] as bigint | number | undefined) ?? 0)])) as Sums
}

/** What rows are ordered by, of columns that hold sums: whole numbers, so that the quotients are the same wherever they are made. */
export function orderOf(measure: Measure | 'key', count_pending: boolean): string {
  const conversions = count_pending ? '(conversions + conversions_pending)' : 'conversions'
  const ratio = (above: string, below: string) => `(${above})::double / nullif(${below}, 0)::double`
  switch (measure) {
    case 'key':
      return 'word'
    case 'conversions':
      return conversions
    case 'profit':
      return 'revenue * 1000 - cost'
    case 'epc':
      return ratio('revenue', 'clicks')
    case 'cpc':
      return ratio('cost', 'clicks')
    case 'cpa':
      return ratio('cost', conversions)
    case 'cr':
      return ratio(conversions, 'clicks')
    case 'roi':
      return ratio('revenue * 1000 - cost', 'cost')
    case 'approval_rate':
      return ratio('approved', 'approved + rejected')
    default:
      return measure
  }
}

/** A level of a question and its place among all. */
export type AskedLevel = { readonly dimension: Dimension; readonly at: number }

/** Rows `p` (the row above all), with a value `k<n>` for each of these levels, or its number where it has one, and these columns. */
export function factsOf(
  { from, ties, numbered, goals }: Facts,
  question: Question,
  window: Window,
  { levels, columns }: { readonly levels: readonly AskedLevel[]; readonly columns: readonly string[] },
): string {
  const opened = (question.within ?? []).map((value, at): Filter => {
    const { dimension } = question.levels[at] as Question['levels'][number]
    return { dimension, op: value === null ? 'is_empty' : 'is', values: value === null ? [] : [value] }
  })
  const filters = [...question.filters, ...opened]
  const used = [...levels, ...filters].map(({ dimension }) => dimension)
  const local = used.some(isTimeDimension) ? localTime(question.time_zone, window) : MADE
  const keys = levels.map(
    ({ dimension, at }) => `${numbered(dimension)?.column ?? columnOf(dimension, local)} as ${keyName(at)}`,
  )
  const isTied = used.some(dimension => dimension === 'source' || dimension === 'funnel')
  const conditions = [
    ...withinWindow(window),
    ...filters.map(filter => conditionOf(filter, local, numbered(filter.dimension))),
  ]
  const made = goalColumns(goals)
  const sums = columns.map(name => (made[name] === undefined ? name : `${made[name]} as ${name}`))
  const joins = [
    ...(isTied ? [`left join ${tiesOf(ties)} using (campaign)`] : []),
    ...(columns.some(name => made[name] !== undefined) ? [goalJoin(goals, from)] : []),
  ]
  return `select ${[`${ROOT} as p`, ...keys, ...sums].join(', ')}
    from ${from} facts ${joins.join(' ')}
    where ${conditions.join(' and ')}`
}

/** The number of the row that all others are below. */
export const ROOT = 0

/** What the value of the level at this place is called. */
export const keyName = (at: number) => `k${at + 1}`

/** Days in the middle need no look at the clock, and what lies together of other days is passed over. */
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

function conditionOf({ dimension, op, values }: Filter, local: string, numbered: Numbered | undefined): string {
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
      return `(${containsAny(column, named, numbered)})`
    case 'not_contains':
      return `(${column} is null or not (${containsAny(column, named, numbered)}))`
  }
}

const isAmong = (column: string, values: readonly Value[]) =>
  values.length === 0 ? 'false' : `(${column}) in (${values.map(literal).join(', ')})`

/** Each word is looked at once, where the words are apart. */
function containsAny(column: string, values: readonly Value[], numbered: Numbered | undefined): string {
  const inside = (text: string) =>
    values.map(value => `contains(lower(${text}), lower(${literal(value)}))`).join(' or ')
  if (numbered === undefined) return inside(column)
  return `${numbered.column} in (select number from ${numbered.words} where ${inside('word')})`
}
