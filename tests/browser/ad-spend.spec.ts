// Ad spend on the screen: an amount of another zone's days, spread over clicks and taken back.
import pg from 'pg'
import { toUuid } from '../../src/contract/ids.ts'
import { seedClicks } from '../support/counted-clicks.ts'
import { expect, send, test } from './dashboard.ts'

const destination = { type: 'redirect', url: 'https://shop.example/?c={click_id}' }
const HOUR_MS = 3_600_000
/** Half past two in the afternoon UTC, some days ago: a midnight in Darwin, all year. */
const MIDNIGHT = Math.floor(Date.now() / (24 * HOUR_MS)) * 24 * HOUR_MS - 57.5 * HOUR_MS

/** What the clocks in Darwin show, hours from that midnight. */
const inDarwin = (hours: number) => new Date(MIDNIGHT + (hours + 9.5) * HOUR_MS).toISOString().slice(0, 16)

test('an amount is spread over the clicks of a window of another zone, counts in the report, and is taken back whole', async ({
  page,
  owner,
  sluice,
}) => {
  const { id } = await send(owner, 'POST', '/api/campaigns', { name: 'Billed', key: 'billed', destination })
  const worker = new pg.Pool({ connectionString: sluice.database })
  const { rows } = await worker.query<{ org_id: number }>('select org_id from organizations')
  const click = { campaign_id: toUuid(id) ?? '', at: MIDNIGHT }
  await seedClicks({ worker }, rows[0]?.org_id ?? 0, [
    { ...click, sub1: 'a' },
    { ...click, sub1: 'b', at: MIDNIGHT + 12 * HOUR_MS },
    { ...click, sub1: 'late', at: MIDNIGHT + 24 * HOUR_MS },
  ])
  await worker.end()

  await page.goto(`/ad-spend?campaign=${id}`)
  await page.getByRole('button', { name: 'Spread an amount' }).click()
  const dialog = page.getByRole('dialog', { name: 'Spread an amount' })
  await expect(dialog.getByLabel('Campaign')).toHaveValue(id)
  await expect(dialog.getByLabel('From')).toHaveValue(/T00:00$/)
  await expect(dialog.getByRole('button', { name: 'See the parts' })).toHaveAccessibleDescription('Say how much.')
  await dialog.getByLabel('Time zone').selectOption('Australia/Darwin')
  await dialog.getByLabel('Amount').fill('10')
  await dialog.getByLabel('From').fill(inDarwin(-24))
  await dialog.getByLabel('Until').fill(inDarwin(0))
  await dialog.getByRole('button', { name: 'See the parts' }).click()
  await expect(dialog.getByRole('alert')).toContainText('There are no tracked clicks in this window')
  await dialog.getByLabel('From').fill(inDarwin(0))
  await dialog.getByLabel('Until').fill(inDarwin(24))
  await dialog.getByRole('button', { name: 'See the parts' }).click()
  await expect(dialog).toContainText('$10.00 over 2 clicks')
  const parts = dialog.getByRole('table', { name: 'What falls to each day' })
  await expect(parts.getByRole('row')).toHaveCount(3)
  await expect(parts.getByRole('row').last()).toContainText('5.00')
  await dialog.getByRole('button', { name: 'Spread it' }).click()
  await expect(page.getByText('The amount is spread over 2 clicks').first()).toBeVisible()
  const row = page
    .getByRole('table', { name: 'Amounts that were spread over clicks' })
    .getByRole('row', { name: /Billed/ })
  await expect(row).toContainText('Counts')

  await page.goto(`/?campaign=${id}&by=sub1`)
  await expect(page.getByRole('row', { name: /^a/ })).toContainText('5.00')
  await expect(page.getByText(/Cost from \(spread\)/)).toBeVisible()

  await page.goto('/ad-spend')
  await page.getByRole('button', { name: 'Take back $10.00 of Billed' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Take back' }).click()
  await expect(page.getByText('The amount is taken back').first()).toBeVisible()
  await expect(row).toContainText('Taken back by Mara Lindqvist')
  await page.goto(`/?campaign=${id}&by=sub1`)
  await expect(page.getByRole('row', { name: /^a/ })).toBeVisible()
  await expect(page.getByText(/spread/)).toHaveCount(0)
})
