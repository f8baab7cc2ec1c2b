// Spend accounts as an owner sees them: connecting one, its spend, its unmatched spend, and a fault with its hint.
import { startMetaInsights } from '../support/meta-insights-fake.ts'
import { type Books, emptyBooks } from '../support/spend-fakes.ts'
import { test as dashboard, expect, send } from './dashboard.ts'

const TOKEN = 'EAAB-token-that-nobody-shall-see'
const ACCOUNT = '1234567890'
const AD = '120214900000000301'

const test = dashboard.extend<object, { books: Books; settings: Record<string, string> }>({
  books: [
    // oxlint-disable-next-line no-empty-pattern -- Playwright reads the fixtures a fixture needs from its first parameter.
    async ({}, use) => {
      const books = emptyBooks()
      books.accounts[ACCOUNT] = { timezone: 'Asia/Kolkata', currency: 'USD' }
      await use(books)
    },
    { scope: 'worker' },
  ],
  settings: [
    async ({ books }, use) => {
      const meta = await startMetaInsights(books)
      await use({ META_GRAPH_BASE: meta.origin })
      await meta.close()
    },
    { scope: 'worker' },
  ],
})

test('an account is connected, a fault is shown with its hint, and then its spend appears @detail', async ({
  page,
  owner,
  books,
}) => {
  const destination = { type: 'redirect', url: 'https://shop.example/' }
  const { id } = await send(owner, 'POST', '/api/campaigns', { name: 'Summer', destination })
  const { key } = await send(owner, 'GET', `/api/campaigns/${id}`)
  const visit = await owner.get(`/c/${String(key)}?sub2=${AD}`, {
    maxRedirects: 0,
    // A browser's user agent, because reports leave out clicks of programs.
    headers: { 'user-agent': 'Mozilla/5.0 (Linux; Android 13; SM-S908B) AppleWebKit/537.36 Chrome/112.0.0.0 Mobile' },
  })
  expect(visit.status()).toBe(302)
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  const hour = { account: ACCOUNT, day, hour: 12, campaign: '1', adset: '2' }
  books.hours = [
    { ...hour, ad: AD, amount: '41.50' },
    { ...hour, ad: '120214900000000999', amount: '8.25' },
  ]
  await page.goto('/ad-spend')
  await page.getByRole('link', { name: 'Spend accounts', exact: true }).click()
  await page.getByRole('button', { name: 'Connect account' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Connect', exact: true }).click()
  await expect(dialog.getByText('Must be the number of the ad account, such as 1234567890')).toBeVisible()
  await dialog.getByLabel('Name').fill('Meta main')
  await dialog.getByLabel('Account number').fill(`act_${ACCOUNT}`)
  await dialog.getByLabel('Access token').fill(TOKEN)
  await dialog.getByLabel('Link parameter').selectOption('sub2')
  await expect(dialog.getByText('sub2={{ad.id}}')).toBeVisible()
  await dialog.getByRole('button', { name: 'Connect', exact: true }).click()
  await expect(page.getByRole('heading', { name: 'Meta main', exact: true })).toBeVisible()
  await expect(page.getByText('Failed', { exact: true })).toBeVisible()
  await expect(page.getByText(/Session has expired/)).toBeVisible()
  await expect(page.getByText(/make a token with the permission ads_read/)).toBeVisible()
  books.tokens[TOKEN] = { accounts: [ACCOUNT], may_read: true }
  await page.getByRole('button', { name: 'Read now' }).click()
  await expect(page.getByText('Up to date', { exact: true })).toBeVisible({ timeout: 30_000 })
  await expect(page.getByText('billed in USD, time zone Asia/Kolkata')).toBeVisible()
  const unmatched = page.getByRole('region', { name: 'Unmatched spend' })
  await expect(unmatched.getByRole('row', { name: /120214900000000999/ })).toContainText('8.25')
  await expect(page.getByText('$8.25 of $49.75, by 1 id')).toBeVisible()
  expect(await page.content()).not.toContain(TOKEN)
  await page.getByRole('link', { name: 'Spend accounts' }).click()
  await expect(page.getByRole('row', { name: /Meta main/ })).toContainText('49.75')
})

test('an account is assigned to one campaign, switched off and on, and its booked spend is taken back @detail', async ({
  page,
  owner,
  books,
}) => {
  books.accounts['55555'] = { timezone: 'UTC', currency: 'USD' }
  books.tokens[`${TOKEN}-2`] = { accounts: ['55555'], may_read: true }
  const day = new Date().toISOString().slice(0, 10)
  books.hours = [{ account: '55555', day, hour: 0, campaign: '1', adset: '2', ad: '3', amount: '7.00' }]
  const destination = { type: 'redirect', url: 'https://shop.example/' }
  await send(owner, 'POST', '/api/campaigns', { name: 'Autumn', destination })
  const account = {
    provider: 'meta',
    name: 'Second',
    external_id: '55555',
    access_token: `${TOKEN}-2`,
    id_in: 'sub1',
  }
  const { id } = await send(owner, 'POST', '/api/spend-accounts', account)
  await page.goto(`/ad-spend/accounts/${id}`)
  await expect(page.getByText('$7.00 of $7.00, by 1 id')).toBeVisible({ timeout: 30_000 })
  await page.getByLabel('Assign spend to').selectOption('campaign')
  await page.getByRole('button', { name: 'Save connection' }).click()
  await expect(page.getByText('Choose a campaign.')).toBeVisible()
  await page.getByLabel('Campaign').selectOption({ label: 'Autumn' })
  await page.getByRole('button', { name: 'Save connection' }).click()
  await expect(page.getByText('None: all spend is matched to campaigns.')).toBeVisible({ timeout: 30_000 })
  await page.getByRole('button', { name: 'Switch off' }).click()
  await expect(page.getByText('Off', { exact: true })).toBeVisible()
  await page.getByRole('button', { name: 'Switch on' }).click()
  await expect(page.getByText('Up to date', { exact: true })).toBeVisible({ timeout: 30_000 })
  await page.getByRole('button', { name: 'Disconnect and take its spend back' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Disconnect and take back' }).click()
  await expect(page.getByText('Second is disconnected').first()).toBeVisible()
  await expect(page.getByRole('row', { name: /Second/ })).toHaveCount(0)
})
