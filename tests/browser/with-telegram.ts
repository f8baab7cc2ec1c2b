// A Sluice with a fake Bot API, which the test has as `telegram`.
import { startTelegram, type TelegramFake } from '../support/telegram-fake/telegram-fake.ts'
import { test as plain } from './dashboard.ts'

export const test = plain.extend<object, { telegram: TelegramFake }>({
  telegram: [
    // oxlint-disable-next-line no-empty-pattern -- Playwright reads what a fixture needs off its first argument.
    async ({}, use) => {
      const telegram = await startTelegram()
      await use(telegram)
      await telegram.close()
    },
    { scope: 'worker' },
  ],
  settings: [async ({ telegram }, use) => use({ TELEGRAM_API_ROOT: telegram.origin }), { scope: 'worker' }],
})
