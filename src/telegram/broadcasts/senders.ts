/**
 * Which process sends for a bot: one at a time, by a lease by the database's clock. Owns `bot_senders`. Each new holder has a higher token, and what is
 * written with an older one is not heard any more.
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

/** Takes the bot, where no process has it. */
export async function claimBot(
  pool: pg.Pool,
  place: BotKey,
  { lease_ms }: SendTerms,
): Promise<SenderLease | undefined> {
  const asked = [place.org_id, place.bot_id, lease_ms]
  const { rowCount } = await pool.query(FIRST, asked)
  if (rowCount === 1) return { ...place, token: '1' }
  const { rows } = await pool.query<{ token: string }>(TAKE, asked)
  return rows[0] && { ...place, token: rows[0].token }
}

/** Keeps the bot for another lease; false where another process has it. */
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
 * Has no process take the bot for so long. False where somebody has roused it since it was looked at (`seen_at`, Unix ms by the database's
 * clock), or shortly before.
 */
export async function restBot(
  pool: pg.Pool,
  { org_id, bot_id, token }: SenderLease,
  { ms, seen_at }: { ms: number; seen_at: number },
): Promise<boolean> {
  const { rowCount } = await pool.query(REST, [org_id, bot_id, token, Math.floor(ms), seen_at])
  return rowCount === 1
}

/** Has it looked at anew. To be called after the commit of what has changed. */
export async function wakeBot(pool: pg.Pool, { org_id, bot_id }: BotKey): Promise<void> {
  await pool.query(ROUSE, [org_id, bot_id])
}

/** Gives it back. The next one begins a second later: what was sent in this one counts for Telegram's limits. */
export async function releaseBot(pool: pg.Pool, { org_id, bot_id, token }: SenderLease): Promise<void> {
  await pool.query(FREE, [org_id, bot_id, token])
}
