/** What bots hear of channels and groups: that they were made administrators there or are none any more, and that a group has got another number. */
import { fieldsOf } from '../../contract/json.ts'
import type { Ground } from '../../ground/room.ts'
import type { UpdateListener } from '../bots/hook.ts'
import { orderedTime } from '../bots/update.ts'
import { noticeColumns } from './channels.ts'
import { type TelegramChat, chatIn, botRights } from './chat-state.ts'
import { offerChat, stopOffering } from './offered.ts'
import { channelOfChat, moveChannel, writeReportedState } from './rows.ts'

/** Hears it. Told twice it is the same, and what is told late, with an older time of Telegram's, changes nothing. */
export function channelListener({ db }: Pick<Ground, 'db'>): UpdateListener {
  return async ({ org_id, id: bot_id }, { update_id, my_chat_member, message }) => {
    const told = fieldsOf(my_chat_member)
    const chat = chatIn(told['chat'])
    const at = orderedTime(told['date'], update_id)
    if (chat !== undefined) await standsThere(db, { org_id, bot_id, at }, chat, told['new_chat_member'])
    const { chat: from, migrate_to_chat_id } = fieldsOf(message)
    const group = chatIn(from)
    if (group !== undefined && typeof migrate_to_chat_id === 'number')
      await moved(db, org_id, group.chat_id, String(migrate_to_chat_id))
    return undefined
  }
}

async function standsThere(
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
  const isNews = state !== channel.state
  const changes = {
    title,
    username: name,
    kind,
    state,
    state_reason: reason,
    ...(isNews ? { look_at: null, waiting_until: null, ...noticeColumns(state) } : {}),
  }
  await writeReportedState(db, channel, changes, of.at)
}

async function moved(db: Ground['db'], org_id: number, chat_id: string, to: string): Promise<void> {
  const channel = await channelOfChat(db, { org_id, chat_id })
  if (channel !== undefined) await moveChannel(db, channel, to)
}
