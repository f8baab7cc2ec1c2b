/**
 * Runs over the past: resending many deliveries, or creating the deliveries of a new rule for past conversions. A member starts a run, and the worker
 * does it in batches (portions.ts). Owns `delivery_runs`.
 */
import type { Kysely } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { isTaken } from '../../ground/db/faults.ts'
import { newestFirst } from '../../ground/db/lists.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { readMoment } from '../../money/billing/balance.ts'
import type * as api from './api.ts'

/** The most deliveries per run: some hours of work for a receiver that answers in a tenth of a second. */
export const MOST_PER_RUN = 100_000
/** The calls a dry run shows. */
export const SAMPLE = 20

const RUN_COLUMNS = [
  'id',
  'kind',
  'target_id',
  'campaign_id',
  'only_state',
  'only_failure',
  'date_from',
  'date_to',
  'total',
  'done',
  'outcome',
  'created_at',
  'finished_at',
] as const

type RunToStart = Pick<api.DeliveryRun, 'kind' | 'total'> &
  Partial<Pick<api.DeliveryRun, 'target_id' | 'campaign_id' | 'only_state' | 'only_failure' | 'date_from' | 'date_to'>>

/** Refuses `invalid_request` for too many deliveries. */
export function requireRunSize(count: number): void {
  if (count <= MOST_PER_RUN) return
  refuse('invalid_request', {
    error: `a run has at most ${MOST_PER_RUN} deliveries`,
    hint: 'Choose a shorter period with date_from and date_to, and start one run after another.',
  })
}

/**
 * Starts a run over everything before this moment, by the clock that stamps conversions. Refuses `run_under_way`, because an organization has one run
 * at a time.
 */
export async function startRun(
  db: Kysely<Tables>,
  { org_id, user_id }: { org_id: number; user_id: string },
  run: RunToStart,
): Promise<api.DeliveryRun> {
  const created_at = await readMoment(db, org_id)
  const row = { ...run, org_id, id: newId(), done: 0, created_by: user_id, created_at }
  try {
    const made = db.insertInto('delivery_runs').values(row).returning(RUN_COLUMNS).$castTo<api.DeliveryRun>()
    return await made.executeTakeFirstOrThrow()
  } catch (error) {
    if (isTaken(error)) return refuse('run_under_way')
    throw error
  }
}

/** Runs over the past, newest first. */
export async function listDeliveryRuns(
  { db, actor }: Context<typeof api.listDeliveryRuns>,
  { query }: Call<typeof api.listDeliveryRuns>,
) {
  const rows = db.selectFrom('delivery_runs').select(RUN_COLUMNS).where('org_id', '=', actor.org_id)
  return await newestFirst(rows.$castTo<api.DeliveryRun>(), query)
}

/** Stops a run. A run that has ended stays as it is. Refuses `object_not_found`. */
export async function stopDeliveryRun(
  { db, actor }: Context<typeof api.stopDeliveryRun>,
  { params }: Call<typeof api.stopDeliveryRun>,
) {
  const id = idOf(params.id)
  await db
    .updateTable('delivery_runs')
    .set({ outcome: 'stopped', finished_at: new Date().toISOString() })
    .where('org_id', '=', actor.org_id)
    .where('id', '=', id)
    .where('finished_at', 'is', null)
    .execute()
  const run = db.selectFrom('delivery_runs').select(RUN_COLUMNS).where('org_id', '=', actor.org_id).where('id', '=', id)
  return (await run.$castTo<api.DeliveryRun>().executeTakeFirst()) ?? refuse('object_not_found')
}
