/**
 * The sign-in library's connection to the database. The library compares Date objects, so its pool keeps node-postgres's own parsers: with
 * times as text, sessions would never expire. The library also replaces database errors with its own, so the original error is recorded
 * here and thrown instead.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { Kysely, PostgresDialect, type PostgresPool } from 'kysely'
import type pg from 'pg'

type AuthDatabase = {
  readonly db: Kysely<object>
  /** Runs a call of the library. Throws the first original database error in place of the library's own. */
  withOriginalErrors<T>(work: () => Promise<T>): Promise<T>
}

/** Opens the library's connection to the database. */
export function openAuthDatabase(pool: pg.Pool): AuthDatabase {
  const faults = new AsyncLocalStorage<{ error?: unknown }>()
  const record = (error: unknown) => {
    const store = faults.getStore()
    if (store !== undefined) store.error ??= error
  }
  const recording: PostgresPool = {
    options: pool.options,
    end: () => pool.end(),
    connect: () =>
      pool.connect().catch((error: unknown) => {
        record(error)
        throw error
      }),
  }
  const log = (event: { level: string; error?: unknown }) => {
    if (event.level === 'error') record(event.error)
  }
  return {
    db: new Kysely<object>({ dialect: new PostgresDialect({ pool: recording }), log }),
    async withOriginalErrors(work) {
      const store: { error?: unknown } = {}
      const [outcome] = await faults.run(store, () => Promise.allSettled([work()]))
      if (store.error !== undefined) throw store.error
      if (outcome.status === 'rejected') throw outcome.reason
      return outcome.value
    },
  }
}
