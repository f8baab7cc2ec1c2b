// Destinations in Telegram: requests, rows and answers.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId, seedKey, useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedBot } from '../../../tests/support/intake.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { toUuid } from '../../contract/ids.ts'

let house: TestHouse
let owner: SignedIn
let bot_id: string
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
  bot_id = toWireId(await seedBot(house.database, owner.org_id, 'Acme_bot'))
})
after(() => house.end())

type As = { cookie?: string; key?: string }
const create = (destination: object, as: As = owner) =>
  house.call('POST', '/api/campaigns', { ...as, body: { name: 'C', destination } })
const patch = (id: string, body: object) => house.call('PATCH', `/api/campaigns/${id}`, { ...owner, body })
const storedOf = async (id: string) =>
  await house.database.kysely
    .selectFrom('campaigns')
    .select(['destination', 'updated_at'])
    .where('id', '=', toUuid(id) ?? '')
    .executeTakeFirstOrThrow()

test('a destination is answered with all its fields, and read back the same', async () => {
  for (const [sent, shown] of [
    [{ type: 'bot' }, { type: 'bot', start: null, open: 'direct', link_host: 't.me' }],
    [
      { type: 'bot', start: 'promo-{click_id}', open: 'page', link_host: 'telegram.me' },
      { type: 'bot', start: 'promo-{click_id}', open: 'page', link_host: 'telegram.me' },
    ],
    [
      { type: 'bot', start: null, open: null, link_host: null },
      { type: 'bot', start: null, open: 'direct', link_host: 't.me' },
    ],
    [{ type: 'mini_app' }, { type: 'mini_app', app: null, start: null, open: 'direct', link_host: 't.me' }],
    [
      { type: 'mini_app', app: 'play', start: 'x_{click_id}' },
      { type: 'mini_app', app: 'play', start: 'x_{click_id}', open: 'direct', link_host: 't.me' },
    ],
  ] as const) {
    const made = await create({ ...sent, bot_id })
    assert.equal(made.statusCode, 201, made.body)
    assert.deepEqual([made.data()['destination'], made.data()['warnings']], [{ ...shown, bot_id }, []])
    const read = await house.call('GET', `/api/campaigns/${String(made.data()['id'])}`, owner)
    assert.deepEqual(read.data()['destination'], { ...shown, bot_id })
  }
})

test('a destination is stored as a redirect to its link, which the previous version can read', async () => {
  const made = await create({ type: 'mini_app', bot_id, app: 'play', start: 'x_{click_id}' })
  const { destination } = await storedOf(String(made.data()['id']))
  const { type, url } = destination as { type: string; url: string }
  assert.deepEqual([type, url], ['redirect', 'https://t.me/Acme_bot/play?startapp=x_{click_id}'])
})

test('a destination is changed to another place, to a URL and back; an equal one is left unchanged', async () => {
  const { id } = (await create({ type: 'redirect', url: 'https://shop.example/' })).json() as { id: string }
  const led = await patch(id, { destination: { type: 'bot', bot_id, start: 'a-{click_id}' } })
  assert.equal((led.data()['destination'] as { start: string }).start, 'a-{click_id}')
  const before = await storedOf(id)
  for (const body of [
    { destination: { type: 'bot', bot_id, start: 'a-{click_id}', open: 'direct' } },
    { name: 'C', fallback_url: null },
  ])
    assert.equal((await patch(id, body)).statusCode, 200)
  assert.deepEqual(await storedOf(id), before)
  const renamed = await patch(id, { name: 'D' })
  assert.equal((renamed.data()['destination'] as { type: string }).type, 'bot')
  const back = await patch(id, { destination: { type: 'redirect', url: 'https://shop.example/' } })
  assert.deepEqual(back.data()['destination'], { type: 'redirect', url: 'https://shop.example/' })
})

test('an invalid link is refused with a remedy', async () => {
  for (const [sent, words] of [
    [{ type: 'bot', bot_id, start: 'promo' }, /start: must end with \{click_id\}/],
    [{ type: 'bot', bot_id, start: 'promo{click_id}' }, /start: must have - or _ right before/],
    [{ type: 'bot', bot_id, start: '{sub1}-{click_id}' }, /start: may hold only A-Z, a-z, 0-9, _ and -/],
    [{ type: 'bot', bot_id, start: `${'a'.repeat(40)}-{click_id}` }, /start: may hold at most 38/],
    [{ type: 'mini_app', bot_id, app: 'a/b' }, /app: must be its short name at BotFather/],
    [{ type: 'bot', bot_id, open: 'app' }, /open/],
    [{ type: 'bot', bot_id, link_host: 'evil.example' }, /link_host/],
    [{ type: 'bot' }, /bot_id/],
    [{ type: 'channel', channel_id: bot_id }, /destination/],
  ] as const) {
    const reply = await create(sent)
    assert.deepEqual([reply.statusCode, words.test(String(reply.data()['error']))], [400, true], reply.body)
  }
})

test('an unknown, deleted or another organization’s bot is refused, for a new campaign and for a change', async () => {
  const gone = await seedBot(house.database, owner.org_id, 'Gone_bot')
  await house.call('DELETE', `/api/bots/${toWireId(gone)}`, owner)
  const stranger = await seedSignedIn(house)
  const theirs = await seedBot(house.database, stranger.org_id, 'Their_bot')
  const { id } = (await create({ type: 'bot', bot_id })).json() as { id: string }
  const before = await storedOf(id)
  for (const nobody of [gone, theirs, newId()])
    for (const type of ['bot', 'mini_app']) {
      const destination = { type, bot_id: toWireId(nobody) }
      for (const reply of [await create(destination), await patch(id, { destination })])
        assert.deepEqual([reply.statusCode, reply.data()['error']], [400, 'destination.bot_id: no such bot'])
    }
  assert.deepEqual(await storedOf(id), before)
})

test('a key with the right to campaigns may name a bot in one', async () => {
  const { secret } = await seedKey(house.database, owner, { rights: ['campaigns'] })
  const made = await create({ type: 'bot', bot_id }, { key: secret })
  assert.equal(made.statusCode, 201, made.body)
})
