/** Marks on charts: notes of days, and the changes of campaigns and click flows that explain why a figure rose or fell. Owns no table. */
import { sql } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { DAY_MS } from '../../contract/days.ts'
import { firstIdAt } from '../../contract/ids.ts'
import type { Context } from '../../ground/room.ts'
import type * as api from './api.ts'

type Mark = api.Mark

/** The most marks of an answer: the newest ones. */
const MOST_MARKS = 1000
/** No time zone is further from UTC. */
const ZONE_MS = DAY_MS

/**
 * Notes stand at the beginning of their day in the workspace's time zone. Of the history: campaigns that were paused, resumed or archived, versions of
 * click flows that were published, and values, caps and shares that a rule changed, one mark for those of an act.
 */
export async function listMarks({ db, actor }: Context<typeof api.listMarks>, { query }: Call<typeof api.listMarks>) {
  const { date_from = '-infinity', date_to = 'infinity', campaign_id = null } = query
  const { org_id } = actor
  const bounds = {
    first: query.date_from === undefined ? firstIdAt(0) : firstIdAt(Date.parse(query.date_from) - ZONE_MS),
    last: query.date_to === undefined ? null : firstIdAt(Date.parse(query.date_to) + DAY_MS + ZONE_MS),
  }
  const { rows } = await sql<Mark>`
    with zone as (select coalesce(timezone, 'UTC') as timezone from organizations where org_id = ${org_id}),
    marks as (
      select (n.day::timestamp at time zone zone.timezone) as at, n.day, 'note' as kind, n.text, n.campaign_id, null::uuid as history_id
      from day_notes n, zone
      where n.org_id = ${org_id} and n.day between ${date_from}::date and ${date_to}::date
      union all
      select h.created_at, (h.created_at at time zone 'UTC')::date,
        case when f ->> 'name' = 'published_version' then 'published' when f ->> 'after' = 'paused' then 'paused'
          when f ->> 'after' = 'archived' then 'archived' else 'resumed' end,
        h.object_name, case when h.kind = 'campaign' then h.object_id end, h.id
      from history h, json_array_elements(h.fields) f, zone
      where h.org_id = ${org_id} and h.id >= ${bounds.first} and (${bounds.last}::uuid is null or h.id < ${bounds.last})
        and h.change = 'changed'
        and (h.kind = 'campaign' and f ->> 'name' = 'status' or h.kind = 'click_flow' and f ->> 'name' = 'published_version')
        and (h.created_at at time zone zone.timezone)::date between ${date_from}::date and ${date_to}::date
      union all
      select min(h.created_at), (min(h.created_at) at time zone 'UTC')::date, 'rule', min(h.object_name) || case when count(*) > 1 then ' and ' || count(*) - 1 || ' more' else '' end,
        case when h.kind = 'left_out' then h.object_id end, (array_agg(h.id order by h.id))[1]
      from history h, zone
      where h.org_id = ${org_id} and h.id >= ${bounds.first} and (${bounds.last}::uuid is null or h.id < ${bounds.last})
        and h.because = 'rule' and h.kind in ('left_out', 'cap', 'funnel')
        and (h.created_at at time zone zone.timezone)::date between ${date_from}::date and ${date_to}::date
      group by h.act_id, h.kind, case when h.kind = 'left_out' then h.object_id end
    )
    select at, day::text, kind, text, campaign_id, history_id from marks
    where ${campaign_id}::uuid is null or campaign_id is null or campaign_id = ${campaign_id}
    order by at desc limit ${MOST_MARKS}`.execute(db)
  return { data: rows.toReversed() }
}
