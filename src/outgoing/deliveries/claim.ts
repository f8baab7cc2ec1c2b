/**
 * Claims deliveries from the outbox. With finish.ts it owns the mutable columns of `deliveries` and all of `delivery_attempts`. A claim is a lease
 * by the database's clock with a token. Finishing checks the token, so a worker whose lease another one has taken over changes nothing. The
 * attempt is written before the call, so that it is visible after a crash.
 */
import type pg from 'pg'
import { MINUTE_MS } from '../../contract/days.ts'
import { newId } from '../../contract/ids.ts'
import { ask, flightOf, type FlightStatement } from '../../ground/db/flight.ts'
import { discardStalePlans } from '../../ground/db/stale-plans.ts'
import { onConnection } from '../../ground/db/transaction.ts'
import { pauseForProbes, LOCK_OPEN } from './breaker.ts'
import type { ClaimedDelivery } from './held.ts'
import type { ComposedDelivery, Lane } from './lane.ts'
import { loggedCall } from './redact.ts'

/** Longer than any call may take, with time to write the outcome. */
export const DELIVERY_LEASE_MS = MINUTE_MS

/** The most deliveries to claim for a target. */
type TargetShare = { readonly org_id: number; readonly target_id: string; readonly most: number }

type LockedDelivery = {
  id: string
  click_id: string
  target_id: string
  attempts: number
  uncounted: number
  isProbe: boolean
  lease_until: string
}

const LOCK_DUE = `
  with open as (${LOCK_OPEN})
  select due.id, due.click_id, due.target_id, due.attempts, due.uncounted, open.target_id is not null as "isProbe",
    now() + $5::int * interval '1 millisecond' as lease_until
  from unnest($3::uuid[], $4::int[]) as wanted (target_id, most)
  left join open on open.target_id = wanted.target_id
  cross join lateral (
    select id, click_id, target_id, attempts, attempts_uncounted as uncounted
    from deliveries
    where org_id = $1 and kind = $2 and target_id = wanted.target_id and state = 'pending' and run_at <= now()
    order by run_at
    limit case when open.target_id is null then wanted.most when open.is_paused then 0 else least(wanted.most, 1) end
    for update skip locked
  ) due`

const CLAIM = `
  update deliveries
  set lease_token = $3, lease_until = $4, run_at = $4, attempts = attempts + 1
  where org_id = $1 and id = any($2::uuid[])`

const WRITE_ATTEMPTS = `
  insert into delivery_attempts (org_id, delivery_id, number, started_at, method, url, body)
  select $1, id, number, $2, method, url, body
  from unnest($3::uuid[], $4::int[], $5::text[], $6::text[], $7::text[]) as attempt (id, number, method, url, body)`

const SKIP = `
  update deliveries as d
  set state = 'skipped', reason = skipped.reason, finished_at = $2, lease_token = null, lease_until = null
  from unnest($3::uuid[], $4::text[]) as skipped (id, reason)
  where d.org_id = $1 and d.id = any($3::uuid[]) and d.id = skipped.id`

/**
 * Claims due deliveries of several targets in one transaction for all their organizations; for a target with an open breaker none, or one as a
 * probe. Does not wait for other workers. Returns the deliveries to send, and the number claimed per target, which includes deliveries that their
 * lane skipped.
 */
export async function claimDeliveries(
  pool: pg.Pool,
  lane: Lane,
  wanted: readonly TargetShare[],
  lease_ms = DELIVERY_LEASE_MS,
): Promise<{ claimed: ClaimedDelivery[]; taken: Map<string, number> }> {
  const lists = [...Map.groupBy(wanted, ({ org_id }) => org_id)]
  return await onConnection(pool, async client => {
    const locked = await lockDue(client, lane.kind, lists, lease_ms)
    const now = new Date().toISOString()
    const claims = await Promise.all(
      locked.map(async ({ org_id, due }) => {
        return planClaim(lane, org_id, due, await lane.compose(client, org_id, due))
      }),
    )
    const writes = claims.flatMap(claim => claimWrites(lane, claim, now, lease_ms))
    await flightOf(client, [...writes, ask(writes.length === 0 ? 'rollback' : 'commit')])
    const taken = new Map<string, number>()
    for (const { target_id } of locked.flatMap(({ due }) => due)) taken.set(target_id, (taken.get(target_id) ?? 0) + 1)
    return { claimed: claims.flatMap(({ claimed }) => claimed), taken }
  })
}

type OrganizationDue = { readonly org_id: number; readonly due: readonly LockedDelivery[] }

/** Begins the transaction and locks due deliveries, by organization. */
async function lockDue(
  client: pg.PoolClient,
  kind: Lane['kind'],
  lists: readonly [number, readonly TargetShare[]][],
  lease_ms: number,
): Promise<OrganizationDue[]> {
  const looks = lists.map(([org_id, list]) => {
    const targets = list.map(({ target_id }) => target_id)
    const most = list.map(one => one.most)
    return ask<LockedDelivery>(LOCK_DUE, [org_id, kind, targets, most, lease_ms])
  })
  const begin = [discardStalePlans(client), ask('begin')].filter(question => question !== undefined)
  const answers = await flightOf<LockedDelivery>(client, [...begin, ...looks])
  const dueLists = answers.slice(begin.length)
  return lists.map(([org_id], at) => ({ org_id, due: dueLists[at] ?? [] })).filter(({ due }) => due.length > 0)
}

type OrganizationClaim = {
  readonly org_id: number
  readonly lease_until: string
  readonly claimed: readonly ClaimedDelivery[]
  readonly skipped: readonly { readonly id: string; readonly reason: string }[]
}

function planClaim(
  { kind }: Lane,
  org_id: number,
  due: readonly LockedDelivery[],
  plans: readonly ComposedDelivery[],
): OrganizationClaim {
  const token = newId()
  const planOf = new Map(plans.map(plan => [plan.id, plan]))
  const claimed: ClaimedDelivery[] = []
  const skipped: { id: string; reason: string }[] = []
  for (const { id, target_id, attempts, uncounted, isProbe } of due) {
    const plan = planOf.get(id)
    if (plan === undefined || 'skip' in plan) {
      skipped.push({ id, reason: plan?.skip ?? 'its conversion or target no longer exists' })
      continue
    }
    const number = attempts + 1
    claimed.push({ org_id, id, kind, target_id, token, number, tries: number - uncounted, isProbe, call: plan.call })
  }
  return { org_id, lease_until: due[0]?.lease_until ?? '', claimed, skipped }
}

function claimWrites(
  { kind }: Lane,
  { org_id, lease_until, claimed, skipped }: OrganizationClaim,
  now: string,
  lease_ms: number,
): FlightStatement<never>[] {
  const writes: FlightStatement<never>[] = []
  if (skipped.length > 0)
    writes.push(ask(SKIP, [org_id, now, skipped.map(({ id }) => id), skipped.map(({ reason }) => reason)]))
  const [first] = claimed
  if (first === undefined) return writes
  const ids = claimed.map(({ id }) => id)
  const loggedCalls = claimed.map(({ call }) => loggedCall(call))
  const attempts = [
    claimed.map(({ number }) => number),
    claimed.map(({ call }) => call.method),
    loggedCalls.map(({ url }) => url),
    loggedCalls.map(({ body }) => body),
  ]
  writes.push(ask(CLAIM, [org_id, ids, first.token, lease_until]), ask(WRITE_ATTEMPTS, [org_id, now, ids, ...attempts]))
  const probed = claimed.filter(({ isProbe }) => isProbe).map(({ target_id }) => target_id)
  if (probed.length > 0) writes.push(pauseForProbes(org_id, kind, probed, lease_ms))
  return writes
}
