// Ad accounts as an owner sees them: connecting one, its events, its state, and the campaign that names it.
import { expect, send, test } from './dashboard.ts'

const TOKEN = 'EAAB-token-that-nobody-shall-see'

test('an account is connected, its token is never seen again, and its events are edited', async ({ page }) => {
  await page.goto('/ad-accounts')
  await page.getByRole('button', { name: 'Connect account' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Connect', exact: true }).click()
  await expect(dialog.getByText('must be the id of a pixel or dataset, digits only')).toBeVisible()
  await dialog.getByLabel('Name').fill('Main pixel')
  await dialog.getByLabel('Access token').fill(TOKEN)
  await dialog.getByLabel('Dataset or pixel id').fill('1234567890')
  await dialog.getByRole('button', { name: 'Connect', exact: true }).click()
  await expect(page.getByRole('heading', { name: 'Main pixel', exact: true })).toBeVisible()
  expect(await page.content()).not.toContain(TOKEN)
  await page.getByLabel('Value of Purchase').fill('30')
  await page.getByLabel('Currency of Purchase').fill('euro')
  await page.getByRole('button', { name: 'Save events' }).click()
  await expect(page.getByLabel('Currency of Purchase')).toHaveAttribute('aria-invalid', 'true')
  await page.getByLabel('Currency of Purchase').fill('EUR')
  await page.getByLabel('Platform’s event of Custom 1').fill('HighRoller')
  await page.getByRole('button', { name: 'Save events' }).click()
  await expect(page.getByText('Main pixel is saved').first()).toBeVisible()
  await page.reload()
  await expect(page.getByLabel('Currency of Purchase')).toHaveValue('EUR')
  await expect(page.getByLabel('Platform’s event of Custom 1')).toHaveValue('HighRoller')
})

test('the events of a Meta account are whole on a laptop, the last column too @detail', async ({ page, owner }) => {
  const { id } = await send(owner, 'POST', '/api/ad-accounts', {
    platform: 'meta',
    name: 'Wide pixel',
    settings: { pixel_id: '1234567890' },
    credentials: { access_token: TOKEN },
  })
  for (const width of [1280, 1440]) {
    await page.setViewportSize({ width, height: 800 })
    await page.goto(`/ad-accounts/${id}`)
    const table = page.getByRole('region', { name: 'Event map' })
    await expect(table).toBeVisible()
    expect(await table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0)
  }
})

test('an account is switched off and on, named by a campaign, and disconnected only when no campaign names it @detail', async ({
  page,
  owner,
}) => {
  await send(owner, 'POST', '/api/ad-accounts', {
    platform: 'tiktok',
    name: 'TikTok EU',
    settings: { pixel_code: 'C4ABCDEF' },
    credentials: { access_token: TOKEN },
  })
  const destination = { type: 'redirect', url: 'https://shop.example/' }
  const campaign = await send(owner, 'POST', '/api/campaigns', { name: 'Autumn', destination })
  await page.goto(`/campaigns/${campaign.id}`)
  await page.getByLabel('Ad account').selectOption({ label: 'TikTok EU (TikTok)' })
  await page.getByRole('button', { name: 'Save campaign' }).click()
  await expect(page.getByText('Autumn is saved').first()).toBeVisible()
  await page.goto('/ad-accounts')
  await page.getByRole('link', { name: 'TikTok EU' }).click()
  await page.getByRole('button', { name: 'Switch off' }).click()
  await page.getByRole('button', { name: 'Switch on' }).click()
  await expect(page.getByRole('button', { name: 'Switch off' })).toBeVisible()
  await page.getByRole('button', { name: 'Disconnect account' }).click()
  const dialog = page.getByRole('dialog').or(page.getByRole('alertdialog'))
  await dialog.getByRole('button', { name: 'Disconnect', exact: true }).click()
  await expect(dialog.getByText('Autumn')).toBeVisible()
  await send(owner, 'PATCH', `/api/campaigns/${campaign.id}`, { ad_account_id: null })
  await dialog.getByRole('button', { name: 'Disconnect', exact: true }).click()
  await expect(page.getByText('TikTok EU is disconnected').first()).toBeVisible()
})
