/** The rows of an answer as a CSV file. */
import { csvFile, textCell } from '../../contract/csv.ts'
import type { FileColumn } from '../../contract/explore.ts'
import type { ExploreMeasures, ExploreRow } from '../../contract/explore-answer.ts'
import { ALL_MEASURES, type Measure } from '../../contract/explore-measures.ts'
import { readFormula } from '../../contract/formula.ts'
import type { ParsedQuestion } from './question.ts'

/** A column's name, and its cell for a row: a number in digits, or empty. */
type CsvColumn = { readonly name: string; readonly of: (figures: ExploreMeasures | undefined) => string }

const FIGURES: ReadonlySet<string> = new Set(ALL_MEASURES)

/** A quotient of doubles has so many correct digits. */
const DIGITS = 12

function fileColumnOf(column: FileColumn): CsvColumn {
  if (typeof column === 'string') return { name: column, of: figures => String(figures?.[column] ?? '') }
  const formula = readFormula(column.formula, FIGURES)
  const value = 'wrong' in formula ? () => undefined : formula.value
  return {
    name: column.name,
    of: figures => {
      const figure = value(name => numberOf(figures?.[name as Measure]))
      return figure === undefined ? '' : String(Number(figure.toPrecision(DIGITS)))
    },
  }
}

const numberOf = (value: string | number | null | undefined) =>
  value === null || value === undefined ? undefined : Number(value)

/**
 * A line for each row without rows below it: key and label of each level, then `columns`, the measures unless given; with a comparison each is
 * followed by what it was before.
 */
export function csvOf(
  rows: readonly ExploreRow[],
  question: ParsedQuestion,
  columns: readonly FileColumn[] = question.measures,
): string {
  const { levels, within = [], before } = question
  const levelsInFile = within.length === 0 ? levels : levels.slice(within.length, within.length + 1)
  const names = levelsInFile.flatMap(({ dimension }) => [dimension, `${dimension}_label`])
  const held = columns.map(fileColumnOf)
  const heads = held.flatMap(({ name }) => (before === undefined ? [name] : [name, `${name}_before`]))
  const lines = [[...names, ...heads].map(textCell)]
  const put = (some: readonly ExploreRow[], above: readonly string[]): void => {
    for (const row of some) {
      const cells = [...above, textCell(row.key ?? ''), textCell(row.label)]
      if (row.children !== undefined) put(row.children, cells)
      else {
        const gaps = Array(names.length - cells.length).fill('')
        const numbers = held.flatMap(({ of }) => (before === undefined ? [of(row)] : [of(row), of(row.before)]))
        lines.push([...cells, ...gaps, ...numbers])
      }
    }
  }
  put(rows, [])
  return csvFile(lines)
}
