/**
 * Makes the facts of sheets that are not sealed yet. They stay in the local copy between questions (kept-sheets.ts), so this happens once for each sheet.
 * Reads `clicks`.
 */
import { setImmediate as breathe } from 'node:timers/promises'
import type pg from 'pg'
import { toUnits } from '../../contract/decimals.ts'
import { BREATH, type DayRows, entriesByClick, factRowsByDay, type SheetEntries } from '../segments/entries.ts'
import type { VisitorHash } from '../segments/facts.ts'
import { SEGMENT_NUMBERS } from '../segments/numbers.ts'
import { sumsOfFacts } from '../segments/parts.ts'
import { readFixed } from '../segments/seal.ts'

/** The sums of facts by UTC day: for each of `SEGMENT_NUMBERS` in billionths. */
export type SumsByDay = ReadonlyMap<string, readonly bigint[]>

/** The facts of a sheet. */
export type UnsealedSheet = { readonly id: string; readonly days: readonly DayRows[]; readonly sums: SumsByDay }

/** A sheet as it is stored. */
export type StoredSheet = SheetEntries & { readonly id: string }

/** The facts of sheets, with their sums. It yields to other work every few milliseconds. */
export async function factsOfSheets(
  reads: Pick<pg.Pool, 'query'>,
  org_id: number,
  sheets: readonly StoredSheet[],
  hash: VisitorHash,
): Promise<UnsealedSheet[]> {
  const stored = sheets.map(({ id, ...entries }) => ({ id, entries: entriesByClick(entries) }))
  const ids = new Set(stored.flatMap(({ entries }) => [...entries.keys()]))
  const clicks = await readFixed(reads, org_id, [...ids])
  const made: UnsealedSheet[] = []
  let unbroken = 0
  for (const { id, entries } of stored) {
    const days = await factRowsByDay(entries, clicks, hash)
    made.push({ id, days, sums: new Map(days.map(({ day, rows }) => [day, billionthsOf(sumsOfFacts(rows))])) })
    unbroken += entries.size
    if (unbroken < BREATH) continue
    unbroken = 0
    await breathe()
  }
  return made
}

const billionthsOf = (sums: Readonly<Record<string, number | string>>): bigint[] =>
  SEGMENT_NUMBERS.map(name => toUnits(String(sums[name] ?? 0), 9))

/** By how much the segments of a UTC day exceed the report's counters, by the names of `SEGMENT_NUMBERS`, as decimals. */
export type ComparedDay = { readonly day: string } & { readonly [name: string]: string }

/** The days of these whose segments and unsealed sheets together differ from the report's counters. */
export function differingDaysOf(
  compared: readonly ComparedDay[],
  sheets: Iterable<SumsByDay>,
  isAsked: (day: string) => boolean,
): string[] {
  const sums = new Map(compared.map(one => [one.day, billionthsOf(one)]))
  for (const byDay of sheets)
    for (const [day, added] of byDay) {
      const sum = sums.get(day)
      if (sum === undefined) sums.set(day, [...added])
      else for (const [at, number] of added.entries()) sum[at] = (sum[at] ?? 0n) + number
    }
  return [...sums].flatMap(([day, sum]) => (isAsked(day) && sum.some(number => number !== 0n) ? [day] : []))
}
