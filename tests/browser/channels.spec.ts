// Channels on the screen: offered where a bot was made an administrator, added, set, led to by a campaign, and what is missing when a right is taken away.
import { expect, send } from './dashboard.ts'
import { copiesOf, test } from './with-telegram.ts'

test('a channel is offered, added, set, led to by a campaign, and says what is missing @detail', async ({
  page,
  owner,
  telegram,
}) => {
  // Other specs of this worker may have added bots.
  const { data: others } = await send(owner, 'GET', '/api/bots')
  for (const { id } of others as { id: string }[]) await send(owner, 'DELETE', `/api/bots/${id}`)
  const bot = telegram.bot({ username: 'door_bot' })
  await page.goto('/channels')
  await expect(page.getByText('No channels yet')).toBeVisible()
  await page.getByRole('button', { name: 'Add channel' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Add channel' })
  await expect(dialog.getByText('A channel needs a bot.')).toBeVisible()
  await page.keyboard.press('Escape')

  const added = await send(owner, 'POST', '/api/bots', { token: bot.token, mode: 'copy' })
  const copy = await copiesOf(added, owner)
  const chat = telegram.chat({ title: 'VIP deals' })
  chat.promote(bot)
  await page.reload()
  await page.getByRole('button', { name: 'Add channel' }).first().click()
  await expect(dialog.getByRole('link', { name: 'a channel' })).toHaveAttribute(
    'href',
    'https://t.me/door_bot?startchannel&admin=invite_users',
  )
  await copy({
    update_id: 1,
    my_chat_member: {
      chat: { id: chat.id, type: 'channel', title: 'VIP deals' },
      date: 1,
      old_chat_member: { status: 'left' },
      new_chat_member: { status: 'administrator', can_invite_users: true, user: { id: bot.id, username: 'door_bot' } },
    },
  })
  // It appears by itself, while the dialog is open.
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'VIP deals' })).toBeVisible()
  await expect(page.getByText('Ready', { exact: true })).toBeVisible()
  await expect(page.getByText('The bot can create invite links here.')).toBeVisible()

  await page.getByLabel('Links', { exact: true }).selectOption('Send a join request')
  await page.getByLabel('Join requests', { exact: true }).selectOption('Approve automatically')
  await page.getByLabel('Approve after, seconds').fill('30')
  await page.getByLabel('Message people who ask to join').check()
  await page.getByLabel('Message', { exact: true }).fill('<b>Hello')
  await page.getByRole('button', { name: 'Save' }).nth(1).click()
  await expect(page.getByText(/never closed|not closed|is open/i)).toBeVisible()
  await page.getByLabel('Message', { exact: true }).fill('Hello <b>{first_name|friend}</b>')
  await page.getByRole('button', { name: 'Save' }).nth(1).click()
  await expect(page.getByText('Saved').first()).toBeVisible()
  await page.reload()
  await expect(page.getByLabel('Message', { exact: true })).toHaveValue('Hello <b>{first_name|friend}</b>')
  await expect(page.getByLabel('Approve after, seconds')).toHaveValue('30')

  await page.goto('/campaigns/new')
  await page.getByLabel('Name', { exact: true }).fill('To the channel')
  await page.getByLabel('Visitors go to').selectOption('Telegram')
  await page.getByLabel('Opens').selectOption('A channel or group')
  await page.getByRole('button', { name: 'Create campaign' }).click()
  await expect(page.getByText('Choose a channel.')).toBeVisible()
  await page.getByLabel('Channel', { exact: true }).selectOption('VIP deals')
  await page.getByRole('button', { name: 'Create campaign' }).click()
  await expect(page.getByRole('heading', { name: 'To the channel', exact: true })).toBeVisible()

  chat.promote(bot, ['can_post_messages'])
  await page.goto('/channels')
  await page.getByRole('link', { name: 'VIP deals' }).click()
  await expect(page.getByRole('link', { name: 'To the channel' })).toBeVisible()
  await page.getByRole('button', { name: 'Check now' }).click()
  await expect(page.getByText('Right missing')).toBeVisible()
  await expect(page.getByText(/without the right to invite users/)).toBeVisible()
  await page.getByRole('link', { name: 'To the channel' }).click()
  await expect(page.getByText('No links can be made for VIP deals.')).toBeVisible()
  await page.setViewportSize({ width: 390, height: 844 })
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
})
