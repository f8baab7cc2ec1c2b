/** The report's rows as a file for spreadsheets. */
import { columnsOf, lineOf } from '../../ground/figures/columns.ts'
import type { Report } from '../../ground/figures/measures.ts'
import type { Goal } from '../../ground/figures/search.ts'

export const NOT_BROKEN_DOWN = '(not broken down)'

/** Text from outside must not become a formula when a spreadsheet opens the file, nor end its cell. */
function cell(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

/** `isCut` says of a row's key whether its window cuts UTC days. */
export function reportCsv(
  { dimension, rows, totals, not_broken_down }: Report,
  goal: Goal,
  isCut: (key: string) => boolean,
): string {
  const columns = columnsOf(dimension, totals)
  const head = ['key', 'label', ...columns.map(column => column.id)]
  const lines = rows.map(row => {
    const line = lineOf(row, goal, isCut(row.key))
    return [
      cell(row.key),
      cell(row.label),
      ...columns.map(column =>
        column.id === 'source'
          ? (row.cost_source ?? '')
          : column.id === 'revenue'
            ? row.revenue
            : (column.number(line)?.toString() ?? ''),
      ),
    ]
  })
  const spend: Readonly<Record<string, string>> =
    not_broken_down === null ? {} : { cost: not_broken_down.cost, source: not_broken_down.cost_source }
  if (not_broken_down !== null) lines.push(['', NOT_BROKEN_DOWN, ...columns.map(({ id }) => spend[id] ?? '')])
  return [head, ...lines].map(line => line.join(',')).join('\r\n')
}

export function download(name: string, file: string | Blob) {
  const blob = typeof file === 'string' ? new Blob([file], { type: 'text/csv;charset=utf-8' }) : file
  const address = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}
