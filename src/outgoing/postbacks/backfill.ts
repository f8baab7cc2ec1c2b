/**
 * Runs a rule over conversions that were recorded before it was made. The deliveries are the same as those a conversion puts out, so the
 * outbox's own keys keep it from calling twice for one, or twice for a person where the rule says so.
 */
import type pg from 'pg'
import type { Call } from '../../contract/endpoint.ts'
import { NIL_ID } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Context } from '../../ground/room.ts'
import type { PastConversion, RunPlace } from '../deliveries/lane.ts'
import { MOST_PER_RUN, requireFits, SAMPLE, startRun } from '../deliveries/runs.ts'
import type * as api from './api.ts'
import { IS_CALLED_FOR } from './matching.ts'
import { ruleOf } from './postbacks.ts'
import { FIRED_COLUMNS, type Fired, lacksId, NO_REF_ID, render } from './render.ts'

// Test clicks and suppressed ones put out nothing when they convert, so neither do they now; nor does a click that is no longer kept, of which
// nobody can say any more.
const MATCHING = `
  from postback_rules r
  join events e on e.org_id = r.org_id and ${IS_CALLED_FOR} and not e.test
  join clicks c on c.org_id = e.org_id and c.id = e.click_id
  where r.org_id = $1 and r.id = $2 and r.deleted_at is null and not c.suppressed_delivery
    and ($3::timestamptz is null or e.created_at >= $3) and ($4::timestamptz is null or e.created_at < $4)`

// Neither this conversion nor, where the rule says so, this person.
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

const PREVIEW = `select ${FIRED_COLUMNS}, e.person_id ${MATCHING} ${NOT_YET} order by e.created_at, e.id limit ${SAMPLE}`

/**
 * Shows what a run over the past would call, and starts it unless it is a dry run. Refuses `object_not_found`, `invalid_request` when it
 * is too much for one run or the rule is off, `run_under_way`.
 */
export async function backfillPostbackRule(
  { db, database, actor }: Context<typeof api.backfillPostbackRule>,
  { params, body }: Call<typeof api.backfillPostbackRule>,
) {
  const rule = await ruleOf(db, actor.org_id, params.id)
  if (rule.on !== 'recorded')
    refuse('invalid_request', {
      error: `a run over the past calls for what was recorded, and this rule calls on ${rule.on}`,
      hint: 'Make a rule on recorded for it.',
    })
  const { date_from = null, date_to = null, dry_run } = body
  const values = [actor.org_id, rule.id, date_from, date_to]
  const [counted, preview] = await Promise.all([
    database.reads.query<{ count: number }>(COUNT, values),
    database.reads.query<Fired & { person_id: string }>(PREVIEW, values),
  ])
  const count = counted.rows[0]?.count ?? 0
  const firsts = new Set<string>()
  const calls = preview.rows.flatMap(fired => {
    if (rule.once_per_person && firsts.size === firsts.add(fired.person_id).size) return []
    const { event_id, click_id } = fired
    const skip = lacksId(rule, fired) ? NO_REF_ID : null
    const url = skip === null ? (render(rule, fired)?.url ?? null) : null
    return [{ event_id, click_id, method: rule.method, url, skip }]
  })
  const plan = { count: Math.min(count, MOST_PER_RUN), has_more: count > MOST_PER_RUN, calls, run: null }
  if (dry_run !== false) return plan
  if (!rule.active)
    refuse('invalid_request', {
      error: 'the rule is switched off',
      hint: 'Switch it on first: what is off calls nothing.',
    })
  requireFits(count)
  const wanted = { kind: 'backfill', target_id: rule.id, date_from, date_to, total: count } as const
  return { ...plan, run: await startRun(db, actor, wanted) }
}

const NEXT = `
  select e.id, e.created_at::text as created_at, e.click_id, e.campaign_id, case when r.once_per_person then e.person_id end as person_id
  ${MATCHING} and r.active and (e.created_at, e.id) > (coalesce($5, '-infinity'::timestamptz), coalesce($6, '${NIL_ID}'::uuid))
    and e.created_at < $7
  order by e.created_at, e.id
  limit $8`

/** The next conversions of a run, in their order; none once the rule is off. */
export async function findPast(client: pg.ClientBase, run: RunPlace, most: number): Promise<PastConversion[]> {
  const { org_id, target_id, date_from, date_to, after_at, after_id, created_at } = run
  const place = [org_id, target_id, date_from, date_to, after_at, after_id, created_at, most]
  const { rows } = await client.query<PastConversion>(NEXT, place)
  return rows
}
