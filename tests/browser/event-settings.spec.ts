// Settings, events: names and goals set in the form appear on every page that shows or counts events.
import { expect, send, test } from './dashboard.ts'

test('events are named, and CR follows the goal of the workspace and of a campaign @detail', async ({
  page,
  owner,
  sluice,
}) => {
  const destination = { type: 'redirect', url: 'https://shop.example/?c={click_id}' }
  const campaign = (name: string) => send(owner, 'POST', '/api/campaigns', { name, destination })
  const [shop, casino] = [await campaign('Evented shop'), await campaign('Evented casino')]
  for (const [{ key }, types] of [
    [shop, ['purchase', 'custom_2', 'custom_2']],
    [casino, ['ftd']],
  ] as const) {
    const reply = await owner.get(`/c/${String(key)}`, {
      maxRedirects: 0,
      headers: { 'user-agent': 'Mozilla/5.0 Chrome/130' },
    })
    const clickId = new URL(String(reply.headers()['location'])).searchParams.get('c')
    for (const [at, type] of types.entries())
      await send(owner, 'POST', '/api/events', { clickId, type, nonce: `${at}` })
  }
  await page.goto('/settings/events')
  await page.getByLabel('Custom 2', { exact: true }).last().fill('Upsell')
  await page.getByLabel('Custom 3', { exact: true }).last().fill('upsell')
  await page.getByRole('button', { name: 'Save events' }).click()
  await expect(page.getByText(/has this name/)).toBeVisible()
  await page.getByLabel('Custom 3', { exact: true }).last().fill('')
  const goal = page.getByRole('group', { name: 'Goal conversions' })
  await page.getByLabel('Conversions that count').selectOption('chosen')
  await expect(page.getByText('Tick at least one.')).toBeVisible()
  await goal.getByLabel('FTD').check()
  await page.getByRole('button', { name: 'Save events' }).click()
  await expect(page.getByText('The events are saved')).toBeVisible()
  await expect(page.getByText(/Last changed .* by Mara Lindqvist/)).toBeVisible()
  // The name appears at once, and on other pages.
  await expect(goal.getByLabel('Upsell')).toBeVisible()
  await page.goto(`/conversions?campaign=${shop.id}`)
  await expect(page.getByRole('cell', { name: 'Upsell' }).first()).toBeVisible()

  await page.goto('/report?range=today')
  const heads = page.getByRole('columnheader')
  await expect(heads.filter({ hasText: 'FTD' })).toBeVisible()
  await expect(heads.filter({ hasText: 'Conv.' })).toBeVisible()
  // A type that the workspace has named has a column; of two events of one click each counts.
  const only = encodeURIComponent(JSON.stringify([['campaign', 'is', shop.id]]))
  await page.goto(`/report?range=today&columns=events_custom_2,events_purchase&where=${only}`)
  await expect(heads).toHaveText(['Campaign', 'Upsell', 'Purchase'])
  const counted = page.getByRole('row').filter({ hasText: 'Evented shop' }).getByRole('gridcell')
  await expect(counted).toHaveText(['2', '1'])

  await page.goto('/campaigns?range=today&q=Evented')
  const row = (name: string) => page.getByRole('row').filter({ hasText: name })
  await expect(row('Evented casino')).toContainText('100.0%')
  await expect(row('Evented shop')).toContainText('0.00%')
  await page.goto(`/campaigns/${shop.id}`)
  await page.getByLabel('Goal', { exact: true }).selectOption('own')
  const own = page.getByRole('group', { name: 'Goal conversions' })
  await own.getByLabel('FTD').uncheck()
  await own.getByLabel('Upsell').check()
  await own.getByLabel('Purchase').check()
  await page.getByRole('button', { name: 'Save campaign' }).click()
  await expect(page.getByText('Evented shop is saved')).toBeVisible()

  await page.goto('/campaigns?range=today&q=Evented')
  await expect(row('Evented shop')).toContainText('300.0%')
  await expect(page.getByLabel('Conversion')).toContainText('Goal: each campaign’s own')
  await page.goto('/report?range=today')
  const head = page.getByRole('columnheader', { name: 'Upsell' })
  await expect(head).toBeVisible()
  await expect(row('Evented shop').first()).toContainText('300.0%')
  await page.getByLabel('Conversion').selectOption({ label: 'Goal: Upsell' })
  await expect(row('Evented casino').first()).toContainText('0.00%')
  expect(sluice.address).toBeTruthy()
  await send(owner, 'PUT', '/api/event-settings', { names: {}, goal: null })
})
