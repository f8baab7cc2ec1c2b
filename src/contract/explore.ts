/** Explore: a question about clicks, which are broken down, filtered and counted over some time. The screen, saved views and the route share it. */
import { z } from 'zod'
import './words.ts'
import { Currency } from './currencies.ts'
import { EVENT_TYPES } from './event-types.ts'
import { EXPLORE_DIMENSIONS, OPERATORS, operatorsOf } from './explore-dimensions.ts'
import { ALL_MEASURES, type Measure, USUAL_MEASURES } from './explore-measures.ts'
import { FAITHFUL } from './fields.ts'
import { LONGEST_FORMULA, readFormula } from './formula.ts'
import { TimeZone } from './time-zones.ts'

export const MOST_LEVELS = 4
/** Rows of each level below a row of the one above, where the question does not say. */
export const USUAL_TOP = [100, 20, 10, 5] as const
const MOST_TOP = 1000
/** Rows of an answer in all. */
export const MOST_EXPLORE_ROWS = 10_000
/** Lines of a file. */
export const MOST_CSV_LINES = 100_000
export const MOST_FILTERS = 12
export const MOST_VALUES = 200
export const WIDEST_EXPLORE_DAYS = 366
/** In so many clicks unique visitors are counted exactly, in more they are told by a sample of them, to one or two hundredths. */
export const MOST_EXACT_VISITORS = 1_000_000

const Dimension = z.enum(EXPLORE_DIMENSIONS)
const LONGEST_KEY = 2000
const KeyText = z
  .string()
  .max(LONGEST_KEY)
  .refine(...FAITHFUL)
/** null: clicks without a value. */
const Key = KeyText.nullable()
/** The key of the row that holds spend without clicks, where its value in the dimension is not known. */
export const SPEND_KEY = ''

const Sort = z.strictObject({
  by: z.enum([...ALL_MEASURES, 'key']).meta({ description: 'key: by the keys themselves' }),
  descending: z.boolean(),
})

/** How a figure is compared: less, at most, more, at least, exactly, anything but. */
export const COMPARISONS = ['lt', 'lte', 'gt', 'gte', 'eq', 'ne'] as const
export const MOST_HAVING = 12
/** Digits before and after the point, so that no figure times such a value is more than the scan can hold. */
const PLAIN_NUMBER = /^-?\d{1,9}(\.\d{1,6})?$/

const Having = z
  .array(
    z.strictObject({
      measure: z.enum(ALL_MEASURES),
      op: z.enum(COMPARISONS),
      value: z
        .string()
        .regex(PLAIN_NUMBER, {
          message: 'must be a plain decimal as a text, with at most 9 digits before the point and 6 behind it',
        })
        .meta({ description: 'A decimal string; of a share a part of 1', examples: ['-0.2'] }),
    }),
  )
  .max(MOST_HAVING)

const Level = z.strictObject({
  dimension: Dimension,
  top: z
    .int()
    .min(1)
    .max(MOST_TOP)
    .optional()
    .meta({
      description: `Rows below each row of the level above; ${USUAL_TOP.join(', ')} by level unless given. All else is one row, other`,
    }),
  sort: Sort.optional().meta({ description: 'Of this level alone' }),
  having: Having.optional().meta({
    description: 'Of the rows of this level, as having of the question is of the last',
  }),
})

const Filter = z
  .strictObject({
    dimension: Dimension,
    op: z.enum(OPERATORS),
    values: z.array(KeyText).max(MOST_VALUES).optional(),
  })
  .superRefine(({ dimension, op, values = [] }, context) => {
    const wrong = (path: string, message: string): void => context.addIssue({ code: 'custom', path: [path], message })
    const allowed = operatorsOf(dimension)
    if (!allowed.includes(op)) return wrong('op', `must be one of ${allowed.join(', ')} for ${dimension}`)
    if (op === 'is_empty' || op === 'is_filled')
      return values.length > 0 ? wrong('values', 'must be left out') : undefined
    if (values.length === 0) return wrong('values', 'is required')
    if ((op === 'is' || op === 'is_not') && values.length > 1) return wrong('values', 'must have one entry')
    if (values.includes('') && op !== 'is' && op !== 'is_not' && op !== 'in' && op !== 'not_in')
      return wrong('values', 'must not be empty texts')
  })

/** POST /api/explore. A saved view keeps one without its window, or with. */
export const ExploreQuestion = z
  .strictObject({
    date_from: z
      .string()
      .optional()
      .meta({ description: 'ISO 8601, inclusive, used to the millisecond', examples: ['2026-03-01'] }),
    date_to: z
      .string()
      .optional()
      .meta({
        description: `ISO 8601, inclusive; at most ${WIDEST_EXPLORE_DAYS} days after date_from`,
        examples: ['2026-03-31T23:59:59.999Z'],
      }),
    time_zone: TimeZone.optional().meta({ description: 'Of days, hours and weekdays; UTC unless given' }),
    levels: z.array(Level).min(1).max(MOST_LEVELS),
    filters: z.array(Filter).max(MOST_FILTERS).optional().meta({ description: 'All of them hold' }),
    having: Having.optional().meta({
      description:
        'Filters on figures, all of which hold: the answer is of the clicks of those rows of the last level that they hold of. So rows above have what is left of ' +
        'them, totals, other and distinct are of what is left, and a row above that has nothing left is not there. They hold of exact figures of the whole row in the window, ' +
        'before top cuts any off; of a figure that is null none holds. Spend without clicks is a row like any other. With compare the period before is that of the rows that are left. ' +
        'With within, those of the levels above are not asked again',
    }),
    sort: Sort.optional().meta({
      description:
        'Of all levels that have none of their own; without it levels of time go by key and all others by clicks',
    }),
    goal: z.enum(EVENT_TYPES).optional().meta({
      description:
        'The type that conversions, cr and cpa count in every campaign; unless given the goal of each campaign',
    }),
    currency: Currency.optional().meta({
      description:
        'Shows amounts in this currency at the rate of each UTC day; goes with the level day alone, in UTC and without having. Rows are in the order of their dollars',
    }),
    count_pending: z.boolean().optional().meta({
      description: 'Whether conversions, cr and cpa count those on hold as well as the approved ones',
    }),
    measures: z.array(z.enum(ALL_MEASURES)).min(1).optional().meta({
      description: 'All but unique_visitors and those of single types of events unless given',
    }),
    unassigned: z.literal('apart').optional().meta({
      description:
        'Goes with the level sub1: spend that was booked without a sub1 is a row of its own there, instead of being shared among the clicks of its campaign and day',
    }),
    compare: z.literal('before').optional().meta({
      description:
        'The same keys over the period of the same length that ends where this one begins; goes without keys of the day',
    }),
    within: z
      .array(Key)
      .max(MOST_LEVELS - 1)
      .optional()
      .meta({
        description:
          'Keys of the levels above: the answer is the rows of the next level below that row, without children. An empty text opens the row of spend without clicks',
      }),
    after: z.int().min(0).max(1_000_000).optional().meta({
      description: 'With within: so many rows of the level are left out, those that were shown before',
    }),
  })
  .superRefine(({ levels, sort, having = [], measures, within, after, compare, unassigned }, context) => {
    const wrong = (path: (string | number)[], message: string) => context.addIssue({ code: 'custom', path, message })
    const dimensions = levels.map(({ dimension }) => dimension)
    const twice = dimensions.findIndex((dimension, at) => dimensions.indexOf(dimension) < at)
    if (twice > 0) wrong(['levels', twice, 'dimension'], 'is a level already')
    if (within !== undefined && within.length >= levels.length)
      wrong(['within'], 'must have fewer keys than there are levels')
    if (after !== undefined && within === undefined) wrong(['after'], 'goes with within only, [] for the first level')
    if (unassigned !== undefined && !dimensions.includes('sub1')) wrong(['unassigned'], 'goes with the level sub1 only')
    if (compare !== undefined && dimensions.includes('day'))
      wrong(['compare'], 'goes without the level day, whose keys the period before does not have')
    const isAnswered = (by: string) => by === 'key' || (measures ?? USUAL_MEASURES).includes(by as Measure)
    if (sort !== undefined && !isAnswered(sort.by)) wrong(['sort', 'by'], 'must be among the measures')
    for (const [nth, { measure }] of having.entries())
      if (!isAnswered(measure)) wrong(['having', nth, 'measure'], 'must be among the measures')
    for (const [at, level] of levels.entries()) {
      if (level.sort !== undefined && !isAnswered(level.sort.by))
        wrong(['levels', at, 'sort', 'by'], 'must be among the measures')
      for (const [nth, { measure }] of (level.having ?? []).entries())
        if (!isAnswered(measure)) wrong(['levels', at, 'having', nth, 'measure'], 'must be among the measures')
    }
  })
  .superRefine(({ levels: [first, second], time_zone = 'UTC', currency, having = [] }, context) => {
    const isByUtcDay = first?.dimension === 'day' && second === undefined && time_zone === 'UTC'
    const message = 'goes with the level day alone, in UTC and without having: rates are of a UTC day'
    if (currency !== undefined && (!isByUtcDay || having.length > 0))
      context.addIssue({ code: 'custom', path: ['currency'], message })
  })
  .meta({ id: 'ExploreQuestion' })
export type ExploreQuestion = z.output<typeof ExploreQuestion>

const MOST_COLUMNS = 40
const NAMES: ReadonlySet<string> = new Set(ALL_MEASURES)

/** A figure worked out of the measures of a row. */
const OwnColumn = z.strictObject({
  name: z.string().min(1).max(40),
  formula: z
    .string()
    .max(LONGEST_FORMULA)
    .meta({
      description:
        'Of measures, numbers, + - * / and parentheses; empty where something in it has no value or is divided by 0',
      examples: ['(revenue - cost) / landed'],
    }),
})

/** POST /api/explore/csv. */
export const ExploreFileQuestion = ExploreQuestion.safeExtend({
  columns: z.array(z.enum(ALL_MEASURES).or(OwnColumn)).min(1).max(MOST_COLUMNS).optional().meta({
    description:
      'The columns after the keys, in this order: measures of the question, and figures worked out of them; the measures unless given',
  }),
})
  .superRefine(({ currency, measures, columns = [] }, context) => {
    if (currency !== undefined)
      context.addIssue({ code: 'custom', path: ['currency'], message: 'must be left out: files are in US dollars' })
    const isAsked = (name: string) => (measures ?? USUAL_MEASURES).includes(name as Measure)
    for (const [at, column] of columns.entries()) {
      const wrong = (field: string[], message: string) =>
        context.addIssue({ code: 'custom', path: ['columns', at, ...field], message })
      if (typeof column === 'string') {
        if (!isAsked(column)) wrong([], 'must be among the measures')
        continue
      }
      const formula = readFormula(column.formula, NAMES)
      if ('wrong' in formula) wrong(['formula'], `cannot be read: ${formula.wrong}`)
      else if (![...formula.names].every(isAsked)) wrong(['formula'], 'must name figures that are among the measures')
    }
  })
  .meta({ id: 'ExploreFileQuestion' })
export type FileColumn = Measure | z.output<typeof OwnColumn>
export type ExploreLevel = z.output<typeof Level>
export type ExploreSort = z.output<typeof Sort>
export type ExploreFilter = z.output<typeof Filter>
export type ExploreHaving = z.output<typeof Having>[number]
