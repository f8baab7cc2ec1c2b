// A funnel with two landings is a split test: its page shows the figures, switches its automatic weights, ends the test and lets it go on.
import { expect, send, test } from './dashboard.ts'

test('the page of a split test shows its variants, and keeps the winner for new visitors @detail', async ({
  page,
  owner,
  sluice,
}) => {
  const made = async (path: string, body: object) => await send(owner, 'POST', path, body)
  const one = await made('/api/landings', { name: 'Long story', url: 'https://long.example/' })
  const two = await made('/api/landings', { name: 'Short story', url: 'https://short.example/' })
  const offer = await made('/api/offers', { name: 'Told', url: 'https://offer.example/' })
  const shares = [one, two].map(({ id }) => ({ landing_id: id, weight: 50 }))
  const funnel = await made('/api/funnels', {
    name: 'Stories',
    landings: shares,
    offers: [{ offer_id: offer.id, weight: 1 }],
  })
  const destination = { type: 'funnel', funnel_id: funnel.id }
  const { key } = await made('/api/campaigns', { name: 'Told stories', destination })
  const visit = async () =>
    (
      await fetch(`${sluice.address}/c/${String(key)}`, {
        redirect: 'manual',
        headers: { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/130.0.0.0 Safari/537.36' },
      })
    ).headers.get('location') ?? ''
  for (let at = 0; at < 8; at += 1) await visit()
  await page.goto('/funnels?q=Stories')
  await page.getByRole('button', { name: 'Actions for Stories' }).click()
  await page.getByRole('menuitem', { name: 'Split tests' }).click()
  const table = page.getByRole('table', { name: 'Variants of landings' })
  await expect(table.getByRole('row', { name: /^Long story 50/ })).toBeVisible()
  await expect(page.getByText('100 conversions of each variant')).toBeVisible()
  const automatic = page.getByRole('switch', { name: 'Automatic weights of landings' })
  await expect(automatic).not.toBeChecked()
  await automatic.click()
  await expect(automatic).toBeChecked()
  await expect(page.getByText('Waits for 50 conversions of matured visitors.')).toBeVisible()
  await automatic.click()
  await expect(automatic).not.toBeChecked()
  await table.getByRole('button', { name: 'Keep Short story' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'End and keep it' }).click()
  await expect(page.getByText('New visitors get Short story.')).toBeVisible()
  await expect
    .poll(async () =>
      [await visit(), await visit(), await visit(), await visit()].every(to => to.includes('short.example')),
    )
    .toBe(true)
  await expect(automatic).toHaveAccessibleDescription('The test was ended. Go on with it first.')
  await page.getByRole('button', { name: 'Go on with the test' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Go on', exact: true }).click()
  await expect(table.getByRole('button', { name: 'Keep Long story' })).toBeVisible()
})
