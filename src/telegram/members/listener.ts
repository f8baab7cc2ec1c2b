/**
 * What happens to people in chats, from each update of a bot: into a channel's members and requests, and onto clicks. In a chat that nobody has added as a
 * channel a join or request is recorded by the click the link is named after, or the person's start in this bot, as long as there is one.
 */
import type { Ground } from '../../ground/room.ts'

import { announceChange } from '../../traffic/campaigns/live.ts'
import { giveUpLink } from '../../traffic/invite-links/making.ts'
import type { LiveBot } from '../bots/live.ts'
import { clickOfBotStart, type UpdateListener } from '../bots/hook.ts'
import { channelOfChat, type StoredChannel } from '../channels/rows.ts'
import { countOn, type JoinRecording } from './attribution.ts'
import { noteJoin, noteLeave, noteStartOfMember } from './members.ts'
import { noteLetIn, noteRequest, noteStartOfRequester } from './requests.ts'
import { clickInLinkName, type UsedLink, type ChatEvent, chatEventIn } from './chat-events.ts'

/** Hears of members. It comes behind what notes starts. Throws what the database throws, and refuses `service_unavailable` while a click waits in a journal. */
export function memberListener(
  { db, database }: Pick<Ground, 'db' | 'database'>,
  parts: Omit<JoinRecording, 'db' | 'database'>,
): UpdateListener {
  const recording = { db, database, ...parts }
  return async (bot, update) => {
    const told = chatEventIn(update)
    if (told !== undefined) await take(recording, bot, told)
    return undefined
  }
}

async function take(recording: JoinRecording, bot: LiveBot, told: ChatEvent): Promise<void> {
  const { org_id, id: bot_id } = bot
  if (told.kind === 'started') {
    await noteStartOfMember(recording, { org_id, bot_id }, told)
    await noteStartOfRequester(recording, { org_id, bot_id }, told)
    return
  }
  const channel = await channelOfChat(recording.db, { org_id, chat_id: told.chat.id })
  const somebody = { org_id, bot_id, ...told }
  if (channel === undefined) {
    if (told.kind === 'joined' || told.kind === 'asked') await takeElsewhere(recording, bot, told)
    return
  }
  if (told.kind === 'joined' || told.kind === 'asked') await noteRevoked(recording.db, channel, told.link)
  if (told.kind === 'asked')
    await noteRequest(recording, channel, {
      ...somebody,
      ...told,
      isShared: bot.mode !== 'own',
      isOwn: channel.bot_id === bot_id,
    })
  else if (told.kind === 'joined') {
    await noteLetIn(recording.db, channel, told.telegram_user_id, told.at)
    await noteJoin(recording, channel, { ...somebody, ...told })
  } else await noteLeave(recording, channel, { ...somebody, ...told })
}

/** Our link was revoked by hand: Telegram says so with whoever came by it before. */
async function noteRevoked(
  db: JoinRecording['db'],
  { org_id, id }: StoredChannel,
  link: UsedLink | undefined,
): Promise<void> {
  if (link?.isRevoked !== true) return
  if (await giveUpLink(db, { org_id, channel_id: id }, link)) await announceChange(db, org_id, id)
}

async function takeElsewhere(
  recording: JoinRecording,
  { org_id, id: bot_id }: LiveBot,
  told: Extract<ChatEvent, { kind: 'joined' | 'asked' }>,
): Promise<void> {
  const named = clickInLinkName(told.link)
  const click_id =
    named ?? (await clickOfBotStart(recording.db, { org_id, bot_id, telegram_user_id: told.telegram_user_id }))
  if (click_id === undefined) return
  const certainty = named === undefined ? 'person' : 'link'
  const type = told.kind === 'joined' ? 'channel_join' : 'join_request'
  await countOn(recording, { org_id, bot_id, ...told }, type, { click_id, certainty })
}
