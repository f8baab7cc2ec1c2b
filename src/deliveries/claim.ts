/**
 * Takes deliveries from the outbox. With finish.ts it owns the columns of `deliveries` that change and all of `delivery_attempts`. A claim is a lease by the database's clock with a token: whoever finishes must still hold the token, so a worker
 * that slept past its lease changes nothing (the fence). The attempt is written before it is made, so that a crash leaves it visible.
 */
import type pg from 'pg'
import { newId } from '../contract/ids.ts'
import { holdForProbes, lockOpen } from './breaker.ts'
import type { Composed, Lane, Outgoing } from './lane.ts'
import { shownOf } from './redact.ts'
import { inTransaction } from './transaction.ts'

/** Longer than any call may take, with time to write it down. */
export const LEASE_MS = 60_000

/**
 * A delivery that is this worker's to send, its attempt already written. `number` is that attempt's, `tries` counts those that count
 * towards giving up, this one included.
 */
export type Claimed = {
  readonly org_id: number
  readonly id: string
  readonly kind: Lane['kind']
  readonly target_id: string
  readonly number: number
  readonly tries: number
  /** Whether it tries on behalf of a target whose breaker is open. */
  readonly isProbe: boolean
  readonly token: string
  readonly call: Outgoing
}

type Wanted = { readonly target_id: string; readonly most: number }
type Locked = { id: string; target_id: string; attempts: number; uncounted: number; lease_until: string }

const LOCK_DUE = `
  select due.id, due.target_id, due.attempts, due.uncounted, now() + $5::int * interval '1 millisecond' as lease_until
  from unnest($3::uuid[], $4::int[]) as wanted (target_id, most)
  cross join lateral (
    select id, target_id, attempts, attempts_uncounted as uncounted
    from deliveries
    where org_id = $1 and kind = $2 and target_id = wanted.target_id and state = 'pending' and run_at <= now()
    order by run_at
    limit wanted.most
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
  set state = 'skipped', reason = skipped.reason, finished_at = $2
  from unnest($3::uuid[], $4::text[]) as skipped (id, reason)
  where d.org_id = $1 and d.id = skipped.id`

/**
 * Claims up to `most` due deliveries of each target of one organization; of a target whose breaker is open none, or one as a probe. Answers
 * those to send, and per target how many were taken: the ones whose lane says so are skipped for good and only counted.
 */
export async function claimDue(
  pool: pg.Pool,
  lane: Lane,
  org_id: number,
  wanted: readonly Wanted[],
  lease_ms = LEASE_MS,
): Promise<{ claimed: Claimed[]; taken: Map<string, number> }> {
  return await inTransaction(pool, async client => {
    const targets = wanted.map(({ target_id }) => target_id)
    const open = await lockOpen(client, org_id, lane.kind, targets)
    const most = new Map(wanted.map(one => [one.target_id, mayTake(one, open)]))
    const lock = [org_id, lane.kind, [...most.keys()], [...most.values()], lease_ms]
    const { rows: locked } = await client.query<Locked>(LOCK_DUE, lock)
    const taken = new Map<string, number>()
    for (const { target_id } of locked) taken.set(target_id, (taken.get(target_id) ?? 0) + 1)
    const [first] = locked
    if (first === undefined) return { claimed: [], taken }
    const ids = locked.map(({ id }) => id)
    const plans = new Map((await lane.compose(client, org_id, ids)).map(plan => [plan.id, plan]))
    const { claimed, skipped } = split(lane, org_id, locked, plans, open)
    const now = new Date().toISOString()
    if (skipped.length > 0)
      await client.query(SKIP, [org_id, now, skipped.map(({ id }) => id), skipped.map(({ reason }) => reason)])
    if (claimed.length > 0) await writeClaims(client, org_id, claimed, first.lease_until, now)
    const probed = claimed.filter(({ isProbe }) => isProbe).map(({ target_id }) => target_id)
    await holdForProbes(client, org_id, lane.kind, probed, lease_ms)
    return { claimed, taken }
  })
}

type Open = ReadonlyMap<string, 'paused' | 'probe'>

function mayTake({ target_id, most }: Wanted, open: Open): number {
  const state = open.get(target_id)
  return state === undefined ? most : state === 'probe' ? Math.min(1, most) : 0
}

type Skipped = { id: string; reason: string }

function split(
  { kind }: Lane,
  org_id: number,
  locked: readonly Locked[],
  plans: ReadonlyMap<string, Composed>,
  open: Open,
): { claimed: Claimed[]; skipped: Skipped[] } {
  const token = newId()
  const claimed: Claimed[] = []
  const skipped: Skipped[] = []
  for (const { id, target_id, attempts, uncounted } of locked) {
    const plan = plans.get(id)
    if (plan === undefined || 'skip' in plan) {
      skipped.push({ id, reason: plan?.skip ?? 'nothing is known of it any more' })
      continue
    }
    const number = attempts + 1
    const counts = { number, tries: number - uncounted, isProbe: open.has(target_id) }
    claimed.push({ org_id, id, kind, target_id, token, ...counts, call: plan.call })
  }
  return { claimed, skipped }
}

async function writeClaims(
  client: pg.ClientBase,
  org_id: number,
  claimed: readonly Claimed[],
  lease_until: string,
  now: string,
): Promise<void> {
  const ids = claimed.map(({ id }) => id)
  const shown = claimed.map(({ call }) => shownOf(call))
  const attempts = [
    claimed.map(({ number }) => number),
    claimed.map(({ call }) => call.method),
    shown.map(({ url }) => url),
    shown.map(({ body }) => body),
  ]
  await Promise.all([
    client.query(LEASE, [org_id, ids, claimed[0]?.token, lease_until]),
    client.query(WRITE_ATTEMPTS, [org_id, now, ids, ...attempts]),
  ])
}
