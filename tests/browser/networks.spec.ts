import { expect, send, test } from './dashboard.ts'

const BROWSER =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1'

test('a network is created, its postback is refused, runs again after its statuses are corrected, and the click’s trace shows all of it', async ({
  page,
  sluice,
}) => {
  await page.goto('/campaigns/new')
  await page.getByLabel('Name', { exact: true }).fill('Network test')
  await page.getByLabel('Key').fill('network-test')
  await page.getByLabel('Visitors go to').selectOption('Another URL')
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
  await expect(dialog.getByLabel('Currency')).toHaveValue('')
  await dialog.getByRole('button', { name: 'Add network' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Great Offers' })).toBeVisible()
  const address = (await page.getByText(/\/postback\/\w{32}\?/).textContent()) ?? ''
  expect(address).toContain(`${sluice.address}/postback/`)

  const call = (query: string) => fetch(`${address.split('?')[0]}?clickid=${id}&${query}`).then(reply => reply.text())
  expect(await call('sum=40&txid=1&goal=jackpot')).toMatch(/^Not recorded/)
  expect(await call('sum=15&txid=2&status=1&goal=dep')).toBe('OK\n')

  const ftd = page.getByLabel('FTD', { exact: true }).first()
  if ((await ftd.count()) === 0) await page.getByLabel('Add a status mapping').selectOption('FTD')
  await page.getByLabel('Ignored', { exact: true }).fill('trash, Jackpot')
  await ftd.fill('Jackpot')
  await expect(page.getByLabel('Ignored', { exact: true })).toHaveAccessibleDescription(/jackpot already means FTD/i)
  await page.getByLabel('Ignored', { exact: true }).fill('trash')
  await page.getByLabel('Allowed IPs').fill('127.0.0.1\n::1')
  await page.getByRole('button', { name: 'Save network' }).click()
  await expect(page.getByText('The network is saved').first()).toBeVisible()

  await page.getByRole('link', { name: 'Refused', exact: true }).click()
  await page.getByLabel('Search').fill(id)
  await expect(page).toHaveURL(new RegExp(`q=${id}`))
  await page.getByRole('button', { name: 'Run all again' }).click()
  const all = page.getByRole('dialog', { name: 'Run these again' })
  await expect(all.getByText('1 refused conversion.')).toBeVisible()
  await expect(all.getByRole('listitem')).toContainText(`FTD, $40.00${id}`)
  await expect(all.getByRole('button', { name: 'Run 1 again' })).toBeVisible()
  await all.getByRole('button', { name: 'Cancel' }).click()
  const row = page.getByRole('row', { name: /jackpot/ })
  await expect(row).toContainText('Unknown status')
  await row.getByRole('button', { name: /^Details/ }).click()
  const details = page.getByRole('dialog', { name: 'Unknown status' })
  await details.getByRole('button', { name: 'Run again' }).click()
  await expect(details.getByText('Run again and recorded.')).toBeVisible()
  await details.getByRole('button', { name: 'Close', exact: true }).last().click()
  await expect(page.getByRole('row', { name: /jackpot/ })).toContainText('Recorded')

  await page.getByRole('link', { name: 'Clicks', exact: true }).click()
  await page.getByLabel('Click, source click or transaction id').fill(` ${id.toUpperCase()} `)
  await page
    .getByRole('row', { name: new RegExp(id) })
    .getByRole('link', { name: id })
    .click()
  await expect(page.getByRole('heading', { level: 1, name: 'Click' })).toBeVisible()
  await expect(page.getByText('Refused, later recorded: Unknown status.')).toBeVisible()
  await expect(page.getByText('FTD by the network Great Offers as “jackpot”')).toBeVisible()
  await expect(page.getByText('Deposit by the network Great Offers as “dep”')).toBeVisible()
  await expect(page.getByText('Sent by the network Great Offers.')).toBeVisible()
  await expect(page.getByText('$55.00')).toBeVisible()
  await expect(page.getByText(/^Charged \$0\.05$/)).toHaveCount(1)
})

test('a later postback with another payout is under Refused with both values, and conversions are found by transaction id @detail', async ({
  page,
  sluice,
  owner,
}) => {
  const destination = { type: 'redirect', url: 'https://example.com/?subid={click_id}' }
  const { key } = await send(owner, 'POST', '/api/campaigns', { name: 'Differing', destination })
  const visit = await fetch(`${sluice.address}/c/${String(key)}?ref_id=src-77`, {
    redirect: 'manual',
    headers: { 'user-agent': BROWSER },
  })
  const id = /subid=(\w+)/.exec(visit.headers.get('location') ?? '')?.[1] ?? ''
  const network = await send(owner, 'POST', '/api/networks', { name: 'Corrects', template: 'keitaro' })
  const statuses = { approved: 'purchase', chargeback: null }
  await send(owner, 'PATCH', `/api/networks/${String(network['id'])}`, { statuses })
  const address = String(network['postback_url']).split('?')[0]
  for (const payout of ['20', '25', '25'])
    expect(
      await fetch(`${address}?subid=${id}&status=approved&tid=TX-77&payout=${payout}`).then(reply => reply.text()),
    ).toBe('OK\n')

  await fetch(`${address}?subid=${id}&status=chargeback&tid=TX-77&payout=20`)
  await page.goto('/refused-events?diagnosis=differs_from_recorded')
  const rows = page.getByRole('row', { name: new RegExp(id) })
  await expect(rows).toHaveCount(2)
  const taken = rows.filter({ hasText: 'chargeback' })
  await taken.getByRole('button', { name: /^Details/ }).click()
  const back = page.getByRole('dialog', { name: 'Differs from what was recorded' })
  await expect(back.getByRole('row', { name: 'Payout $20.00 $20.00' })).toBeVisible()
  await expect(back.getByRole('row', { name: 'Status approved chargeback' })).toBeVisible()
  await back.getByRole('button', { name: 'Close', exact: true }).last().click()
  const row = rows.filter({ hasNotText: 'chargeback' })
  await row.getByRole('button', { name: /^Details/ }).click()
  const details = page.getByRole('dialog', { name: 'Differs from what was recorded' })
  await expect(details.getByRole('row', { name: 'Payout $20.00 $25.00' })).toBeVisible()
  await expect(details.getByText(/record the rest by hand/)).toBeVisible()
  await expect(details.getByRole('button', { name: 'Run again' })).toHaveAttribute('aria-disabled', 'true')
  await details.getByRole('button', { name: 'Close', exact: true }).last().click()
  await page.goto(`/clicks/${id}`)
  await expect(page.getByText('Later postback: Differs from what was recorded.')).toHaveCount(2)
  await expect(page.getByText('The payout is 25, recorded is 20.')).toBeVisible()
  await expect(
    page.getByText('A payout of 20 is recorded; the status is chargeback, recorded is approved.'),
  ).toBeVisible()

  await page.goto('/conversions')
  const search = page.getByLabel('Click id, transaction id or source click id')
  for (const sought of ['TX-77', 'src-77', id.toUpperCase()]) {
    await search.fill(sought)
    await expect(page).toHaveURL(new RegExp(`q=${sought}`))
    await expect(page.getByRole('row', { name: /TX-77/ })).toHaveCount(1)
  }
  await search.fill('TX-78')
  await expect(page.getByText('No conversion has this id')).toBeVisible()
  await page.getByRole('button', { name: 'Show all' }).click()
  await expect(page.getByRole('row', { name: /TX-77/ })).toBeVisible()
})

test('a network is created with the currency euro, and its page shows it @detail', async ({ page }) => {
  await page.goto('/networks')
  await page.getByRole('button', { name: 'New network' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'New network' })
  await dialog.getByLabel('Name').fill('Euro Offers')
  await dialog.getByLabel('Currency').fill('eur')
  await dialog.getByRole('button', { name: 'Add network' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Euro Offers' })).toBeVisible()
  await expect(page.getByLabel('If the postback names no currency')).toHaveValue('other')
  await expect(page.getByLabel('Code')).toHaveValue('EUR')
  await expect(page.getByLabel('Convert other currencies')).toBeChecked()
})
