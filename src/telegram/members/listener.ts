/**
 * Records joins, leaves and requests from the updates of a bot. In a chat that is no channel of the organization, a join or request is recorded only on the
 * click in the link's name or on the click of the person's start in this bot.
 */
import type { Ground } from '../../ground/room.ts'
import { announceChange } from '../../traffic/campaigns/live.ts'
import { giveUpLink } from '../../traffic/invite-links/making.ts'
import type { LiveBot } from '../bots/live.ts'
import { clickOfBotStart, type UpdateListener } from '../bots/hook.ts'
import { channelOfChat, type StoredChannel } from '../channels/rows.ts'
import { countOn, type JoinRecording } from './attribution.ts'
import { creditMember, recordJoin, recordLeave } from './members.ts'
import { creditRequester, markApproved, recordRequest } from './requests.ts'
import { clickInLinkName, type UsedLink, type ChatEvent, chatEventIn } from './chat-events.ts'

/** Records them. Must run after starts are recorded. Throws database errors; refuses `service_unavailable` while a click may wait in a journal. */
export function memberListener(
  { db, database }: Pick<Ground, 'db' | 'database'>,
  parts: Omit<JoinRecording, 'db' | 'database'>,
): UpdateListener {
  const recording = { db, database, ...parts }
  return async (bot, update) => {
    const event = chatEventIn(update)
    if (event !== undefined) await recordChatEvent(recording, bot, event)
    return undefined
  }
}

async function recordChatEvent(recording: JoinRecording, bot: LiveBot, event: ChatEvent): Promise<void> {
  const { org_id, id: bot_id } = bot
  if (event.kind === 'started') {
    await creditMember(recording, { org_id, bot_id }, event)
    await creditRequester(recording, { org_id, bot_id }, event)
    return
  }
  const channel = await channelOfChat(recording.db, { org_id, chat_id: event.chat.id })
  if (channel === undefined) {
    if (event.kind === 'joined' || event.kind === 'asked') await recordOutsideChannels(recording, bot, event)
    return
  }
  if (event.kind === 'joined' || event.kind === 'asked') await dropRevokedLink(recording.db, channel, event.link)
  if (event.kind === 'asked')
    await recordRequest(recording, channel, {
      org_id,
      bot_id,
      ...event,
      hasProgram: bot.mode !== 'own',
      isOwn: channel.bot_id === bot_id,
    })
  else if (event.kind === 'joined') {
    await markApproved(recording.db, channel, event.telegram_user_id, event.at)
    await recordJoin(recording, channel, { org_id, bot_id, ...event })
  } else await recordLeave(recording, channel, { org_id, bot_id, ...event })
}

/** Gives up a link that somebody revoked at Telegram, which is reported with the next join by it. */
async function dropRevokedLink(
  db: JoinRecording['db'],
  { org_id, id }: StoredChannel,
  link: UsedLink | undefined,
): Promise<void> {
  if (link?.isRevoked !== true) return
  if (await giveUpLink(db, { org_id, channel_id: id }, link)) await announceChange(db, org_id, id)
}

async function recordOutsideChannels(
  recording: JoinRecording,
  { org_id, id: bot_id }: LiveBot,
  event: Extract<ChatEvent, { kind: 'joined' | 'asked' }>,
): Promise<void> {
  const named = clickInLinkName(event.link)
  const click_id =
    named ?? (await clickOfBotStart(recording.db, { org_id, bot_id, telegram_user_id: event.telegram_user_id }))
  if (click_id === undefined) return
  const certainty = named === undefined ? 'person' : 'link'
  const type = event.kind === 'joined' ? 'channel_join' : 'join_request'
  await countOn(recording, { org_id, bot_id, ...event }, type, { click_id, certainty })
}
