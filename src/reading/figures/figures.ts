/**
 * Figures for the lists of landings, funnels, click flows and sources, of whole UTC days or between moments. Owns no table. Landings are counted from
 * the clicks, a bounded number of them; all others are sums of the report's counters of campaigns.
 */
import { dayOf } from '../../contract/days.ts'
import type { Call } from '../../contract/endpoint.ts'
import { momentOf, possible, type Window, windowBetween } from '../../contract/window.ts'
import type { Value } from '../../ground/db/statement.ts'
import type { Context } from '../../ground/room.ts'
import { COUNTERS } from '../../intake/counters/deltas.ts'
import { readGoals } from '../../traffic/event-settings/goals.ts'
import { BY_KEY, CONVERSION_SUMS, CONVERTED, conversionsOf, convertedOf } from '../reports/converted.ts'
import { coverOf } from '../reports/cover.ts'
import { clicksKeptFrom, inWholeDays, mayBeGone } from '../reports/kept.ts'
import { sourcesOf } from '../reports/sources.ts'
import { countsIn } from '../reports/units.ts'
import * as api from './api.ts'
import { countLandings, type FiguresSqlRow } from './landings.ts'

export { readSourceShares } from './source-shares.ts'

/** The figures of each landing. Refuses `invalid_window`, `window_too_wide`. */
export async function readLandingFigures(
  { database, actor }: Context<typeof api.readLandingFigures>,
  { query }: Call<typeof api.readLandingFigures>,
) {
  const { reads } = database
  const { from, to } = figuresWindow(query)
  const goals = await readGoals(reads, actor.org_id)
  // Checked again after the count, because a month of clicks may be dropped in between.
  for (let kept_from = await clicksKeptFrom(reads); ; ) {
    const first = Math.max(from, kept_from)
    const landings = await countLandings(reads, actor.org_id, { from: first, to }, goals, api.MOST_CLICKS_READ)
    const still_kept_from = await clicksKeptFrom(reads)
    if (still_kept_from === kept_from)
      return { is_counted: landings !== undefined, date_from: dayOf(first), rows: (landings ?? []).map(rowOf) }
    kept_from = still_kept_from
  }
}

/** The figures of each funnel, click flow or traffic source, by the campaigns that name it now. Refuses `invalid_window`, `window_too_wide`. */
export async function readDestinationFigures(
  { database, actor }: Context<typeof api.readDestinationFigures>,
  { query }: Call<typeof api.readDestinationFigures>,
) {
  const sought = figuresWindow(query)
  const now = Date.now()
  const isMoved = mayBeGone(coverOf(sought, now), now)
  const window = isMoved ? inWholeDays(sought, await clicksKeptFrom(database.reads)) : sought
  if (window.from > window.to) return { rows: [] }
  const isSource = query.type === 'traffic_source'
  const values: Value[] = isSource ? [actor.org_id] : [actor.org_id, query.type, `${query.type}_id`]
  const key = isSource ? 'c.traffic_source_id::text' : 'c.destination->>$3'
  const isMeant = isSource ? 'c.traffic_source_id is not null' : `c.destination->>'type' = $2`
  const put = (value: Value) => `$${values.push(value)}`
  const slice = { dimension: 'campaign', campaigns: null, cover: coverOf(window, now) } as const
  const sources = sourcesOf({ ...slice, verdicts: false }, put)
  const goals = await readGoals(database.reads, actor.org_id)
  const { rows } = await database.reads.query<FiguresSqlRow>(
    `with counted as (
      ${sources}
    ), grouped as (
      select key, ${[...COUNTERS, 'revenue'].map(name => `sum(${name}) as ${name}`).join(', ')} from counted group by key
    ), meant as (
      select c.id::text as campaign, ${key} as key from campaigns c where c.org_id = $1 and c.deleted_at is null and ${isMeant}
    ), converted as (
      select meant.key, told.type, ${CONVERSION_SUMS}
      from meant join (${conversionsOf({ ...slice, goals }, put)}) told on told.key = meant.campaign
      group by 1, 2
    ), summed as (
      select meant.key, count(*) as campaigns,
        ${COUNTERS.map(name => `coalesce(sum(${name}), 0)::bigint as ${name}`).join(', ')}, round(coalesce(sum(revenue), 0), 2)::text as revenue
      from meant left join grouped on grouped.key = meant.campaign group by 1
    )
    select summed.*, ${CONVERTED.map(name => `by_key.${name}`).join(', ')}
    from summed left join (${BY_KEY}) by_key on by_key.key = summed.key
    order by clicks desc, summed.key`,
    values,
  )
  return { rows: rows.map(row => ({ ...rowOf(row), campaigns: Number(row['campaigns']) })) }
}

/** From the first to the last millisecond of the days; a moment is used as it is. */
function figuresWindow({ date_from, date_to }: { date_from: string; date_to: string }): Window {
  return possible(
    windowBetween(
      momentOf(date_from, 'date_from'),
      momentOf(date_to.length > 10 ? date_to : `${date_to}T23:59:59.999Z`, 'date_to'),
    ),
  )
}

const rowOf = (row: FiguresSqlRow): api.FiguresRow => ({
  key: row['key'] ?? '',
  ...countsIn(row),
  revenue: row['revenue'] ?? '0.00',
  ...convertedOf(row),
})
