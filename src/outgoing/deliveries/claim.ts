/**
 * Takes deliveries from the outbox. With finish.ts it owns the columns of `deliveries` that change and all of `delivery_attempts`. A claim
 * is a lease by the database's clock with a token: whoever finishes must still hold the token, so a worker that slept past its lease
 * changes nothing (the fence). The attempt is written before it is made, so that a crash leaves it visible.
 */
import type pg from 'pg'
import { newId } from '../../contract/ids.ts'
import { ask, flightOf, type Question } from '../../ground/db/flight.ts'
import { discardStalePlans } from '../../ground/db/stale-plans.ts'
import { onConnection } from '../../ground/db/transaction.ts'
import { holdForProbes, LOCK_OPEN } from './breaker.ts'
import type { Claimed } from './held.ts'
import type { Composed, Lane } from './lane.ts'
import { shownOf } from './redact.ts'

/** Longer than any call may take, with time to write it down. */
export const LEASE_MS = 60_000

/** How many deliveries of a target may be taken. */
type Wanted = { readonly org_id: number; readonly target_id: string; readonly most: number }

type Locked = {
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

const LEASE = `
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
 * Claims due deliveries of several targets, in one transaction for all their organizations; of a target whose breaker is open none, or
 * one as a probe. Nothing here waits for another worker. Answers those to send, and per target how many were taken: the ones whose lane
 * says so are skipped for good and only counted.
 */
export async function claimDue(
  pool: pg.Pool,
  lane: Lane,
  wanted: readonly Wanted[],
  lease_ms = LEASE_MS,
): Promise<{ claimed: Claimed[]; taken: Map<string, number> }> {
  const lists = [...Map.groupBy(wanted, ({ org_id }) => org_id)]
  return await onConnection(pool, async client => {
    const locked = await lockDue(client, lane.kind, lists, lease_ms)
    const now = new Date().toISOString()
    const claims = await Promise.all(
      locked.map(async ({ org_id, due }) => {
        return split(lane, org_id, due, await lane.compose(client, org_id, due))
      }),
    )
    const writes = claims.flatMap(claim => claimWrites(lane, claim, now, lease_ms))
    await flightOf(client, [...writes, ask(writes.length === 0 ? 'rollback' : 'commit')])
    const taken = new Map<string, number>()
    for (const { target_id } of locked.flatMap(({ due }) => due)) taken.set(target_id, (taken.get(target_id) ?? 0) + 1)
    return { claimed: claims.flatMap(({ claimed }) => claimed), taken }
  })
}

type DueOf = { readonly org_id: number; readonly due: readonly Locked[] }

/** Begins the transaction, and answers the organizations that have something due. */
async function lockDue(
  client: pg.PoolClient,
  kind: Lane['kind'],
  lists: readonly [number, readonly Wanted[]][],
  lease_ms: number,
): Promise<DueOf[]> {
  const looks = lists.map(([org_id, list]) => {
    const targets = list.map(({ target_id }) => target_id)
    const most = list.map(one => one.most)
    return ask<Locked>(LOCK_DUE, [org_id, kind, targets, most, lease_ms])
  })
  const begin = [discardStalePlans(client), ask('begin')].filter(question => question !== undefined)
  const answers = await flightOf<Locked>(client, [...begin, ...looks])
  const found = answers.slice(begin.length)
  return lists.map(([org_id], at) => ({ org_id, due: found[at] ?? [] })).filter(({ due }) => due.length > 0)
}

type Claim = {
  readonly org_id: number
  readonly lease_until: string
  readonly claimed: readonly Claimed[]
  readonly skipped: readonly { readonly id: string; readonly reason: string }[]
}

function split({ kind }: Lane, org_id: number, due: readonly Locked[], plans: readonly Composed[]): Claim {
  const token = newId()
  const planOf = new Map(plans.map(plan => [plan.id, plan]))
  const claimed: Claimed[] = []
  const skipped: { id: string; reason: string }[] = []
  for (const { id, target_id, attempts, uncounted, isProbe } of due) {
    const plan = planOf.get(id)
    if (plan === undefined || 'skip' in plan) {
      skipped.push({ id, reason: plan?.skip ?? 'nothing is known of it any more' })
      continue
    }
    const number = attempts + 1
    claimed.push({ org_id, id, kind, target_id, token, number, tries: number - uncounted, isProbe, call: plan.call })
  }
  return { org_id, lease_until: due[0]?.lease_until ?? '', claimed, skipped }
}

function claimWrites(
  { kind }: Lane,
  { org_id, lease_until, claimed, skipped }: Claim,
  now: string,
  lease_ms: number,
): Question<never>[] {
  const writes: Question<never>[] = []
  if (skipped.length > 0)
    writes.push(ask(SKIP, [org_id, now, skipped.map(({ id }) => id), skipped.map(({ reason }) => reason)]))
  const [first] = claimed
  if (first === undefined) return writes
  const ids = claimed.map(({ id }) => id)
  const shown = claimed.map(({ call }) => shownOf(call))
  const attempts = [
    claimed.map(({ number }) => number),
    claimed.map(({ call }) => call.method),
    shown.map(({ url }) => url),
    shown.map(({ body }) => body),
  ]
  writes.push(ask(LEASE, [org_id, ids, first.token, lease_until]), ask(WRITE_ATTEMPTS, [org_id, now, ids, ...attempts]))
  const probed = claimed.filter(({ isProbe }) => isProbe).map(({ target_id }) => target_id)
  if (probed.length > 0) writes.push(holdForProbes(org_id, kind, probed, lease_ms))
  return writes
}
