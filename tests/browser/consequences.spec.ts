// Warnings about side effects appear where the change is made: campaigns whose visitors go to the fallback, and values that may be mistakes.
import { expect, send, test } from './dashboard.ts'

const fallback_url = 'https://back.example/'

test('after archiving an offer, a message names the campaigns whose visitors go to the fallback', async ({
  page,
  owner,
}) => {
  const offer = await send(owner, 'POST', '/api/offers', { name: 'Leaving offer', url: 'https://o.example/' })
  const destination = { type: 'offer', offer_id: offer.id }
  await send(owner, 'POST', '/api/campaigns', { name: 'Strayed campaign', destination, fallback_url })
  await page.goto('/offers?q=Leaving')
  await page.getByRole('button', { name: 'Actions for Leaving offer' }).click()
  await page.getByRole('menuitem', { name: 'Archive', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click()
  await expect(
    page.getByText('Visitors of these campaigns now go to the fallback: Strayed campaign.').first(),
  ).toBeVisible()
})

test('publishing a flow warns about campaigns without a fallback, and publishing it unchanged makes it active again @detail', async ({
  page,
  owner,
}) => {
  const graph = {
    nodes: [
      { id: 'in', type: 'entry' },
      { id: 'ask', type: 'condition', field: 'geo', values: ['UK'] },
      { id: 'a', type: 'redirect', url: 'https://a.example/' },
      { id: 'b', type: 'redirect', url: 'https://b.example/' },
    ],
    edges: [
      { from: 'in', to: 'ask' },
      { from: 'ask', to: 'a', branch: 'yes' },
      { from: 'ask', to: 'b', branch: 'no' },
    ],
  }
  const flow = await send(owner, 'POST', '/api/click-flows', { name: 'Open flow', graph })
  const destination = { type: 'click_flow', click_flow_id: flow.id }
  await send(owner, 'POST', '/api/campaigns', { name: 'Bare campaign', destination })
  await page.goto(`/click-flows/${flow.id}`)
  await page.getByRole('button', { name: 'Publish' }).click()
  const dialog = page.getByRole('dialog', { name: 'Publish Open flow?' })
  await expect(dialog).toContainText('The draft becomes version 1')
  await dialog.getByRole('button', { name: 'Publish' }).click()
  const warning = page
    .getByText(/Did you mean GB \(United Kingdom\)\? .*Campaigns without a fallback: Bare campaign\./)
    .first()
  await expect(warning).toBeVisible()
  await send(owner, 'PUT', `/api/click-flows/${flow.id}/status`, { status: 'paused' })
  await page.reload()
  await page.getByRole('button', { name: 'Publish' }).click()
  await expect(dialog).toContainText('Version 1 takes traffic again.')
})

test('spend for a day in the future is recorded with a warning @detail', async ({ page, owner }) => {
  const destination = { type: 'redirect', url: 'https://o.example/' }
  await send(owner, 'POST', '/api/campaigns', { name: 'Spent ahead', destination })
  await page.goto('/ad-spend')
  await page.getByRole('button', { name: 'Record spend' }).click()
  const dialog = page.getByRole('dialog', { name: 'Record spend' })
  await dialog.getByLabel('Campaign').selectOption('Spent ahead')
  await dialog.getByLabel(/^Day/).fill(`${new Date().getUTCFullYear() + 1}-11-22`)
  await dialog.getByLabel(/^Amount/).fill('5')
  await dialog.getByRole('button', { name: 'Save spend' }).click()
  await expect(page.getByText(/-11-22 is a day in the future \(UTC\)/).first()).toBeVisible()
})
