/**
 * The lease of the process that sends for a bot, by the database's clock. Owns `bot_senders`. Each new holder gets a higher token, and writes with an
 * older token have no effect.
 */
import type pg from 'pg'
import type { SendTerms } from './terms.ts'

export type BotKey = { readonly org_id: number; readonly bot_id: string }
export type SenderLease = BotKey & { readonly token: string }

const FIRST = `
  insert into bot_senders (org_id, bot_id, token, lease_until)
  values ($1, $2, 1, now() + $3::int * interval '1 millisecond')
  on conflict (org_id, bot_id) do nothing`
const TAKE = `
  update bot_senders set token = token + 1, lease_until = now() + $3::int * interval '1 millisecond'
  where org_id = $1 and bot_id = $2 and lease_until <= now()
  returning token`
const RENEW = `
  update bot_senders set lease_until = now() + $4::int * interval '1 millisecond'
  where org_id = $1 and bot_id = $2 and token = $3`
const FREE = `
  update bot_senders set lease_until = now() + interval '1 second'
  where org_id = $1 and bot_id = $2 and token = $3 and lease_until > now() + interval '1 second'`

/** Claims the bot if no process holds it. */
export async function claimBot(
  pool: pg.Pool,
  place: BotKey,
  { lease_ms }: SendTerms,
): Promise<SenderLease | undefined> {
  const parameters = [place.org_id, place.bot_id, lease_ms]
  const { rowCount } = await pool.query(FIRST, parameters)
  if (rowCount === 1) return { ...place, token: '1' }
  const { rows } = await pool.query<{ token: string }>(TAKE, parameters)
  return rows[0] && { ...place, token: rows[0].token }
}

/** Renews the lease; false if another process has the bot. */
export async function renewBot(
  pool: pg.Pool,
  { org_id, bot_id, token }: SenderLease,
  { lease_ms }: SendTerms,
): Promise<boolean> {
  const { rowCount } = await pool.query(RENEW, [org_id, bot_id, token, lease_ms])
  return rowCount === 1
}

const REST = `
  update bot_senders set next_at = now() + $4::int * interval '1 millisecond'
  where org_id = $1 and bot_id = $2 and token = $3
    and (next_at is null or next_at < to_timestamp($5::float8 / 1000) - interval '1 second')`
const ROUSE = `
  update bot_senders set next_at = now() where org_id = $1 and bot_id = $2`

/**
 * No process claims the bot for `ms`. False if `wakeBot` was called since the state was read (`seen_at`, Unix ms by the database's clock) or shortly
 * before.
 */
export async function restBot(
  pool: pg.Pool,
  { org_id, bot_id, token }: SenderLease,
  { ms, seen_at }: { ms: number; seen_at: number },
): Promise<boolean> {
  const { rowCount } = await pool.query(REST, [org_id, bot_id, token, Math.floor(ms), seen_at])
  return rowCount === 1
}

/** Ends the bot's rest. Call it after the commit of a change. */
export async function wakeBot(pool: pg.Pool, { org_id, bot_id }: BotKey): Promise<void> {
  await pool.query(ROUSE, [org_id, bot_id])
}

/** Releases the bot. The next process starts a second later, because messages of this second count towards Telegram's limit. */
export async function releaseBot(pool: pg.Pool, { org_id, bot_id, token }: SenderLease): Promise<void> {
  await pool.query(FREE, [org_id, bot_id, token])
}
