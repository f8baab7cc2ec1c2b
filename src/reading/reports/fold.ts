/**
 * Folding: moves the changes that transactions appended to `counter_sheet` (the previous version: to `report_sheet`) into `report_day` and
 * `report_slot`, one organization at a time. Each portion is one statement, so a report that sums both sides in one snapshot is right before, during
 * and after. Owns `counter_sheet`, `report_sheet`, the view `report_delta` of both, and `report_day`.
 *
 * A row of `report_day` counts one unit (campaign, geo, sub1, offer) at one of four levels: per day or per week, for each campaign or for all of
 * them. With weeks and all campaigns, a report of 92 days reads tens of rows per key instead of thousands.
 */
import type pg from 'pg'
import type { Among } from '../../ground/db/everywhere.ts'
import { isRetryable } from '../../ground/db/faults.ts'
import { openQuiet } from '../../ground/db/quiet.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, organizationsWith } from '../../ground/rounds.ts'
import { COUNTERS, NO_ID } from '../../intake/counters/deltas.ts'
import { ADD_SLOTS } from './slots.ts'
import { ALL_CAMPAIGNS, ALL_COUNTERS, UNITS, WEEK } from './units.ts'

/**
 * Large enough that a counter is written once for many clicks, and small enough for one statement: some 36,000 cells, which take a fifth of a second
 * with usual traffic, and five seconds where no two are alike.
 */
const PORTION_BYTES = 4_000_000
/** Long enough that a counter is written once for many clicks, and short enough that reports read few sheets. */
const PAUSE_MS = 5000
const TRIES = 5
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

const SHEETS = ['counter_sheet', 'report_sheet'] as const
type Sheet = (typeof SHEETS)[number]

const nextOf = (sheet: Sheet) => (among: Among) =>
  `select org_id from ${sheet} where org_id > $1${among('org_id')} order by org_id limit 1`

/** By size, because a sheet counts between one click and five hundred. */
const boundOf = (sheet: Sheet) => `
  select id from (
    select id, sum(pg_column_size(changes)) over (order by id rows unbounded preceding) as bytes from ${sheet} where org_id = $1
  ) sheets where bytes >= ${PORTION_BYTES} order by id limit 1`

const listed = (of: (name: string) => string): string => ALL_COUNTERS.map(of).join(', ')
/** The counters of the previous version. */
const IN_REPORT_SHEET: ReadonlySet<string> = new Set([...COUNTERS, 'revenue'])

/**
 * Folds the sheets of the organization $1 up to the ids $2 and $3. Rows are written in the order of the primary key, so that two processes that fold
 * one organization seldom deadlock.
 */
const FOLD = `
  with taken as (
    delete from counter_sheet where org_id = $1 and id <= $2 returning changes
  ), taken_of_before as (
    delete from report_sheet where org_id = $1 and id <= $3 returning changes
  ), cells as (
    select day, slot, campaign_id, offer_id, geo, sub1, ${listed(name => name)} from taken, unnest(changes)
    union all
    select day, null, campaign_id, offer_id, geo, sub1, ${listed(name => (IN_REPORT_SHEET.has(name) ? name : 'null'))}
    from taken_of_before, unnest(changes)
  ), slots as (${ADD_SLOTS}
  ), daily as (
    select case when grouping(geo) = 0 then ${UNITS.geo} when grouping(sub1) = 0 then ${UNITS.sub1}
        when grouping(offer_id) = 0 then ${UNITS.offer} else ${UNITS.campaign} end as unit,
      day, date_trunc('week', day::timestamp)::date as week, campaign_id,
      coalesce(geo, sub1, case when offer_id <> '${NO_ID}' then offer_id::text end, '') as key, ${listed(name => `sum(${name}) as ${name}`)}
    from cells
    group by grouping sets ((day, campaign_id), (day, campaign_id, geo), (day, campaign_id, sub1), (day, campaign_id, offer_id))
  )
  insert into report_day as counted (org_id, dimension, day, campaign_id, key, ${listed(name => name)})
  select $1::int, unit + ${ALL_CAMPAIGNS} * grouping(campaign_id) + ${WEEK} * grouping(day) as dimension,
    coalesce(day, week) as day, coalesce(campaign_id, '${NO_ID}') as campaign_id, key, ${listed(name => `coalesce(sum(${name}), 0) as ${name}`)}
  from daily
  group by grouping sets ((unit, day, campaign_id, key), (unit, day, key), (unit, week, campaign_id, key), (unit, week, key))
  order by 2, 3, 4, 5
  on conflict (org_id, dimension, day, campaign_id, key) do update
    set ${listed(name => `${name} = counted.${name} + excluded.${name}`)}`

type Folder = {
  /** Folds everything at once; for tests, the bench and bulk loads. @throws database errors */
  foldAll(): Promise<void>
  /** Finishes the current portion and stops. */
  close(): Promise<void>
}

/** Opens the periodic folding, with at most `pause_ms` between passes; any number of processes may run it. */
export function openFolder({ database, log }: Pick<Ground, 'database' | 'log'>, pause_ms = PAUSE_MS): Folder {
  let last = Promise.resolve()
  // One pass at a time: two would only wait for each other's rows.
  const fold = (signal?: AbortSignal): Promise<void> => {
    const pass = last.then(() => foldOrganizations(database.worker, signal))
    last = pass.catch(() => {})
    return pass
  }
  const onError = (error: unknown) =>
    log.warn({ err: error }, 'could not fold report counters, reports stay correct; retrying')
  const rounds = openRounds('reports/fold', pause_ms, fold, onError, openQuiet(database.worker))
  return {
    foldAll: () => fold(),
    close: async () => {
      await rounds.close()
      await last
    },
  }
}

async function foldOrganizations(pool: pg.Pool, signal?: AbortSignal): Promise<void> {
  for (const sheet of SHEETS)
    for await (const org_id of organizationsWith(nextOf(sheet), pool, signal)) {
      while (!signal?.aborted && (await foldPortion(pool, org_id)));
    }
}

/** True after a full portion, when more may be left. */
async function foldPortion(pool: pg.Pool, org_id: number): Promise<boolean> {
  const bounds: (string | undefined)[] = []
  for (const sheet of SHEETS) bounds.push((await pool.query<{ id: string }>(boundOf(sheet), [org_id])).rows[0]?.id)
  for (let tried = 1; ; tried += 1) {
    try {
      await pool.query(FOLD, [org_id, ...bounds.map(bound => bound ?? LAST_ID)])
      return bounds.some(bound => bound !== undefined)
    } catch (error) {
      if (!isRetryable(error) || tried === TRIES) throw error
    }
  }
}
