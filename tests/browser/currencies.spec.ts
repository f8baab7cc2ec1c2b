import { expect, send, test } from './dashboard.ts'

const BROWSER =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1'

// The reporting currency belongs to the workspace, which all tests of a worker share.
test.afterEach(async ({ owner }) => {
  await send(owner, 'PUT', '/api/reporting-currency', { currency: null })
})

test('a postback in euros is refused without a rate, booked at an own rate, and shown with the sent amount @detail', async ({
  page,
  sluice,
  owner,
}) => {
  const destination = { type: 'redirect', url: 'https://example.com/?subid={click_id}' }
  await send(owner, 'POST', '/api/campaigns', { name: 'Euro', key: 'euro', destination })
  const click = await fetch(`${sluice.address}/c/euro`, { redirect: 'manual', headers: { 'user-agent': BROWSER } })
  const id = /subid=(\w+)/.exec(click.headers.get('location') ?? '')?.[1] ?? ''
  const network = await send(owner, 'POST', '/api/networks', { name: 'Euro Offers', template: 'plain' })
  await page.goto(`/networks/${network.id}`)
  await page.getByLabel('If the postback names no currency').selectOption('Another currency')
  await expect(page.getByLabel('Code')).toHaveValue('EUR')
  await expect(page.getByLabel('Convert other currencies')).toBeChecked()
  await page.getByRole('button', { name: 'Save network' }).click()
  await expect(page.getByText('The network is saved').first()).toBeVisible()
  const address = (await page.getByText(/\/postback\/\w{32}\?/).textContent()) ?? ''
  const call = (query: string) =>
    fetch(`${address.split('?')[0]}?click_id=${id}&status=approved&${query}`).then(reply => reply.text())
  expect(await call('payout=10&txid=1')).toMatch(/^Not recorded: rate_unknown/)

  await page.getByText('Settings', { exact: true }).click()
  await page.getByRole('link', { name: 'Rates', exact: true }).click()
  await expect(page.getByText('Automatic rates are off')).toBeVisible()
  await page.getByRole('button', { name: 'Set own rate' }).click()
  const dialog = page.getByRole('dialog', { name: 'Set own rate' })
  await dialog.getByLabel('Currency').fill('eur')
  await dialog.getByLabel('USD per unit').fill('1,1')
  await dialog.getByRole('button', { name: 'Save rate' }).click()
  await expect(dialog.getByText(/Must be a decimal above zero/)).toBeVisible()
  await dialog.getByLabel('USD per unit').fill('1.1')
  await dialog.getByLabel('Note').fill('as agreed')
  await dialog.getByRole('button', { name: 'Save rate' }).click()
  await expect(page.getByRole('table', { name: 'Rates of the day' }).getByRole('row', { name: /EUR/ })).toContainText(
    '1.1',
  )
  await expect(page.getByRole('table', { name: 'Own rates' }).getByRole('row', { name: /EUR/ })).toContainText(
    'as agreed',
  )

  await page.getByRole('link', { name: 'Refused', exact: true }).click()
  await page
    .getByRole('row', { name: /No rate/ })
    .getByRole('button', { name: /^Details/ })
    .click()
  const details = page.getByRole('dialog', { name: 'No rate' })
  await details.getByRole('button', { name: 'Run again' }).click()
  await expect(details.getByText('Run again and recorded.')).toBeVisible()
  await page.goto('/conversions')
  const row = page.getByRole('row', { name: new RegExp(id) })
  await expect(row).toContainText('11.00')
  await expect(row.getByTitle(/^Own rate, /)).toHaveText('10.00 EUR at 1.1')
  await page.goto(`/clicks/${id}`)
  await expect(page.getByText('10.00 EUR at 1.1')).toBeVisible()

  // A smaller amount in euros is converted at the rate the conversion was booked at.
  await send(owner, 'PUT', '/api/rates/EUR', { from_day: '2026-01-01', usd_per_unit: '1.3', note: null })
  await page.goto('/conversions')
  await row.getByRole('button').first().click()
  const event = page.getByRole('dialog')
  await event.getByLabel('New status').selectOption('approved')
  await expect(event.getByLabel('Currency')).toHaveValue('EUR')
  await event.getByLabel('Amount').fill('4')
  await event.getByRole('button', { name: 'Save status' }).click()
  await expect(row).toContainText('4.40')
  await row.getByRole('button').first().click()
  await expect(event.getByText('4.00 EUR at 1.1')).toBeVisible()
})

test('an offer and spend may be in another currency, and an imported file shows each line in dollars @detail', async ({
  page,
  owner,
}) => {
  await send(owner, 'PUT', '/api/rates/GBP', { from_day: '2026-01-01', usd_per_unit: '1.25', note: null })
  const destination = { type: 'redirect', url: 'https://example.com/' }
  await send(owner, 'POST', '/api/campaigns', { name: 'Sterling', key: 'sterling', destination })
  await page.goto('/offers')
  await page.getByRole('button', { name: 'New offer' }).first().click()
  const offer = page.getByRole('dialog', { name: 'New offer' })
  await offer.getByLabel('Name').fill('London')
  await offer.getByLabel('Currency', { exact: true }).fill('gbp')
  await offer.getByLabel('Payout, GBP').fill('8')
  await offer.getByLabel('Address').fill('https://example.com/?c={click_id}')
  await offer.getByLabel('Pays on').selectOption('Lead')
  await offer.getByRole('button', { name: 'Add offer' }).click()
  await expect(page.getByRole('row', { name: /London/ })).toContainText('8.00 GBP')
  // Saving it again keeps the currency and the payout.
  await page.getByRole('button', { name: 'London', exact: true }).click()
  const again = page.getByRole('dialog', { name: 'Edit London' })
  await expect(again.getByLabel('Currency', { exact: true })).toHaveValue('GBP')
  await again.getByLabel('Name').fill('London two')
  await again.getByRole('button', { name: 'Save offer' }).click()
  await expect(page.getByRole('row', { name: /London two/ })).toContainText('8.00 GBP')

  await page.goto('/ad-spend')
  await page.getByRole('button', { name: 'Record spend' }).first().click()
  const spend = page.getByRole('dialog', { name: 'Record spend' })
  await spend.getByLabel('Campaign').selectOption('Sterling')
  await spend.getByLabel('Currency', { exact: true }).fill('GBP')
  await spend.getByLabel('Amount, GBP').fill('4')
  await spend.getByRole('button', { name: 'Save spend' }).click()
  await expect(page.getByRole('row', { name: /Sterling/ })).toContainText('5.004.00 GBP at 1.25')

  await page.goto('/ad-spend/import')
  const csv = 'day,campaign,amount\n2026-02-01,Sterling,10\n'
  await page.getByLabel('CSV file').setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
  await expect(page.getByRole('row', { name: /2026-02-01/ })).toContainText('10.00')
  await page.getByLabel('Default currency').fill('gbp')
  await page.getByLabel('Default currency').press('Enter')
  await expect(page.getByRole('row', { name: /2026-02-01/ })).toContainText('12.5010.00 GBP at 1.25')
})

test('the overview is in the workspace’s currency, and says which rates it uses and which amounts stay in dollars @detail', async ({
  page,
  sluice,
  owner,
}) => {
  const destination = { type: 'redirect', url: 'https://example.com/?subid={click_id}' }
  const campaign = await send(owner, 'POST', '/api/campaigns', { name: 'Report', key: 'report', destination })
  const click = await fetch(`${sluice.address}/c/report`, { redirect: 'manual', headers: { 'user-agent': BROWSER } })
  const id = /subid=(\w+)/.exec(click.headers.get('location') ?? '')?.[1] ?? ''
  await send(owner, 'POST', '/api/events', { clickId: id, type: 'deposit', payout: '11' })
  await page.goto('/settings/workspace')
  const currency = page.getByRole('combobox', { name: 'Reporting currency' })
  await expect(currency).toHaveValue('USD')
  await currency.fill('inr')
  await page.getByRole('button', { name: 'Save currency' }).click()
  await expect(page.getByText('Daily amounts are now shown in INR').first()).toBeVisible()

  // Without a rate the report stays in dollars and says why.
  await page.goto(`/?campaign=${campaign.id}`)
  const figures = page.getByRole('group', { name: /^Figures of these days/ })
  await expect(page.getByText(/^Shown in USD: No rate of INR is known for/)).toBeVisible()
  await expect(figures.getByRole('button', { name: /^Revenue/ })).toContainText('$11.00')
  await send(owner, 'PUT', '/api/rates/INR', { from_day: '2026-01-01', usd_per_unit: '0.011', note: null })
  await page.goto(`/?campaign=${campaign.id}`)
  await expect(figures.getByRole('button', { name: /^Revenue/ })).toContainText('₹1,000.00')
  await expect(page.getByText(/are shown in INR at each UTC day’s rate/)).toBeVisible()
})
