// Tasks run once, in time, in one process at a time, and not during rate limits.
import { databaseTimeIn } from '../../ground/db/clock.ts'
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { type BotGround, botGround } from '../../../tests/support/bots.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { toUuid } from '../../contract/ids.ts'
import { silenceBot } from '../bots/silence.ts'
import { dropEndedTasks } from './retention.ts'
import { afterFailure, insertTask, type TaskOutcome, type Task, ARRIVAL_UNKNOWN, wakeTasks } from './tasks.ts'
import { openTasks } from './worker.ts'

let ground: BotGround
before(async () => {
  ground = await botGround()
})
after(() => ground.end())

const DONE: TaskOutcome = { is: 'done' }
const db = () => ground.house.database.kysely

/** A bot of its own, so that no test meets another's tasks. */
async function newBot() {
  const { id } = await ground.add(ground.telegram.bot())
  return { org_id: ground.owner.org_id, id: toUuid(id) ?? '' }
}
type Bot = Awaited<ReturnType<typeof newBot>>

async function ask(bot: Bot, once_key: string, { kind = 'leave', in_ms = 0, within_ms = 60_000 } = {}) {
  return await insertTask(db(), {
    org_id: bot.org_id,
    bot_id: bot.id,
    telegram_user_id: '77',
    kind: kind as 'leave',
    once_key,
    asked: { key: once_key },
    due_at: await databaseTimeIn(db(), in_ms),
    give_up_at: await databaseTimeIn(db(), within_ms),
  })
}

const rows = (bot: Bot) =>
  db()
    .selectFrom('bot_tasks')
    .selectAll()
    .where('org_id', '=', bot.org_id)
    .where('bot_id', '=', bot.id)
    .orderBy('once_key')
    .execute()
const states = async (bot: Bot) => (await rows(bot)).map(({ state }) => state)
const ended = (bot: Bot) => async () => (await rows(bot)).every(({ state }) => state !== 'waiting')

const running: { close(): Promise<void> }[] = []
afterEach(async () => void (await Promise.all(running.splice(0).map(one => one.close()))))

/** A process that runs tasks of one kind. */
function process(doing: (task: Task) => Promise<TaskOutcome>, poll_ms = 50) {
  const tasks = openTasks(ground.house.ground, { leave: doing }, { poll_ms })
  running.push(tasks)
  return tasks
}

test('a task is created once, and one of several processes runs it', async () => {
  const bot = await newBot()
  const keys = Array.from({ length: 40 }, (_, n) => String(n).padStart(2, '0'))
  const isNew = await Promise.all([...keys, ...keys].map(key => ask(bot, key)))
  assert.equal(isNew.filter(Boolean).length, keys.length)
  const done: unknown[] = []
  const doing = async ({ asked }: Task) => {
    done.push(asked['key'])
    return DONE
  }
  const processes = [process(doing), process(doing), process(doing)]
  await eventually('all are done', ended(bot))
  await Promise.all(processes.map(one => one.close()))
  assert.deepEqual([done.length, new Set(done)], [keys.length, new Set(keys)])
  assert.ok(
    (await rows(bot)).every(({ state, ended_at, tries }) => state === 'done' && ended_at !== null && tries === 1),
  )
})

test('a task runs at its time, at once if this process created it, and not when it is too late', async () => {
  const bot = await newBot()
  await ask(bot, 'late', { in_ms: -2000, within_ms: -1000 })
  await ask(bot, 'later', { in_ms: 3_600_000, within_ms: 7_200_000 })
  const done: unknown[] = []
  const worker = process(async ({ asked }) => {
    done.push(asked['key'])
    return DONE
  }, 3_600_000)
  await eventually('the late one is given up', async () => (await states(bot))[0] === 'failed')
  await ask(bot, 'soon')
  wakeTasks(db())
  await eventually('it is done without waiting', () => done.length === 1)
  await worker.close()
  assert.deepEqual(done, ['soon'])
  assert.deepEqual(
    (await rows(bot)).map(({ once_key, state, reason }) => [once_key, state, reason]),
    [
      ['late', 'failed', 'it was too late'],
      ['later', 'waiting', null],
      ['soon', 'done', null],
    ],
  )
})

test('a dead process’s task is taken over as cut, and that process’s later outcome is not recorded', async () => {
  const bot = await newBot()
  await ask(bot, 'one')
  const frozen = Promise.withResolvers<TaskOutcome>()
  const seen: boolean[] = []
  const first = process(task => {
    seen.push(task.is_cut)
    return frozen.promise
  })
  await eventually('it is in hand', () => seen.length === 1)
  const second = process(async task => {
    seen.push(task.is_cut)
    return { is: 'gone', reason: 'by the second' }
  })
  assert.deepEqual(await states(bot), ['waiting'], 'a living lease was broken')
  await db()
    .updateTable('bot_tasks')
    .set({ lease_until: await databaseTimeIn(db(), -1) })
    .where('org_id', '=', bot.org_id)
    .where('bot_id', '=', bot.id)
    .execute()
  await eventually('it is taken over', ended(bot))
  frozen.resolve(DONE)
  await Promise.all([first.close(), second.close()])
  assert.deepEqual(seen, [false, true])
  const [row] = await rows(bot)
  assert.deepEqual([row?.state, row?.reason, row?.tries], ['gone', 'by the second', 2])
})

test('a rate limit applies to the whole bot, in every process, and to no other bot', async () => {
  const [bot, other] = [await newBot(), await newBot()]
  const calls: string[] = []
  const doing = async ({ bot_id }: Task): Promise<TaskOutcome> => {
    calls.push(bot_id)
    if (bot_id === bot.id && calls.length === 1)
      return afterFailure({ ok: false, kind: 'later', description: 'Too Many Requests', retry_after: 3600 })
    return DONE
  }
  for (let n = 0; n < 30; n += 1) await ask(bot, String(n), { within_ms: 7_200_000 })
  const ofBot = () => calls.filter(id => id === bot.id).length
  const processes = [process(doing), process(doing)]
  await eventually('it is written down', async () => (await silence(bot)) !== null)
  const before = ofBot()
  await ask(other, 'x')
  await eventually('the other bot goes on', ended(other))
  // Each process ends the three tasks it had claimed before the rate limit, and starts none after.
  assert.ok(ofBot() <= before + 6, 'the bot went on')
  assert.ok((await states(bot)).includes('waiting'))
  await eventually('nothing is in hand', async () => (await rows(bot)).every(({ lease_token }) => lease_token === null))
  await db()
    .updateTable('bots')
    .set({ send_after: null })
    .where('org_id', '=', bot.org_id)
    .where('id', '=', bot.id)
    .execute()
  await db()
    .updateTable('bot_tasks')
    .set({ due_at: await databaseTimeIn(db(), -1) })
    .where('org_id', '=', bot.org_id)
    .where('bot_id', '=', bot.id)
    .execute()
  await eventually('it goes on after it', ended(bot))
  await Promise.all(processes.map(one => one.close()))
  assert.ok((await states(bot)).every(state => state === 'done'))
})

test('a task that fails before its message leaves is retried soon, one that fails after that stays claimed', async () => {
  const bot = await newBot()
  for (const key of ['before', 'after']) await ask(bot, key)
  const worker = openTasks(ground.house.ground, {
    leave: async ({ asked }, _, leaves) => {
      if (asked['key'] === 'after') leaves()
      throw new Error('the database is away')
    },
  })
  running.push(worker)
  await eventually('both were tried', async () =>
    (await rows(bot)).every(
      ({ tries, lease_token, once_key }) => tries === 1 && (lease_token === null) === (once_key === 'before'),
    ),
  )
  const [after, before] = await rows(bot)
  assert.deepEqual([after?.state, before?.state], ['waiting', 'waiting'])
  assert.ok(Date.parse(String(before?.due_at)) > Date.parse(String(before?.created_at)) + 4000)
})

test('tasks start no sooner than the bot’s speed allows', async () => {
  const bot = await newBot()
  const begun: number[] = []
  for (let n = 0; n < 6; n += 1) await ask(bot, String(n))
  const worker = process(async () => {
    begun.push(performance.now())
    return DONE
  })
  await eventually('all are done', ended(bot))
  await worker.close()
  // 20 a second; a timer may be a millisecond early. Each of the first three may begin late on a busy machine, and none of them early.
  const first = Math.min(...begun.slice(0, 3).map((at, n) => at - n * 50))
  assert.ok((begun[3] ?? 0) - first >= 148, String(begun))
})

test('a revoked token is noticed at once', async () => {
  const known = ground.telegram.bot()
  const { id } = await ground.add(known)
  const bot = { org_id: ground.owner.org_id, id: toUuid(id) ?? '' }
  known.revoke()
  await ask(bot, 'one')
  const worker = process(async () => afterFailure({ ok: false, kind: 'token', description: 'Unauthorized' }))
  await eventually('it is revoked', async () => {
    return (await ground.call('GET', `/api/bots/${id}`)).data()['token_state'] === 'revoked'
  })
  await worker.close()
  assert.deepEqual(await states(bot), ['waiting'])
})

const silence = async ({ org_id, id }: Bot) =>
  (
    await db()
      .selectFrom('bots')
      .select('send_after')
      .where('org_id', '=', org_id)
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  ).send_after

test('a rate limit is never shortened', async () => {
  const bot = await newBot()
  const [long, short] = [await databaseTimeIn(db(), 60_000), await databaseTimeIn(db(), 1000)]
  await silenceBot(db(), bot, long)
  await silenceBot(db(), bot, short)
  assert.equal(Date.parse(String(await silence(bot))), Date.parse(long))
})

test('tasks of a deleted bot end, and those of a revoked token wait for the new one', async () => {
  const [deleted, revoked] = [await newBot(), await newBot()]
  await db()
    .updateTable('bots')
    .set({ token_state: 'revoked' })
    .where('org_id', '=', revoked.org_id)
    .where('id', '=', revoked.id)
    .execute()
  await ask(deleted, 'a')
  await ask(revoked, 'a')
  assert.equal((await ground.call('DELETE', `/api/bots/${deleted.id}`)).statusCode, 200)
  const worker = process(async () => DONE)
  await eventually('it is over', ended(deleted))
  const [row] = await rows(deleted)
  assert.deepEqual([row?.state, row?.reason], ['gone', 'the bot was deleted'])
  assert.deepEqual(await states(revoked), ['waiting'])
  await db()
    .updateTable('bots')
    .set({ token_state: 'ok' })
    .where('org_id', '=', revoked.org_id)
    .where('id', '=', revoked.id)
    .execute()
  await eventually('it is done with the new one', ended(revoked))
  await worker.close()
})

test('the outcome of a call decides whether it is repeated', () => {
  const failure = (kind: 'later' | 'unknown' | 'unsent' | 'refused', retry_after?: number) =>
    ({ ok: false, kind, description: 'words', ...(retry_after === undefined ? {} : { retry_after }) }) as const
  assert.deepEqual(afterFailure(failure('unknown')), { is: 'failed', reason: ARRIVAL_UNKNOWN })
  assert.equal(afterFailure(failure('unknown'), { mayRepeat: true }).is, 'again')
  assert.equal(afterFailure(failure('unsent')).is, 'again')
  assert.deepEqual(afterFailure(failure('later', 17)), { is: 'again', after_s: 17, isSilence: true })
  assert.deepEqual(afterFailure(failure('refused')), { is: 'failed', reason: 'words' })
  assert.deepEqual(afterFailure(failure('refused'), { refused: 'gone' }), { is: 'gone', reason: 'words' })
})

test('ended tasks are deleted after a week, waiting ones are not', async () => {
  const bot = await newBot()
  for (const key of ['new', 'old']) await ask(bot, key)
  const worker = process(async () => DONE)
  await eventually('they are done', ended(bot))
  await worker.close()
  await ask(bot, 'waits')
  const old = await databaseTimeIn(db(), -7 * 86_400_000 - 1000)
  await db()
    .updateTable('bot_tasks')
    .set({ ended_at: old, created_at: old })
    .where('org_id', '=', bot.org_id)
    .where('bot_id', '=', bot.id)
    .where('once_key', '=', 'old')
    .execute()
  await dropEndedTasks(ground.house.ground)
  assert.deepEqual(
    (await rows(bot)).map(({ once_key }) => once_key),
    ['new', 'waits'],
  )
})
