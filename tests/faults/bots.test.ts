// A bot's program gets every update and Sluice counts every person once, even if Sluice is killed or its database is down.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pino } from 'pino'
import { toUuid } from '../../src/contract/ids.ts'
import { connect } from '../../src/ground/db/connect.ts'
import { type BotProgram, startBotProgram } from '../support/bot-program.ts'
import { PUBLIC, signInAt } from '../support/bots.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { freePort } from '../support/ports.ts'
import { eventually } from '../support/eventually.ts'
import { IS_LONG } from '../support/fault-ground.ts'
import { openTestHouse, type TestHouse } from '../support/house.ts'
import { startProxy } from '../support/proxy.ts'
import { startSluice } from '../support/sluice.ts'
import { type FakeBot, startTelegram, type TelegramFake } from '../support/telegram-fake/telegram-fake.ts'

const SECRET = 'the same in all processes'

let fresh: FreshDatabase
let telegram: TelegramFake
let program: BotProgram
before(async () => {
  fresh = await freshDatabase()
  telegram = await startTelegram()
  program = await startBotProgram()
})
after(async () => {
  await telegram.close()
  await program.close()
  await fresh.drop()
})

/** A bot with a program behind Sluice, and clicks to it. */
async function place(house: TestHouse, clicks: number): Promise<{ bot: FakeBot; id: string; clicks: string[] }> {
  const { cookie } = await signInAt(house)
  const headers = { origin: PUBLIC, cookie }
  const bot = telegram.bot()
  const body = { token: bot.token, mode: 'relay', relay_url: program.url, relay_secret: 'owners' }
  const added = await house.call('POST', '/api/bots', { headers, body })
  assert.equal(added.statusCode, 201, added.body)
  const destination = { type: 'redirect', url: `https://t.me/${bot.username}?start={click_id}` }
  const made = await house.call('POST', '/api/campaigns', { headers, body: { name: 'Bot', destination } })
  const ids: string[] = []
  for (let n = 0; n < clicks; n += 1) {
    const agent = { 'user-agent': 'Mozilla/5.0 (X11; Linux x64) Chrome/130.0.0.0' }
    const { headers: to } = await house.call('GET', `/c/${String(made.data()['key'])}`, { headers: agent })
    ids.push(new URL(String(to.location)).searchParams.get('start') ?? '')
  }
  return { bot, id: String(added.data()['id']), clicks: ids }
}

const startsOf = async (id: string): Promise<number> => {
  const { rows } = await fresh.database.reads.query<{ count: number }>(
    `select count(*)::int from events where type = 'bot_start' and bot_id = $1`,
    [toUuid(id)],
  )
  return rows[0]?.count ?? 0
}

/** Lets Telegram retry until it has delivered everything. */
const taken = (bot: FakeBot) =>
  eventually('Telegram has delivered everything', () => {
    telegram.advance(2000)
    return bot.pending === 0
  })

/** How many updates the program got more than once. */
function repeats(): number {
  const all = program.numbers()
  return all.length - new Set(all).size
}

test('killed during a stream of updates: the bot’s program misses none, and every start is recorded once', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-bots-'))
  const env = { BASE_URL: PUBLIC, TELEGRAM_API_ROOT: telegram.origin, SECRET, ALLOW_PRIVATE_TARGETS: 'true' }
  const people = Array.from({ length: 40 }, () => telegram.person())
  const house = await openTestHouse(fresh.database, { ...env, ROLE: 'serve' })
  const { bot, id, clicks } = await place(house, people.length)
  await house.end()
  const port = await freePort()
  const start = () =>
    startSluice({ ...env, PORT: String(port), DATABASE_URL: fresh.url, DATA_DIR: dataDir, LOG_LEVEL: 'silent' })
  telegram.reach(PUBLIC, `http://127.0.0.1:${port}`)
  program.updates.length = 0
  let sluice = await start()
  const kills = IS_LONG ? 5 : 1
  const sent = 500
  let done = 0
  const act = (upTo: number) => {
    for (; done < upTo; done += 1) {
      const person = people[done % people.length] ?? assert.fail()
      if (done < people.length) person.start(bot, clicks[done])
      else person.say(bot, `message ${done}`)
    }
  }
  for (let turn = 0; turn < kills; turn += 1) {
    const before = program.updates.length
    act(Math.floor((sent * (turn + 1)) / (kills + 1)))
    telegram.advance(20_000)
    await eventually('some have come', () => program.updates.length > before + 10)
    await sluice.kill()
    sluice = await start()
  }
  act(sent)
  await taken(bot)
  assert.equal(new Set(program.numbers()).size, sent)
  assert.ok(repeats() <= kills * 100, `${repeats()} came again`)
  assert.equal(await startsOf(id), people.length)
  await sluice.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

test('while the database is down the bot’s program gets each update once, and afterwards everything is recorded', async () => {
  const proxy = await startProxy(fresh.connection)
  const database = connect([proxy.connection], { log: pino({ level: 'silent' }) })
  const house = await openTestHouse(database, { BASE_URL: PUBLIC, TELEGRAM_API_ROOT: telegram.origin, SECRET })
  await house.listen()
  const at = house.app.server.address()
  telegram.reach(PUBLIC, `http://127.0.0.1:${typeof at === 'object' ? at?.port : ''}`)
  const people = Array.from({ length: 10 }, () => telegram.person())
  const { bot, id, clicks } = await place(house, people.length)
  const asked = telegram.messages.length
  program.updates.length = 0
  program.answer = (_, response) =>
    void response.end(JSON.stringify({ method: 'sendMessage', chat_id: people[0]?.id, text: 'hi' }))
  for (const mode of ['cut', 'freeze'] as const) {
    proxy.set(mode)
    const before = program.updates.length
    for (const [n, person] of people.entries())
      if (mode === 'cut') person.start(bot, clicks[n])
      else person.say(bot, 'later')
    await eventually(`the program gets updates (${mode})`, () => {
      telegram.advance(1000)
      return new Set(program.numbers()).size === before + people.length
    })
    assert.ok(bot.pending > 0, 'Telegram keeps what could not be recorded')
    proxy.set('flow')
    await taken(bot)
  }
  assert.equal(program.updates.length, 2 * people.length, 'each came once')
  await eventually('all is recorded', async () => (await startsOf(id)) === people.length)
  assert.ok(telegram.messages.length > asked, 'the program’s answers were passed back')
  await house.end()
  await database.close()
  await proxy.close()
})
