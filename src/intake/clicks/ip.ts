// The hash that stands for a visitor's address: HMAC-SHA-256 under a secret of the UTC day, over organization, address and
// agent, so that hashes can be joined neither across days nor across organizations. Once the secret is destroyed nobody can find an IPv4 by
// trying all of them.
// Owns the table `daily_secrets`: a day's row is made by whichever process needs it first, and destroyed 48 hours after its day began.
import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { plainAddress } from '../../ground/trusted.ts'

const KEPT_DAYS = 2
const HASH_BYTES = 16
/** Often enough that tomorrow's secret is there before tomorrow, also when the database is away for hours. */
const REFRESH_MS = 600_000

export type IpHashes = {
  /** 32 hexadecimal digits, or null while the day's secret is not known (the database has been away since yesterday). */
  hash(org_id: number, ip: string, user_agent: string | null, ms: number): string | null
  /** Makes and reads the secrets of today and tomorrow, and destroys those whose time is over. */
  refresh(ms?: number): Promise<void>
  close(): void
}

/** Reads or makes the secrets, and keeps them fresh until it is closed. */
export async function openIpHashes(db: Kysely<Tables>, log: Logger): Promise<IpHashes> {
  let secrets = new Map<number, KeyObject>()

  const read = async () => {
    const rows = await db.selectFrom('daily_secrets').select(['day', 'secret']).execute()
    secrets = new Map(rows.map(({ day, secret }) => [Date.parse(day) / DAY_MS, createSecretKey(secret)]))
  }
  const refresh = async (ms = Date.now()) => {
    const today = Math.floor(ms / DAY_MS)
    // Read before anything is written: the nodes of a cluster are all needed for that, and none but one for this.
    await read()
    const missing = [today, today + 1].filter(day => !secrets.has(day))
    if (missing.length > 0)
      await db
        .insertInto('daily_secrets')
        .values(missing.map(day => ({ day: dayOf(day * DAY_MS), secret: randomBytes(32) })))
        .onConflict(on => on.doNothing())
        .execute()
    // A secret is destroyed, not left to be found: what it has hashed can then never be tried out.
    const isOver = [...secrets.keys()].some(day => day <= today - KEPT_DAYS)
    if (isOver)
      await db
        .deleteFrom('daily_secrets')
        .where('day', '<=', dayOf((today - KEPT_DAYS) * DAY_MS))
        .execute()
    if (isOver || missing.length > 0) await read()
  }

  const notRefreshed = (error: unknown) => log.warn({ err: error }, 'the secrets of the ip hashes were not refreshed')
  await refresh().catch(error => {
    // Today's is known: what else there is to do can wait for the node that is away.
    if (!secrets.has(Math.floor(Date.now() / DAY_MS))) throw error
    notRefreshed(error)
  })
  const timer = setInterval(() => void refresh().catch(notRefreshed), REFRESH_MS)
  timer.unref()

  return {
    hash(org_id, ip, user_agent, ms) {
      const secret = secrets.get(Math.floor(ms / DAY_MS))
      if (secret === undefined) return null
      const mac = createHmac('sha256', secret).update(`${org_id}\0${plainAddress(ip)}\0${user_agent ?? ''}`)
      return mac.digest('hex').slice(0, HASH_BYTES * 2)
    },
    refresh,
    close: () => clearInterval(timer),
  }
}
