/** Explore: a question about clicks (what they are broken down by, which of them, over what time) and its answer. The screen, saved views and the route share it. */
import { z } from 'zod'
import './words.ts'
import { EXPLORE_DIMENSIONS, OPERATORS, operatorsOf } from './explore-dimensions.ts'
import { FAITHFUL, Instant, Money } from './fields.ts'
import { FIGURES, type FigureKey } from './figures.ts'
import { LONGEST_FORMULA, readFormula } from './formula.ts'
import { TimeZone } from './time-zones.ts'

/** Counts, exact. */
export const COUNT_MEASURES = [
  'clicks',
  'new_visitors',
  'landed',
  'started',
  'registered',
  'lead',
  'deposit',
  'ftd',
  'conversions',
  'conversions_pending',
  'conversions_rejected',
  'approved',
  'pending',
  'rejected',
  'unread_costs',
  'clicks_without_cost',
] as const
/** Decimal strings, exact sums with at least two decimals; cost and profit are null where no cost is known. */
export const MONEY_MEASURES = ['revenue', 'revenue_pending', 'cost', 'profit', 'revenue_without_cost'] as const
/** Of a click or a conversion, US dollars as decimal strings, rounded to six decimals, of which at least two are written; null where there is none. */
const UNIT_MEASURES = ['epc', 'cpc', 'cpa'] as const
/** Shares as numbers, 0.25 being a quarter; null where the divisor is 0. */
export const SHARE_MEASURES = ['cr', 'roi', 'approval_rate'] as const
/** The costly one, and so in no answer that does not ask for it. */
export const UNIQUE_VISITORS = 'unique_visitors'

/** What needs the cost of each click. */
export const COST_MEASURES = [
  'cost',
  'profit',
  'cpc',
  'cpa',
  'roi',
  'clicks_without_cost',
  'revenue_without_cost',
] as const
/** Rows with any of those always say these as well: how much of a row the cost is not known of. */
export const WITHOUT_COST = ['clicks_without_cost', 'revenue_without_cost'] as const

export const MEASURES = [
  ...COUNT_MEASURES,
  ...MONEY_MEASURES,
  ...UNIT_MEASURES,
  ...SHARE_MEASURES,
  UNIQUE_VISITORS,
] as const
export type Measure = (typeof MEASURES)[number]
/** What a question asks for that names no measures. */
export const USUAL_MEASURES: readonly Measure[] = MEASURES.filter(measure => measure !== UNIQUE_VISITORS)

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
  by: z.enum([...MEASURES, 'key']).meta({ description: 'key: by the keys themselves' }),
  descending: z.boolean(),
})

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
    sort: Sort.optional().meta({
      description:
        'Of all levels that have none of their own; without it levels of time go by key and all others by clicks',
    }),
    count_pending: z.boolean().optional().meta({
      description: 'Whether conversions, cr and cpa count those on hold as well as the approved ones',
    }),
    measures: z.array(z.enum(MEASURES)).min(1).optional().meta({ description: 'All but unique_visitors unless given' }),
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
  .superRefine(({ levels, sort, measures, within, after, compare, unassigned }, context) => {
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
    for (const [at, level] of levels.entries())
      if (level.sort !== undefined && !isAnswered(level.sort.by))
        wrong(['levels', at, 'sort', 'by'], 'must be among the measures')
  })
  .meta({ id: 'ExploreQuestion' })
export type ExploreQuestion = z.output<typeof ExploreQuestion>

const MOST_COLUMNS = 40
const NAMES: ReadonlySet<string> = new Set(MEASURES)

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
  columns: z.array(z.enum(MEASURES).or(OwnColumn)).min(1).max(MOST_COLUMNS).optional().meta({
    description:
      'The columns after the keys, in this order: measures of the question, and figures worked out of them; the measures unless given',
  }),
})
  .superRefine(({ measures, columns = [] }, context) => {
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

const fields = <const Names extends readonly FigureKey[], T extends z.ZodType>(names: Names, schema: T) =>
  Object.fromEntries(names.map(name => [name, schema.optional().meta({ description: FIGURES[name].means })])) as Record<
    Names[number],
    z.ZodOptional<T>
  >

/** The measures that were asked for, and no others. */
const measured = {
  ...fields(COUNT_MEASURES, z.int()),
  ...fields(MONEY_MEASURES, Money),
  ...fields(['cost', 'profit'], Money.nullable()),
  ...fields(UNIT_MEASURES, Money.nullable()),
  ...fields(SHARE_MEASURES, z.number().nullable()),
  unique_visitors: z
    .int()
    .nullable()
    .optional()
    .meta({ description: `${FIGURES.unique_visitors.means} null: the window has days before emptied_before` }),
}
export const ExploreMeasures = z.object(measured).meta({ id: 'ExploreMeasures' })
export type ExploreMeasures = z.output<typeof ExploreMeasures>

const row = {
  key: z.string().nullable().meta({
    description:
      'null: clicks without a value, and other. An empty text: spend without clicks, whose value in this dimension is not known; it comes behind all rows but other, whatever they are sorted by',
  }),
  label: z.string().meta({ description: 'Name, else the key; (none) without a value' }),
  is_other: z.boolean().meta({ description: 'True: all that the rows beside it leave out; such rows come last' }),
  count_of_other: z.int().optional().meta({ description: 'Of other: how many keys it is of' }),
  ...measured,
  before: ExploreMeasures.optional().meta({ description: 'With compare: the period before' }),
}

export type ExploreRow = z.output<z.ZodObject<typeof row>> & { children?: ExploreRow[] | undefined }
export const ExploreRow: z.ZodType<ExploreRow, ExploreRow> = z
  .object({
    ...row,
    get children() {
      return z.array(ExploreRow).optional()
    },
  })
  .meta({ id: 'ExploreRow' })

export const ExploreAnswer = z
  .object({
    window: z.object({ from: Instant, to: Instant }),
    window_before: z.object({ from: Instant, to: Instant }).optional(),
    time_zone: z.string(),
    rows: z.array(ExploreRow),
    totals: ExploreMeasures.extend({ before: ExploreMeasures.optional() }).meta({
      description: 'Over all that the filters (and within) let through',
    }),
    distinct: z.array(z.int()).meta({
      description:
        'Per level that is asked for, with within the next alone: how many keys it has, below the rows that are shown of the level above',
    }),
    unique_visitors_is_estimate: z.boolean(),
    counted_at: Instant,
    incomplete_days: z.array(z.iso.date()).meta({ description: 'UTC days of which clicks are missing in this answer' }),
    emptied_before: z.iso.date().nullable().meta({
      description:
        'The clicks of UTC days before this one are no longer kept. They count as ever, but there ref_id and each sub that had a word for nearly every click have no value; null where nothing is gone',
    }),
    took_ms: z.int(),
  })
  .meta({ id: 'ExploreAnswer' })
export type ExploreAnswer = z.output<typeof ExploreAnswer>

/** GET /api/explore/values: what a filter may name. */
export const ExploreValues = z
  .object({
    values: z.array(
      z.object({
        key: z.string(),
        label: z.string(),
        clicks: z
          .int()
          .nullable()
          .meta({ description: 'In the window; null for words that are the same for everyone' }),
      }),
    ),
  })
  .meta({ id: 'ExploreValues' })
export type ExploreValues = z.output<typeof ExploreValues>
