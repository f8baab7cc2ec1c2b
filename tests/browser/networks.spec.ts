import { expect, test } from './dashboard.ts'

const BROWSER =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1'

test('a network is made, calls, is refused, has its map mended, is run again, and the click’s trace shows all of it', async ({
  page,
  sluice,
}) => {
  await page.goto('/campaigns/new')
  await page.getByLabel('Name', { exact: true }).fill('Network test')
  await page.getByLabel('Key').fill('network-test')
  await page.getByLabel('Visitors go to').selectOption('Another address')
  await page.getByLabel('Redirect to').fill('https://example.com/?subid={click_id}')
  await page.getByRole('button', { name: 'Create campaign' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Network test' })).toBeVisible()
  const click = await fetch(`${sluice.address}/c/network-test`, {
    redirect: 'manual',
    headers: { 'user-agent': BROWSER },
  })
  const id = /subid=(\w+)/.exec(click.headers.get('location') ?? '')?.[1] ?? ''

  await page.getByRole('link', { name: 'Networks' }).click()
  await page.getByRole('button', { name: 'New network' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'New network' })
  await dialog.getByLabel('Name').fill('Great Offers')
  await dialog.getByLabel('Style').selectOption('affise')
  await dialog.getByRole('button', { name: 'Add network' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Great Offers' })).toBeVisible()
  const address = (await page.getByText(/\/postback\/\w{32}\?/).textContent()) ?? ''
  expect(address).toContain(`${sluice.address}/postback/`)

  const call = (query: string) => fetch(`${address.split('?')[0]}?clickid=${id}&${query}`).then(reply => reply.text())
  expect(await call('sum=40&txid=1&goal=jackpot')).toMatch(/^Not recorded/)
  expect(await call('sum=15&txid=2&status=1&goal=dep')).toBe('OK\n')

  const ftd = page.getByLabel('FTD', { exact: true }).first()
  if ((await ftd.count()) === 0) await page.getByLabel('Add an event type').selectOption('FTD')
  await page.getByLabel('Ignored', { exact: true }).fill('trash, Jackpot')
  await ftd.fill('Jackpot')
  await expect(page.getByLabel('Ignored', { exact: true })).toHaveAccessibleDescription(
    /jackpot stands for FTD already/i,
  )
  await page.getByLabel('Ignored', { exact: true }).fill('trash')
  await page.getByLabel('IP addresses and ranges').fill('127.0.0.1\n::1')
  await page.getByRole('button', { name: 'Save network' }).click()
  await expect(page.getByText('The network is saved').first()).toBeVisible()

  await page.getByRole('link', { name: 'Refused', exact: true }).click()
  const row = page.getByRole('row', { name: /jackpot/ })
  await expect(row).toContainText('Status without meaning')
  await row.getByRole('button', { name: /^Details/ }).click()
  const details = page.getByRole('dialog', { name: 'Status without meaning' })
  await details.getByRole('button', { name: 'Run again' }).click()
  await expect(details.getByText('Run again and recorded.')).toBeVisible()
  await details.getByRole('button', { name: 'Close', exact: true }).last().click()
  await expect(page.getByRole('row', { name: /jackpot/ })).toContainText('Recorded')

  await page.getByRole('link', { name: 'Clicks', exact: true }).click()
  await page.getByLabel('Trace a click id').fill(` ${id.toUpperCase()} `)
  await page.getByLabel('Trace a click id').press('Enter')
  await expect(page.getByRole('heading', { level: 1, name: 'Click' })).toBeVisible()
  await expect(page.getByText('Refused, later recorded: Status without meaning.')).toBeVisible()
  await expect(page.getByText('FTD by the network Great Offers as “jackpot”')).toBeVisible()
  await expect(page.getByText('Deposit by the network Great Offers as “dep”')).toBeVisible()
  await expect(page.getByText('Sent by the network Great Offers.')).toBeVisible()
  await expect(page.getByText('$55.00')).toBeVisible()
  await expect(page.getByText(/^Charged \$0\.05$/)).toHaveCount(1)
})
