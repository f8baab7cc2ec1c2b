import { readFile } from 'node:fs/promises'
import type { APIRequestContext } from '@playwright/test'
import { awayFromMidnight } from '../support/midnight.ts'
import { expect, send, test } from './dashboard.ts'

const BROWSER =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36'

/** A campaign with four clicks of today, of which two became leads and one a first deposit; 60 earned, 20 spent. */
async function seedTraffic(owner: APIRequestContext, address: string): Promise<string> {
  await awayFromMidnight()
  const offer = await send(owner, 'POST', '/api/offers', { name: 'Casino', url: 'https://example.com/', payout: '40' })
  const campaign = await send(owner, 'POST', '/api/campaigns', {
    name: 'Broad DE',
    destination: { type: 'redirect', url: 'https://example.com/?subid={click_id}' },
    offer_id: offer.id,
  })
  const click = async (sub1: string) => {
    const query = sub1 === '' ? '' : `?sub1=${encodeURIComponent(sub1)}`
    const answer = await fetch(`${address}/c/${String(campaign['key'])}${query}`, {
      redirect: 'manual',
      headers: { 'user-agent': BROWSER },
    })
    return /subid=(\w+)/.exec(answer.headers.get('location') ?? '')?.[1]
  }
  const [first, second] = [await click('=1+1'), await click('=1+1'), await click('video-3'), await click('')]
  await send(owner, 'POST', '/api/events', { clickId: first, type: 'lead', payout: '10' })
  await send(owner, 'POST', '/api/events', { clickId: second, type: 'lead', payout: '10' })
  await send(owner, 'POST', '/api/events', { clickId: first, type: 'ftd' })
  const day = new Date().toISOString().slice(0, 10)
  await send(owner, 'PUT', '/api/ad-spend', { campaign_id: campaign.id, day, amount: '20' })
  return campaign.id
}

test('the overview shows what clicks came to, by every dimension, and keeps it in the address', async ({
  page,
  owner,
  sluice,
}) => {
  const campaign = await seedTraffic(owner, sluice.address)
  await page.goto(`/?range=today&campaign=${campaign}`)
  await expect(page.getByText('Cohort by click, UTC days')).toBeVisible()
  const figures = page.getByRole('group', { name: /^Figures of the window/ })
  const figure = (name: string) => figures.getByRole('button', { name: new RegExp(`^${name}`) })
  await expect(figure('Clicks')).toContainText('4')
  await expect(figure('Lead')).toContainText('2')
  await expect(figure('Revenue')).toContainText('$60.00')
  await expect(figure('Cost')).toContainText('$20.00')
  await expect(figure('Profit')).toContainText('$40.00')
  await expect(figure('ROI')).toContainText('+200.0%')

  const table = page.getByRole('table', { name: /^Report by/ })
  await expect(table.getByRole('row', { name: /^Broad DE/ })).toContainText('60.00')
  await page.getByRole('link', { name: 'sub1' }).click()
  await expect(page.getByRole('table', { name: 'Report by sub1' })).toBeVisible()
  await expect(page).toHaveURL(/by=sub1/)
  await expect(
    table
      .getByRole('row', { name: /^=1\+1/ })
      .getByRole('cell')
      .first(),
  ).toHaveText('2')
  // Spend without a sub1 stands with the clicks that have none.
  await expect(table.getByRole('row', { name: /^\(none\)/ })).toContainText('20.00')
  await expect(table.getByRole('row', { name: /^Total/ })).toContainText('60.00')

  await table.getByRole('button', { name: 'Revenue' }).click()
  await expect(page).toHaveURL(/sort=-revenue/)
  await page.reload()
  await expect(table.getByRole('row').nth(1)).toContainText('=1+1')
  await expect(table.getByRole('columnheader', { name: 'Revenue' })).toHaveAttribute('aria-sort', 'descending')

  await page.getByRole('link', { name: 'Country' }).click()
  await expect(page.getByRole('table', { name: 'Report by Country' })).toBeVisible()
  await expect(table.getByRole('columnheader', { name: 'Cost' })).toHaveCount(0)

  const clicks = page.getByRole('table', { name: 'Newest clicks' })
  await expect(clicks.getByRole('row')).toHaveCount(5)
  await expect(clicks.getByRole('row').filter({ hasText: 'ftd' })).toContainText('50.00')
})

test('a chart of few leads counts them in whole numbers', async ({ page, owner, sluice }) => {
  const campaign = await seedTraffic(owner, sluice.address)
  await page.goto(`/?range=7d&campaign=${campaign}&chart=goal`)
  // The days below the chart are named with their month.
  const ticks = page.locator('.recharts-cartesian-axis-tick-value').filter({ hasNotText: /[a-z]/i })
  await expect(ticks.last()).toHaveText(/^[2-9]$/)
  for (const words of await ticks.allTextContents()) expect(words).toMatch(/^\d$/)
})

test('the table is saved for spreadsheets, and no cell becomes a formula', async ({ page, owner, sluice }) => {
  const campaign = await seedTraffic(owner, sluice.address)
  await page.goto(`/?range=today&campaign=${campaign}&by=sub1`)
  await expect(page.getByRole('row', { name: /^=1\+1/ })).toBeVisible()
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'CSV' }).click()])
  const lines = (await readFile(await file.path(), 'utf8')).split('\r\n')
  expect(lines[0]).toMatch(/^key,label,clicks,/)
  expect(lines.find(line => line.includes('=1+1'))).toMatch(/^'=1\+1,'=1\+1,2,/)
})

test('a window of more than 92 days is refused before it is asked for', async ({ page }) => {
  await page.goto('/')
  await page.getByLabel('Days', { exact: true }).selectOption('choose')
  const dialog = page.getByRole('dialog', { name: 'Choose days' })
  await dialog.getByLabel('First day').fill('2026-01-01')
  await dialog.getByLabel('Last day').fill('2026-06-30')
  const show = dialog.getByRole('button', { name: 'Show' })
  await expect(show).toBeDisabled()
  await expect(show).toHaveAccessibleDescription('That is 181 days; a report covers at most 92.')
  await dialog.getByLabel('Last day').fill('2026-01-31')
  await show.click()
  await expect(page).toHaveURL(/from=2026-01-01.*to=2026-01-31/)
  await expect(page.getByLabel('Days', { exact: true })).toHaveValue('own')
})
