/**
 * Reads the facts of a day or two from the clicks themselves, while their segments differ from the report's counters: for example a day that a
 * process of an earlier version is changing. Reads `clicks`.
 */
import { setImmediate as breathe } from 'node:timers/promises'
import type pg from 'pg'
import { DAY_MS } from '../../contract/days.ts'
import { firstIdAt } from '../../contract/ids.ts'
import type { ClickState } from '../../intake/counters/click-sheet.ts'
import { clicksKeptFrom } from '../reports/kept.ts'
import { BREATH } from '../segments/entries.ts'
import {
  FIXED,
  type FixedClick,
  factOf,
  type VisitorHash,
  type FactRow,
  STANDING,
  signed,
  visitorHashIn,
} from '../segments/facts.ts'

/** The days are rebuilt within a minute; until then every question reads them again, which must not take more than half a second. */
const MOST_DAYS = 2
const MOST_CLICKS = 10_000

const CLICKS = `
  select ${FIXED}, ${STANDING} from clicks c
  where c.org_id = $1 and c.id >= $2::uuid and c.id < $3::uuid limit ${MOST_CLICKS + 1}`

/** The facts of the days that can be read from their clicks. Returns none for more than two days, and leaves out days with very many clicks. */
export async function factsOfDays(
  reads: Pick<pg.Pool, 'query'>,
  org_id: number,
  days: readonly string[],
  hash: VisitorHash,
): Promise<Map<string, FactRow[]>> {
  const factsByDay = new Map<string, FactRow[]>()
  if (days.length === 0 || days.length > MOST_DAYS) return factsByDay
  let left = MOST_CLICKS
  for (const day of days) {
    const from = Date.parse(day)
    const between = [firstIdAt(from), firstIdAt(from + DAY_MS)]
    const { rows: clicks } = await reads.query<FixedClick & ClickState>(CLICKS, [org_id, ...between])
    left -= clicks.length
    // If the day's clicks are gone although the report counts them, their facts are unknown.
    if (left < 0 || clicks.length === 0) continue
    const rows: FactRow[] = []
    for (const [at, click] of clicks.entries()) {
      if (at % BREATH === BREATH - 1) await breathe()
      rows.push(signed(factOf(click, click, visitorHashIn(click, hash)), 1))
    }
    factsByDay.set(day, rows)
  }
  // Read after the clicks, because a month is given up before its clicks are dropped.
  const kept_from = factsByDay.size === 0 ? 0 : await clicksKeptFrom(reads)
  for (const day of factsByDay.keys()) if (Date.parse(day) < kept_from) factsByDay.delete(day)
  return factsByDay
}

const COUNTED = `
  select count(*)::int as clicks from (
    select from clicks where org_id = $1 and id >= $2::uuid and id < $3::uuid limit ${MOST_CLICKS + 1}) counted`

/** The days for which `factsOfDays` returns no facts, so that answers lack their clicks. */
export async function daysWithoutFacts(
  reads: Pick<pg.Pool, 'query'>,
  org_id: number,
  days: readonly string[],
): Promise<readonly string[]> {
  if (days.length > MOST_DAYS) return days
  const missing: string[] = []
  let left = MOST_CLICKS
  for (const day of days) {
    const from = Date.parse(day)
    const { rows } = await reads.query<{ clicks: number }>(COUNTED, [org_id, firstIdAt(from), firstIdAt(from + DAY_MS)])
    const clicks = rows[0]?.clicks ?? 0
    left -= clicks
    if (left < 0 || clicks === 0) missing.push(day)
  }
  return missing
}
