// Nobody gets a message twice, whether a process dies or sleeps or the database is down; and people with an unknown outcome are listed.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { pino } from 'pino'
import { connect } from '../../src/ground/db/connect.ts'
import type { SendTerms } from '../../src/telegram/broadcasts/terms.ts'
import { openBroadcastWorker } from '../../src/telegram/broadcasts/worker.ts'
import { type BotGround, botGround } from '../support/bots.ts'
import { type BroadcastBot, broadcasting, mostASecond, seedSubscribers } from '../support/broadcasts.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { IS_LONG } from '../support/fault-ground.ts'
import { startProxy } from '../support/proxy.ts'

/** Short, so that the work of a dead process is soon free again. Calls to the fake take no time. */
const TERMS: Partial<SendTerms> = { lease_ms: 1500, grace_ms: 1000, poll_ms: 50, probe_ms: 100, portion: 50 }
const SECRET = 'a secret that only tests know'

let fresh: FreshDatabase
let ground: BotGround
let at: ReturnType<typeof broadcasting>
const children = new Set<ChildProcess>()
before(async () => {
  fresh = await freshDatabase()
  ground = await botGround({ ROLE: 'serve', SECRET }, {}, fresh.database)
  at = broadcasting(ground)
})
afterEach(async () => {
  for (const child of children) await kill(child)
  ground.telegram.faults.clear()
})
after(async () => {
  await ground.end()
  await fresh.drop()
})

function startSender(): ChildProcess {
  const settings = { SECRET, TELEGRAM_API_ROOT: ground.telegram.origin }
  const script = join(import.meta.dirname, '../support/broadcast-sender.ts')
  const words = [fresh.connection, settings, TERMS].map(one => JSON.stringify(one))
  const child = spawn(process.execPath, [script, ...words], { stdio: 'inherit' })
  children.add(child)
  child.once('close', () => children.delete(child))
  return child
}

async function kill(child: ChildProcess): Promise<void> {
  const closed = once(child, 'close')
  child.kill('SIGKILL')
  await closed
}

const numberOf = ({ fake }: BroadcastBot) => ground.telegram.messages.filter(one => one.bot === fake.id).length
const calls = ({ fake }: BroadcastBot, method = 'sendMessage') =>
  ground.telegram.calls.filter(call => call.token === fake.token && call.method === method)

/** The recipients in this state, by their Telegram ids. */
async function inState(id: string, state: string): Promise<number[]> {
  const found: number[] = []
  for (let cursor = ''; ; ) {
    const reply = await ground.call('GET', `/api/broadcasts/${id}/sends?state=${state}&limit=200${cursor}`)
    const { data, next_cursor } = reply.json<{ data: { telegram_user_id: string }[]; next_cursor: string | null }>()
    found.push(...data.map(({ telegram_user_id }) => Number(telegram_user_id)))
    if (next_cursor === null) return found
    cursor = `&cursor=${next_cursor}`
  }
}

test('killed again and again: nobody gets a message twice, and people with an unknown outcome are listed and can be sent to again', async () => {
  const [kills, count] = IS_LONG ? [20, 1000] : [2, 80]
  const bot = await at.bot()
  const people = (await at.people(bot, count)).map(({ id }) => id)
  const id = await at.started(bot, count, { per_second: 28 })
  for (let turn = 1; turn <= kills; turn += 1) {
    const child = startSender()
    const sent = Math.floor((count * turn) / (kills + 2))
    await eventually(`${sent} are sent`, () => numberOf(bot) >= sent)
    // In the middle of a group: the next answers never arrive.
    ground.telegram.faults.always('sendMessage', turn % 2 === 0 ? 'hang' : 'accept_then_drop', bot.fake.token)
    const before = calls(bot).length
    if (turn % 2 === 0) await eventually('some are on their way', () => calls(bot).length > before)
    await kill(child)
    ground.telegram.faults.clear()
  }
  startSender()
  const { counts, recipients } = await at.until(id, 'done')
  const chats = at.chats(bot)
  assert.equal(new Set(chats).size, chats.length, 'somebody got a message twice')
  assert.ok(counts.unknown <= 3 * kills && counts.unknown > 0, `${counts.unknown} are unknown`)
  assert.deepEqual([recipients, counts.sent + counts.unknown], [count, count])
  const [sent, unknown] = [await inState(id, 'sent'), await inState(id, 'unknown')]
  assert.deepEqual(new Set([...sent, ...unknown]), new Set(people))
  assert.ok(sent.every(person => chats.includes(person)))
  assert.ok(mostASecond(calls(bot).map(call => call.at)) <= 28)
  await at.call('POST', `/api/broadcasts/${id}/unknown`)
  const again = await at.until(id, 'done')
  assert.deepEqual([again.counts.sent, again.counts.unknown], [count, 0])
  assert.deepEqual(new Set(at.chats(bot)), new Set(people))
})

test('a process that sleeps past its lease sends nothing afterwards, and its late writes change nothing', async () => {
  const bot = await at.bot()
  await at.people(bot, 40)
  const id = await at.started(bot, 40, { per_second: 28 })
  const sleeper = startSender()
  await eventually('it has begun', () => numberOf(bot) >= 6)
  ground.telegram.faults.next('sendMessage', 'hang', 3, bot.fake.token)
  const before = calls(bot).length
  await eventually('a group is on its way', () => calls(bot).length >= before + 3)
  sleeper.kill('SIGSTOP')
  startSender()
  const { counts } = await at.until(id, 'done')
  assert.deepEqual([counts.sent, counts.unknown], [37, 3])
  const unknown = await inState(id, 'unknown')
  ground.telegram.faults.clear()
  sleeper.kill('SIGCONT')
  // It is awake once it sends for another bot; by then its late writes are done.
  await kill([...children].find(child => child !== sleeper) ?? assert.fail())
  const other = await at.bot()
  await at.people(other, 3)
  await at.until(await at.started(other, 3), 'done')
  assert.deepEqual((await at.read(id)).counts, counts)
  assert.deepEqual(await inState(id, 'unknown'), unknown)
  assert.equal(new Set(at.chats(bot)).size, numberOf(bot))
  assert.equal(numberOf(bot), 37)
})

test('a wait that Telegram demands is kept across a restart @detail', async () => {
  const bot = await at.bot()
  await at.people(bot, 12)
  const retry_after = IS_LONG ? 30 : 4
  ground.telegram.faults.next('sendMessage', { retry_after }, 1, bot.fake.token)
  const child = startSender()
  const id = await at.started(bot, 12)
  const asked = () => calls(bot).find(({ status }) => status === 429)
  await eventually('Telegram has asked', () => asked() !== undefined)
  await eventually('it is stored', async () => {
    const { rows } = await fresh.database.reads.query(`select 1 from bots where id = $1 and send_after > now()`, [
      bot.uuid,
    ])
    return rows.length === 1
  })
  await kill(child)
  startSender()
  const { counts } = await at.until(id, 'done')
  assert.equal(counts.sent + counts.unknown, 12)
  const from = asked()?.at ?? 0
  // After the three parallel calls, the first of which is refused.
  const later = calls(bot).slice(3)
  assert.deepEqual(
    later.filter(({ at: when }) => when < from + retry_after * 1000),
    [],
  )
})

test('killed while recipients are prepared it continues after them: everybody has one row @detail', async () => {
  const bot = await at.bot()
  const shut = { from: '00:00', to: '00:01', time_zone: new Date().getUTCHours() === 0 ? 'Asia/Tokyo' : 'UTC' }
  await seedSubscribers(
    fresh.database,
    bot,
    Array.from({ length: 3000 }, (_, n) => ({ telegram_user_id: String(3_000_000 + n) })),
  )
  const id = await at.started(bot, 3000, { window: shut })
  for (const least of [100, 1000]) {
    const child = startSender()
    await eventually(`${least} are prepared`, async () => (await at.read(id)).recipients >= least)
    await kill(child)
  }
  startSender()
  assert.equal((await at.until(id, 'sending')).recipients, 3000)
  const { rows } = await fresh.database.reads.query<{ count: number }>(
    `select count(*)::int as count from broadcast_sends where state = 'queued' and org_id = $1 and telegram_user_id like '3______'`,
    [bot.org_id],
  )
  assert.equal(rows[0]?.count, 3000)
  await at.call('POST', `/api/broadcasts/${id}/stop`)
})

test('while the database is down only messages in flight are sent, and nobody gets a message twice', async () => {
  const proxy = await startProxy(fresh.connection)
  const log = pino({ level: 'silent' })
  const database = connect([proxy.connection], { log })
  const { config, secrets } = ground.house.ground
  const worker = openBroadcastWorker({ config, secrets, log, database, db: database.kysely }, { poll_ms: 50 })
  const bot = await at.bot()
  await at.people(bot, 45)
  const id = await at.started(bot, 45, { per_second: 20 })
  for (const mode of IS_LONG ? (['cut', 'freeze'] as const) : (['cut'] as const)) {
    const before = numberOf(bot)
    await eventually('some are sent', () => numberOf(bot) >= before + 6)
    proxy.set(mode)
    const then = numberOf(bot)
    // The duration of fifty messages.
    const other = await at.bot()
    await at.people(other, 30)
    const second = openBroadcastWorker(ground.house.ground, { poll_ms: 50 })
    await at.until(await at.started(other, 30, { per_second: 28 }), 'done')
    await second.close()
    assert.ok(numberOf(bot) <= then + 3, `${numberOf(bot) - then} were sent without a database (${mode})`)
    proxy.set('flow')
  }
  const { counts } = await at.until(id, 'done')
  assert.deepEqual([counts.sent, counts.unknown], [45, 0])
  assert.equal(new Set(at.chats(bot)).size, 45)
  await worker.close()
  await database.close()
  await proxy.close()
})
