/** Reads what a sending process needs before each step: the bot's state and its active broadcasts. */
import type pg from 'pg'
import type { Message } from '../../contract/telegram-message.ts'
import type { Secrets } from '../../ground/db/secrets.ts'
import type { Audience, HoursOfDay } from '../../contract/telegram-audience.ts'
import type { BroadcastState } from './api.ts'
import type { BotKey } from './senders.ts'

/** A broadcast that is scheduled, running, or has undecided rows. */
export type ActiveBroadcast = {
  readonly id: string
  readonly state: BroadcastState
  readonly message: Message
  readonly audience: Audience
  readonly window: HoursOfDay | null
  readonly per_second: number | null
  readonly paid: boolean
  readonly on_unknown: string
  readonly prepared_to: string | null
  readonly is_due: boolean
  /** Whether it has rows in state `sending`. Between two groups these belong to a process that sent for the bot before. */
  readonly has_sending: boolean
  readonly has_queued: boolean
}

/** `halt`: why nothing is sent until a person acts. */
export type BotState = {
  readonly token: string
  readonly halt: string | undefined
  readonly silent_ms: number
  readonly has_task: boolean
  readonly send_per_second: number
  /** By the database's clock, Unix ms. */
  readonly now: number
}

/** `next_ms`: the time until the next scheduled start. */
export type SendingState = {
  readonly bot: BotState
  readonly broadcasts: readonly ActiveBroadcast[]
  readonly next_ms: number | undefined
}

// Tasks go before broadcasts, but a stuck task delays a broadcast for ten seconds only.
const BOT = `
  select b.token, b.token_state, b.telegram_id is not null as is_known, b.send_per_second,
    b.deleted_at is not null or o.deleted_at is not null as is_deleted,
    greatest(0, ceil(extract(epoch from b.send_after - now()) * 1000))::int as silent_ms,
    extract(epoch from now()) * 1000 as now,
    exists (select 1 from bot_tasks t
      where t.org_id = $1 and t.bot_id = $2 and t.state = 'waiting' and t.due_at <= now() and t.due_at > now() - interval '10 seconds'
        and t.give_up_at > now() and (t.lease_until is null or t.lease_until <= now())) as has_task
  from bots b
  join organizations o on o.org_id = b.org_id
  where b.org_id = $1 and b.id = $2`

const UNDER_WAY = `
  select b.id, b.state, b.message, b.audience, b.send_window as window, b.per_second, b.paid, b.on_unknown, b.prepared_to,
    b.state = 'scheduled' and b.starts_at <= now() as is_due,
    case when b.state = 'scheduled' then (extract(epoch from b.starts_at - now()) * 1000)::float8 end as starts_in_ms,
    exists (select 1 from broadcast_sends s where s.org_id = $1 and s.broadcast_id = b.id and s.state = 'sending') as has_sending,
    b.state = 'sending'
      and exists (select 1 from broadcast_sends s where s.org_id = $1 and s.broadcast_id = b.id and s.state = 'queued') as has_queued
  from broadcasts b
  where b.org_id = $1 and b.bot_id = $2 and b.ended_at is null and b.state <> 'draft'
  order by b.started_at, b.id`

type BotRow = {
  token: Buffer
  token_state: string
  is_known: boolean
  send_per_second: number
  is_deleted: boolean
  silent_ms: number | null
  now: string
  has_task: boolean
}

/** Undefined for an unknown bot. */
export async function readSendingState(
  pool: pg.Pool,
  secrets: Pick<Secrets, 'open'>,
  { org_id, bot_id }: BotKey,
): Promise<SendingState | undefined> {
  const [{ rows: bots }, { rows: broadcasts }] = await Promise.all([
    pool.query<BotRow>(BOT, [org_id, bot_id]),
    pool.query<ActiveBroadcast & { starts_in_ms: number | null }>(UNDER_WAY, [org_id, bot_id]),
  ])
  const [row] = bots
  if (row === undefined) return undefined
  const { token, token_state, is_known, is_deleted, silent_ms, now, has_task, send_per_second } = row
  const halt = is_deleted
    ? 'the bot was deleted'
    : token_state === 'revoked'
      ? TOKEN_REVOKED
      : is_known
        ? undefined
        : BOT_UNCONFIRMED
  const later = broadcasts.flatMap(({ is_due, starts_in_ms }) =>
    is_due || starts_in_ms === null ? [] : [starts_in_ms],
  )
  const bot = {
    token: secrets.open(token),
    halt,
    silent_ms: silent_ms ?? 0,
    has_task,
    send_per_second,
    now: Number(now),
  }
  const next_ms = later.length === 0 ? undefined : Math.min(...later)
  return { bot, broadcasts: broadcasts.filter(isActive), next_ms }
}

/** The pause reason for a revoked token. */
export const TOKEN_REVOKED = 'Telegram rejects the token of this bot'

/** The pause reason for a bot that was added while Telegram was away. */
export const BOT_UNCONFIRMED = 'Telegram has not confirmed this bot yet'

const isActive = ({ state, is_due, has_sending }: ActiveBroadcast): boolean =>
  has_sending || is_due || state === 'preparing' || state === 'sending' || state === 'stopped'
