/** Follows a bot's rights in channels and groups, and the new chat id of a group that becomes a supergroup. */
import { fieldsOf } from '../../contract/json.ts'
import type { Ground } from '../../ground/room.ts'
import type { UpdateListener } from '../bots/hook.ts'
import { orderedTime } from '../bots/update.ts'
import { noticeColumns } from './channels.ts'
import { type TelegramChat, chatIn, botRights } from './chat-state.ts'
import { offerChat, stopOffering } from './offered.ts'
import { channelOfChat, moveChannel, writeReportedState } from './rows.ts'

/** Records such updates. Repeated updates and updates older than the stored state change nothing. */
export function channelListener({ db }: Pick<Ground, 'db'>): UpdateListener {
  return async ({ org_id, id: bot_id }, { update_id, my_chat_member, message }) => {
    const change = fieldsOf(my_chat_member)
    const chat = chatIn(change['chat'])
    const at = orderedTime(change['date'], update_id)
    if (chat !== undefined) await recordBotRights(db, { org_id, bot_id, at }, chat, change['new_chat_member'])
    const { chat: from, migrate_to_chat_id } = fieldsOf(message)
    const group = chatIn(from)
    if (group !== undefined && typeof migrate_to_chat_id === 'number')
      await recordMove(db, org_id, group.chat_id, String(migrate_to_chat_id))
    return undefined
  }
}

async function recordBotRights(
  db: Ground['db'],
  of: { org_id: number; bot_id: string; at: string },
  chat: TelegramChat,
  member: unknown,
): Promise<void> {
  const { username } = fieldsOf(fieldsOf(member)['user'])
  const { state, reason } = botRights(member, typeof username === 'string' ? username : 'the bot')
  const channel = await channelOfChat(db, { org_id: of.org_id, chat_id: chat.chat_id })
  if (channel === undefined) {
    if (state === 'not_admin') await stopOffering(db, of, chat.chat_id)
    else await offerChat(db, of, chat, state === 'ready')
    return
  }
  if (channel.bot_id !== of.bot_id) return
  const { title, username: name, kind } = chat
  const changes = {
    title,
    username: name,
    kind,
    state,
    state_reason: reason,
    ...(state === channel.state ? {} : { look_at: null, waiting_until: null, ...noticeColumns(state) }),
  }
  await writeReportedState(db, channel, changes, of.at)
}

async function recordMove(db: Ground['db'], org_id: number, chat_id: string, to: string): Promise<void> {
  const channel = await channelOfChat(db, { org_id, chat_id })
  if (channel !== undefined) await moveChannel(db, channel, to)
}
