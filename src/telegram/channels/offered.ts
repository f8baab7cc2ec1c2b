/** Chats that can be added as channels, because a bot became an administrator there, and the links that make a bot an administrator. */
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'
import type { Context } from '../../ground/room.ts'
import type * as api from './api.ts'
import type { TelegramChat } from './chat-state.ts'

/** More would not be readable as a list. */
const MOST_OFFERED = 100

const addLink = (username: string, what: 'startchannel' | 'startgroup'): string =>
  `https://t.me/${username}?${what}&admin=invite_users`

/** The offered chats, newest first, and the links of each bot. */
export async function listOfferedChats({ db, actor }: Context<typeof api.listOfferedChats>) {
  const { org_id } = actor
  const [{ rows: data }, bots] = await Promise.all([
    sql<TelegramChat & { bot_id: string; can_invite: boolean; seen_at: string }>`
      select o.bot_id, o.chat_id, o.title, o.username, o.kind, o.can_invite, o.seen_at
      from offered_chats o
      join bots b on b.org_id = o.org_id and b.id = o.bot_id and b.deleted_at is null
      left join channels c on c.org_id = o.org_id and c.chat_id = o.chat_id and c.deleted_at is null
      where o.org_id = ${org_id} and c.id is null
      order by o.seen_at desc
      limit ${MOST_OFFERED}`.execute(db),
    db
      .selectFrom('bots')
      .select(['id', 'username'])
      .where('org_id', '=', org_id)
      .where('deleted_at', 'is', null)
      .orderBy('id', 'desc')
      .execute(),
  ])
  return {
    data,
    bots: bots.map(({ id, username }) => ({
      bot_id: id,
      username,
      channel_link: addLink(username, 'startchannel'),
      group_link: addLink(username, 'startgroup'),
    })),
  }
}

/** `at`: Telegram's time of the change. */
type OfferChange = { readonly org_id: number; readonly bot_id: string; readonly at: string }

/** Offers a chat, unless Telegram has reported something newer. */
export async function offerChat(
  db: Kysely<Tables>,
  { org_id, bot_id, at }: OfferChange,
  chat: TelegramChat,
  can_invite: boolean,
): Promise<void> {
  const columns = {
    title: chat.title,
    username: chat.username,
    kind: chat.kind,
    can_invite,
    seen_at: at,
  }
  await db
    .insertInto('offered_chats')
    .values({ org_id, bot_id, chat_id: chat.chat_id, ...columns })
    .onConflict(on =>
      on.columns(['org_id', 'bot_id', 'chat_id']).doUpdateSet(columns).where('offered_chats.seen_at', '<=', at),
    )
    .execute()
}

/** Offers a chat no more, unless Telegram has reported something newer. */
export async function stopOffering(
  db: Kysely<Tables>,
  { org_id, bot_id, at }: OfferChange,
  chat_id: string,
): Promise<void> {
  await db
    .deleteFrom('offered_chats')
    .where('org_id', '=', org_id)
    .where('bot_id', '=', bot_id)
    .where('chat_id', '=', chat_id)
    .where('seen_at', '<=', at)
    .execute()
}
