// Races run step by step: hold what the racers need, wait until they all stand before it, let go.
import type { Database } from '../../src/ground/db/connect.ts'
import { eventually } from './eventually.ts'
import { isSharded } from './sharded.ts'

/**
 * Runs `hold` (one statement that locks something) in a transaction of its own, starts the racers one after the other, each once
 * the one before stands still, and lets go when all of them wait for a lock. Answers what they came to.
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

/** Resolves when so many statements of this database wait for a lock. */
export async function untilWaiting(database: Database, count: number): Promise<void> {
  await eventually(`${count} wait for a lock`, async () => {
    const { rows } = await database.reads.query<{ waiting: number }>(
      `select count(*)::int as waiting from ${isSharded ? 'citus_stat_activity' : 'pg_stat_activity'} where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return (rows[0]?.waiting ?? 0) >= count
  })
}
