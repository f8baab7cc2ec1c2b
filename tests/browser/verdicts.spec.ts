import { expect, send, test } from './dashboard.ts'
import { only } from './explored.ts'

const BROWSER =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1'

test('a conversion is rejected with a reason, found by its status, approved again with the others, and the report and the trace show it', async ({
  page,
  sluice,
  owner,
}) => {
  const destination = { type: 'redirect', url: 'https://example.com/?subid={click_id}' }
  const { id: judged, key } = await send(owner, 'POST', '/api/campaigns', { name: 'Judged', destination })
  const visit = await fetch(`${sluice.address}/c/${String(key)}`, {
    redirect: 'manual',
    headers: { 'user-agent': BROWSER },
  })
  const clickId = /subid=(\w+)/.exec(visit.headers.get('location') ?? '')?.[1] ?? ''
  for (const nonce of ['V-1', 'V-2'])
    await send(owner, 'POST', '/api/events', { clickId, type: 'deposit', payout: '50', nonce })

  await page.goto(`/conversions?q=${clickId}`)
  const row = page.getByRole('row', { name: /V-1/ })
  await row.getByRole('button', { name: /^Details of the/ }).click()
  const dialog = page.getByRole('dialog', { name: 'Deposit' })
  await expect(dialog.getByText('No status changes')).toBeVisible()
  await expect(dialog.getByLabel('New status')).toHaveValue('rejected')
  await dialog.getByLabel('Reason').fill('fraud')
  await dialog.getByRole('button', { name: 'Save status' }).click()
  await expect(page.getByText('Now rejected').first()).toBeVisible()
  await expect(row).toContainText('Rejected')

  await page.getByLabel('Status').selectOption('Rejected')
  await expect(page.getByRole('row', { name: /V-2/ })).toHaveCount(0)
  await row.getByRole('button', { name: /^Details of the/ }).click()
  await expect(dialog.getByRole('listitem')).toContainText(/Rejected by .+: fraud/)
  await dialog.getByRole('button', { name: 'Cancel' }).click()

  await page.getByRole('button', { name: 'Approve or reject' }).click()
  const bulk = page.getByRole('dialog', { name: 'Approve or reject many' })
  await bulk.getByLabel('New status of the filtered conversions').selectOption('On hold')
  await bulk.getByRole('button', { name: 'Preview' }).click()
  await expect(bulk.getByText('1 would change')).toBeVisible()
  await bulk.getByRole('button', { name: 'Change 1' }).click()
  await expect(page.getByText('1 changed').first()).toBeVisible()
  await page.getByLabel('Status').selectOption('On hold')
  await expect(row).toContainText('On hold')

  await page.goto(`/clicks/${clickId}`)
  await expect(page.getByText(/Rejected by .+: fraud/)).toBeVisible()
  await expect(page.getByText('$50.00').last()).toBeVisible()
  await page.goto(`/report?columns=revenue,conversions_pending&${only(judged)}`)
  const line = page.getByRole('row', { name: /Judged/ }).first()
  await expect(line).toContainText('50.00', { timeout: 60_000 })
  await expect(page.getByRole('columnheader', { name: 'Pending' })).toBeVisible()
})
