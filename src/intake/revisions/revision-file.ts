/** Reads a CSV file of revisions: for each line the conversion it names and its new status, or its error. Does not use the database. */
import { CsvError, parse } from 'csv-parse/sync'
import { toUuid } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import type { EventStatus } from '../../contract/revisions.ts'
import { MOST_LINES, RevisionDraft } from './api.ts'

/** A valid line. It names its conversion by event id, or by click id and transaction id. */
export type RevisionFileLine = {
  readonly line: number
  readonly event_id: string | null
  readonly click_id: string | null
  readonly transaction_id: string | null
  readonly status: EventStatus
  readonly amount: string | null | undefined
  readonly currency: string | null | undefined
  readonly reason: string | null | undefined
}
export type WrongLine = { readonly line: number; readonly error: string }

const COLUMN_TITLES = {
  event_id: ['event_id', 'conversion_id'],
  click_id: ['click_id', 'clickid', 'subid', 'sub_id'],
  transaction_id: ['transaction_id', 'txid', 'tid', 'nonce', 'order_id'],
  status: ['status'],
  amount: ['amount', 'payout', 'revenue'],
  currency: ['currency'],
  reason: ['reason', 'comment', 'note'],
} as const
type Column = keyof typeof COLUMN_TITLES
type NumberedRecord = { record: string[]; line: number }

/** Other words for a status. */
const SYNONYMS: Readonly<Record<string, EventStatus>> = {
  approve: 'approved',
  confirmed: 'approved',
  paid: 'approved',
  pend: 'pending',
  hold: 'pending',
  reject: 'rejected',
  declined: 'rejected',
  trash: 'rejected',
  refund: 'refunded',
}

/** Understands a file. Refuses `revision_file_unreadable` for what is no CSV, lacks its titles, or has too many lines. */
export function readRevisionFile(csv: string): (RevisionFileLine | WrongLine)[] {
  const [head, ...rows] = split(csv)
  const titles = head?.record.map(title => title.toLowerCase().replace(/[\s-]+/g, '_')) ?? []
  const places = Object.fromEntries(
    Object.entries(COLUMN_TITLES).map(([column, names]) => [
      column,
      titles.findIndex(title => names.some(name => name === title)),
    ]),
  ) as Record<Column, number>
  if (places.status === -1 || (places.event_id === -1 && places.click_id === -1))
    unreadable('its first line names no status, or neither event_id nor click_id')
  if (rows.length === 0) unreadable('there is no line below the header')
  if (rows.length > MOST_LINES)
    unreadable(`it has ${rows.length} lines, at most ${MOST_LINES} are allowed: split the file`)
  return rows.map(row => readLine(row, places, titles.length))
}

function readLine(
  { record, line }: NumberedRecord,
  columns: Record<Column, number>,
  width: number,
): RevisionFileLine | WrongLine {
  if (record.length > width)
    return {
      line,
      error: `it has ${record.length} cells for ${width} columns: put quotes around a cell that contains the separator`,
    }
  const cell = (column: Column) => record[columns[column]] || null
  const word = cell('status')?.toLowerCase() ?? ''
  const read = RevisionDraft.safeParse({
    status: SYNONYMS[word] ?? word,
    amount: cell('amount'),
    currency: cell('currency'),
    reason: cell('reason'),
  })
  if (!read.success) {
    const [issue] = read.error.issues
    return { line, error: `${String(issue?.path[0] ?? 'status')}: ${issue?.message ?? 'is invalid'}` }
  }
  const [event, click] = [cell('event_id'), cell('click_id')]
  if (event === null && click === null) return { line, error: 'it has neither an event_id nor a click_id' }
  const [event_id, click_id] = [event === null ? null : toUuid(event), click === null ? null : toUuid(click)]
  if (event_id === undefined) return { line, error: `“${event?.slice(0, 80)}” is not an event id` }
  if (event_id === null && (click_id === undefined || click_id === null))
    return { line, error: `“${click?.slice(0, 80)}” is not a click id` }
  const { status, amount, currency, reason } = read.data
  const named = { event_id, click_id: click_id ?? null, transaction_id: cell('transaction_id') }
  return { line, ...named, status, amount, currency, reason }
}

/** The records with their line numbers. The separator is the one that splits the header into most columns. */
function split(csv: string): NumberedRecord[] {
  const [first = ''] = csv.split('\n', 1)
  const [delimiter = ','] = [',', ';', '\t'].toSorted(
    (one, other) => first.split(other).length - first.split(one).length,
  )
  try {
    const options = { bom: true, info: true, relax_column_count: true, skip_empty_lines: true, trim: true, delimiter }
    // The library's types lack `info`, which returns each record with its line number.
    const records = parse(csv, options) as unknown as { record: string[]; info: { lines: number } }[]
    return records
      .map(({ record, info }) => ({ record, line: info.lines }))
      .filter(({ record }) => record.some(Boolean))
  } catch (error) {
    if (error instanceof CsvError) return unreadable(error.message)
    throw error
  }
}

function unreadable(why: string): never {
  return refuse('revision_file_unreadable', { error: `the file cannot be read: ${why}` })
}
