/** Resends deliveries: one at once, many in a run. A resent delivery keeps its event id and its log, and gets all its retries again. */
import { sql } from 'kysely'
import type pg from 'pg'
import type { Call } from '../../contract/endpoint.ts'
import { NIL_ID } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { type Context, idOf } from '../../ground/room.ts'
import type * as api from './api.ts'
import { readDeliveryRow } from './deliveries.ts'
import type { DueDelivery, Lane, RunBatch, RunPosition } from './lane.ts'
import { loggedCall } from './redact.ts'
import { MOST_PER_RUN, requireRunSize, SAMPLE, startRun } from './runs.ts'

/**
 * Makes one delivery due at once: a finished one, or one that waits for a retry. It becomes held if the organization's deliveries are held. Refuses
 * `object_not_found`, and `delivery_under_way` if it is being sent or already held.
 */
export async function resendDelivery(
  { db, actor: { org_id } }: Context<typeof api.resendDelivery>,
  { params }: Call<typeof api.resendDelivery>,
) {
  const id = idOf(params.id)
  await readDeliveryRow(db, org_id, id)
  const { rows } = await sql<{ id: string }>`
    update deliveries d
    set state = case when b.hold_when_empty and b.balance < 0 then 'held' else 'pending' end, reason = null, failure = null,
      run_at = now(), finished_at = null, attempts_uncounted = d.attempts, lease_token = null, lease_until = null
    from balances b
    where d.org_id = ${org_id} and b.org_id = d.org_id and d.id = ${id}
      and (d.state in ('delivered', 'failed', 'skipped') or (d.state = 'pending' and (d.lease_until is null or d.lease_until < now())))
    returning d.id`.execute(db)
  if (rows.length === 0) refuse('delivery_under_way')
  await sql`notify deliveries`.execute(db)
  return await readDeliveryRow(db, org_id, id)
}

const MATCHING = `
  from deliveries d
  where d.org_id = $1 and d.state = $2 and ($3::uuid is null or d.target_id = $3) and ($4::uuid is null or d.campaign_id = $4)
    and ($5::text is null or d.failure = $5) and ($6::timestamptz is null or d.created_at >= $6)
    and ($7::timestamptz is null or d.created_at < $7)`

const COUNT = `select count(*)::int as count from (select 1 ${MATCHING} limit ${MOST_PER_RUN + 1}) found`
const PREVIEW = `select d.id, d.event_id, d.click_id ${MATCHING} order by d.id limit ${SAMPLE}`

type MatchingDelivery = { id: string; event_id: string; click_id: string }

/** The deed of `POST /api/deliveries/resend`. `lanes` compose the calls that a dry run shows. */
export function openResend(lanes: readonly Lane[]) {
  /**
   * Previews the calls, oldest first, and starts the run unless it is a dry run. Refuses `invalid_request` for too many deliveries,
   * `run_under_way`.
   */
  return async function resendDeliveries(
    { db, database, actor }: Context<typeof api.resendDeliveries>,
    { body }: Call<typeof api.resendDeliveries>,
  ) {
    const { target_id = null, campaign_id = null, state, failure = null, date_from = null, date_to = null } = body
    const values = [actor.org_id, state ?? 'failed', target_id, campaign_id, failure, date_from, date_to]
    const client = await database.reads.connect()
    try {
      const { rows: counted } = await client.query<{ count: number }>(COUNT, values)
      const { rows } = await client.query<MatchingDelivery>(PREVIEW, values)
      const count = counted[0]?.count ?? 0
      const calls = await previewCalls(client, lanes, actor.org_id, rows)
      const plan = { count: Math.min(count, MOST_PER_RUN), has_more: count > MOST_PER_RUN, calls, run: null }
      if (body.dry_run !== false) return plan
      requireRunSize(count)
      const only = { only_state: state ?? 'failed', only_failure: failure }
      const run = { kind: 'resend', target_id, campaign_id, ...only, date_from, date_to, total: count } as const
      return { ...plan, run: await startRun(db, actor, run) }
    } finally {
      client.release()
    }
  }
}

async function previewCalls(
  client: pg.ClientBase,
  lanes: readonly Lane[],
  org_id: number,
  rows: readonly MatchingDelivery[],
): Promise<api.PlannedCall[]> {
  const ids = rows.map(({ id }) => id)
  const plans = new Map<string, Pick<api.PlannedCall, 'method' | 'url' | 'skip'>>()
  for (const lane of lanes) {
    const { rows: mine } = await client.query<DueDelivery>(
      'select id, click_id from deliveries where org_id = $1 and kind = $2 and id = any($3::uuid[])',
      [org_id, lane.kind, ids],
    )
    if (mine.length === 0) continue
    for (const plan of await lane.compose(client, org_id, mine))
      plans.set(
        plan.id,
        'call' in plan
          ? { method: plan.call.method, url: loggedCall(plan.call).url, skip: null }
          : { method: null, url: null, skip: plan.skip },
      )
  }
  const nothing = { method: null, url: null, skip: 'its conversion or target no longer exists' }
  return rows.map(({ id, event_id, click_id }) => ({ event_id, click_id, ...(plans.get(id) ?? nothing) }))
}

const NEXT = `
  select d.id ${MATCHING} and d.id > coalesce($8, '${NIL_ID}'::uuid) and d.created_at < $9
  order by d.id
  limit $10
  for update`

const MAKE_DUE = `
  update deliveries
  set state = 'pending', reason = null, failure = null, run_at = now(), finished_at = null, attempts_uncounted = attempts,
    lease_token = null, lease_until = null
  where org_id = $1 and id = any($2::uuid[])`

/** Makes the next deliveries of a run due, in order. Deliveries created after the run began are left out. */
export async function resendNext(client: pg.ClientBase, run: RunPosition, most: number): Promise<RunBatch> {
  const { org_id, target_id, campaign_id, only_state, only_failure, date_from, date_to, after_at, after_id } = run
  const matching = [org_id, only_state, target_id, campaign_id, only_failure, date_from, date_to]
  const { rows } = await client.query<{ id: string }>(NEXT, [...matching, after_id, run.created_at, most])
  if (rows.length > 0) await client.query(MAKE_DUE, [org_id, rows.map(one => one.id)])
  return { done: rows.length, after_at, after_id: rows.at(-1)?.id ?? after_id, isOver: rows.length < most }
}
