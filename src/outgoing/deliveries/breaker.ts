/**
 * Circuit breakers of targets. After some failures in a row a target's breaker opens: only one delivery, the probe, is sent after each pause, until
 * one succeeds. The other deliveries wait without using up attempts. A target that has only failed for days is switched off. Owns
 * `failing_targets`: a row exists from the first failure to the next success. Its times are by the database's clock.
 */
import type { Kysely } from 'kysely'
import type pg from 'pg'
import { DAY_MS, MINUTE_MS } from '../../contract/days.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import { ask, type FlightStatement } from '../../ground/db/flight.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { FinishedDelivery } from './held.ts'
import type { Lane } from './lane.ts'

/**
 * Ten failures distinguish a dead receiver from a short disturbance. For a receiver that lets calls time out, three over half a minute are enough,
 * because ten would take minutes. Pauses double from half a minute to ten minutes, the longest wait for a receiver that has recovered. A target is
 * switched off after five days and twenty failures in a row, so that the eight attempts of a single delivery do not suffice.
 */
export const BREAKER = {
  failures: 10,
  slow_failures: 3,
  slow_ms: MINUTE_MS / 2,
  first_pause_ms: MINUTE_MS / 2,
  longest_pause_ms: 10 * MINUTE_MS,
  off_after_ms: 5 * DAY_MS,
  off_failures: 20,
}
export type BreakerTerms = typeof BREAKER

const FIND_PAUSED = (among: Among) =>
  `select org_id, target_id from failing_targets where kind = $1 and paused_until > now()${among('org_id')}`

/** The targets of one kind, over all organizations, whose breaker is in a pause. */
export async function findPaused(pool: pg.Pool, kind: Lane['kind']): Promise<Set<string>> {
  const { rows } = await askEverywhere<{ target_id: string }>(pool, FIND_PAUSED, [kind])
  return new Set(rows.map(({ target_id }) => target_id))
}

/**
 * Finds the targets among $3 with an open breaker: paused ones get nothing, the others one delivery as a probe. Rows are locked, so that no two
 * workers probe at once. A row locked by another worker counts as paused: waiting for it would block all organizations of this claim. $1 is the
 * organization, $2 the kind.
 */
export const LOCK_OPEN = `
  with mine as (
    select target_id, paused_until > now() as is_paused
    from failing_targets
    where org_id = $1 and kind = $2 and target_id = any($3::uuid[]) and paused_until is not null
    for update skip locked
  )
  select f.target_id, coalesce(mine.is_paused, true) as is_paused
  from failing_targets f
  left join mine on mine.target_id = f.target_id
  where f.org_id = $1 and f.kind = $2 and f.target_id = any($3::uuid[]) and f.paused_until is not null`

// One pause length per statement: Citus refuses an update that combines the clock with a column.
const PAUSE = `
  update failing_targets
  set paused_until = now() + $4::int * interval '1 millisecond', pauses = pauses + $5::int
  where org_id = $1 and kind = $2 and target_id = any($3::uuid[])`

/** Pauses targets while their probes are in progress, in every process. The pause of a lost probe ends with its lease. */
export function pauseForProbes(
  org_id: number,
  kind: Lane['kind'],
  targets: readonly string[],
  lease_ms: number,
): FlightStatement<never> {
  return ask(PAUSE, [org_id, kind, targets, lease_ms, 0])
}

/** Resets the breaker of a target that someone changed or switched on, so that it is tried at once. */
export async function resetBreaker(db: Kysely<Tables>, org_id: number, target_id: string): Promise<void> {
  await db.deleteFrom('failing_targets').where('org_id', '=', org_id).where('target_id', '=', target_id).execute()
}

const RESET = `delete from failing_targets where org_id = $1 and kind = $2 and target_id = any($3::uuid[])`

const COUNT_FAILURES = `
  insert into failing_targets as t (org_id, kind, target_id, failures, failing_since)
  select $1, $2, target_id, failures, now() from unnest($3::uuid[], $4::int[]) as failed (target_id, failures)
  on conflict (org_id, kind, target_id) do update set failures = t.failures + excluded.failures
  returning target_id, failures, pauses, paused_until is not null as is_open,
    (extract(epoch from now() - failing_since) * 1000)::float8 as failing_ms`

type FailingTarget = { target_id: string; failures: number; pauses: number; is_open: boolean; failing_ms: number }

/** A target to be switched off, with the reason. */
export type SwitchOff = { readonly kind: Lane['kind']; readonly target_id: string; readonly reason: string }

/**
 * Counts an organization's failed deliveries against their targets, opens breakers, and returns the targets to switch off. Successes reset the
 * count with the outcome itself (finish.ts).
 */
export async function countFailures(
  client: pg.ClientBase,
  org_id: number,
  done: readonly FinishedDelivery[],
  terms: BreakerTerms = BREAKER,
): Promise<SwitchOff[]> {
  const off: SwitchOff[] = []
  for (const [kind, list] of Map.groupBy(done, one => one.kind)) {
    const broken = new Map(list.filter(({ isBroken }) => isBroken).map(one => [one.target_id, one.reason]))
    for (const [target_id, reason] of broken)
      off.push({ kind, target_id, reason: reason ?? 'the platform refuses the account' })
    const bad = list.filter(
      (one, place) =>
        isAgainstTarget(one) && !broken.has(one.target_id) && !list.slice(place).some(later => isSuccessOf(one, later)),
    )
    if (broken.size > 0) await client.query(RESET, [org_id, kind, [...broken.keys()]])
    if (bad.length > 0) off.push(...(await count(client, org_id, kind, bad, terms)))
  }
  return off
}

/** Whether the later one is a success of the same target. */
const isSuccessOf = ({ target_id }: FinishedDelivery, later: FinishedDelivery) =>
  later.state === 'delivered' && later.target_id === target_id

/** Whether a failure counts against the target. A permanent refusal by an ad platform concerns the conversion instead. */
const isAgainstTarget = ({ state, isCounted, failure }: FinishedDelivery) =>
  state !== 'delivered' && isCounted && failure !== 'rejected'

async function count(
  client: pg.ClientBase,
  org_id: number,
  kind: Lane['kind'],
  bad: readonly FinishedDelivery[],
  terms: BreakerTerms,
): Promise<SwitchOff[]> {
  // In a fixed order, so that two workers with the same targets cannot deadlock.
  const failed = [...Map.groupBy(bad, one => one.target_id)].sort(([one], [other]) => (one < other ? -1 : 1))
  const probed = new Set(bad.filter(({ isProbe }) => isProbe).map(({ target_id }) => target_id))
  const counts = [failed.map(([target_id]) => target_id), failed.map(([, list]) => list.length)]
  const { rows } = await client.query<FailingTarget>(COUNT_FAILURES, [org_id, kind, ...counts])
  const off = rows.filter(
    ({ failing_ms, failures }) => failing_ms >= terms.off_after_ms && failures >= terms.off_failures,
  )
  const isDown = ({ failures, failing_ms }: FailingTarget) =>
    failures >= terms.failures || (failing_ms >= terms.slow_ms && failures >= terms.slow_failures)
  const opening = rows.filter(one => (one.is_open ? probed.has(one.target_id) : isDown(one)))
  if (opening.length > 0) {
    const pauseOf = ({ pauses }: FailingTarget) =>
      Math.min(terms.first_pause_ms * 2 ** Math.min(pauses, 20), terms.longest_pause_ms)
    for (const [pause_ms, list] of Map.groupBy(opening, pauseOf))
      await client.query(PAUSE, [org_id, kind, list.map(one => one.target_id), pause_ms, 1])
  }
  if (off.length > 0) await client.query(RESET, [org_id, kind, off.map(one => one.target_id)])
  const days = Math.round(terms.off_after_ms / DAY_MS)
  const lastOf = (target_id: string) => bad.findLast(one => one.target_id === target_id)?.reason ?? 'no answer'
  return off.map(({ target_id, failures }) => ({
    kind,
    target_id,
    reason: `it has failed every time for ${days} days, ${failures} times in all, last with: ${lastOf(target_id)}`,
  }))
}
