/** The worker's part of runs over the past. It queues deliveries in batches, so that current ones never wait long. */
import type pg from 'pg'
import type { Logger } from 'pino'
import { newId } from '../../contract/ids.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import { inTransaction } from '../../ground/db/transaction.ts'
import { openQuiet } from '../../ground/db/quiet.ts'
import { openRounds, type Rounds } from '../../ground/rounds.ts'
import type { Lane, PastConversion, RunBatch, RunPosition } from './lane.ts'
import { resendNext } from './resend.ts'

const POLL_MS = 1000
const BATCH_DELIVERIES = 200
/** A run waits while more deliveries than this are due, because deliveries are sent in the order they became due. */
const BACKLOG = 500

// Leaves out organizations whose deliveries are held, and those with a long queue that is not paused by a breaker.
const FIND_RUNS = (among: Among) => `
  select r.org_id, r.id
  from delivery_runs r
  join balances b on b.org_id = r.org_id${among('b.org_id')}
  where r.finished_at is null and not (b.hold_when_empty and b.balance < 0)
    and (
      select count(*) from (
        select 1 from deliveries d
        where d.org_id = r.org_id and d.state = 'pending' and d.run_at <= now()${among('d.org_id')}
          and not exists (
            select 1 from failing_targets f
            where f.org_id = d.org_id and f.kind = d.kind and f.target_id = d.target_id and f.paused_until > now()${among('f.org_id')})
        limit ${BACKLOG}
      ) due
    ) < ${BACKLOG}${among('r.org_id')}`

// The balance row is locked first, as by everything that creates deliveries, so that a run and a batch of conversions never conflict over one
// person. The lock also checks again whether deliveries are held, because a conversion may have used up the balance meanwhile.
const LOCK_BALANCE = `
  select clock_timestamp() as at
  from (select org_id from balances where org_id = $1 and not (hold_when_empty and balance < 0) for update) locked`

const LOCK_RUN = `
  select org_id, id, kind, target_id, campaign_id, only_state, only_failure, date_from::text, date_to::text, after_at::text, after_id,
    created_at::text
  from delivery_runs
  where org_id = $1 and id = $2 and finished_at is null
  for update skip locked`

const MOVE_RUN = `
  update delivery_runs
  set done = done + $3, after_at = $4, after_id = $5, outcome = $6, finished_at = $7
  where org_id = $1 and id = $2`

type LockedRun = RunPosition & { readonly kind: 'resend' | 'backfill' }

/** Queues a batch of every run that may continue. Returns the number of deliveries. */
export async function continueRuns(pool: pg.Pool, lanes: readonly Lane[], most = BATCH_DELIVERIES): Promise<number> {
  const { rows } = await askEverywhere<{ org_id: number; id: string }>(pool, FIND_RUNS)
  let total = 0
  for (const { org_id, id } of rows) {
    total += await inTransaction(pool, async client => {
      const { rows: balances } = await client.query<{ at: string }>(LOCK_BALANCE, [org_id])
      const [balance] = balances
      if (balance === undefined) return 0
      const { rows: locked } = await client.query<LockedRun>(LOCK_RUN, [org_id, id])
      const [run] = locked
      if (run === undefined) return 0
      const { done, after_at, after_id, isOver } = await queueNext(client, lanes, run, balance.at, most)
      const end = isOver ? ['done', balance.at] : [null, null]
      await client.query(MOVE_RUN, [org_id, id, done, after_at, after_id, ...end])
      return done
    })
  }
  return total
}

async function queueNext(
  client: pg.ClientBase,
  lanes: readonly Lane[],
  run: LockedRun,
  at: string,
  most: number,
): Promise<RunBatch> {
  if (run.kind === 'resend') return await resendNext(client, run, most)
  // A target belongs to one lane; the others find nothing.
  for (const lane of lanes) {
    const conversions = (await lane.findPast?.(client, run, most)) ?? []
    const last = conversions.at(-1)
    if (last === undefined) continue
    const done = await insertDeliveries(client, lane, run, at, conversions)
    return { done, after_at: last.created_at, after_id: last.id, isOver: conversions.length < most }
  }
  return { done: 0, after_at: run.after_at, after_id: run.after_id, isOver: true }
}

const INSERT = `
  insert into deliveries (org_id, kind, target_id, state, attempts, run_at, created_at, id, event_id, click_id, campaign_id, person_id)
  select $1, $2, $3, 'pending', 0, now(), $4, t.*
  from unnest($5::uuid[], $6::uuid[], $7::uuid[], $8::uuid[], $9::uuid[]) as t (id, event_id, click_id, campaign_id, person_id)
  on conflict do nothing
  returning id`

/** Inserts the deliveries that the conversions would have created. Existing ones stay as they are. */
async function insertDeliveries(
  client: pg.ClientBase,
  { kind }: Lane,
  { org_id, target_id }: LockedRun,
  at: string,
  conversions: readonly PastConversion[],
): Promise<number> {
  // Counts returned rows, because a cluster's row count includes conflicts.
  const { rows } = await client.query(INSERT, [
    org_id,
    kind,
    target_id,
    at,
    conversions.map(() => newId()),
    conversions.map(({ id }) => id),
    conversions.map(({ click_id }) => click_id),
    conversions.map(({ campaign_id }) => campaign_id),
    conversions.map(({ person_id }) => person_id),
  ])
  return rows.length
}

/** Continues runs, and calls `wake` after queueing deliveries. */
export function openRuns(pool: pg.Pool, lanes: readonly Lane[], wake: () => void, log: Logger): Rounds {
  const continueAndWake = async () => {
    if ((await continueRuns(pool, lanes)) > 0) wake()
  }
  const onError = (error: unknown) => log.error({ err: error }, 'could not continue a run over the past; retrying')
  return openRounds('deliveries/portions', POLL_MS, continueAndWake, onError, openQuiet(pool))
}
