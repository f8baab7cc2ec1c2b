// Requests to join: their clicks, the message before the decision, and Telegram's refusals.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type BotGround, botGround, PUBLIC } from '../../../tests/support/bots.ts'
import { type ChannelPlace, channelPlace } from '../../../tests/support/channel-place.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { openTestHouse } from '../../../tests/support/house.ts'
import { newId, toWireId } from '../../contract/ids.ts'

let ground: BotGround
before(async () => {
  ground = await botGround()
})
after(() => ground.end())

const settled = () => ground.telegram.settled()
const WELCOME = JSON.stringify({ text: 'Hello, your click is {click_id}', format: 'plain' })
const APPROVE = { on_request: 'approve', request_message: WELCOME } as const

/** The bot's calls of these methods, in order, with the person of each. */
const called = ({ fake }: ChannelPlace) =>
  ground.telegram.calls
    .filter(({ token, method }) => token === fake.token && /^(send|approve|decline|answerChat)/.test(method))
    .map(({ method, params }) => `${method} ${String(params['user_id'] ?? params['chat_id'] ?? params['result'])}`)

const states = async (place: ChannelPlace) => (await place.requests()).map(({ state }) => state)
const tasks = async ({ org_id }: ChannelPlace) =>
  await ground.house.database.kysely
    .selectFrom('bot_tasks')
    .selectAll()
    .where('org_id', '=', org_id)
    .orderBy('id')
    .execute()
const tasksEnded = (place: ChannelPlace) => async () => (await tasks(place)).every(({ state }) => state !== 'waiting')

test('the message arrives before the approval, both at once, with the click of the link; the join counts on the same click', async () => {
  const place = await channelPlace(ground, { is: APPROVE })
  const click = await place.click()
  const person = ground.telegram.person()
  person.join(place.chat, await place.link({ click, asks: true }))
  await settled()
  await eventually('they are in', () => place.chat.members.has(person.id))
  await settled()
  assert.deepEqual(called(place), [`sendMessage ${person.id}`, `approveChatJoinRequest ${person.id}`])
  const sent = ground.telegram.messages.find(({ chat }) => chat === person.id)
  assert.equal(sent?.params['text'], `Hello, your click is ${click}`)
  await eventually('it is written', async () => (await states(place))[0] === 'approved')
  const [request] = await place.requests()
  await eventually('by the rule', async () => (await place.requests())[0]?.decided_by === 'rule')
  assert.deepEqual([request?.certainty, toWireId(request?.click_id ?? '')], ['link', click])
  assert.deepEqual(
    (await place.events()).map(({ type, click_id }) => [type, toWireId(click_id)]),
    [
      ['join_request', click],
      ['channel_join', click],
    ],
  )
  const [member] = await place.members()
  assert.deepEqual([member?.certainty, member?.state], ['link', 'in'])
  assert.equal(await place.charges(), 1)
  // Both are due at once, and the approval waits for the message instead of being retried.
  const done = new Map((await tasks(place)).map(task => [task.kind, task]))
  assert.deepEqual([...done.keys()].toSorted(), ['approve', 'request_message'])
  for (const { kind, tries, due_at, created_at } of done.values())
    assert.deepEqual([tries, Date.parse(due_at) <= Date.parse(created_at)], [1, true], kind)
})

test('of two bots in one channel only the channel’s own sends the message and decides', async () => {
  const place = await channelPlace(ground, { is: APPROVE })
  const other = ground.telegram.bot()
  await ground.add(other, {}, place.owner)
  place.chat.promote(other)
  const person = ground.telegram.person()
  person.join(place.chat, await place.link({ asks: true }))
  await settled()
  await eventually('they are in', () => place.chat.members.has(person.id))
  await eventually('all is done', tasksEnded(place))
  assert.deepEqual(called(place), [`sendMessage ${person.id}`, `approveChatJoinRequest ${person.id}`])
  assert.ok((await tasks(place)).every(({ bot_id }) => bot_id === place.bot_id))
})

test('a refused or lost message is not sent again, and the approval still comes', async () => {
  for (const fault of ['accept_then_drop', 'refused'] as const) {
    const place = await channelPlace(ground, {
      is: fault === 'refused' ? { ...APPROVE, request_message: JSON.stringify({ text: '<b>open' }) } : APPROVE,
    })
    if (fault !== 'refused') ground.telegram.faults.next('sendMessage', fault, 1, place.fake.token)
    const person = ground.telegram.person()
    person.join(place.chat, await place.link({ asks: true }))
    await settled()
    await eventually('they are in', () => place.chat.members.has(person.id))
    assert.deepEqual(called(place), [`sendMessage ${person.id}`, `approveChatJoinRequest ${person.id}`], fault)
  }
})

test('with a delay a request is approved at its time and not before, also after a restart', async () => {
  const place = await channelPlace(ground, { is: { on_request: 'approve', approve_after_s: 60 } })
  const [early, due] = [ground.telegram.person(), ground.telegram.person()]
  const at = Math.floor(Date.now() / 1000)
  place.fake.sendUpdate(askOf(place, early.id, at - 5))
  await settled()
  // Telegram reports whole seconds, so the request may have come at the end of its second.
  const [task] = await tasks(place)
  assert.equal(Date.parse(task?.due_at ?? ''), (at - 5 + 60 + 1) * 1000)
  const second = await openTestHouse(ground.house.database, {
    BASE_URL: PUBLIC,
    TELEGRAM_API_ROOT: ground.telegram.origin,
  })
  assert.deepEqual([await states(place), called(place)], [['pending'], []])
  // A request of a minute ago is due at once, in any process.
  const link = await place.link({ asks: true })
  const before = Date.now()
  due.join(place.chat, link)
  const after = Date.now()
  await settled()
  const waits = (await tasks(place)).find(({ telegram_user_id }) => telegram_user_id === String(due.id))
  const wait_ms = Date.parse(waits?.due_at ?? '') - before
  assert.ok(wait_ms >= 60_000 && wait_ms <= after - before + 61_000, `due ${wait_ms} ms after they asked`)
  await ground.house.database.kysely
    .updateTable('bot_tasks')
    .set({ due_at: new Date(Date.now() - 1000).toISOString() })
    .where('org_id', '=', place.org_id)
    .where('telegram_user_id', '=', String(due.id))
    .execute()
  await eventually('they are in', () => place.chat.members.has(due.id))
  assert.ok(!place.chat.members.has(early.id))
  await second.end()
})

test('a Telegram clock that is ahead does not delay an immediate approval', async () => {
  const place = await channelPlace(ground, { is: APPROVE })
  const { id } = ground.telegram.person()
  place.fake.sendUpdate(askOf(place, id, Math.floor(Date.now() / 1000) + 600))
  await settled()
  await eventually('it is tried', () => called(place).includes(`approveChatJoinRequest ${id}`))
})

test('a withdrawn request is gone with Telegram’s reason, and is not tried again', async () => {
  const place = await channelPlace(ground, { is: { on_request: 'approve', approve_after_s: 3600 } })
  const person = ground.telegram.person()
  person.join(place.chat, await place.link({ asks: true }))
  await settled()
  person.withdraw(place.chat)
  await ground.house.database.kysely
    .updateTable('bot_tasks')
    .set({ due_at: new Date(Date.now() - 1000).toISOString() })
    .where('org_id', '=', place.org_id)
    .execute()
  await eventually('it has ended', tasksEnded(place))
  const [request] = await place.requests()
  assert.deepEqual([request?.state, request?.reason], ['gone', 'Bad Request: HIDE_REQUESTER_MISSING'])
  assert.deepEqual(called(place), [`approveChatJoinRequest ${person.id}`])
  // A repeated request is pending again and no second event. Telegram's times are whole seconds.
  ground.telegram.advance(1000)
  person.join(place.chat, await place.link({ asks: true }))
  await settled()
  assert.deepEqual(await states(place), ['pending'])
})

test('while the bot may not invite, no request is retried in a loop, and the channel shows the fault', async () => {
  const place = await channelPlace(ground)
  const people = Array.from({ length: 5 }, () => ground.telegram.person())
  for (const person of people) person.join(place.chat, await place.link({ asks: true }))
  await settled()
  await eventually('all have asked', async () => (await states(place)).length === 5)
  // No update reports it; the first refusal does.
  place.chat.promote(place.fake, ['can_post_messages'])
  await settled()
  const from = ground.telegram.calls.length
  assert.deepEqual((await decide(place)).data(), { requests: 5 })
  await eventually('all have ended', tasksEnded(place))
  const tries = ground.telegram.calls.slice(from).filter(({ method }) => method === 'approveChatJoinRequest')
  assert.ok(tries.length <= 3, `${tries.length} tries`)
  assert.deepEqual(new Set(await states(place)), new Set(['pending']))
  assert.ok((await place.requests()).every(({ reason }) => reason !== null))
  const { rows } = await ground.house.database.reads.query('select state from channels where id = $1', [
    place.channel_id,
  ])
  assert.deepEqual(rows, [{ state: 'no_rights' }])
})

test('a rate limit is waited for, and then the request is approved', async () => {
  const place = await channelPlace(ground)
  const person = ground.telegram.person()
  person.join(place.chat, await place.link({ asks: true }))
  await settled()
  ground.telegram.faults.next('approveChatJoinRequest', { retry_after: 1 }, 1, place.fake.token)
  await decide(place)
  await eventually('they are in', () => place.chat.members.has(person.id))
  assert.equal(called(place).length, 2)
})

test('a guard’s query is answered within ten seconds, with approve or queue', async () => {
  for (const [is, results] of [
    [{ on_request: 'approve' }, ['approve']],
    [APPROVE, ['queue']],
    [{}, ['queue']],
  ] as const) {
    const place = await channelPlace(ground, { is })
    place.chat.guardBy(place.fake)
    const person = ground.telegram.person()
    person.join(place.chat, await place.link({ asks: true }))
    await settled()
    await eventually('all is done', async () => (await tasksEnded(place)()) && (await tasks(place)).length > 0)
    const answers = called(place).filter(call => call.startsWith('answerChat'))
    assert.deepEqual(
      answers,
      results.map(result => `answerChatJoinRequestQuery ${result}`),
    )
    assert.equal(place.chat.members.has(person.id), 'on_request' in is)
    assert.deepEqual(await states(place), ['on_request' in is ? 'approved' : 'pending'])
    assert.ok(called(place).every(call => call.startsWith('answer') || is === APPROVE))
  }
})

test('a filter decides many requests; the bot carries each decision out once', async () => {
  const place = await channelPlace(ground)
  const click = await place.click()
  const [paid, organic, third] = [ground.telegram.person(), ground.telegram.person(), ground.telegram.person()]
  paid.join(place.chat, await place.link({ click, asks: true }))
  organic.join(place.chat, await place.link({ asks: true }))
  third.join(place.chat, await place.link({ asks: true }))
  await settled()
  assert.deepEqual(called(place), [], 'it is left to a person')
  const pending = await list(place, '&state=pending')
  assert.equal(pending.length, 3)
  assert.deepEqual(
    (await list(place, '&certainty=link')).map(row => [row['telegram_user_id'], row['campaign_name'], row['click_id']]),
    [[String(paid.id), 'Channel', click]],
  )
  const byCampaign = { campaign_id: toWireId(place.campaign.id) }
  assert.deepEqual((await decide(place, 'approve', byCampaign)).data(), { requests: 1 })
  const named = (await list(place, '&state=pending')).filter(row => row['telegram_user_id'] === String(organic.id))
  await decide(place, 'decline', { ids: named.map(row => row['id']) })
  await eventually('both are decided', async () => (await list(place, '&state=pending')).length === 1)
  assert.deepEqual([...place.chat.members], [paid.id])
  const [declined] = await list(place, '&state=declined')
  assert.deepEqual([declined?.['telegram_user_id'], declined?.['decided_by']], [String(organic.id), 'Person'])
  assert.deepEqual(called(place).toSorted(), [
    `approveChatJoinRequest ${paid.id}`,
    `declineChatJoinRequest ${organic.id}`,
  ])
  assert.deepEqual((await decide(place, 'approve', { asked_before: '2020-01-01T00:00:00Z' })).data(), { requests: 0 })
  assert.deepEqual((await decide(place, 'approve', { older_than_s: 3600 })).data(), { requests: 0 })
  const misnamed = await decide(place, 'approve', { older_than: 3600 })
  assert.deepEqual([misnamed.statusCode, /older_than/.test(misnamed.body)], [400, true], misnamed.body)
  assert.equal((await list(place, '&state=pending')).length, 1)
  await ground.house.database.reads.query(
    `update join_requests set asked_at = now() - interval '2 hours' where org_id = $1`,
    [place.org_id],
  )
  assert.deepEqual((await decide(place, 'approve', { older_than_s: 3600 })).data(), { requests: 1 })
})

test('a request approved in Telegram is shown as approved by telegram', async () => {
  const place = await channelPlace(ground)
  const person = ground.telegram.person()
  person.join(place.chat, await place.link({ asks: true }))
  await settled()
  await fetch(`${ground.telegram.origin}/bot${place.fake.token}/approveChatJoinRequest`, {
    method: 'POST',
    body: JSON.stringify({ chat_id: place.chat.id, user_id: person.id }),
  })
  await settled()
  const [request] = await place.requests()
  assert.deepEqual([request?.state, request?.decided_by], ['approved', 'telegram'])
})

test('in copy and relay the owner’s program answers a query, unless the channel approves automatically', async () => {
  const place = await channelPlace(ground)
  await ground.house.database.kysely
    .updateTable('bots')
    .set({ mode: 'copy', updated_at: new Date(Date.now() + 1000).toISOString() })
    .where('id', '=', place.bot_id)
    .execute()
  place.chat.guardBy(place.fake)
  await eventually('it is known', async () => {
    const person = ground.telegram.person()
    person.join(place.chat, await place.link({ asks: true }))
    await settled()
    return (await tasks(place)).every(({ telegram_user_id }) => telegram_user_id !== String(person.id))
  })
})

test('lists and decisions refuse other organizations’ channels, members without the role, and keys', async () => {
  const [place, other] = [await channelPlace(ground), await channelPlace(ground)]
  const id = toWireId(place.channel_id)
  const urls = [
    `/api/channels/${id}/members`,
    `/api/channels/${id}/report?dimension=day&date_from=2026-01-01&date_to=2026-01-02`,
  ]
  const body = { channel_id: id, decision: 'approve' }
  for (const url of urls) {
    assert.equal((await ground.call('GET', url, undefined, place.owner)).statusCode, 200, url)
    assert.equal((await ground.call('GET', url, undefined, other.owner)).statusCode, 404, url)
    assert.equal((await ground.call('GET', url.replace(id, toWireId(newId())), undefined, place.owner)).statusCode, 404)
  }
  assert.equal((await ground.call('POST', '/api/join-requests/decide', body, other.owner)).statusCode, 404)
  ground.telegram.person().join(place.chat, await place.link({ asks: true }))
  await settled()
  const foreign = await ground.call('GET', `/api/join-requests?channel_id=${id}`, undefined, other.owner)
  assert.deepEqual(foreign.data(), { data: [], next_cursor: null })
  const member = await ground.signIn({ place: place.owner, role: 'member' })
  assert.equal((await ground.call('POST', '/api/join-requests/decide', body, member)).statusCode, 403)
  for (const bad of [{ ...body, decision: 'maybe' }, { decision: 'approve' }, { ...body, filter: { ids: [] } }])
    assert.equal((await ground.call('POST', '/api/join-requests/decide', bad, place.owner)).statusCode, 400)
  assert.deepEqual(await states(place), ['pending'])
})

const decide = (place: ChannelPlace, decision = 'approve', filter?: object) =>
  ground.call(
    'POST',
    '/api/join-requests/decide',
    { channel_id: toWireId(place.channel_id), decision, filter },
    place.owner,
  )

async function list(place: ChannelPlace, query: string): Promise<Record<string, unknown>[]> {
  const url = `/api/join-requests?channel_id=${toWireId(place.channel_id)}${query}`
  const reply = await ground.call('GET', url, undefined, place.owner)
  assert.equal(reply.statusCode, 200, reply.body)
  return reply.data()['data'] as Record<string, unknown>[]
}

const askOf = ({ chat }: ChannelPlace, id: number, date: number) => ({
  chat_join_request: {
    chat: { id: chat.id, type: 'channel', title: 'Deals' },
    from: { id, is_bot: false, first_name: 'Ann' },
    user_chat_id: id,
    date,
  },
})
