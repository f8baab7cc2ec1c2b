// Who is in a channel or group at the fake Bot API, and what the bots there hear of it.
import { tell } from './hooks.ts'
import {
  botUser,
  type ChatState,
  chatShown,
  cut,
  fail,
  type Link,
  personUser,
  type PersonState,
  privateChat,
  seconds,
  type World,
} from './world.ts'

/** A link as its maker sees it; other administrators see the beginning of its address. */
export function linkShown(
  world: World,
  { url, creator, name, expires_at, member_limit, creates_join_request, is_revoked }: Link,
  to = creator,
) {
  const bot = world.bots.get(creator)
  return {
    invite_link: to === creator ? url : cut(url),
    creator: bot === undefined ? { id: creator, is_bot: false, first_name: 'Admin' } : botUser(bot),
    creates_join_request,
    is_primary: false,
    is_revoked,
    ...(name === undefined || name === '' ? {} : { name }),
    ...(expires_at === undefined ? {} : { expire_date: seconds(expires_at) }),
    ...(member_limit === undefined ? {} : { member_limit }),
  }
}

export const personOf = (world: World, id: number): PersonState =>
  world.people.get(id) ?? fail(400, 'Bad Request: user not found')

type Change = { readonly was: string; readonly is: string; readonly link?: Link | undefined; readonly by?: number }

/** Tells every administrator bot that a person is now something else there. */
export function tellMember(world: World, chat: ChatState, id: number, { was, is, link, by = id }: Change): void {
  const user = personUser(personOf(world, id))
  const from = by === id ? user : { id: by, is_bot: false, first_name: 'Admin' }
  for (const bot_id of chat.admins.keys()) {
    const bot = world.bots.get(bot_id)
    if (bot === undefined) continue
    tell(world, bot, {
      chat_member: {
        chat: chatShown(chat),
        from,
        date: seconds(world.now()),
        old_chat_member: { status: was, user },
        new_chat_member: { status: is, user, ...(is === 'kicked' ? { until_date: 0 } : {}) },
        ...(link === undefined ? {} : { invite_link: linkShown(world, link, bot_id) }),
      },
    })
  }
}

/** The person is in, by the link if by any. A public chat takes them in without it, as clients do. */
export function joined(world: World, chat: ChatState, id: number, link: Link | undefined): void {
  if (chat.members.has(id)) return
  chat.members.add(id)
  const told = chat.username === undefined ? link : undefined
  told?.inside.add(id)
  tellMember(world, chat, id, { was: 'left', is: 'member', link: told })
}

/** Out by themselves, or put out; the seat of a link with a limit is free again. */
export function left(world: World, chat: ChatState, id: number, is: 'left' | 'kicked'): void {
  if (!chat.members.delete(id)) return
  for (const link of world.links.values()) if (link.chat === chat.id) link.inside.delete(id)
  tellMember(world, chat, id, { was: 'member', is, ...(is === 'kicked' ? { by: 1 } : {}) })
}

/** The link as somebody who opens it finds it. */
export function usableLink(world: World, url: string): Link {
  const link = world.links.get(url) ?? fail(400, 'INVITE_HASH_EXPIRED')
  const isOver = link.expires_at !== undefined && link.expires_at <= world.now()
  const isFull = link.member_limit !== undefined && link.inside.size >= link.member_limit
  if (link.is_revoked || isOver || isFull) fail(400, 'INVITE_HASH_EXPIRED')
  return link
}

/** Asks to be let in; the bots that may invite hear of it, and may write to the person for five minutes. */
export function requested(world: World, chat: ChatState, id: number, link: Link | undefined): void {
  const person = personOf(world, id)
  if (chat.members.has(id) || chat.requests.has(id)) return
  const at = world.now()
  const query_id = chat.guard === undefined ? undefined : `${chat.id}${id}${at}`
  chat.requests.set(id, { asked_at: at, query_id, link })
  for (const [bot_id, rights] of chat.admins) {
    const bot = world.bots.get(bot_id)
    if (bot === undefined || !rights.has('can_invite_users')) continue
    person.asked.set(bot_id, { chat: chat.id, at })
    tell(world, bot, {
      chat_join_request: {
        chat: chatShown(chat),
        from: personUser(person),
        user_chat_id: id,
        date: seconds(at),
        ...(link === undefined ? {} : { invite_link: linkShown(world, link, bot_id) }),
        ...(chat.guard === bot_id ? { query_id } : {}),
      },
    })
  }
}

type Standing = 'left' | 'kicked' | 'member' | 'administrator'

/** Tells a bot what it is to a chat: with a person, blocked or not; elsewhere, administrator or not. */
export function tellOwn(
  world: World,
  bot_id: number,
  where: ChatState | PersonState,
  was: Standing,
  is: Standing,
): void {
  const bot = world.bots.get(bot_id)
  if (bot === undefined) return
  const isPerson = 'first_name' in where
  const rights = isPerson ? [] : [...(where.admins.get(bot_id) ?? [])]
  tell(world, bot, {
    my_chat_member: {
      chat: isPerson ? privateChat(where) : chatShown(where),
      from: isPerson ? personUser(where) : { id: 1, is_bot: false, first_name: 'Admin' },
      date: seconds(world.now()),
      old_chat_member: { status: was, user: botUser(bot) },
      new_chat_member: { status: is, user: botUser(bot), ...Object.fromEntries(rights.map(right => [right, true])) },
    },
  })
}
