// A Sluice with a fake Bot API, which the test has as `telegram`.
import type { APIRequestContext } from '@playwright/test'
import { startTelegram, type TelegramFake } from '../support/telegram-fake/telegram-fake.ts'
import { expect, send, test as plain } from './dashboard.ts'

export const test = plain.extend<object, { telegram: TelegramFake }>({
  telegram: [
    // oxlint-disable-next-line no-empty-pattern -- Playwright reads the fixtures that a fixture needs from its first argument.
    async ({}, use) => {
      const telegram = await startTelegram()
      await use(telegram)
      await telegram.close()
    },
    { scope: 'worker' },
  ],
  settings: [async ({ telegram }, use) => use({ TELEGRAM_API_ROOT: telegram.origin }), { scope: 'worker' }],
})

/** A function that sends Sluice an update as the program of a bot in the mode `copy` would. */
export async function copiesOf(bot: { id: string }, owner: APIRequestContext) {
  const { secret, url } = await send(owner, 'POST', `/api/bots/${bot.id}/copy-secret`)
  const headers = { 'x-telegram-bot-api-secret-token': String(secret) }
  return async (update: object) => {
    const reply = await owner.post(new URL(String(url), 'http://localhost').pathname, { headers, data: update })
    expect(reply.status()).toBe(200)
  }
}
