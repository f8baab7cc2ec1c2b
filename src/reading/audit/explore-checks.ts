/**
 * Compares the sealed facts of Explore with the report's counters. A day that differs is read from its clicks or named by every answer until it is
 * rebuilt, so no answer is wrong; but where the periodic check runs, no day may differ for long.
 */
import type pg from 'pg'
import { FIRST_DAY, UNFOLDED } from './audit.ts'
import { dayOfIdSql } from './slot-checks.ts'
import { IS_ANY, NUMBERS, TAKEN } from './slot-checks.ts'

/** `days`: days whose segments differ, with kept clicks and no unsealed ones. `is_checked`: the periodic check has handled all days once. */
type Standing = { readonly days: readonly string[]; readonly waiting: number; readonly is_checked: boolean }

/** A few are enough to tell. */
const MOST_DAYS = 5

const STANDING = `
  with waiting as (
    select b as id from click_sheet, unnest(born) as b where org_id = $1
    union all
    select b.id from click_sheet, unnest(born_otherwise) as b where org_id = $1
    union all
    select c.id from click_sheet, unnest(changes) as c where org_id = $1
  ), compared as (
    select day, ${NUMBERS.join(', ')}, events, events_pending, events_rejected, without_amounts from segments where org_id = $1
    union all
    select day, ${TAKEN}, 0, 0, 0, 0 from report_day where org_id = $1 and dimension = 1
    union all
    select day, ${TAKEN}, 0, 0, 0, 0 from (${UNFOLDED}) unfolded
    union all
    select ${dayOfIdSql('click_id')}, ${NUMBERS.map(() => '0').join(', ')}, -1, -(coalesce(status, '') = 'pending')::int,
      -(coalesce(status, '') in ('rejected', 'refunded', 'chargeback'))::int, 0
    from events e
    left join (
      select distinct on (event_id) event_id, status from event_revisions where org_id = $1 order by event_id, seq desc
    ) said on said.event_id = e.id
    where org_id = $1 and not test
  )
  select (select count(*)::int from waiting) as waiting,
    exists (select from explore_turns where org_id = $1 and checked_at is not null) as is_checked,
    array(
      select day::text from compared
      where day >= ${FIRST_DAY} and not day = any(array(select ${dayOfIdSql('id')} from waiting))
      group by day having ${IS_ANY} or sum(events) <> 0 or sum(events_pending) <> 0 or sum(events_rejected) <> 0 or sum(without_amounts) <> 0
      order by day desc limit ${MOST_DAYS}
    ) as days`

/** How Explore compares with the report, read in one statement and so in one snapshot. */
export async function exploreStanding(pool: pg.Pool, org_id: number): Promise<Standing> {
  const { rows } = await pool.query<Standing>(STANDING, [org_id])
  return rows[0] ?? { days: [], waiting: 0, is_checked: false }
}
