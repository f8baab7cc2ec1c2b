/**
 * Calls that were acknowledged and are run later, because networks do not send again: over the quota, or while the books were held up.
 * Owns `network_calls`. Run with the identity the call would have had at once, so one that a dead process has run half is run again and
 * does nothing twice. Taken under a lease by the database's clock; a row goes when its event, or its refusal, is stored.
 */
import type pg from 'pg'
import type { Among } from '../../ground/db/everywhere.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, organizationsWith } from '../../ground/rounds.ts'
import { type NetworkCall, openCallStore } from './store-calls.ts'

/** A call that waits, with how often it was taken. */
export type WaitingCall = NetworkCall & { readonly id: string; readonly attempts: number }

/** What became of one: `done` and its row goes, `over_quota` and its organization waits, `later` and it is taken again in ten seconds,
 * `early` and it is taken again ever less often. */
export type Ran = 'done' | 'over_quota' | 'later' | 'early'

export type WaitingCalls = {
  /** True once it is stored. False when it is not: too many wait already. Throws what the database throws. */
  put(call: NetworkCall): Promise<boolean>
  /** Finishes what is being run. */
  close(): Promise<void>
}

const POLL_MS = 1000
const PORTION = 100
/** Longer than a conversion may take. */
const LEASE_SECONDS = 90

const NEXT = (among: Among) =>
  `select org_id from network_calls where org_id > $1 and run_at <= now()${among('org_id')} order by org_id limit 1`
// Ids are made in the order calls came.
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
const PUT_OFF =
  "update network_calls set run_at = now() + $3::int * interval '1 second' where org_id = $1 and id = any($2::uuid[])"
const DROP = 'delete from network_calls where org_id = $1 and id = any($2::uuid[])'

/** Opens the store and the loop that empties it; any number of processes may have one. */
export function openWaitingCalls(
  { database, db, log }: Pick<Ground, 'database' | 'db' | 'log'>,
  run: (call: WaitingCall) => Promise<Ran>,
): WaitingCalls {
  const pool = database.worker
  const rounds = openRounds(
    'networks/waiting-calls',
    POLL_MS,
    signal => drain(pool, run, signal),
    error => log.warn({ err: error }, 'calls of networks wait longer; it is tried again'),
  )
  return { put: openCallStore(db), close: () => rounds.close() }
}

/** Runs what is due, organization by organization. */
async function drain(pool: pg.Pool, run: (call: WaitingCall) => Promise<Ran>, signal: AbortSignal): Promise<void> {
  for await (const org_id of organizationsWith(NEXT, pool, signal)) {
    while (!signal.aborted && (await runPortion(pool, org_id, run)));
  }
}

/** Runs what one taking gives, all at once, so that few transactions are made of it. True when there may be more that can be run now. */
async function runPortion(pool: pg.Pool, org_id: number, run: (call: WaitingCall) => Promise<Ran>): Promise<boolean> {
  const { rows } = await pool.query<Omit<WaitingCall, 'received_at'> & { received_at: string }>(TAKE, [org_id])
  const calls = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const ran = await Promise.all(calls.map(row => run({ ...row, received_at: Date.parse(row.received_at) })))
  const idsOf = (outcome: Ran) => calls.filter((_, at) => ran[at] === outcome).map(({ id }) => id)
  for (const [outcome, statement] of [
    ['done', DROP],
    ['later', POSTPONE],
    ['over_quota', GIVE_BACK],
  ] as const) {
    const ids = idsOf(outcome)
    if (ids.length > 0) await pool.query(statement, [org_id, ids])
  }
  const early = Map.groupBy(
    calls.filter((_, at) => ran[at] === 'early'),
    ({ attempts }) => putOffBy(attempts),
  )
  for (const [seconds, of] of early) await pool.query(PUT_OFF, [org_id, of.map(({ id }) => id), seconds])
  return calls.length === PORTION && !ran.includes('over_quota')
}

/** From ten seconds, doubled with each try, to an hour. */
const putOffBy = (attempts: number): number => Math.min(3600, 5 * 2 ** Math.min(attempts, 20))
