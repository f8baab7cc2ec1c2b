// Subscribers of a bot in any number, and broadcasts to them.
import assert from 'node:assert/strict'
import { newId, toUuid } from '../../src/contract/ids.ts'
import type { Database } from '../../src/ground/db/connect.ts'
import type { BotGround } from './bots.ts'
import { eventually } from './eventually.ts'
import type { FakeBot, FakePerson } from './telegram-fake/telegram-fake.ts'

export type Bot = { readonly fake: FakeBot; readonly id: string; readonly org_id: number; readonly uuid: string }
type Seeded = {
  readonly telegram_user_id: string
  readonly click_id?: string | null
  readonly campaign_id?: string | null
  readonly state?: string
  readonly language?: string
  readonly name?: string
  readonly started_at?: string
  readonly opted_out_at?: string | null
}

/** Writes subscribers as the bot's updates would have. Answers their ids. */
export async function seedSubscribers(
  database: Database,
  { org_id, uuid: bot_id }: Pick<Bot, 'org_id' | 'uuid'>,
  all: readonly Seeded[],
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

export type Shown = {
  id: string
  state: string
  pause_reason: string | null
  recipients: number
  counts: Record<'recipients' | 'queued' | 'sent' | 'blocked' | 'gone' | 'failed' | 'unknown' | 'skipped', number>
} & Record<string, unknown>

/** What tests of broadcasts do, on a ground with bots. */
export function broadcasting(ground: BotGround) {
  const { telegram, house, owner } = ground
  const did = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, body?: unknown): Promise<Shown> => {
    const reply = await ground.call(method, url, body)
    assert.ok(reply.statusCode < 300, `${method} ${url}: ${reply.statusCode} ${reply.body}`)
    return reply.data() as Shown
  }
  const read = (id: string) => did('GET', `/api/broadcasts/${id}`)
  return {
    did,
    read,
    /** A bot whose own program has the hook, so that updates of the fake's go nowhere by themselves. */
    async bot(more: object = { mode: 'copy' }): Promise<Bot> {
      const fake = telegram.bot()
      const { id } = await ground.add(fake, more)
      return { fake, id, org_id: owner.org_id, uuid: toUuid(id) ?? '' }
    },
    /** People who have started the bot, and are its subscribers. */
    async people(bot: Bot, count: number, more: (n: number) => Partial<Seeded> = () => ({})): Promise<FakePerson[]> {
      const people = Array.from({ length: count }, () => telegram.person())
      for (const person of people) person.start(bot.fake)
      const seeded = people.map(({ id }, n) => ({ telegram_user_id: String(id), ...more(n) }))
      await seedSubscribers(house.database, bot, seeded)
      return people
    },
    draft: (bot: Bot, more: object = {}) =>
      did('POST', '/api/broadcasts', { bot_id: bot.id, name: 'News', message: { text: 'Hello' }, ...more }),
    start: (id: string, expected_recipients: number, more: object = {}) =>
      did('POST', `/api/broadcasts/${id}/start`, { expected_recipients, ...more }),
    /** Drafts and starts one. */
    async started(bot: Bot, expected: number, more: object = {}): Promise<string> {
      const { id } = await this.draft(bot, more)
      await this.start(id, expected)
      return id
    },
    /** Waits until it is in the state, for as long as it goes on, and answers it. */
    async until(id: string, state: string): Promise<Shown> {
      for (let shown = await read(id); ; ) {
        if (shown.state === state) return shown
        const before = JSON.stringify(shown.counts)
        await eventually(`${state}, not ${shown.state}`, async () => {
          shown = await read(id)
          return shown.state === state || JSON.stringify(shown.counts) !== before
        })
      }
    },
    /** Who has got it, by the fake's own word: each message's chat. */
    chats: (bot: Bot) => telegram.messages.filter(one => one.bot === bot.fake.id).map(({ chat }) => chat),
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
