/**
 * Rates out of a file, for machines that ask nobody: `npm run rates -- import FILE`. All lines go in or none; a rate that is there stays as it
 * is, so the same file again changes nothing, and one that says otherwise is refused.
 */
import { CsvError, parse } from 'csv-parse/sync'
import type pg from 'pg'
import { isCurrencyCode, USD } from '../../contract/currencies.ts'
import { UsdPerUnit } from './api.ts'
import type { Quote } from './source.ts'

const TITLES = ['day', 'currency', 'usd_per_unit'] as const
const MOST_NAMED = 10
/** A statement's worth. */
const PORTION = 10_000

/** What is wrong with a file, in words for whoever started the import. */
export class WrongRatesFile extends Error {}

type Line = Quote & { readonly line: number }

/** The rates of a CSV file with the titles day, currency and usd_per_unit, in any order. Throws `WrongRatesFile`, naming its lines. */
export function readRatesFile(csv: string): Line[] {
  const [head, ...records] = split(csv)
  const titles = head?.record.map(title => title.toLowerCase()) ?? []
  const [day, currency, rate] = TITLES.map(title => titles.indexOf(title))
  if (day === undefined || currency === undefined || rate === undefined || Math.min(day, currency, rate) < 0)
    throw new WrongRatesFile(`its first line must hold the titles ${TITLES.join(',')}`)
  const wrong: string[] = []
  const lines = records.map(({ record, line }) => {
    const found = {
      line,
      day: record[day] ?? '',
      currency: (record[currency] ?? '').toUpperCase(),
      usd_per_unit: record[rate] ?? '',
    }
    const fault = faultOf(found)
    if (fault !== undefined) wrong.push(`line ${line}: ${fault}`)
    return found
  })
  if (wrong.length > 0) throw new WrongRatesFile(named(wrong))
  if (lines.length === 0) throw new WrongRatesFile('there is no line below the titles')
  const twice = differingTwice(lines)
  if (twice.length > 0) throw new WrongRatesFile(named(twice))
  return lines
}

function split(csv: string): { record: string[]; line: number }[] {
  try {
    const options = { bom: true, info: true, relax_column_count: true, skip_empty_lines: true, trim: true }
    // The library's types say nothing of `info`, which puts each record beside its line.
    const found = parse(csv, options) as unknown as { record: string[]; info: { lines: number } }[]
    return found.map(({ record, info }) => ({ record, line: info.lines }))
  } catch (error) {
    throw error instanceof CsvError ? new WrongRatesFile(error.message) : error
  }
}

function faultOf({ day, currency, usd_per_unit }: Line): string | undefined {
  const time = Date.parse(`${day}T00:00:00Z`)
  const isDay = /^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(time) && new Date(time).toISOString().startsWith(day)
  if (!isDay) return `“${day.slice(0, 20)}” is no day: write it as 2026-03-31`
  if (!isCurrencyCode(currency) || currency === USD)
    return `“${currency.slice(0, 20)}” is no code of another currency, such as EUR`
  const rate = UsdPerUnit.safeParse(usd_per_unit)
  return rate.success ? undefined : `usd_per_unit ${rate.error.issues[0]?.message}`
}

const isSame = (one: string, other: string): boolean => {
  const bare = (text: string) => text.replace(/^0+(?=\d)/, '').replace(/\.0*$|(\.\d*?)0+$/, '$1')
  return bare(one) === bare(other)
}

function differingTwice(lines: readonly Line[]): string[] {
  const first = new Map<string, Line>()
  return lines.flatMap(line => {
    const other = first.get(`${line.currency} ${line.day}`) ?? line
    first.set(`${line.currency} ${line.day}`, other)
    return isSame(other.usd_per_unit, line.usd_per_unit)
      ? []
      : [`line ${line.line}: line ${other.line} says otherwise of ${line.currency} on ${line.day}`]
  })
}

const named = (wrong: readonly string[]): string =>
  `${wrong.slice(0, MOST_NAMED).join('; ')}${wrong.length > MOST_NAMED ? `; and ${wrong.length - MOST_NAMED} more` : ''}`

const STORE = `
  insert into fx_rates (currency, source, day, usd_per_unit, fetched_at)
  select q.currency, 'import', q.day, q.usd_per_unit, $1::timestamptz
  from unnest($2::text[], $3::date[], $4::numeric[]) as q (currency, day, usd_per_unit)
  on conflict do nothing`
const OTHERWISE = `
  select q.line, f.usd_per_unit::text as kept
  from unnest($1::int[], $2::text[], $3::date[], $4::numeric[]) as q (line, currency, day, usd_per_unit)
  join fx_rates f on f.currency = q.currency and f.source = 'import' and f.day = q.day
  where f.usd_per_unit <> q.usd_per_unit
  order by q.line`

/** Writes the rates of a file in one transaction; answers how many there were, and how many of them are new. Throws `WrongRatesFile`. */
export async function importRates(client: pg.ClientBase, csv: string): Promise<{ lines: number; added: number }> {
  const lines = readRatesFile(csv)
  const at = new Date().toISOString()
  let added = 0
  await client.query('begin')
  try {
    for (let from = 0; from < lines.length; from += PORTION) {
      const some = lines.slice(from, from + PORTION)
      const columns = [
        some.map(({ currency }) => currency),
        some.map(({ day }) => day),
        some.map(({ usd_per_unit }) => usd_per_unit),
      ]
      const { rowCount } = await client.query(STORE, [at, ...columns])
      added += rowCount ?? 0
      const { rows } = await client.query<{ line: number; kept: string }>(OTHERWISE, [
        some.map(({ line }) => line),
        ...columns,
      ])
      if (rows.length > 0)
        throw new WrongRatesFile(
          `a rate once imported stays: ${named(rows.map(({ line, kept }) => `line ${line}: ${kept} is there`))}`,
        )
    }
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
  return { lines: lines.length, added }
}
