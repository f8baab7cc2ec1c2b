// The Report page as a buyer meets it: what is in sight, one press for each question of the morning, filters on figures, columns of one's own, old addresses.
import type { Page } from '@playwright/test'
import { expect, send, test } from './dashboard.ts'
import { clicksOf, only, row, seedClicks, tree } from './explored.ts'
import { seedTraffic } from './traffic.ts'

const MONEY = ['Clicks', 'Conv.', 'CR', 'EPC', 'Revenue', 'Cost', 'Profit', 'ROI']
const head = (page: Page, name: string) => tree(page).getByRole('columnheader', { name, exact: true })

test('money is in sight without scrolling on a laptop, profit and ROI on a phone, and long names are whole', async ({
  page,
  owner,
  sluice,
}) => {
  const long = 'Telegram Ads, channel of casino reviews, Poland, second creative'
  const { wide } = await seedClicks(owner, sluice.address, [long, 'Short'])
  const day = new Date().toISOString().slice(0, 10)
  await send(owner, 'PUT', '/api/ad-spend', { campaign_id: wide, day, amount: '12345.67' })
  await page.setViewportSize({ width: 1366, height: 768 })
  await page.goto(`/report?range=today&${only(wide)}`)
  await expect(clicksOf(page, long)).toHaveText('3')
  for (const name of MONEY) await expect(head(page, name)).toBeInViewport({ ratio: 1 })
  const name = tree(page).getByRole('button', { name: long, exact: true })
  expect(await name.evaluate(one => one.scrollWidth <= one.clientWidth && one.scrollHeight <= one.clientHeight)).toBe(
    true,
  )
  await page.setViewportSize({ width: 390, height: 844 })
  for (const at of ['Clicks', 'Profit', 'ROI']) await expect(head(page, at)).toBeInViewport({ ratio: 1 })
})

test('a column without a value is folded, and shown when it is asked for @detail', async ({ page, owner, sluice }) => {
  const campaign = await seedTraffic(owner, sluice.address)
  await page.goto(`/report?range=today&${only(campaign)}`)
  await expect(head(page, 'FTD')).toBeVisible()
  await expect(page.getByText('Cost from: manual entry.')).toBeVisible()
  await expect(head(page, 'Started')).toHaveCount(0)
  await expect(page.getByText(/^Hidden \(no data\): .*Started/)).toBeVisible()
  await page.getByRole('button', { name: 'Show', exact: true }).click()
  await expect(head(page, 'Started')).toBeVisible()
  await page.getByRole('button', { name: 'Hide', exact: true }).click()
  await expect(head(page, 'Started')).toHaveCount(0)
  // Money stays where there is none.
  await page.goto(`/report?range=yesterday&by=day&columns=clicks,cost,started`)
  await expect(head(page, 'Started')).toHaveCount(0)
})

/** Presses buttons, items and links by their names, each once, and counts them. */
function pressing(page: Page) {
  let presses = 0
  return {
    press: async (role: 'button' | 'link' | 'menuitem', name: string) => {
      presses += 1
      await page.getByRole(role, { name, exact: true }).click()
    },
    count: () => presses,
  }
}

test('from the overview it takes four presses to the zones of a campaign that lose most, and as many to its hours and landings @detail', async ({
  page,
  owner,
  sluice,
}) => {
  const { wide } = await seedClicks(owner, sluice.address, ['Synced', 'Beside'])
  const day = new Date().toISOString().slice(0, 10)
  await send(owner, 'PUT', '/api/ad-spend', { campaign_id: wide, day, amount: '6' })
  const parameters = [
    { field: 'sub1', parameter: 'zone', macro: '{zoneid}', label: 'Zone' },
    { field: 'sub2', parameter: 'banner', macro: '{bannerid}', label: 'Creative' },
  ]
  const source = await send(owner, 'POST', '/api/traffic-sources', { name: 'Pushed', parameters })
  await send(owner, 'PATCH', `/api/campaigns/${wide}`, { traffic_source_id: source.id })
  for (const [preset, by, worst] of [
    ['Zones', 'sub1', 'zone-9'],
    ['Hours', 'hour', ':00'],
    ['Landings', 'landing', '\\(none\\)'],
  ] as const) {
    await page.goto('/')
    const { press, count } = pressing(page)
    await press('link', 'Report')
    await press('button', 'Synced')
    await press('menuitem', preset)
    await press('button', 'Worst first')
    expect(count()).toBeLessThanOrEqual(4)
    await expect(page).toHaveURL(new RegExp(`by=${by}.*sort=profit|sort=profit.*by=${by}`))
    await expect(tree(page).getByRole('row').nth(1)).toHaveAccessibleName(new RegExp(worst))
    await expect(row(page, 'Total')).toContainText('6.00')
  }
  // From one answer to the next it is one press.
  const presets = page.getByRole('navigation', { name: 'Presets' })
  await presets.getByRole('button', { name: 'Zones' }).click()
  await expect(head(page, 'Zone (sub1)')).toBeVisible()
  await expect(row(page, 'zone-9')).toContainText('−2.00')
  await presets.getByRole('button', { name: 'Creatives' }).click()
  await expect(head(page, 'Creative (sub2)')).toBeVisible()
  for (const [name, by] of [
    ['Offers', 'offer'],
    ['Countries', 'geo'],
    ['Devices', 'device'],
    ['Days', 'day'],
  ] as const) {
    await presets.getByRole('button', { name }).click()
    await expect(page).toHaveURL(new RegExp(`by=${by}`))
    await expect(presets.getByRole('button', { name })).toHaveAttribute('aria-current', 'true')
  }
  await expect(tree(page).getByRole('rowheader', { name: /so far$/ })).toBeVisible()
})

test('rows are filtered by their figures, and the address and a view keep the filter @detail', async ({
  page,
  owner,
  sluice,
}) => {
  const { wide } = await seedClicks(owner, sluice.address)
  const day = new Date().toISOString().slice(0, 10)
  await send(owner, 'PUT', '/api/ad-spend', { campaign_id: wide, day, amount: '6' })
  await page.goto(`/report?range=today&by=sub1&${only(wide)}`)
  await expect(clicksOf(page, 'Total')).toHaveText('3')
  await page.getByRole('button', { name: 'Figure filter' }).click()
  const dialog = page.getByRole('dialog', { name: 'Figure filter' })
  await expect(dialog.getByLabel('Figure')).toHaveValue('roi')
  await dialog.getByLabel(/^Value/).fill('-20')
  await dialog.getByRole('button', { name: 'Add filter' }).click()
  const filters = page.getByRole('group', { name: 'Filters' })
  await expect(filters).toContainText('ROI below −20%')
  await expect(clicksOf(page, 'Total')).toHaveText('1')
  await expect(row(page, 'zone-7')).toHaveCount(0)
  await expect(page.getByText('Figure filters leave 1 of 3 clicks.')).toBeVisible()
  await page.reload()
  await expect(clicksOf(page, 'zone-9')).toHaveText('1')
  await page.getByRole('button', { name: 'ROI below −20%', exact: true }).click()
  await dialog.getByLabel('Figure').selectOption('Clicks')
  await dialog.getByLabel('Condition').selectOption('above')
  await dialog.getByLabel('Value').fill('1')
  await dialog.getByRole('button', { name: 'Change filter' }).click()
  await expect(filters).toContainText('Clicks above 1')
  await expect(clicksOf(page, 'Total')).toHaveText('2')
  // The level below is filtered as well, and what is open holds what is left of it.
  await page.goto(
    `/report?range=today&by=campaign,sub1&having=${encodeURIComponent('[["clicks","above",1]]')}&${only(wide)}`,
  )
  await page.getByRole('button', { name: 'Open Wide' }).click()
  await expect(clicksOf(page, 'zone-7')).toHaveText('2')
  await expect(row(page, 'zone-9')).toHaveCount(0)
  await page.getByRole('button', { name: 'Views', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Save as a view' }).click()
  const saving = page.getByRole('dialog', { name: 'Save as a view' })
  await saving.getByLabel('Name').fill('Busy zones')
  await saving.getByRole('button', { name: 'Save view' }).click()
  await filters.getByRole('button', { name: 'Remove the filter Clicks above 1' }).click()
  await expect(clicksOf(page, 'Total')).toHaveText('3')
  await page.getByRole('button', { name: /^Busy zones/ }).click()
  await page.getByRole('menuitemradio', { name: 'Busy zones' }).click()
  await expect(clicksOf(page, 'Total')).toHaveText('2')
  await page.getByRole('button', { name: /^Busy zones/ }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete view' }).click()
})

test('the columns that a person chooses are theirs in every browser, until they want the usual ones again @detail', async ({
  page,
  owner,
  sluice,
  browser,
}) => {
  const { wide } = await seedClicks(owner, sluice.address)
  const address = `/report?range=today&by=sub1&${only(wide)}`
  await page.goto(address)
  await page.getByRole('button', { name: 'Columns' }).click()
  const columns = page.getByRole('dialog', { name: 'Columns' })
  await columns.getByRole('checkbox', { name: 'EPC', exact: true }).click()
  await columns.getByRole('checkbox', { name: /^Unique / }).click()
  await columns.getByRole('button', { name: 'Apply' }).click()
  await expect(head(page, 'Unique')).toBeVisible()

  const elsewhere = await browser.newContext({ baseURL: sluice.address, storageState: sluice.signedIn })
  const other = await elsewhere.newPage()
  await other.goto(address)
  await expect(head(other, 'Unique')).toBeVisible()
  await expect(head(other, 'EPC')).toHaveCount(0)
  // An address that names columns shows these, and does not become one's own choice unless one says so.
  await other.goto(`${address}&columns=clicks,revenue`)
  await expect(tree(other).getByRole('columnheader')).toHaveText(['sub1', 'Clicks', 'Revenue'])
  await other.getByRole('button', { name: 'Columns' }).click()
  const again = other.getByRole('dialog', { name: 'Columns' })
  const mine = again.getByLabel('Use these columns whenever I open Report')
  await expect(mine).not.toBeChecked()
  await again.getByRole('button', { name: 'Reset to default' }).click()
  await mine.check()
  await again.getByRole('button', { name: 'Apply' }).click()
  await expect(head(other, 'EPC')).toBeVisible()
  await elsewhere.close()
  await page.goto(address)
  await expect(head(page, 'EPC')).toBeVisible()
  await expect(head(page, 'Unique')).toHaveCount(0)
})

test('addresses of the overview’s table and of Explore lead to the report with all they asked @detail', async ({
  page,
  owner,
  sluice,
}) => {
  const { wide } = await seedClicks(owner, sluice.address)
  await page.goto(`/explore?range=today&by=sub1,device&sort=-revenue&${only(wide)}`)
  await expect(page).toHaveURL(/\/report\?.*by=sub1/)
  await expect(clicksOf(page, 'zone-7')).toHaveText('2')
  await expect(head(page, 'Revenue')).toHaveAttribute('aria-sort', 'descending')
  await page.goto(`/?range=today&campaign=${wide}&by=sub1&goal=lead&sort=-goal`)
  await expect(page).toHaveURL(/\/report\?/)
  await expect(clicksOf(page, 'zone-9')).toHaveText('1')
  await expect(page.getByLabel('Conversion', { exact: true })).toHaveValue('lead')
  await expect(head(page, 'Conv.')).toHaveAttribute('aria-sort', 'descending')
  await page.goto(`/?range=today&campaign=${wide}&by=week&heat=revenue`)
  await expect(page.getByRole('table', { name: 'Revenue by weekday and hour, UTC' })).toBeVisible()
  await page.goto(`/?range=today&campaign=${wide}`)
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible()
})

test('one type counts for every campaign, and a total that divides by what only some count says so @detail', async ({
  page,
  owner,
  sluice,
}) => {
  const campaign = await seedTraffic(owner, sluice.address)
  const { wide, narrow } = await seedClicks(owner, sluice.address)
  const day = new Date().toISOString().slice(0, 10)
  await send(owner, 'PUT', '/api/ad-spend', { campaign_id: narrow, day, amount: '7' })
  const these = (...ids: string[]) => `where=${encodeURIComponent(JSON.stringify([['campaign', 'is', ...ids]]))}`
  await page.goto(`/report?range=today&goal=ftd&columns=clicks,conversions,cr&${only(campaign)}`)
  await expect(row(page, 'Broad DE').getByRole('gridcell')).toHaveText(['4', '1', '25.0%'])
  const said = page.getByText(/1 of 2 campaigns have no Lead, but the total’s CR and CPA include their clicks and cost/)
  await page.goto(`/report?range=today&goal=lead&${these(wide, narrow)}`)
  await expect(said).toBeVisible()
  await page.goto(`/report?range=today&${these(wide, narrow)}`)
  await expect(row(page, 'Wide')).toBeVisible()
  await expect(said).toHaveCount(0)
  await page.goto(`/report?range=today&goal=lead&${only(wide)}`)
  await expect(row(page, 'Wide')).toBeVisible()
  await expect(said).toHaveCount(0)
})
