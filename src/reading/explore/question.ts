/** Reads a question of Explore: its window, levels and filters. Refuses `invalid_question`, which names the field, and the refusals of windows. */
import { USD } from '../../contract/currencies.ts'
import {
  type ExploreFilter,
  type ExploreHaving,
  type ExploreQuestion,
  type ExploreSort,
  SPEND_KEY,
  USUAL_TOP,
  WIDEST_EXPLORE_DAYS,
} from '../../contract/explore.ts'
import { type Measure, USUAL_MEASURES } from '../../contract/explore-measures.ts'
import {
  type ExploreDimension,
  isObjectDimension,
  isTextDimension,
  WAYS,
  YES_OR_NO,
  isTimeDimension,
} from '../../contract/explore-dimensions.ts'
import { toUuid } from '../../contract/ids.ts'
import { LADDER } from '../../contract/ladder.ts'
import { refuse } from '../../contract/refusals.ts'
import { momentOf, type Window, windowBetween } from '../../contract/window.ts'
import { dayNumber } from './columns.ts'

/** A value as it is compared: text (ids as uuids), or the number that stands for a word or a time. Null: no value. */
export type FilterValue = string | number | null

export type ParsedFilter = {
  readonly dimension: ExploreDimension
  readonly op: ExploreFilter['op']
  readonly values: readonly FilterValue[]
}
export type ParsedLevel = {
  readonly dimension: ExploreDimension
  readonly top: number
  readonly sort: ExploreSort
  /** The filters on the figures of its rows. */
  readonly having: readonly ExploreHaving[]
}

export type ParsedQuestion = {
  readonly window: Window
  /** The period before, where the question compares. */
  readonly before: Window | undefined
  readonly time_zone: string
  readonly levels: readonly ParsedLevel[]
  readonly filters: readonly ParsedFilter[]
  readonly measures: readonly Measure[]
  /** The currency of amounts, in an answer by UTC day. */
  readonly currency: string | undefined
  /** The type of event that is the goal of every campaign; undefined: each has its own goal. */
  readonly goal: string | undefined
  /** Whether conversions on hold count like approved ones. */
  readonly count_pending: boolean
  /** The opened row: a value for each level down to its own. */
  readonly within: readonly FilterValue[] | undefined
  readonly after: number
  /** Whether spend booked without a sub1 is a row of its own instead of a part of the clicks' cost. */
  readonly isApart: boolean
}

/** Whether it has filters on figures. */
export const isFiltered = ({ levels }: Pick<ParsedQuestion, 'levels'>): boolean =>
  levels.some(({ having }) => having.length > 0)

/** Stands for a value that is unknown, such as the country of spend without clicks. No click has it. */
export const UNKNOWN = ''

const wrong = (field: string, message: string): never =>
  refuse('invalid_question', { error: `${field}: ${message}`, hint: HINT })
const HINT = 'Compare the question with POST /api/explore in /api/docs.'

/** The question with its defaults. `top`: how many rows each level has that does not say. */
export function parseQuestion(question: ExploreQuestion, top: readonly number[] = USUAL_TOP): ParsedQuestion {
  const window = exploreWindow(question)
  const length = window.to - window.from + 1
  const isOfFigures = [question, ...question.levels].some(({ having = [] }) => having.length > 0)
  if (isOfFigures && question.levels.some(({ dimension }) => dimension === 'tag'))
    wrong('having', 'figures of tags cannot be filtered, because a click may have several')
  return {
    window,
    before: question.compare === undefined ? undefined : { from: window.from - length, to: window.from - 1 },
    time_zone: question.time_zone ?? 'UTC',
    levels: question.levels.map((level, at) => ({
      dimension: level.dimension,
      // Totals in another currency are the sums of all days.
      top: question.currency === undefined ? (level.top ?? top[at] ?? 1) : WIDEST_EXPLORE_DAYS + 1,
      sort: level.sort ?? question.sort ?? usualSort(level.dimension),
      having: [...(level.having ?? []), ...(at === question.levels.length - 1 ? (question.having ?? []) : [])],
    })),
    filters: (question.filters ?? []).map(({ dimension, op, values = [] }, at) => ({
      dimension,
      op,
      values: values.map((value, place) => valueOf(dimension, value, `filters.${at}.values.${place}`)),
    })),
    measures: question.measures ?? USUAL_MEASURES,
    currency: question.currency === USD ? undefined : question.currency,
    goal: question.goal,
    count_pending: question.count_pending === true,
    within: question.within?.map((key, at) => {
      if (key === null) return null
      return key === SPEND_KEY
        ? UNKNOWN
        : valueOf(question.levels[at]?.dimension as ExploreDimension, key, `within.${at}`)
    }),
    after: question.after ?? 0,
    isApart: question.unassigned === 'apart',
  }
}

const usualSort = (dimension: ExploreDimension): ExploreSort =>
  isTimeDimension(dimension) ? { by: 'key', descending: false } : { by: 'clicks', descending: true }

/** Refuses `window_required`, `invalid_window`, `window_too_wide`. */
export function exploreWindow({ date_from, date_to }: Pick<ExploreQuestion, 'date_from' | 'date_to'>): Window {
  if (!date_from || !date_to) return refuse('window_required')
  const [from, to] = [momentOf(date_from, 'date_from'), momentOf(date_to, 'date_to')]
  return windowBetween(from, to, WIDEST_EXPLORE_DAYS)
}

const NUMBERED: Readonly<Record<string, { form: RegExp; words: string; number: (text: string) => number }>> = {
  day: {
    form: /^\d{4}-\d\d-\d\d$/,
    words: 'must be a day, such as 2026-01-31',
    number: dayNumber,
  },
  hour: { form: /^([01]\d|2[0-3])$/, words: 'must be an hour, 00 to 23', number: Number },
  weekday: { form: /^[1-7]$/, words: 'must be a weekday, 1 for Monday to 7', number: Number },
  weekday_hour: {
    form: /^[1-7]-([01]\d|2[0-3])$/,
    words: 'must be a weekday and an hour, such as 1-09',
    number: text => Number(text.slice(0, 1)) * 24 + Number(text.slice(2)),
  },
}

/** A key of the wire as the value that it is compared by. */
function valueOf(dimension: ExploreDimension, text: string, field: string): FilterValue {
  if (isTextDimension(dimension)) return text === '' ? null : text
  if (isObjectDimension(dimension)) return toUuid(text) ?? wrong(field, 'is not an id')
  if (dimension === 'is_new' || dimension === 'is_left_out')
    return YES_OR_NO.find(word => word === text) ?? wrong(field, 'must be true or false')
  if (dimension === 'way') return WAYS.find(way => way === text) ?? wrong(field, `must be one of ${WAYS.join(', ')}`)
  if (dimension === 'status') {
    const rung = LADDER.findIndex(name => name === text)
    return rung < 0 ? wrong(field, `must be one of ${LADDER.join(', ')}`) : rung
  }
  const read = NUMBERED[dimension]
  const number = read?.form.test(text) ? read.number(text) : Number.NaN
  return Number.isNaN(number) ? wrong(field, read?.words ?? 'is not known') : number
}
