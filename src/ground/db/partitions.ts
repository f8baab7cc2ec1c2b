// The monthly partitions of tables whose ids are UUIDv7s. They are created ahead, so that the default partition stays empty, and dropped when they are
// old. If one is missing, its rows go to the default partition: nothing is lost, but they cannot be dropped as a whole month.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import type { Logger } from 'pino'
import { DAY_MS } from '../../contract/days.ts'
import { firstIdAt } from '../../contract/ids.ts'
import { isThereAlready, sqlState } from './faults.ts'
import type { Tables } from './tables.ts'

/** A table with monthly partitions. Its ids are UUIDv7s, and `<table>_default` has the rows of months without a partition. */
type MonthlyTable = 'clicks' | 'history'

const MONTHS_AHEAD = 3
const CHECK_VIOLATION = '23514'
const TRIES = 4
/** Makes a cluster's other nodes keep this transaction's lock timeout; without a cluster it has no effect. */
const ON_ALL_NODES = sql`set local citus.propagate_set_commands = 'local'`
const LOCK_NOT_AVAILABLE = '55P03'
const NEEDED = new Error('its rows are still needed')
/** A pause between two tries at the lock, so that the rows that waited behind the first can go on. */
const BREATH_MS = 500

/**
 * Creates the missing partitions for rows made from `from_ms` to `to_ms` (Unix ms), for new rows or before past rows are loaded. Returns the names
 * of those it created. `db` is `Database.schema`. A month with rows in the default partition is skipped.
 * @throws the database's other errors.
 */
export async function ensurePartitions(
  db: Kysely<Tables>,
  table: MonthlyTable,
  from_ms: number,
  to_ms: number,
  log?: Logger,
): Promise<string[]> {
  const existing = await existingPartitions(db, table)
  const made: string[] = []
  for (let start = monthOf(from_ms); start <= to_ms; start = monthAfter(start)) {
    const name = nameOf(table, start)
    if (!existing.has(name) && (await createPartition(db, table, start, log))) made.push(name)
  }
  return made
}

/** Creates the partitions of this month and the next three, now and once a day until it is closed. Logs a failure and retries it the next day. */
export async function keepPartitions(db: Kysely<Tables>, table: MonthlyTable, log: Logger): Promise<{ close(): void }> {
  const ensure = async () => {
    try {
      let until = monthOf(Date.now())
      for (let ahead = 0; ahead < MONTHS_AHEAD; ahead += 1) until = monthAfter(until)
      const made = await ensurePartitions(db, table, Date.now(), until, log)
      if (made.length > 0) log.info({ partitions: made }, `created partitions for ${table}`)
    } catch (error) {
      log.error(
        { err: error },
        `could not create partitions for the coming months; their ${table} go to ${table}_default`,
      )
    }
  }
  await ensure()
  const timer = setInterval(() => void ensure(), DAY_MS)
  timer.unref()
  return { close: () => clearInterval(timer) }
}

/** The monthly partitions whose rows all have ids below this one, oldest first. */
export async function partitionsBefore(db: Kysely<Tables>, table: MonthlyTable, before_id: string): Promise<string[]> {
  const { rows } = await sql<{ name: string; bound: string }>`
    select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = ${table}::regclass
    order by c.relname`.execute(db)
  return rows.flatMap(({ name, bound }) => {
    const [, end] = /TO \('([0-9a-f-]{36})'\)/.exec(bound) ?? []
    return end !== undefined && end <= before_id ? [name] : []
  })
}

/**
 * Drops a partition with its rows. False if a transaction uses it during a few short tries, or if `isNeeded` says with the lock held that its rows are
 * still needed. Each try waits only briefly for the lock, because every new row waits behind it.
 * @throws the database's error
 */
export async function dropPartition(
  db: Kysely<Tables>,
  name: string,
  log: Logger,
  isNeeded?: (trx: Kysely<Tables>) => Promise<boolean>,
): Promise<boolean> {
  for (let tried = 1; ; tried += 1) {
    try {
      await db.transaction().execute(async trx => {
        await ON_ALL_NODES.execute(trx)
        await sql`set local lock_timeout = '300ms'`.execute(trx)
        await sql`drop table if exists ${sql.table(name)}`.execute(trx)
        if ((await isNeeded?.(trx)) === true) throw NEEDED
      })
      return true
    } catch (error) {
      if (error === NEEDED) return false
      if (tried < TRIES) {
        await sleep(BREATH_MS)
        continue
      }
      if (sqlState(error) !== LOCK_NOT_AVAILABLE) throw error
      log.info({ partition: name }, 'a month is being read and cannot be dropped yet; retrying')
      return false
    }
  }
}

async function existingPartitions(db: Kysely<Tables>, table: MonthlyTable): Promise<Set<string>> {
  // Read first, because even `if not exists` would wait for every reader of the table.
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = ${table}::regclass`.execute(db)
  return new Set(rows.map(row => row.name))
}

async function createPartition(db: Kysely<Tables>, table: MonthlyTable, start: number, log?: Logger): Promise<boolean> {
  const name = nameOf(table, start)
  for (let tried = 1; ; tried += 1) {
    try {
      await db.transaction().execute(async trx => {
        await ON_ALL_NODES.execute(trx)
        // Every new row waits behind this statement, so it must not wait long for a reader.
        await sql`set local lock_timeout = '1s'`.execute(trx)
        await sql`create table ${sql.table(name)} partition of ${sql.table(table)}
          for values from (${sql.lit(firstIdAt(start))}) to (${sql.lit(firstIdAt(monthAfter(start)))})`.execute(trx)
      })
      return true
    } catch (error) {
      if (isThereAlready(error)) return false
      if (sqlState(error) === CHECK_VIOLATION) {
        log?.warn({ partition: name }, `rows of this month are in ${table}_default, so its partition cannot be created`)
        return false
      }
      if (tried === TRIES) throw error
    }
  }
}

/** The first millisecond of a moment's UTC month. */
function monthOf(ms: number): number {
  const date = new Date(ms)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
}

function monthAfter(start: number): number {
  const date = new Date(start)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
}

function nameOf(table: MonthlyTable, start: number): string {
  return `${table}_${new Date(start).toISOString().slice(0, 7).replace('-', '_')}`
}
