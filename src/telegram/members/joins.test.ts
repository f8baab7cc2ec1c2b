// Joins and leaves from updates, through the webhook, each on the click that brought the person.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type BotGround, botGround, PUBLIC } from '../../../tests/support/bots.ts'
import { type ChannelPlace, channelPlace } from '../../../tests/support/channel-place.ts'
import { openTestHouse } from '../../../tests/support/house.ts'
import { newId, toUuid, toWireId } from '../../contract/ids.ts'
import { ownNonce, eventId } from '../../intake/events/identity.ts'
import { openConversions } from '../../intake/events/conversions.ts'
import { Refusal } from '../../contract/refusals.ts'
import { memberListener } from './listener.ts'

let ground: BotGround
before(async () => {
  ground = await botGround()
})
after(() => ground.end())

const settled = () => ground.telegram.settled()
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** State, certainty, times and click of each member, by person. */
const shown = async (place: ChannelPlace) =>
  (await place.members()).map(({ state, certainty, times, click_id }) => [
    state,
    certainty,
    times,
    click_id === null ? null : toWireId(click_id),
  ])

test('with a link for each click, each join counts on its click with certainty link', async () => {
  const place = await channelPlace(ground)
  const wanted = new Map<string, string>()
  for (let n = 0; n < 30; n += 1) {
    const click = await place.click()
    const person = ground.telegram.person()
    wanted.set(String(person.id), click)
    person.join(place.chat, await place.link({ click }))
  }
  await settled()
  const joins = await place.events('channel_join')
  assert.equal(joins.length, 30)
  for (const { click_id, telegram_user_id, payload } of joins) {
    assert.equal(toWireId(click_id), wanted.get(String(telegram_user_id)))
    assert.deepEqual(payload, { chat_id: place.chat.id, chat_title: 'Deals', attribution: 'link' })
  }
  for (const member of await place.members()) {
    assert.equal(toWireId(member.click_id ?? ''), wanted.get(member.telegram_user_id))
    assert.deepEqual(
      [member.certainty, member.state, member.times, member.campaign_id],
      ['link', 'in', 1, place.campaign.id],
    )
    assert.ok(joins.some(({ id }) => id === member.event_id))
  }
})

test('a link named after a click counts for that click, and any other foreign link by the person', async () => {
  const place = await channelPlace(ground)
  const [named, started] = [await place.click(), await place.click()]
  const [first, second] = [ground.telegram.person(), ground.telegram.person()]
  second.start(place.fake, started)
  await settled()
  const link = (name: string) => ({ invite_link: 'https://t.me/+aaaaaaaaaaaaaaaa', name })
  sendJoin(place, first.id, { invite_link: link(named) })
  await settled()
  sendJoin(place, second.id, { invite_link: link(toWireId(newId())) })
  await settled()
  assert.deepEqual(await shown(place), [
    ['in', 'link', 1, named],
    ['in', 'person', 1, started],
  ])
})

test('in a public channel a join without a link counts on the click of the person’s start in another bot, otherwise it is organic and no event', async () => {
  const place = await channelPlace(ground, { chat: { username: 'deals_public' }, is: { username: 'deals_public' } })
  const other = ground.telegram.bot()
  await ground.add(other, {}, place.owner)
  const click = await place.click()
  const [known, nobody] = [ground.telegram.person(), ground.telegram.person()]
  known.start(other, click)
  await settled()
  known.join(place.chat)
  nobody.join(place.chat)
  await settled()
  assert.deepEqual((await shown(place)).map(String).toSorted(), ['in,organic,1,', `in,person,1,${click}`])
  const joins = await place.events('channel_join')
  assert.deepEqual(
    joins.map(({ click_id, payload }) => [toWireId(click_id), payload['attribution']]),
    [[click, 'person']],
  )
})

test('a start more than thirty days ago does not attribute a join', async () => {
  const place = await channelPlace(ground)
  const person = ground.telegram.person()
  person.start(place.fake, await place.click())
  await settled()
  const old = new Date(Date.now() - 31 * 24 * HOUR_MS).toISOString()
  for (const table of ['events', 'subscribers'] as const)
    await ground.house.database.reads.query(
      table === 'events'
        ? 'update events set created_at = $2 where org_id = $1'
        : 'update subscribers set started_at = $2, click_at = $2 where org_id = $1',
      [place.org_id, old],
    )
  // A new start without a click does not renew the old one.
  person.start(place.fake)
  await settled()
  person.join(place.chat)
  await settled()
  assert.deepEqual(await shown(place), [['in', 'organic', 1, null]])
})

test('a join that comes shortly before its start is counted when the start comes, one long before it is not', async () => {
  const place = await channelPlace(ground)
  const [soon, late] = [ground.telegram.person(), ground.telegram.person()]
  const click = await place.click()
  const now = Math.floor(ground.telegram.now() / 1000)
  sendJoin(place, soon.id, { date: now - 9 * 60 })
  sendJoin(place, late.id, { date: now - 11 * 60 })
  await settled()
  assert.deepEqual(await place.events(), [])
  soon.start(place.fake, click)
  late.start(place.fake, await place.click())
  await settled()
  assert.deepEqual(
    (await place.members()).map(({ telegram_user_id, certainty }) => `${telegram_user_id} ${certainty}`).toSorted(),
    [`${soon.id} person`, `${late.id} organic`].toSorted(),
  )
  assert.deepEqual(
    (await place.events()).map(({ type, click_id }) => [type, toWireId(click_id)]),
    [['channel_join', click]],
  )
})

test('of a simultaneous join and start one always finds the other', async () => {
  const place = await channelPlace(ground)
  const people = await Promise.all(
    Array.from({ length: 25 }, async () => ({ click: await place.click(), person: ground.telegram.person() })),
  )
  for (const { click, person } of people) {
    sendJoin(place, person.id)
    person.start(place.fake, click)
  }
  await settled()
  const members = await place.members()
  for (const { click, person } of people) {
    const member = members.find(one => one.telegram_user_id === String(person.id))
    assert.deepEqual([member?.certainty, member?.click_id], ['person', toUuid(click)])
  }
  assert.equal((await place.events('channel_join')).length, people.length)
})

test('a person who leaves and comes back over another click has joined once and is charged once', async () => {
  const place = await channelPlace(ground)
  const [first, second] = [await place.click(), await place.click()]
  const person = ground.telegram.person()
  person.join(place.chat, await place.link({ click: first }))
  await settled()
  person.leave(place.chat)
  await settled()
  assert.deepEqual(await shown(place), [['left', 'link', 1, first]])
  person.join(place.chat, await place.link({ click: second }))
  await settled()
  assert.deepEqual(await shown(place), [['in', 'link', 2, first]])
  assert.equal((await place.events('channel_join')).length, 1)
  assert.equal(await place.charges(), 1)
})

test('a leave within the window is recorded once as the channel’s leave event, on the click of the join; outside the window it is not', async () => {
  const place = await channelPlace(ground, { is: { leave_event: 'custom_3', leave_window_h: 24 } })
  const now = Math.floor(ground.telegram.now() / 1000)
  const [soon, late, kicked] = [await place.click(), await place.click(), await place.click()]
  const people = [soon, late, kicked].map(click => ({ click, id: ground.telegram.person().id }))
  for (const [n, { click, id }] of people.entries())
    sendJoin(place, id, {
      date: now - [23, 25, 1][n]! * 3600,
      invite_link: { invite_link: 'https://t.me/+x', name: click },
    })
  await settled()
  for (const { id } of people.slice(0, 2)) sendLeave(place, id, now)
  sendLeave(place, people[2]!.id, now, 'kicked')
  await settled()
  const wanted = [soon, kicked].toSorted()
  const left = async () => (await place.events('custom_3')).map(({ click_id }) => toWireId(click_id)).toSorted()
  assert.deepEqual(await left(), wanted)
  // After a repeated update and a second leave it stays one event.
  sendLeave(place, people[0]!.id, now)
  sendJoin(place, people[0]!.id, { date: now + 10 })
  sendLeave(place, people[0]!.id, now + 20)
  await settled()
  assert.deepEqual(await left(), wanted)
  const states = (await place.members()).map(({ telegram_user_id, state }) => `${telegram_user_id} ${state}`)
  assert.deepEqual(states.toSorted(), people.map(({ id }, n) => `${id} ${n === 2 ? 'kicked' : 'left'}`).toSorted())
})

test('late and repeated updates change nothing twice', async () => {
  const place = await channelPlace(ground)
  const click = await place.click()
  const { id } = ground.telegram.person()
  const at = Math.floor(ground.telegram.now() / 1000) - 600
  const link = { invite_link: { invite_link: 'https://t.me/+x', name: click } }
  const story = [
    () => sendLeave(place, id, at + 60),
    () => sendJoin(place, id, { date: at, ...link }),
    () => sendJoin(place, id, { date: at, ...link }),
    () => sendLeave(place, id, at + 60),
  ]
  for (const send of story) {
    send()
    await settled()
  }
  const [member] = await place.members()
  assert.deepEqual([member?.state, member?.times, member?.certainty], ['left', 1, 'link'])
  assert.deepEqual(
    [Date.parse(member?.joined_at ?? ''), Date.parse(member?.left_at ?? '')],
    [at * 1000, (at + 60) * 1000],
  )
  assert.equal((await place.events('channel_join')).length, 1)
})

test('within one second the later update counts', async () => {
  const place = await channelPlace(ground)
  const { id } = ground.telegram.person()
  const at = Math.floor(ground.telegram.now() / 1000)
  sendJoin(place, id, { date: at })
  sendLeave(place, id, at)
  await settled()
  assert.deepEqual(await shown(place), [['left', 'organic', 1, null]])
})

test('a join by a shared link takes the newest click of the last hour that got the link, each click once', async () => {
  const place = await channelPlace(ground)
  const clicks = [await place.click(), await place.click()]
  const url = await place.link({ shared: clicks })
  const [one, two, three] = [ground.telegram.person(), ground.telegram.person(), ground.telegram.person()]
  for (const person of [one, two, three]) {
    person.join(place.chat, url)
    await settled()
  }
  assert.deepEqual(await shown(place), [
    ['in', 'campaign', 1, clicks[1]],
    ['in', 'campaign', 1, clicks[0]],
    ['in', 'organic', 1, null],
  ])
  const said = (await place.events('channel_join')).map(({ payload }) => payload['attribution'])
  assert.deepEqual(said, ['campaign', 'campaign'])
  const old = await channelPlace(ground)
  const granted_at = new Date(Date.now() - 61 * MINUTE_MS).toISOString()
  one.join(old.chat, await old.link({ shared: [await old.click()], granted_at }))
  // A click after the join did not bring it, however late the update comes.
  const late = await channelPlace(ground)
  const afterwards = new Date(Date.now() + 2 * MINUTE_MS).toISOString()
  one.join(late.chat, await late.link({ shared: [await late.click()], granted_at: afterwards }))
  const off = await channelPlace(ground, { is: { shared_joins: 'organic' } })
  one.join(off.chat, await off.link({ shared: [await off.click()] }))
  await settled()
  for (const where of [old, late, off]) assert.deepEqual(await shown(where), [['in', 'organic', 1, null]])
})

test('a shared link that Telegram reports as revoked is no longer given out', async () => {
  const place = await channelPlace(ground)
  const click = await place.click()
  const url = await place.link({ shared: [click] })
  sendJoin(place, ground.telegram.person().id, { invite_link: { invite_link: url, name: '', is_revoked: true } })
  await settled()
  assert.deepEqual(await shown(place), [['in', 'campaign', 1, click]])
  // The campaign may have another shared link by now.
  const { rows } = await ground.house.database.reads.query('select state from channel_links where url = $1', [url])
  assert.deepEqual(rows, [{ state: 'dead' }])
})

test('an update that reaches two processes at once is one join, one member and one click of a shared link', async () => {
  const place = await channelPlace(ground)
  const clicks = await Promise.all(Array.from({ length: 5 }, () => place.click()))
  const invite = await place.link({ shared: clicks })
  const shared = await ground.house.database.reads.query<{ url: string; id: string }>(
    'select id, url from channel_links where url = $1',
    [invite],
  )
  const env = { BASE_URL: PUBLIC, TELEGRAM_API_ROOT: ground.telegram.origin }
  const second = await openTestHouse(ground.house.database, env)
  const { id } = ground.telegram.person()
  const body = {
    update_id: 500,
    ...joinOf(place, id, {
      invite_link: { invite_link: shared.rows[0]?.url, name: toWireId(shared.rows[0]?.id ?? '') },
    }),
  }
  const headers = { 'x-telegram-bot-api-secret-token': place.fake.hook?.secret ?? '' }
  const url = `/hooks/telegram/${toWireId(place.bot_id)}`
  const houses = [ground.house, second, ground.house, second, ground.house, second]
  const replies = await Promise.all(houses.map(house => house.call('POST', url, { body, headers })))
  await second.end()
  assert.deepEqual([...new Set(replies.map(({ statusCode }) => statusCode))], [200])
  assert.equal((await place.events('channel_join')).length, 1)
  const [member, ...others] = await place.members()
  assert.deepEqual([member?.times, member?.certainty, others.length], [1, 'campaign', 0])
  const { rows } = await ground.house.database.reads.query(
    'select click_id from shared_grants where org_id = $1 and taken_by is not null',
    [place.org_id],
  )
  assert.deepEqual(rows, [{ click_id: member?.click_id }])
})

for (const isAdded of [true, false])
  test(`a join that an earlier version recorded by its click is not recorded again, in a ${isAdded ? 'channel' : 'chat that is no channel'}`, async () => {
    const place = await channelPlace(ground, { isAdded })
    const [first, second] = [await place.click(), await place.click()]
    const { id } = ground.telegram.person()
    const old = openConversions(ground.house.ground)
    const join = {
      org_id: place.org_id,
      bot_id: place.bot_id,
      telegram_user_id: String(id),
      type: 'channel_join' as const,
      nonce: `${place.chat.id} ${id}`,
      payload: { chat_id: place.chat.id, chat_title: 'Deals' },
    }
    const before = await old.recordOwn({ ...join, click_id: toUuid(first) ?? '' })
    assert.equal(before.event.id, eventId(toUuid(first) ?? '', 'channel_join', ownNonce(join.nonce)))
    sendJoin(place, id, { invite_link: { invite_link: 'https://t.me/+x', name: second } })
    await settled()
    assert.deepEqual(
      (await place.events('channel_join')).map(({ id }) => id),
      [before.event.id],
    )
    if (isAdded) assert.deepEqual(await shown(place), [['in', 'person', 1, first]])
    await old.close()
  })

test('a process of the previous version beside this one records the same event for the same click', async () => {
  const place = await channelPlace(ground, { isAdded: false })
  const click = await place.click()
  const { id } = ground.telegram.person()
  sendJoin(place, id, { invite_link: { invite_link: 'https://t.me/+x', name: click } })
  await settled()
  const old = openConversions(ground.house.ground)
  const again = await old.recordOwn({
    org_id: place.org_id,
    bot_id: place.bot_id,
    telegram_user_id: String(id),
    click_id: toUuid(click) ?? '',
    type: 'channel_join',
    nonce: `${place.chat.id} ${id}`,
    payload: {},
  })
  await old.close()
  assert.equal(again.replayed, true)
  assert.equal((await place.events('channel_join')).length, 1)
  assert.deepEqual(await place.members(), [])
})

test('in a chat that is no channel a person who comes back over another click has joined once too', async () => {
  const place = await channelPlace(ground, { isAdded: false })
  const [first, second] = [await place.click(), await place.click()]
  const { id } = ground.telegram.person()
  for (const name of [first, second]) {
    sendJoin(place, id, { invite_link: { invite_link: 'https://t.me/+x', name } })
    await settled()
  }
  assert.deepEqual(
    (await place.events()).map(({ click_id }) => toWireId(click_id)),
    [first],
  )
})

test('while granted links wait in a journal, Telegram is told to send a join by one again', async () => {
  const place = await channelPlace(ground)
  const url = await place.link({})
  const { rows } = await ground.house.database.reads.query<{ id: string }>(
    'select id from channel_links where url = $1',
    [url],
  )
  let isKept = true
  const conversions = openConversions(ground.house.ground)
  const hear = memberListener(ground.house.ground, { conversions, clicks: { isKept: () => () => isKept } })
  const bot = { org_id: place.org_id, id: place.bot_id, mode: 'own' } as Parameters<typeof hear>[0]
  const update = joinOf(place, ground.telegram.person().id, { invite_link: { name: toWireId(rows[0]?.id ?? '') } })
  await assert.rejects(
    () => Promise.resolve(hear(bot, update)),
    error => error instanceof Refusal && error.refusal === 'service_unavailable',
  )
  const click = await place.click()
  await ground.house.database.reads.query(
    'insert into link_grants (org_id, link_id, channel_id, click_id, granted_at) values ($1, $2, $3, $4, now())',
    [place.org_id, rows[0]?.id, place.channel_id, toUuid(click)],
  )
  isKept = false
  await hear(bot, update)
  await conversions.close()
  assert.deepEqual(await shown(place), [['in', 'link', 1, click]])
})

const user = (id: number) => ({ id, is_bot: false, first_name: 'Ann' })

function joinOf({ chat }: ChannelPlace, id: number, more: object = {}) {
  return {
    chat_member: {
      chat: { id: chat.id, type: 'channel', title: 'Deals' },
      from: user(id),
      date: Math.floor(ground.telegram.now() / 1000),
      old_chat_member: { status: 'left', user: user(id) },
      new_chat_member: { status: 'member', user: user(id) },
      ...more,
    },
  }
}

const sendJoin = (place: ChannelPlace, id: number, more: object = {}) => place.fake.sendUpdate(joinOf(place, id, more))

const sendLeave = (place: ChannelPlace, id: number, date: number, is = 'left') =>
  place.fake.sendUpdate(
    joinOf(place, id, {
      date,
      old_chat_member: { status: 'member', user: user(id) },
      new_chat_member: { status: is, user: user(id) },
    }),
  )

test('a new channel has the members whose joins were recorded before', async () => {
  const place = await channelPlace(ground, { isAdded: false })
  const [named, started, erased] = [await place.click(), await place.click(), await place.click()]
  const [first, second, third] = [ground.telegram.person(), ground.telegram.person(), ground.telegram.person()]
  second.start(place.fake, started)
  third.start(place.fake, erased)
  await settled()
  sendJoin(place, first.id, { invite_link: { invite_link: 'https://t.me/+x', name: named } })
  sendJoin(place, second.id)
  sendJoin(place, third.id)
  await settled()
  // A forgotten person stays forgotten, though the conversion is kept.
  const { id: subscriber } = await ground.house.database.kysely
    .selectFrom('subscribers')
    .select('id')
    .where('org_id', '=', place.org_id)
    .where('telegram_user_id', '=', String(third.id))
    .executeTakeFirstOrThrow()
  const forgotten = await ground.call('DELETE', `/api/subscribers/${toWireId(subscriber)}`, undefined, place.owner)
  assert.equal(forgotten.statusCode, 200, forgotten.body)
  const body = { bot_id: toWireId(place.bot_id), chat_id: place.chat.id }
  const added = await ground.call('POST', '/api/channels', body, place.owner)
  assert.equal(added.statusCode, 201, added.body)
  assert.ok((await place.members()).every(({ telegram_user_id }) => telegram_user_id !== String(third.id)))
  const rows = (await shown(place)).map(String).toSorted()
  assert.deepEqual(rows, [`in,link,1,${named}`, `in,person,1,${started}`].toSorted())
  // Neither a repeated update nor a return over another click counts twice.
  sendJoin(place, first.id, { invite_link: { invite_link: 'https://t.me/+x', name: started } })
  await settled()
  assert.equal((await place.events('channel_join')).length, 3)
  // A restored channel keeps its members.
  const { db } = ground.house.ground
  await db.deleteFrom('channel_members').where('org_id', '=', place.org_id).execute()
  await ground.call('DELETE', `/api/channels/${String(added.data()['id'])}`, undefined, place.owner)
  assert.equal((await ground.call('POST', '/api/channels', body, place.owner)).statusCode, 201)
  assert.deepEqual(await place.members(), [])
})
