/** SQL over the local files of a question's clicks with the keys of its levels, and of spend without clicks. */
import { DAY_MS, MINUTE_MS } from '../../contract/days.ts'
import {
  type ExploreDimension,
  isObjectDimension,
  isTextDimension,
  isTimeDimension,
} from '../../contract/explore-dimensions.ts'
import type { Window } from '../../contract/window.ts'
import type { Goals } from '../../traffic/event-settings/goals.ts'
import { columnOf, localTime, MADE, quoted } from './columns.ts'
import { conversionColumn, conversionJoin, isOfConversions } from './conversions.ts'
import { hasTagAmong, type TaggedObjects, withTags } from './tagged.ts'
import { type Numbered, UNKNOWN_NUMBER } from './words.ts'
import { haveCost } from './sums.ts'
import { type ParsedFilter, type ParsedQuestion, UNKNOWN, type FilterValue } from './question.ts'

/** A campaign with its traffic source and funnel. */
export type CampaignTie = { readonly campaign: string; readonly source: string | null; readonly funnel: string | null }

/** What a scan reads: `from`, a relation with the columns of `table.ts`, and what a scan must know about it. */
export type LocalFacts = {
  readonly from: string
  readonly ties: readonly CampaignTie[]
  /** Of a question with tags. */
  readonly tagged?: TaggedObjects
  /** Roughly how many values a dimension has. */
  readonly valuesOf: (dimension: ExploreDimension) => number
  /** The numbers of a dimension's texts (words.ts), if it has any. */
  readonly numbered: (dimension: ExploreDimension) => Numbered | undefined
  /** The event types that count as conversions. */
  readonly goals: Goals
  /** A relation of spend that no clicks share. */
  readonly unclicked: string | undefined
  /** The visitors of days before this one were anonymised; null: none were. */
  readonly emptied_before: string | null
}

/** Whether the visitors of the window cannot be counted. */
export const areVisitorsGone = ({ emptied_before }: Pick<LocalFacts, 'emptied_before'>, { from }: Window): boolean =>
  emptied_before !== null && from < Date.parse(emptied_before)

/** A level of a question and its index among all levels. */
export type AskedLevel = { readonly dimension: ExploreDimension; readonly at: number }

/** One select of the union that a question reads: clicks, or spend without clicks. */
type Part = {
  readonly from: string
  readonly joins?: readonly string[]
  /** Whether its rows have a value in the dimension. Otherwise they have the value that stands for unknown. */
  readonly knows: (dimension: ExploreDimension) => boolean
  readonly columns: readonly string[]
  readonly conditions: readonly string[]
}

/** SQL of rows with `p` (`ROOT`), a key `k<n>` for each of these levels (its value, or the number of its text), and these columns. */
export function selectFacts(
  facts: LocalFacts,
  question: ParsedQuestion,
  window: Window,
  { levels, columns }: { readonly levels: readonly AskedLevel[]; readonly columns: readonly string[] },
): string {
  const { ties, numbered, tagged } = facts
  const opened = (question.within ?? []).map((value, at): ParsedFilter => {
    const { dimension } = question.levels[at] as ParsedQuestion['levels'][number]
    return { dimension, op: value === null ? 'is_empty' : 'is', values: value === null ? [] : [value] }
  })
  const used = [...levels, ...question.filters, ...opened].map(({ dimension }) => dimension)
  const local = used.some(isTimeDimension) ? localTime(question.time_zone, window) : MADE
  const isTied = used.some(dimension => dimension === 'source' || dimension === 'funnel')
  const selectOf = (part: Part) => {
    const keys = levels.map(({ dimension, at }) => {
      const known = numbered(dimension)?.column ?? columnOf(dimension, local)
      return `${part.knows(dimension) ? known : unknownIn(facts, dimension)} as ${keyName(at)}`
    })
    const conditions = [
      ...part.conditions,
      ...question.filters.map(filter =>
        part.knows(filter.dimension) ? conditionOf(filter, local, numbered(filter.dimension)) : 'false',
      ),
      ...opened.map(filter => {
        const isUnknown = filter.values[0] === UNKNOWN
        if (isUnknown !== part.knows(filter.dimension))
          return isUnknown ? 'true' : conditionOf(filter, local, undefined)
        return 'false'
      }),
    ]
    const joins = [...(isTied ? [`left join ${tiesOf(ties)} using (campaign)`] : []), ...(part.joins ?? [])]
    const from = tagged === undefined ? part.from : withTags(part.from, tagged, part.knows)
    return `select ${[`${ROOT} as p`, ...keys, ...part.columns].join(', ')}
      from ${from} facts ${joins.join(' ')}
      where ${conditions.join(' and ')}`
  }
  return partsOf(facts, question, window, columns).map(selectOf).join(' union all ')
}

/**
 * The clicks; and if the question asks for cost, also spend without clicks: amounts that no clicks share, and with `isApart` the clicks' shares of
 * spend that was booked without a sub1.
 */
function partsOf(
  { from, unclicked, goals }: LocalFacts,
  { isApart }: ParsedQuestion,
  window: Window,
  columns: readonly string[],
): Part[] {
  const apart = isApart ? '_apart' : ''
  const columnsOf: Readonly<Record<string, string>> = {
    cost: `cost${apart} as cost`,
    without_cost: `without_cost${apart} as without_cost`,
    revenue_without_cost: `case when without_cost${apart} <> 0 then revenue else 0 end as revenue_without_cost`,
  }
  const clicks: Part = {
    from,
    joins: conversionJoin(goals, columns, from),
    knows: () => true,
    columns: columns.map(name => {
      return columnsOf[name] ?? (isOfConversions(name) ? `${conversionColumn(goals, name)} as ${name}` : name)
    }),
    conditions: withinWindow(window),
  }
  if (!haveCost(columns)) return [clicks]
  const ofSpend = (cost: string) =>
    columns.map(name => `${name === 'cost' ? cost : TINY.includes(name) ? '0::tinyint' : '0'} as ${name}`)
  const knowsOfSpend = (withSub1: boolean) => (dimension: ExploreDimension) =>
    dimension === 'sub1' ? withSub1 : KNOWN_OF_SPEND.includes(dimension)
  const spend = unclickedWithin(window)
  return [
    clicks,
    ...(isApart
      ? [
          {
            ...clicks,
            joins: [],
            knows: (dimension: ExploreDimension) => dimension !== 'sub1',
            columns: ofSpend('cost - cost_apart'),
            conditions: [...clicks.conditions, 'cost <> cost_apart'],
          },
        ]
      : []),
    ...(unclicked === undefined
      ? []
      : [true, false].map(withSub1 => ({
          from: unclicked,
          knows: knowsOfSpend(withSub1),
          columns: ofSpend('cost'),
          conditions: [...spend, withSub1 ? 'has_sub1' : 'not has_sub1'],
        }))),
  ]
}

const TINY: readonly string[] = ['sign', 'without_cost']
/** The dimensions that all spend has a value in. Some spend also has a sub1. */
const KNOWN_OF_SPEND: readonly ExploreDimension[] = ['campaign', 'source', 'funnel', 'tag', 'day', 'weekday']

/**
 * Spend without clicks counts in the window that contains noon of its UTC day, so that adjacent windows count it once. A window that reaches to the
 * present contains all of the current day.
 */
function unclickedWithin({ from, to }: Window): string[] {
  const now = Date.now()
  const endOfToday = now - (now % DAY_MS) + DAY_MS - 1
  return withinWindow({ from, to: to < now - MINUTE_MS ? to : Math.max(to, endOfToday) })
}

/** Dimensions whose values are words. */
const WORDS: ReadonlySet<ExploreDimension> = new Set(['is_new', 'way', 'is_left_out'])

/** SQL of the value of this dimension (or the number of its word) that stands for an unknown one. */
export function unknownIn({ numbered }: LocalFacts, dimension: ExploreDimension): string {
  if (numbered(dimension) !== undefined) return String(UNKNOWN_NUMBER)
  const isText = isTextDimension(dimension) || isObjectDimension(dimension) || WORDS.has(dimension)
  return isText ? quoted(UNKNOWN) : '-1'
}

/** The number of the row above the first level. */
export const ROOT = 0

/** The column of the level's key. */
export const keyName = (at: number) => `k${at + 1}`

/** Conditions on `d` alone let DuckDB skip whole blocks of other days; only the first and last day need `ms`. */
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

const literal = (value: FilterValue) =>
  typeof value === 'number' ? String(value) : value === null ? 'null' : quoted(value)

function conditionOf({ dimension, op, values }: ParsedFilter, local: string, numbered: Numbered | undefined): string {
  const column = columnOf(dimension, local)
  if (dimension === 'tag') return tagConditionOf(column, op, values)
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

function tagConditionOf(column: string, op: ParsedFilter['op'], values: readonly FilterValue[]): string {
  if (op === 'is_empty' || op === 'is_filled') return `len(${column}) ${op === 'is_empty' ? '=' : '>'} 0`
  const isNamed = hasTagAmong(column, values)
  return op === 'is' || op === 'in' ? isNamed : `not ${isNamed}`
}

const isAmong = (column: string, values: readonly FilterValue[]) =>
  values.length === 0 ? 'false' : `(${column}) in (${values.map(literal).join(', ')})`

/** If the texts have numbers, searches each distinct text once instead of each click. */
function containsAny(column: string, values: readonly FilterValue[], numbered: Numbered | undefined): string {
  const inside = (text: string) =>
    values.map(value => `contains(lower(${text}), lower(${literal(value)}))`).join(' or ')
  if (numbered === undefined) return inside(column)
  return `${numbered.column} in (select number from ${numbered.words} where ${inside('word')})`
}
