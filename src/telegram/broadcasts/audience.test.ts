// Audiences of broadcasts: each condition against separate SQL, opt-outs after the start, personal buttons, and what recipients do afterwards.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type BotGround, botGround } from '../../../tests/support/bots.ts'
import { type BroadcastBot, broadcasting, seedSubscribers } from '../../../tests/support/broadcasts.ts'
import { newId, seedKey, toWireId } from '../../../tests/support/house.ts'
import { ALL_RIGHTS } from '../../contract/rights.ts'
import { toUuid } from '../../contract/ids.ts'
import { Audience } from '../../contract/telegram-audience.ts'
import { countAfterwards } from './afterwards.ts'
import { dropOldSends } from './listing.ts'

let ground: BotGround
let at: ReturnType<typeof broadcasting>
let key: string
before(async () => {
  ground = await botGround({}, { sending: { poll_ms: 100 } })
  at = broadcasting(ground)
  key = (await seedKey(ground.house.database, ground.owner, { rights: ALL_RIGHTS })).secret
})
after(() => ground.end())

const db = () => ground.house.database.kysely
const AGENT = { 'user-agent': 'Mozilla/5.0 (X11; Linux x64) Chrome/130.0.0.0' }

async function campaign() {
  const destination = { type: 'redirect', url: 'https://offer.example/?c={click_id}' }
  const made = await at.call('POST', '/api/campaigns', { name: 'Ads', destination })
  return { id: made.id, key: String(made['key']) }
}

/** A click of the campaign; returns the id in the redirect. */
async function click(of: { key: string }, sub1: string): Promise<string> {
  const { headers } = await ground.house.call('GET', `/c/${of.key}?sub1=${sub1}`, { headers: AGENT })
  return new URL(String(headers.location)).searchParams.get('c') ?? ''
}

async function convert(clickId: string, type: string, payout?: number) {
  const reply = await ground.house.call('POST', '/api/events', {
    key,
    body: { clickId, type, nonce: newId(), ...(payout === undefined ? {} : { payout }) },
  })
  assert.equal(reply.statusCode, 201, reply.body)
}

async function count(bot: BroadcastBot, audience: object): Promise<number> {
  return Number((await at.call('POST', '/api/broadcasts/audience', { bot_id: bot.id, audience }))['count'])
}

/** The same conditions in separate SQL; $1 is the organization, $2 the bot. */
async function bySql(bot: BroadcastBot, where: string, values: unknown[] = []): Promise<number> {
  const text = `select count(*)::int as count from subscribers s left join clicks c on c.org_id = s.org_id and c.id = s.click_id
    where s.org_id = $1 and s.bot_id = $2 and ${where}`
  const { rows } = await ground.house.database.reads.query<{ count: number }>(text, [bot.org_id, bot.uuid, ...values])
  return rows[0]?.count ?? -1
}

test('each condition of an audience finds what SQL counts, alone and combined', async () => {
  const bot = await at.bot()
  const [one, two] = [await campaign(), await campaign()]
  const clicks: string[] = []
  for (let n = 0; n < 24; n += 1) clicks.push(await click(n % 3 === 0 ? two : one, `s${n % 4}`))
  const states = ['reachable', 'reachable', 'reachable', 'blocked', 'gone', 'unreachable']
  const day = (n: number) => new Date(Date.UTC(2026, 0, 1 + n)).toISOString()
  await seedSubscribers(
    ground.house.database,
    bot,
    Array.from({ length: 30 }, (_, n) => ({
      telegram_user_id: String(1000 + n),
      click_id: toUuid(clicks[n] ?? '') ?? null,
      campaign_id: n >= 24 ? null : (toUuid(n % 3 === 0 ? two.id : one.id) ?? null),
      state: states[n % states.length] ?? 'reachable',
      language: ['en', 'en-gb', 'uk'][n % 3] ?? 'en',
      started_at: day(n),
      opted_out_at: n % 7 === 0 ? day(n) : null,
    })),
  )
  for (const [n, id] of clicks.entries()) {
    if (n % 2 === 0) await convert(id, 'registration')
    if (n % 4 === 0) await convert(id, 'ftd', 10)
  }
  const channel = newId()
  for (const [n, state] of ['in', 'in', 'left', 'in', 'kicked'].entries())
    await db()
      .insertInto('channel_members')
      .values({
        org_id: bot.org_id,
        channel_id: channel,
        telegram_user_id: String(1000 + n * 2),
        id: newId(),
        state,
        state_at: day(0),
      })
      .execute()
  const REACHED = `s.state = 'reachable' and s.opted_out_at is null`
  const has = (type: string) =>
    `exists (select 1 from events e where e.org_id = s.org_id and e.click_id = s.click_id and e.type = '${type}')`
  const isIn = `exists (select 1 from channel_members m where m.org_id = s.org_id and m.telegram_user_id = s.telegram_user_id
    and m.channel_id = '${channel}' and m.state = 'in')`
  const cases: [object, string][] = [
    [{}, REACHED],
    [{ states: ['blocked', 'gone'] }, `s.state in ('blocked', 'gone') and s.opted_out_at is null`],
    [{ states: ['reachable', 'opted_out'] }, `s.state = 'reachable'`],
    [{ campaigns: [two.id] }, `${REACHED} and c.campaign_id = '${toUuid(two.id)}'`],
    [{ sub1: ['s1', 's2'] }, `${REACHED} and c.sub1 in ('s1', 's2')`],
    [{ geo: ['DE'] }, `${REACHED} and c.geo = 'DE'`],
    [{ language: ['EN'] }, `${REACHED} and s.language like 'en%'`],
    [
      { started_from: day(5), started_to: day(20) },
      `${REACHED} and s.started_at >= '${day(5)}' and s.started_at < '${day(20)}'`,
    ],
    [{ has_event: ['registration'] }, `${REACHED} and ${has('registration')}`],
    [
      { has_event: ['registration'], has_no_event: ['ftd', 'deposit'] },
      `${REACHED} and ${has('registration')} and not ${has('ftd')}`,
    ],
    [{ has_no_event: ['registration'] }, `${REACHED} and not ${has('registration')}`],
    [{ channels: { in: [toWireId(channel)] } }, `${REACHED} and ${isIn}`],
    [
      { channels: { not_in: [toWireId(channel)] }, campaigns: [one.id] },
      `${REACHED} and not ${isIn} and c.campaign_id = '${toUuid(one.id)}'`,
    ],
  ]
  const covered = new Set(cases.flatMap(([audience]) => Object.keys(audience)))
  // Other tests have these two.
  assert.deepEqual(
    Object.keys(Audience.shape).filter(name => !covered.has(name)),
    ['not_broadcast_id', 'quiet_hours'],
  )
  for (const [audience, where] of cases) {
    const expected = await bySql(bot, where)
    assert.equal(await count(bot, audience), expected, JSON.stringify(audience))
    if (!('geo' in audience)) assert.ok(expected > 0 && expected < 30, `${expected}: ${where}`)
  }
})

test('the recipients of a broadcast can be left out of the next', async () => {
  const bot = await at.bot()
  await at.people(bot, 4, n => ({ language: n === 0 ? 'uk' : 'en' }))
  const first = await at.started(bot, 1, { audience: { language: ['uk'] } })
  await at.until(first, 'done')
  assert.equal(await count(bot, { not_broadcast_id: first }), 3)
})

test('prepared in portions, every recipient has one row', async () => {
  const bot = await at.bot()
  await seedSubscribers(
    ground.house.database,
    bot,
    Array.from({ length: 10_500 }, (_, n) => ({
      telegram_user_id: String(2_000_000 + n),
      language: n % 2 === 0 ? 'en' : 'uk',
    })),
  )
  const shut = new Date(Date.now() + 7_200_000).getUTCHours()
  const hour = (of: number) => `${String(of % 24).padStart(2, '0')}:00`
  const window = { from: hour(shut), to: hour(shut + 1), time_zone: 'UTC' }
  const { id } = await at.draft(bot, { window, audience: { language: ['uk'] } })
  await at.start(id, 5250)
  assert.equal((await at.until(id, 'sending')).recipients, 5250)
  const list = async (cursor: string) =>
    (await ground.call('GET', `/api/broadcasts/${id}/sends?state=queued&limit=200${cursor}`)).json<{
      data: { id: string; telegram_user_id: string }[]
      next_cursor: string | null
    }>()
  const first = await list('')
  const second = await list(`&cursor=${first.next_cursor}`)
  assert.equal(new Set([...first.data, ...second.data].map(one => one.telegram_user_id)).size, 400)
  assert.equal((await at.call('POST', `/api/broadcasts/${id}/stop`)).counts.skipped, 5250)
})

test('a person who opts out or blocks the bot after the start is skipped, and left out next time', async () => {
  const bot = await at.bot()
  await at.people(bot, 30)
  const id = await at.started(bot, 30, { per_second: 5 })
  // From then on every recipient has a row.
  await at.until(id, 'sending')
  // The last recipients.
  const last = db().selectFrom('subscribers').select('telegram_user_id').where('org_id', '=', bot.org_id)
  const two = await last.where('bot_id', '=', bot.uuid).orderBy('id', 'desc').limit(2).execute()
  const [out, blocked] = two.map(({ telegram_user_id }) => telegram_user_id)
  await db()
    .updateTable('subscribers')
    .set({ opted_out_at: new Date().toISOString() })
    .where('org_id', '=', bot.org_id)
    .where('bot_id', '=', bot.uuid)
    .where('telegram_user_id', '=', out ?? '')
    .execute()
  await db()
    .updateTable('subscribers')
    .set({ state: 'blocked' })
    .where('org_id', '=', bot.org_id)
    .where('bot_id', '=', bot.uuid)
    .where('telegram_user_id', '=', blocked ?? '')
    .execute()
  const { counts } = await at.until(id, 'done')
  assert.deepEqual(counts, {
    recipients: 30,
    queued: 0,
    sent: 28,
    blocked: 0,
    gone: 0,
    failed: 0,
    unknown: 0,
    skipped: 2,
  })
  assert.ok(!at.chats(bot).some(chat => [out, blocked].includes(String(chat))))
  assert.equal(await count(bot, {}), 28)
})

test('a button carries the recipient’s own click, and what they do then is counted afterwards', async () => {
  const bot = await at.bot()
  const ads = await campaign()
  const clicks = [await click(ads, 'first'), await click(ads, 'second'), '']
  const people = await at.people(bot, 3, n => ({
    click_id: toUuid(clicks[n] ?? '') ?? null,
    campaign_id: toUuid(ads.id) ?? null,
  }))
  const message = {
    text: 'Hi {first_name|friend}, {sub1}',
    buttons: [[{ text: 'Go', url: 'https://offer.example/?c={click_id}&b={broadcast_id}' }]],
  }
  await convert(clicks[0] ?? '', 'ftd', 7)
  const id = await at.started(bot, 3, { message })
  assert.equal((await at.until(id, 'done')).counts.sent, 3)
  const sent = ground.telegram.messages.filter(one => one.bot === bot.fake.id)
  type Markup = { inline_keyboard: { url?: string; callback_data?: string }[][] }
  for (const [n, { id: chat }] of people.entries()) {
    const { params } = sent.find(one => one.chat === chat) ?? assert.fail()
    const buttons = (params['reply_markup'] as Markup).inline_keyboard.flat()
    assert.equal(params['text'], ['Hi friend, first', 'Hi friend, second', 'Hi friend, '][n])
    assert.equal(buttons[0]?.url, `https://offer.example/?c=${clicks[n]}&b=${id}`)
    assert.equal(buttons[1]?.callback_data, `sluice:out:${id}`)
  }
  await convert(clicks[0] ?? '', 'lead')
  await convert(clicks[0] ?? '', 'ftd', 30)
  await convert(clicks[1] ?? '', 'purchase', 12.5)
  await db()
    .updateTable('subscribers')
    .set({ state: 'blocked', state_at: new Date().toISOString() })
    .where('org_id', '=', bot.org_id)
    .where('bot_id', '=', bot.uuid)
    .where('telegram_user_id', '=', String(people[2]?.id))
    .execute()
  await countAfterwards(ground.house.database.worker, { org_id: bot.org_id, id: toUuid(id) ?? '' })
  const { afterwards } = await at.read(id)
  const { at: counted_at, ...figures } = afterwards as Record<string, unknown>
  assert.deepEqual(figures, { blocked: 1, conversions: 3, revenue: '42.5' })
  assert.ok(String(counted_at) > '2026')
})

test('recipients are deleted 90 days after the end, and the counts stay', async () => {
  const bot = await at.bot()
  await at.people(bot, 2)
  const [old, fresh] = [await at.started(bot, 2), await at.started(bot, 2)]
  for (const id of [old, fresh]) await at.until(id, 'done')
  const long = Date.now() - 90 * 86_400_000 - 60_000
  await db()
    .updateTable('broadcasts')
    .set({ ended_at: new Date(long).toISOString() })
    .where('org_id', '=', bot.org_id)
    .where('id', '=', toUuid(old) ?? '')
    .execute()
  assert.equal(await dropOldSends(ground.house.database.worker), 2)
  assert.equal((await at.read(old)).counts.sent, 2)
  const rows = async (id: string) =>
    (await ground.call('GET', `/api/broadcasts/${id}/sends?state=sent`)).json<{ data: object[] }>().data.length
  assert.deepEqual([await rows(old), await rows(fresh)], [0, 2])
})

test('no record shows that a forgotten person was a recipient, and the counts stay', async () => {
  const bot = await at.bot()
  const [person] = await at.people(bot, 2)
  const id = await at.started(bot, 2)
  await at.until(id, 'done')
  const list = async () =>
    (await ground.call('GET', `/api/broadcasts/${id}/sends?state=sent`)).json<{
      data: { id: string; telegram_user_id: string }[]
    }>().data
  const found = (await list()).find(({ telegram_user_id }) => telegram_user_id === String(person?.id))
  assert.equal((await ground.call('DELETE', `/api/subscribers/${found?.id}`)).statusCode, 200)
  assert.deepEqual((await list()).length, 1)
  assert.equal((await at.read(id)).counts.sent, 2)
})
