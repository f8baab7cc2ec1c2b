// The channel's report, recomputed by plain SQL from members, clicks and spend.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type BotGround, botGround } from '../../../tests/support/bots.ts'
import { type ChannelPlace, channelPlace } from '../../../tests/support/channel-place.ts'
import { seedCountedClicks } from '../../../tests/support/counted-clicks.ts'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { toUuid, toWireId } from '../../contract/ids.ts'
import type { ChannelReport } from './api.ts'

let ground: BotGround
before(async () => {
  ground = await botGround()
})
after(() => ground.end())

const LONG_AGO = new Date(Date.now() - 400 * DAY_MS).toISOString()
const DAYS = 60
const today = Math.floor(Date.now() / DAY_MS) * DAY_MS
const [date_from, date_to] = [dayOf(today - DAYS * DAY_MS), dayOf(today)]

/** People who came over sixty days, some of whom left; clicks with a cost of their own, and days whose spend was entered. */
async function busyPlace(): Promise<ChannelPlace & { other: string }> {
  const place = await channelPlace(ground, { is: { created_at: LONG_AGO } })
  const other = (await place.campaignOf('Other')).id
  const seeds = Array.from({ length: 90 }, (_, n) => ({
    at: today - (n % DAYS) * DAY_MS - 7_200_000 - n * 1000,
    campaign_id: n % 3 === 0 ? other : place.campaign.id,
    sub1: ['a', 'b', null][n % 3] ?? null,
    geo: n % 2 === 0 ? 'DE' : 'PL',
    cost: (0.1 + n / 100).toFixed(2),
    cost_counts: true,
  }))
  const clicks = await seedCountedClicks(ground.house.database, place.org_id, seeds)
  for (const [n, { id }] of clicks.entries()) {
    if (n % 4 === 3) continue
    const joined_s = Math.floor((seeds[n]?.at ?? 0) / 1000) + 60
    const person = ground.telegram.person()
    sendJoin(place, person.id, { date: joined_s, invite_link: { invite_link: 'https://t.me/+x', name: toWireId(id) } })
    const stayed_d = [0.5, 3, 20, 40][n % 5]
    const left_s = joined_s + Math.round((stayed_d ?? 0) * 86_400)
    if (stayed_d !== undefined && left_s * 1000 < Date.now()) leave(place, person.id, left_s)
  }
  for (let n = 0; n < 6; n += 1)
    sendJoin(place, ground.telegram.person().id, { date: Math.floor((today - n * DAY_MS) / 1000) + 30 })
  for (let n = 0; n < 20; n += 3)
    await ground.house.database.worker.query(
      `insert into ad_spend (org_id, day, campaign_id, sub1, amount, source, updated_at) values ($1, $2, $3, '', $4, 'manual', now())`,
      [place.org_id, dayOf(today - n * DAY_MS), n % 2 === 0 ? place.campaign.id : other, `${5 + n}.25`],
    )
  await ground.telegram.settled()
  return { ...place, other }
}

async function report(place: ChannelPlace, dimension: string, from = date_from, to = date_to): Promise<ChannelReport> {
  const url = `/api/channels/${toWireId(place.channel_id)}/report?dimension=${dimension}&date_from=${from}&date_to=${to}`
  const reply = await ground.call('GET', url, undefined, place.owner)
  assert.equal(reply.statusCode, 200, reply.body)
  return reply.json<ChannelReport>()
}

/** The expected figures, by a column of the members. */
async function recounted({ org_id, channel_id }: ChannelPlace, key: string) {
  const matured = (days: number) =>
    `sum(case when click_id is not null and extract(epoch from now() - joined_at) >= ${days} * 86400 then 1 else 0 end)::int`
  const stayed = (days: number) =>
    `sum(case when click_id is not null and extract(epoch from now() - joined_at) >= ${days} * 86400
       and (left_at is null or extract(epoch from left_at - joined_at) > ${days} * 86400) then 1 else 0 end)::int`
  const { rows } = await ground.house.database.reads.query<Record<string, string | number>>(
    `select ${key} as key, sum(case when click_id is null then 0 else 1 end)::int as joins,
      sum(case when click_id is null then 1 else 0 end)::int as organic,
      sum(case when click_id is not null and left_at is not null then 1 else 0 end)::int as "left",
      ${[1, 7, 30].map(days => `${matured(days)} as m${days}, ${stayed(days)} as s${days}`).join(', ')}
    from channel_members m left join clicks c on c.org_id = m.org_id and c.id = m.click_id
    where m.org_id = $1 and m.channel_id = $2 and m.joined_at >= $3 group by 1`,
    [org_id, channel_id, `${date_from}T00:00:00Z`],
  )
  return rows
}

const COST = `
  select coalesce(p.KEY, s.KEY)::text as key, sum(coalesce(s.amount, p.cost))::text as cost
  from (
    select campaign_id, day, sum(cost) as cost from (
      select campaign_id, cost, date '1970-01-01' + (('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 86400000)::int as day
      from clicks where org_id = $1) clicked group by 1, 2
  ) p full join (select * from ad_spend where org_id = $1) s on s.day = p.day and s.campaign_id = p.campaign_id
  group by 1`

async function costs({ org_id }: ChannelPlace, key: string): Promise<Map<string, number>> {
  const { rows } = await ground.house.database.reads.query<{ key: string; cost: string }>(COST.replaceAll('KEY', key), [
    org_id,
  ])
  return new Map(rows.map(row => [row.key, Number(row.cost)]))
}

test('joins, stayers and the costs per join and per stayer equal a recount of members and spend', async () => {
  const place = await busyPlace()
  for (const [dimension, key] of [
    ['day', `to_char(joined_at at time zone 'UTC', 'YYYY-MM-DD')`],
    ['campaign', `coalesce(m.campaign_id::text, '')`],
    ['sub1', `coalesce(c.sub1, '')`],
    ['geo', `coalesce(c.geo, '')`],
  ] as const) {
    const { rows, totals, not_broken_down } = await report(place, dimension)
    const byKey = new Map(rows.map(row => [dimension === 'campaign' ? (toUuid(row.key) ?? '') : row.key, row]))
    const wanted = await recounted(place, key)
    assert.ok(wanted.length > 1)
    for (const { key: of, ...counts } of wanted) {
      const row: ChannelReport['totals'] = byKey.get(String(of)) ?? assert.fail(`${dimension} ${of} is missing`)
      const { joins, organic, left, stays } = row
      const shown = { joins, organic, left }
      const kept = Object.fromEntries(
        ([1, 7, 30] as const).flatMap(days => [
          [`m${days}`, stays[days].matured],
          [`s${days}`, stays[days].stayed],
        ]),
      )
      assert.deepEqual({ ...shown, ...kept }, counts, `${dimension} ${of}`)
    }
    const summed = rows.reduce((all, { joins }) => all + joins, 0)
    assert.deepEqual([totals.joins, totals.organic], [summed, 6])
    if (dimension === 'geo') {
      assert.ok(rows.every(({ cost }) => cost === null))
      continue
    }
    if (dimension !== 'sub1')
      for (const [of, cost] of await costs(place, dimension === 'day' ? 'day' : 'campaign_id')) {
        const row: ChannelReport['totals'] = byKey.get(of) ?? assert.fail(`${dimension} ${of} is missing`)
        assert.equal(row.cost, cost.toFixed(2), `${dimension} ${of}`)
        assertPerHead(row)
      }
    const all = rows.reduce((sum, { cost }) => sum + Number(cost), Number(not_broken_down ?? 0))
    assert.equal(all.toFixed(2), Number(totals.cost).toFixed(2))
    assertPerHead(totals)
  }
})

/** By floating point, near enough for four places. */
function assertPerHead({ cost, joins, stays, cost_per_join, cost_per_stayer }: ChannelReport['totals']): void {
  const { matured, stayed } = stays[7]
  if (joins === 0) assert.equal(cost_per_join, null)
  else assert.ok(Math.abs(Number(cost_per_join) - Number(cost) / joins) <= 0.00005001)
  if (joins === 0 || stayed === 0) assert.equal(cost_per_stayer, null)
  else assert.ok(Math.abs(Number(cost_per_stayer) - Number(cost) / joins / (stayed / matured)) <= 0.00005001)
}

test('the figures of all channels equal the totals of each channel’s report', async () => {
  const place = await busyPlace()
  const url = `/api/figures/channels?date_from=${date_from}&date_to=${date_to}`
  const { rows } = (await ground.call('GET', url, undefined, place.owner)).json<{ rows: Record<string, unknown>[] }>()
  const { totals, certainty } = await report(place, 'day')
  assert.deepEqual(rows, [{ key: toWireId(place.channel_id), ...totals, stays: { 7: totals.stays[7] }, certainty }])
})

test('by certainty the row organic counts joins without a click, and only joins old enough count as matured', async () => {
  const place = await channelPlace(ground, { is: { created_at: LONG_AGO } })
  const now = Math.floor(Date.now() / 1000)
  const [link, young] = [ground.telegram.person(), ground.telegram.person()]
  for (const [person, date] of [
    [link, now - 8 * 86_400],
    [young, now - 6 * 86_400],
  ] as const)
    sendJoin(place, person.id, { date, invite_link: { invite_link: 'https://t.me/+x', name: await place.click() } })
  sendJoin(place, ground.telegram.person().id, { date: now - 8 * 86_400 })
  await ground.telegram.settled()
  const { rows, totals, certainty } = await report(place, 'certainty')
  assert.deepEqual(certainty, { link: 2, person: 0, campaign: 0, organic: 1 })
  assert.deepEqual(
    rows.map(({ key, joins, stays, clicks, cost }) => [key, joins, stays[7], clicks, cost]),
    [
      ['link', 2, { matured: 1, stayed: 1 }, null, null],
      ['organic', 1, { matured: 1, stayed: 1 }, null, null],
    ],
  )
  assert.deepEqual([totals.joins, totals.organic, totals.stays[7], totals.clicks], [2, 1, { matured: 1, stayed: 1 }, 2])
})

test('joins recorded before the channel was added count as joins and not as stayers; a late update counts on its own day', async () => {
  const place = await channelPlace(ground)
  const date = Math.floor(Date.now() / 1000) - 8 * 86_400
  for (let n = 0; n < 2; n += 1) {
    const invite_link = { invite_link: 'https://t.me/+x', name: await place.click() }
    sendJoin(place, ground.telegram.person().id, { date, invite_link })
  }
  await ground.telegram.settled()
  const stays = async () => (await report(place, 'day')).totals.stays[7]
  assert.deepEqual(await stays(), { matured: 2, stayed: 2 })
  const [event] = await place.events('channel_join')
  await ground.house.database.worker.query('update events set created_at = $3 where org_id = $1 and id = $2', [
    place.org_id,
    event?.id,
    LONG_AGO,
  ])
  assert.deepEqual(await stays(), { matured: 1, stayed: 1 })
  assert.equal((await report(place, 'day')).totals.joins, 2)
  const url = `/api/figures/channels?date_from=${date_from}&date_to=${date_to}`
  const { rows } = (await ground.call('GET', url, undefined, place.owner)).json<{ rows: { stays: unknown }[] }>()
  assert.deepEqual(rows[0]?.stays, { 7: { matured: 1, stayed: 1 } })
  // The default is the last thirty days; times are used as they are.
  const bare = `/api/channels/${toWireId(place.channel_id)}/report?dimension=day`
  const usual = (await ground.call('GET', bare, undefined, place.owner)).json<ChannelReport>()
  assert.deepEqual([usual.date_from, usual.date_to, usual.totals.joins], [dayOf(today - 29 * DAY_MS), date_to, 2])
  const at = new Date(date * 1000)
  const moments = `&date_from=${at.toISOString()}&date_to=${new Date(+at + 999).toISOString()}`
  const narrow = await ground.call('GET', bare + moments, undefined, place.owner)
  assert.equal(narrow.json<ChannelReport>().totals.joins, 2, narrow.body)
})

test('the list of members is filtered by state, certainty, campaign and day, and paged', async () => {
  const place = await channelPlace(ground)
  const now = Math.floor(Date.now() / 1000)
  const people = [ground.telegram.person(), ground.telegram.person(), ground.telegram.person()].map(({ id }) => id)
  const [first = 0, second = 0, third = 0] = people
  sendJoin(place, first, {
    date: now - 3 * 86_400,
    invite_link: { invite_link: 'https://t.me/+x', name: await place.click() },
  })
  sendJoin(place, second, { date: now })
  sendJoin(place, third, { date: now })
  leave(place, third, now + 1)
  await ground.telegram.settled()
  const list = async (query: string) => {
    const url = `/api/channels/${toWireId(place.channel_id)}/members?${query}`
    const reply = await ground.call('GET', url, undefined, place.owner)
    assert.equal(reply.statusCode, 200, reply.body)
    const { data } = reply.json<{ data: { telegram_user_id: string }[] }>()
    return data.map(({ telegram_user_id }) => Number(telegram_user_id)).toSorted((a, b) => a - b)
  }
  const sorted = (...ids: number[]) => ids.toSorted((a, b) => a - b)
  assert.deepEqual(await list(''), sorted(first, second, third))
  assert.deepEqual(await list('state=left'), [third])
  assert.deepEqual(await list('certainty=organic'), sorted(second, third))
  assert.deepEqual(await list(`campaign_id=${toWireId(place.campaign.id)}`), [first])
  assert.deepEqual(await list(`joined_from=${new Date((now - 60) * 1000).toISOString()}`), sorted(second, third))
  assert.deepEqual(await list(`joined_to=${new Date((now - 60) * 1000).toISOString()}`), [first])
  assert.deepEqual(await list(`date_to=${new Date((now - 60) * 1000).toISOString()}`), [first])
  assert.deepEqual(await list(`date_from=${new Date((now - 60) * 1000).toISOString()}`), sorted(second, third))
  const page = await ground.call(
    'GET',
    `/api/channels/${toWireId(place.channel_id)}/members?limit=2`,
    undefined,
    place.owner,
  )
  const { data, next_cursor } = page.json<{ data: { telegram_user_id: string }[]; next_cursor: string }>()
  const rest = await list(`limit=2&cursor=${next_cursor}`)
  assert.deepEqual(
    sorted(...data.map(({ telegram_user_id }) => Number(telegram_user_id)), ...rest),
    sorted(first, second, third),
  )
})

test('invalid windows are refused', async () => {
  const place = await channelPlace(ground)
  const url = (from: string, to: string, dimension = 'day') =>
    `/api/channels/${toWireId(place.channel_id)}/report?dimension=${dimension}&date_from=${from}&date_to=${to}`
  for (const [wrong, code] of [
    [url('2026-02-02', '2026-02-01'), 400],
    [url('2026-01-01', '2026-06-01'), 400],
    [url('2026-01-01', '2026-01-02', 'weather'), 400],
    [url('yesterday', '2026-01-02'), 400],
  ] as const) {
    const reply = await ground.call('GET', wrong, undefined, place.owner)
    assert.equal(reply.statusCode, code, wrong)
  }
})

const user = (id: number) => ({ id, is_bot: false, first_name: 'Ann' })

function sendJoin({ fake, chat }: ChannelPlace, id: number, more: object): void {
  fake.sendUpdate({
    chat_member: {
      chat: { id: chat.id, type: 'channel', title: 'Deals' },
      from: user(id),
      old_chat_member: { status: 'left', user: user(id) },
      new_chat_member: { status: 'member', user: user(id) },
      ...more,
    },
  })
}

const leave = (place: ChannelPlace, id: number, date: number) =>
  sendJoin(place, id, {
    date,
    old_chat_member: { status: 'member', user: user(id) },
    new_chat_member: { status: 'left', user: user(id) },
  })
