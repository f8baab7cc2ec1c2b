/**
 * Finds the days with clicks of a country or a sub1, from the report's counters. No index finds clicks by either, so the feed skips all other days.
 * Reads `report_day` and `report_delta`, which count tracked clicks only.
 */
import type pg from 'pg'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { possible, type Window } from '../../contract/window.ts'
import { NO_ID } from '../../intake/counters/deltas.ts'
import { ALL_CAMPAIGNS, UNITS } from '../reports/units.ts'

export const SOUGHT = ['geo', 'sub1'] as const

/** The values sought: null for clicks without one, undefined for any. */
export type Sought = { readonly [column in (typeof SOUGHT)[number]]: string | null | undefined }

const isSought = (sought: Sought, column: (typeof SOUGHT)[number]) => sought[column] !== undefined

/**
 * The parts of the window that have tracked clicks with these values, of one campaign or (null) all: whole days except at the window's ends, with
 * adjacent days as one part.
 */
export async function stretchesOf(
  reads: Pick<pg.Pool, 'query'>,
  org_id: number,
  window: Window,
  campaign: string | null,
  sought: Sought,
): Promise<Window[]> {
  const { from, to } = possible(window)
  if (from > to) return []
  const columns = SOUGHT.filter(column => isSought(sought, column))
  const keys = columns.map((_, at) => `$${at + 5}`)
  const counted = columns.map(
    (
      column,
      at,
    ) => `(exists (select from report_day c where c.org_id = $1 and c.day = days.day and c.campaign_id = $4 and c.key = ${keys[at]}
        and c.dimension = ${UNITS[column] + (campaign === null ? ALL_CAMPAIGNS : 0)})
      or exists (select from unfolded u where u.day = days.day and u.${column} = ${keys[at]}))`,
  )
  const { rows } = await reads.query<{ day: string }>(
    `with unfolded as materialized (
      select day, geo, sub1 from report_delta
      where org_id = $1 and day between $2::date and $3::date and ($4 = '${NO_ID}'::uuid or campaign_id = $4)
    ), days as (
      select $2::date + n as day from generate_series(0, $3::date - $2::date) as n
    )
    select to_char(days.day, 'YYYY-MM-DD') as day from days where ${counted.join(' and ')} order by days.day`,
    [org_id, dayOf(from), dayOf(to), campaign ?? NO_ID, ...columns.map(column => sought[column] ?? '')],
  )
  return joined(rows.map(({ day }) => Date.parse(day))).map(days => ({
    from: Math.max(days.from, from),
    to: Math.min(days.to, to),
  }))
}

/** Days in order, by their first millisecond, as stretches. */
function joined(days: readonly number[]): Window[] {
  const stretches: Window[] = []
  for (const from of days) {
    const last = stretches.at(-1)
    const isNext = last !== undefined && last.to + 1 === from
    stretches.splice(isNext ? -1 : stretches.length, 1, { from: isNext ? last.from : from, to: from + DAY_MS - 1 })
  }
  return stretches
}
