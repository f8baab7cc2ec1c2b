/**
 * Takes deliveries from the outbox and writes down how they went. Owns the columns of `deliveries` that change and all of
 * `delivery_attempts`. A claim is a lease by the database's clock with a token: whoever finishes must still hold the token, so a worker
 * that slept past its lease changes nothing (the fence). The attempt is written before it is made, so that a crash leaves it visible.
 */
import type pg from 'pg'
import { newId } from '../contract/ids.ts'
import type { Lane, Outgoing } from './lane.ts'
import { inTransaction } from './transaction.ts'

/** Longer than any call may take, with time to write it down. */
export const LEASE_MS = 60_000

/** A delivery that is this worker's to send, its attempt already written. `number` is that attempt's. */
export type Claimed = {
  readonly org_id: number
  readonly id: string
  readonly target_id: string
  readonly number: number
  readonly token: string
  readonly call: Outgoing
}

type Wanted = { readonly target_id: string; readonly most: number }
type Locked = { id: string; target_id: string; attempts: number; lease_until: string }

const LOCK_DUE = `
  select due.id, due.target_id, due.attempts, now() + $5::int * interval '1 millisecond' as lease_until
  from unnest($3::uuid[], $4::int[]) as wanted (target_id, most)
  cross join lateral (
    select id, target_id, attempts
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
  insert into delivery_attempts (org_id, delivery_id, number, started_at, method, url)
  select $1, id, number, $2, method, url
  from unnest($3::uuid[], $4::int[], $5::text[], $6::text[]) as attempt (id, number, method, url)`

const SKIP = `
  update deliveries as d
  set state = 'skipped', reason = skipped.reason, finished_at = $2
  from unnest($3::uuid[], $4::text[]) as skipped (id, reason)
  where d.org_id = $1 and d.id = skipped.id`

/**
 * Claims up to `most` due deliveries of each target of one organization. Answers those to send, and per target how many were taken:
 * the ones whose lane says so are skipped for good and only counted.
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
    const mosts = wanted.map(({ most }) => most)
    const { rows: locked } = await client.query<Locked>(LOCK_DUE, [org_id, lane.kind, targets, mosts, lease_ms])
    const [first] = locked
    const taken = new Map<string, number>()
    if (first === undefined) return { claimed: [], taken }
    for (const { target_id } of locked) taken.set(target_id, (taken.get(target_id) ?? 0) + 1)
    const composed = await lane.compose(
      client,
      org_id,
      locked.map(({ id }) => id),
    )
    const plans = new Map(composed.map(plan => [plan.id, plan]))
    const token = newId()
    const claimed: Claimed[] = []
    const skipped: { id: string; reason: string }[] = []
    for (const { id, target_id, attempts } of locked) {
      const plan = plans.get(id)
      if (plan !== undefined && 'call' in plan)
        claimed.push({ org_id, id, target_id, number: attempts + 1, token, call: plan.call })
      else skipped.push({ id, reason: plan?.skip ?? 'nothing is known of it any more' })
    }
    const now = new Date().toISOString()
    if (skipped.length > 0)
      await client.query(SKIP, [org_id, now, skipped.map(({ id }) => id), skipped.map(({ reason }) => reason)])
    if (claimed.length > 0) {
      const ids = claimed.map(({ id }) => id)
      await client.query(LEASE, [org_id, ids, token, first.lease_until])
      const columns = [
        claimed.map(({ number }) => number),
        claimed.map(({ call }) => call.method),
        claimed.map(({ call }) => call.url),
      ]
      await client.query(WRITE_ATTEMPTS, [org_id, now, ids, ...columns])
    }
    return { claimed, taken }
  })
}

/** How a claimed delivery went, and what becomes of it: `delay_ms` is the wait to the next attempt where the state is pending. */
export type Finished = Pick<Claimed, 'org_id' | 'id' | 'number' | 'token'> & {
  readonly finished_at: string
  readonly status: number | null
  readonly error: string | null
  readonly answer: string | null
  readonly state: 'delivered' | 'failed' | 'pending'
  readonly reason: string | null
  readonly delay_ms: number
}

const FINISH_ATTEMPTS = `
  update delivery_attempts as a
  set finished_at = done.finished_at, status = done.status, error = done.error, answer = done.answer
  from unnest($2::uuid[], $3::int[], $4::timestamptz[], $5::int[], $6::text[], $7::text[])
    as done (id, number, finished_at, status, error, answer)
  where a.org_id = $1 and a.delivery_id = done.id and a.number = done.number`

const FINISH = `
  update deliveries as d
  set state = done.state, reason = done.reason, run_at = done.run_at, finished_at = done.finished_at, lease_token = null,
    lease_until = null
  from unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::timestamptz[], $7::timestamptz[])
    as done (id, token, state, reason, run_at, finished_at)
  where d.org_id = $1 and d.id = done.id and d.lease_token = done.token and d.state = 'pending'`

/**
 * Writes down how deliveries of one organization went, and answers how many of them were still this worker's. The log of an attempt is
 * kept in any case, because the call was made.
 */
export async function finish(pool: pg.Pool, org_id: number, done: readonly Finished[]): Promise<number> {
  return await inTransaction(pool, async client => {
    const { rows } = await client.query<{ now: string }>('select now()')
    const clock = Date.parse((rows[0]?.now ?? '').replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'))
    const column = <Key extends keyof Finished>(key: Key) => done.map(one => one[key])
    const ids = column('id')
    const log = [column('number'), column('finished_at'), column('status'), column('error'), column('answer')]
    await client.query(FINISH_ATTEMPTS, [org_id, ids, ...log])
    const { rowCount } = await client.query(FINISH, [
      org_id,
      ids,
      column('token'),
      column('state'),
      column('reason'),
      done.map(({ delay_ms }) => new Date(clock + delay_ms).toISOString()),
      done.map(({ state, finished_at }) => (state === 'pending' ? null : finished_at)),
    ])
    return rowCount ?? 0
  })
}
