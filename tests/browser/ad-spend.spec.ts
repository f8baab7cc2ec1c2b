// Ad spend on the screen: an amount spread over clicks in another time zone and taken back, and imports with wrong lines.
import { toUuid } from '../../src/contract/ids.ts'
import { seedCountedClicks } from '../support/counted-clicks.ts'
import { expect, inDatabase, send, test } from './dashboard.ts'

const destination = { type: 'redirect', url: 'https://shop.example/?c={click_id}' }
const HOUR_MS = 3_600_000
/** Half past two in the afternoon UTC, some days ago: a midnight in Darwin, all year. */
const MIDNIGHT = Math.floor(Date.now() / (24 * HOUR_MS)) * 24 * HOUR_MS - 57.5 * HOUR_MS

/** The local time in Darwin, the given hours after that midnight. */
const inDarwin = (hours: number) => new Date(MIDNIGHT + (hours + 9.5) * HOUR_MS).toISOString().slice(0, 16)

test('an amount is spread over the clicks of a window of another zone, counts in the report, and is taken back whole @detail', async ({
  page,
  owner,
  sluice,
}) => {
  const { id } = await send(owner, 'POST', '/api/campaigns', { name: 'Billed', key: 'billed', destination })
  const click = { campaign_id: toUuid(id) ?? '', at: MIDNIGHT }
  const clicks = [
    { ...click, sub1: 'a' },
    { ...click, sub1: 'b', at: MIDNIGHT + 12 * HOUR_MS },
    { ...click, sub1: 'late', at: MIDNIGHT + 24 * HOUR_MS },
  ]
  await inDatabase(sluice, (worker, org_id) => seedCountedClicks({ worker }, org_id, clicks))

  await page.goto(`/ad-spend?campaign=${id}`)
  await page.getByRole('button', { name: 'Spread an amount' }).click()
  const dialog = page.getByRole('dialog', { name: 'Spread an amount' })
  await expect(dialog.getByLabel('Campaign')).toHaveValue(id)
  await expect(dialog.getByLabel('From')).toHaveValue(/T00:00$/)
  await expect(dialog.getByRole('button', { name: 'Preview' })).toHaveAccessibleDescription('Enter an amount.')
  await dialog.getByLabel('Time zone').selectOption('Australia/Darwin')
  await dialog.getByLabel('Amount').fill('10')
  await dialog.getByLabel('From').fill(inDarwin(-24))
  await dialog.getByLabel('Until').fill(inDarwin(0))
  await dialog.getByRole('button', { name: 'Preview' }).click()
  await expect(dialog.getByRole('alert')).toContainText('There are no tracked clicks in this window')
  await dialog.getByLabel('From').fill(inDarwin(0))
  await dialog.getByLabel('Until').fill(inDarwin(24))
  await dialog.getByRole('button', { name: 'Preview' }).click()
  await expect(dialog).toContainText('$10.00 over 2 clicks')
  const parts = dialog.getByRole('table', { name: 'Amount by day' })
  await expect(parts.getByRole('row')).toHaveCount(3)
  await expect(parts.getByRole('row').last()).toContainText('5.00')
  await dialog.getByRole('button', { name: 'Spread amount' }).click()
  await expect(page.getByText('The amount is spread over 2 clicks').first()).toBeVisible()
  const row = page.getByRole('table', { name: 'Amounts spread over clicks' }).getByRole('row', { name: /Billed/ })
  await expect(row).toContainText('Counts')

  const report = `/report?by=sub1&where=${encodeURIComponent(JSON.stringify([['campaign', 'is', id]]))}&columns=cost`
  await page.goto(report)
  await expect(page.getByRole('row', { name: /^a/ })).toContainText('5.00', { timeout: 60_000 })

  await page.goto('/ad-spend')
  await page.getByRole('button', { name: 'Take back $10.00 of Billed' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Take back' }).click()
  await expect(page.getByText('The amount is taken back').first()).toBeVisible()
  await expect(row).toContainText('Taken back by Mara Lindqvist')
  await page.goto(report)
  await expect(page.getByRole('row', { name: /^a/ })).toContainText('—')
})

test('a spend file is imported without its wrong line once the line is left out', async ({ page, owner }) => {
  await send(owner, 'POST', '/api/campaigns', {
    name: 'Filed',
    destination: { type: 'redirect', url: 'https://example.com/' },
  })
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  const csv = `day,campaign,amount\n${yesterday},Filed,12.5\n${yesterday},Nobody,7`
  await page.goto('/ad-spend/import')
  await page.getByLabel('CSV file').setInputFiles({ name: 'spend.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
  await expect(page.getByRole('row', { name: /There is no campaign “Nobody”/ })).toBeVisible()
  await page.getByRole('button', { name: 'Leave out the wrong line' }).click()
  await expect(page.getByText('1 line is left out: 3.')).toBeVisible()
  await page.getByRole('button', { name: 'Include them again' }).click()
  await page.getByRole('button', { name: 'Leave out the wrong line' }).click()
  await page.getByRole('button', { name: 'Import 1 change' }).click()
  await expect(page.getByRole('row', { name: /Filed/ })).toContainText('12.50')
})

test('a spend file in a currency without a rate shows an error, and its columns can still be chosen @detail', async ({
  page,
  owner,
}) => {
  await send(owner, 'POST', '/api/campaigns', {
    name: 'In euros',
    destination: { type: 'redirect', url: 'https://example.com/' },
  })
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  const csv = `Day,Campaign,Zone ID,Cost (CZK),In dollars\n${yesterday},In euros,77,10,11.5`
  await page.goto('/ad-spend/import')
  await page.getByLabel('CSV file').setInputFiles({ name: 'spend.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
  await expect(page.getByRole('row', { name: /No rate of CZK is known/ })).toBeVisible()
  await expect(page.getByLabel('Day', { exact: true })).toHaveText(/Day \(found\)/)
  await expect(page.getByLabel('sub1')).toHaveText(/Zone ID \(found\)/)
  await page.getByLabel('Amount').selectOption('In dollars')
  await page.getByRole('button', { name: 'Import 1 change' }).click()
  await expect(page.getByRole('row', { name: /In euros/ })).toContainText('11.50')
})

test('spend of a campaign that is deleted is shown by its name, in the filter too @detail', async ({ page, owner }) => {
  const { id } = await send(owner, 'POST', '/api/campaigns', { name: 'Closed', key: 'closed', destination })
  const day = new Date().toISOString().slice(0, 10)
  await send(owner, 'PUT', '/api/ad-spend', { campaign_id: id, day, amount: '12.50' })
  await send(owner, 'PUT', `/api/campaigns/${id}/status`, { status: 'archived' })
  await send(owner, 'DELETE', `/api/campaigns/${id}`)
  await page.goto(`/ad-spend?campaign=${id}`)
  const row = page.getByRole('table', { name: 'Ad spend' }).getByRole('row').last()
  await expect(row).toContainText('Closed (deleted)')
  await expect(page.getByRole('combobox', { name: 'Campaign' })).toContainText('Closed (deleted)')
  await expect(page.getByRole('main')).not.toContainText(id)
})

test('a row of spend is deleted once it is confirmed @detail', async ({ page, owner }) => {
  const { id } = await send(owner, 'POST', '/api/campaigns', { name: 'Billed twice', key: 'twice', destination })
  const day = new Date().toISOString().slice(0, 10)
  for (const sub1 of ['a', 'b']) await send(owner, 'PUT', '/api/ad-spend', { campaign_id: id, day, sub1, amount: '8' })
  await page.goto(`/ad-spend?campaign=${id}`)
  const rows = page.getByRole('table', { name: 'Ad spend' }).getByRole('row')
  await expect(rows).toHaveCount(3)
  const gone = rows.filter({ has: page.getByRole('cell', { name: 'a', exact: true }) })
  await gone.getByRole('button', { name: /^Delete the spend of Billed twice on/ }).click()
  const dialog = page.getByRole('alertdialog').or(page.getByRole('dialog'))
  await expect(dialog).toContainText('Delete $8.00?')
  await expect(dialog).toContainText('sub1 a')
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await expect(page.getByText('The spend is deleted').first()).toBeVisible()
  await expect(rows).toHaveCount(2)
  await expect(rows.last()).toContainText('b')
})
