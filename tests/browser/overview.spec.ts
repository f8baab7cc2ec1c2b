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
  await expect(page.getByText('Counted on the day of the click (UTC)')).toBeVisible()
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
  // Spend without a sub1 is not held against the clicks that have none.
  await expect(table.getByRole('row', { name: /^\(none\)/ })).not.toContainText('20.00')
  const spend = table.getByRole('row', { name: /^\(not broken down\)/ })
  await expect(spend.getByRole('cell').filter({ hasText: /./ })).toHaveText(['20.00'])
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

test('the hours of the day stand in a table, those of the week on a map, shaded by what is chosen', async ({
  page,
  owner,
  sluice,
}) => {
  const campaign = await seedTraffic(owner, sluice.address)
  await page.goto(`/?range=7d&campaign=${campaign}`)
  await page.getByRole('link', { name: 'Hour' }).click()
  const hours = page.getByRole('table', { name: 'Report by Hour' })
  await expect(
    hours
      .getByRole('row', { name: /^Total/ })
      .getByRole('cell')
      .first(),
  ).toHaveText('4')
  await expect(hours.getByRole('row').nth(1)).toContainText(/^\d\d:00/)
  await expect(hours.getByRole('columnheader', { name: 'Cost' })).toHaveCount(0)

  await page.getByRole('link', { name: 'Heat map' }).click()
  await expect(page).toHaveURL(/by=week/)
  const map = page.getByRole('table', { name: 'Clicks by weekday and hour, UTC' })
  await expect(map.getByRole('rowheader')).toHaveText(['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun', 'All'])
  await expect(map.getByRole('row', { name: /^All/ }).getByRole('cell').last()).toHaveText('4')
  await page.getByLabel('Shaded by').selectOption('Revenue')
  await expect(page).toHaveURL(/heat=revenue/)
  const earned = page.getByRole('table', { name: 'Revenue by weekday and hour, UTC' })
  await expect(earned.getByRole('row', { name: /^All/ }).getByRole('cell').last()).toHaveText('60')
  const cell = earned.getByTitle(/clicks [1-4], .*revenue \$/).first()
  await expect(cell).toHaveAttribute('style', /background-color/)
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
  const at = (name: string) => lines[0]?.split(',').indexOf(name) ?? -1
  const [none, spend] = ['(none)', '(not broken down)'].map(label => lines.find(line => line.startsWith(`,${label},`)))
  expect([none?.split(',')[at('clicks')], none?.split(',')[at('cost')]]).toEqual(['1', ''])
  expect(spend?.split(',')[at('clicks')]).toBe('')
  expect([spend?.split(',')[at('cost')], spend?.split(',')[at('source')]]).toEqual(['20.00', 'manual'])
  expect([spend?.split(',')[at('roi')], spend?.split(',')[at('cpa')]]).toEqual(['', ''])
})

test('a window of more than 92 days is refused before it is asked for', async ({ page, owner, sluice }) => {
  await seedTraffic(owner, sluice.address)
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

const DAY = 86_400_000
const iso = (ms: number) => new Date(ms).toISOString().slice(0, 10)

test('the money of a day that is not over is held against whole days, never against part of one', async ({
  page,
  owner,
  sluice,
}) => {
  const campaign = await seedTraffic(owner, sluice.address)
  const tomorrow = iso(Date.now() + DAY)
  await send(owner, 'PUT', '/api/ad-spend', { campaign_id: campaign, day: tomorrow, amount: '5' })
  // Five past midnight: of the day before, the same time of day holds no click yet, but all of its spend.
  await page.clock.setFixedTime(`${tomorrow}T00:05:00Z`)
  await page.goto(`/?range=today&campaign=${campaign}`)
  const figures = page.getByRole('group', { name: /^Figures of the window/ })
  const figure = (name: string) => figures.getByRole('button', { name: new RegExp(`^${name}`) })
  await expect(figure('Revenue so far')).toContainText('before: $60.00')
  await expect(figure('Cost so far')).toContainText('before: $20.00')
  await expect(figure('Profit so far')).toContainText('before: $40.00')
  await expect(figure('ROI so far')).toContainText('−100.0%')
  await expect(figure('ROI so far')).toContainText('before: +200.0%')
  await expect(figure('EPC so far')).toContainText('before: $15.00')
  await expect(figures.getByText(/%.*from|pp/)).toHaveCount(0)
  await expect(figure('Clicks')).not.toContainText('so far')

  // The day after, the same day is whole and compared with a whole one.
  await page.clock.setFixedTime(Date.parse(`${tomorrow}T00:05:00Z`) + DAY)
  await page.goto(`/?from=${tomorrow}&to=${tomorrow}&campaign=${campaign}`)
  await expect(figure('ROI')).toContainText('−300 pp')
  await expect(figure('Cost')).toContainText('−75.0% from $20.00')
  await expect(figures.getByText('so far')).toHaveCount(0)
})

test('a smaller loss is not shown as a success', async ({ page, owner, sluice }) => {
  const campaign = await seedTraffic(owner, sluice.address)
  const [day, before] = [iso(Date.now()), iso(Date.now() - DAY)]
  await send(owner, 'PUT', '/api/ad-spend', { campaign_id: campaign, day, amount: '80' })
  await send(owner, 'PUT', '/api/ad-spend', { campaign_id: campaign, day: before, amount: '100' })
  await page.clock.setFixedTime(Date.now() + DAY)
  await page.goto(`/?range=yesterday&campaign=${campaign}`)
  const change = page.getByRole('group', { name: /^Figures/ }).getByText('+75 pp')
  await expect(change).toBeVisible()
  await expect(change).not.toHaveClass(/text-good/)
})

test('goal and days are remembered where the menu opens the overview, and an address says otherwise', async ({
  page,
  owner,
  sluice,
}) => {
  await seedTraffic(owner, sluice.address)
  await page.goto('/')
  await page.getByLabel('Conversion').selectOption('ftd')
  await page.getByLabel('Days', { exact: true }).selectOption('30d')
  await expect(page).toHaveURL(/goal=ftd.*range=30d|range=30d.*goal=ftd/)
  const menu = page.getByRole('navigation', { name: 'Main' })
  await menu.getByRole('link', { name: 'Clicks' }).click()
  await expect(page.getByRole('heading', { name: 'Clicks', level: 1 })).toBeVisible()
  await menu.getByRole('link', { name: 'Overview' }).click()
  await expect(page.getByLabel('Conversion')).toHaveValue('ftd')
  await expect(page.getByLabel('Days', { exact: true })).toHaveValue('30d')
  await page.goto('/?range=today')
  await expect(page.getByLabel('Days', { exact: true })).toHaveValue('today')
  await expect(page.getByLabel('Conversion')).toHaveValue('own')
  // A default that was chosen is said outright, for whoever is sent the address.
  await page.getByLabel('Days', { exact: true }).selectOption('7d')
  await expect(page).toHaveURL(/range=7d/)
})

test('a total that divides by what only some campaigns count says so', async ({ page, owner, sluice }) => {
  const campaign = await seedTraffic(owner, sluice.address)
  const other = await send(owner, 'POST', '/api/campaigns', {
    name: 'Without leads',
    destination: { type: 'redirect', url: 'https://example.com/' },
  })
  const day = iso(Date.now())
  await send(owner, 'PUT', '/api/ad-spend', { campaign_id: other.id, day, amount: '7' })
  await page.goto('/?range=today&goal=lead')
  const said = page.getByText(/\d+ of \d+ campaigns have no Lead; the total’s CR and CPA count their clicks and cost/)
  await expect(said).toBeVisible()
  // By the goal of each campaign there is none that counts nothing of its own.
  await page.goto('/?range=today')
  await expect(page.getByRole('row', { name: /^Broad DE/ }).first()).toBeVisible()
  await expect(said).toHaveCount(0)
  await page.goto(`/?range=today&goal=lead&campaign=${campaign}`)
  await expect(page.getByRole('row', { name: /^Broad DE/ })).toBeVisible()
  await expect(said).toHaveCount(0)
})

test('a click, its conversions and their deliveries keep the name of the campaign when that is deleted', async ({
  page,
  owner,
  sluice,
}) => {
  const campaign = await seedTraffic(owner, sluice.address)
  const destination = { type: 'redirect', url: 'https://example.com/' }
  await send(owner, 'POST', '/api/campaigns', { name: 'Still there', destination })
  await send(owner, 'POST', '/api/postbacks', { event_type: 'lead', url: 'https://t.example/?c={click_id}' })
  const { data } = await send(owner, 'GET', `/api/clicks?campaign_id=${campaign}`)
  const clickId = (data as { id: string }[])[0]?.id ?? ''
  await send(owner, 'POST', '/api/events', { clickId, type: 'lead' })
  await send(owner, 'PUT', `/api/campaigns/${campaign}/status`, { status: 'archived' })
  await send(owner, 'DELETE', `/api/campaigns/${campaign}`)
  for (const path of [`/?campaign=${campaign}`, `/clicks?campaign=${campaign}`]) {
    await page.goto(path)
    const row = page
      .getByRole('table', { name: /clicks$/i })
      .getByRole('row')
      .nth(1)
    await expect(row).toContainText('Broad DE')
    await expect(row).toContainText('(deleted)')
    await expect(row).not.toContainText(campaign)
  }
  for (const path of ['/conversions', `/deliveries?campaign=${campaign}`]) {
    await page.goto(path)
    await expect(page.getByRole('row', { name: /Broad DE/ }).first()).toContainText('(deleted)')
    await expect(page.getByRole('table')).not.toContainText(campaign)
  }
  await page.goto(`/clicks/${clickId}`)
  await expect(page.getByText('Broad DE (deleted)')).toBeVisible()
})

test('one day is drawn at the end of its week, straight from day to day and dashed to today', async ({
  page,
  owner,
  sluice,
}) => {
  const campaign = await seedTraffic(owner, sluice.address)
  for (const range of ['today', '7d']) {
    await page.goto(`/?range=${range}&campaign=${campaign}`)
    const lines = page.locator('figure .recharts-area-curve')
    await expect(lines).toHaveCount(2)
    const paths = await lines.evaluateAll(found => found.map(line => line.getAttribute('d') ?? ''))
    // Six whole days, then from the last of them to today; a curve would have C in its path.
    expect(paths.map(path => path.replace(/[^A-Z]/g, ''))).toEqual(['MLLLLL', 'ML'])
    await expect(lines.last()).toHaveAttribute('stroke-dasharray', '4 4')
    await expect(page.getByText('Today so far')).toBeVisible()
    await page.getByRole('link', { name: 'Day', exact: true }).click()
    await expect(page.getByRole('table', { name: 'Report by Day' }).getByRole('row', { name: /so far/ })).toHaveCount(1)
  }
  await page.goto(`/?range=yesterday&campaign=${campaign}`)
  await expect(page.getByText(/and the six days before it/)).toBeVisible()
  await expect(page.locator('figure .recharts-area-curve')).toHaveCount(1)
})

test('on a small laptop the figures stand in one row and the report begins in sight', async ({
  page,
  owner,
  sluice,
}) => {
  await seedTraffic(owner, sluice.address)
  await page.setViewportSize({ width: 1366, height: 768 })
  await page.goto('/')
  const tiles = page.getByRole('group', { name: /^Figures of the window/ }).getByRole('button')
  await expect(tiles).toHaveCount(8)
  const tops = await tiles.evaluateAll(found => found.map(tile => Math.round(tile.getBoundingClientRect().top)))
  expect(new Set(tops).size).toBe(1)
  // Whichever campaign earned most in the workspace that the tests of a worker share.
  const first = page
    .getByRole('table', { name: /^Report by/ })
    .getByRole('row')
    .nth(1)
  await expect(first).toBeInViewport({ ratio: 1 })
})

test('columns that say nothing are folded, and shown when they are asked for', async ({ page, owner, sluice }) => {
  const campaign = await seedTraffic(owner, sluice.address)
  await page.goto(`/?range=today&campaign=${campaign}`)
  const table = page.getByRole('table', { name: /^Report by/ })
  const head = (name: string) => table.getByRole('columnheader', { name, exact: true })
  await expect(head('FTD')).toBeVisible()
  await expect(head('Started')).toHaveCount(0)
  await expect(page.getByText(/Folded, the same in every row: .*Started \(0\).*Cost from \(manual\)/)).toBeVisible()
  await page.getByRole('button', { name: 'Show', exact: true }).click()
  await expect(head('Started')).toBeVisible()
  await expect(head('Cost from')).toBeVisible()
  await page.getByRole('button', { name: 'Fold', exact: true }).click()
  await expect(head('Started')).toHaveCount(0)
  // The goal is shown even where nothing came to it.
  await page.goto(`/?range=today&campaign=${campaign}&goal=started`)
  await expect(head('Started')).toBeVisible()
})
