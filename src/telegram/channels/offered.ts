/** Chats that can be added: where a bot was made an administrator, as Telegram has told; and the links by which its owner makes it one. */
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'
import type { Context } from '../../ground/room.ts'
import type * as api from './api.ts'
import type { TelegramChat } from './chat-state.ts'

/** Nobody looks through more. */
const MOST_OFFERED = 100

const addLink = (username: string, what: 'startchannel' | 'startgroup'): string =>
  `https://t.me/${username}?${what}&admin=invite_users`

/** The chats that are offered, newest first, and a link per bot. */
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

/** `at` is Telegram's own time of it. */
type Offered = { readonly org_id: number; readonly bot_id: string; readonly at: string }

/** Offers a chat from now on, as Telegram has told of it last. */
export async function offerChat(
  db: Kysely<Tables>,
  { org_id, bot_id, at }: Offered,
  chat: TelegramChat,
  can_invite: boolean,
): Promise<void> {
  const told = {
    title: chat.title,
    username: chat.username,
    kind: chat.kind,
    can_invite,
    seen_at: at,
  }
  await db
    .insertInto('offered_chats')
    .values({ org_id, bot_id, chat_id: chat.chat_id, ...told })
    .onConflict(on =>
      on.columns(['org_id', 'bot_id', 'chat_id']).doUpdateSet(told).where('offered_chats.seen_at', '<=', at),
    )
    .execute()
}

export async function stopOffering(
  db: Kysely<Tables>,
  { org_id, bot_id, at }: Offered,
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
