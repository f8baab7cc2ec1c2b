// Membership of channels and groups at the fake Bot API, and the updates about it.
import { enqueueUpdate } from './hooks.ts'
import {
  botUser,
  type ChatState,
  chatJson,
  cut,
  fail,
  type Link,
  personUser,
  type PersonState,
  privateChat,
  seconds,
  type World,
} from './world.ts'

/** A link as its creator sees it; other administrators see only the beginning of its URL. */
export function linkJson(
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

/** Sends every administrator bot the change of a person's status there. */
export function sendMemberUpdate(world: World, chat: ChatState, id: number, { was, is, link, by = id }: Change): void {
  const user = personUser(personOf(world, id))
  const from = by === id ? user : { id: by, is_bot: false, first_name: 'Admin' }
  for (const bot_id of chat.admins.keys()) {
    const bot = world.bots.get(bot_id)
    if (bot === undefined) continue
    enqueueUpdate(world, bot, {
      chat_member: {
        chat: chatJson(chat),
        from,
        date: seconds(world.now()),
        old_chat_member: { status: was, user },
        new_chat_member: { status: is, user, ...(is === 'kicked' ? { until_date: 0 } : {}) },
        ...(link === undefined ? {} : { invite_link: linkJson(world, link, bot_id) }),
      },
    })
  }
}

/** Lets a person in, by a link if there is one. In a public chat the link is not reported, as with Telegram's apps. */
export function joined(world: World, chat: ChatState, id: number, link: Link | undefined): void {
  if (chat.members.has(id)) return
  chat.members.add(id)
  const reported = chat.username === undefined ? link : undefined
  reported?.inside.add(id)
  sendMemberUpdate(world, chat, id, { was: 'left', is: 'member', link: reported })
}

/** Lets a person leave, or removes them; a link with a limit then has a free seat again. */
export function left(world: World, chat: ChatState, id: number, is: 'left' | 'kicked'): void {
  if (!chat.members.delete(id)) return
  for (const link of world.links.values()) if (link.chat === chat.id) link.inside.delete(id)
  sendMemberUpdate(world, chat, id, { was: 'member', is, ...(is === 'kicked' ? { by: 1 } : {}) })
}

/** A link that a person opens. Fails for a revoked, expired or full one. */
export function usableLink(world: World, url: string): Link {
  const link = world.links.get(url) ?? fail(400, 'INVITE_HASH_EXPIRED')
  const isOver = link.expires_at !== undefined && link.expires_at <= world.now()
  const isFull = link.member_limit !== undefined && link.inside.size >= link.member_limit
  if (link.is_revoked || isOver || isFull) fail(400, 'INVITE_HASH_EXPIRED')
  return link
}

/** Adds a request to join; bots with the right to invite get the update and may message the person for five minutes. */
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
    enqueueUpdate(world, bot, {
      chat_join_request: {
        chat: chatJson(chat),
        from: personUser(person),
        user_chat_id: id,
        date: seconds(at),
        ...(link === undefined ? {} : { invite_link: linkJson(world, link, bot_id) }),
        ...(chat.guard === bot_id ? { query_id } : {}),
      },
    })
  }
}

type MemberStatus = 'left' | 'kicked' | 'member' | 'administrator'

/** Sends a bot the change of its own status: blocked or not by a person, administrator or not in a chat. */
export function sendOwnMemberUpdate(
  world: World,
  bot_id: number,
  where: ChatState | PersonState,
  was: MemberStatus,
  is: MemberStatus,
): void {
  const bot = world.bots.get(bot_id)
  if (bot === undefined) return
  const isPerson = 'first_name' in where
  const rights = isPerson ? [] : [...(where.admins.get(bot_id) ?? [])]
  enqueueUpdate(world, bot, {
    my_chat_member: {
      chat: isPerson ? privateChat(where) : chatJson(where),
      from: isPerson ? personUser(where) : { id: 1, is_bot: false, first_name: 'Admin' },
      date: seconds(world.now()),
      old_chat_member: { status: was, user: botUser(bot) },
      new_chat_member: { status: is, user: botUser(bot), ...Object.fromEntries(rights.map(right => [right, true])) },
    },
  })
}
