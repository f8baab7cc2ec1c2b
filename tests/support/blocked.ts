// Races, step by step: take a lock that the racers need, wait until all of them wait for it, release it.
import type pg from 'pg'
import type { Database } from '../../src/ground/db/connect.ts'
import { eventually } from './eventually.ts'
import { isSharded } from './sharded.ts'

/**
 * Runs `hold` (one statement that takes a lock) in its own transaction, starts the racers one after another, each once
 * the previous one waits for a lock, and commits when all of them wait. Returns their results.
 */
export async function raceInto<T>(
  database: Database,
  hold: string,
  racers: readonly (() => Promise<T>)[],
): Promise<T[]> {
  const client = await database.worker.connect()
  try {
    await client.query('begin')
    await client.query(hold)
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    const running: Promise<T>[] = []
    for (const start of racers) {
      running.push(start())
      await untilWaiting(database, running.length, rows[0]?.pid)
    }
    await client.query('commit')
    return await Promise.all(running)
  } finally {
    client.release(true)
  }
}

const CANCEL_WAITING = `
  select count(pg_cancel_backend(pid)) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`

/**
 * Asks while `hold` (one statement that takes a lock) holds its lock, and cancels the statements that wait for it, as after the limit of five seconds,
 * without waiting for it. Returns the answer.
 */
export async function givenUpBehind<T>(database: Database, hold: string, ask: () => Promise<T>): Promise<T> {
  const holding = await database.worker.connect()
  // Not of the pool: its other connections may themselves wait for the lock.
  const cancelling = database.dedicated()
  try {
    await cancelling.connect()
    await holding.query('set idle_in_transaction_session_timeout = 0')
    await holding.query('begin')
    await holding.query(hold)
    let isUnderWay = true
    const answers = ask().finally(() => void (isUnderWay = false))
    await eventually('all of it is given up', async () => {
      await onEveryNode(cancelling, CANCEL_WAITING)
      return !isUnderWay
    })
    return await answers
  } finally {
    holding.release(true)
    await cancelling.end()
  }
}

/** Runs a statement whose result does not matter; on a cluster on each node, because any may be where something waits. */
async function onEveryNode(client: pg.Client, statement: string): Promise<void> {
  if (isSharded) await client.query('select success from run_command_on_all_nodes($1)', [statement])
  else await client.query(statement)
}

/** Of one server: the statements that wait for `$1`, or for one that waits for it. A busy machine has other waits, such as for room in a table. */
const WAITING_FOR = `
  with recursive blocked as (
    select pid from pg_stat_activity where $1 = any(pg_blocking_pids(pid))
    union select a.pid from pg_stat_activity a join blocked b on b.pid = any(pg_blocking_pids(a.pid))
  ) select count(*)::int as waiting from blocked`

const waitingIn = (activity: string) =>
  `select count(*)::int as waiting from ${activity} where datname = current_database() and wait_event_type = 'Lock'`

/** Resolves when `count` statements of this database wait for a lock: for one that the connection `holder` has, if it is given. */
export async function untilWaiting(database: Database, count: number, holder?: number): Promise<void> {
  await eventually(`${count} wait for a lock`, async () => {
    const { rows } =
      isSharded || holder === undefined
        ? await database.reads.query<{ waiting: number }>(
            waitingIn(isSharded ? 'citus_stat_activity' : 'pg_stat_activity'),
          )
        : await database.reads.query<{ waiting: number }>(WAITING_FOR, [holder])
    return (rows[0]?.waiting ?? 0) >= count
  })
}
