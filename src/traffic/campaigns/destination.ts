/**
 * Where a campaign leads, as it is stored and as it is shown. Owns no table. A campaign that leads to an offer is stored as a redirect to the
 * offer's address at that time with the offer's id beside it, and one that leads into Telegram as a redirect to the link with the place beside
 * it: a process of a version that knows no such destination goes on by the address, and what it writes follows no offer and binds to no bot.
 * The address of a channel is the link that the campaign's clicks share, once that is made.
 */
import { publicChat, TELEGRAM, telegramLink } from '../../contract/telegram.ts'
import type * as api from './api.ts'

type Shown = api.Campaign['destination']
type IntoTelegram = { type: 'bot' | 'mini_app' }
type IntoChannel = { type: 'channel' }

/** Where a campaign leads in Telegram, with everything said. */
export type TelegramDestination = Extract<Shown, IntoTelegram>

/** The channel a campaign leads to, with everything said. */
export type ChannelDestination = Extract<Shown, IntoChannel>

/** A destination as the database holds it. */
export type StoredDestination =
  | {
      readonly type: 'redirect'
      readonly url: string
      readonly offer_id?: string
      readonly telegram?: TelegramDestination
      readonly channel?: ChannelDestination
    }
  | Exclude<Shown, { type: 'redirect' | 'offer' } | IntoTelegram | IntoChannel>

export type Leading = { readonly destination: StoredDestination; readonly offer_id: string | null }

/** Whether a campaign's visitors go to the address that its offer has now. The two ids differ where an older version changed the offer. */
export function isFollowing({ destination, offer_id }: Leading): boolean {
  return destination.type === 'redirect' && offer_id !== null && destination.offer_id === offer_id
}

/** The destination as the API says it. */
export function shownDestination(campaign: Leading): Shown {
  const { destination, offer_id } = campaign
  if (destination.type !== 'redirect') return destination
  if (destination.telegram !== undefined) return destination.telegram
  if (destination.channel !== undefined) return destination.channel
  if (offer_id !== null && isFollowing(campaign)) return { type: 'offer', offer_id }
  return { type: 'redirect', url: destination.url }
}

/** A destination in Telegram as the database holds it; `username` is the bot's. */
export function intoTelegram(
  username: string,
  sent: Extract<api.CampaignDraft['destination'], IntoTelegram>,
): StoredDestination {
  const { start = null, open, link_host } = sent
  const common = { bot_id: sent.bot_id, start, open: open ?? 'direct', link_host: link_host ?? 't.me' } as const
  const telegram: TelegramDestination =
    sent.type === 'bot' ? { type: 'bot', ...common } : { type: 'mini_app', app: sent.app ?? null, ...common }
  return { type: 'redirect', url: telegramLink(username, telegram).url, telegram }
}

/** A channel as the database holds it; `username` is its own. The link that was made for the campaign before stays its address. */
export function intoChannel(
  username: string | null,
  { channel_id, open, link_host }: Extract<api.CampaignDraft['destination'], IntoChannel>,
  before: StoredDestination | undefined,
): StoredDestination {
  const isKept = before?.type === 'redirect' && before.channel?.channel_id === channel_id
  const url = username === null ? TELEGRAM : publicChat(username)
  const channel = { type: 'channel', channel_id, open: open ?? 'direct', link_host: link_host ?? 't.me' } as const
  return { type: 'redirect', url: isKept ? before.url : url, channel }
}
