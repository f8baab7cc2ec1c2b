/**
 * Writes down how deliveries went, batch by batch: the attempt, what becomes of the delivery where this
 * worker still holds it, and what that says about its target.
 */
import type pg from 'pg'
import { ask, flightOf, type Question } from '../db/flight.ts'
import { type BreakerTerms, learn, type SwitchOff } from './breaker.ts'
import type { Claimed } from './claim.ts'
import type { DeliveryFailure } from './api.ts'
import type { Lane } from './lane.ts'
import type { Notice } from './notice.ts'
import { onConnection } from './transaction.ts'

/** How a claimed delivery went, and what becomes of it: `delay_ms` is the wait to the next attempt where the state is pending. */
export type Finished = Pick<Claimed, 'org_id' | 'id' | 'kind' | 'target_id' | 'number' | 'token' | 'isProbe'> & {
  readonly finished_at: string
  readonly status: number | null
  readonly error: string | null
  readonly answer: string | null
  readonly state: 'delivered' | 'failed' | 'pending'
  readonly reason: string | null
  readonly failure: DeliveryFailure | null
  readonly delay_ms: number
  /** Whether the attempt counts towards giving up. */
  readonly isCounted: boolean
  /** Whether the target's connection is dead. */
  readonly isBroken: boolean
}

const FINISH_ATTEMPTS = `
  update delivery_attempts as a
  set finished_at = done.finished_at, status = done.status, error = done.error, answer = done.answer
  from unnest($2::uuid[], $3::int[], $4::timestamptz[], $5::int[], $6::text[], $7::text[])
    as done (id, number, finished_at, status, error, answer)
  where a.org_id = $1 and a.delivery_id = done.id and a.number = done.number`

/** Waits are counted by the database's clock, as the leases are. One success forgets what was counted against its target (breaker.ts). */
const FINISH = `
  with kept as (
    update deliveries as d
    set state = done.state, reason = done.reason, failure = done.failure, run_at = now() + done.delay_ms * interval '1 millisecond',
      finished_at = done.finished_at,
      attempts_uncounted = d.attempts_uncounted + done.uncounted, lease_token = null, lease_until = null
    from unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::timestamptz[], $9::int[])
      as done (id, token, state, reason, failure, delay_ms, finished_at, uncounted)
    where d.org_id = $1 and d.id = done.id and d.lease_token = done.token and d.state = 'pending'
    returning d.id, d.kind, d.target_id, d.state
  ), forgotten as (
    delete from failing_targets f
    using kept
    where f.org_id = $1 and f.kind = kept.kind and f.target_id = kept.target_id and kept.state = 'delivered'
  )
  select id from kept`

/**
 * Writes down how deliveries went, in one transaction for all their organizations, and answers how many of them were still this worker's.
 * The log of an attempt is kept in any case, because the call was made. A target whose connection is dead, or that has only failed for
 * days, is switched off by its lane.
 */
export async function finish(
  pool: pg.Pool,
  lanes: readonly Lane[],
  done: readonly Finished[],
  breaker?: BreakerTerms,
): Promise<{ kept: number; notices: Notice[] }> {
  // In one order everywhere, so that two workers that write about the same organizations never wait for each other.
  const lists = [...Map.groupBy(done, ({ org_id }) => org_id)].sort(([one], [other]) => one - other)
  const isAllWell = done.every(({ state }) => state === 'delivered')
  return await onConnection(pool, async client => {
    const end = isAllWell ? [ask('commit')] : []
    const outcomes = lists.flatMap(([org_id, list]) => outcomeOf(org_id, list))
    const answers = await flightOf<{ id: string }>(client, [ask('begin'), ...outcomes, ...end])
    const kept = new Set(answers.flat().map(({ id }) => id))
    const notices: Notice[] = []
    for (const [org_id, list] of isAllWell ? [] : lists) {
      const mine = list.filter(({ id }) => kept.has(id))
      notices.push(...(await switchOff(client, lanes, org_id, await learn(client, org_id, mine, breaker))))
    }
    if (!isAllWell) await client.query('commit')
    return { kept: kept.size, notices }
  })
}

function outcomeOf(org_id: number, done: readonly Finished[]): Question<{ id: string }>[] {
  const column = <Key extends keyof Finished>(key: Key) => done.map(one => one[key])
  const ids = column('id')
  const log = [column('number'), column('finished_at'), column('status'), column('error'), column('answer')]
  const fates = [
    column('token'),
    column('state'),
    column('reason'),
    column('failure'),
    done.map(({ delay_ms }) => Math.round(delay_ms)),
    done.map(({ state, finished_at }) => (state === 'pending' ? null : finished_at)),
    done.map(({ isCounted }) => (isCounted ? 0 : 1)),
  ]
  return [ask(FINISH, [org_id, ids, ...fates]), ask(FINISH_ATTEMPTS, [org_id, ids, ...log])]
}

/** Tells the lanes, and answers what their owners must be told. */
async function switchOff(
  client: pg.ClientBase,
  lanes: readonly Lane[],
  org_id: number,
  off: readonly SwitchOff[],
): Promise<Notice[]> {
  const notices: Notice[] = []
  for (const { kind, target_id, reason } of off) {
    const lane = lanes.find(one => one.kind === kind)
    const what = await lane?.nameTarget?.(client, org_id, target_id)
    await lane?.switchOff(client, org_id, target_id, reason)
    if (what !== undefined) notices.push({ org_id, what, reason })
  }
  return notices
}
