/**
 * Imports rates from a file, for machines without internet access: `npm run rates -- import FILE`. All lines are imported or none. Importing
 * the same file again changes nothing; a file with another value for an imported rate is refused.
 */
import { CsvError, parse } from 'csv-parse/sync'
import type pg from 'pg'
import { isCurrencyCode, USD } from '../../contract/currencies.ts'
import { RateInUsd } from './api.ts'
import type { Quote } from './source.ts'

const TITLES = ['day', 'currency', 'usd_per_unit'] as const
const MOST_NAMED = 10
/** Lines per statement. */
const BATCH_LINES = 10_000

/** The error of a file, in words for the operator. */
export class WrongRatesFile extends Error {}

type RateLine = Quote & { readonly line: number }

/** The rates of a CSV file with the titles day, currency and usd_per_unit, in any order. Throws `WrongRatesFile`, naming its lines. */
export function readRatesFile(csv: string): RateLine[] {
  const [head, ...records] = parseRecords(csv)
  const titles = head?.record.map(title => title.toLowerCase()) ?? []
  const [day, currency, rate] = TITLES.map(title => titles.indexOf(title))
  if (day === undefined || currency === undefined || rate === undefined || Math.min(day, currency, rate) < 0)
    throw new WrongRatesFile(`its first line must have the titles ${TITLES.join(',')}`)
  const wrong: string[] = []
  const lines = records.map(({ record, line }) => {
    const rateLine = {
      line,
      day: record[day] ?? '',
      currency: (record[currency] ?? '').toUpperCase(),
      usd_per_unit: record[rate] ?? '',
    }
    const error = errorOf(rateLine)
    if (error !== undefined) wrong.push(`line ${line}: ${error}`)
    return rateLine
  })
  if (wrong.length > 0) throw new WrongRatesFile(listErrors(wrong))
  if (lines.length === 0) throw new WrongRatesFile('there are no lines below the titles')
  const contradicting = contradictions(lines)
  if (contradicting.length > 0) throw new WrongRatesFile(listErrors(contradicting))
  return lines
}

function parseRecords(csv: string): { record: string[]; line: number }[] {
  try {
    const options = { bom: true, info: true, relax_column_count: true, skip_empty_lines: true, trim: true }
    // With `info` the library returns the line beside each record, which its types do not know.
    const records = parse(csv, options) as unknown as { record: string[]; info: { lines: number } }[]
    return records.map(({ record, info }) => ({ record, line: info.lines }))
  } catch (error) {
    throw error instanceof CsvError ? new WrongRatesFile(error.message) : error
  }
}

function errorOf({ day, currency, usd_per_unit }: RateLine): string | undefined {
  const time = Date.parse(`${day}T00:00:00Z`)
  const isDay = /^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(time) && new Date(time).toISOString().startsWith(day)
  if (!isDay) return `“${day.slice(0, 20)}” is not a day: write it as 2026-03-31`
  if (!isCurrencyCode(currency) || currency === USD)
    return `“${currency.slice(0, 20)}” is not the code of a currency other than USD, such as EUR`
  const rate = RateInUsd.safeParse(usd_per_unit)
  return rate.success ? undefined : `usd_per_unit ${rate.error.issues[0]?.message}`
}

const isSameRate = (one: string, other: string): boolean => {
  const bare = (text: string) => text.replace(/^0+(?=\d)/, '').replace(/\.0*$|(\.\d*?)0+$/, '$1')
  return bare(one) === bare(other)
}

function contradictions(lines: readonly RateLine[]): string[] {
  const first = new Map<string, RateLine>()
  return lines.flatMap(line => {
    const other = first.get(`${line.currency} ${line.day}`) ?? line
    first.set(`${line.currency} ${line.day}`, other)
    return isSameRate(other.usd_per_unit, line.usd_per_unit)
      ? []
      : [`line ${line.line}: line ${other.line} has another rate of ${line.currency} on ${line.day}`]
  })
}

const listErrors = (wrong: readonly string[]): string =>
  `${wrong.slice(0, MOST_NAMED).join('; ')}${wrong.length > MOST_NAMED ? `; and ${wrong.length - MOST_NAMED} more` : ''}`

const STORE = `
  insert into fx_rates (currency, source, day, usd_per_unit, fetched_at)
  select q.currency, 'import', q.day, q.usd_per_unit, $1::timestamptz
  from unnest($2::text[], $3::date[], $4::numeric[]) as q (currency, day, usd_per_unit)
  on conflict do nothing
  returning 1`
const FIND_CHANGED = `
  select q.line, f.usd_per_unit::text as kept
  from unnest($1::int[], $2::text[], $3::date[], $4::numeric[]) as q (line, currency, day, usd_per_unit)
  join fx_rates f on f.currency = q.currency and f.source = 'import' and f.day = q.day
  where f.usd_per_unit <> q.usd_per_unit
  order by q.line`

/** Writes the rates of a file in one transaction. Returns the number of lines and how many were new. Throws `WrongRatesFile`. */
export async function importRates(client: pg.ClientBase, csv: string): Promise<{ lines: number; added: number }> {
  const lines = readRatesFile(csv)
  const at = new Date().toISOString()
  let added = 0
  await client.query('begin')
  try {
    for (let from = 0; from < lines.length; from += BATCH_LINES) {
      const batch = lines.slice(from, from + BATCH_LINES)
      const columns = [
        batch.map(({ currency }) => currency),
        batch.map(({ day }) => day),
        batch.map(({ usd_per_unit }) => usd_per_unit),
      ]
      // Citus reports the selected rows as inserted ones, so the returned rows are counted.
      added += (await client.query(STORE, [at, ...columns])).rows.length
      const { rows } = await client.query<{ line: number; kept: string }>(FIND_CHANGED, [
        batch.map(({ line }) => line),
        ...columns,
      ])
      if (rows.length > 0)
        throw new WrongRatesFile(
          `an imported rate cannot change: ${listErrors(rows.map(({ line, kept }) => `line ${line}: ${kept} is stored`))}`,
        )
    }
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
  return { lines: lines.length, added }
}
