/** The clicks a question is about, in SQL over the local files: which of them and by which keys; and spend that is no click's. */
import { DAY_MS } from '../../contract/days.ts'
import { isObjectDimension, isTextDimension, isTimeDimension } from '../../contract/explore-dimensions.ts'
import type { Window } from '../../contract/window.ts'
import type { Goals } from '../../traffic/event-settings/goals.ts'
import { columnOf, type Dimension, localTime, MADE, quoted } from './columns.ts'
import { conversionColumn, conversionJoin, isOfConversions } from './conversions.ts'
import { type Numbered, UNKNOWN_NUMBER } from './words.ts'
import { haveCost } from './sums.ts'
import { type Filter, type Question, UNKNOWN, type Value } from './question.ts'

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
  /** Spend that no clicks share, a row for each cell of it. */
  readonly unclicked: string | undefined
  /** Of days before this one nothing tells one visitor from another; null: of all days it does. */
  readonly emptied_before: string | null
}

/** Whether nobody can count the visitors of the window. */
export const areVisitorsGone = ({ emptied_before }: Pick<Facts, 'emptied_before'>, { from }: Window): boolean =>
  emptied_before !== null && from < Date.parse(emptied_before)

/** A level of a question and its place among all. */
export type AskedLevel = { readonly dimension: Dimension; readonly at: number }

/** What a question reads: clicks, or spend that is no click's. */
type Part = {
  readonly from: string
  /** What is joined to it for these columns. */
  readonly joins?: readonly string[]
  /** Whether its rows have a value in the dimension; where they have none, they have the one that stands for what is not known. */
  readonly knows: (dimension: Dimension) => boolean
  readonly columns: readonly string[]
  readonly conditions: readonly string[]
}

/** Rows `p` (the row above all), with a value `k<n>` for each of these levels, or its number where it has one, and these columns. */
export function factsOf(
  facts: Facts,
  question: Question,
  window: Window,
  { levels, columns }: { readonly levels: readonly AskedLevel[]; readonly columns: readonly string[] },
): string {
  const { ties, numbered } = facts
  const opened = (question.within ?? []).map((value, at): Filter => {
    const { dimension } = question.levels[at] as Question['levels'][number]
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
    return `select ${[`${ROOT} as p`, ...keys, ...part.columns].join(', ')}
      from ${part.from} facts ${joins.join(' ')}
      where ${conditions.join(' and ')}`
  }
  return partsOf(facts, question, window, columns).map(selectOf).join(' union all ')
}

/**
 * Clicks, and with their cost also the spend that is no click's: what no clicks share, and where it stands apart what was booked without a sub1, as
 * much of it as clicks would share.
 */
function partsOf(
  { from, unclicked, goals }: Facts,
  { isApart }: Question,
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
  const knowsOfSpend = (withSub1: boolean) => (dimension: Dimension) =>
    dimension === 'sub1' ? withSub1 : KNOWN_OF_SPEND.includes(dimension)
  const spend = unclickedWithin(window)
  return [
    clicks,
    ...(isApart
      ? [
          {
            ...clicks,
            joins: [],
            knows: (dimension: Dimension) => dimension !== 'sub1',
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
/** What is known of spend beside its sub1, which is not known of all. */
const KNOWN_OF_SPEND: readonly Dimension[] = ['campaign', 'source', 'funnel', 'day', 'weekday']

/**
 * Spend without clicks counts in the window that holds the noon of its UTC day, so that windows which follow on each other count it once. A window
 * that reaches to the present holds all of the running day, as it does of clicks.
 */
function unclickedWithin({ from, to }: Window): string[] {
  const now = Date.now()
  const endOfToday = now - (now % DAY_MS) + DAY_MS - 1
  return withinWindow({ from, to: to < now - MINUTE_MS ? to : Math.max(to, endOfToday) })
}
const MINUTE_MS = 60_000

/** What stands, as a value of this dimension or its number, for one that is not known. */
export function unknownIn({ numbered }: Facts, dimension: Dimension): string {
  if (numbered(dimension) !== undefined) return String(UNKNOWN_NUMBER)
  const isText = isTextDimension(dimension) || isObjectDimension(dimension) || dimension === 'is_new'
  return isText ? quoted(UNKNOWN) : '-1'
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
