// Races, step by step: take a lock that the racers need, wait until all of them wait for it, release it.
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
    const running: Promise<T>[] = []
    for (const start of racers) {
      running.push(start())
      await untilWaiting(database, running.length)
    }
    await client.query('commit')
    return await Promise.all(running)
  } finally {
    client.release(true)
  }
}

/** Resolves when `count` statements of this database wait for a lock. Writers on a busy machine also wait for each other to extend a table. */
export async function untilWaiting(database: Database, count: number): Promise<void> {
  await eventually(`${count} wait for a lock`, async () => {
    const { rows } = await database.reads.query<{ waiting: number }>(
      `select count(*)::int as waiting from ${isSharded ? 'citus_stat_activity' : 'pg_stat_activity'} where datname = current_database() and wait_event_type = 'Lock' and wait_event <> 'extend'`,
    )
    return (rows[0]?.waiting ?? 0) >= count
  })
}
