// The palette by keyboard alone: pages, acts and objects, ids pasted in any form; and CSV files of filtered logs.
import { readFile } from 'node:fs/promises'
import { expect, send, test } from './dashboard.ts'

const destination = { type: 'redirect', url: 'https://example.com/?c={click_id}' }

async function visit(address: string, key: string): Promise<string> {
  const reply = await fetch(`${address}/c/${key}`, {
    redirect: 'manual',
    headers: { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/130.0.0.0 Safari/537.36' },
  })
  return /c=(\w+)/.exec(reply.headers.get('location') ?? '')?.[1] ?? ''
}

test('a conversion is found by its transaction id from any page, with the keyboard alone', async ({
  page,
  sluice,
  owner,
}) => {
  await send(owner, 'POST', '/api/campaigns', { name: 'Found by key', key: 'found', destination })
  const clickId = await visit(sluice.address, 'found')
  await send(owner, 'POST', '/api/events', { clickId, type: 'lead', nonce: 'order-4711', payout: '3' })
  await page.goto('/settings/team')
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await page.keyboard.press('Control+k')
  const palette = page.getByRole('dialog', { name: 'Find' })
  const field = palette.getByRole('combobox')
  await expect(field).toBeFocused()
  await page.keyboard.type(' "order-4711" ')
  const option = palette.getByRole('option', { name: /order-4711.*by transaction id/ })
  await expect(option).toBeVisible()
  // Announced to screen readers.
  await expect(palette.getByRole('status')).toHaveText('1 result')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/conversions\?q=/)
  await expect(palette).toBeHidden()
  await expect(page.getByRole('row', { name: /order-4711/ })).toBeVisible()

  await page.keyboard.press('/')
  await expect(field).toBeFocused()
  await page.keyboard.type(clickId.toUpperCase())
  await expect(palette.getByRole('option', { name: /Found by key.*Click, by id/ })).toBeVisible()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1, name: 'Click' })).toBeVisible()

  await page.keyboard.press('Control+k')
  await expect(field).toBeFocused()
  await page.keyboard.type('nothing has this name')
  await expect(palette.getByRole('status')).toHaveText('Nothing found')
  await page.keyboard.press('Escape')
  await expect(palette).toBeHidden()
})

test('a campaign is paused and archived from the palette, g and a letter open pages, and ? lists the keys @detail', async ({
  page,
  owner,
}) => {
  const { id } = await send(owner, 'POST', '/api/campaigns', { name: 'Autumn zone 7', destination })
  await page.goto('/')
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await page.keyboard.press('g')
  await page.keyboard.press('c')
  await expect(page).toHaveURL(/\/campaigns/)
  await page.keyboard.press('Control+k')
  const palette = page.getByRole('dialog', { name: 'Find' })
  await expect(palette.getByRole('combobox')).toBeFocused()
  await page.keyboard.type('pau')
  await expect(palette.getByRole('option', { name: 'Pause a campaign…' })).toBeVisible()
  await page.keyboard.press('Enter')
  await expect(palette.getByRole('combobox')).toHaveValue('pause ')
  await page.keyboard.type('zone 7')
  await expect(palette.getByRole('option', { name: 'Pause Autumn zone 7' })).toBeVisible()
  await page.keyboard.press('Enter')
  const read = async () => (await send(owner, 'GET', `/api/campaigns/${id}`))['status']
  await expect.poll(read).toBe('paused')

  await page.keyboard.press('Control+k')
  await expect(palette.getByRole('combobox')).toBeFocused()
  await page.keyboard.type('archive autumn zone')
  await expect(palette.getByRole('option', { name: 'Archive Autumn zone 7' })).toBeVisible()
  await page.keyboard.press('Enter')
  const asked = page.getByRole('dialog', { name: 'Archive Autumn zone 7?' })
  await expect(asked).toBeVisible()
  expect(await read()).toBe('paused')
  await page.keyboard.press('Escape')
  await expect(asked).toBeHidden()

  await page.keyboard.press('?')
  const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await expect(keys.getByText('g c', { exact: true })).toBeVisible()
  // Keys belong to the dialog while one is open.
  await page.keyboard.press('g')
  await page.keyboard.press('o')
  await page.keyboard.press('Escape')
  await expect(keys).toBeHidden()
  await expect(page).toHaveURL(/\/campaigns/)
  await page.getByRole('searchbox', { name: 'Search' }).focus()
  await page.keyboard.type('g o/?')
  await expect(page.getByRole('searchbox', { name: 'Search' })).toHaveValue('g o/?')
})

test('the CSV of a log has exactly the filtered rows @detail', async ({ page, sluice, owner }) => {
  await send(owner, 'POST', '/api/campaigns', { name: 'Shelved', key: 'shelved', destination })
  const clickId = await visit(sluice.address, 'shelved')
  for (const [type, payout] of [
    ['lead', '3'],
    ['deposit', '40'],
    ['ftd', '41.5'],
  ])
    await send(owner, 'POST', '/api/events', { clickId, type, payout, nonce: `shelved-${type}` })
  await page.goto(`/conversions?q=${clickId}`)
  await expect(page.getByRole('row', { name: /shelved-lead/ })).toBeVisible()
  await page.getByRole('button', { name: 'More filters' }).click()
  await page.getByLabel('Payout in $, from').fill('40')
  await page.getByLabel('Payout in $, from').press('Enter')
  await expect(page.getByRole('row', { name: /shelved-lead/ })).toBeHidden()
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save as CSV' }).click(),
  ])
  expect(file.suggestedFilename()).toBe('conversions.csv')
  const lines = (await readFile(await file.path(), 'utf8')).trimEnd().split('\r\n')
  expect(lines.length).toBe(3)
  expect(lines[0]).toMatch(/^id,created_at,click_id/)
  expect(lines[1]).toContain('shelved-ftd')
  expect(lines[2]).toContain('shelved-deposit')
  await expect(page.getByRole('button', { name: 'Save as CSV' })).toBeVisible()

  await page.goto(`/clicks?q=shelved-ftd`)
  await expect(page.getByRole('row', { name: new RegExp(clickId) })).toBeVisible()
  await page.getByLabel('Conversion', { exact: true }).selectOption('Registration')
  await expect(page.getByText('No clicks here')).toBeVisible()

  await page.goto('/campaigns?q=shelved')
  await expect(page.getByRole('row', { name: /Shelved/ })).toBeVisible()
  const [campaigns] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save as CSV' }).click(),
  ])
  const listed = (await readFile(await campaigns.path(), 'utf8')).trimEnd().split('\r\n')
  expect([listed.length, listed[1]?.includes('Shelved')]).toEqual([2, true])
})
