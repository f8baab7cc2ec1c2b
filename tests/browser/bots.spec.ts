// Bots on the screen: added by their token, with a program that runs them, given a secret for copies, another token, and deleted.
import { expect } from './dashboard.ts'
import { test } from './with-telegram.ts'

test('a bot is added by its token, run by a program, has a secret for copies, and is deleted', async ({
  page,
  telegram,
}) => {
  const bot = telegram.bot({ username: 'screen_bot', name: 'Screen' })
  await page.goto('/bots')
  await expect(page.getByText('No bots yet')).toBeVisible()
  await page.getByRole('button', { name: 'Add bot' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Add bot' })
  await dialog.getByRole('button', { name: 'Add bot' }).click()
  await expect(dialog.getByText(/the token BotFather gave/)).toBeVisible()
  await dialog.getByLabel('Token').fill('1234567:AAE-nobody')
  await dialog.getByRole('button', { name: 'Add bot' }).click()
  await expect(dialog.getByRole('alert')).toContainText('Telegram knows no bot with this token')
  await dialog.getByLabel('Token').fill(bot.token)
  await dialog.getByLabel('Forward to my program').check()
  await dialog.getByRole('button', { name: 'Add bot' }).click()
  await expect(dialog.getByRole('alert')).toContainText('send the URL where your program receives updates')
  await dialog.getByLabel('My program sends copies').check()
  await dialog.getByRole('button', { name: 'Add bot' }).click()

  await expect(page.getByRole('heading', { level: 1, name: '@screen_bot' })).toBeVisible()
  await expect(page.getByText('No secret yet')).toBeVisible()
  await page.getByRole('button', { name: 'Create secret' }).click()
  await expect(page.getByText(/hooks\/telegram\//).first()).toBeVisible()
  await expect(page.getByText('By copies')).toBeVisible()

  await page.getByLabel('Sluice alone').check()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(page.getByText(/BASE_URL is not a public https address/)).toBeVisible()

  await page.getByLabel('New token').fill('nonsense')
  await page.getByRole('button', { name: 'Change token' }).click()
  await expect(page.getByText(/the token BotFather gave/)).toBeVisible()
  await page.getByLabel('New token').fill(bot.revoke())
  await page.getByRole('button', { name: 'Change token' }).click()
  await expect(page.getByText('Token changed')).toBeVisible()

  await page.getByRole('button', { name: 'Delete bot' }).click()
  await page.getByRole('alertdialog').or(page.getByRole('dialog')).getByRole('button', { name: 'Delete bot' }).click()
  await expect(page.getByText('No bots yet')).toBeVisible()
})
