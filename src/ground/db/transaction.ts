/** Transactions whose statements depend on each other; the connection is closed where one failed, because its state is then unknown. */
import type pg from 'pg'

/**
 * Answers what `work` does, which begins and ends a transaction by itself, such as in flights (flight.ts).
 * @throws what `work` or the database throws; with the connection its transaction ends, whatever state that was in
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

/** Answers what `work` does once that is committed. @throws what `work` or the database throws, after nothing was stored */
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
