/**
 * The tracked clicks of one campaign by cell (UTC day and sub1), from the report's counters, and the days on which its clicks have a cost of their
 * own. Spreading an amount over clicks needs both. Owns no table. Reads `report_day`, `report_delta`, `clicks` and `dropped_clicks`.
 */
import type pg from 'pg'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { firstIdAt } from '../../contract/ids.ts'
import type { Window } from '../../contract/window.ts'
import type { Value } from '../../ground/db/statement.ts'
import { type Cover, coverOf, isAny } from './cover.ts'
import { UNITS } from './units.ts'
import { clicksKeptFrom, inWholeDays, mayBeGone } from './kept.ts'
import type { Put } from './sources.ts'

/** `sub1`: undefined for all of them. */
type Wanted = { readonly org_id: number; readonly campaign_id: string; readonly sub1: string | undefined }
type CellClicks = { readonly day: string; readonly sub1: string; readonly clicks: number }

/**
 * Cells with clicks in the window, both of its ends included, by day and sub1. Refuses `invalid_window` for one that cuts a day whose clicks
 * are no longer kept.
 */
export async function clicksByCell(reads: pg.Pool, wanted: Wanted, window: Window): Promise<CellClicks[]> {
  const now = Date.now()
  const gone = mayBeGone(coverOf(window, now), now)
  const cover = coverOf(gone ? inWholeDays(window, await clicksKeptFrom(reads)) : window, now)
  const values: Value[] = [wanted.org_id, wanted.campaign_id]
  const put: Put = value => `$${values.push(value)}`
  const { rows } = await reads.query<CellClicks>(
    `select day::text, sub1, sum(clicks)::int as clicks from (
      ${partsOf(cover, wanted.sub1, put)}
    ) parts group by day, sub1 having sum(clicks) > 0 order by day, sub1 collate "C"`,
    values,
  )
  return rows
}

/** Days are an array, so that each is looked up by the key: in the index other campaigns lie between two days of one campaign. */
function partsOf({ days, ends }: Cover, sub1: string | undefined, put: Put): string {
  const parts: string[] = []
  const wanted = sub1 === undefined ? undefined : put(sub1)
  const only = (column: string) => (wanted === undefined ? '' : ` and ${column} = ${wanted}`)
  if (isAny(days)) {
    const each = Array.from({ length: days.last - days.first + 1 }, (_, at) => dayOf((days.first + at) * DAY_MS))
    const among = `campaign_id = $2::uuid and day = any(${put(each)}::date[])`
    parts.push(
      `select day, key as sub1, clicks from report_day where org_id = $1 and dimension = ${UNITS.sub1} and ${among}${only('key')}`,
      `select day, sub1, clicks from report_delta where org_id = $1 and ${among}${only('sub1')}`,
    )
  }
  for (const { sign, from, to } of ends)
    parts.push(`select ${put(dayOf(from))}::date as day, coalesce(sub1, '') as sub1, ${sign} * count(*) as clicks from clicks
        where org_id = $1 and campaign_id = $2::uuid and id >= ${put(firstIdAt(from))}::uuid and id < ${put(firstIdAt(to + 1))}::uuid
          and tracked${only(`coalesce(sub1, '')`)} group by 2`)
  return parts.join('\n      union all ')
}

/** Those of the days (YYYY-MM-DD) on which the clicks have a cost of their own, even if entered spend replaces it. */
export async function daysWithCost(reads: pg.Pool, wanted: Wanted, days: readonly string[]): Promise<string[]> {
  const { org_id, campaign_id, sub1 = null } = wanted
  const { rows } = await reads.query<{ day: string }>(
    `select day::text from (
      select day, cost from report_day
      where org_id = $1 and campaign_id = $2::uuid and dimension = ${sub1 === null ? UNITS.campaign : UNITS.sub1} and day = any($3::date[])
        and ($4::text is null or key = $4)
      union all
      select day, cost from report_delta
      where org_id = $1 and campaign_id = $2::uuid and day = any($3::date[]) and ($4::text is null or sub1 = $4)
    ) parts group by day having sum(cost) <> 0 order by day`,
    [org_id, campaign_id, days, sub1],
  )
  return rows.map(({ day }) => day)
}

/** Whether clicks of the campaign, day (YYYY-MM-DD) and sub1 are counted. */
export async function hasClicks(reads: pg.Pool, wanted: Wanted, day: string): Promise<boolean> {
  const { org_id, campaign_id, sub1 = null } = wanted
  const { rows } = await reads.query<{ found: boolean }>(
    `select exists (
      select 1 from report_day
      where org_id = $1 and campaign_id = $2::uuid and dimension = ${sub1 === null ? UNITS.campaign : UNITS.sub1} and day = $3::date
        and ($4::text is null or key = $4) and clicks > 0
    ) or exists (
      select 1 from report_delta
      where org_id = $1 and campaign_id = $2::uuid and day = $3::date and ($4::text is null or sub1 = $4) and clicks > 0
    ) as found`,
    [org_id, campaign_id, day, sub1],
  )
  return rows[0]?.found === true
}
