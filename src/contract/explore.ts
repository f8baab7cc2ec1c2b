/** A question of Explore: clicks in a window, filtered, broken down and counted. Shared by the screen, saved views and the route. */
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
/** The default number of rows of each level below a row of the level above. */
export const USUAL_TOP = [100, 20, 10, 5] as const
const MOST_TOP = 1000
export const MOST_EXPLORE_ROWS = 10_000
export const MOST_CSV_LINES = 100_000
export const MOST_FILTERS = 12
export const MOST_VALUES = 200
export const WIDEST_EXPLORE_DAYS = 366
/** Up to this many clicks, unique visitors are counted exactly; above, they are estimated from a sample, with an error of one or two percent. */
export const MOST_EXACT_VISITORS = 1_000_000

const Dimension = z.enum(EXPLORE_DIMENSIONS)
const LONGEST_KEY = 2000
const KeyText = z
  .string()
  .max(LONGEST_KEY)
  .refine(...FAITHFUL)
/** null: clicks without a value. */
const Key = KeyText.nullable()
/** The key of the row for spend without clicks, whose value in the dimension is unknown. */
export const SPEND_KEY = ''

const Sort = z.strictObject({
  by: z.enum([...ALL_MEASURES, 'key']).meta({ description: 'key: by the keys themselves' }),
  descending: z.boolean(),
})

export const COMPARISONS = ['lt', 'lte', 'gt', 'gte', 'eq', 'ne'] as const
export const MOST_HAVING = 12
/** Limits the digits, so that no figure times such a value overflows in the scan. */
const PLAIN_NUMBER = /^-?\d{1,9}(\.\d{1,6})?$/

const Having = z
  .array(
    z.strictObject({
      measure: z.enum(ALL_MEASURES),
      op: z.enum(COMPARISONS),
      value: z
        .string()
        .regex(PLAIN_NUMBER, {
          message: 'must be a decimal string with at most 9 digits before the point and 6 after it',
        })
        .meta({ description: 'A decimal string; for a share a part of 1', examples: ['-0.2'] }),
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
      description: `Rows below each row of the level above; by default ${USUAL_TOP.join(', ')} by level. All other keys make up one row, other`,
    }),
  sort: Sort.optional().meta({ description: 'The order of this level alone' }),
  having: Having.optional().meta({
    description: 'Filters on the figures of the rows of this level; having of the question is for the last level',
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

/** POST /api/explore. A saved view stores it with or without its window. */
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
    time_zone: TimeZone.optional().meta({ description: 'For days, hours and weekdays; UTC by default' }),
    levels: z.array(Level).min(1).max(MOST_LEVELS),
    filters: z.array(Filter).max(MOST_FILTERS).optional().meta({ description: 'A click must match all of them' }),
    having: Having.optional().meta({
      description:
        'Filters on the figures of the last level; a row must match all of them. The answer covers only the clicks of the matching rows: rows above, totals, other and ' +
        'distinct count those clicks alone, and a row above without any is left out. The filters compare exact figures of the whole row in the window, before top cuts rows off; ' +
        'null matches none. Spend without clicks is a row like any other. With compare, the period before has the same rows. With within, filters of the levels above are not applied again',
    }),
    sort: Sort.optional().meta({
      description: 'For all levels without a sort of their own; by default levels of time go by key, others by clicks',
    }),
    goal: z.enum(EVENT_TYPES).optional().meta({
      description: 'The type that conversions, cr and cpa count in every campaign; by default each campaign’s own goal',
    }),
    currency: Currency.optional().meta({
      description:
        'Shows amounts in this currency at the rate of each UTC day; only with the level day alone, in UTC and without having. Rows are sorted by their dollars',
    }),
    count_pending: z.boolean().optional().meta({
      description: 'Whether conversions, cr and cpa count conversions on hold as well as approved ones',
    }),
    measures: z.array(z.enum(ALL_MEASURES)).min(1).optional().meta({
      description: 'By default all except unique_visitors and those of single event types',
    }),
    unassigned: z.literal('apart').optional().meta({
      description:
        'Only with the level sub1: spend recorded without a sub1 is a row of its own, instead of being shared among the clicks of its campaign and day',
    }),
    compare: z.literal('before').optional().meta({
      description: 'Adds the period of the same length that ends where this one begins; not with the level day',
    }),
    within: z
      .array(Key)
      .max(MOST_LEVELS - 1)
      .optional()
      .meta({
        description:
          'Keys of the levels above: the answer has the rows of the next level below that row, without children. An empty text opens the row of spend without clicks',
      }),
    after: z.int().min(0).max(1_000_000).optional().meta({
      description: 'Only with within: skips this many rows of the level, which were shown before',
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

/** A column computed from the measures of a row. */
const OwnColumn = z.strictObject({
  name: z.string().min(1).max(40),
  formula: z
    .string()
    .max(LONGEST_FORMULA)
    .meta({
      description: 'Measures, numbers, + - * / and parentheses; empty if a part has no value or is divided by 0',
      examples: ['(revenue - cost) / landed'],
    }),
})

/** POST /api/explore/csv. */
export const ExploreFileQuestion = ExploreQuestion.safeExtend({
  columns: z.array(z.enum(ALL_MEASURES).or(OwnColumn)).min(1).max(MOST_COLUMNS).optional().meta({
    description:
      'The columns after the keys, in this order: measures of the question, and formulas of them; by default the measures',
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
