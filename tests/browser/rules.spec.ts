// A rule is written as a sentence, tried on past days, saved and checked; its log puts an act back, and asks above the stop line.
import { toUuid } from '../../src/contract/ids.ts'
import { seedUnsealed } from '../support/explored.ts'
import { expect, inDatabase, send, test } from './dashboard.ts'

const HOUR_MS = 3_600_000

test('a rule is tried, saved and checked, and what it did is put back', async ({ page, owner, sluice }) => {
  const offer = await send(owner, 'POST', '/api/offers', { name: 'Loans', url: 'https://o.example/', payout: '5' })
  const destination = { type: 'offer', offer_id: offer.id }
  const campaign = await send(owner, 'POST', '/api/campaigns', { name: 'Leaking', destination })
  const at = Date.now() - 5 * HOUR_MS
  const clicks = ['zone-1', 'zone-2'].flatMap(sub1 =>
    Array.from({ length: 30 }, (_, place) => ({
      at: at + place,
      campaign: toUuid(campaign.id) ?? '',
      offer: toUuid(offer.id) ?? '',
      sub1,
      cost: sub1 === 'zone-1' ? '1' : '0.1',
      cost_counts: true,
    })),
  )
  await inDatabase(sluice, (worker, org_id) => seedUnsealed({ worker }, org_id, clicks))

  await page.goto('/automation/rules')
  await page.getByRole('button', { name: 'New rule' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'New rule' })
  await dialog.getByLabel('Name', { exact: true }).fill('Dear zones')
  await dialog.getByRole('checkbox', { name: 'Leaking' }).check()
  await dialog.getByLabel('Figure 1').selectOption('payouts')
  await dialog.getByLabel('Comparison 1').selectOption('above')
  await dialog.getByLabel('Value 1').fill('3')
  await dialog.getByLabel('At least clicks').fill('20')
  await dialog.getByLabel('Without the newest').fill('0')
  await dialog.getByLabel('Ask first above, % of clicks').fill('100')
  await dialog.getByRole('button', { name: 'Try it' }).click()
  await expect(dialog.getByRole('status')).toContainText('2 acts: it would have saved $0.00')
  await dialog.getByRole('button', { name: 'Add rule' }).click()

  await expect(page.getByRole('heading', { name: 'Dear zones', exact: true, level: 1 })).toBeVisible()
  await expect(page.getByText('When a sub1 has Cost > 3 payouts in the last 3 days')).toBeVisible()
  await page.getByRole('button', { name: 'Check now' }).click()
  const log = page.getByRole('table', { name: 'Checks' })
  const row = log.getByRole('row', { name: /Acted sub1 zone-1 of Leaking Left out 30/ })
  await expect(row).toBeVisible()
  await row.getByRole('button', { name: 'Put back the act on zone-1' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Put it back' }).click()
  await expect(page.getByText('It is put back')).toBeVisible()
  const { data } = await send(owner, 'GET', `/api/campaigns/${campaign.id}/left-out`)
  expect(data).toEqual([])

  await page.getByRole('button', { name: 'Edit' }).click()
  const edit = page.getByRole('dialog', { name: 'Edit rule' })
  await edit.getByLabel('Value 1').fill('0.1')
  await edit.getByLabel('Coming back').selectOption('days')
  await edit.getByRole('button', { name: 'Save rule' }).click()
  await expect(page.getByText('After 7 days 5.00% of its visitors are let in.')).toBeVisible()
  await page.goto('/automation/rules')
  await expect(page.getByRole('row', { name: /^Dear zones/ })).toContainText('Watching')
})
