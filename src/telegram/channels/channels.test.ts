import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId, toUuid, toWireId } from '../../contract/ids.ts'
import { type BotGround, botGround } from '../../../tests/support/bots.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { type Mailbox, openMailbox } from '../../../tests/support/mailbox.ts'
import { seedKey } from '../../../tests/support/house.ts'
import { BROWSER } from '../../../tests/support/visits.ts'
import type { FakeBot, FakeChat } from '../../../tests/support/telegram-fake/telegram-fake.ts'
import { linkForClick } from '../../traffic/invite-links/invite-links.ts'
import { linksOf } from '../../traffic/invite-links/words.ts'
import type { Channel } from './api.ts'
import { slowDown, speedUp } from './make.ts'

let ground: BotGround
let mailbox: Mailbox
let bot: FakeBot
let bot_id: string

before(async () => {
  mailbox = await openMailbox()
  ground = await botGround({ SMTP_URL: mailbox.url }, { link_pause_ms: 5 })
  bot = ground.telegram.bot({ username: 'Gate_bot' })
  bot_id = (await ground.add(bot)).id
})
after(async () => {
  await ground.end()
  await mailbox.close()
})

const uuid = (id: string): string => toUuid(id) ?? ''
const db = () => ground.house.ground.db

/** A chat in which the bot may create links. */
function aChat(about: Parameters<BotGround['telegram']['chat']>[0] = {}, rights?: readonly string[]): FakeChat {
  const chat = ground.telegram.chat(about)
  chat.promote(bot, rights)
  return chat
}

async function add(chat: FakeChat, more: object = {}): Promise<Channel> {
  const reply = await ground.call('POST', '/api/channels', { bot_id, chat_id: chat.id, ...more })
  assert.equal(reply.statusCode, 201, reply.body)
  return reply.data() as Channel
}

const read = async (id: string) => (await ground.call('GET', `/api/channels/${id}`)).data() as Channel
const callsOf = (chat: FakeChat, method = 'createChatInviteLink') =>
  ground.telegram.calls.filter(call => call.method === method && Number(call.params['chat_id']) === chat.id)
const mailed = (subject: RegExp) =>
  eventually(`a mail says ${subject}`, () =>
    mailbox.mails.some(({ text, to }) => to.includes(ground.owner.email) && subject.test(text)),
  )
const hasFree = (id: string, count: number) =>
  eventually(`${count} links are free`, async () => (await read(id)).pool.free >= count)

test('a channel is added by its id or its name, is listed, and gets its links automatically', async () => {
  const chat = aChat({ title: 'VIP deals', username: 'vip_deals' })
  const added = await add(chat, { chat_id: '@vip_deals' })
  const { title, username, kind, is_public, state, join_mode, link_days, pool_min, chat_id } = added
  assert.deepEqual(
    { title, username, kind, is_public, state, join_mode, link_days, pool_min, chat_id },
    {
      title: 'VIP deals',
      username: 'vip_deals',
      kind: 'channel',
      is_public: true,
      state: 'ready',
      join_mode: 'open',
      link_days: 7,
      pool_min: 50,
      chat_id: String(chat.id),
    },
  )
  await hasFree(added.id, 50)
  const calls = callsOf(chat)
  const ids = await db().selectFrom('channel_links').select('id').where('channel_id', '=', uuid(added.id)).execute()
  assert.deepEqual(
    calls.map(({ params }) => String(params['name'])).toSorted(),
    ids.map(({ id }) => toWireId(id)).toSorted(),
  )
  for (const { params, at } of calls) {
    assert.deepEqual(Object.keys(params).toSorted(), ['chat_id', 'creates_join_request', 'expire_date', 'name'])
    const days = (Number(params['expire_date']) * 1000 - at) / 86_400_000
    assert.ok(days > 6.99 && days < 7.01, `${days} days`)
  }
  const { data } = (await ground.call('GET', '/api/channels')).data() as { data: Channel[] }
  assert.ok(data.some(({ id }) => id === added.id))
  const again = await ground.call('POST', '/api/channels', { bot_id, chat_id: chat.id })
  assert.deepEqual([again.statusCode, again.data()['code']], [409, 'already_exists'])
})

test('a refused channel comes with the reason: the missing right, or that there is no such chat', async () => {
  const post = async (chat_id: unknown, of = bot_id) => {
    const reply = await ground.call('POST', '/api/channels', { bot_id: of, chat_id })
    return [
      reply.statusCode,
      reply.statusCode === 400 ? 'invalid' : reply.data()['code'],
      String(reply.data()['error']),
    ] as const
  }
  const post_hint = async (chat_id: number) =>
    String((await ground.call('POST', '/api/channels', { bot_id, chat_id })).data()['hint'])
  const stranger = ground.telegram.chat({ username: 'not_ours' })
  const [status, code, error] = await post('@not_ours')
  assert.deepEqual([status, code], [422, 'bot_not_admin'])
  assert.match(error, /@Gate_bot is no administrator there/)
  assert.deepEqual((await post(stranger.id)).slice(0, 2), [422, 'bot_not_admin'])
  const poster = aChat({}, ['can_post_messages'])
  assert.match((await post(poster.id))[2], /without the right to invite users/)
  assert.deepEqual((await post(-1_001_234)).slice(0, 2), [422, 'bot_not_admin'])
  assert.match(await post_hint(-1_001_234), /Make @Gate_bot an administrator there/)
  assert.deepEqual((await post('deals')).slice(0, 2), [400, 'invalid'])
  assert.deepEqual((await post(aChat().id, toWireId('00000000-0000-4000-8000-000000000000'))).slice(0, 2), [
    404,
    'not_found',
  ])
  ground.telegram.faults.next('getChat', 'drop')
  assert.deepEqual((await post(aChat().id)).slice(0, 2), [503, 'telegram_away'])
})

test('fields are changed one by one, and a message that cannot be sent is refused', async () => {
  const { id } = await add(aChat({ type: 'supergroup' }))
  const change = (body: object) => ground.call('PATCH', `/api/channels/${id}`, body)
  const request_message = {
    text: 'Hello <b>you</b>',
    buttons: [[{ text: 'Offer', url: 'https://o.example/?c={click_id}' }]],
  }
  const changes = {
    on_request: 'approve',
    approve_after_s: 60,
    request_message,
    leave_event: 'custom_3',
    leave_window_h: 48,
    pool_min: 10,
  }
  const changed = (await change(changes)).data() as Channel
  for (const [field, value] of Object.entries(changes)) assert.deepEqual(changed[field as keyof Channel], value, field)
  assert.equal(((await change({ request_message: null })).data() as Channel).request_message, null)
  for (const [body, said] of [
    [{ request_message: { text: '<b>open' } }, /request_message/],
    [{ link_days: 31 }, /link_days/],
    [{ pool_min: 5 }, /pool_min/],
    [{ leave_event: 'ftd' }, /leave_event/],
    [{ join_mode: 'closed' }, /join_mode/],
  ] as const) {
    const reply = await change(body)
    assert.equal(reply.statusCode, 400, reply.body)
    assert.match(reply.body, said)
  }
  assert.equal((await read(id)).on_request, 'approve')
})

test('after a change of the join mode new links are created, and no old one is given out', async () => {
  const chat = aChat()
  const { id } = await add(chat)
  await ground.call('PATCH', `/api/channels/${id}`, { pool_min: 10 })
  await hasFree(id, 10)
  const from = callsOf(chat).length
  await ground.call('PATCH', `/api/channels/${id}`, { join_mode: 'request' })
  await eventually(
    'links are made that ask',
    async () => (await read(id)).pool.free >= 10 && callsOf(chat).length > from,
  )
  const made = callsOf(chat).slice(from)
  assert.ok(made.every(({ params }) => params['creates_join_request'] === true && !('member_limit' in params)))
  const batches = await db()
    .selectFrom('link_batches')
    .select('words')
    .where('channel_id', '=', uuid(id))
    .where('state', 'in', ['free', 'leased'])
    .execute()
  const names = new Set(made.map(({ params }) => params['name']))
  assert.ok(batches.flatMap(({ words }) => linksOf(words)).every(link => names.has(toWireId(link.id))))
})

test('a deleted channel is gone and gets no more links; added again it is the same channel', async () => {
  const chat = aChat()
  const { id } = await add(chat)
  assert.equal((await ground.call('DELETE', `/api/channels/${id}`)).statusCode, 200)
  assert.equal((await ground.call('GET', `/api/channels/${id}`)).statusCode, 404)
  assert.equal((await ground.call('DELETE', `/api/channels/${id}`)).statusCode, 404)
  const left = await db()
    .selectFrom('link_batches')
    .select('id')
    .where('channel_id', '=', uuid(id))
    .where('state', '=', 'free')
    .execute()
  assert.deepEqual(left, [])
  assert.equal((await add(chat)).id, id)
})

test('a chat where a bot became an administrator is offered automatically, until it is added or the bot is gone', async () => {
  const chat = aChat({ title: 'Fresh' })
  const elsewhere = aChat({ title: 'Leaving' }, ['can_post_messages'])
  const offered = async () =>
    (
      (await ground.call('GET', '/api/channels/offered')).data()['data'] as { chat_id: string; can_invite: boolean }[]
    ).filter(({ chat_id }) => [chat.id, elsewhere.id].map(String).includes(chat_id))
  await eventually('both are offered', async () => (await offered()).length === 2)
  assert.deepEqual(Object.fromEntries((await offered()).map(one => [one.chat_id, one.can_invite])), {
    [chat.id]: true,
    [elsewhere.id]: false,
  })
  elsewhere.demote(bot)
  await eventually('one is not offered any more', async () => (await offered()).length === 1)
  await add(chat)
  assert.deepEqual(await offered(), [])
  const bots = (await ground.call('GET', '/api/channels/offered')).data()['bots'] as {
    bot_id: string
    channel_link: string
  }[]
  assert.equal(
    bots.find(one => one.bot_id === bot_id)?.channel_link,
    'https://t.me/Gate_bot?startchannel&admin=invite_users',
  )
})

test('a lost right is known within a second of the update, and no call is repeated; once restored, links are created again', async () => {
  const chat = aChat()
  const { id } = await add(chat)
  await hasFree(id, 10)
  chat.promote(bot, ['can_post_messages'])
  await eventually('the state is known', async () => (await read(id)).state === 'no_rights')
  assert.match((await read(id)).state_reason ?? '', /without the right to invite users/)
  await mailed(/Deals: no invite links can be created/)
  await db().updateTable('link_batches').set({ state: 'dead' }).where('channel_id', '=', uuid(id)).execute()
  const from = callsOf(chat).length
  chat.demote(bot, 'kicked')
  await eventually('the state is known', async () => (await read(id)).state === 'not_admin')
  assert.equal(callsOf(chat).length, from)
  chat.promote(bot)
  await hasFree(id, 10)
  assert.equal((await read(id)).state_reason, null)
})

test('a late update about the bot’s right does not undo a newer one', async () => {
  const chat = aChat()
  const { id } = await add(chat)
  await ground.telegram.settled()
  const reportStatus = (status: string, date: number) =>
    bot.sendUpdate({
      my_chat_member: {
        chat: { id: chat.id, type: 'channel', title: `Deals ${status}` },
        from: { id: 1, is_bot: false, first_name: 'O' },
        date,
        old_chat_member: { status: 'left', user: { id: bot.id, is_bot: true, first_name: 'B' } },
        new_chat_member: { status, can_invite_users: true, user: { id: bot.id, is_bot: true, first_name: 'B' } },
      } as object,
    })
  const now = Math.floor(ground.telegram.now() / 1000)
  reportStatus('administrator', now)
  await eventually('the newer is known', async () => (await read(id)).title === 'Deals administrator')
  reportStatus('left', now - 60)
  await ground.telegram.settled()
  assert.deepEqual([(await read(id)).state, (await read(id)).title], ['ready', 'Deals administrator'])
  reportStatus('left', now)
  await ground.telegram.settled()
  assert.equal((await read(id)).state, 'not_admin')
})

test('a lost right that no update reported is found by the first call, and no other call follows', async () => {
  const chat = aChat()
  const deaf = ground.telegram.bot()
  chat.promote(deaf)
  const added = await ground.add(deaf)
  const { id } = await add(chat, { bot_id: added.id })
  await hasFree(id, 50)
  // Its own program gets the update instead.
  deaf.setHook('https://elsewhere.example/')
  chat.promote(deaf, ['can_post_messages'])
  const from = callsOf(chat).length
  await ground.call('PATCH', `/api/channels/${id}`, { pool_min: 60 })
  await eventually('the state is known', async () => (await read(id)).state === 'no_rights')
  assert.equal(callsOf(chat).length, from + 1)
  assert.equal(((await ground.call('POST', `/api/channels/${id}/check`)).data() as Channel).state, 'no_rights')
  const campaign = await ground.call('POST', '/api/campaigns', {
    name: 'Into it',
    destination: { type: 'channel', channel_id: id },
  })
  const warned = async () => {
    const { warnings } = (await ground.call('GET', `/api/campaigns/${String(campaign.data()['id'])}`)).data()
    return (warnings as { code: string; field: string }[]).map(({ code, field }) => `${code} ${field}`)
  }
  assert.deepEqual([campaign.statusCode, await warned()], [201, ['channel_not_ready destination.channel_id']])
  chat.promote(deaf)
  assert.equal((await ground.call('POST', `/api/bots/${added.id}/check`)).statusCode, 200)
  assert.equal((await read(id)).state, 'ready', 'a look at the bot is one at its channels')
  assert.deepEqual(await warned(), [])
  deaf.revoke()
  await ground.call('POST', `/api/bots/${added.id}/check`)
  assert.deepEqual(await warned(), ['bot_revoked destination.channel_id'])
  const destination = { type: 'redirect', url: 'https://example.com/' }
  await ground.call('PATCH', `/api/campaigns/${String(campaign.data()['id'])}`, { destination })
  await ground.call('PATCH', `/api/bots/${added.id}`, { token: deaf.token, take_over: true })
  await hasFree(id, 60)
})

test('a channel whose bot was deleted continues with another bot and new links', async () => {
  const chat = aChat()
  const first = ground.telegram.bot()
  const second = ground.telegram.bot()
  for (const one of [first, second]) chat.promote(one)
  const [before, after_it] = [await ground.add(first), await ground.add(second)]
  const { id } = await add(chat, { bot_id: before.id })
  await hasFree(id, 50)
  const post = () => ground.call('POST', '/api/channels', { bot_id: after_it.id, chat_id: chat.id })
  assert.deepEqual([(await post()).statusCode, (await post()).data()['code']], [409, 'already_exists'])
  await ground.call('DELETE', `/api/bots/${before.id}`)
  const from = callsOf(chat).length
  const moved = await post()
  assert.equal(moved.statusCode, 201, moved.body)
  assert.deepEqual([moved.data()['id'], moved.data()['bot_id'], moved.data()['state']], [id, after_it.id, 'ready'])
  await eventually('links are made by the other one', () => callsOf(chat).length >= from + 50)
  assert.ok(
    callsOf(chat)
      .slice(from)
      .every(({ token }) => token === second.token),
  )
})

test('after fifteen rate limits in a row the pause is still short, and soon back at the first one', () => {
  const paces = { first_ms: 1000, of: new Map<string, number>() }
  const pause = () => paces.of.get('c')
  for (let n = 0; n < 15; n += 1) slowDown(paces, 'c')
  assert.equal(pause(), 8000)
  const seen = Array.from({ length: 4 }, () => {
    speedUp(paces, 'c')
    return pause()
  })
  assert.deepEqual(seen, [4000, 2000, 1000, 900])
  for (let n = 0; n < 50; n += 1) speedUp(paces, 'c')
  assert.equal(pause(), 200)
})

test('a rate limit of the bot stops its link creation, and one channel’s rate limit pauses the bot’s other channels', async () => {
  const own = ground.telegram.bot()
  const [one, other] = [aChat(), aChat()]
  for (const chat of [one, other]) chat.promote(own)
  const added = await ground.add(own)
  const silent = (ms: number) =>
    db()
      .updateTable('bots')
      .set({ send_after: new Date(Date.now() + ms).toISOString() })
      .where('id', '=', uuid(added.id))
      .execute()
  await silent(3_600_000)
  const { id } = await add(one, { bot_id: added.id })
  const { id: other_id } = await add(other, { bot_id: added.id })
  // A channel that is added later gets its links first.
  await hasFree((await add(aChat())).id, 50)
  assert.deepEqual([callsOf(one), callsOf(other)], [[], []])
  ground.telegram.faults.always('createChatInviteLink', { retry_after: 3600 }, own.token)
  await silent(-1000)
  await eventually('both wait', async () =>
    (await Promise.all([id, other_id].map(read))).every(({ pool }) => pool.waiting_until !== null),
  )
  ground.telegram.faults.clear()
  assert.ok(callsOf(one).length + callsOf(other).length <= 2)
})

test('a revoked token is found by the first call for a link', async () => {
  const [chat, own] = [aChat(), ground.telegram.bot()]
  chat.promote(own)
  const added = await ground.add(own)
  const { id } = await add(chat, { bot_id: added.id })
  await hasFree(id, 50)
  own.revoke()
  await ground.call('PATCH', `/api/channels/${id}`, { pool_min: 60 })
  await eventually(
    'the bot says so',
    async () => (await ground.call('GET', `/api/bots/${added.id}`)).data()['token_state'] === 'revoked',
  )
  assert.equal((await read(id)).state_reason, null)
})

test('Telegram is not called during a rate limit, and afterwards the pool fills up @detail', async () => {
  const chat = aChat()
  ground.telegram.faults.next('createChatInviteLink', { retry_after: 2 }, 2)
  const { id } = await add(chat)
  await hasFree(id, 50)
  const calls = callsOf(chat)
  assert.deepEqual(
    calls.slice(0, 3).map(({ status }) => status),
    [429, 429, 200],
  )
  for (const at of [1, 2]) {
    const [before, after] = [calls[at - 1]?.at ?? 0, calls[at]?.at ?? 0]
    assert.ok(after - before >= 2000, `${after - before} ms`)
  }
})

test('unused links that expire are replaced, and no link is ever revoked', async () => {
  const chat = aChat()
  const { id } = await add(chat)
  await ground.call('PATCH', `/api/channels/${id}`, { pool_min: 10 })
  await hasFree(id, 10)
  await db()
    .updateTable('link_batches')
    .set({ expires_at: new Date(Date.now() + 3_600_000).toISOString() })
    .where('channel_id', '=', uuid(id))
    .execute()
  assert.equal((await read(id)).pool.free, 0)
  await db().updateTable('channels').set({ look_at: null }).where('id', '=', uuid(id)).execute()
  await hasFree(id, 10)
  assert.deepEqual(callsOf(chat, 'revokeChatInviteLink'), [])
})

test('a group that becomes a supergroup stays the same channel, and its links are created again', async () => {
  const chat = aChat({ type: 'group' })
  const { id } = await add(chat)
  await hasFree(id, 50)
  const next = aChat({ type: 'supergroup' })
  // A call may have found this in the meantime.
  await db().updateTable('channels').set({ state: 'gone' }).where('id', '=', uuid(id)).execute()
  bot.sendUpdate({
    message: {
      chat: { id: chat.id, type: 'group', title: 'Deals' },
      migrate_to_chat_id: next.id,
      date: 0,
      message_id: 1,
    },
  })
  await eventually('the number has changed', async () => (await read(id)).chat_id === String(next.id))
  await eventually('links are made there', async () => callsOf(next).length >= 50)
  assert.equal((await read(id)).kind, 'supergroup')
})

test('a move to a supergroup that no update reported is found by the first call', async () => {
  const chat = aChat({ type: 'group' })
  const { id } = await add(chat)
  const next = aChat({ type: 'supergroup' })
  chat.migrate(next)
  assert.equal(((await ground.call('POST', `/api/channels/${id}/check`)).data() as Channel).chat_id, String(next.id))
  const { state, kind } = await read(id)
  assert.deepEqual([state, kind], ['ready', 'supergroup'])
})

test('a campaign that leads into a channel gets its shared link a moment after it is saved', async () => {
  const chat = aChat()
  const channel = await add(chat)
  const destination = { type: 'channel', channel_id: channel.id }
  const made = await ground.call('POST', '/api/campaigns', { name: 'C', destination })
  assert.equal(made.statusCode, 201, made.body)
  assert.deepEqual(made.data()['destination'], { ...destination, open: 'direct', link_host: 't.me' })
  const id = uuid(String(made.data()['id']))
  const shared = async () =>
    await db()
      .selectFrom('channel_links')
      .select(['url', 'expires_at'])
      .where('campaign_id', '=', id)
      .executeTakeFirst()
  await eventually('the link is there', async () => (await shared()) !== undefined)
  const link = await shared()
  assert.equal(link?.expires_at, null)
  // An earlier version's process reads this.
  await eventually('it is the address', async () => {
    const row = await db().selectFrom('campaigns').select('destination').where('id', '=', id).executeTakeFirstOrThrow()
    return (row.destination as { url: string }).url === link?.url
  })
  const { secret } = await seedKey(ground.house.database, ground.owner, { rights: ['campaigns'] })
  const byKey = await ground.house.call('POST', '/api/campaigns', { key: secret, body: { name: 'K', destination } })
  assert.equal(byKey.statusCode, 201, byKey.body)
  const other = await ground.call('POST', '/api/campaigns', {
    name: 'D',
    destination: { type: 'channel', channel_id: toWireId(id) },
  })
  assert.equal(other.statusCode, 400)
})

test('while Telegram hangs visitors still get ready links and then the shared link', async () => {
  const chat = aChat()
  const { id } = await add(chat)
  const made = await ground.call('POST', '/api/campaigns', {
    name: 'C',
    destination: { type: 'channel', channel_id: id },
  })
  await hasFree(id, 40)
  const campaign_id = uuid(String(made.data()['id']))
  const shared = async () =>
    (await db().selectFrom('channel_links').select('url').where('campaign_id', '=', campaign_id).executeTakeFirst())
      ?.url
  await eventually('the shared link is there', async () => (await shared()) !== undefined)
  // The process holds some links, and has not just found the pool empty.
  await eventually('links are held ready', async () => (await read(id)).pool.leased > 0)
  ground.telegram.faults.always('createChatInviteLink', 'hang')
  try {
    const urls: string[] = []
    const visit = async () => {
      const reply = await ground.house.call('GET', `/c/${String(made.data()['key'])}`, { headers: BROWSER })
      assert.equal(reply.statusCode, 302, reply.body)
      urls.push(String(reply.headers.location))
    }
    for (let n = 0; n < 8; n += 1) await Promise.all(Array.from({ length: 12 }, visit))
    const own = urls.filter(url => !urls.slice(-1).includes(url))
    assert.equal(urls.at(-1), await shared())
    assert.ok(own.length >= 40 && own.length < 96, `${own.length} links of their own`)
    assert.equal(new Set(own).size, own.length)
    const grants = await db()
      .selectFrom('shared_grants')
      .select('click_id')
      .where('channel_id', '=', uuid(id))
      .execute()
    assert.equal(grants.length, urls.length - own.length)
  } finally {
    ground.telegram.faults.clear()
  }
  // It recovers without help.
  await eventually('links are there again', async () => (await read(id)).pool.free >= 10)
})

test('owners get one mail when links run out while visitors come, and another only after there were enough', async () => {
  const chat = aChat({ title: 'Busy' })
  const { id } = await add(chat)
  await hasFree(id, 50)
  const org_id = ground.owner.org_id
  const give = async (count: number) => {
    for (let n = 0; n < count; n += 1)
      await linkForClick(db(), { org_id, channel_id: uuid(id), click_id: newId(), campaign_id: null })
  }
  ground.telegram.faults.always('createChatInviteLink', { retry_after: 1 })
  try {
    await give(48)
    // A channel whose links are used is counted soon, otherwise half a minute later.
    await db().updateTable('channels').set({ look_at: null }).where('id', '=', uuid(id)).execute()
    await mailed(/Busy: invite links run out/)
  } finally {
    ground.telegram.faults.clear()
  }
  await hasFree(id, 90)
  const { rows } = await ground.house.database.reads.query<{ notice: string | null }>(
    'select notice from channels where id = $1',
    [uuid(id)],
  )
  assert.equal(rows[0]?.notice, null)
})

test('another organization’s channels are as if they were not there, and keys get none', async () => {
  const chat = aChat()
  const { id } = await add(chat)
  const stranger = await ground.signIn()
  const routes = [
    ['GET', `/api/channels/${id}`],
    ['PATCH', `/api/channels/${id}`, { pool_min: 10 }],
    ['POST', `/api/channels/${id}/check`],
    ['DELETE', `/api/channels/${id}`],
  ] as const
  for (const [method, url, body] of routes) {
    const reply = await ground.call(method, url, body, stranger)
    assert.deepEqual([reply.statusCode, reply.data()['code']], [404, 'not_found'], url)
  }
  const list = (await ground.call('GET', '/api/channels', undefined, stranger)).data()
  assert.deepEqual(list['data'], [])
  const offered = (await ground.call('GET', '/api/channels/offered', undefined, stranger)).data()
  assert.deepEqual(offered, { data: [], bots: [] })
  const theirs = await ground.call('POST', '/api/channels', { bot_id, chat_id: chat.id }, stranger)
  assert.deepEqual([theirs.statusCode, theirs.data()['code']], [404, 'not_found'])
  const destination = { type: 'channel', channel_id: id }
  const campaign = await ground.call('POST', '/api/campaigns', { name: 'C', destination }, stranger)
  assert.equal(campaign.statusCode, 400)
  const { secret } = await seedKey(ground.house.database, ground.owner, { rights: ['campaigns'] })
  for (const [method, url, body] of [...routes, ['GET', '/api/channels'], ['GET', '/api/channels/offered']] as const) {
    const reply = await ground.house.call(method, url, { key: secret, ...(body === undefined ? {} : { body }) })
    assert.deepEqual([reply.statusCode, reply.data()['code']], [403, 'api_key_resource_forbidden'], url)
  }
  assert.equal((await read(id)).state, 'ready')
})
