// What the Report page shows of its clicks: compared, coloured, in which columns, of which days, and what it says while or where something is missing.
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { DAY_MS } from '../../src/contract/days.ts'
import { newId, toUuid } from '../../src/contract/ids.ts'
import { storeClicks } from '../../src/intake/clicks/store.ts'
import { aClick } from '../support/visits.ts'
import { expect, inDatabase, send, test } from './dashboard.ts'
import { clicksOf, only, row, seedClicks, tree } from './explored.ts'

const today = () => new Date().toISOString().slice(0, 10)

test('each figure stands beside what it was as many days before, and days are compared with nothing @detail', async ({
  page,
  owner,
  sluice,
}) => {
  const { wide } = await seedClicks(owner, sluice.address)
  await inDatabase(sluice, async (worker, org_id) => {
    const click = aClick(randomBytes(16), org_id, { campaign_id: toUuid(wide) ?? '', sub1: 'zone-7' })
    await storeClicks(worker, [{ ...click, id: newId(Date.parse(today()) - DAY_MS / 2) }])
  })
  await page.goto(`/report?range=today&by=sub1&columns=clicks,revenue&${only(wide)}`)
  await expect(clicksOf(page, 'zone-7')).toHaveText('2')
  await page.getByLabel('Compare with previous period').check()
  await expect(clicksOf(page, 'zone-7')).toHaveText('2+100.0%')
  await expect(clicksOf(page, 'zone-9')).toHaveText('1+1')
  await expect(clicksOf(page, 'Total')).toHaveText('3+200.0%')
  await expect(page.getByText('Compared with')).toContainText('the previous period is complete')
  await page.getByRole('group', { name: 'Levels' }).getByRole('button', { name: 'sub1', exact: true }).click()
  await page.getByRole('menuitemradio', { name: 'Day', exact: true }).click()
  await expect(page.getByLabel('Compare with previous period')).toHaveAccessibleDescription(/Not available by day/)
  await expect(clicksOf(page, 'Total')).toHaveText('3')
})

test('columns are chosen, moved and coloured, the address keeps them, and the file has the same @detail', async ({
  page,
  owner,
  sluice,
}) => {
  const { wide } = await seedClicks(owner, sluice.address)
  await page.goto(`/report?range=today&by=sub1&columns=clicks,landed,revenue&${only(wide)}`)
  await page.getByRole('button', { name: 'Columns' }).click()
  const columns = page.getByRole('dialog', { name: 'Columns' })
  await columns.getByRole('checkbox', { name: 'Landed', exact: true }).click()
  await columns.getByRole('checkbox', { name: /^Unique / }).click()
  await columns.getByRole('button', { name: 'Revenue to the left' }).click()
  await columns.getByRole('button', { name: 'Add column' }).click()
  await columns.getByLabel('Name').fill('Each')
  await columns.getByLabel('Formula').fill('revenue / clicks')
  await columns.getByRole('button', { name: 'Add colour' }).click()
  await columns.getByLabel('Column', { exact: true }).selectOption('Clicks')
  await columns.getByLabel('Side', { exact: true }).selectOption('above')
  await columns.getByLabel('Limit', { exact: true }).fill('1')
  await columns.getByLabel('Colour', { exact: true }).selectOption('green')
  await columns.getByRole('button', { name: 'Apply' }).click()
  await expect(tree(page).getByRole('columnheader')).toHaveText(['sub1', 'Revenue', 'Clicks', 'Unique', 'Each'])
  const colourOf = (name: string) =>
    row(page, name)
      .getByRole('gridcell')
      .nth(1)
      .evaluate(cell => getComputedStyle(cell).backgroundColor)
  await expect(row(page, 'zone-7').getByRole('gridcell')).toHaveText(['10.00', '2', '2', '5'])
  expect(await colourOf('zone-7')).not.toBe(await colourOf('zone-9'))
  await page.reload()
  await expect(row(page, 'zone-9').getByRole('gridcell')).toHaveText(['0.00', '1', '1', '0'])
  expect(await colourOf('zone-7')).not.toBe(await colourOf('zone-9'))

  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'CSV' }).click()])
  const lines = (await readFile(await file.path(), 'utf8')).split('\r\n')
  expect(lines).toEqual([
    '"sub1","sub1_label","revenue","clicks","unique_visitors","Each"',
    '"zone-7","zone-7",10.00,2,2,5',
    '"zone-9","zone-9",0.00,1,1,0',
  ])
})

test('a level is dragged to another place @detail', async ({ page, owner, sluice }) => {
  const { wide } = await seedClicks(owner, sluice.address)
  await page.goto(`/report?range=today&by=sub1,device&${only(wide)}`)
  const levels = page.getByRole('group', { name: 'Levels' })
  await levels
    .getByTitle('Drag to another place')
    .last()
    .dragTo(levels.getByText('sub1', { exact: true }))
  await expect(page).toHaveURL(/by=device%2Csub1/)
  await expect(clicksOf(page, 'desktop')).toHaveText('2')
})

test('days go up to a year, and the log is shown the last of them @detail', async ({ page, owner, sluice }) => {
  const { wide } = await seedClicks(owner, sluice.address)
  await page.goto(`/report?${only(wide)}`)
  await page.getByLabel('Days').selectOption('Last 365 days')
  await expect(clicksOf(page, 'Wide')).toHaveText('3')
  await page.getByLabel('Days').selectOption('Choose days…')
  const days = page.getByRole('dialog', { name: 'Choose days' })
  await days.getByLabel('First day').fill(new Date(Date.now() - 366 * DAY_MS).toISOString().slice(0, 10))
  await expect(days).toContainText('That is 367 days; a report covers at most 366.')
  await days.getByLabel('First day').fill(new Date(Date.now() - 300 * DAY_MS).toISOString().slice(0, 10))
  await days.getByRole('button', { name: 'Show', exact: true }).click()
  await expect(page).toHaveURL(/from=/)
  await expect(clicksOf(page, 'Wide')).toHaveText('3')
  await page.getByRole('button', { name: 'Wide', exact: true }).click()
  const clicks = page.getByRole('menuitem', { name: 'Show clicks' })
  await expect(clicks).toContainText('Only the last 90 of these days')
  await clicks.click()
  await expect(page.getByRole('table', { name: 'Clicks' }).getByRole('row')).toHaveCount(4)
})

test('an answer that takes long says why, and a cost that no click says is a dash @detail', async ({
  page,
  owner,
  sluice,
}) => {
  const { wide } = await seedClicks(owner, sluice.address)
  let answer: () => void = () => undefined
  const held = new Promise<void>(resolve => {
    answer = resolve
  })
  await page.route('**/api/explore', async route => {
    await held
    await route.continue()
  })
  await page.goto(`/report?range=today&by=sub1&columns=revenue,cost,profit,roi&${only(wide)}`)
  await expect(page.getByText('Loading the clicks of these days')).toBeVisible()
  answer()
  await expect(row(page, 'zone-7').getByRole('gridcell')).toHaveText(['10.00', '—', '—', '—'])
  await expect(page.getByText('Loading the clicks of these days')).toBeHidden()
})

test('booked spend has its share in each row, what no clicks share a row of its own, and a cost known in part a mark @detail', async ({
  page,
  owner,
  sluice,
}) => {
  const { wide } = await seedClicks(owner, sluice.address)
  const destination = { type: 'redirect', url: 'https://example.com/' }
  const { id: quiet } = await send(owner, 'POST', '/api/campaigns', { name: 'Quiet', destination })
  for (const campaign_id of [wide, quiet])
    await send(owner, 'PUT', '/api/ad-spend', { campaign_id, day: today(), amount: '6' })
  const these = `where=${encodeURIComponent(JSON.stringify([['campaign', 'is', wide, quiet]]))}`
  await page.goto(`/report?range=today&by=sub1&columns=clicks,revenue,cost,profit,roi&${these}`)
  await expect(row(page, 'zone-7').getByRole('gridcell')).toHaveText(['2', '10.00', '4.00', '6.00', '+150.0%'])
  const unshared = row(page, 'Spend without clicks').getByRole('gridcell')
  await expect(unshared).toHaveText(['0', '0.00', '6.00', '−6.00', '−100.0%'])
  await page.getByRole('checkbox', { name: 'Keep unassigned spend apart' }).check()
  await expect(row(page, 'Unassigned spend').getByRole('gridcell').nth(2)).toHaveText('12.00')
  await expect(row(page, 'zone-7').getByRole('gridcell')).toHaveText(['2', '10.00', '—', '—', '—'])
  await page.goto('/report?range=today&columns=clicks,revenue,cost,profit,roi')
  await expect(row(page, 'Narrow').getByRole('gridcell').nth(2)).toHaveText('—')
  await expect(row(page, 'Total').getByRole('gridcell').nth(2)).toHaveText(/\*$/)
  await expect(page.getByText(/^.*\* The cost of \d+ clicks is not known/)).toBeVisible()
})

test('a day whose facts are lost is told from its clicks @detail', async ({ page, owner, sluice }) => {
  const { wide } = await seedClicks(owner, sluice.address)
  await page.goto(`/report?range=today&${only(wide)}`)
  await expect(clicksOf(page, 'Wide')).toHaveText('3')
  await inDatabase(sluice, (worker, org_id) =>
    worker.query('delete from segments where org_id = $1 and day = $2', [org_id, today()]),
  )
  await page.reload()
  await expect(clicksOf(page, 'Wide')).toHaveText('3')
  await expect(page.getByText(/incomplete/)).toBeHidden()
})

test('a view that was saved without a screen opens unchanged @detail', async ({ page, owner, sluice }) => {
  const { wide } = await seedClicks(owner, sluice.address)
  const filters = [{ dimension: 'campaign', op: 'is', values: [wide] }]
  const view = { name: 'Zones by an API', question: { levels: [{ dimension: 'sub1' }], filters } }
  const { id } = await send(owner, 'POST', '/api/explore-views', view)
  await page.goto('/report?range=today')
  await page.getByRole('button', { name: 'Views', exact: true }).click()
  await page.getByRole('menuitemradio', { name: 'Zones by an API' }).click()
  await expect(clicksOf(page, 'zone-7')).toHaveText('2')
  await expect(page).toHaveURL(/range=today/)
  await expect(page.getByRole('button', { name: /^Zones by an API/ })).toHaveText('Zones by an API')
  await owner.delete(`/api/explore-views/${id}`)
})
