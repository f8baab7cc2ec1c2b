/** The rows of a comparison: pages of them, and a CSV file. */
import { textCell } from '../../contract/csv.ts'
import { toUuid, toWireId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import type * as api from './api.ts'
import { type Comparison, rowOfLine, rowOfMissing } from './compare.ts'

/** The rows of a heap, or of all: the lines in their order, then the conversions that are missing in the file. */
export function rowsOf({ lines, missing_there }: Comparison, heap: api.Heap | undefined): api.ReconciledLine[] {
  const ofFile = heap === 'missing_there' ? [] : lines.filter(one => heap === undefined || one.heap === heap)
  const missing = heap === undefined || heap === 'missing_there' ? missing_there : []
  return [...ofFile.map(rowOfLine), ...missing.map(rowOfMissing)]
}

/** A page of the rows. Refuses `invalid_cursor` for a cursor that no page had. */
export function pageOfRows(
  rows: readonly api.ReconciledLine[],
  { cursor, limit }: { cursor?: string | undefined; limit: number },
) {
  const after = cursor === undefined ? undefined : placeOf(cursor)
  const wanted = rows.filter(row => after === undefined || isBehind(row, after))
  const data = wanted.slice(0, limit)
  const last = wanted.length > data.length ? data.at(-1) : undefined
  return { data, next_cursor: last === undefined ? null : cursorOf(last) }
}

type Place = { readonly line: number } | { readonly at: string; readonly event_id: string }

/** The place of a row: its line, or the time and id of the conversion. Conversions follow the lines. */
const cursorOf = ({ line, here, event_id }: api.ReconciledLine): string =>
  line === null ? `${here?.at ?? ''}_${toWireId(event_id ?? '')}` : String(line)

function placeOf(cursor: string): Place {
  if (/^\d{1,9}$/.test(cursor)) return { line: Number(cursor) }
  const [at = '', id = '', ...others] = cursor.split('_')
  const event_id = toUuid(id)
  if (event_id === undefined || others.length > 0 || Number.isNaN(Date.parse(at))) return refuse('invalid_cursor')
  return { at, event_id }
}

function isBehind({ line, here, event_id }: api.ReconciledLine, place: Place): boolean {
  if ('line' in place) return line === null || line > place.line
  if (line !== null) return false
  const at = here?.at ?? ''
  return at > place.at || (at === place.at && (event_id ?? '') > place.event_id)
}

const CELLS = [
  'line',
  'heap',
  'repeats_line',
  'matched_by',
  'click_id',
  'transaction_id',
  'event_id',
  'here_amount',
  'here_status',
  'here_at',
  'there_amount',
  'there_currency',
  'there_amount_usd',
  'there_status',
  'there_at',
  'error',
]

function* csvText(rows: readonly api.ReconciledLine[]): Iterable<string> {
  yield `${CELLS.join(',')}\r\n`
  for (const { here, there, event_id, ...row } of rows) {
    const cells = [
      row.line,
      row.heap,
      row.repeats_line,
      row.matched_by,
      row.click_id,
      row.transaction_id,
      event_id === null ? null : toWireId(event_id),
      here?.amount,
      here?.status,
      here?.at,
      there?.amount,
      there?.currency,
      there?.amount_usd,
      there?.status,
      there?.at,
      row.error,
    ]
    yield `${cells.map(cell => (typeof cell === 'string' ? textCell(cell) : (cell ?? ''))).join(',')}\r\n`
  }
}

/** The rows as a CSV file. */
export async function* csvLines(rows: readonly api.ReconciledLine[]): AsyncIterable<string> {
  let text = ''
  for (const line of csvText(rows)) {
    text += line
    if (text.length < 65_536) continue
    yield text
    text = ''
  }
  yield text
}
