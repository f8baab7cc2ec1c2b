/**
 * Parses a spend file as ad platforms and spreadsheets export it: finds the line of titles and the columns, and reads day, campaign, sub1 and
 * amount of each line below, or its error. Uses no database.
 */
import { CsvError, parse } from 'csv-parse/sync'
import { isCurrencyCode, USD } from '../../contract/currencies.ts'
import { isFaithful, toSixPlaces } from '../../contract/fields.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Columns, SpendFile } from './api.ts'
import { notationOf, readAmount, readDay } from './spend-values.ts'

/** A person can still review so many lines, and one statement writes them within its timeout. */
const MOST_LINES = 5000
const DELIMITERS = [',', ';', '\t']
/** Exports may begin with lines for the report's name and dates. */
const MOST_BEFORE_TITLES = 12

type ColumnRole = Exclude<keyof Columns, 'currency'>

/** Required columns. A campaign may be given for all lines instead. */
const REQUIRED = ['day', 'campaign', 'amount'] as const

/** Titles that exports use, in lower case without punctuation. The first one found in a file is used. */
const TITLES: Record<ColumnRole, readonly string[]> = {
  day: [
    'day',
    'date',
    'day utc',
    'date start',
    'reporting starts',
    'by day',
    'stat time day',
    'segments date',
    'datum',
    'tag',
  ],
  campaign: ['campaign id', 'campaign key', 'campaign', 'campaign name', 'kampagne'],
  // Names that traffic sources use for it. Placements come before creatives, which influence the cost of a click less.
  sub1: [
    'sub1',
    'sub 1',
    'subid1',
    'sub id 1',
    'sub id1',
    's1',
    'subid',
    'sub id',
    'zone id',
    'zoneid',
    'zone',
    'placement id',
    'placementid',
    'placement',
    'site id',
    'siteid',
    'source id',
    'sourceid',
    'widget id',
    'spot id',
    'publisher id',
    'creative id',
    'creativeid',
    'creative',
    'banner id',
    'bannerid',
  ],
  amount: ['amount', 'cost', 'spend', 'amount spent', 'total cost', 'total spend', 'costs', 'spent', 'kosten'],
}

/** A parsed line. `campaign` is its text in the file; `amount` is in `currency`, and null deletes. */
export type FileLine = {
  readonly line: number
  readonly day: string
  readonly campaign: string
  readonly sub1: string
  readonly amount: string | null
  readonly currency: string
}
export type WrongFileLine = { readonly line: number; readonly error: string }
type ParsedFile = {
  readonly titles: readonly string[]
  readonly columns: Record<keyof Columns, string | null>
  readonly lines: readonly (FileLine | WrongFileLine)[]
  /** Why the file cannot be imported although its titles were read. `lines` is empty then. */
  readonly problem: string | null
}

/** Titles of the currency column. It is looked for in every file, because ignoring it would book wrong amounts. */
const CURRENCY = ['currency', 'currency code', 'account currency', 'account currency code', 'währung', 'waehrung']

type NumberedRecord = { record: string[]; line: number }
type TitleLayout = { at: number; titles: string[]; columnOf: Record<ColumnRole, number | undefined>; isWhole: boolean }

/**
 * Parses a file. A `problem` is: no titles for day and amount, a chosen title that is missing, amounts in another currency than the chosen
 * one, no lines below the titles, or more than 5,000 lines. Refuses `spend_file_unreadable` for text that is not CSV or has no line of titles.
 */
export function readSpendFile(file: SpendFile): ParsedFile {
  const chosenColumns = file.columns ?? {}
  const hasCampaign = file.campaign_id !== undefined && file.campaign_id !== null
  let best: { delimiter: string; layout: TitleLayout } | undefined
  for (const delimiter of DELIMITERS) {
    // A parse error is reported below, after parsing the whole file.
    const top = parseRecords(file.csv, delimiter, MOST_BEFORE_TITLES)
    const layout = typeof top === 'string' ? undefined : layoutOf(top, chosenColumns, hasCampaign)
    if (layout !== undefined && (best === undefined || isBetter(layout, best.layout))) best = { delimiter, layout }
  }
  const { delimiter, layout } = best ?? { delimiter: ',', layout: undefined }
  const records = parseRecords(file.csv, delimiter)
  if (typeof records === 'string') return refuseFile(records)
  if (layout === undefined) return refuseFile(missingTitles(chosenColumns))
  const rows = records.slice(layout.at + 1)
  const currencyAt = currencyColumn(layout, chosenColumns)
  const problem = problemOf(layout, rows, chosenColumns, hasCampaign) ?? currencyProblem(layout, currencyAt, file)
  const title = (role: ColumnRole) => layout.titles[layout.columnOf[role] ?? -1] ?? null
  return {
    titles: layout.titles,
    columns: {
      day: title('day'),
      campaign: title('campaign'),
      sub1: title('sub1'),
      amount: title('amount'),
      currency: layout.titles[currencyAt] ?? null,
    },
    lines: problem === null ? readLines(rows, layout, file, currencyAt) : [],
    problem,
  }
}

const isBetter = (one: TitleLayout, other: TitleLayout) =>
  one.isWhole === other.isWhole ? one.titles.length > other.titles.length : one.isWhole

function problemOf(
  layout: TitleLayout,
  rows: readonly NumberedRecord[],
  chosenColumns: Partial<Columns>,
  hasCampaign: boolean,
): string | null {
  if (!layout.isWhole) return missingTitles(chosenColumns, layout, hasCampaign)
  if (rows.length === 0) return 'there are no lines below the titles'
  if (rows.length > MOST_LINES)
    return `it has ${rows.length} lines, and at most ${MOST_LINES} can be imported at once: parseRecords it`
  return null
}

/** Refuses the whole file. */
export function refuseFile(why: string): never {
  return refuse('spend_file_unreadable', { error: `the file cannot be read: ${why}` })
}

/** The records with their line numbers, or the CSV parser's error. */
function parseRecords(csv: string, delimiter: string, most?: number): NumberedRecord[] | string {
  try {
    const parserOptions = { bom: true, info: true, relax_column_count: true, skip_empty_lines: true, trim: true }
    const options = { ...parserOptions, delimiter, ...(most === undefined ? {} : { to: most }) }
    // With `info` the library returns the line beside each record, which its types do not know.
    const records = parse(csv, options) as unknown as { record: string[]; info: { lines: number } }[]
    return records
      .map(({ record, info }) => ({ record, line: info.lines }))
      .filter(({ record }) => record.some(cell => cell !== ''))
  } catch (error) {
    if (error instanceof CsvError) return error.message
    throw error
  }
}

/** Longer titles are cut: the regular expression for parentheses is slow on long texts. */
const TITLE_LENGTH = 200

const normalized = (title: string) =>
  title
    .slice(0, TITLE_LENGTH)
    .toLowerCase()
    .replace(/\(.*?\)/g, ' ')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/** The line of titles: the first with all required columns, else the first that looks like titles. */
function layoutOf(
  records: readonly NumberedRecord[],
  chosenColumns: Partial<Columns>,
  hasCampaign: boolean,
): TitleLayout | undefined {
  let likely: TitleLayout | undefined
  for (const [at, { record }] of records.entries()) {
    const columnOf = {
      day: columnFor('day', record, chosenColumns),
      campaign: columnFor('campaign', record, chosenColumns),
      sub1: columnFor('sub1', record, chosenColumns),
      amount: columnFor('amount', record, chosenColumns),
    }
    const isDated = columnOf.day !== undefined && columnOf.amount !== undefined
    const isWhole = isDated && (hasCampaign || columnOf.campaign !== undefined)
    const layout = { at, titles: record, columnOf, isWhole }
    if (isWhole) return layout
    if (likely === undefined && looksLikeTitles(record)) likely = layout
  }
  return likely
}

/** Several cells, and none begins with a digit as days and amounts do. */
const looksLikeTitles = (record: readonly string[]) =>
  record.filter(cell => cell !== '').length > 1 && !record.some(cell => /^[$€£]?\s*[-+]?\d/.test(cell))

function columnFor(role: ColumnRole, record: readonly string[], chosenColumns: Partial<Columns>): number | undefined {
  const wanted = chosenColumns[role]
  // No fallback to the usual names for a chosen column.
  if (wanted !== undefined && wanted !== null) return indexOrNone(record.indexOf(wanted))
  const titles = record.map(normalized)
  for (const title of TITLES[role]) {
    const index = titles.indexOf(title)
    if (index !== -1) return index
  }
  return undefined
}

const indexOrNone = (index: number) => (index === -1 ? undefined : index)

/** Says which titles are missing. `layout` is the line that looks most like titles. A chosen column that is missing comes first. */
function missingTitles(chosenColumns: Partial<Columns>, layout?: TitleLayout, hasCampaign = false): string {
  const chosen = Object.values(chosenColumns).filter(title => typeof title === 'string')
  if (chosen.some(title => layout === undefined || !layout.titles.includes(title)))
    return `no line has the columns ${chosen.map(title => `“${title}”`).join(', ')}`
  const missing = REQUIRED.filter(role => layout?.columnOf[role] === undefined && !(role === 'campaign' && hasCampaign))
  if (layout === undefined || missing.length + Number(hasCampaign) === REQUIRED.length)
    return 'no line has the titles of the columns. A day, a campaign and an amount are required, such as: day,campaign,amount'
  const columns = missing.map(role => (role === 'amount' ? 'an amount' : `a ${role}`)).join(' and ')
  const orUnnamed = missing.includes('campaign') ? ', or choose a campaign for lines without one' : ''
  return `no column was found for ${columns}: choose the column${missing.length === 1 ? '' : 's'}${orUnnamed}`
}

/** The currency in the title of the amounts, as in `Amount spent (EUR)`. */
function currencyInTitle({ titles, columnOf }: TitleLayout): string | undefined {
  const title = (titles[columnOf.amount ?? -1] ?? '').slice(0, TITLE_LENGTH)
  const [, inside = ''] = /\(([^)]*)\)/.exec(title) ?? []
  if (/^[A-Z]{3}$/.test(inside)) return inside
  // A title with USD means dollars, also in the export of an account in another currency.
  return /\bUSD\b/.test(title) ? USD : undefined
}

/** The index of the currency column; -1 if there is none, or if the title of the amounts names the currency. */
function currencyColumn(layout: TitleLayout, { currency }: Partial<Columns>): number {
  if (currencyInTitle(layout) !== undefined) return -1
  if (currency !== undefined && currency !== null) return layout.titles.indexOf(currency)
  return layout.titles.findIndex(title => CURRENCY.includes(normalized(title)))
}

function currencyProblem(layout: TitleLayout, currencyAt: number, { columns, currency }: SpendFile): string | null {
  const column = columns?.currency
  const titleCurrency = currencyInTitle(layout)
  if (column != null && titleCurrency === undefined && currencyAt === -1) return `no line has the column “${column}”`
  if (titleCurrency === undefined || currency == null || currency === titleCurrency) return null
  return `its amounts are in ${titleCurrency}, but ${currency} was chosen: choose ${titleCurrency}, or a column in ${currency}`
}

/** The currency of a line: its own cell, else the default of the file. */
function currencyOf(cell: string, byDefault: string): string {
  const code = cell.trim().toUpperCase()
  if (code === '') return byDefault
  return ['US$', '$'].includes(code) ? USD : code
}

function readLines(
  rows: readonly NumberedRecord[],
  layout: TitleLayout,
  file: SpendFile,
  currencyAt: number,
): (FileLine | WrongFileLine)[] {
  const { columnOf, titles } = layout
  const cell = (record: readonly string[], role: ColumnRole) => record[columnOf[role] ?? -1] ?? ''
  const byDefault = currencyInTitle(layout) ?? file.currency ?? USD
  const notation = notationOf(rows.map(({ record }) => cell(record, 'amount')))
  return rows.map(({ record, line }) => {
    const day = readDay(cell(record, 'day'), file.date_order ?? undefined)
    const currency = currencyOf(record[currencyAt] ?? '', byDefault)
    const amount = readAmount(cell(record, 'amount'), notation, currency)
    const campaign = cell(record, 'campaign')
    const sub1 = cell(record, 'sub1')
    const isUnnamed = campaign === '' && (file.campaign_id === undefined || file.campaign_id === null)
    const wrong = [
      // An unquoted amount of 1,234.50 becomes two cells, which shifts all cells behind it.
      record.slice(titles.length).some(one => one !== '')
        ? `it has ${record.length} cells under ${titles.length} titles: put quotes around cells that contain the separator`
        : undefined,
      'error' in day ? day.error : undefined,
      isUnnamed ? 'it has no campaign' : undefined,
      isFaithful(sub1) && isFaithful(campaign) ? undefined : 'it contains characters that cannot be stored',
      'error' in amount ? amount.error : undefined,
      isCurrencyCode(currency) ? undefined : `“${currency.slice(0, 20)}” is not a currency code, such as EUR`,
    ].filter(one => one !== undefined)
    // A line of totals is the usual reason for a line without a day or a campaign.
    if (wrong.length > 0 && record.some(one => /^(grand )?total/i.test(one)))
      return { line, error: 'it is a line of totals: remove it from the file' }
    if ('error' in day || 'error' in amount || wrong.length > 0) return { line, error: wrong.join('; ') }
    const rounded = amount.amount === null ? null : toSixPlaces(amount.amount)
    return { line, day: day.day, campaign, sub1, amount: rounded, currency }
  })
}
