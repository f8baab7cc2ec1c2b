// Postbacks beyond the rule itself: a test, a run over past conversions, a resend.
import { readFile } from 'node:fs/promises'
import { expect, test } from './dashboard.ts'

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36'

test('a rule is tested, run over past conversions, and its delivery is sent again @detail', async ({
  page,
  owner,
  sluice,
}) => {
  const destination = { type: 'redirect', url: 'https://example.com/?subid={click_id}' }
  const made = await owner.post('/api/campaigns', { data: { name: 'Replayed', destination } })
  const { id: campaign_id, key } = (await made.json()) as { id: string; key: string }
  const visit = await fetch(`${sluice.address}/c/${key}?sub1=spring`, {
    redirect: 'manual',
    headers: { 'user-agent': BROWSER },
  })
  const clickId = /subid=(\w+)/.exec(visit.headers.get('location') ?? '')?.[1] ?? ''
  await owner.post('/api/events', { data: { clickId, type: 'registration' } })
  // The host name does not resolve, so the test calls nothing outside the machine.
  const url = 'https://tracker.invalid/p?c={click_id}&s={sub1}'
  // Only for this campaign, because other tests record registrations too.
  const rule = { event_type: 'registration', url, campaign_id, once_per_person: true }
  await owner.post('/api/postbacks', { data: rule })

  await page.goto('/postbacks')
  const row = page.getByRole('row', { name: /^Select Registration/ })
  await expect(row).toContainText('first conversion per person only')
  await row.getByLabel('Select Registration').check()
  const chosen = page.getByRole('toolbar', { name: 'Selected rows' })
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    chosen.getByRole('button', { name: 'Export' }).click(),
  ])
  expect(await readFile(await file.path(), 'utf8')).toContain(',registration,')
  await chosen.getByRole('button', { name: 'Pause' }).click()
  const pause = page.getByRole('dialog', { name: 'Pause: rules' })
  await pause.getByRole('button', { name: 'Pause (1)' }).click()
  await pause.getByRole('button', { name: 'Put it back' }).click()
  await expect(row).toContainText('Active')
  await row.getByRole('button', { name: /^Actions/ }).click()
  await page.getByRole('menuitem', { name: 'Test postback' }).click()
  const fire = page.getByRole('dialog', { name: 'Test postback' })
  await fire.getByRole('button', { name: 'Send test' }).click()
  await expect(fire.getByText(`GET https://tracker.invalid/p?c=${clickId}&s=spring`)).toBeVisible()
  await expect(fire.getByText('No answer')).toBeVisible()
  await fire.getByRole('button', { name: 'Close' }).first().click()

  await row.getByRole('button', { name: /^Actions/ }).click()
  await page.getByRole('menuitem', { name: 'Run over past' }).click()
  const run = page.getByRole('dialog', { name: 'Run over past conversions' })
  await run.getByRole('button', { name: 'Preview' }).click()
  await expect(run.getByText(`GET https://tracker.invalid/p?c=${clickId}&s=spring`)).toBeVisible()
  await run.getByRole('button', { name: 'Send 1' }).click()
  await expect(run).toBeHidden()

  await page.getByRole('link', { name: 'Deliveries' }).click()
  const delivery = page.getByRole('row', { name: /Replayed/ })
  await expect(delivery).toContainText('Registration')
  await delivery.getByRole('button', { name: /^Attempts/ }).click()
  const attempts = page.getByRole('dialog', { name: 'Attempts' })
  await expect(attempts.getByRole('button', { name: 'Send again' })).toHaveClass(/bg-accent/)
  await expect(attempts.getByRole('button', { name: 'Close' }).last()).not.toHaveClass(/bg-accent/)
  await expect(attempts.getByRole('link', { name: clickId })).toHaveAttribute('href', `/clicks/${clickId}`)
  await attempts.getByRole('button', { name: 'Close' }).first().click()

  await page.getByLabel('Kind of failure').selectOption('blocked')
  await expect(page.getByText('No deliveries here')).toBeVisible()
  await page.getByRole('button', { name: 'Send again…' }).click()
  const again = page.getByRole('dialog', { name: 'Send failed deliveries again' })
  await again.getByRole('button', { name: 'Preview' }).click()
  await expect(again.getByText('0 failed deliveries.')).toBeVisible()
  await expect(again.getByRole('button', { name: 'Send 0' })).toHaveAttribute('aria-disabled', 'true')
})

test('an unknown macro is named below the address, and {payout} can be replaced by {revenue} @detail', async ({
  page,
}) => {
  await page.goto('/postbacks')
  await page.getByRole('button', { name: 'New rule' }).first().click()
  const form = page.getByRole('dialog')
  const address = form.getByLabel('Address', { exact: true })
  await address.fill('https://tracker.example/?p={payout}&c={{Payout}}&z={zone}')
  await expect(form.getByText('{payout} is not a macro and is left out.')).toBeVisible()
  await expect(form.getByText('{zone} is not a Sluice macro and is left out.')).toBeVisible()
  await expect(form.getByText('https://tracker.example/?p=&c=&z=')).toBeVisible()
  await form.getByRole('button', { name: 'Use {revenue}' }).click()
  await expect(address).toHaveValue('https://tracker.example/?p={revenue}&c={revenue}&z={zone}')
  await expect(form.getByText('{payout} is not a macro')).toBeHidden()
  await expect(form.getByText('https://tracker.example/?p=40&c=40&z=')).toBeVisible()
  await address.fill('https://tracker.example/?p=')
  await form.getByRole('button', { name: '{revenue}', exact: true }).click()
  await form.getByRole('button', { name: '{txid}', exact: true }).click()
  await expect(address).toHaveValue('https://tracker.example/?p={revenue}{txid}')
})

test('offers, landings, campaigns and flows also name unknown macros @detail', async ({ page, owner }) => {
  const url = 'https://example.com/?c={click_id}&p={payout}&z={zone}'
  const words = '{payout}, {zone} are not macros and will be left blank.'
  for (const [path, button] of [
    ['/offers', 'New offer'],
    ['/landings', 'New landing'],
  ] as const) {
    await page.goto(path)
    await page.getByRole('button', { name: button }).first().click()
    await page.getByRole('dialog').getByLabel('Address').first().fill(url)
    await expect(page.getByRole('dialog').getByText(words)).toBeVisible()
  }
  await page.goto('/campaigns/new')
  await page.getByLabel('Visitors go to').selectOption('redirect')
  await page.getByLabel('Redirect to').fill(url)
  await expect(page.getByText(words)).toBeVisible()
  await page.getByLabel('Fallback').fill('https://example.com/?q={quality}')
  await expect(page.getByText('{quality} is not a macro and will be left blank.')).toBeVisible()
  const graph = {
    nodes: [
      { id: 'entry', type: 'entry', label: 'Every visitor' },
      { id: 'one', type: 'redirect', label: 'Page one', url },
    ],
    edges: [{ from: 'entry', to: 'one' }],
  }
  const { id } = (await (await owner.post('/api/click-flows', { data: { name: 'Macros', graph } })).json()) as {
    id: string
  }
  await page.goto(`/click-flows/${id}`)
  await page.getByLabel('View', { exact: true }).selectOption('list')
  await page.getByRole('table', { name: 'Nodes' }).getByRole('button', { name: 'Page one' }).click()
  await expect(page.getByText(words)).toBeVisible()
})
