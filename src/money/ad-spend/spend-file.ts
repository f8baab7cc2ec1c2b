/**
 * Reads a file of spend as ad platforms and spreadsheets export it: which line holds the titles, which column means what, and for each
 * line below the day, campaign, sub1 and amount it names, or what is wrong with it. Knows nothing of the database.
 */
import { CsvError, parse } from 'csv-parse/sync'
import { isCurrencyCode, USD } from '../../contract/currencies.ts'
import { isFaithful, toSixPlaces } from '../../contract/fields.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Columns, SpendFile } from './api.ts'
import { notationOf, readAmount, readDay } from './spend-values.ts'

/** So many lines can be looked through before they are let in, and are written by one statement within its time. */
const MOST_LINES = 5000
const DELIMITERS = [',', ';', '\t']
/** Exports begin with the name of the report and its days. */
const MOST_BEFORE_TITLES = 12

type Role = Exclude<keyof Columns, 'currency'>

/** The columns no file goes in without; a campaign may be said for all lines instead. */
const NEEDED = ['day', 'campaign', 'amount'] as const

/** Titles as exports write them, in lower case without punctuation; the first that a file has is taken. */
const TITLES: Record<Role, readonly string[]> = {
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
  // What traffic sources call it where it is not called sub1; the place before the creative, which has less of a say in what a click costs.
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

/** A line as it was understood. `campaign` is what the file calls it; `amount` null deletes, and is in `currency`. */
export type Line = {
  readonly line: number
  readonly day: string
  readonly campaign: string
  readonly sub1: string
  readonly amount: string | null
  readonly currency: string
}
export type WrongLine = { readonly line: number; readonly error: string }
type Understood = {
  readonly titles: readonly string[]
  readonly columns: Record<keyof Columns, string | null>
  readonly lines: readonly (Line | WrongLine)[]
  /** What keeps the file as a whole from going in, though its titles could be read; there are no lines then. */
  readonly problem: string | null
}

/** The column that says in which currency a line is. It is looked for in every file: what it says cannot be left aside. */
const CURRENCY = ['currency', 'currency code', 'account currency', 'account currency code', 'währung', 'waehrung']

type Numbered = { record: string[]; line: number }
type Layout = { at: number; titles: string[]; places: Record<Role, number | undefined>; isWhole: boolean }

/**
 * Understands a file. A `problem` is: no line with the titles of day and amount, a title asked for that is not there, amounts in another
 * currency than was chosen, nothing below the titles, more than 5,000 lines. Refuses `spend_file_unreadable` for what is no CSV, and where no line could be
 * one of titles.
 */
export function readSpendFile(file: SpendFile): Understood {
  const asked = file.columns ?? {}
  const hasCampaign = file.campaign_id !== undefined && file.campaign_id !== null
  let best: { delimiter: string; layout: Layout } | undefined
  for (const delimiter of DELIMITERS) {
    // What cannot be read is said once the whole is.
    const top = split(file.csv, delimiter, MOST_BEFORE_TITLES)
    const layout = typeof top === 'string' ? undefined : layoutOf(top, asked, hasCampaign)
    if (layout !== undefined && (best === undefined || isBetter(layout, best.layout))) best = { delimiter, layout }
  }
  const { delimiter, layout } = best ?? { delimiter: ',', layout: undefined }
  const records = split(file.csv, delimiter)
  if (typeof records === 'string') return unreadable(records)
  if (layout === undefined) return unreadable(noTitles(asked))
  const rows = records.slice(layout.at + 1)
  const currencyAt = currencyPlace(layout, asked)
  const problem = problemOf(layout, rows, asked, hasCampaign) ?? chosenOtherwise(layout, currencyAt, file)
  const title = (role: Role) => layout.titles[layout.places[role] ?? -1] ?? null
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

const isBetter = (one: Layout, other: Layout) =>
  one.isWhole === other.isWhole ? one.titles.length > other.titles.length : one.isWhole

function problemOf(
  layout: Layout,
  rows: readonly Numbered[],
  asked: Partial<Columns>,
  hasCampaign: boolean,
): string | null {
  if (!layout.isWhole) return noTitles(asked, layout, hasCampaign)
  if (rows.length === 0) return 'there is no line below the titles'
  if (rows.length > MOST_LINES) return `it has ${rows.length} lines, at most ${MOST_LINES} go in at once: split it`
  return null
}

/** Refuses the file whole. */
export function unreadable(why: string): never {
  return refuse('spend_file_unreadable', { error: `the file cannot be read: ${why}` })
}

/** The records with the lines they stand on, or what is wrong with the text as CSV. */
function split(csv: string, delimiter: string, most?: number): Numbered[] | string {
  try {
    const usual = { bom: true, info: true, relax_column_count: true, skip_empty_lines: true, trim: true }
    const options = { ...usual, delimiter, ...(most === undefined ? {} : { to: most }) }
    // The library's types say nothing of `info`, which puts each record beside its line.
    const found = parse(csv, options) as unknown as { record: string[]; info: { lines: number } }[]
    return found
      .map(({ record, info }) => ({ record, line: info.lines }))
      .filter(({ record }) => record.some(cell => cell !== ''))
  } catch (error) {
    if (error instanceof CsvError) return error.message
    throw error
  }
}

/** No title is longer, and what is would be looked through once for each of its parentheses. */
const TITLE_LENGTH = 200

const plain = (title: string) =>
  title
    .slice(0, TITLE_LENGTH)
    .toLowerCase()
    .replace(/\(.*?\)/g, ' ')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/** The line of titles: the first with all that is needed, else the first that looks like one. */
function layoutOf(records: readonly Numbered[], asked: Partial<Columns>, hasCampaign: boolean): Layout | undefined {
  let likely: Layout | undefined
  for (const [at, { record }] of records.entries()) {
    const places = {
      day: placeOf('day', record, asked),
      campaign: placeOf('campaign', record, asked),
      sub1: placeOf('sub1', record, asked),
      amount: placeOf('amount', record, asked),
    }
    const isDated = places.day !== undefined && places.amount !== undefined
    const isWhole = isDated && (hasCampaign || places.campaign !== undefined)
    const layout = { at, titles: record, places, isWhole }
    if (isWhole) return layout
    if (likely === undefined && looksLikeTitles(record)) likely = layout
  }
  return likely
}

/** Several names and no value: days and amounts have a digit in front. */
const looksLikeTitles = (record: readonly string[]) =>
  record.filter(cell => cell !== '').length > 1 && !record.some(cell => /^[$€£]?\s*[-+]?\d/.test(cell))

function placeOf(role: Role, record: readonly string[], asked: Partial<Columns>): number | undefined {
  const wanted = asked[role]
  // A column that was chosen is that one or none.
  if (wanted !== undefined && wanted !== null) return found(record.indexOf(wanted))
  const titles = record.map(plain)
  for (const title of TITLES[role]) {
    const place = titles.indexOf(title)
    if (place !== -1) return place
  }
  return undefined
}

const found = (place: number) => (place === -1 ? undefined : place)

/** What the titles lack; `found` is the line that looks most like them. A column that was chosen is told where it is none of theirs. */
function noTitles(asked: Partial<Columns>, found?: Layout, hasCampaign = false): string {
  const chosen = Object.values(asked).filter(title => typeof title === 'string')
  if (chosen.some(title => found === undefined || !found.titles.includes(title)))
    return `no line has the columns ${chosen.map(title => `“${title}”`).join(', ')}`
  const missing = NEEDED.filter(role => found?.places[role] === undefined && !(role === 'campaign' && hasCampaign))
  if (found === undefined || missing.length + Number(hasCampaign) === NEEDED.length)
    return 'no line has the titles of its columns. A day, a campaign and an amount are needed, such as: day,campaign,amount'
  const columns = missing.map(role => (role === 'amount' ? 'an amount' : `a ${role}`)).join(' and ')
  const orUnnamed = missing.includes('campaign') ? ', or say which campaign lines without one are of' : ''
  return `no column was found for ${columns}: choose the column${missing.length === 1 ? '' : 's'}${orUnnamed}`
}

/** The currency that the title of the amounts names, as exports do: `Amount spent (EUR)`. */
function titled({ titles, places }: Layout): string | undefined {
  const title = (titles[places.amount ?? -1] ?? '').slice(0, TITLE_LENGTH)
  const [, inside = ''] = /\(([^)]*)\)/.exec(title) ?? []
  if (/^[A-Z]{3}$/.test(inside)) return inside
  // An amount whose title says dollars is in dollars, whatever currency the account is in.
  return /\bUSD\b/.test(title) ? USD : undefined
}

/** Where each line says its currency; -1 where none does, or the title of the amounts says it for all. */
function currencyPlace(layout: Layout, { currency }: Partial<Columns>): number {
  if (titled(layout) !== undefined) return -1
  if (currency !== undefined && currency !== null) return layout.titles.indexOf(currency)
  return layout.titles.findIndex(title => CURRENCY.includes(plain(title)))
}

function chosenOtherwise(layout: Layout, currencyAt: number, { columns, currency }: SpendFile): string | null {
  const column = columns?.currency
  const said = titled(layout)
  if (column != null && said === undefined && currencyAt === -1) return `no line has the column “${column}”`
  if (said === undefined || currency == null || currency === said) return null
  return `its amounts are in ${said}, and ${currency} was chosen: choose ${said}, or a column that is in ${currency}`
}

/** The currency of a line: what it says itself, else what the title or whoever sends the file says, else dollars. */
function currencyOf(cell: string, usual: string): string {
  const code = cell.trim().toUpperCase()
  if (code === '') return usual
  return ['US$', '$'].includes(code) ? USD : code
}

function readLines(
  rows: readonly Numbered[],
  layout: Layout,
  file: SpendFile,
  currencyAt: number,
): (Line | WrongLine)[] {
  const { places, titles } = layout
  const cell = (record: readonly string[], role: Role) => record[places[role] ?? -1] ?? ''
  const usual = titled(layout) ?? file.currency ?? USD
  const notation = notationOf(rows.map(({ record }) => cell(record, 'amount')))
  return rows.map(({ record, line }) => {
    const day = readDay(cell(record, 'day'), file.date_order ?? undefined)
    const currency = currencyOf(record[currencyAt] ?? '', usual)
    const amount = readAmount(cell(record, 'amount'), notation, currency)
    const campaign = cell(record, 'campaign')
    const sub1 = cell(record, 'sub1')
    const isUnnamed = campaign === '' && (file.campaign_id === undefined || file.campaign_id === null)
    const wrong = [
      // An amount of 1,234.50 without quotes is two cells, and all that stand behind it belong to other titles.
      record.slice(titles.length).some(one => one !== '')
        ? `it has ${record.length} cells under ${titles.length} titles: put quotes around a cell that holds the separator`
        : undefined,
      'error' in day ? day.error : undefined,
      isUnnamed ? 'it names no campaign' : undefined,
      isFaithful(sub1) && isFaithful(campaign) ? undefined : 'it holds characters that cannot be stored',
      'error' in amount ? amount.error : undefined,
      isCurrencyCode(currency) ? undefined : `“${currency.slice(0, 20)}” is no currency code, such as EUR`,
    ].filter(one => one !== undefined)
    // A line of totals says so itself, and is the usual reason for a line without a day or a campaign.
    if (wrong.length > 0 && record.some(one => /^(grand )?total/i.test(one)))
      return { line, error: 'it is a line of totals: take it out of the file' }
    if ('error' in day || 'error' in amount || wrong.length > 0) return { line, error: wrong.join('; ') }
    const rounded = amount.amount === null ? null : toSixPlaces(amount.amount)
    return { line, day: day.day, campaign, sub1, amount: rounded, currency }
  })
}
