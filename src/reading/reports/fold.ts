/**
 * The folder: moves what transactions appended to `report_sheet` and `counter_sheet` into `report_day`, and `slot_sheet` into `report_slot`,
 * organization by organization, each portion in one statement, so that a report that sums both in one snapshot is right before, during and
 * after. Owns `report_sheet`, its rows cell by cell (the view `report_delta`), `counter_sheet`, `slot_sheet` and `report_day`.
 *
 * A row of `report_day` counts one unit (campaign, geo, sub1, offer) at one of four levels: per day or per week, each campaign apart or all
 * of them together. Weeks and all campaigns together are what makes a report of 92 days read tens of rows per key, not thousands.
 */
import type pg from 'pg'
import type { Among } from '../../ground/db/everywhere.ts'
import { isRetryable } from '../../ground/db/faults.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, organizationsWith } from '../../ground/rounds.ts'
import { COUNTERS, NO_ID } from '../../intake/counters/deltas.ts'
import { FOLD_SLOTS } from './slots.ts'
import { ALL_CAMPAIGNS, ALL_COUNTERS, UNITS, WEEK } from './units.ts'

/**
 * Large enough that one day's counters are written once for many clicks, small enough for a statement's time at worst: some 36,000
 * cells, which take a fifth of a second as traffic is, and five seconds where no two are alike.
 */
const PORTION_BYTES = 4_000_000
/** Each pass writes a counter once, however many clicks it counts; what waits for it is read by every report, and stays little. */
const PAUSE_MS = 5000
const TRIES = 5
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** The statements that fold one kind of sheets. */
type Fold = { readonly next: (among: Among) => string; readonly bound: string; readonly fold: string }

const portionsOf = (sheet: string): Omit<Fold, 'fold'> => ({
  next: among => `select org_id from ${sheet} where org_id > $1${among('org_id')} order by org_id limit 1`,
  // By size, not by number: a sheet counts one click or five hundred.
  bound: `
  select id from (
    select id, sum(pg_column_size(changes)) over (order by id rows unbounded preceding) as bytes from ${sheet} where org_id = $1
  ) sheets where bytes >= ${PORTION_BYTES} order by id limit 1`,
})

function foldOf(sheet: 'report_sheet' | 'counter_sheet', counters: readonly string[]): Fold {
  const sums = counters.map(name => `sum(${name}) as ${name}`).join(', ')
  const known = counters.map(name => `coalesce(sum(${name}), 0) as ${name}`).join(', ')
  return {
    ...portionsOf(sheet),
    // Rows are written in the order of the primary key, so that two folders of one organization seldom deadlock.
    fold: `
  with taken as (
    delete from ${sheet} where org_id = $1 and id <= $2 returning changes
  ), daily as (
    select case when grouping(geo) = 0 then ${UNITS.geo} when grouping(sub1) = 0 then ${UNITS.sub1}
        when grouping(offer_id) = 0 then ${UNITS.offer} else ${UNITS.campaign} end as unit,
      day, date_trunc('week', day::timestamp)::date as week, campaign_id,
      coalesce(geo, sub1, case when offer_id <> '${NO_ID}' then offer_id::text end, '') as key, ${sums}
    from taken, unnest(changes)
    group by grouping sets ((day, campaign_id), (day, campaign_id, geo), (day, campaign_id, sub1), (day, campaign_id, offer_id))
  )
  insert into report_day as counted (org_id, dimension, day, campaign_id, key, ${counters.join(', ')})
  select $1::int, unit + ${ALL_CAMPAIGNS} * grouping(campaign_id) + ${WEEK} * grouping(day) as dimension,
    coalesce(day, week) as day, coalesce(campaign_id, '${NO_ID}') as campaign_id, key, ${known}
  from daily
  group by grouping sets ((unit, day, campaign_id, key), (unit, day, key), (unit, week, campaign_id, key), (unit, week, key))
  order by 2, 3, 4, 5
  on conflict (org_id, dimension, day, campaign_id, key) do update
    set ${counters.map(name => `${name} = counted.${name} + excluded.${name}`).join(', ')}`,
  }
}

const FOLDS = [
  foldOf('report_sheet', [...COUNTERS, 'revenue']),
  foldOf('counter_sheet', ALL_COUNTERS),
  { ...portionsOf('slot_sheet'), fold: FOLD_SLOTS },
]

type Folder = {
  /** Folds all that is there now; for tests, the bench and bulk loads. @throws what the database says */
  foldAll(): Promise<void>
  /** Lets the portion in hand finish and stops. */
  close(): Promise<void>
}

/** Opens the folder. Its loop, with at most `pause_ms` between passes, runs until it is closed; any number of processes may have one. */
export function openFolder({ database, log }: Pick<Ground, 'database' | 'log'>, pause_ms = PAUSE_MS): Folder {
  let last = Promise.resolve()
  // One pass at a time: two would only wait for each other's rows.
  const fold = (signal?: AbortSignal): Promise<void> => {
    const pass = last.then(() => foldOrganizations(database.worker, signal))
    last = pass.catch(() => {})
    return pass
  }
  const rounds = openRounds(pause_ms, fold, error =>
    log.warn({ err: error }, 'report counters were not folded; reports stay right, and it is tried again'),
  )
  return {
    foldAll: () => fold(),
    close: async () => {
      await rounds.close()
      await last
    },
  }
}

async function foldOrganizations(pool: pg.Pool, signal?: AbortSignal): Promise<void> {
  for (const fold of FOLDS)
    for await (const org_id of organizationsWith(fold.next, pool, signal)) {
      while (!signal?.aborted && (await foldPortion(pool, fold, org_id)));
    }
}

/** True when there was a full portion, so that more may be left. */
async function foldPortion(pool: pg.Pool, { bound, fold }: Fold, org_id: number): Promise<boolean> {
  const found = await pool.query<{ id: string }>(bound, [org_id])
  const last = found.rows[0]?.id
  for (let tried = 1; ; tried += 1) {
    try {
      await pool.query(fold, [org_id, last ?? LAST_ID])
      return last !== undefined
    } catch (error) {
      if (!isRetryable(error) || tried === TRIES) throw error
    }
  }
}
