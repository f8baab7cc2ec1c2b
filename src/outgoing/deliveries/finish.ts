/**
 * Writes down how deliveries went, batch by batch: the attempt, what becomes of the delivery where this worker still holds it, and what
 * that says about its target.
 */
import type pg from 'pg'
import { ask, flightOf, type Question } from '../../ground/db/flight.ts'
import { onConnection } from '../../ground/db/transaction.ts'
import { type BreakerTerms, learn, type SwitchOff } from './breaker.ts'
import type { Finished } from './held.ts'
import type { Lane } from './lane.ts'
import type { Notice } from './notice.ts'

/**
 * One delivery each, by its primary key: for a list the planner may read all that an organization has waiting instead. Only who holds a
 * delivery has its token, and whoever ends it takes that away. Waits are counted by the database's clock, as the leases are. A success
 * forgets what was counted against its target (breaker.ts).
 */
const FINISH = `
  with logged as (
    update delivery_attempts
    set finished_at = $4, status = $5, error = $6, answer = $7
    where org_id = $1 and delivery_id = $2 and number = $3
  ), kept as (
    update deliveries
    set state = $9, reason = $10, failure = $11, run_at = now() + $12::bigint * interval '1 millisecond', finished_at = $13,
      attempts_uncounted = attempts_uncounted + $14, lease_token = null, lease_until = null
    where org_id = $1 and id = $2 and lease_token = $8
    returning id, kind, target_id, state
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
    const outcomes = lists.flatMap(([, list]) => list.map(outcomeOf))
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

function outcomeOf(one: Finished): Question<{ id: string }> {
  const log = [one.finished_at, one.status, one.error, one.answer]
  const ended_at = one.state === 'pending' ? null : one.finished_at
  const fate = [one.state, one.reason, one.failure, Math.round(one.delay_ms), ended_at, one.isCounted ? 0 : 1]
  return ask(FINISH, [one.org_id, one.id, one.number, ...log, one.token, ...fate])
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
