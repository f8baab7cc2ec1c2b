/** Reads the records of a network's file: for each line the conversion it names, its amount, status and time, or its error. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isCurrencyCode, USD } from '../../contract/currencies.ts'
import type { EventType } from '../../contract/event-types.ts'
import { isFaithful, toSixPlaces } from '../../contract/fields.ts'
import { toUuid } from '../../contract/ids.ts'
import { EVENT_STATUSES, type EventStatus } from '../../contract/revisions.ts'
import { notationOf, readAmount } from '../../money/ad-spend/spend-values.ts'
import { FROM_CALL } from '../networks/api.ts'
import { Ignored, meaningOf } from '../networks/meaning.ts'
import type { NetworkMaps } from '../networks/read-call.ts'
import { Diagnosed } from '../refused-events/diagnosis.ts'
import type { Column } from './api.ts'
import { type DateOrder, type FileTime, dateOrderOf, readTime } from './file-times.ts'
import { currencyInTitle, type FileLayout, type FileRecord, normalized } from './read-file.ts'

/** A line. `at` in Unix ms. With an error it only says which conversion it names. */
export type NetworkLine = {
  readonly line: number
  readonly click_id: string | null
  /** The click id as the file has it, if it is none of Sluice. */
  readonly click_text: string | null
  readonly transaction_id: string | null
  /** In `currency`. */
  readonly amount: string | null
  readonly currency: string | null
  readonly status: EventStatus
  readonly type: EventType | null
  readonly is_named: boolean
  readonly sent_status: string | null
  readonly at: number | null
  readonly repeats_line: number | null
  readonly error: string | null
}
type ReadFile = {
  readonly lines: NetworkLine[]
  readonly currency: string | null
  /** The moments of the lines that have a time of day, by line. */
  readonly timed: ReadonlySet<number>
  readonly from: number | null
  readonly to: number | null
}

const NONCE_LENGTH = 128
const TEXT_LENGTH = 200
/** Read in about a millisecond. */
const PORTION = 500

type Wanted = { currency?: string | undefined; time_zone?: string | undefined; date_order?: DateOrder | undefined }

/** Reads all lines by the maps of the network. */
export async function readLines(
  layout: FileLayout & { readonly records: readonly FileRecord[] },
  network: NetworkMaps,
  { currency: wanted, time_zone = 'UTC', date_order }: Wanted,
): Promise<ReadFile> {
  const { records, indexes } = layout
  const cell = (record: FileRecord, column: Column) => record.cells[indexes[column]] ?? ''
  const usual = network.currency === FROM_CALL ? null : network.currency
  const currency = currencyInTitle(layout) ?? wanted ?? usual
  const notation = notationOf(records.map(record => cell(record, 'amount')))
  const order = date_order ?? dateOrderOf(records.map(record => cell(record, 'at')))
  const statusOf = statusReader(layout, network)
  const seen = new Map<string, number>()
  const timed = new Set<number>()
  const lines: NetworkLine[] = []
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const [index, record] of records.entries()) {
    if (index % PORTION === PORTION - 1) await nextTurn()
    const text = JSON.stringify(record.cells)
    const repeats_line = seen.get(text) ?? null
    if (repeats_line === null) seen.set(text, record.line)
    const time = readTime(cell(record, 'at'), time_zone, order)
    const meaning = statusOf(cell(record, 'status'))
    const code = codeOf(cell(record, 'currency'), currency)
    const amount = readAmount(cell(record, 'amount'), notation, code ?? undefined)
    const named = namesOf(cell(record, 'click_id'), cell(record, 'transaction_id'))
    const error = faultOf(record, layout, [named, meaning, amount, time, currencyFault(code, amount)])
    if (time !== null && !('error' in time) && error === null) {
      from = Math.min(from, time.ms)
      to = Math.max(to, time.until)
      if (!time.isDay) timed.add(record.line)
    }
    lines.push({
      line: record.line,
      ...namedBy(named),
      amount: 'error' in amount || amount.amount === null ? null : toSixPlaces(amount.amount),
      currency: code,
      ...('error' in meaning ? UNREAD : meaning),
      sent_status: cell(record, 'status').slice(0, TEXT_LENGTH) || null,
      at: msOf(time),
      repeats_line,
      error,
    })
  }
  return { lines, currency, timed, ...(from > to ? { from: null, to: null } : { from, to }) }
}

const UNREAD = { status: 'approved', type: null, is_named: false } as const
const msOf = (time: FileTime | { error: string } | null): number | null =>
  time === null || 'error' in time ? null : time.ms

/** The currency of a line: its own cell, else that of the file. */
function codeOf(cell: string, byDefault: string | null): string | null {
  const code = cell.toUpperCase()
  if (code === '') return byDefault
  return ['US$', '$'].includes(code) ? USD : code.slice(0, 20)
}

function currencyFault(code: string | null, amount: { amount: string | null } | { error: string }) {
  if (code !== null) return isCurrencyCode(code) ? null : { error: `“${code}” is not a currency code, such as EUR` }
  return 'amount' in amount && amount.amount !== null
    ? { error: 'it names no currency: choose the currency of the file' }
    : null
}

type Named = Pick<NetworkLine, 'click_id' | 'click_text' | 'transaction_id'>

function namesOf(click: string, transaction: string): Named | (Named & { error: string }) {
  const click_id = toUuid(click) ?? null
  const isStorable = isFaithful(click) && isFaithful(transaction)
  const named = {
    click_id,
    click_text: click === '' || click_id !== null || !isStorable ? null : click.slice(0, TEXT_LENGTH).toWellFormed(),
    transaction_id: transaction === '' || transaction.length > NONCE_LENGTH || !isStorable ? null : transaction,
  }
  if (!isStorable) return { ...named, error: 'it contains characters that cannot be stored' }
  if (transaction.length > NONCE_LENGTH)
    return { ...named, error: `its transaction id has more than ${NONCE_LENGTH} characters` }
  if (transaction !== '' || click_id !== null) return named
  return {
    ...named,
    error:
      click === '' ? 'it has neither a click id nor a transaction id' : `“${click.slice(0, 80)}” is not a click id`,
  }
}

const namedBy = ({ click_id, click_text, transaction_id }: Named): Named => ({ click_id, click_text, transaction_id })

function faultOf({ cells }: FileRecord, { titles }: FileLayout, read: readonly (object | null)[]): string | null {
  const faults = read.flatMap(one => (one !== null && 'error' in one ? [String(one.error)] : []))
  // An unquoted amount of 1,234.50 becomes two cells, which shifts all cells behind it.
  if (cells.slice(titles.length).some(cell => cell !== ''))
    faults.unshift(
      `it has ${cells.length} cells under ${titles.length} titles: put quotes around cells that contain the separator`,
    )
  if (faults.length > 0 && cells.some(cell => /^(grand )?total/i.test(cell))) return 'it is a line of totals'
  return faults.length === 0 ? null : faults.join('; ')
}

type LineStatus = Pick<NetworkLine, 'status' | 'type' | 'is_named'>

/** Words for a status that count where the map of the network does not have them. */
const WORDS: Readonly<Record<string, EventStatus>> = {
  ...Object.fromEntries(EVENT_STATUSES.map(status => [status, status])),
  confirmed: 'approved',
  paid: 'approved',
  hold: 'pending',
  declined: 'rejected',
}

/** Reads status words by the map of the network, each word once. A line without a status is paid, like a postback without one. */
function statusReader({ titles, indexes }: FileLayout, network: NetworkMaps) {
  const title = normalized(titles[indexes.status] ?? '').replaceAll(' ', '_')
  const { status: names } = network.parameters
  const name = names.includes(title) ? title : (names[0] ?? 'status')
  const known = new Map<string, LineStatus | { error: string }>()
  return (word: string): LineStatus | { error: string } => {
    const found = known.get(word) ?? readStatus(name, word, network)
    known.set(word, found)
    return found
  }
}

function readStatus(name: string, word: string, network: NetworkMaps): LineStatus | { error: string } {
  if (word === '') return { status: 'approved', type: network.default_type, is_named: false }
  try {
    const meaning = meaningOf([{ name, status: word }], network)
    if ('verdict' in meaning) return { status: meaning.verdict, type: null, is_named: false }
    return { status: meaning.isHeld ? 'pending' : 'approved', type: meaning.type, is_named: meaning.isNamed }
  } catch (error) {
    if (!(error instanceof Diagnosed)) throw error
    const status = WORDS[word.toLowerCase()]
    if (status !== undefined && !(error instanceof Ignored)) return { status, type: null, is_named: false }
    return { error: error.message }
  }
}
