/**
 * How many organizations may share a transaction: on one server many, because one commit then serves them all. A transaction of several
 * organizations would span the nodes of a sharded database, where each is to have its own.
 */
import type pg from 'pg'

/** Enough that with many organizations a batch is as large as with one. */
const MOST = 100

const IS_ONE = "select to_regproc('create_distributed_table') is null as is_one"

/** The answer is one until the database has told what it is; where it could not, it is asked again. */
export function openSharing(pool: pg.Pool): () => number {
  const isOne = asking(pool)
  return () => (isOne() === true ? MOST : 1)
}

/** Whether organizations lie on several nodes, of which one can be away while the others serve; false until that is known. */
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
