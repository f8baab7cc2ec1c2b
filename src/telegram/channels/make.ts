/** Creates one invite link at Telegram and stores it. */
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

/** The pause between two calls, by channel id. It becomes shorter as long as Telegram accepts the calls. */
export type LinkPaces = { readonly first_ms: number; readonly of: Map<string, number> }

const SHORTEN_BY = 0.9
/** The shortest and the longest pause, as a share of the first one. */
const SHORTEST = 0.2
const LONGEST = 8

/** Doubles the pause after a rate limit, up to a pause at which a pool still recovers. */
export function slowDown({ first_ms, of }: LinkPaces, channel_id: string): void {
  of.set(channel_id, Math.min(LONGEST * first_ms, 2 * (of.get(channel_id) ?? first_ms)))
}

/** Shortens the pause after an accepted call: quickly down to the first pause, then slowly. */
export function speedUp({ first_ms, of }: LinkPaces, channel_id: string): void {
  const pause = of.get(channel_id) ?? first_ms
  const shorter = pause > first_ms ? Math.max(first_ms, pause / 2) : Math.max(SHORTEST * first_ms, SHORTEN_BY * pause)
  of.set(channel_id, shorter)
}

/** Sluice stops using a link before it expires at Telegram, whose clock may differ. */
const SLACK_MS = 5 * MINUTE_MS

type LinkOrder = {
  readonly row: StoredChannel
  readonly bot: BotCredentials
  readonly campaign_id: string | null
  readonly of_batch: number
}

/**
 * Creates a link for the pool, or a campaign's shared link, which does not expire. The link's name at Telegram is its id here. Returns the failure if
 * there is one. If Telegram's answer is lost, the link may exist there; it is never used and expires.
 */
export async function makeLink(
  { db, config }: Pick<Ground, 'db' | 'config'>,
  paces: LinkPaces,
  { row, bot, campaign_id, of_batch }: LinkOrder,
): Promise<Failure | undefined> {
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
  if (typeof url !== 'string') return { ok: false, kind: 'unknown', description: 'Telegram’s answer contains no link' }
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
