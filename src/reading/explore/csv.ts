/** Rows of an answer as a file for spreadsheets. */
import type { ExploreMeasures, ExploreRow } from '../../contract/explore.ts'
import type { Question } from './question.ts'

/** Text from outside must not become a formula when a spreadsheet opens the file, nor end its cell. */
function cell(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

/** A line for each row without rows below it: key and label of each level, then the measures. */
export function csvOf(rows: readonly ExploreRow[], { levels, measures, within = [] }: Question): string {
  const shown = within.length === 0 ? levels : levels.slice(within.length, within.length + 1)
  const names = shown.flatMap(({ dimension }) => [dimension, `${dimension}_label`])
  const lines = [[...names, ...measures].join(',')]
  const put = (some: readonly ExploreRow[], above: readonly string[]): void => {
    for (const row of some) {
      const cells = [...above, cell(row.key ?? ''), cell(row.label)]
      if (row.children !== undefined) put(row.children, cells)
      else {
        const gaps = Array(names.length - cells.length).fill('')
        // Numbers of ours alone: a leading minus is one.
        const numbers = measures.map(measure => String((row as ExploreMeasures)[measure] ?? ''))
        lines.push([...cells, ...gaps, ...numbers].join(','))
      }
    }
  }
  put(rows, [])
  return lines.join('\r\n')
}
