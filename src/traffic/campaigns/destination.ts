/**
 * The destination of a campaign, as it is stored and as the API shows it. Owns no table. A campaign that leads to an offer is stored as a
 * redirect to the offer's address at that time, with the offer's id in the same object. One that leads into Telegram is stored as a redirect to
 * the link, with the place. So a process of an older version, which does not know these destinations, can still use the address. If that
 * process changes the campaign, the change drops the offer's id or the place. The address of a channel is the shared invite link of the
 * campaign, once there is one.
 */
import { publicChat, TELEGRAM, telegramLink } from '../../contract/telegram.ts'
import type * as api from './api.ts'

type ApiDestination = api.Campaign['destination']
type BotType = { type: 'bot' | 'mini_app' }
type ChannelType = { type: 'channel' }

/** A bot or a Mini App as destination, with all defaults filled in. */
export type TelegramDestination = Extract<ApiDestination, BotType>

/** A channel as destination, with all defaults filled in. */
export type ChannelDestination = Extract<ApiDestination, ChannelType>

/** A destination as it is stored. */
export type StoredDestination =
  | {
      readonly type: 'redirect'
      readonly url: string
      readonly offer_id?: string
      readonly telegram?: TelegramDestination
      readonly channel?: ChannelDestination
    }
  | Exclude<ApiDestination, { type: 'redirect' | 'offer' } | BotType | ChannelType>

export type DestinationAndOffer = { readonly destination: StoredDestination; readonly offer_id: string | null }

/** Whether visitors go to the current address of the campaign's offer. The two ids differ if an older version changed the offer. */
export function isFollowing({ destination, offer_id }: DestinationAndOffer): boolean {
  return destination.type === 'redirect' && offer_id !== null && destination.offer_id === offer_id
}

/** The destination as the API shows it. */
export function apiDestination(campaign: DestinationAndOffer): ApiDestination {
  const { destination, offer_id } = campaign
  if (destination.type !== 'redirect') return destination
  if (destination.telegram !== undefined) return destination.telegram
  if (destination.channel !== undefined) return destination.channel
  if (offer_id !== null && isFollowing(campaign)) return { type: 'offer', offer_id }
  return { type: 'redirect', url: destination.url }
}

/** The stored form of a bot or Mini App as destination; `username` is the bot's. */
export function storedBotDestination(
  username: string,
  sent: Extract<api.CampaignDraft['destination'], BotType>,
): StoredDestination {
  const { start = null, open, link_host } = sent
  const common = { bot_id: sent.bot_id, start, open: open ?? 'direct', link_host: link_host ?? 't.me' } as const
  const telegram: TelegramDestination =
    sent.type === 'bot' ? { type: 'bot', ...common } : { type: 'mini_app', app: sent.app ?? null, ...common }
  return { type: 'redirect', url: telegramLink(username, telegram).url, telegram }
}

/** The stored form of a channel as destination; `username` is the channel's. The campaign's shared link stays its address if the channel is the same. */
export function storedChannelDestination(
  username: string | null,
  { channel_id, open, link_host }: Extract<api.CampaignDraft['destination'], ChannelType>,
  before: StoredDestination | undefined,
): StoredDestination {
  const isKept = before?.type === 'redirect' && before.channel?.channel_id === channel_id
  const url = username === null ? TELEGRAM : publicChat(username)
  const channel = { type: 'channel', channel_id, open: open ?? 'direct', link_host: link_host ?? 't.me' } as const
  return { type: 'redirect', url: isKept ? before.url : url, channel }
}
