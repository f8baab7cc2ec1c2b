/**
 * How many organizations may share a transaction. On one server many may, because one commit then serves them all. On a cluster each organization
 * gets its own transaction, because a shared one would span nodes.
 */
import type pg from 'pg'

/** Enough that with many organizations a batch is as large as with one. */
const MOST = 100

const IS_ONE = "select to_regproc('create_distributed_table') is null as is_one"

/** The returned function says 1 until the database is known to be one server. After a failure the database is asked again. */
export function openSharing(pool: pg.Pool): () => number {
  const isOne = asking(pool)
  return () => (isOne() === true ? MOST : 1)
}

/** Whether organizations are on several nodes, one of which can be away while the others serve; false until that is known. */
export function openSharded(pool: pg.Pool): () => boolean {
  const isOne = asking(pool)
  return () => isOne() === false
}

function asking(pool: pg.Pool): () => boolean | undefined {
  let isOne: boolean | undefined
  let asked: Promise<void> | undefined
  const ask = async () => {
    try {
      const { rows } = await pool.query<{ is_one: boolean }>(IS_ONE)
      isOne = rows[0]?.is_one
    } catch {
      asked = undefined
    }
  }
  const answer = () => {
    asked ??= ask()
    return isOne
  }
  answer()
  return answer
}
