/**
 * Counts conversions by type and status, one organization at a time. One statement marks a portion of events or revisions as counted and adds them to
 * `event_counts`. So a report that sums events, revisions and counts in one snapshot is right before, during and after, whichever version of Sluice
 * has written them. Owns `event_counts`, whose rows have the units and levels of `report_day`.
 */
import type pg from 'pg'
import type { Among } from '../../ground/db/everywhere.ts'
import { isRetryable } from '../../ground/db/faults.ts'
import { openQuiet } from '../../ground/db/quiet.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, organizationsWith, type Rounds } from '../../ground/rounds.ts'
import { NO_ID } from '../../intake/counters/deltas.ts'
import { IS_PENDING, IS_REJECTED } from '../../intake/counters/conversions.ts'
import { ALL_CAMPAIGNS, UNITS, WEEK } from './units.ts'

/** Enough events that a counter is written once for many of them, and few enough that the statement stays short. */
const PORTION = 4000
const TRIES = 5

/** SQL of the UTC day of an id, whose first 48 bits are its milliseconds. */
export const dayOfId = (id: string): string =>
  `(date '1970-01-01' + (('x' || left(replace(${id}::text, '-', ''), 12))::bit(48)::bigint / 86400000)::int)`

/** What a revision `r` changes against `was`, the one before it. An event without revisions is approved. */
export const PENDING_CHANGE = changeOf(IS_PENDING)
export const REJECTED_CHANGE = changeOf(IS_REJECTED)
function changeOf(is: (status: string) => string): string {
  return `((${is('r.status')})::int - coalesce((${is('was.status')})::int, 0))`
}
/** The revision before `r`. */
export const WAS = `left join event_revisions was on was.org_id = $1 and was.event_id = r.event_id and was.seq = r.seq - 1`

const nextOf = (table: 'events' | 'event_revisions') => (among: Among) =>
  `select org_id from ${table} where not counted and org_id > $1${among('org_id')} order by org_id limit 1`

// Country and sub1 come from the click; where it is no longer kept they are unknown. Rows are written in the order of the primary key, so that two
// processes that fold one organization seldom deadlock.
const fold = (changes: string) => `
  with ${changes}, daily as (
    select case when grouping(c.geo) = 0 then ${UNITS.geo} when grouping(c.sub1) = 0 then ${UNITS.sub1}
        when grouping(t.offer_id) = 0 then ${UNITS.offer} else ${UNITS.campaign} end as unit,
      t.day, date_trunc('week', t.day::timestamp)::date as week, t.campaign_id,
      coalesce(c.geo, c.sub1, case when t.offer_id <> '${NO_ID}' then t.offer_id::text end, '') as key, t.type,
      sum(t.events) as events, sum(t.pending) as pending, sum(t.rejected) as rejected
    from (
      select click_id, ${dayOfId('click_id')} as day, coalesce(campaign_id, '${NO_ID}') as campaign_id,
        coalesce(offer_id, '${NO_ID}') as offer_id, type, events, pending, rejected
      from changes where not test
    ) t
    cross join lateral (
      select coalesce(max(geo), '') as geo, coalesce(max(sub1), '') as sub1 from clicks where org_id = $1 and id = t.click_id
    ) c
    group by grouping sets ((t.day, t.campaign_id, t.type), (t.day, t.campaign_id, t.type, c.geo),
      (t.day, t.campaign_id, t.type, c.sub1), (t.day, t.campaign_id, t.type, t.offer_id))
  )
  insert into event_counts as counted (org_id, dimension, day, campaign_id, key, type, events, pending, rejected)
  select $1::int, unit + ${ALL_CAMPAIGNS} * grouping(campaign_id) + ${WEEK} * grouping(day) as dimension,
    coalesce(day, week) as day, coalesce(campaign_id, '${NO_ID}') as campaign_id, key, type, sum(events), sum(pending), sum(rejected)
  from daily
  group by grouping sets ((unit, day, campaign_id, key, type), (unit, day, key, type), (unit, week, campaign_id, key, type),
    (unit, week, key, type))
  order by 2, 3, 4, 5, 6
  on conflict (org_id, dimension, day, campaign_id, key, type) do update
    set events = counted.events + excluded.events, pending = counted.pending + excluded.pending,
      rejected = counted.rejected + excluded.rejected`

const FOLD_EVENTS = fold(`waiting as (
    select id from events where org_id = $1 and not counted order by click_id limit ${PORTION}
  ), changes as (
    update events e set counted = true from waiting
    where e.org_id = $1 and e.id = waiting.id and not e.counted
    returning e.click_id, e.campaign_id, e.offer_id, e.type, e.test, 1 as events, 0 as pending, 0 as rejected
  )`)

// The columns that are read from `events` never change.
const FOLD_REVISIONS = fold(`waiting as (
    select event_id, seq from event_revisions where org_id = $1 and not counted order by event_id, seq limit ${PORTION}
  ), taken as (
    update event_revisions r set counted = true from waiting
    where r.org_id = $1 and r.event_id = waiting.event_id and r.seq = waiting.seq and not r.counted
    returning r.event_id, r.seq, r.status
  ), changes as (
    select e.click_id, e.campaign_id, e.offer_id, e.type, e.test, 0 as events, ${PENDING_CHANGE} as pending, ${REJECTED_CHANGE} as rejected
    from taken r ${WAS} join events e on e.org_id = $1 and e.id = r.event_id
  )`)

const PARTS = [
  { next: nextOf('events'), fold: FOLD_EVENTS, left: 'select 1 from events where org_id = $1 and not counted limit 1' },
  {
    next: nextOf('event_revisions'),
    fold: FOLD_REVISIONS,
    left: 'select 1 from event_revisions where org_id = $1 and not counted limit 1',
  },
] as const

/** As for clicks: long enough that a counter is written once for many events, and short enough that few events wait. */
const PAUSE_MS = 5000

/** Opens the periodic counting; any number of processes may run it. */
export function openEventFolder({ database, log }: Pick<Ground, 'database' | 'log'>): Rounds {
  return openRounds(
    'reports/fold-events',
    PAUSE_MS,
    signal => foldEvents(database.worker, signal),
    error => log.warn({ err: error }, 'could not count conversions by type, reports stay correct; retrying'),
    openQuiet(database.worker),
  )
}

/** Counts every event and revision that is not counted yet. @throws database errors */
export async function foldEvents(pool: pg.Pool, signal?: AbortSignal): Promise<void> {
  for (const { next, fold, left } of PARTS)
    for await (const org_id of organizationsWith(next, pool, signal)) {
      while (!signal?.aborted) {
        await foldPortion(pool, org_id, fold)
        const { rows } = await pool.query(left, [org_id])
        if (rows.length === 0) break
      }
    }
}

async function foldPortion(pool: pg.Pool, org_id: number, statement: string): Promise<void> {
  for (let tried = 1; ; tried += 1) {
    try {
      return void (await pool.query(statement, [org_id]))
    } catch (error) {
      if (!isRetryable(error) || tried === TRIES) throw error
    }
  }
}
