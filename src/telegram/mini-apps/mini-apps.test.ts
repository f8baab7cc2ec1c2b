// Launches of Mini Apps through the door, as a page inside Telegram posts them.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sign } from '@telegram-apps/init-data-node'
import { pino } from 'pino'
import { type BotPlace, startBotHouse, startUpdate } from '../../../tests/support/bot-place.ts'
import { freshDatabase } from '../../../tests/support/database.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { newId, toWireId } from '../../../tests/support/house.ts'
import { tally } from '../../../tests/support/intake.ts'
import { startProxy } from '../../../tests/support/proxy.ts'
import { BROWSER } from '../../../tests/support/visits.ts'
import { toUuid } from '../../contract/ids.ts'
import { announceOrganization } from '../../traffic/campaigns/live.ts'
import { connect } from '../../ground/db/connect.ts'

type On = Awaited<ReturnType<typeof startBotHouse>>
let on: On
before(async () => {
  on = await startBotHouse()
})
after(() => on.close())

type Fields = { start_param?: string; user?: object | undefined }

/** initData with Telegram's signature. */
const signed = (token: string, fields: Fields = {}, at = new Date()): string =>
  sign({ query_id: 'AAE', user: { id: 77, first_name: 'Ada' }, ...fields } as never, token, at)

let callers = 0
/** Posts it, each time from another address. */
const post = (bot: string, payload: string | Buffer, sent: { from?: string; on?: On } = {}) =>
  (sent.on ?? on).house.call('POST', `/m/${bot}`, {
    payload,
    headers: { 'content-type': 'text/plain;charset=UTF-8', origin: 'https://app.example' },
    from: sent.from ?? `10.1.${(callers += 1) >> 8}.${callers & 255}`,
  })

async function clicker(place: BotPlace, destination: object = {}, here = on) {
  const body = { name: 'C', destination: { type: 'mini_app', bot_id: place.bot, ...destination } }
  const made = await here.house.call('POST', '/api/campaigns', { ...place.as, body })
  assert.equal(made.statusCode, 201, made.body)
  return async () => {
    const visit = await here.house.call('GET', `/c/${String(made.data()['key'])}`, { headers: BROWSER })
    return new URL(String(visit.headers.location)).searchParams.get('startapp') ?? ''
  }
}

const launchesOf = ({ org_id }: BotPlace, here = on) =>
  here.house.database.kysely
    .selectFrom('events')
    .select(['click_id', 'telegram_user_id', 'bot_id', 'source'])
    .where('org_id', '=', org_id)
    .where('type', '=', 'miniapp_launch')
    .orderBy('created_at')
    .orderBy('id')
    .execute()

const assertTaken = async (answer: Awaited<ReturnType<typeof post>>) =>
  assert.deepEqual([answer.statusCode, answer.data()], [200, { ok: true }])

describe('a launch', () => {
  test('over a click is recorded once per bot, person and click, also if it is posted many times at once', async () => {
    const place = await on.place()
    const click = await clicker(place, { start: 'promo-{click_id}' })
    const parameter = await click()
    const launch = () => post(place.bot, signed(place.token, { start_param: parameter }))
    for (const answer of await Promise.all(Array.from({ length: 20 }, launch))) await assertTaken(answer)
    await assertTaken(await launch())
    const click_id = toUuid(parameter.slice('promo-'.length))
    assert.deepEqual(await launchesOf(place), [
      { click_id, telegram_user_id: '77', bot_id: toUuid(place.bot), source: 'service' },
    ])
    assert.equal((await tally(on.house.database, place.org_id)).charges, 1)

    const another = await on.addBot(place.as)
    for (const [bot, token, fields] of [
      [place.bot, place.token, { start_param: parameter, user: { id: 78, first_name: 'Bo' } }],
      [place.bot, place.token, { start_param: await click() }],
      [another.bot, another.token, { start_param: parameter }],
    ] as const)
      await assertTaken(await post(bot, signed(token, fields)))
    assert.equal((await launchesOf(place)).length, 4)
  })

  test('binds a click without a bot to its bot', async () => {
    const place = await on.place()
    const destination = { type: 'redirect', url: `https://t.me/${place.username}/play?startapp={click_id}` }
    const made = await on.house.call('POST', '/api/campaigns', { ...place.as, body: { name: 'Typed', destination } })
    const visit = await on.house.call('GET', `/c/${String(made.data()['key'])}`, { headers: BROWSER })
    const id = new URL(String(visit.headers.location)).searchParams.get('startapp') ?? ''
    await assertTaken(await post(place.bot, signed(place.token, { start_param: id })))
    const click = await on.house.database.kysely
      .selectFrom('clicks')
      .select('bot_id')
      .where('id', '=', toUuid(id) ?? '')
      .executeTakeFirst()
    assert.equal(click?.bot_id, toUuid(place.bot))
  })

  test('without a click of its own counts on the person’s newest start, request or launch within 30 days, in any bot of the organization', async () => {
    const place = await on.place()
    const other = await on.addBot(place.as)
    const click = await clicker(place)
    const [first, second] = [await click(), await click()]
    await on.sendUpdate(place, startUpdate(first))
    await on.sendUpdate(other, startUpdate(second))
    const done = async (over: string, days: number) => {
      const at = new Date(Date.now() - days * 86_400_000).toISOString()
      const { kysely } = on.house.database
      const [org_id, click_id] = [place.org_id, toUuid(over) ?? '']
      const mine = { org_id, click_id }
      await kysely
        .updateTable('events')
        .set({ created_at: at })
        .where(eb => eb.and(mine))
        .execute()
      await kysely
        .updateTable('subscribers')
        .set({ click_at: at })
        .where(eb => eb.and(mine))
        .execute()
    }
    await done(first, 2)
    await done(second, 1)
    const launch = (fields: Fields = {}) => post(place.bot, signed(place.token, fields))
    const found = async () => (await launchesOf(place)).map(({ click_id }) => click_id)
    await assertTaken(await launch())
    assert.deepEqual(await found(), [toUuid(second)])
    await done(second, 31)
    await assertTaken(await launch({ start_param: 'a-scheme-of-the-owner' }))
    assert.deepEqual(await found(), [toUuid(second), toUuid(first)])
    await done(first, 31)
    await assertTaken(await launch())
    assert.equal((await found()).length, 2)
    // A request to join counts too.
    const third = await click()
    const from = { id: 77, is_bot: false, first_name: 'Ada' }
    const invite_link = { invite_link: 'https://t.me/+x', name: third }
    const chat = { id: -100_777, type: 'channel', title: 'Deals' }
    const date = Math.floor(Date.now() / 1000)
    await on.sendUpdate(place, { update_id: 9, chat_join_request: { chat, from, user_chat_id: 77, date, invite_link } })
    await assertTaken(await launch())
    assert.deepEqual((await found()).at(-1), toUuid(third))
  })

  test('without a click of the organization or without a person is organic: accepted and not recorded', async () => {
    const [place, stranger] = [await on.place(), await on.place()]
    const theirs = await (await clicker(stranger))()
    const ours = await (await clicker(place))()
    await on.sendUpdate(stranger, startUpdate(theirs, 79))
    for (const fields of [
      {},
      { start_param: theirs },
      { start_param: toWireId(newId()) },
      { user: { id: 79, first_name: 'Started elsewhere' } },
      { start_param: ours, user: undefined },
      { start_param: ours, user: { id: 80, first_name: 'B', is_bot: true } },
    ])
      await assertTaken(await post(place.bot, signed(place.token, fields)))
    assert.deepEqual([...(await launchesOf(place)), ...(await launchesOf(stranger))], [])
  })
})

describe('what is refused', () => {
  test('401: tampered, old, in the future, of another token or bot, of no bot, too long; any page may read the refusal, and nothing is recorded', async () => {
    const [place, stranger] = [await on.place(), await on.place()]
    const gone = await on.addBot(place.as)
    assert.equal((await on.house.call('DELETE', `/api/bots/${gone.bot}`, place.as)).statusCode, 200)
    const start_param = await (await clicker(place))()
    const good = signed(place.token, { start_param })
    const ago = (seconds: number) => signed(place.token, { start_param }, new Date(Date.now() - seconds * 1000))
    for (const [bot, payload, words] of [
      [place.bot, good.replace('%22id%22%3A77', '%22id%22%3A78'), /not signed for this bot/],
      [place.bot, `${good}&chat_type=private`, /not signed/],
      [place.bot, ago(24 * 3600 + 5), /older than 24 hours/],
      [place.bot, () => ago(-70), /in the future/],
      [place.bot, signed(stranger.token, { start_param }), /not signed/],
      [stranger.bot, good, /not signed/],
      [gone.bot, signed(gone.token, { start_param }), /not signed/],
      [toWireId(newId()), good, /not signed/],
      ['nobody', good, /not signed/],
      [place.bot, '', /at most 8192 bytes|hash or auth_date/],
      [place.bot, JSON.stringify({ initData: good }), /hash or auth_date is missing/],
      [place.bot, `${good}&pad=${'x'.repeat(8192)}`, /at most 8192 bytes/],
      [place.bot, Buffer.from([0xff, 0xfe, 0x00]), /at most 8192 bytes/],
    ] as const) {
      // A launch just too far ahead must be signed right before it is sent.
      const answer = await post(bot, typeof payload === 'function' ? payload() : payload)
      const { code, error, hint } = answer.data()
      assert.deepEqual([answer.statusCode, code], [401, 'init_data_wrong'], answer.body)
      assert.match(String(error), words)
      assert.match(String(hint), /Telegram\.WebApp\.initData/)
      assert.equal(answer.headers['access-control-allow-origin'], '*')
    }
    for (const who of [place, stranger]) assert.equal((await tally(on.house.database, who.org_id)).events, 0)
    await assertTaken(await post(place.bot, good))
  })

  test('pages of any origin may read the answer, without cookies', async () => {
    const place = await on.place()
    const answer = await post(place.bot, signed(place.token))
    assert.equal(answer.headers['access-control-allow-origin'], '*')
    assert.equal(answer.headers['access-control-allow-credentials'], undefined)
    assert.equal(answer.headers['set-cookie'], undefined)
  })

  test('429: more than 20 a minute from one address, whatever it sends; other addresses are not affected', async () => {
    const place = await on.place()
    const from = '10.9.9.9'
    const answers = []
    for (let count = 0; count < 22; count += 1)
      answers.push(await post(place.bot, count % 2 === 0 ? 'junk' : signed(place.token), { from }))
    assert.deepEqual(
      answers.map(({ statusCode }) => statusCode),
      [...Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? 401 : 200)), 429, 429],
    )
    const last = answers.at(-1)
    assert.equal(last?.data()['code'], 'rate_limited')
    assert.ok(Number(last?.headers['retry-after']) >= 1)
    assert.equal(last?.headers['access-control-allow-origin'], '*')
    await assertTaken(await post(place.bot, signed(place.token)))
  })

  test('429: the addresses of one IPv6 /64 share the limit, and another /64 has its own', async () => {
    const place = await on.place()
    const from = (count: number, network = 'a') => ({ from: `2001:db8:0:${network}::${count.toString(16)}` })
    for (let count = 1; count <= 20; count += 1) await post(place.bot, 'junk', from(count))
    assert.equal((await post(place.bot, signed(place.token), from(21))).statusCode, 429)
    await assertTaken(await post(place.bot, signed(place.token), from(1, 'b')))
  })

  test('409: the organization is deleted', async () => {
    const place = await on.place()
    const start_param = await (await clicker(place))()
    await on.house.database.kysely
      .updateTable('organizations')
      .set({ deleted_at: new Date().toISOString() })
      .where('org_id', '=', place.org_id)
      .execute()
    await announceOrganization(on.house.ground.db, place.org_id)
    const answer = await post(place.bot, signed(place.token, { start_param }))
    assert.deepEqual([answer.statusCode, answer.data()['code']], [409, 'org_deleted'])
    assert.deepEqual(await launchesOf(place), [])
  })

  test('503 while the database is away, and then the same launch is recorded', async () => {
    const fresh = await freshDatabase()
    const proxy = await startProxy(fresh.connection)
    const database = connect([proxy.connection], { log: pino({ level: 'silent' }), isBehind: false })
    const cut = await startBotHouse({}, database)
    const place = await cut.place()
    const start_param = await (await clicker(place, {}, cut))()
    const launch = () => post(place.bot, signed(place.token, { start_param }), { on: cut })
    proxy.set('cut')
    const away = await launch()
    assert.deepEqual([away.statusCode, away.headers['access-control-allow-origin']], [503, '*'], away.body)
    proxy.set('flow')
    await eventually('it is taken', async () => (await launch()).statusCode === 200)
    const { rows } = await fresh.database.reads.query('select type from events where org_id = $1', [place.org_id])
    assert.deepEqual(rows, [{ type: 'miniapp_launch' }])
    await cut.close()
    await database.close()
    await proxy.close()
    await fresh.drop()
  })
})
