/**
 * The parameters of the Report's address. They are the whole question, so a link shows everyone the same. A missing or malformed parameter has its
 * default.
 */
import { z } from 'zod'
import { MOST_FILTERS, MOST_HAVING, MOST_LEVELS } from '../../../contract/explore.ts'
import { ALL_MEASURES } from '../../../contract/explore-measures.ts'
import { EXPLORE_DIMENSIONS, type ExploreDimension, operatorsOf } from '../../../contract/explore-dimensions.ts'
import { EVENT_TYPES } from '../../../contract/event-types.ts'
import { WindowSearch } from '../../ground/figures/search.ts'
import { LONG_RANGES } from '../../ground/figures/window.ts'
import { LONGEST_FORMULA } from '../../../contract/formula.ts'

/** Conditions of a filter; with several values `is` means any of them. */
export const CONDITIONS = ['is', 'is_not', 'contains', 'not_contains', 'is_empty', 'is_filled'] as const
export type Condition = (typeof CONDITIONS)[number]

export const CONDITION_WORDS: Readonly<Record<Condition, string>> = {
  is: 'is',
  is_not: 'is not',
  contains: 'contains',
  not_contains: 'does not contain',
  is_empty: 'is empty',
  is_filled: 'is filled',
}

/** Formats of custom columns. */
export const COLUMN_FORMATS = ['number', 'money', 'percent'] as const
export type ColumnFormat = (typeof COLUMN_FORMATS)[number]

/** The largest value of a filter in the API: nine digits before the point. */
const MOST_COMPARED = 999_999_999

const dimension = z.enum(EXPLORE_DIMENSIONS)
/** Dimension, condition and values: `["geo","is","DE","AT"]`. */
const Filter = z
  .tuple([dimension, z.enum(CONDITIONS)], z.string())
  .refine(([of, said, ...values]) => conditionsOf(of).includes(said) && values.length > 0 !== isBare(said))
/** Name, formula and format. */
const Own = z.tuple([z.string().min(1).max(40), z.string().max(LONGEST_FORMULA), z.enum(COLUMN_FORMATS)])
/** Conditions of a filter on figures. */
export const FIGURE_CONDITIONS = ['below', 'at_most', 'above', 'at_least', 'equals', 'not_equals'] as const
/** Figure, condition and value: `["roi","below",-20]`. Shares are in per cent. */
const FigureFilter = z.tuple([
  z.enum(ALL_MEASURES),
  z.enum(FIGURE_CONDITIONS),
  z.number().min(-MOST_COMPARED).max(MOST_COMPARED),
])
/** Column, side, limit and colour: `["roi","below",0,"bad"]`. Shares are in per cent. */
const Threshold = z.tuple([z.string(), z.enum(['above', 'below']), z.number(), z.enum(['good', 'bad'])])

export const MOST_CUSTOM_COLUMNS = 8
export const MOST_THRESHOLDS = 20
/** Limits the length of the address. */
const MOST_OPEN = 30

const text = z.string().optional().catch(undefined)

export const ExploreSearch = WindowSearch.extend({
  range: z.enum(LONG_RANGES).optional().catch(undefined),
  /** Levels, separated by commas. */
  by: text,
  where: z.array(Filter).max(MOST_FILTERS).optional().catch(undefined),
  /** Filters on figures. */
  having: z.array(FigureFilter).max(MOST_HAVING).optional().catch(undefined),
  /** A measure or `key`, with a leading minus for the largest first. */
  sort: text,
  compare: z.literal('before').optional().catch(undefined),
  /** The type of event that is the goal of every campaign; without it each has its own goal. */
  goal: z.enum(EVENT_TYPES).optional().catch(undefined),
  /** Whether conversions on hold count like approved ones. */
  pending: z.literal(true).optional().catch(undefined),
  /** By sub1, spend that was booked without one is a row of its own. */
  unassigned: z.literal('apart').optional().catch(undefined),
  /** Columns, separated by commas; custom ones by `=` and their names. */
  columns: text,
  own: z.array(Own).max(MOST_CUSTOM_COLUMNS).optional().catch(undefined),
  colours: z.array(Threshold).max(MOST_THRESHOLDS).optional().catch(undefined),
  /** The heat map instead of the table. */
  view: z.literal('hours').optional().catch(undefined),
  /** The figure of the heat map. */
  shade: z.enum(ALL_MEASURES).optional().catch(undefined),
  /** The open rows, each by its keys from the first level. */
  open: z.array(z.array(z.string().nullable()).min(1).max(MOST_LEVELS)).max(MOST_OPEN).optional().catch(undefined),
})
export type ExploreSearch = z.output<typeof ExploreSearch>
export type Filter = z.output<typeof Filter>
export type FigureFilter = z.output<typeof FigureFilter>
export type Own = z.output<typeof Own>
export type Threshold = z.output<typeof Threshold>
export type Change = (changes: Partial<ExploreSearch>) => void

/** The conditions that a dimension allows. */
export const conditionsOf = (of: ExploreDimension): readonly Condition[] =>
  CONDITIONS.filter(said => operatorsOf(of).includes(said))

/** Whether a condition has no value. */
export const isBare = (said: Condition): boolean => said === 'is_empty' || said === 'is_filled'

const isDimension = (name: string): name is ExploreDimension => (EXPLORE_DIMENSIONS as readonly string[]).includes(name)

/** The levels of an address, from the first; campaigns by default. */
export function levelsOf({ by = '' }: Pick<ExploreSearch, 'by'>): readonly ExploreDimension[] {
  const named = [...new Set(by.split(',').filter(isDimension))].slice(0, MOST_LEVELS)
  return named.length > 0 ? named : ['campaign']
}

/** The changes that set these levels. Rows stay open only where the levels above them stay the same. */
export function byLevels(levels: readonly ExploreDimension[], search: ExploreSearch): Partial<ExploreSearch> {
  const before = levelsOf(search)
  const changed = before.findIndex((level, at) => levels[at] !== level)
  const alike = changed < 0 ? before.length : changed
  // A row of the level n has n keys, and shows rows of the level after it.
  const open = search.open?.filter(path => path.length < levels.length && path.length <= alike)
  return {
    by: levels.length === 1 && levels[0] === 'campaign' ? undefined : levels.join(','),
    open: open === undefined || open.length === 0 ? undefined : open,
  }
}

/** The changes that add a filter. Where the dimension has one with the same condition, `is` replaces its values, and `is_not` adds to them. */
export function byFilter(added: Filter, { where = [] }: ExploreSearch): Partial<ExploreSearch> {
  const [of, said, ...values] = added
  const alike = said === 'is' || said === 'is_not' ? where.findIndex(one => one[0] === of && one[1] === said) : -1
  const [, , ...others] = where[alike] ?? added
  if (alike < 0) {
    const isThere = where.some(one => JSON.stringify(one) === JSON.stringify(added))
    return { where: isThere ? where : [...where, added] }
  }
  return { where: where.with(alike, [of, said, ...new Set(said === 'is' ? values : [...others, ...values])]) }
}

const isAt = (path: readonly (string | null)[]) => (one: readonly (string | null)[]) =>
  JSON.stringify(one.slice(0, path.length)) === JSON.stringify(path)

/** Whether the row with these keys is open. */
export const isRowOpen = ({ open = [] }: Pick<ExploreSearch, 'open'>, path: readonly (string | null)[]): boolean =>
  open.some(one => one.length === path.length && isAt(path)(one))

/** The changes that open a row, or close it and all rows below. Beyond the limit of open rows the oldest closes. */
export function byOpening({ open = [] }: ExploreSearch, path: readonly (string | null)[]): Partial<ExploreSearch> {
  const next = isRowOpen({ open }, path) ? open.filter(one => !isAt(path)(one)) : [...open, [...path]].slice(-MOST_OPEN)
  return { open: next.length === 0 ? undefined : next }
}

/** The campaign that the filters name, if it is a single one. */
export function onlyCampaign({ where = [] }: Pick<ExploreSearch, 'where'>): string | undefined {
  const [, , id, ...others] = where.find(([of, said]) => of === 'campaign' && said === 'is') ?? []
  return others.length === 0 ? id : undefined
}
