// The monthly partitions of `clicks`. They are created ahead, so that `clicks_default` stays empty, and dropped by retention.ts. If one is
// missing, its clicks go to the default partition: nothing is lost, but they cannot be dropped as a whole month.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import type { Logger } from 'pino'
import { DAY_MS } from '../../contract/days.ts'
import { firstIdAt } from '../../contract/ids.ts'
import { isThereAlready, sqlState } from '../../ground/db/faults.ts'
import type { Tables } from '../../ground/db/tables.ts'

const MONTHS_AHEAD = 3
const CHECK_VIOLATION = '23514'
const TRIES = 4
/** Makes a cluster's other nodes keep this transaction's lock timeout; without a cluster it has no effect. */
const ON_ALL_NODES = sql`set local citus.propagate_set_commands = 'local'`
const LOCK_NOT_AVAILABLE = '55P03'
const UNSEALED = new Error('rows of these clicks wait to be sealed')
/** A pause between two tries at the lock, so that the clicks that waited behind the first can go on. */
const BREATH_MS = 500

/**
 * Creates the missing partitions for clicks made from `from_ms` to `to_ms` (Unix ms), for new clicks or before past clicks are loaded. Returns
 * the names of those it created. `db` is `Database.schema`. A month with clicks in the default partition is skipped.
 * @throws the database's other errors.
 */
export async function ensurePartitions(
  db: Kysely<Tables>,
  from_ms: number,
  to_ms: number,
  log?: Logger,
): Promise<string[]> {
  const existing = await existingPartitions(db)
  const made: string[] = []
  for (let start = monthOf(from_ms); start <= to_ms; start = monthAfter(start)) {
    const name = nameOf(start)
    if (!existing.has(name) && (await createPartition(db, name, start, log))) made.push(name)
  }
  return made
}

/** Creates the partitions of this month and the next three, now and once a day until it is closed. Logs a failure and retries it the next day. */
export async function keepPartitions(db: Kysely<Tables>, log: Logger): Promise<{ close(): void }> {
  const ensure = async () => {
    try {
      let until = monthOf(Date.now())
      for (let ahead = 0; ahead < MONTHS_AHEAD; ahead += 1) until = monthAfter(until)
      const made = await ensurePartitions(db, Date.now(), until, log)
      if (made.length > 0) log.info({ partitions: made }, 'created partitions for clicks')
    } catch (error) {
      log.error({ err: error }, 'could not create partitions for the coming months; their clicks go to clicks_default')
    }
  }
  await ensure()
  const timer = setInterval(() => void ensure(), DAY_MS)
  timer.unref()
  return { close: () => clearInterval(timer) }
}

/** The monthly partitions whose clicks all have ids below this one, oldest first. */
export async function partitionsBefore(db: Kysely<Tables>, before_id: string): Promise<string[]> {
  const { rows } = await sql<{ name: string; bound: string }>`
    select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'clicks'::regclass
    order by c.relname`.execute(db)
  return rows.flatMap(({ name, bound }) => {
    const [, end] = /TO \('([0-9a-f-]{36})'\)/.exec(bound) ?? []
    return end !== undefined && end <= before_id ? [name] : []
  })
}

/** A condition on `click_sheet`: the row tells of a click before this id, so sealing it (reading/segments) needs that click. */
export const tellsOfBefore = (before_id: string) => sql<boolean>`(
  exists (select from unnest(born) as b where b < ${sql.lit(before_id)}::uuid)
  or exists (select from unnest(born_otherwise) as b where b.id < ${sql.lit(before_id)}::uuid)
  or exists (select from unnest(changes) as c where c.id < ${sql.lit(before_id)}::uuid)
)`

/**
 * Drops a partition with its clicks. False if a transaction uses it during a few short tries, or if rows about clicks before `before_id` wait to be
 * sealed. Each try waits only briefly for the lock, because every other click waits behind it.
 * @throws the database's error
 */
export async function dropPartition(
  db: Kysely<Tables>,
  name: string,
  before_id: string,
  log: Logger,
): Promise<boolean> {
  for (let tried = 1; ; tried += 1) {
    try {
      await db.transaction().execute(async trx => {
        await ON_ALL_NODES.execute(trx)
        await sql`set local lock_timeout = '300ms'`.execute(trx)
        await sql`drop table if exists ${sql.table(name)}`.execute(trx)
        // Checked with the lock held, so that no new row can tell of these clicks.
        const { rows } =
          await sql`select org_id from click_sheet where org_id > 0 and ${tellsOfBefore(before_id)} limit 1`.execute(
            trx,
          )
        if (rows.length > 0) throw UNSEALED
      })
      return true
    } catch (error) {
      if (error === UNSEALED) {
        log.info({ partition: name }, 'a month of clicks is not sealed for Explore yet and cannot be dropped; retrying')
        return false
      }
      if (tried < TRIES) {
        await sleep(BREATH_MS)
        continue
      }
      if (sqlState(error) !== LOCK_NOT_AVAILABLE) throw error
      log.info({ partition: name }, 'a month of clicks is being read and cannot be dropped yet; retrying')
      return false
    }
  }
}

async function existingPartitions(db: Kysely<Tables>): Promise<Set<string>> {
  // Read first, because even `if not exists` would wait for every reader of clicks.
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'clicks'::regclass`.execute(
    db,
  )
  return new Set(rows.map(row => row.name))
}

async function createPartition(db: Kysely<Tables>, name: string, start: number, log?: Logger): Promise<boolean> {
  for (let tried = 1; ; tried += 1) {
    try {
      await db.transaction().execute(async trx => {
        await ON_ALL_NODES.execute(trx)
        // Every click waits behind this statement, so it must not wait long for a reader.
        await sql`set local lock_timeout = '1s'`.execute(trx)
        await sql`create table ${sql.table(name)} partition of clicks
          for values from (${sql.lit(firstIdAt(start))}) to (${sql.lit(firstIdAt(monthAfter(start)))})`.execute(trx)
      })
      return true
    } catch (error) {
      if (isThereAlready(error)) return false
      if (sqlState(error) === CHECK_VIOLATION) {
        log?.warn({ partition: name }, 'clicks of this month are in clicks_default, so its partition cannot be created')
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

function nameOf(start: number): string {
  return `clicks_${new Date(start).toISOString().slice(0, 7).replace('-', '_')}`
}
