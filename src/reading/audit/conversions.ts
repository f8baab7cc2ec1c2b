/** What must hold of conversions counted by type: checks of the audit, said in words of their own like the others. */

/** The day of an event's click: the first 48 bits of its id are its milliseconds. */
const DAY = `date '1970-01-01' + (('x' || left(replace(click_id::text, '-', ''), 12))::bit(48)::bigint / 86400000)::int`

/** Each takes the organization as $1 and answers one `wrong` per thing that is wrong. */
export const CONVERSION_CHECKS: Readonly<Record<string, string>> = {
  'every level of the report counts the same conversions': `
    select format('level %s comes to %s, level 1 to %s', dimension, told, first) as wrong
    from (
      select dimension, told, first_value(told) over (order by dimension) as first
      from (
        select dimension, json_object_agg(type, events order by type)::text as told
        from (
          select dimension, type, sum(events) as events from event_counts where org_id = $1 group by dimension, type
        ) sums
        group by dimension
      ) levels
    ) compared
    where told <> first`,

  'the report counts the conversions there are': `
    select format('%s, %s: reported %s, recorded %s', day, type, coalesce(told, 0), coalesce(counted, 0)) as wrong
    from (
      select day, type, sum(events) as told
      from (
        select day, type, events from event_counts where org_id = $1 and dimension = 1
        union all
        select ${DAY}, type, 1 from events where org_id = $1 and not counted and not test
      ) parts
      group by day, type
    ) report
    full join (
      select ${DAY} as day, type, count(*) as counted from events where org_id = $1 and not test group by 1, 2
    ) recorded using (day, type)
    where coalesce(told, 0) <> coalesce(counted, 0)`,
}

/** As a figure: how many are counted or wait for it, and how many there are. */
export const CONVERSIONS = `select 'Conversions', kept, counted from
    (select sum(events)::text as kept from (
      select 0::bigint as events
      union all select events from event_counts where org_id = $1 and dimension = 1
      union all select 1::bigint from events where org_id = $1 and not counted and not test) parts) k,
    (select count(*)::text as counted from events where org_id = $1 and not test) c`
