/**
 * Runs a rule over past conversions. It creates the same deliveries as a conversion does, so the unique keys of the outbox prevent a second call for
 * a conversion, or for a person if the rule calls once per person.
 */
import type pg from 'pg'
import type { Call } from '../../contract/endpoint.ts'
import { NIL_ID } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Context } from '../../ground/room.ts'
import type { PastConversion, RunPosition } from '../deliveries/lane.ts'
import { MOST_PER_RUN, requireRunSize, SAMPLE, startRun } from '../deliveries/runs.ts'
import type * as api from './api.ts'
import { IS_CALLED_FOR } from './matching.ts'
import { ruleOf } from './postbacks.ts'
import { CONVERSION_COLUMNS, type PostbackConversion, lacksRefId, NO_REF_ID, composeCall } from './render.ts'

// Leaves out conversions of test clicks and of suppressed clicks, which get no deliveries when they happen either, and conversions of deleted clicks,
// for which that is unknown.
const MATCHING = `
  from postback_rules r
  join events e on e.org_id = r.org_id and ${IS_CALLED_FOR} and not e.test
  join clicks c on c.org_id = e.org_id and c.id = e.click_id
  where r.org_id = $1 and r.id = $2 and r.deleted_at is null and not c.suppressed_delivery
    and ($3::timestamptz is null or e.created_at >= $3) and ($4::timestamptz is null or e.created_at < $4)`

// Not called yet for this conversion or, if once_per_person, for this person.
const NOT_YET = `
    and not exists (
      select 1 from deliveries d
      where d.org_id = $1 and d.event_id = e.id and d.kind = 'postback' and d.target_id = r.id)
    and not (r.once_per_person and exists (
      select 1 from deliveries d where d.org_id = $1 and d.target_id = r.id and d.person_id = e.person_id))`

const COUNT = `
  select count(*)::int as count
  from (
    select distinct case when r.once_per_person then e.person_id else e.id end
    ${MATCHING} ${NOT_YET}
    limit ${MOST_PER_RUN + 1}
  ) found`

const PREVIEW = `select ${CONVERSION_COLUMNS}, e.person_id ${MATCHING} ${NOT_YET} order by e.created_at, e.id limit ${SAMPLE}`

/**
 * Previews a run over the past, and starts it unless it is a dry run. Refuses `object_not_found`, `invalid_request` for too many conversions or a
 * rule that is off, `run_under_way`.
 */
export async function backfillPostbackRule(
  { db, database, actor }: Context<typeof api.backfillPostbackRule>,
  { params, body }: Call<typeof api.backfillPostbackRule>,
) {
  const rule = await ruleOf(db, actor.org_id, params.id)
  if (rule.on !== 'recorded')
    refuse('invalid_request', {
      error: `a run over past conversions needs a rule on recorded, and this one is on ${rule.on}`,
      hint: 'Create a rule on recorded for it.',
    })
  const { date_from = null, date_to = null, dry_run } = body
  const values = [actor.org_id, rule.id, date_from, date_to]
  const [counted, preview] = await Promise.all([
    database.reads.query<{ count: number }>(COUNT, values),
    database.reads.query<PostbackConversion & { person_id: string }>(PREVIEW, values),
  ])
  const count = counted.rows[0]?.count ?? 0
  const persons = new Set<string>()
  const calls = preview.rows.flatMap(conversion => {
    if (rule.once_per_person && persons.size === persons.add(conversion.person_id).size) return []
    const { event_id, click_id } = conversion
    const skip = lacksRefId(rule, conversion) ? NO_REF_ID : null
    const url = skip === null ? (composeCall(rule, conversion)?.url ?? null) : null
    return [{ event_id, click_id, method: rule.method, url, skip }]
  })
  const plan = { count: Math.min(count, MOST_PER_RUN), has_more: count > MOST_PER_RUN, calls, run: null }
  if (dry_run !== false) return plan
  if (!rule.active)
    refuse('invalid_request', {
      error: 'the rule is switched off',
      hint: 'Switch it on first.',
    })
  requireRunSize(count)
  const wanted = { kind: 'backfill', target_id: rule.id, date_from, date_to, total: count } as const
  return { ...plan, run: await startRun(db, actor, wanted) }
}

const NEXT = `
  select e.id, e.created_at::text as created_at, e.click_id, e.campaign_id, case when r.once_per_person then e.person_id end as person_id
  ${MATCHING} and r.active and (e.created_at, e.id) > (coalesce($5, '-infinity'::timestamptz), coalesce($6, '${NIL_ID}'::uuid))
    and e.created_at < $7
  order by e.created_at, e.id
  limit $8`

/** The next conversions of a run, in order; none if the rule is off. */
export async function findPast(client: pg.ClientBase, run: RunPosition, most: number): Promise<PastConversion[]> {
  const { org_id, target_id, date_from, date_to, after_at, after_id, created_at } = run
  const parameters = [org_id, target_id, date_from, date_to, after_at, after_id, created_at, most]
  const { rows } = await client.query<PastConversion>(NEXT, parameters)
  return rows
}
