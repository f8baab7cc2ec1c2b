/** The columns of Explore: measures as the server counts them, and figures of one's own; how they are written, compared and coloured. */
import type { z } from 'zod'
import type { FileColumn } from '../../../contract/explore.ts'
import type { ExploreMeasures } from '../../../contract/explore-answer.ts'
import {
  COUNT_MEASURES,
  MEASURES,
  type Measure,
  MONEY_MEASURES,
  SHARE_MEASURES,
  UNIQUE_VISITORS,
} from '../../../contract/explore-measures.ts'
import { figureOf, headOf } from '../../../contract/figures.ts'
import { count, moneyOrNone, NONE, percent, perUnit } from '../../ground/figures/figures.ts'
import { inWords } from '../../ground/rungs.ts'
import { readFormula } from '../../../contract/formula.ts'
import type { ExploreSearch, Own, Shape, Threshold } from './search.ts'

export type Figures = z.input<typeof ExploreMeasures>

export type Column = {
  readonly id: string
  readonly title: string
  /** What the heading means, where that is not plain. */
  readonly means?: string
  readonly shape: 'count' | 'unit' | Shape
  /** Whether more of it is better (1), worse (-1), or neither. */
  readonly better: 1 | 0 | -1
  readonly number: (row: Figures) => number | undefined
  readonly text: (row: Figures) => string
}

/** Of which figures more is better, and of which worse; of all else neither. */
const BETTER: ReadonlySet<Measure> = new Set([
  'landed',
  'started',
  'registered',
  'lead',
  'deposit',
  'ftd',
  'conversions',
  'approved',
  'revenue',
  'profit',
  'epc',
  'cr',
  'roi',
  'approval_rate',
])
const WORSE: ReadonlySet<Measure> = new Set([
  'conversions_rejected',
  'rejected',
  'unread_costs',
  'clicks_without_cost',
  'cpc',
  'cpa',
])

/** Stages are called as the workspace calls them. */
const CALLED: readonly Measure[] = ['landed', 'started', 'lead', 'deposit', 'ftd']

const has = (names: readonly string[], name: string) => names.includes(name)

function shapeOf(measure: Measure): Column['shape'] {
  if (has(COUNT_MEASURES, measure) || measure === UNIQUE_VISITORS) return 'count'
  if (has(MONEY_MEASURES, measure)) return 'money'
  return has(SHARE_MEASURES, measure) ? 'percent' : 'unit'
}

/** Signs of these are said. */
const SIGNED: readonly string[] = ['profit', 'roi']
export const isSigned = ({ id }: Column): boolean => SIGNED.includes(id)

function numberOf(value: string | number | null | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value)
}

function textOf(measure: Measure, value: string | number | null | undefined): string {
  if (value === null || value === undefined) return NONE
  const shape = shapeOf(measure)
  // Sums of money are written as they came, so that no digit is lost.
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

/** What is made of the cost of clicks. */
const OF_COST: readonly string[] = ['cost', 'profit', 'roi', 'cpc', 'cpa']
export const needsCost = ({ id }: Pick<Column, 'id'>): boolean => OF_COST.includes(id)

/** Of a row where the cost of some clicks is known and of others not: how many are without, and what they earned. Undefined where all are of one kind. */
export function partOf({ cost, clicks_without_cost = 0, revenue_without_cost = '0' }: Figures) {
  if (cost === undefined || cost === null || clicks_without_cost === 0) return undefined
  return { clicks: clicks_without_cost, revenue: revenue_without_cost }
}

const ofMeasure = (measure: Measure): Column => ({
  id: measure,
  title: CALLED.includes(measure) ? inWords(measure) : headOf(measure),
  means: figureOf(measure).means,
  shape: shapeOf(measure),
  better: BETTER.has(measure) ? 1 : WORSE.has(measure) ? -1 : 0,
  number: row => numberOf(row[measure]),
  text: row => textOf(measure, row[measure]),
})

/** Every measure as a column, called as the workspace calls it. */
export const measureColumns = (): readonly Column[] => MEASURES.map(ofMeasure)

/** Figures of one's own are told from measures by this, before their name. */
export const OWN = '='
export const NAMES: ReadonlySet<string> = new Set(MEASURES)

function ofOwn([name, expression, shape]: Own): Column {
  const formula = readFormula(expression, NAMES)
  const number = (row: Figures) =>
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

/** The stages that types of events lead to, other than landings, which have a column anyhow. */
const STAGE_OF: Readonly<Record<string, Measure>> = {
  bot_start: 'started',
  registration: 'registered',
  lead: 'lead',
  deposit: 'deposit',
  ftd: 'ftd',
}

let stages: readonly Measure[] = []

/** Takes the goal that the workspace has chosen, null for none: its stages are among the columns that Explore opens with. */
export function openWith(goal: readonly string[] | null): void {
  stages = (goal ?? []).flatMap(type => STAGE_OF[type] ?? [])
}

const usual = (): Measure[] => [
  'clicks',
  'landed',
  ...MEASURES.filter(measure => stages.includes(measure)),
  'conversions',
  'cr',
  'epc',
  'revenue',
  'cost',
  'profit',
  'roi',
]

/** The columns of an address, in its order: what is usual where it names none. */
export function columnsOf({ columns, own = [] }: Pick<ExploreSearch, 'columns' | 'own'>): readonly Column[] {
  const owned = new Map(own.map(one => [`${OWN}${one[0]}`, one]))
  const ids = columns === undefined ? [...usual(), ...owned.keys()] : columns.split(',')
  return [...new Set(ids)].flatMap(id => {
    const mine = owned.get(id)
    if (mine !== undefined) return ofOwn(mine)
    const measure = MEASURES.find(one => one === id)
    return measure === undefined ? [] : ofMeasure(measure)
  })
}

/** The part of the address that names these columns; none where they are the usual ones. */
export function columnsInAddress(ids: readonly string[], own: readonly Own[] = []): string | undefined {
  const opened = [...usual(), ...own.map(([name]) => `${OWN}${name}`)]
  return ids.join() === opened.join() ? undefined : ids.join()
}

/** The same columns for the file; of a figure that cannot be read there is none. */
export function fileColumnsOf(search: Pick<ExploreSearch, 'columns' | 'own'>): FileColumn[] {
  const { own = [] } = search
  return columnsOf(search).flatMap(({ id }): FileColumn[] => {
    const measure = MEASURES.find(one => one === id)
    if (measure !== undefined) return [measure]
    const [name, formula = ''] = own.find(one => `${OWN}${one[0]}` === id) ?? []
    return name === undefined || 'wrong' in readFormula(formula, NAMES) ? [] : [{ name, formula }]
  })
}

/** What has to be counted for the columns of an address: their measures and what formulas name; clicks always, and the cost of what is made of it. */
export function measuresOf({ columns, own = [] }: Pick<ExploreSearch, 'columns' | 'own'>): readonly Measure[] {
  const shown = new Set(columnsOf({ columns, own }).map(({ id }) => id))
  const named = own
    .filter(([name]) => shown.has(`${OWN}${name}`))
    .flatMap(([, expression]) => {
      const formula = readFormula(expression, NAMES)
      return 'wrong' in formula ? [] : [...formula.names]
    })
  // What says whether a figure is of all clicks, or of those whose cost is known.
  const cost = [...shown].some(id => needsCost({ id })) ? ['cost'] : []
  const needed = new Set<string>(['clicks', ...shown, ...named, ...cost])
  return MEASURES.filter(measure => needed.has(measure))
}

/** How a figure differs from the period before: in words, and whether that is good (1), bad (-1) or neither. */
type Difference = { readonly words: string; readonly tone: 1 | 0 | -1 }

export function differenceOf(column: Column, row: Figures, before: Figures | undefined): Difference | undefined {
  const [now, then] = [column.number(row), before && column.number(before)]
  if (now === undefined || then === undefined || (now === 0 && then === 0)) return undefined
  const by = now - then
  const words = differenceInWords(column.shape, by, then)
  return { words, tone: words === SAME || column.better === 0 ? 0 : by * column.better > 0 ? 1 : -1 }
}

const SAME = '±0'

/** Shares in points; what was above 0 as a part of that; all else by how much. */
function differenceInWords(shape: Column['shape'], by: number, then: number): string {
  if (by === 0) return SAME
  if (shape === 'percent') {
    const points = Math.abs(by * 100).toFixed(Math.abs(by) < 0.1 ? 1 : 0)
    return Number(points) === 0 ? SAME : `${by > 0 ? '+' : '−'}${points} pp`
  }
  if (then > 0) return Math.abs(by / then) < 0.00005 ? SAME : percent(by / then, true)
  return `${by > 0 ? '+' : ''}${written(shape, by)}`
}

/** The colour of a figure by the thresholds someone has set; of several that it passes, the last. Shares are held against per cent. */
export function toneOf(
  { id, shape, number }: Column,
  row: Figures,
  colours: readonly Threshold[] = [],
): 'good' | 'bad' | undefined {
  const value = number(row)
  if (value === undefined) return undefined
  const held = shape === 'percent' ? value * 100 : value
  return colours.findLast(([of, side, limit]) => of === id && (side === 'above' ? held > limit : held < limit))?.[3]
}
