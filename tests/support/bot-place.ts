// An organization with a bot whose updates reach Sluice, and a minimal Bot API on loopback that accepts any token.
import assert from 'node:assert/strict'
import { newId, openTestHouse, startHouse, type TestHouse } from './house.ts'
import type { Database } from '../../src/ground/db/connect.ts'
import { type SignedIn, seedSignedIn } from './people.ts'
import { startReceiver } from './receiver.ts'

/** BASE_URL of these houses: an address that Telegram could call. */
export const BOT_ORIGIN = 'https://track.example.com'

export type BotPlace = SignedIn & {
  as: { headers: Record<string, string> }
  bot: string
  token: string
  username: string
}

/** Starts a house with such a Bot API, on a database of its own unless one is given. */
export async function startBotHouse(env: Record<string, string> = {}, database?: Database) {
  const secrets = new Map<string, string>()
  const telegram = await startReceiver(({ url, body }, response) => {
    const [, token = '', method] = /^\/bot([^/]+)\/(\w+)/.exec(url) ?? []
    const number = Number(token.split(':')[0])
    if (method === 'setWebhook')
      secrets.set(token, String((JSON.parse(body) as Record<string, unknown>)['secret_token']))
    const results: Record<string, unknown> = {
      getMe: { id: number, is_bot: true, first_name: 'Bot', username: usernameOf(token) },
      getWebhookInfo: { url: '', has_custom_certificate: false, pending_update_count: 0 },
    }
    response.end(JSON.stringify({ ok: true, result: results[method ?? ''] ?? true }))
  })
  const settings = { BASE_URL: BOT_ORIGIN, TELEGRAM_API_ROOT: telegram.origin, ...env }
  const house = await (database === undefined ? startHouse(settings) : openTestHouse(database, settings))
  return {
    house,
    /** Creates an organization with a bot. */
    async place(): Promise<BotPlace> {
      const owner = await seedSignedIn(house)
      const as = { headers: { origin: BOT_ORIGIN, cookie: `__Host-${owner.cookie}` } }
      const place = { ...owner, as }
      return { ...place, ...(await addBot(house, as)) }
    },
    addBot: (as: BotPlace['as']) => addBot(house, as),
    /** Posts an update of the bot, as Telegram does. */
    sendUpdate: ({ bot, token }: Pick<BotPlace, 'bot' | 'token'>, update: object) =>
      house.call('POST', `/hooks/telegram/${bot}`, {
        body: update,
        headers: { 'x-telegram-bot-api-secret-token': secrets.get(token) ?? assert.fail('no hook was set') },
      }),
    async close() {
      await house.end()
      await telegram.close()
    },
  }
}

/** The bot's name, from its id, with which the token begins. */
const usernameOf = (token: string): string => `Acme_${token.split(':')[0]}_bot`

let bots = 7000

async function addBot(house: TestHouse, as: BotPlace['as']): Promise<Pick<BotPlace, 'bot' | 'token' | 'username'>> {
  const token = `${(bots += 1)}:AAE-${newId()}`
  const username = usernameOf(token)
  const made = await house.call('POST', '/api/bots', { ...as, body: { token, username } })
  assert.equal(made.statusCode, 201, made.body)
  return { bot: String(made.data()['id']), token, username }
}

/** An update: a person's `/start` with a parameter. */
export const startUpdate = (parameter: string, person = 77) => ({
  update_id: 1,
  message: {
    message_id: 1,
    date: 1,
    chat: { id: person, type: 'private' },
    from: { id: person, is_bot: false },
    text: `/start ${parameter}`,
  },
})
