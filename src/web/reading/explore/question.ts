/** Turns the address into a question of the API, and a saved question back into an address. */
import type { z } from 'zod'
import type { ExploreQuestion } from '../../../contract/explore.ts'
import type { ExploreAnswer } from '../../../contract/explore-answer.ts'
import type { Measure } from '../../../contract/explore-measures.ts'
import { figureOf } from '../../../contract/figures.ts'
import type { ExploreDimension, Operator } from '../../../contract/explore-dimensions.ts'
import { dayAt } from '../../ground/zone.ts'
import { measuresOf } from './columns.ts'
import {
  FIGURE_CONDITIONS,
  type ExploreSearch,
  type FigureFilter,
  type Filter,
  levelsOf,
  CONDITIONS,
  type Condition,
} from './search.ts'

export type Question = z.input<typeof ExploreQuestion>
export type Answer = z.input<typeof ExploreAnswer>
export type AnswerRow = Answer['rows'][number]

/** Rows of a page, in the first level and below an open row. */
const FIRST_ROWS = 50
const ROWS_BELOW = 20

export type WindowBounds = { readonly date_from: string; readonly date_to: string }

const several: Partial<Record<Condition, Operator>> = { is: 'in', is_not: 'not_in' }

function filterOf([dimension, said, ...values]: Filter): NonNullable<Question['filters']>[number] {
  if (values.length === 0) return { dimension, op: said }
  return { dimension, op: values.length > 1 ? (several[said] ?? said) : said, values }
}

type Having = NonNullable<Question['having']>[number]
const COMPARISON: Readonly<Record<FigureFilter[1], Having['op']>> = {
  below: 'lt',
  at_most: 'lte',
  above: 'gt',
  at_least: 'gte',
  equals: 'eq',
  not_equals: 'ne',
}

const isShare = (measure: Measure): boolean => figureOf(measure).unit === 'share'

/** Shares are parts of 1 in a question, and its values have at most six decimals. */
const havingOf = ([measure, compared, value]: FigureFilter): Having => ({
  measure,
  op: COMPARISON[compared],
  value: String(Number((isShare(measure) ? value / 100 : value).toFixed(6))),
})

function figureFilterOf({ measure, op, value }: Having): FigureFilter {
  const compared = FIGURE_CONDITIONS.find(one => COMPARISON[one] === op) ?? 'below'
  return [measure, compared, Number((Number(value) * (isShare(measure) ? 100 : 1)).toFixed(6))]
}

/** The question of an address, over a window, in a time zone. */
export function questionOf(search: ExploreSearch, window: WindowBounds, zone: string): Question {
  const levels = levelsOf(search)
  const measures = measuresOf(search)
  const sort = sortOf(search, measures)
  return {
    ...window,
    ...(zone === 'UTC' ? {} : { time_zone: zone }),
    levels: levels.map(dimension => ({ dimension })),
    ...(search.where === undefined ? {} : { filters: search.where.map(filterOf) }),
    ...(search.having === undefined ? {} : { having: search.having.map(havingOf) }),
    ...(sort === undefined ? {} : { sort }),
    measures: [...measures],
    ...(isCompared(search) ? { compare: 'before' as const } : {}),
    ...(search.goal === undefined ? {} : { goal: search.goal }),
    ...(search.pending === true ? { count_pending: true } : {}),
    ...(search.unassigned !== undefined && levels.includes('sub1') ? { unassigned: search.unassigned } : {}),
  }
}

/** Days cannot be compared, because the period before has none of the same days. */
export const canCompare = (levels: readonly ExploreDimension[]): boolean => !levels.includes('day')

const isCompared = (search: ExploreSearch): boolean => search.compare !== undefined && canCompare(levelsOf(search))

function sortOf({ sort }: ExploreSearch, measures: readonly Measure[]): Question['sort'] {
  if (sort === undefined) return undefined
  const by = sort.replace(/^-/, '')
  const known = by === 'key' ? by : measures.find(measure => measure === by)
  return known && { by: known, descending: sort.startsWith('-') }
}

/** The question for the rows below a row, or of the first level, after the first `after` rows. */
export function branchOf(question: Question, within: readonly (string | null)[], after: number): Question {
  const top = within.length === 0 ? FIRST_ROWS : ROWS_BELOW
  // Filters on figures apply to the last level, so with them all levels are sent.
  const asked = question.having === undefined ? question.levels.slice(0, within.length + 1) : question.levels
  const levels = asked.map((level, at) => (at === within.length ? { ...level, top } : level))
  const { unassigned, ...rest } = question
  return {
    ...rest,
    levels,
    // Allowed only with the level sub1; it does not change the rows above.
    ...(unassigned !== undefined && levels.some(({ dimension }) => dimension === 'sub1') ? { unassigned } : {}),
    within: [...within],
    ...(after === 0 ? {} : { after }),
  }
}

/** The question for the heat map, by one of its three dimensions. */
export function hoursOf(question: Question, dimension: 'weekday_hour' | 'weekday' | 'hour'): Question {
  const { sort: _, compare: __, unassigned: ___, having: ____, ...rest } = question
  return { ...rest, levels: [{ dimension, top: 168 }] }
}

const fromOperator: Partial<Record<Operator, Condition>> = { in: 'is', not_in: 'is_not' }

/** The address of a question. It has days only where the question has a window: the days of it in the screen's time zone. */
export function searchOf(question: Question): Partial<ExploreSearch> {
  const {
    levels,
    filters = [],
    having,
    sort,
    measures,
    compare,
    goal,
    count_pending,
    unassigned,
    date_from,
    date_to,
  } = question
  const [from, to] = [date_from, date_to].map(moment => (moment === undefined ? Number.NaN : Date.parse(moment)))
  const where = filters.map(({ dimension, op, values = [] }): Filter => {
    const said = fromOperator[op] ?? CONDITIONS.find(one => one === op) ?? 'is'
    return [dimension, said, ...values]
  })
  return {
    ...(Number.isFinite(from) && Number.isFinite(to) ? { from: dayAt(from as number), to: dayAt(to as number) } : {}),
    by: levels.map(({ dimension }) => dimension).join(','),
    where: where.length === 0 ? undefined : where,
    having: having?.map(figureFilterOf),
    sort: sort && `${sort.descending ? '-' : ''}${sort.by}`,
    compare,
    goal,
    pending: count_pending === true ? true : undefined,
    unassigned,
    columns: measures && measures.join(','),
  }
}
