// Subscribers on the screen: taken in by their numbers, found, looked at and forgotten; and what a bot answers a start with.
import { startTelegram, type TelegramFake } from '../support/telegram-fake/telegram-fake.ts'
import { expect, test as plain } from './dashboard.ts'

const test = plain.extend<object, { telegram: TelegramFake }>({
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

test('people are imported on the owner’s word, found by state, and forgotten; a welcome is written beside how it arrives', async ({
  page,
  telegram,
}) => {
  const bot = telegram.bot({ username: 'subscribed_bot', name: 'Subscribed' })
  await page.goto('/bots')
  await page.getByRole('button', { name: 'Add bot' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Add bot' })
  await dialog.getByLabel('Token').fill(bot.token)
  await dialog.getByRole('button', { name: 'Add bot' }).click()
  await expect(page.getByRole('heading', { level: 1, name: '@subscribed_bot' })).toBeVisible()

  await page.getByLabel('Send a welcome message').check()
  await page.getByLabel('Text', { exact: true }).fill('Hi <b>{first_name}</b>')
  await expect(page.getByText(/say what stands where the name is not known/)).toBeVisible()
  await page.getByLabel('Text', { exact: true }).fill('Hi <b>{first_name|friend}</b>')
  await expect(page.getByRole('figure', { name: 'Preview' })).toHaveText('Hi friend')
  await page.getByRole('button', { name: 'Save welcome' }).click()
  await expect(page.getByText('Welcome saved')).toBeVisible()
  await page.getByLabel('USD per Star').fill('1,3')
  await page.getByRole('button', { name: 'Save payments' }).click()
  await expect(page.getByText(/a point, not a comma/)).toBeVisible()
  await page.getByLabel('USD per Star').fill('0.013')
  await page.getByRole('button', { name: 'Save payments' }).click()
  await expect(page.getByText('Payment settings saved')).toBeVisible()

  await page.goto('/subscribers')
  await page.getByRole('button', { name: 'Import' }).first().click()
  const importing = page.getByRole('dialog', { name: 'Import subscribers' })
  await importing.getByLabel('Bot', { exact: true }).selectOption({ label: '@subscribed_bot' })
  await importing.getByLabel('Telegram ids').fill('70000001\n70000002, x3')
  await importing.getByRole('button', { name: 'Import' }).click()
  await expect(importing.getByText(/“x3” must be the number of a person/)).toBeVisible()
  await expect(importing.getByText('Confirm that they have started the bot.')).toBeVisible()
  await importing.getByLabel('Telegram ids').fill('70000001\n70000002')
  await importing.getByLabel('These people have started this bot').check()
  await importing.getByRole('button', { name: 'Import' }).click()
  await expect(page.getByText('2 subscribers imported')).toBeVisible()

  await page.getByRole('button', { name: 'More filters' }).click()
  await page.getByLabel('Country', { exact: true }).selectOption({ label: 'Germany' })
  await expect(page.getByText('Nothing matches what you look for.')).toBeVisible()
  await expect(page).toHaveURL(/country=DE/)
  await page.getByRole('button', { name: 'Clear filters' }).first().click()
  await page.getByLabel('Without event').selectOption({ label: 'Without Lead' })
  await page.getByLabel('Source').selectOption('import')
  await page.getByRole('link', { name: '70000001' }).click()
  await expect(page.getByRole('heading', { level: 1, name: '70000001' })).toBeVisible()
  await page.getByRole('button', { name: 'Forget this person' }).click()
  const asked = page.getByRole('alertdialog').or(page.getByRole('dialog'))
  await asked.getByRole('button', { name: 'Forget this person' }).click()
  await expect(page.getByText('Person forgotten')).toBeVisible()
  await expect(page.getByRole('link', { name: '70000002' })).toBeVisible()
  await expect(page.getByRole('link', { name: '70000001' })).toHaveCount(0)
  await page.goto('/payments')
  await expect(page.getByText('No payments yet')).toBeVisible()

  await page.goto('/bots')
  await page.getByRole('link', { name: '@subscribed_bot' }).click()
  await page.getByRole('button', { name: 'Delete bot' }).click()
  await asked.getByRole('button', { name: 'Delete bot' }).click()
  await expect(page.getByText('@subscribed_bot deleted')).toBeVisible()
})
