// The report below the figures of the overview: its dimensions, its totals, its columns, and the file it is saved in.
import { readFile } from 'node:fs/promises'
import { DETAIL, expect, send, test } from './dashboard.ts'
import { seedTraffic } from './traffic.ts'

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

test('the table is saved for spreadsheets, and no cell becomes a formula', async ({ page, owner, sluice }) => {
  const campaign = await seedTraffic(owner, sluice.address)
  await page.goto(`/?range=today&campaign=${campaign}&by=sub1`)
  await expect(page.getByRole('row', { name: /^=1\+1/ })).toBeVisible()
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'CSV' }).click()])
  const lines = (await readFile(await file.path(), 'utf8')).split('\r\n')
  expect(lines[0]).toMatch(/^"key","label","clicks",/)
  expect(lines.find(line => line.includes('=1+1'))).toMatch(/^"'=1\+1","'=1\+1",2,/)
  const at = (name: string) => lines[0]?.split(',').indexOf(`"${name}"`) ?? -1
  const [none, spend] = ['(none)', '(not broken down)'].map(label =>
    lines.find(line => line.startsWith(`"","${label}",`)),
  )
  expect([none?.split(',')[at('clicks')], none?.split(',')[at('cost')]]).toEqual(['1', ''])
  expect(spend?.split(',')[at('clicks')]).toBe('')
  expect([spend?.split(',')[at('cost')], spend?.split(',')[at('source')]]).toEqual(['20.00', '"manual"'])
  expect([spend?.split(',')[at('roi')], spend?.split(',')[at('cpa')]]).toEqual(['', ''])
})

test('a total that divides by what only some campaigns count says so', DETAIL, async ({ page, owner, sluice }) => {
  const campaign = await seedTraffic(owner, sluice.address)
  const other = await send(owner, 'POST', '/api/campaigns', {
    name: 'Without leads',
    destination: { type: 'redirect', url: 'https://example.com/' },
  })
  const day = new Date().toISOString().slice(0, 10)
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

test(
  'columns that say nothing are folded, and shown when they are asked for',
  DETAIL,
  async ({ page, owner, sluice }) => {
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
  },
)
