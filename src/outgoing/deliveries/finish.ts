/**
 * Writes the outcomes of deliveries in batches: the attempt, the next state of the delivery if this worker's claim still holds, and the failure
 * count of its target.
 */
import type pg from 'pg'
import { ask, flightOf, type FlightStatement } from '../../ground/db/flight.ts'
import { onConnection } from '../../ground/db/transaction.ts'
import { type BreakerTerms, countFailures, type SwitchOff } from './breaker.ts'
import type { FinishedDelivery } from './held.ts'
import type { Lane } from './lane.ts'
import type { SwitchOffNotice } from './notice.ts'

/**
 * One statement per delivery, by primary key: for a list the planner may scan all waiting deliveries of an organization. It applies only while the
 * claim's token is in the row, and removes the token, which releases the delivery. Waits are by the database's clock, like leases. A success resets
 * the target's breaker (breaker.ts).
 */
const RELEASE = `
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
 * Writes the outcomes in one transaction for all their organizations, and returns how many deliveries this worker still held. The log of an attempt
 * is written in any case, because the call was made. Lanes switch off targets that are broken or have failed every time for days.
 */
export async function finishDeliveries(
  pool: pg.Pool,
  lanes: readonly Lane[],
  done: readonly FinishedDelivery[],
  breaker?: BreakerTerms,
): Promise<{ kept: number; notices: SwitchOffNotice[] }> {
  // In a fixed order, so that two workers with the same organizations cannot deadlock.
  const lists = [...Map.groupBy(done, ({ org_id }) => org_id)].sort(([one], [other]) => one - other)
  const isAllWell = done.every(({ state }) => state === 'delivered')
  return await onConnection(pool, async client => {
    const end = isAllWell ? [ask('commit')] : []
    const outcomes = lists.flatMap(([, list]) => list.map(outcomeOf))
    const answers = await flightOf<{ id: string }>(client, [ask('begin'), ...outcomes, ...end])
    const kept = new Set(answers.flat().map(({ id }) => id))
    const notices: SwitchOffNotice[] = []
    for (const [org_id, list] of isAllWell ? [] : lists) {
      const mine = list.filter(({ id }) => kept.has(id))
      notices.push(...(await switchOff(client, lanes, org_id, await countFailures(client, org_id, mine, breaker))))
    }
    if (!isAllWell) await client.query('commit')
    return { kept: kept.size, notices }
  })
}

function outcomeOf(delivery: FinishedDelivery): FlightStatement<{ id: string }> {
  const log = [delivery.finished_at, delivery.status, delivery.error, delivery.answer]
  const ended_at = delivery.state === 'pending' ? null : delivery.finished_at
  const nextState = [
    delivery.state,
    delivery.reason,
    delivery.failure,
    Math.round(delivery.delay_ms),
    ended_at,
    delivery.isCounted ? 0 : 1,
  ]
  return ask(RELEASE, [delivery.org_id, delivery.id, delivery.number, ...log, delivery.token, ...nextState])
}

/** Switches the targets off and returns the notices for their owners. */
async function switchOff(
  client: pg.ClientBase,
  lanes: readonly Lane[],
  org_id: number,
  off: readonly SwitchOff[],
): Promise<SwitchOffNotice[]> {
  const notices: SwitchOffNotice[] = []
  for (const { kind, target_id, reason } of off) {
    const lane = lanes.find(one => one.kind === kind)
    const what = await lane?.nameTarget?.(client, org_id, target_id)
    await lane?.switchOff(client, org_id, target_id, reason)
    if (what !== undefined) notices.push({ org_id, what, reason })
  }
  return notices
}
