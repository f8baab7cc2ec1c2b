/** Transactions whose statements depend on each other. After a failure the connection is closed, because its state is unknown. */
import type pg from 'pg'

/**
 * Runs `work`, which begins and ends its own transaction, such as in flights (flight.ts), and returns its result.
 * @throws the error of `work` or the database; the connection and its transaction are then ended
 */
export async function onConnection<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    const result = await work(client)
    client.release()
    return result
  } catch (error) {
    client.release(true)
    throw error
  }
}

/** Runs `work` in a transaction and returns its result after the commit. @throws the error of `work` or the database; nothing is stored then */
export async function inTransaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let fault: unknown
  try {
    await client.query('begin')
    const result = await work(client)
    await client.query('commit')
    return result
  } catch (error) {
    fault = error
    await client.query('rollback').catch(() => {})
    throw error
  } finally {
    client.release(fault !== undefined)
  }
}
