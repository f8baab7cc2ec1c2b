import { expect, send, test } from './dashboard.ts'
import { seedTraffic } from './traffic.ts'

const BROWSER =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1'

test('an offer and a campaign are created, a click is redirected, a conversion is recorded and a rule sends its postback', async ({
  page,
  sluice,
}) => {
  await page.goto('/offers')
  await page.getByRole('button', { name: 'New offer' }).first().click()
  const offer = page.getByRole('dialog', { name: 'New offer' })
  await offer.getByLabel('Name').fill('Sportsbook')
  await offer.getByLabel('Payout, $').fill('0x10')
  await offer.getByLabel('Address').fill('https://example.com/?subid={click_id}')
  await offer.getByRole('button', { name: 'Add offer' }).click()
  await expect(offer.getByLabel('Payout, $')).toHaveAccessibleDescription(/Must be a number or a decimal string/)
  await offer.getByLabel('Payout, $').fill('12.5')
  await offer.getByLabel('Pays on').selectOption('Lead')
  await offer.getByRole('button', { name: 'Add offer' }).click()
  await expect(page.getByRole('row', { name: /Sportsbook/ })).toContainText('12.50')

  await page.getByRole('link', { name: 'Campaigns' }).click()
  await page.getByRole('link', { name: 'New campaign' }).first().click()
  await page.getByLabel('Name', { exact: true }).fill('Spark FR')
  await page.getByLabel('Key').fill('spark-fr')
  await page.getByLabel('Visitors go to').selectOption('Another URL')
  await page.getByLabel('Redirect to').fill('example.com')
  await page.getByRole('button', { name: 'Create campaign' }).click()
  await expect(page.getByLabel('Redirect to')).toHaveAccessibleDescription(/Must begin with http/)
  await page.getByLabel('Redirect to').fill('https://example.com/?subid={click_id}')
  await page.getByLabel('Offer').selectOption({ label: 'Sportsbook ($12.50)' })
  await page.getByRole('button', { name: 'Create campaign' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Spark FR' })).toBeVisible()
  await expect(page.getByText(`${sluice.address}/c/spark-fr`, { exact: true })).toBeVisible()

  await page.getByRole('link', { name: 'Postbacks' }).click()
  await page.getByRole('button', { name: 'New rule' }).first().click()
  const rule = page.getByRole('dialog', { name: 'New postback rule' })
  await rule.getByLabel('Address').fill('https://example.com/pb?id=')
  await rule.getByRole('button', { name: '{ref_id}' }).click()
  await expect(rule.getByLabel('Address')).toHaveValue('https://example.com/pb?id={ref_id}')
  await rule.getByRole('button', { name: 'Add rule' }).click()
  await expect(page.getByRole('row', { name: /^Select Lead .*\{ref_id\}/ })).toBeVisible()

  const click = await fetch(`${sluice.address}/c/spark-fr?ref_id=r-1`, {
    redirect: 'manual',
    headers: { 'user-agent': BROWSER },
  })
  const id = /subid=(\w+)/.exec(click.headers.get('location') ?? '')?.[1] ?? ''
  await page.getByRole('link', { name: 'Clicks' }).click()
  await expect(page.getByRole('row', { name: new RegExp(id) })).toContainText('Spark FR')

  await page.getByRole('link', { name: 'Conversions' }).click()
  await page.getByRole('button', { name: 'Record' }).click()
  const record = page.getByRole('dialog', { name: 'Record a conversion' })
  await record.getByLabel('Click id').fill('{click_id}')
  await record.getByRole('button', { name: 'Record conversion' }).click()
  await expect(record.getByRole('alert')).toContainText('Click not found')
  await record.getByLabel('Click id').fill(id)
  await record.getByRole('button', { name: 'Record conversion' }).click()
  await expect(page.getByRole('row', { name: new RegExp(id) })).toContainText('12.50')

  await page.getByRole('link', { name: 'Deliveries' }).click()
  await expect(page.getByRole('row', { name: /Spark FR/ }).first()).toContainText('Lead')
})

test('a charge in the ledger links to the click of its conversion @detail', async ({ page, sluice, owner }) => {
  const { id: campaign } = await send(owner, 'POST', '/api/campaigns', {
    name: 'Charged',
    key: 'charged',
    destination: { type: 'redirect', url: 'https://example.com/?subid={click_id}' },
  })
  const click = await fetch(`${sluice.address}/c/charged`, { redirect: 'manual', headers: { 'user-agent': BROWSER } })
  const id = /subid=(\w+)/.exec(click.headers.get('location') ?? '')?.[1] ?? ''
  await send(owner, 'POST', '/api/events', { clickId: id, type: 'registration' })

  await page.goto('/billing')
  await page.getByLabel('Kind of entry').selectOption('Charges')
  const charge = page.getByRole('row', { name: new RegExp(id) })
  await expect(charge).toContainText('Registration')
  await charge.getByRole('link', { name: id }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Click' })).toBeVisible()
  await expect(page.getByText(/^Charged \$/)).toBeVisible()
  await page.getByRole('link', { name: 'Charged', exact: true }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Charged' })).toBeVisible()
  await send(owner, 'PUT', `/api/campaigns/${campaign}/status`, { status: 'archived' })
  await send(owner, 'DELETE', `/api/campaigns/${campaign}`)
})

test('spend is recorded and deleted, and the balance is topped up @detail', async ({ page, owner }) => {
  await owner.post('/api/campaigns', {
    data: { name: 'Spent', destination: { type: 'redirect', url: 'https://example.com/' } },
  })
  await page.goto('/ad-spend')
  await page.getByRole('button', { name: 'Record spend' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Record spend' })
  await dialog.getByLabel('Campaign').selectOption({ label: 'Spent' })
  await dialog.getByLabel('Amount, $').fill('34.5')
  await dialog.getByRole('button', { name: 'Save spend' }).click()
  const row = page.getByRole('row', { name: /Spent/ })
  await expect(row).toContainText('34.50')
  await row.getByRole('button', { name: 'Change the spend of Spent' }).click()
  await dialog.getByLabel('Amount, $').fill('')
  await dialog.getByRole('button', { name: 'Save spend' }).click()
  await expect(row).toHaveCount(0)

  const file = (text: string) => ({ name: 'spend.csv', mimeType: 'text/csv', buffer: Buffer.from(text, 'utf8') })
  await page.getByRole('link', { name: 'Import' }).click()
  await page
    .getByLabel('CSV file')
    .setInputFiles(file('Day;Campaign name;Cost\n01.03.2026;Spent;12,50\n02.03.2026;Spend;1,5'))
  await expect(page.getByRole('row', { name: /^3/ })).toContainText('There is no campaign “Spend”.')
  await expect(page.getByRole('row', { name: /^2/ })).toContainText('12.50')
  await expect(page.getByRole('button', { name: /^Import/ })).toHaveAttribute('aria-disabled', 'true')
  await page
    .getByLabel('CSV file')
    .setInputFiles(file('Day;Campaign name;Cost\n01.03.2026;Spent;12,50\n02.03.2026;Spent;1,5'))
  await expect(page.getByRole('row', { name: /^3/ })).toContainText('New')
  await page.getByRole('button', { name: 'Import 2 changes' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Ad spend' })).toBeVisible()
  await expect(page.getByText('2 rows have changed.')).toBeVisible()

  await page.goto('/billing')
  await page.getByRole('button', { name: 'Top up' }).click()
  const topUp = page.getByRole('dialog', { name: 'Top up' })
  await topUp.getByLabel('Amount, $').fill('25')
  await topUp.getByLabel('Note').fill('First month')
  await topUp.getByRole('button', { name: 'Top up' }).click()
  await expect(page.getByRole('row', { name: /First month/ })).toContainText('$25.00')
  await page.getByRole('button', { name: 'Adjust' }).click()
  const adjust = page.getByRole('dialog', { name: 'Adjust the balance' })
  await adjust.getByLabel('Amount, $').fill('-30')
  await adjust.getByLabel('Reason').fill('Entered twice')
  await adjust.getByRole('button', { name: 'Adjust' }).click()
  await expect(page.getByRole('row', { name: /Entered twice/ })).toContainText('−$30.00')
  await page.getByRole('button', { name: 'Recount' }).click()
  await expect(page.getByText('The books are right.')).toBeVisible()
  await page.getByLabel('Warn below, $').fill('500')
  await page.getByRole('button', { name: 'Save threshold' }).click()
  await expect(page.getByText('The balance is low.')).toBeVisible()
  await page.getByRole('link', { name: 'Offers' }).click()
  await expect(page.getByText('The balance is low.')).toBeVisible()

  // While a person costs nothing, no screen mentions the balance.
  await send(owner, 'PUT', '/api/billing/price-per-person', { price_per_person: '0' })
  await page.goto('/settings/team')
  const navigation = page.getByRole('navigation', { name: 'Main' })
  await expect(navigation.getByRole('link', { name: 'Team' })).toBeVisible()
  await expect(navigation.getByRole('link', { name: 'Billing' })).toHaveCount(0)
  await expect(page.getByText('The balance is low.')).toHaveCount(0)
  await page.goto('/billing')
  await expect(page.getByText('The price per person is 0')).toBeVisible()
  await expect(page.getByText('People charged')).toHaveCount(0)
  await page.getByLabel('Price per person, $').fill('0.05')
  await page.getByRole('button', { name: 'Save price' }).click()
  await expect(navigation.getByRole('link', { name: 'Billing' })).toBeVisible()
})

test('a click, its conversions and their deliveries keep the campaign’s name after the campaign is deleted @detail', async ({
  page,
  owner,
  sluice,
}) => {
  const campaign = await seedTraffic(owner, sluice.address)
  const destination = { type: 'redirect', url: 'https://example.com/' }
  await send(owner, 'POST', '/api/campaigns', { name: 'Still there', destination })
  await send(owner, 'POST', '/api/postbacks', { event_type: 'lead', url: 'https://t.example/?c={click_id}' })
  const { data } = await send(owner, 'GET', `/api/clicks?campaign_id=${campaign}`)
  const clickId = (data as { id: string }[])[0]?.id ?? ''
  await send(owner, 'POST', '/api/events', { clickId, type: 'lead' })
  await send(owner, 'PUT', `/api/campaigns/${campaign}/status`, { status: 'archived' })
  await send(owner, 'DELETE', `/api/campaigns/${campaign}`)
  await page.goto(`/clicks?campaign=${campaign}`)
  const row = page
    .getByRole('table', { name: /clicks$/i })
    .getByRole('row')
    .nth(1)
  await expect(row).toContainText('Broad DE')
  await expect(row).toContainText('(deleted)')
  await expect(row).not.toContainText(campaign)
  for (const path of ['/conversions', `/deliveries?campaign=${campaign}`]) {
    await page.goto(path)
    await expect(page.getByRole('row', { name: /Broad DE/ }).first()).toContainText('(deleted)')
    await expect(page.getByRole('table')).not.toContainText(campaign)
  }
  await page.goto(`/clicks/${clickId}`)
  await expect(page.getByText('Broad DE (deleted)')).toBeVisible()
})
