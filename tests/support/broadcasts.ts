// Seeds subscribers of a bot in any number, and makes broadcasts to them.
import assert from 'node:assert/strict'
import { newId, toUuid } from '../../src/contract/ids.ts'
import type { Database } from '../../src/ground/db/connect.ts'
import type { BotGround } from './bots.ts'
import { eventually } from './eventually.ts'
import type { FakeBot, FakePerson } from './telegram-fake/telegram-fake.ts'

export type BroadcastBot = {
  readonly fake: FakeBot
  readonly id: string
  readonly org_id: number
  readonly uuid: string
}
type SubscriberSeed = {
  readonly telegram_user_id: string
  readonly click_id?: string | null
  readonly campaign_id?: string | null
  readonly state?: string
  readonly language?: string
  readonly name?: string
  readonly started_at?: string
  readonly opted_out_at?: string | null
}

/** Inserts subscribers as the bot's updates would have. Returns their ids. */
export async function seedSubscribers(
  database: Database,
  { org_id, uuid: bot_id }: Pick<BroadcastBot, 'org_id' | 'uuid'>,
  all: readonly SubscriberSeed[],
): Promise<string[]> {
  const now = new Date().toISOString()
  const rows = all.map(one => ({
    org_id,
    bot_id,
    id: newId(),
    state: 'reachable',
    state_at: now,
    source: 'start' as const,
    created_at: now,
    started_at: now,
    ...one,
  }))
  for (let at = 0; at < rows.length; at += 1000)
    await database.kysely
      .insertInto('subscribers')
      .values(rows.slice(at, at + 1000))
      .execute()
  return rows.map(({ id }) => id)
}

type BroadcastReply = {
  id: string
  state: string
  pause_reason: string | null
  recipients: number
  counts: Record<'recipients' | 'queued' | 'sent' | 'blocked' | 'gone' | 'failed' | 'unknown' | 'skipped', number>
} & Record<string, unknown>

/** The actions of broadcast tests, on a ground with bots. */
export function broadcasting(ground: BotGround) {
  const { telegram, house, owner } = ground
  const call = async (
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    url: string,
    body?: unknown,
  ): Promise<BroadcastReply> => {
    const reply = await ground.call(method, url, body)
    assert.ok(reply.statusCode < 300, `${method} ${url}: ${reply.statusCode} ${reply.body}`)
    return reply.data() as BroadcastReply
  }
  const read = (id: string) => call('GET', `/api/broadcasts/${id}`)
  return {
    /** A call that must succeed. */
    call,
    read,
    /** A bot whose own program has the webhook, so that the fake's updates do not reach Sluice. */
    async bot(more: object = { mode: 'copy' }): Promise<BroadcastBot> {
      const fake = telegram.bot()
      const { id } = await ground.add(fake, more)
      return { fake, id, org_id: owner.org_id, uuid: toUuid(id) ?? '' }
    },
    /** People who have started the bot and are its subscribers. */
    async people(
      bot: BroadcastBot,
      count: number,
      more: (n: number) => Partial<SubscriberSeed> = () => ({}),
    ): Promise<FakePerson[]> {
      const people = Array.from({ length: count }, () => telegram.person())
      for (const person of people) person.start(bot.fake)
      const seeded = people.map(({ id }, n) => ({ telegram_user_id: String(id), ...more(n) }))
      await seedSubscribers(house.database, bot, seeded)
      return people
    },
    draft: (bot: BroadcastBot, more: object = {}) =>
      call('POST', '/api/broadcasts', { bot_id: bot.id, name: 'News', message: { text: 'Hello' }, ...more }),
    start: (id: string, expected_recipients: number, more: object = {}) =>
      call('POST', `/api/broadcasts/${id}/start`, { expected_recipients, ...more }),
    /** Creates and starts a broadcast. */
    async started(bot: BroadcastBot, expected: number, more: object = {}): Promise<string> {
      const { id } = await this.draft(bot, more)
      await this.start(id, expected)
      return id
    },
    /** Waits until the broadcast has the state, as long as its counts change; returns it. */
    async until(id: string, state: string): Promise<BroadcastReply> {
      for (let broadcast = await read(id); ; ) {
        if (broadcast.state === state) return broadcast
        const before = JSON.stringify(broadcast.counts)
        await eventually(`${state}, not ${broadcast.state}`, async () => {
          broadcast = await read(id)
          return broadcast.state === state || JSON.stringify(broadcast.counts) !== before
        })
      }
    },
    /** The chat of each message the fake has got from the bot. */
    chats: (bot: BroadcastBot) => telegram.messages.filter(one => one.bot === bot.fake.id).map(({ chat }) => chat),
  }
}

/** The most messages that one bot has sent within any second. */
export function mostASecond(times: readonly number[]): number {
  let most = 0
  for (let from = 0, to = 0; to < times.length; to += 1) {
    while ((times[to] ?? 0) - (times[from] ?? 0) >= 1000) from += 1
    most = Math.max(most, to - from + 1)
  }
  return most
}
