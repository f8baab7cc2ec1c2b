/** One call that makes a link, and what is kept of it. */
import { DAY_MS, MINUTE_MS } from '../../contract/days.ts'
import { newId, toWireId } from '../../contract/ids.ts'
import { fieldsOf } from '../../contract/json.ts'
import type { Ground } from '../../ground/room.ts'
import { announceChange } from '../../traffic/campaigns/live.ts'
import { nameSharedLink } from '../../traffic/campaigns/shared-link.ts'
import { keepLink } from '../../traffic/invite-links/making.ts'
import { callTelegram, type Failure } from '../bots/telegram.ts'
import type { BotCredentials } from './chat-state.ts'
import type { StoredChannel } from './rows.ts'

export type Failed = Failure

/** How long to wait between two calls, by the channel: it gets quicker as long as Telegram lets it. */
export type Paces = { readonly first_ms: number; readonly of: Map<string, number> }

const QUICKER = 0.9
/** Of the first pause. */
const QUICKEST = 0.2
const SLOWEST = 8

/** Telegram has said that this was too quick: however often, the pause stays one that a pool recovers at. */
export function slowDown({ first_ms, of }: Paces, channel_id: string): void {
  of.set(channel_id, Math.min(SLOWEST * first_ms, 2 * (of.get(channel_id) ?? first_ms)))
}

/** Telegram has taken a call: back to the first pause in few steps, and beyond it carefully. */
export function speedUp({ first_ms, of }: Paces, channel_id: string): void {
  const pause = of.get(channel_id) ?? first_ms
  of.set(channel_id, pause > first_ms ? Math.max(first_ms, pause / 2) : Math.max(QUICKEST * first_ms, QUICKER * pause))
}

/** A link ends sooner here than at Telegram, whose clock is another one. */
const SLACK_MS = 5 * MINUTE_MS

type Wanted = {
  readonly row: StoredChannel
  readonly bot: BotCredentials
  readonly campaign_id: string | null
  readonly of_batch: number
}

/**
 * Makes a link for the pool, or the one that a campaign shares, which does not end. Its name is its id here. Answers why there is none; one that
 * was made without our hearing of it is nobody's, and ends by itself.
 */
export async function makeLink(
  { db, config }: Pick<Ground, 'db' | 'config'>,
  paces: Paces,
  { row, bot, campaign_id, of_batch }: Wanted,
): Promise<Failed | undefined> {
  const { org_id, id: channel_id, chat_id, join_mode, link_days } = row
  const id = newId()
  const expire_date = campaign_id === null ? Math.floor((Date.now() + link_days * DAY_MS) / 1000) : undefined
  const answer = await callTelegram(config.telegramApiRoot, bot.token, 'createChatInviteLink', {
    chat_id: Number(chat_id),
    name: toWireId(id),
    creates_join_request: join_mode === 'request',
    ...(expire_date === undefined ? {} : { expire_date }),
  })
  if (!answer.ok) return answer
  const { invite_link: url } = fieldsOf(answer.result)
  if (typeof url !== 'string') return { ok: false, kind: 'unknown', description: 'Telegram’s answer holds no link' }
  const expires_at = expire_date === undefined ? null : new Date(expire_date * 1000 - SLACK_MS).toISOString()
  const link = { org_id, id, channel_id, url, campaign_id, expires_at, chat_id, join_mode, of_batch }
  const isKept = await keepLink(db, link)
  speedUp(paces, channel_id)
  if (isKept && campaign_id !== null) {
    await nameSharedLink(db, { org_id, campaign_id, channel_id, url })
    await announceChange(db, org_id, id)
  }
  return undefined
}
