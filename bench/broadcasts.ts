// The speed of broadcasts compared with their setting, against a fake Bot API on loopback with Telegram's rate limits.
import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { newId } from '../src/contract/ids.ts'
import { insertBot } from '../src/telegram/bots/bots.ts'
import { openBroadcastWorker } from '../src/telegram/broadcasts/worker.ts'
import { seedSubscribers } from '../tests/support/broadcasts.ts'
import { type FakeBot, startTelegram, type TelegramFake } from '../tests/support/telegram-fake/telegram-fake.ts'
import type { BenchGround } from './ground.ts'
import { createOrganization, createOwner } from './organizations.ts'
import type { Plan } from './plan.ts'
import { type Finding, finding } from './rows.ts'

/** Below Telegram's limit, so that the pace is measured and not the limit. */
const SET = 25
const PAID = 1000

/** Sends for `broadcastSeconds` at the set pace, then a paid broadcast at its pace. */
export async function measureBroadcasts(ground: BenchGround, { broadcastSeconds }: Plan): Promise<Finding[]> {
  const telegram = await startTelegram()
  const { org_id } = await createOrganization(ground, await createOwner(ground, 'broadcasts@example.com'), {
    postback: telegram.origin,
  })
  const { database, secrets } = ground
  const config = { ...ground.config, telegramApiRoot: telegram.origin }
  const worker = openBroadcastWorker({
    config,
    database,
    db: database.kysely,
    secrets,
    log: pino({ level: 'silent' }),
  })
  try {
    const free = await rateOf(ground, telegram, { org_id, per_second: SET, paid: false, seconds: broadcastSeconds })
    const paid = await rateOf(ground, telegram, {
      org_id,
      per_second: PAID,
      paid: true,
      seconds: broadcastSeconds / 4,
    })
    return [
      finding('broadcast_per_second', free, [
        `set to ${SET} a second, for ${broadcastSeconds} s; paid, set to ${PAID}: ${paid.toFixed(0)} a second`,
      ]),
    ]
  } finally {
    await worker.close()
    await telegram.close()
  }
}

type Run = { org_id: number; per_second: number; paid: boolean; seconds: number }

/** Messages per second, from the first to the last. */
async function rateOf(ground: BenchGround, telegram: TelegramFake, run: Run): Promise<number> {
  const fake = telegram.bot()
  const recipients = Math.max(6, Math.round(run.per_second * run.seconds))
  await start(ground, telegram, fake, { ...run, recipients })
  const own = () => telegram.messages.filter(({ bot }) => bot === fake.id)
  while (own().length < recipients) await sleep(50)
  const times = own().map(({ at }) => at)
  const first = times[0] ?? 0
  const last = times.at(-1) ?? 0
  return ((recipients - 1) * 1000) / Math.max(1, last - first)
}

async function start(
  ground: BenchGround,
  telegram: TelegramFake,
  fake: FakeBot,
  { org_id, per_second, paid, recipients }: Run & { recipients: number },
): Promise<void> {
  const bot_id = await addBot(ground, telegram, fake, { org_id, recipients })
  const now = new Date().toISOString()
  await ground.database.kysely
    .insertInto('broadcasts')
    .values({
      org_id,
      id: newId(),
      bot_id,
      name: `Bench ${randomInt(1000)}`,
      state: 'preparing',
      message: JSON.stringify({ text: 'Hello' }),
      audience: JSON.stringify({}),
      per_second,
      paid,
      created_at: now,
      updated_at: now,
      started_at: now,
    })
    .execute()
}

/** Adds a bot of the fake's to an organization, with so many subscribers who have started it. Returns its id. */
export async function addBot(
  { database, secrets }: BenchGround,
  telegram: TelegramFake,
  fake: FakeBot,
  { org_id, recipients }: { org_id: number; recipients: number },
): Promise<string> {
  const bot_id = newId()
  const created_at = new Date().toISOString()
  const known = { username: fake.username, token: fake.token, telegram_id: String(fake.id) }
  await database.kysely
    .transaction()
    .execute(trx => insertBot(trx, secrets, { org_id, id: bot_id, ...known, created_at }))
  const people = Array.from({ length: recipients }, () => telegram.person())
  for (const person of people) person.start(fake)
  await seedSubscribers(
    database,
    { org_id, uuid: bot_id },
    people.map(({ id }) => ({ telegram_user_id: String(id) })),
  )
  return bot_id
}
