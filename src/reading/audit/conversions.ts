/** The audit's checks of conversions counted by type. Like the other checks they share no SQL with the code that counts. */

import { dayOfIdSql } from './slot-checks.ts'

const DAY = dayOfIdSql('click_id')

/** Statuses that count as rejected. */
const REFUSED = `'rejected', 'refunded', 'chargeback'`
/** No conversions, pending or rejected ones. */
const NONE = '(0,0,0)'

/** Each takes the organization as $1 and returns a row `wrong` for each fault. */
export const CONVERSION_CHECKS: Readonly<Record<string, string>> = {
  'every level of the report counts the same conversions': `
    select format('level %s comes to %s, level 1 to %s', dimension, told, first) as wrong
    from (
      select dimension, told, first_value(told) over (order by dimension) as first
      from (
        select dimension, json_object_agg(type, told order by type)::text as told
        from (
          select dimension, type, row(sum(events), sum(pending), sum(rejected))::text as told
          from event_counts where org_id = $1 group by dimension, type
        ) sums
        group by dimension
      ) levels
    ) compared
    where told <> first`,

  'the report counts the conversions there are, as they stand': `
    select format('%s, %s: reported %s, recorded %s', day, type, coalesce(told, '${NONE}'), coalesce(counted, '${NONE}')) as wrong
    from (
      select day, type, row(sum(events), sum(pending), sum(rejected))::text as told
      from (
        select day, type, events, pending, rejected from event_counts where org_id = $1 and dimension = 1
        union all
        select ${DAY}, type, 1, 0, 0 from events where org_id = $1 and not counted and not test
        union all
        select ${DAY}, type, 0, (r.status = 'pending')::int - coalesce((o.status = 'pending')::int, 0),
          (r.status in (${REFUSED}))::int - coalesce((o.status in (${REFUSED}))::int, 0)
        from event_revisions r
        join events e on e.org_id = $1 and e.id = r.event_id and not e.test
        left join event_revisions o on o.org_id = $1 and o.event_id = r.event_id and o.seq = r.seq - 1
        where r.org_id = $1 and not r.counted
      ) parts
      group by day, type
    ) report
    full join (
      select ${DAY} as day, type, row(count(*), count(*) filter (where status = 'pending'),
        count(*) filter (where status in (${REFUSED})))::text as counted
      from events e
      left join (
        select distinct on (event_id) event_id, status from event_revisions where org_id = $1 order by event_id, seq desc
      ) said on said.event_id = e.id
      where org_id = $1 and not test group by 1, 2
    ) recorded using (day, type)
    where coalesce(told, '${NONE}') <> coalesce(counted, '${NONE}')`,
}

/** The audit's figure: conversions that are counted or wait to be, and conversions that exist. */
export const CONVERSIONS = `select 'Conversions', kept, counted from
    (select sum(events)::text as kept from (
      select 0::bigint as events
      union all select events from event_counts where org_id = $1 and dimension = 1
      union all select 1::bigint from events where org_id = $1 and not counted and not test) parts) k,
    (select count(*)::text as counted from events where org_id = $1 and not test) c`
