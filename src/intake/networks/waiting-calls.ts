/**
 * Stored postbacks: acknowledged, but run later, because the quota was used up or recording took too long. Networks do not retry. Owns
 * `network_calls`. A stored postback has the identity it would have had at once, so that one that a dead process left half done can run again
 * without doing anything twice. Taken under a lease by the database's clock; its row is deleted when its event or its refusal is stored.
 */
import type pg from 'pg'
import type { Among } from '../../ground/db/everywhere.ts'
import { openQuiet } from '../../ground/db/quiet.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, organizationsWith } from '../../ground/rounds.ts'
import { type NetworkCall, openCallStore } from './store-calls.ts'

/** A stored postback, with the number of attempts. */
export type WaitingCall = NetworkCall & { readonly id: string; readonly attempts: number }

/** The result of a run. `done`: the row is deleted. `over_quota`: its organization waits. `later`: retried in ten seconds. `early`: retried at
 * growing intervals. */
export type RunResult = 'done' | 'over_quota' | 'later' | 'early'

export type WaitingCalls = {
  /** True once it is stored, false if too many wait already. Throws the database's error. */
  put(call: NetworkCall): Promise<boolean>
  /** Finishes the runs in progress. */
  close(): Promise<void>
}

const POLL_MS = 1000
const PORTION = 100
/** Longer than a conversion may take. */
const LEASE_SECONDS = 90

const NEXT = (among: Among) =>
  `select org_id from network_calls where org_id > $1 and run_at <= now()${among('org_id')} order by org_id limit 1`
// Ids are in the order of arrival.
const TAKE = `
  update network_calls set run_at = now() + interval '${LEASE_SECONDS} seconds', attempts = attempts + 1
  where org_id = $1 and id in (
    select id from network_calls where org_id = $1 and run_at <= now() order by id limit ${PORTION} for update skip locked
  )
  returning org_id, id, network_id, fields, ip, received_at, attempts`
const GIVE_BACK =
  'update network_calls set run_at = now(), attempts = attempts - 1 where org_id = $1 and id = any($2::uuid[])'
const POSTPONE =
  "update network_calls set run_at = now() + interval '10 seconds' where org_id = $1 and id = any($2::uuid[])"
const RETRY_IN =
  "update network_calls set run_at = now() + $3::int * interval '1 second' where org_id = $1 and id = any($2::uuid[])"
const DROP = 'delete from network_calls where org_id = $1 and id = any($2::uuid[])'

/** Opens the store and the periodic job that runs stored postbacks; any number of processes may run it. */
export function openWaitingCalls(
  { database, db, log }: Pick<Ground, 'database' | 'db' | 'log'>,
  run: (call: WaitingCall) => Promise<RunResult>,
): WaitingCalls {
  const pool = database.worker
  const rounds = openRounds(
    'networks/waiting-calls',
    POLL_MS,
    signal => drain(pool, run, signal),
    error => log.warn({ err: error }, 'could not run stored postbacks; retrying'),
    openQuiet(pool, among => `select min(run_at) as at from network_calls where run_at > now()${among('org_id')}`),
  )
  return { put: openCallStore(db), close: () => rounds.close() }
}

/** Runs due postbacks, organization by organization. */
async function drain(
  pool: pg.Pool,
  run: (call: WaitingCall) => Promise<RunResult>,
  signal: AbortSignal,
): Promise<void> {
  for await (const org_id of organizationsWith(NEXT, pool, signal)) {
    while (!signal.aborted && (await runPortion(pool, org_id, run)));
  }
}

/** Takes a portion and runs it concurrently, so that it shares few transactions. True if more may be due. */
async function runPortion(
  pool: pg.Pool,
  org_id: number,
  run: (call: WaitingCall) => Promise<RunResult>,
): Promise<boolean> {
  const { rows } = await pool.query<Omit<WaitingCall, 'received_at'> & { received_at: string }>(TAKE, [org_id])
  const calls = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const results = await Promise.all(calls.map(row => run({ ...row, received_at: Date.parse(row.received_at) })))
  const idsOf = (result: RunResult) => calls.filter((_, at) => results[at] === result).map(({ id }) => id)
  for (const [outcome, statement] of [
    ['done', DROP],
    ['later', POSTPONE],
    ['over_quota', GIVE_BACK],
  ] as const) {
    const ids = idsOf(outcome)
    if (ids.length > 0) await pool.query(statement, [org_id, ids])
  }
  const early = Map.groupBy(
    calls.filter((_, at) => results[at] === 'early'),
    ({ attempts }) => retrySeconds(attempts),
  )
  for (const [seconds, of] of early) await pool.query(RETRY_IN, [org_id, of.map(({ id }) => id), seconds])
  return calls.length === PORTION && !results.includes('over_quota')
}

/** Ten seconds, doubled with each attempt, at most an hour. */
const retrySeconds = (attempts: number): number => Math.min(3600, 5 * 2 ** Math.min(attempts, 20))
