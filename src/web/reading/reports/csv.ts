/** The report's rows as a file for spreadsheets. */
import { csvFile, textCell } from '../../../contract/csv.ts'
import { columnsOf, lineOf } from '../../ground/figures/columns.ts'
import type { Report } from '../../ground/figures/measures.ts'
import type { Goal } from '../../ground/figures/search.ts'

export const NOT_BROKEN_DOWN = '(not broken down)'

export function reportCsv({ dimension, rows, totals, not_broken_down }: Report, goal: Goal): string {
  const columns = columnsOf(dimension, totals)
  const head = ['key', 'label', ...columns.map(column => column.id)]
  const lines = rows.map(row => {
    const line = lineOf(row, goal)
    return [
      textCell(row.key),
      textCell(row.label),
      ...columns.map(column =>
        column.id === 'source'
          ? row.cost_source == null
            ? ''
            : textCell(row.cost_source)
          : column.id === 'revenue'
            ? row.revenue
            : (column.number(line)?.toString() ?? ''),
      ),
    ]
  })
  const spend: Readonly<Record<string, string>> =
    not_broken_down === null ? {} : { cost: not_broken_down.cost, source: textCell(not_broken_down.cost_source) }
  if (not_broken_down !== null)
    lines.push([textCell(''), textCell(NOT_BROKEN_DOWN), ...columns.map(({ id }) => spend[id] ?? '')])
  return csvFile([head.map(textCell), ...lines])
}
