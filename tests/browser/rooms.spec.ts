import { expect, send, test } from './dashboard.ts'

const BROWSER =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1'

test('an offer and a campaign are made, a click comes through, a conversion is recorded and a rule answers it', async ({
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
  await offer.getByLabel('Earned by').selectOption('Lead')
  await offer.getByRole('button', { name: 'Add offer' }).click()
  await expect(page.getByRole('row', { name: /Sportsbook/ })).toContainText('12.50')

  await page.getByRole('link', { name: 'Campaigns' }).click()
  await page.getByRole('link', { name: 'New campaign' }).first().click()
  await page.getByLabel('Name', { exact: true }).fill('Spark FR')
  await page.getByLabel('Key').fill('spark-fr')
  await page.getByLabel('Visitors go to').selectOption('Another address')
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
  await expect(page.getByRole('row', { name: /^Lead .*\{ref_id\}/ })).toBeVisible()

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

test('a charge in the ledger leads to the click whose conversion it was for', async ({ page, sluice, owner }) => {
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

test('a campaign and its offer are made in one form, and the address is typed once', async ({ page, owner }) => {
  await page.goto('/campaigns/new')
  await page.getByLabel('Name', { exact: true }).fill('In one go')
  await page.getByRole('button', { name: 'New offer' }).click()
  const dialog = page.getByRole('dialog', { name: 'New offer' })
  await dialog.getByLabel('Name').fill('Loans')
  await dialog.getByLabel('Address').fill('https://loans.example/?c={click_id}')
  await dialog.getByLabel('Payout, $').fill('7.50')
  await dialog.getByLabel('Earned by').selectOption('FTD')
  await dialog.getByRole('button', { name: 'Add offer' }).click()
  await expect(dialog).toBeHidden()
  // The form of the dialog has submitted itself only.
  await expect(page.getByRole('heading', { level: 1, name: 'New campaign' })).toBeVisible()
  await expect(page.getByLabel('Offer')).toHaveValue(/./)
  await expect(page.getByText(/A visitor is sent to https:\/\/loans.example/)).toBeVisible()

  await send(owner, 'POST', '/api/offers', { name: 'Cards', url: 'https://cards.example/?c={click_id}' })
  await page.reload()
  await page.getByLabel('Name', { exact: true }).fill('In one go')
  await page.getByRole('button', { name: 'Create campaign' }).click()
  await expect(page.getByLabel('Offer')).toHaveAccessibleDescription(/Choose an offer/)
  await page.getByLabel('Offer').selectOption('Loans ($7.50)')
  await page.getByLabel('Offer').selectOption('Cards')
  await expect(page.getByText(/A visitor is sent to https:\/\/cards.example/)).toBeVisible()
  await page.getByLabel('Visitors go to').selectOption('Another address')
  await expect(page.getByLabel('Redirect to')).toHaveValue('https://cards.example/?c={click_id}')
  await page.getByLabel('Redirect to').fill('https://typed.example/?c={click_id}')
  await page.getByLabel('Offer').selectOption('Loans ($7.50)')
  await expect(page.getByLabel('Redirect to')).toHaveValue('https://typed.example/?c={click_id}')
  await page.getByRole('button', { name: 'Create campaign' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'In one go' })).toBeVisible()
})

test('a campaign follows its offer’s new address, and one with an address of its own says so on both pages', async ({
  page,
  owner,
}) => {
  const url = 'https://old-net.example/?c={click_id}'
  const offer = await send(owner, 'POST', '/api/offers', { name: 'Slots', url })
  await page.goto('/campaigns/new')
  await page.getByLabel('Name', { exact: true }).fill('Follower')
  await page.getByLabel('Key').fill('follower')
  await page.getByLabel('Offer').selectOption('Slots')
  await page.getByRole('button', { name: 'Create campaign' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Follower' })).toBeVisible()
  for (const name of ['Copy one', 'Copy two'])
    await send(owner, 'POST', '/api/campaigns', {
      name,
      key: name.toLowerCase().replace(' ', '-'),
      destination: { type: 'redirect', url },
      offer_id: offer.id,
    })

  await page.goto('/offers')
  const row = page.getByRole('row', { name: /Slots/ })
  await expect(row).toContainText('1 + 2 own')
  await row.getByRole('button', { name: 'Slots', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit Slots' })
  await expect(dialog.getByText('1 campaign follows its address, 2 keep addresses of their own.')).toBeVisible()
  await dialog.getByLabel('Address').fill('https://new-net.example/?c={click_id}')
  await dialog.getByRole('button', { name: 'Save offer' }).click()
  await expect(dialog).toBeHidden()
  const hostOf = async (key: string) =>
    new URL((await owner.get(`/c/${key}`, { maxRedirects: 0 })).headers()['location'] ?? '').host
  expect(await hostOf('follower')).toBe('new-net.example')
  expect(await hostOf('copy-one')).toBe('old-net.example')

  await row.getByRole('button', { name: 'Slots', exact: true }).click()
  await dialog.getByRole('button', { name: 'Follow the offer: Copy one' }).click()
  await expect(dialog.getByText('2 campaigns follow its address, 1 keeps an address of its own.')).toBeVisible()
  expect(await hostOf('copy-one')).toBe('new-net.example')

  await dialog.getByRole('link', { name: 'Copy two' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Copy two' })).toBeVisible()
  await expect(page.getByText('It keeps an address of its own.')).toContainText('https://new-net.example/')
  await page.getByRole('button', { name: /^Follow the offer/ }).click()
  await expect(page.getByText('It keeps an address of its own.')).toBeHidden()
  await expect(page.getByLabel('Visitors go to')).toHaveValue('offer')
  expect(await hostOf('copy-two')).toBe('new-net.example')
})

test('whoever makes an offer with a payout says what earns it: nothing is chosen for him, in the form of a campaign either', async ({
  page,
  owner,
}) => {
  for (const place of ['/offers', '/campaigns/new']) {
    await page.goto(place)
    await page.getByRole('button', { name: 'New offer' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'New offer' })
    await expect(dialog.getByLabel('Earned by')).toHaveCount(0)
    const name = `Hybrid of ${place}`
    await dialog.getByLabel('Name').fill(name)
    await dialog.getByLabel('Address').fill('https://hybrid.example/')
    await dialog.getByLabel('Payout, $').fill('18,50')
    await expect(dialog.getByLabel('Earned by')).toHaveValue('')
    await expect(dialog.getByRole('checkbox')).toHaveCount(0)
    await dialog.getByRole('button', { name: 'Add offer' }).click()
    await expect(dialog.getByLabel('Payout, $')).toHaveAccessibleDescription('Write 18.50: a point, not a comma.')
    await dialog.getByLabel('Payout, $').fill('18.50')
    await dialog.getByRole('button', { name: 'Add offer' }).click()
    await expect(dialog.getByLabel('Earned by')).toHaveAccessibleDescription('Choose what the payout is for.')
    await dialog.getByLabel('Earned by').selectOption('Several types…')
    await expect(dialog.getByRole('checkbox', { checked: true })).toHaveCount(0)
    await dialog.getByRole('button', { name: 'Add offer' }).click()
    await expect(dialog.getByLabel('Earned by')).toHaveAccessibleDescription('Choose what the payout is for.')
    await dialog.getByLabel('Registration').check()
    await dialog.getByLabel('FTD').check()
    await dialog.getByRole('button', { name: 'Add offer' }).click()
    await expect(dialog).toBeHidden()
    const found = await owner.get(`/api/offers?q=${encodeURIComponent(name)}`)
    const { data } = (await found.json()) as { data: { payout: string; payout_types: string[] }[] }
    expect(data.map(({ payout, payout_types }) => [payout, payout_types])).toEqual([['18.5', ['registration', 'ftd']]])
  }
})

test('every conversion earns only where that is said, and a copy keeps it', async ({ page, owner }) => {
  await page.goto('/offers')
  await page.getByRole('button', { name: 'New offer' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'New offer' })
  await dialog.getByLabel('Name').fill('Each time')
  await dialog.getByLabel('Address').fill('https://each.example/')
  await dialog.getByLabel('Payout, $').fill('2')
  await dialog.getByLabel('Earned by').selectOption('Every conversion, each time')
  await dialog.getByRole('button', { name: 'Add offer' }).click()
  await expect(page.getByRole('row', { name: /^Each time/ })).toContainText('Every conversion')
  await page.getByRole('button', { name: 'Actions for Each time', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Clone' }).click()
  await expect(dialog.getByLabel('Earned by')).toHaveValue('every')
  await dialog.getByRole('button', { name: 'Add offer' }).click()
  await expect(page.getByRole('row', { name: /^Copy of Each time/ })).toContainText('Every conversion')
  const { data } = (await (await owner.get('/api/offers?q=each')).json()) as { data: { payout_types: string[] }[] }
  expect(data.map(({ payout_types }) => payout_types)).toEqual([[], []])
})

test('spend is recorded and deleted, and the balance is topped up', async ({ page, owner }) => {
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
  await row.getByRole('button').click()
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
  await page.getByRole('button', { name: 'Count again' }).click()
  await expect(page.getByText('The books hold.')).toBeVisible()
  await page.getByLabel('Warn below, $').fill('500')
  await page.getByRole('button', { name: 'Save threshold' }).click()
  await expect(page.getByText('The balance is low.')).toBeVisible()
  await page.getByRole('link', { name: 'Offers' }).click()
  await expect(page.getByText('The balance is low.')).toBeVisible()
})

test('a file of spend with a wrong line goes in without it, once that is said', async ({ page, owner }) => {
  await send(owner, 'POST', '/api/campaigns', {
    name: 'Filed',
    destination: { type: 'redirect', url: 'https://example.com/' },
  })
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  const csv = `day,campaign,amount\n${yesterday},Filed,12.5\n${yesterday},Nobody,7`
  await page.goto('/ad-spend/import')
  await page.getByLabel('CSV file').setInputFiles({ name: 'spend.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
  await expect(page.getByRole('row', { name: /There is no campaign “Nobody”/ })).toBeVisible()
  await page.getByRole('button', { name: 'Leave out the wrong line' }).click()
  await expect(page.getByText('1 line is left out: 3.')).toBeVisible()
  await page.getByRole('button', { name: 'Take them back in' }).click()
  await page.getByRole('button', { name: 'Leave out the wrong line' }).click()
  await page.getByRole('button', { name: 'Import 1 change' }).click()
  await expect(page.getByRole('row', { name: /Filed/ })).toContainText('12.50')
})

test('a file of spend in a currency without a rate says so, and keeps the columns to choose from', async ({
  page,
  owner,
}) => {
  await send(owner, 'POST', '/api/campaigns', {
    name: 'In euros',
    destination: { type: 'redirect', url: 'https://example.com/' },
  })
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  const csv = `Day,Campaign,Zone ID,Cost (CZK),In dollars\n${yesterday},In euros,77,10,11.5`
  await page.goto('/ad-spend/import')
  await page.getByLabel('CSV file').setInputFiles({ name: 'spend.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
  await expect(page.getByRole('row', { name: /No rate of CZK is known/ })).toBeVisible()
  await expect(page.getByLabel('Day', { exact: true })).toHaveText(/Day \(found\)/)
  await expect(page.getByLabel('sub1')).toHaveText(/Zone ID \(found\)/)
  await page.getByLabel('Amount').selectOption('In dollars')
  await page.getByRole('button', { name: 'Import 1 change' }).click()
  await expect(page.getByRole('row', { name: /In euros/ })).toContainText('11.50')
})
