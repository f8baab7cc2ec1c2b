/**
 * How many organizations may share a transaction: on one server many, because one commit then serves them all. A transaction of several
 * organizations would span the nodes of a sharded database, where each is to have its own.
 */
import type pg from 'pg'

/** Enough that with many organizations a batch is as large as with one. */
const MOST = 100

/** Asks the database once; the answer is one until it is known. */
export function openSharing(pool: pg.Pool): () => number {
  let most = 1
  const ask = pool.query<{ is_one: boolean }>("select to_regproc('create_distributed_table') is null as is_one")
  ask.then(
    ({ rows }) => {
      if (rows[0]?.is_one === true) most = MOST
    },
    () => {},
  )
  return () => most
}
