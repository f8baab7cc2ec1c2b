/**
 * The sign-in library's database. It compares Date objects, so its pool keeps node-postgres's own parsers (with times as text its
 * sessions would never end); and it turns what the database threw into words of its own, so the true error is noted on the way.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { Kysely, PostgresDialect, type PostgresPool } from 'kysely'
import type pg from 'pg'

type AuthDatabase = {
  readonly db: Kysely<object>
  /** Runs work of the library; throws the first error of its database instead of what the library made of it. */
  faithfully<T>(work: () => Promise<T>): Promise<T>
}

/** Opens the library's way to the database. */
export function openAuthDatabase(pool: pg.Pool): AuthDatabase {
  const faults = new AsyncLocalStorage<{ error?: unknown }>()
  const note = (error: unknown) => {
    const store = faults.getStore()
    if (store !== undefined) store.error ??= error
  }
  const noting: PostgresPool = {
    options: pool.options,
    end: () => pool.end(),
    connect: () =>
      pool.connect().catch((error: unknown) => {
        note(error)
        throw error
      }),
  }
  const log = (event: { level: string; error?: unknown }) => {
    if (event.level === 'error') note(event.error)
  }
  return {
    db: new Kysely<object>({ dialect: new PostgresDialect({ pool: noting }), log }),
    async faithfully(work) {
      const store: { error?: unknown } = {}
      const [settled] = await faults.run(store, () => Promise.allSettled([work()]))
      if (store.error !== undefined) throw store.error
      if (settled.status === 'rejected') throw settled.reason
      return settled.value
    },
  }
}
