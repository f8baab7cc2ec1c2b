// Caps and open hours on the screen: a cap is added, reached and opened again; the half hours of a week are painted.
import { expect, send, test } from './dashboard.ts'

const BROWSER = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/130.0.0.0 Safari/537.36' }
type Created = { id: string; key: string }

test('an offer is capped, sends visitors to the next offer once the cap is reached, and is opened again @detail', async ({
  page,
  owner,
}) => {
  const offer = async (name: string, payout_types: string[]) =>
    (await send(owner, 'POST', '/api/offers', {
      name,
      url: `https://${name}.example/?c={click_id}`,
      payout: '5',
      payout_types,
    })) as Created
  await offer('second', [])
  const first = await offer('first', ['ftd'])
  const { key } = (await send(owner, 'POST', '/api/campaigns', {
    name: 'Spring',
    destination: { type: 'offer', offer_id: first.id },
  })) as Created
  const visit = async () =>
    new URL((await owner.get(`/c/${key}`, { maxRedirects: 0, headers: BROWSER })).headers()['location'] ?? '')

  await page.goto('/offers')
  await page.getByRole('button', { name: 'first', exact: true }).click()
  await page.getByRole('button', { name: 'Add a cap' }).click()
  const dialog = page.getByRole('dialog', { name: 'New cap on first' })
  await expect(dialog.getByLabel('Which')).toHaveValue('ftd')
  await dialog.getByRole('button', { name: 'Add cap' }).click()
  await expect(dialog).toContainText('Enter a whole number, 1 or more.')
  await dialog.getByLabel('Limit').fill('2')
  await dialog.getByLabel('Time zone').selectOption('America/Sao_Paulo')
  await dialog.getByLabel('Then visitors go to').selectOption({ label: 'second' })
  await dialog.getByRole('button', { name: 'Add cap' }).click()
  const line = page.getByRole('list', { name: 'Caps' }).getByRole('listitem')
  await expect(line).toContainText('2 conversions a day (FTD)')
  await expect(line).toContainText(
    /0 of 2 used\. Resets .* 0[23]:00 UTC, midnight in America\/Sao Paulo\. Then to second\./,
  )

  for (let n = 0; n < 3; n += 1)
    await send(owner, 'POST', '/api/events', {
      clickId: (await visit()).searchParams.get('c'),
      type: 'ftd',
      nonce: String(n),
    })
  await expect.poll(async () => (await visit()).host).toBe('second.example')
  await page.goto('/offers')
  const row = page.getByRole('row', { name: /^Select first/ })
  await expect(row).toContainText('Cap reached')
  await page.getByRole('button', { name: 'first', exact: true }).click()
  await expect(line).toContainText('Reached')
  await line.getByRole('button', { name: 'Open again' }).click()
  await expect(line).toContainText(/opened again just now by/)
  await expect.poll(async () => (await visit()).host).toBe('first.example')

  await line.getByRole('button', { name: /^Actions for/ }).click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  const edit = page.getByRole('dialog', { name: 'Cap on first' })
  await edit.getByLabel('Limit').fill('1')
  await edit.getByRole('button', { name: 'Save cap' }).click()
  await expect(line).toContainText('1 conversions a day (FTD)')
  await expect(line).toContainText('Reached')
})

test('the open hours of a campaign are set by pointer and by keyboard @detail', async ({ page, owner }) => {
  const { id } = (await send(owner, 'POST', '/api/campaigns', {
    name: 'Hours',
    destination: { type: 'redirect', url: 'https://shop.example/?c={click_id}' },
  })) as Created
  await page.goto(`/campaigns/${id}`)
  await expect(page.getByText('Open at all hours.')).toBeVisible()
  await page.getByRole('button', { name: 'Open hours' }).click()
  const dialog = page.getByRole('dialog', { name: 'Open hours of Hours' })
  await dialog.getByLabel('Time zone').selectOption('Europe/Berlin')
  await dialog.getByRole('button', { name: 'Clear' }).click()
  await expect(dialog.getByRole('button', { name: 'Save hours' })).toHaveAttribute('aria-disabled', 'true')
  const cell = (name: string) => dialog.getByRole('button', { name, exact: true })
  const to = await cell('Tue 11:30').boundingBox()
  await cell('Tue 09:00').hover()
  await page.mouse.down()
  await page.mouse.move((to?.x ?? 0) + 3, (to?.y ?? 0) + 5, { steps: 30 })
  await page.mouse.up()
  await cell('Wed 22:00').click()
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press(' ')
  await dialog.getByRole('button', { name: 'Save hours' }).click()
  await expect(page.getByText('Open Tue 09:00–12:00, Wed 22:00–23:00, in Europe/Berlin.')).toBeVisible()
  await page.getByRole('button', { name: 'Open hours' }).click()
  await dialog.getByRole('button', { name: 'Always' }).click()
  await dialog.getByRole('button', { name: 'Save hours' }).click()
  await expect(page.getByText('Open at all hours.')).toBeVisible()
})
