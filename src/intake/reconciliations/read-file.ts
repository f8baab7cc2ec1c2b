/**
 * Parses the CSV file of a network: finds its line of titles and its columns, and returns its records. A file may have a hundred thousand lines, so it is
 * parsed in portions, and redirects are answered between them. Uses no database.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Parser, CsvError, parse } from 'csv-parse'
import { isCurrencyCode } from '../../contract/currencies.ts'
import { refuse } from '../../contract/refusals.ts'
import { COLUMNS, type Column } from './api.ts'

/** Exports may begin with lines for the report's name and dates. */
const MOST_BEFORE_TITLES = 12
const DELIMITERS = [',', ';', '\t']
/** Enough text for the lines before the titles. */
const TOP_BYTES = 65_536
/** Parsed in about two milliseconds. */
const PORTION_BYTES = 65_536
/** A comparison reads all lines again, and its heaps are kept in memory meanwhile. */
const MOST_LINES = 500_000

/** Titles that exports use, in lower case without punctuation. The first one found in a file is used. */
const TITLES: Record<Column, readonly string[]> = {
  click_id: words(
    'click id|clickid|subid|sub id|sub1|sub 1|subid1|sub id 1|aff sub|aff sub1|aff click id|cid|s1|p1|hit|external id',
  ),
  transaction_id: words(
    'transaction id|transactionid|transaction|txid|tx id|tid|conversion id|order id|orderid|order|lead id|action id|oid|event id|id',
  ),
  amount: words('payout|amount|revenue|commission|payout amount|sum|earnings|earned|reward|profit|price'),
  currency: words('currency|currency code|payout currency|cur|währung'),
  status: words('status|conversion status|state|cnv status|goal|event|event name|type'),
  at: words(
    'time|date|datetime|date time|conversion time|conversion date|conversion datetime|created|created at|date created|timestamp|event time|action time|day|added|datum',
  ),
}

function words(text: string): string[] {
  return text.split('|')
}

export type FileRecord = { readonly cells: readonly string[]; readonly line: number }
export type FileLayout = { readonly titles: readonly string[]; readonly indexes: Readonly<Record<Column, number>> }
type Chosen = Partial<Record<Column, string | null | undefined>>

/** Parses a file. Refuses `reconcile_file_unreadable` for what is no CSV in UTF-8, has no titles for its conversions, or has no or too many lines. */
export async function readNetworkFile(
  bytes: Uint8Array,
  chosen: Chosen,
): Promise<FileLayout & { readonly records: readonly FileRecord[] }> {
  if (bytes.length === 0) unreadable('it is empty')
  await requireUtf8(bytes)
  let best: { delimiter: string; at: number; layout: FileLayout } | undefined
  for (const delimiter of DELIMITERS) {
    const top = await recordsOf(bytes.subarray(0, TOP_BYTES), delimiter, MOST_BEFORE_TITLES)
    const found = titlesIn(top, chosen)
    if (found !== undefined && (best === undefined || found.layout.titles.length > best.layout.titles.length))
      best = { delimiter, ...found }
  }
  if (best === undefined) return unreadable(missing(chosen))
  const all = await recordsOf(bytes, best.delimiter)
  const records = all.slice(best.at + 1)
  if (records.length === 0) unreadable('there are no lines below the titles')
  return { ...best.layout, records }
}

function missing(chosen: Chosen): string {
  const named = Object.values(chosen).filter(title => typeof title === 'string')
  return named.length > 0
    ? `no line has the columns ${named.map(title => `“${title.slice(0, 80)}”`).join(', ')} and one with click or transaction ids`
    : 'no line has the titles of the columns. A click id or a transaction id is required, such as: click_id,transaction_id,amount,status,date'
}

async function requireUtf8(bytes: Uint8Array): Promise<void> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for (let from = 0; from < bytes.length; from += 1_048_576) {
      const text = decoder.decode(bytes.subarray(from, from + 1_048_576), { stream: true })
      if (text.includes('\u0000')) unreadable('it is not text in UTF-8')
      await nextTurn()
    }
    decoder.decode()
  } catch (error) {
    if (error instanceof TypeError) unreadable('it is not text in UTF-8: save it as CSV UTF-8')
    throw error
  }
}

async function* portionsOf(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  for (let from = 0; from < bytes.length; from += PORTION_BYTES) {
    yield bytes.subarray(from, from + PORTION_BYTES)
    await nextTurn()
  }
}

/** The records with their line numbers. With `most`, only the first ones, and a record that ends beyond the bytes is no error. */
async function recordsOf(bytes: Uint8Array, delimiter: string, most?: number): Promise<FileRecord[]> {
  const options = { bom: true, info: true, relax_column_count: true, skip_empty_lines: true, trim: true, delimiter }
  const parser: Parser = parse({ ...options, ...(most === undefined ? {} : { to: most, relax_quotes: true }) })
  const records: FileRecord[] = []
  const fed = (async () => {
    for await (const portion of portionsOf(bytes)) if (parser.writable) parser.write(portion)
    parser.end()
  })()
  try {
    // With `info` the library returns the line beside each record, which its types do not know.
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
      if (record.some(cell => cell !== '')) records.push({ cells: record, line: info.lines })
      if (records.length > MOST_LINES)
        unreadable(`it has more than ${MOST_LINES.toLocaleString('en-US')} lines: split the file`)
    }
    await fed
  } catch (error) {
    parser.destroy()
    if (!(error instanceof CsvError)) throw error
    if (most === undefined) unreadable(error.message)
  }
  return records
}

/** Longer titles are cut: the regular expression for parentheses is slow on long texts. */
const TITLE_LENGTH = 200

export const normalized = (title: string): string =>
  title
    .slice(0, TITLE_LENGTH)
    .toLowerCase()
    .replace(/\(.*?\)/g, ' ')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/** The first line that has a title for click or transaction ids, and all chosen titles. */
function titlesIn(records: readonly FileRecord[], chosen: Chosen): { at: number; layout: FileLayout } | undefined {
  for (const [at, { cells }] of records.entries()) {
    const plain = cells.map(normalized)
    const taken = new Set<number>()
    const indexes = Object.fromEntries(
      COLUMNS.map(column => {
        const index = indexOf(column, cells, plain, chosen, taken)
        if (index !== -1) taken.add(index)
        return [column, index]
      }),
    ) as Record<Column, number>
    const hasChosen = COLUMNS.every(column => typeof chosen[column] !== 'string' || indexes[column] !== -1)
    const isNamed = indexes.click_id !== -1 || indexes.transaction_id !== -1
    if (hasChosen && isNamed && cells.length > 1) return { at, layout: { titles: [...cells], indexes } }
  }
  return undefined
}

function indexOf(
  column: Column,
  cells: readonly string[],
  plain: readonly string[],
  chosen: Chosen,
  taken: ReadonlySet<number>,
): number {
  const wanted = chosen[column]
  if (wanted === null) return -1
  if (wanted !== undefined) return cells.indexOf(wanted)
  const claimed = new Set(Object.values(chosen))
  for (const title of TITLES[column]) {
    const index = plain.findIndex((one, at) => one === title && !taken.has(at) && !claimed.has(cells[at] ?? ''))
    if (index !== -1) return index
  }
  return -1
}

/** The currency in the title of the amounts, as in `Payout (EUR)`. */
export function currencyInTitle({ titles, indexes }: FileLayout): string | undefined {
  const [, inside = ''] = /\(([^)]*)\)/.exec((titles[indexes.amount] ?? '').slice(0, TITLE_LENGTH)) ?? []
  return isCurrencyCode(inside) ? inside : undefined
}

/** Refuses the whole file. */
function unreadable(why: string): never {
  return refuse('reconcile_file_unreadable', { error: `the file cannot be read: ${why}` })
}
