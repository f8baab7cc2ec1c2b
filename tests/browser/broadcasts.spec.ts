// Broadcasts on the screen: written beside how they look, counted, tried on oneself, started, followed, and what has come of each recipient.
import pg from 'pg'
import { newId, toUuid } from '../../src/contract/ids.ts'
import { expect, send } from './dashboard.ts'
import { test } from './with-telegram.ts'

test('a broadcast is written with a preview, tried, started, and shows what has come of everybody', async ({
  page,
  owner,
  telegram,
  sluice,
}) => {
  await page.goto('/broadcasts')
  await expect(page.getByText('No broadcasts yet')).toBeVisible()
  const fake = telegram.bot({ username: 'news_screen_bot' })
  const bot = await send(owner, 'POST', '/api/bots', { token: fake.token })
  const people = Array.from({ length: 7 }, () => telegram.person())
  const client = new pg.Client(sluice.database)
  await client.connect()
  for (const person of people) {
    person.start(fake)
    await client.query(
      `insert into subscribers (org_id, bot_id, telegram_user_id, id, state, state_at, source, created_at, started_at)
       select org_id, id, $2, $3, 'reachable', now(), 'start', now(), now() from bots where id = $1`,
      [toUuid(bot.id), String(person.id), newId()],
    )
  }
  await client.end()
  people[2]?.block(fake)

  await page.reload()
  await page.getByRole('button', { name: 'New broadcast' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'New broadcast' })
  await dialog.getByLabel('Name').fill('Winter')
  await dialog.getByLabel('Bot').selectOption('@news_screen_bot')
  await dialog.getByRole('button', { name: 'Create', exact: true }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Winter' })).toBeVisible()
  await expect(page.getByText('7', { exact: true })).toBeVisible()

  const preview = page.getByRole('figure', { name: 'Preview' })
  const text = page.getByLabel('Text', { exact: true })
  await text.fill('Hi <b>you')
  await expect(page.getByRole('alert')).toContainText('<b>')
  await text.fill('Hi {first_name|friend}, <b>winter</b>')
  await expect(preview.locator('b')).toHaveText('winter')
  await expect(preview).toContainText('Hi friend, winter')
  await expect(preview).toContainText('Unsubscribe')
  await page.getByRole('button', { name: 'Add button' }).click()
  await page.getByLabel('Button text').fill('Go')
  await page.getByLabel('URL', { exact: true }).fill('https://offer.example/?c={click_id}')
  await expect(preview).toContainText('Go')

  await page.getByLabel('Send a test to').fill(String(people[0]?.id))
  await page.getByRole('button', { name: 'Send test' }).click()
  await expect
    .poll(() => telegram.messages.map(({ params }) => params['text']))
    .toEqual(['[Test] Hi friend, <b>winter</b>'])

  await page.getByRole('button', { name: 'Start', exact: true }).click()
  const start = page.getByRole('dialog', { name: 'Start Winter?' })
  await expect(start).toContainText('7 people get it')
  await start.getByRole('button', { name: 'Start', exact: true }).click()
  await expect(page.getByText('7 of 7')).toBeVisible()
  await expect(page.getByText('Done')).toBeVisible()
  const outcomes = page.getByRole('listitem')
  await expect(outcomes.filter({ hasText: 'Sent' })).toContainText('6')
  await page.getByRole('link', { name: /^Blocked/ }).click()
  await expect(page).toHaveURL(/state=blocked/)
  await expect(page.getByRole('row', { name: String(people[2]?.id) })).toContainText('blocked by the user')

  await page.getByRole('link', { name: 'Broadcasts', exact: true }).first().click()
  await expect(page.getByRole('row', { name: /Winter/ })).toContainText('Done')
})
