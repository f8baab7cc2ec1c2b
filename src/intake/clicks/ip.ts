// The hash stored in place of a visitor's IP address: HMAC-SHA-256 under a secret of the UTC day, over organization, address and
// User-Agent. So hashes cannot be joined across days or organizations. Once the secret is destroyed, trying every IPv4 address finds nothing.
// Owns the table `daily_secrets`: the first process that needs a day's row creates it, and it is deleted 48 hours after its day began.
import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { plainAddress } from '../../ground/trusted.ts'

const KEPT_DAYS = 2
const HASH_BYTES = 16
/** Often enough to have tomorrow's secret in time, even if the database is away for hours. */
const REFRESH_MS = 600_000

export type IpHashes = {
  /** 32 hexadecimal digits; null if the day's secret is unknown because the database has been away since yesterday. */
  hash(org_id: number, ip: string, user_agent: string | null, ms: number): string | null
  /** Reads the secrets of today and tomorrow, creates the missing ones, and deletes expired ones. */
  refresh(ms?: number): Promise<void>
  close(): void
}

/** Reads or creates the secrets, and refreshes them until it is closed. */
export async function openIpHashes(db: Kysely<Tables>, log: Logger): Promise<IpHashes> {
  let secrets = new Map<number, KeyObject>()

  const read = async () => {
    const rows = await db.selectFrom('daily_secrets').select(['day', 'secret']).execute()
    secrets = new Map(rows.map(({ day, secret }) => [Date.parse(day) / DAY_MS, createSecretKey(secret)]))
  }
  const refresh = async (ms = Date.now()) => {
    const today = Math.floor(ms / DAY_MS)
    // Read first: reading needs only one node of a cluster, writing needs all of them.
    await read()
    const missing = [today, today + 1].filter(day => !secrets.has(day))
    if (missing.length > 0)
      await db
        .insertInto('daily_secrets')
        .values(missing.map(day => ({ day: dayOf(day * DAY_MS), secret: randomBytes(32) })))
        .onConflict(on => on.doNothing())
        .execute()
    // Deleted, because anyone who finds a secret could test addresses against its hashes.
    const isExpired = [...secrets.keys()].some(day => day <= today - KEPT_DAYS)
    if (isExpired)
      await db
        .deleteFrom('daily_secrets')
        .where('day', '<=', dayOf((today - KEPT_DAYS) * DAY_MS))
        .execute()
    if (isExpired || missing.length > 0) await read()
  }

  const notRefreshed = (error: unknown) =>
    log.warn({ err: error }, 'could not refresh the secrets of the IP hashes; retrying')
  await refresh().catch(error => {
    // Today's secret is known: the rest can wait for the node that is away.
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
