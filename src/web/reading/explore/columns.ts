/** The columns of the report: measures of the server and custom formulas, how they are formatted, compared and coloured. */
import type { z } from 'zod'
import { EVENT_TYPES, type EventType } from '../../../contract/event-types.ts'
import type { FileColumn } from '../../../contract/explore.ts'
import type { ExploreMeasures } from '../../../contract/explore-answer.ts'
import {
  ALL_MEASURES,
  EVENT_MEASURES,
  isEventMeasure,
  isEventRevenue,
  KNOWN_COST_MEASURES,
  MEASURES,
  type Measure,
  typeOfMeasure,
} from '../../../contract/explore-measures.ts'
import { figureOf, headOf } from '../../../contract/figures.ts'
import { rungOfEvent, STAGES } from '../../../contract/ladder.ts'
import { count, moneyOrNone, NONE, percent, perUnit } from '../../ground/figures/figures.ts'
import { inWords } from '../../ground/rungs.ts'
import { readFormula } from '../../../contract/formula.ts'
import type { ExploreSearch, Own, ColumnFormat, Threshold } from './search.ts'

export type RowFigures = z.input<typeof ExploreMeasures>

export type Column = {
  readonly id: string
  readonly title: string
  /** What the heading means, where that is not plain. */
  readonly means?: string
  readonly shape: 'count' | 'unit' | ColumnFormat
  /** Whether more of it is better (1), worse (-1), or neither. */
  readonly better: 1 | 0 | -1
  readonly number: (row: RowFigures) => number | undefined
  readonly text: (row: RowFigures) => string
}

const SHAPE_OF = { count: 'count', money: 'money', money_each: 'unit', share: 'percent' } as const
const shapeOf = (measure: Measure): Column['shape'] => SHAPE_OF[figureOf(measure).unit]

/** Figures with an explicit sign. */
const SIGNED: readonly string[] = ['profit', 'roi']
export const isSigned = ({ id }: Column): boolean => SIGNED.includes(id)

function numberOf(value: string | number | null | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value)
}

function textOf(measure: Measure, value: string | number | null | undefined): string {
  if (value === null || value === undefined) return NONE
  const shape = shapeOf(measure)
  // Sums of money are formatted from their text, so that no digit is lost.
  if (shape === 'money') return moneyOrNone(String(value))
  return written(shape, Number(value), SIGNED.includes(measure))
}

function written(shape: Column['shape'], value: number | undefined, signed = false): string {
  if (value === undefined) return NONE
  if (shape === 'percent') return percent(value, signed)
  if (shape === 'unit') return perUnit(value)
  if (shape === 'money') return moneyOrNone(String(value))
  if (shape === 'count') return count(value)
  return (Math.abs(value) < 10 ? Math.round(value * 1000) / 1000 : Math.round(value * 10) / 10)
    .toLocaleString('en-US')
    .replace('-', '−')
}

const OF_COST: ReadonlySet<string> = new Set(KNOWN_COST_MEASURES)
export const needsCost = ({ id }: Pick<Column, 'id'>): boolean => OF_COST.has(id)

/** For a row with a known cost, how many of its clicks have none, and their revenue. Undefined where no click lacks a cost, or all do. */
export function partOf({ cost, clicks_without_cost = 0, revenue_without_cost = '0' }: RowFigures) {
  if (cost === undefined || cost === null || clicks_without_cost === 0) return undefined
  return { clicks: clicks_without_cost, revenue: revenue_without_cost }
}

function titleOf(measure: Measure): string {
  if (isEventMeasure(measure)) {
    const type = typeOfMeasure(measure)
    if (isEventRevenue(measure)) return `${inWords(type)} revenue`
    // Not to be confused with the clicks that reached the stage.
    return IN_STAGES.includes(type) ? `${inWords(type)} events` : inWords(type)
  }
  return headOf(measure)
}

const ofMeasure = (measure: Measure): Column => ({
  id: measure,
  title: titleOf(measure),
  means: figureOf(measure).means,
  shape: shapeOf(measure),
  better: figureOf(measure).better ?? 0,
  number: row => numberOf(row[measure]),
  text: row => textOf(measure, row[measure]),
})

/** Every measure as a column; measures of single types of events only for `types`. */
export const measureColumns = (types: readonly EventType[] = []): readonly Column[] =>
  [...MEASURES, ...EVENT_MEASURES.filter(measure => types.includes(typeOfMeasure(measure)))].map(ofMeasure)

/** The prefix of custom formulas in lists of columns. */
export const OWN = '='
export const NAMES: ReadonlySet<string> = new Set(ALL_MEASURES)

function ofOwn([name, expression, shape]: Own): Column {
  const formula = readFormula(expression, NAMES)
  const number = (row: RowFigures) =>
    'wrong' in formula ? undefined : formula.value(figure => numberOf(row[figure as Measure]))
  return {
    id: `${OWN}${name}`,
    title: name,
    means: 'wrong' in formula ? `${formula.wrong}: ${expression}` : expression,
    shape,
    better: 0,
    number,
    text: row => written(shape, number(row)),
  }
}

/** Always shown first: on a screen of 1366 pixels they fit beside the names. */
const MONEY_FIRST = [
  'clicks',
  'conversions',
  'cr',
  'epc',
  'revenue',
  'cost',
  'profit',
  'roi',
] as const satisfies readonly Measure[]

/** Shown after them; a column without a value in the answer is folded. */
const AFTER_MONEY = [
  ...STAGES,
  'conversions_pending',
  'conversions_rejected',
  'cpc',
  'cpa',
  'revenue_pending',
  'approval_rate',
] as const satisfies readonly Measure[]

/** Types whose clicks have a column among the stages. */
const IN_STAGES: readonly EventType[] = EVENT_TYPES.filter(type => rungOfEvent(type) !== undefined)

/** The default columns, with those of these types of events. */
export const usualIds = (types: readonly EventType[] = []): readonly string[] => [
  ...MONEY_FIRST,
  ...types.filter(type => !IN_STAGES.includes(type)).map(type => `events_${type}`),
  ...AFTER_MONEY,
]

/** Their order on a phone, where three fit beside the name. */
const ON_PHONE = ['clicks', 'profit', 'roi', 'revenue', 'cost', 'conversions', 'cr', 'epc']

/** The columns of an address in its order, or the default ones. */
export function columnsOf({ columns, own = [] }: Pick<ExploreSearch, 'columns' | 'own'>): readonly Column[] {
  const owned = new Map(own.map(one => [`${OWN}${one[0]}`, one]))
  const ids = columns === undefined ? [...usualIds(), ...owned.keys()] : columns.split(',')
  return [...new Set(ids)].flatMap(id => {
    const mine = owned.get(id)
    if (mine !== undefined) return ofOwn(mine)
    const measure = ALL_MEASURES.find(one => one === id)
    return measure === undefined ? [] : ofMeasure(measure)
  })
}

export type ChosenColumns = Pick<ExploreSearch, 'columns' | 'own' | 'colours'>

/** The search with explicit columns: those of the address, else the chosen ones, else the default ones. */
export function withColumns(search: ExploreSearch, chosen: ChosenColumns, usual: readonly string[]): ExploreSearch {
  const { own = chosen.own, colours = chosen.colours } = search
  const filled = search.columns === undefined ? { ...search, columns: chosen.columns, own, colours } : search
  return { ...filled, columns: filled.columns ?? [...usual, ...(own ?? []).map(([name]) => OWN + name)].join() }
}

/** Reorders the default columns for a phone, so that profit and ROI are in sight. Chosen columns stay in their order. */
export function onPhone(columns: readonly Column[]): readonly Column[] {
  if (MONEY_FIRST.some((id, at) => columns[at]?.id !== id)) return columns
  const place = ({ id }: Column) => (ON_PHONE.includes(id) ? ON_PHONE.indexOf(id) : ON_PHONE.length)
  return columns.toSorted((one, other) => place(one) - place(other))
}

/**
 * Splits columns into those with a value in one of these rows and those without. The first columns, and those in the sort or a filter, are never
 * folded.
 */
export function foldEmpty(columns: readonly Column[], rows: readonly RowFigures[], asked: readonly string[]) {
  const kept = new Set<string>([...MONEY_FIRST, ...asked])
  const hasValue = ({ id, number }: Column) =>
    rows.some(row => {
      const value = number(row)
      return value !== undefined && (value !== 0 || id.startsWith(OWN))
    })
  const shown = columns.filter(column => kept.has(column.id) || hasValue(column))
  return { shown, folded: columns.filter(column => !shown.includes(column)) }
}

/** The columns for the file, without formulas that cannot be read. */
export function fileColumnsOf(search: Pick<ExploreSearch, 'columns' | 'own'>): FileColumn[] {
  const { own = [] } = search
  return columnsOf(search).flatMap(({ id }): FileColumn[] => {
    const measure = ALL_MEASURES.find(one => one === id)
    if (measure !== undefined) return [measure]
    const [name, formula = ''] = own.find(one => `${OWN}${one[0]}` === id) ?? []
    return name === undefined || 'wrong' in readFormula(formula, NAMES) ? [] : [{ name, formula }]
  })
}

type Counted = Pick<ExploreSearch, 'columns' | 'own' | 'having' | 'sort'>

/** The measures to ask for: clicks, the columns of an address, and what its formulas, sort and filters name; with any figure that needs it also cost. */
export function measuresOf({ columns, own = [], having = [], sort }: Counted): readonly Measure[] {
  const shown = new Set(columnsOf({ columns, own }).map(({ id }) => id))
  const named = own
    .filter(([name]) => shown.has(`${OWN}${name}`))
    .flatMap(([, expression]) => {
      const formula = readFormula(expression, NAMES)
      return 'wrong' in formula ? [] : [...formula.names]
    })
  const asked = [...having.map(([measure]) => measure), sort?.replace(/^-/, '') ?? '']
  const needed = new Set<string>(['clicks', ...shown, ...named, ...asked])
  // With cost the answer says how many clicks have none.
  if ([...needed].some(id => needsCost({ id }))) needed.add('cost')
  return ALL_MEASURES.filter(measure => needed.has(measure))
}

/** The change of a figure against the period before, and whether it is good (1), bad (-1) or neither. */
type Difference = { readonly words: string; readonly tone: 1 | 0 | -1 }

export function differenceOf(column: Column, row: RowFigures, before: RowFigures | undefined): Difference | undefined {
  const [now, then] = [column.number(row), before && column.number(before)]
  if (now === undefined || then === undefined || (now === 0 && then === 0)) return undefined
  const by = now - then
  const words = differenceInWords(column.shape, by, then)
  return { words, tone: words === SAME || column.better === 0 ? 0 : by * column.better > 0 ? 1 : -1 }
}

const SAME = '±0'

/** Shares change in points; other figures in per cent of the value before, or by the difference where that was not above 0. */
function differenceInWords(shape: Column['shape'], by: number, then: number): string {
  if (by === 0) return SAME
  if (shape === 'percent') {
    const points = Math.abs(by * 100).toFixed(Math.abs(by) < 0.1 ? 1 : 0)
    return Number(points) === 0 ? SAME : `${by > 0 ? '+' : '−'}${points} pp`
  }
  if (then > 0) return Math.abs(by / then) < 0.00005 ? SAME : percent(by / then, true)
  return `${by > 0 ? '+' : ''}${written(shape, by)}`
}

/** The colour of a figure by the thresholds that were set; if several match, the last. Thresholds of shares are in per cent. */
export function toneOf(
  { id, shape, number }: Column,
  row: RowFigures,
  colours: readonly Threshold[] = [],
): 'good' | 'bad' | undefined {
  const value = number(row)
  if (value === undefined) return undefined
  const held = shape === 'percent' ? value * 100 : value
  return colours.findLast(([of, side, limit]) => of === id && (side === 'above' ? held > limit : held < limit))?.[3]
}
