// The Report page, over clicks that came through the door: levels that open in place, filters, columns, the map of hours.
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { expect, test } from './dashboard.ts'
import { clicksOf, only, row, seedClicks, tree } from './explored.ts'
import { seedTraffic } from './traffic.ts'

test('clicks are broken down level by level in place, narrowed by a row, and the address shows the same again', async ({
  page,
  owner,
  sluice,
}) => {
  // No other test of this worker makes campaigns whose names begin like these.
  const { wide } = await seedClicks(owner, sluice.address, ['Sprawl', 'Sliver'])
  await page.goto('/report?range=today')
  await expect(clicksOf(page, 'Sprawl')).toHaveText('3')
  await expect(clicksOf(page, 'Sliver')).toHaveText('1')
  await expect(row(page, 'Sprawl')).toContainText('10.00')

  await page.getByRole('button', { name: 'Level', exact: true }).click()
  await page.getByRole('menuitemradio', { name: 'sub1' }).click()
  await expect(page).toHaveURL(/by=campaign%2Csub1/)
  await page.getByRole('button', { name: 'Open Sprawl' }).click()
  await expect(clicksOf(page, 'zone-7')).toHaveText('2')
  await expect(clicksOf(page, 'zone-9')).toHaveText('1')
  await page.reload()
  await expect(clicksOf(page, 'zone-7')).toHaveText('2')

  await page.getByRole('button', { name: 'zone-7', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Not this' }).click()
  await expect(page.getByRole('group', { name: 'Filters' })).toContainText('sub1 is not zone-7')
  await expect(clicksOf(page, 'Sprawl')).toHaveText('1')
  await page.goBack()
  await expect(clicksOf(page, 'Sprawl')).toHaveText('3')

  await page.getByRole('button', { name: 'zone-7', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Show clicks' }).click()
  await expect(page).toHaveURL(new RegExp(`/clicks\\?.*campaign=${wide}`))
  await expect(page.getByRole('table', { name: 'Clicks' }).getByRole('row')).toHaveCount(3)
})

test('a filter is made of values that are looked up, and of parts that are typed @detail', async ({
  page,
  owner,
  sluice,
}) => {
  const { wide } = await seedClicks(owner, sluice.address)
  await page.goto(`/report?range=today&by=device&${only(wide)}`)
  await expect(page.getByRole('group', { name: 'Filters' })).toContainText('Campaign is Wide')
  await expect(clicksOf(page, 'Total')).toHaveText('3')
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  const filter = page.getByRole('dialog', { name: 'New filter' })
  await filter.getByLabel('Dimension').selectOption('sub1')
  await filter
    .getByRole('list', { name: 'Found' })
    .getByRole('button', { name: /^zone-9/ })
    .click()
  await filter.getByRole('button', { name: 'Add filter' }).click()
  await expect(clicksOf(page, 'Total')).toHaveText('1')
  await page.getByRole('button', { name: 'sub1 is zone-9', exact: true }).click()
  const again = page.getByRole('dialog', { name: 'Filter' })
  await again.getByLabel('Condition').selectOption('contains')
  await again.getByRole('button', { name: 'Remove zone-9' }).click()
  await again.getByLabel('Part of the value').fill('zone')
  await again.getByLabel('Part of the value').press('Enter')
  await again.getByRole('button', { name: 'Change filter' }).click()
  await expect(page.getByRole('group', { name: 'Filters' })).toContainText('sub1 contains zone')
  await expect(clicksOf(page, 'Total')).toHaveText('3')
})

test('arrows move among the rows, right opens, left closes @detail', async ({ page, owner, sluice }) => {
  const { wide } = await seedClicks(owner, sluice.address)
  await page.goto(`/report?range=today&by=sub1,device&${only(wide)}`)
  const zone = page.getByRole('button', { name: 'zone-7', exact: true })
  await zone.focus()
  await page.keyboard.press('ArrowRight')
  await expect(row(page, 'zone-7')).toHaveAttribute('aria-expanded', 'true')
  await expect(row(page, 'mobile')).toHaveAttribute('aria-level', '2')
  await page.keyboard.press('ArrowRight')
  await expect(zone).not.toBeFocused()
  await page.keyboard.press('ArrowLeft')
  await expect(zone).toBeFocused()
  await page.keyboard.press('ArrowLeft')
  await expect(row(page, 'zone-7')).toHaveAttribute('aria-expanded', 'false')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('menuitem', { name: 'Only this' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(zone).toBeFocused()
})

test('a figure of one’s own stands in its column, and what is wrong with a formula is said @detail', async ({
  page,
  owner,
  sluice,
}) => {
  const { wide } = await seedClicks(owner, sluice.address)
  await page.goto(`/report?range=today&by=sub1&${only(wide)}`)
  await page.getByRole('button', { name: 'Columns' }).click()
  const columns = page.getByRole('dialog', { name: 'Columns' })
  await columns.getByRole('button', { name: 'Add column' }).click()
  await columns.getByLabel('Formula').fill('revenue / clicsk')
  await expect(columns.getByLabel('Formula')).toHaveAccessibleDescription('There is no figure called “clicsk”.')
  await columns.getByLabel('Formula').fill('revenue / (clicks * 2)')
  await columns.getByLabel('Name').fill('Half')
  await columns.getByLabel('Use these columns whenever I open Report').uncheck()
  await columns.getByRole('button', { name: 'Apply' }).click()
  await expect(row(page, 'zone-7').getByRole('gridcell').last()).toHaveText('2.5')
  await expect(row(page, 'Total').getByRole('gridcell').last()).toHaveText('1.667')
  await page.reload()
  await expect(tree(page).getByRole('columnheader', { name: 'Half' })).toBeVisible()
})

test('the hours of the week are a map of the same clicks @detail', async ({ page, owner, sluice }) => {
  const { wide } = await seedClicks(owner, sluice.address)
  await page.goto(`/report?range=today&${only(wide)}`)
  await page.getByRole('button', { name: 'Heat map' }).click()
  const map = page.getByRole('table', { name: 'Clicks by weekday and hour, UTC' })
  await expect(map.getByRole('row', { name: /^All/ }).getByRole('cell').last()).toHaveText('3')
  await expect(map.getByRole('rowheader')).toHaveText(['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun', 'All'])
  await page.getByLabel('Shaded by').selectOption('Revenue')
  await expect(page).toHaveURL(/shade=revenue/)
  const earned = page.getByRole('table', { name: 'Revenue by weekday and hour, UTC' })
  await expect(earned.getByRole('row', { name: /^All/ }).getByRole('cell').last()).toHaveText('10')
  const cell = earned.getByTitle(/Revenue 10\.00, Clicks 3, Conv\. 1$/).first()
  await expect(cell).toHaveAttribute('style', /background-color/)
})

test('the rows are saved for spreadsheets, and no cell becomes a formula', async ({ page, owner, sluice }) => {
  const campaign = await seedTraffic(owner, sluice.address)
  await page.goto(`/report?range=today&by=sub1&unassigned=apart&columns=clicks,cost,roi,cpa&${only(campaign)}`)
  await expect(row(page, 'Unassigned spend').getByRole('gridcell')).toHaveText(['0', '20.00', '−100.0%', '—'])
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'CSV' }).click()])
  expect(file.suggestedFilename()).toMatch(/^sluice-report-.*\.csv$/)
  const lines = (await readFile(await file.path(), 'utf8')).split('\r\n')
  expect(lines[0]).toBe('"sub1","sub1_label","clicks","cost","roi","cpa"')
  expect(lines.find(line => line.includes('=1+1'))).toBe(`"'=1+1","'=1+1",2,,,`)
  expect(lines.find(line => line.includes('(none)'))).toMatch(/^.*,"\(none\)",1,,,$/)
  expect(lines.find(line => line.includes('Unassigned'))).toMatch(/,0,20\.00,-1,$/)
})

test('the facts of a day are a Parquet file @detail', async ({ page, owner, sluice }) => {
  const { wide } = await seedClicks(owner, sluice.address)
  await page.goto(`/report?range=today&by=sub1&${only(wide)}`)
  await expect(clicksOf(page, 'zone-7')).toHaveText('2')
  await page.getByRole('button', { name: 'Export a day (Parquet)' }).click()
  const asking = page.getByRole('dialog', { name: 'Export a day' })
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    asking.getByRole('button', { name: 'Download' }).click(),
  ])
  expect(file.suggestedFilename()).toMatch(/^sluice-facts-\d{4}-\d\d-\d\d\.parquet$/)
  const bytes = readFileSync(await file.path())
  expect([bytes.subarray(0, 4).toString(), bytes.subarray(-4).toString()]).toEqual(['PAR1', 'PAR1'])
  await expect(asking).toBeHidden()
})

test('a question is kept as a view, opened again, and is what the page opens with @detail', async ({
  page,
  owner,
  sluice,
}) => {
  const { wide } = await seedClicks(owner, sluice.address)
  await page.goto(`/report?range=today&by=sub1&${only(wide)}`)
  await expect(clicksOf(page, 'zone-7')).toHaveText('2')
  await page.getByRole('button', { name: 'Views', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Save as a view' }).click()
  const saving = page.getByRole('dialog', { name: 'Save as a view' })
  await saving.getByLabel('Name').fill('Zones of Wide')
  await saving.getByRole('button', { name: 'Save view' }).click()
  const menu = page.getByRole('button', { name: /^Zones of Wide/ })
  await expect(menu).toHaveText('Zones of Wide')
  await page.getByRole('button', { name: 'Level', exact: true }).click()
  await page.getByRole('menuitemradio', { name: 'Device' }).click()
  await expect(menu).toHaveText('Zones of Wide *')

  await page.goto('/report?range=today')
  await expect(clicksOf(page, 'Wide').first()).toBeVisible()
  await page.getByRole('button', { name: 'Views', exact: true }).click()
  await page.getByRole('menuitemradio', { name: 'Zones of Wide' }).click()
  await expect(page).toHaveURL(/by=sub1/)
  await expect(clicksOf(page, 'Total')).toHaveText('3')
  await menu.click()
  await page.getByRole('menuitem', { name: 'Rename or share' }).click()
  const renaming = page.getByRole('dialog', { name: 'Zones of Wide', exact: true })
  await renaming.getByLabel('Open Report with it').check()
  await renaming.getByRole('button', { name: 'Save view' }).click()
  await expect(renaming).toBeHidden()

  await page.goto('/report')
  await expect(page).toHaveURL(/by=sub1/)
  await expect(clicksOf(page, 'zone-9')).toHaveText('1')
  await menu.click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete view' }).click()
  await expect(page.getByRole('button', { name: 'Views', exact: true })).toBeVisible()
})
