// Methods of the fake Bot API for channels and groups: rights, invite links, members, requests to join.
import { randomBytes } from 'node:crypto'
import type { Method } from './bot-methods.ts'
import { joined, linkJson } from './membership.ts'
import {
  type BotState,
  botUser,
  type ChatState,
  chatOf,
  chatJson,
  fail,
  type Link,
  requireRight,
  type World,
  words,
} from './world.ts'

const NO_LINKS = 'not enough rights to manage chat invite link'
const QUERY_MS = 10_000

export const CHAT_METHODS: Readonly<Record<string, Method>> = {
  getChat: (world, bot, { chat_id }) => {
    const chat = chatOf(world, chat_id)
    const isInside = chat.admins.has(bot.id) || chat.username !== undefined
    return isInside
      ? { ...chatJson(chat), accent_color_id: 0, max_reaction_count: 11 }
      : fail(403, `Forbidden: bot is not a member of the ${chat.type} chat`)
  },

  getChatMemberCount: (world, _, { chat_id }) => {
    const { members, admins } = chatOf(world, chat_id)
    return members.size + admins.size + 1
  },

  getChatMember(world, bot, { chat_id, user_id }) {
    const chat = chatOf(world, chat_id)
    const id = Number(user_id)
    if (id !== bot.id && !chat.admins.has(bot.id)) fail(400, 'Bad Request: member list is inaccessible')
    return memberJson(world, chat, id)
  },

  getChatAdministrators(world, _, { chat_id }) {
    const chat = chatOf(world, chat_id)
    return [...chat.admins.keys()].map(id => memberJson(world, chat, id))
  },

  createChatInviteLink(world, bot, params) {
    const chat = chatOf(world, params['chat_id'])
    requireRight(bot, chat, 'can_invite_users', NO_LINKS)
    const url = `https://t.me/+${randomBytes(12).toString('base64url')}`
    const link: Link = {
      url,
      chat: chat.id,
      creator: bot.id,
      is_revoked: false,
      inside: new Set(),
      ...linkFields(world, params),
    }
    world.links.set(url, link)
    return linkJson(world, link)
  },

  editChatInviteLink(world, bot, params) {
    const link = ownLink(world, bot, params)
    return linkJson(world, Object.assign(link, linkFields(world, params)))
  },

  revokeChatInviteLink(world, bot, params) {
    const link = ownLink(world, bot, params)
    link.is_revoked = true
    return linkJson(world, link)
  },

  approveChatJoinRequest(world, bot, { chat_id, user_id }) {
    const { chat, asked, user } = requestOf(world, bot, chat_id, user_id)
    chat.requests.delete(user)
    joined(world, chat, user, asked.link)
    return true
  },

  declineChatJoinRequest(world, bot, { chat_id, user_id }) {
    const { chat, user } = requestOf(world, bot, chat_id, user_id)
    chat.requests.delete(user)
    return true
  },

  answerChatJoinRequestQuery(world, bot, { chat_join_request_query_id: id, result }) {
    for (const chat of world.chats.values())
      for (const [user, asked] of chat.requests) {
        if (asked.query_id !== words(id) || chat.guard !== bot.id) continue
        if (world.now() - asked.asked_at > QUERY_MS)
          fail(400, 'Bad Request: query is too old and response timeout expired or query ID is invalid')
        if (!['approve', 'decline', 'queue'].includes(words(result))) fail(400, 'Bad Request: invalid result specified')
        if (result !== 'queue') chat.requests.delete(user)
        if (result === 'approve') joined(world, chat, user, asked.link)
        return true
      }
    return fail(400, 'Bad Request: query is too old and response timeout expired or query ID is invalid')
  },

  leaveChat(world, bot, { chat_id }) {
    chatOf(world, chat_id).admins.delete(bot.id)
    return true
  },
}

function memberJson(world: World, chat: ChatState, id: number) {
  const bot = world.bots.get(id)
  const rights = chat.admins.get(id)
  if (bot !== undefined && rights !== undefined)
    return {
      status: 'administrator',
      user: botUser(bot),
      can_be_edited: false,
      is_anonymous: false,
      ...Object.fromEntries([...rights].map(right => [right, true])),
    }
  const user =
    bot === undefined ? { id, is_bot: false, first_name: world.people.get(id)?.first_name ?? '' } : botUser(bot)
  return { status: chat.members.has(id) ? 'member' : 'left', user }
}

function linkFields(
  world: World,
  params: Readonly<Record<string, unknown>>,
): Pick<Link, 'name' | 'expires_at' | 'member_limit' | 'creates_join_request'> {
  const { name, expire_date, member_limit, creates_join_request } = params
  if (name !== undefined && (typeof name !== 'string' || Array.from(name).length > 32))
    fail(400, 'Bad Request: invite link name is too long')
  if (member_limit !== undefined && creates_join_request === true)
    fail(400, "Bad Request: member limit can't be specified for links requiring administrator approval")
  if (member_limit !== undefined && !(Number(member_limit) >= 1 && Number(member_limit) <= 99_999))
    fail(400, 'Bad Request: member limit must be from 1 to 99999')
  if (expire_date !== undefined && Number(expire_date) * 1000 <= world.now())
    fail(400, 'Bad Request: expire date is in the past')
  return {
    name: name === undefined ? undefined : String(name),
    expires_at: expire_date === undefined ? undefined : Number(expire_date) * 1000,
    member_limit: member_limit === undefined ? undefined : Number(member_limit),
    creates_join_request: creates_join_request === true,
  }
}

function ownLink(world: World, bot: BotState, { chat_id, invite_link }: Readonly<Record<string, unknown>>): Link {
  const chat = chatOf(world, chat_id)
  requireRight(bot, chat, 'can_invite_users', NO_LINKS)
  const link = world.links.get(words(invite_link))
  if (link === undefined || link.chat !== chat.id || link.creator !== bot.id)
    fail(400, 'Bad Request: INVITE_HASH_EXPIRED')
  return link
}

function requestOf(world: World, bot: BotState, chat_id: unknown, user_id: unknown) {
  const chat = chatOf(world, chat_id)
  requireRight(bot, chat, 'can_invite_users', 'not enough rights')
  const user = Number(user_id)
  if (chat.members.has(user)) fail(400, 'Bad Request: USER_ALREADY_PARTICIPANT')
  const asked = chat.requests.get(user) ?? fail(400, 'Bad Request: HIDE_REQUESTER_MISSING')
  return { chat, asked, user }
}
