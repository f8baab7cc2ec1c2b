// A house that Telegram can reach, the fake Bot API it calls, and API calls of a signed-in person.
import assert from 'node:assert/strict'
import type { LightMyRequestResponse } from 'fastify'
import type { Database } from '../../src/ground/db/connect.ts'
import type { HouseOptions } from '../../src/house.ts'
import { openTestHouse, startHouse, type TestHouse } from './house.ts'
import { type SignedIn, seedSignedIn } from './people.ts'
import { type FakeBot, startTelegram, type TelegramFake } from './telegram-fake/telegram-fake.ts'

/** BASE_URL of this house. */
export const PUBLIC = 'https://track.example.com'

type Reply = LightMyRequestResponse & { data: () => Record<string, unknown> }
type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

export type BotGround = {
  readonly telegram: TelegramFake
  readonly house: TestHouse
  readonly owner: SignedIn
  /** A call as the owner, or as another person. */
  readonly call: (method: Method, url: string, body?: unknown, as?: SignedIn) => Promise<Reply>
  /** Adds a bot of the fake's; returns the API's answer. */
  add(bot: FakeBot, more?: object, as?: SignedIn): Promise<Record<string, unknown> & { id: string }>
  signIn(...options: Parameters<typeof seedSignedIn> extends [unknown, ...infer Rest] ? Rest : never): Promise<SignedIn>
  end(): Promise<void>
}

/** Signs a person in; with https the cookie has another name. */
export async function signInAt(house: TestHouse, ...options: Parameters<BotGround['signIn']>): Promise<SignedIn> {
  const person = await seedSignedIn(house, ...options)
  return { ...person, cookie: `__Host-${person.cookie}` }
}

/** Starts both, on a database of their own unless one is given. The house listens, so that the fake's updates reach it at BASE_URL. */
export async function botGround(
  env: Record<string, string> = {},
  options: HouseOptions = {},
  database?: Database,
): Promise<BotGround> {
  const telegram = await startTelegram()
  const settings = { BASE_URL: PUBLIC, TELEGRAM_API_ROOT: telegram.origin, ...env }
  const house = await (database === undefined
    ? startHouse(settings, options)
    : openTestHouse(database, settings, options))
  await house.listen()
  const address = house.app.server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the house does not listen')
  telegram.reach(PUBLIC, `http://127.0.0.1:${address.port}`)
  const owner = await signInAt(house)
  const call: BotGround['call'] = (method, url, body, { cookie } = owner) =>
    house.call(method, url, { headers: { origin: PUBLIC, cookie }, ...(body === undefined ? {} : { body }) })
  return {
    telegram,
    house,
    owner,
    call,
    async add(bot, more = {}, as = owner) {
      const reply = await call('POST', '/api/bots', { token: bot.token, ...more }, as)
      assert.equal(reply.statusCode, 201, reply.body)
      return reply.data() as { id: string }
    },
    signIn: (...options) => signInAt(house, ...options),
    async end() {
      await house.end()
      await telegram.close()
    },
  }
}
