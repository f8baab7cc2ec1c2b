/** One transaction for a whole deed: the transactions that the deed begins join it, and what follows a commit waits for the end of it. */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Tables } from './tables.ts'

type Afterwards = ((db: Kysely<Tables>) => Promise<void>)[]

/** What waits for the end of each transaction that others join. */
const waiting = new WeakMap<Kysely<Tables>, Afterwards>()

/**
 * Runs `work` in a transaction, and then what it left to `afterCommit`. `trx.transaction().execute(…)` joins this transaction: if the inner work
 * throws, only its own writes are rolled back. In a transaction of this kind, `work` joins it.
 * @throws the error of `work` or the database; nothing is stored then
 */
export async function inOneTransaction<T>(
  db: Kysely<Tables>,
  work: (trx: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  if (waiting.has(db)) return await work(db as Transaction<Tables>)
  const afterwards: Afterwards = []
  const result = await db.transaction().execute(async trx => {
    waiting.set(trx, afterwards)
    Object.defineProperty(trx, 'transaction', { value: () => ({ execute: join(trx) }) })
    return await work(trx)
  })
  for (const then of afterwards) await then(db)
  return result
}

/** Thrown by `rehearse` to roll back work that succeeded. */
class Rehearsed extends Error {
  readonly result: unknown
  constructor(result: unknown) {
    super('rehearsed')
    this.result = result
  }
}

/**
 * Runs `work` as `inOneTransaction` does, returns its result, and keeps nothing of it: neither its writes nor what it left to `afterCommit`. Calls to
 * other services are not taken back, so `work` must not make any.
 * @throws the error of `work` or the database
 */
export async function rehearse<T>(db: Kysely<Tables>, work: (trx: Transaction<Tables>) => Promise<T>): Promise<T> {
  const afterwards = waiting.get(db)
  const left = afterwards?.length ?? 0
  const attempt = async (trx: Transaction<Tables>): Promise<never> => {
    throw new Rehearsed(await work(trx))
  }
  try {
    return await (afterwards === undefined ? inOneTransaction(db, attempt) : db.transaction().execute(attempt))
  } catch (error) {
    if (error instanceof Rehearsed) return error.result as T
    throw error
  } finally {
    if (afterwards !== undefined) afterwards.length = left
  }
}

function join(trx: Transaction<Tables>) {
  return async <T>(work: (trx: Transaction<Tables>) => Promise<T>): Promise<T> => {
    await sql`savepoint joined`.execute(trx)
    try {
      const result = await work(trx)
      await sql`release savepoint joined`.execute(trx)
      return result
    } catch (error) {
      // The rollback keeps the savepoint, which would hide the one of the same name around it.
      await sql`rollback to savepoint joined`
        .execute(trx)
        .then(() => sql`release savepoint joined`.execute(trx))
        .catch(() => {})
      throw error
    }
  }
}

/** Runs `then` with the database once the transaction `db` is committed; at once if `db` is no such transaction. */
export async function afterCommit(db: Kysely<Tables>, then: (db: Kysely<Tables>) => Promise<void>): Promise<void> {
  const afterwards = waiting.get(db)
  if (afterwards === undefined) await then(db)
  else afterwards.push(then)
}
