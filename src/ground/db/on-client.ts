/** The query builder on a client of a pool, for statements of a transaction that the caller began and ends. */
import { Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'
import type { Tables } from './tables.ts'

/** @returns a builder whose statements run on `client` */
export function builderOn(client: pg.ClientBase): Kysely<Tables> {
  const borrowed = { query: client.query.bind(client), release() {} } as pg.PoolClient
  return new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: { connect: async () => borrowed, options: {}, async end() {} } }),
  })
}
