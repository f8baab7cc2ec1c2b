// Offers on the screen: created on their page or in a campaign's form, the types that earn their payout, and campaigns that use their address.
import { expect, send, test } from './dashboard.ts'

test('a campaign and its offer are created in one form, and the address is typed once', async ({ page, owner }) => {
  await page.goto('/campaigns/new')
  await page.getByLabel('Name', { exact: true }).fill('In one go')
  await page.getByRole('button', { name: 'New offer' }).click()
  const dialog = page.getByRole('dialog', { name: 'New offer' })
  await dialog.getByLabel('Name').fill('Loans')
  await dialog.getByLabel('Address').fill('https://loans.example/?c={click_id}')
  await dialog.getByLabel('Payout, $').fill('7.50')
  await dialog.getByLabel('Pays on').selectOption('FTD')
  await dialog.getByRole('button', { name: 'Add offer' }).click()
  await expect(dialog).toBeHidden()
  // The dialog's form did not submit the campaign's form.
  await expect(page.getByRole('heading', { level: 1, name: 'New campaign' })).toBeVisible()
  await expect(page.getByLabel('Offer')).toHaveValue(/./)
  await expect(page.getByText(/Preview: https:\/\/loans.example/)).toBeVisible()

  await send(owner, 'POST', '/api/offers', { name: 'Cards', url: 'https://cards.example/?c={click_id}' })
  await page.reload()
  await page.getByLabel('Name', { exact: true }).fill('In one go')
  await page.getByRole('button', { name: 'Create campaign' }).click()
  await expect(page.getByLabel('Offer')).toHaveAccessibleDescription(/Choose an offer/)
  await page.getByLabel('Offer').selectOption('Loans ($7.50)')
  await page.getByLabel('Offer').selectOption('Cards')
  await expect(page.getByText(/Preview: https:\/\/cards.example/)).toBeVisible()
  await page.getByLabel('Visitors go to').selectOption('Another URL')
  await expect(page.getByLabel('Redirect to')).toHaveValue('https://cards.example/?c={click_id}')
  await page.getByLabel('Redirect to').fill('https://typed.example/?c={click_id}')
  await page.getByLabel('Offer').selectOption('Loans ($7.50)')
  await expect(page.getByLabel('Redirect to')).toHaveValue('https://typed.example/?c={click_id}')
  await page.getByRole('button', { name: 'Create campaign' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'In one go' })).toBeVisible()
})

test('a campaign follows its offer’s new address, and a campaign with its own address is shown on both pages @detail', async ({
  page,
  owner,
}) => {
  const url = 'https://old-net.example/?c={click_id}'
  const offer = await send(owner, 'POST', '/api/offers', { name: 'Slots by link', url })
  await page.goto('/campaigns/new')
  await page.getByLabel('Name', { exact: true }).fill('Follower')
  await page.getByLabel('Key').fill('follower')
  await page.getByLabel('Offer').selectOption('Slots by link')
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
  const row = page.getByRole('row', { name: /Slots by link/ })
  await expect(row).toContainText('1 + 2 own')
  await row.getByRole('button', { name: 'Slots by link', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit Slots by link' })
  await expect(dialog.getByText('1 campaign uses its address, 2 use their own address.')).toBeVisible()
  await dialog.getByLabel('Address').fill('https://new-net.example/?c={click_id}')
  await dialog.getByRole('button', { name: 'Save offer' }).click()
  await expect(dialog).toBeHidden()
  const hostOf = async (key: string) =>
    new URL((await owner.get(`/c/${key}`, { maxRedirects: 0 })).headers()['location'] ?? '').host
  expect(await hostOf('follower')).toBe('new-net.example')
  expect(await hostOf('copy-one')).toBe('old-net.example')

  await row.getByRole('button', { name: 'Slots by link', exact: true }).click()
  await dialog.getByRole('button', { name: 'Follow the offer: Copy one' }).click()
  await expect(dialog.getByText('2 campaigns use its address, 1 uses its own address.')).toBeVisible()
  expect(await hostOf('copy-one')).toBe('new-net.example')

  await dialog.getByRole('link', { name: 'Copy two' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Copy two' })).toBeVisible()
  await expect(page.getByText('This campaign redirects to its own address.')).toContainText('https://new-net.example/')
  await page.getByRole('button', { name: /^Follow the offer/ }).click()
  await expect(page.getByText('This campaign redirects to its own address.')).toBeHidden()
  await expect(page.getByLabel('Visitors go to')).toHaveValue('offer')
  expect(await hostOf('copy-two')).toBe('new-net.example')
})

test('an offer with a payout needs a choice of the types that earn it, also in a campaign’s form @detail', async ({
  page,
  owner,
}) => {
  for (const place of ['/offers', '/campaigns/new']) {
    await page.goto(place)
    await page.getByRole('button', { name: 'New offer' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'New offer' })
    await expect(dialog.getByLabel('Pays on')).toHaveCount(0)
    const name = `Hybrid of ${place}`
    await dialog.getByLabel('Name').fill(name)
    await dialog.getByLabel('Address').fill('https://hybrid.example/')
    await dialog.getByLabel('Payout, $').fill('18,50')
    await expect(dialog.getByLabel('Pays on')).toHaveValue('')
    await expect(dialog.getByRole('checkbox')).toHaveCount(0)
    await dialog.getByRole('button', { name: 'Add offer' }).click()
    await expect(dialog.getByLabel('Payout, $')).toHaveAccessibleDescription('Write 18.50: a point, not a comma.')
    await dialog.getByLabel('Payout, $').fill('18.50')
    await dialog.getByRole('button', { name: 'Add offer' }).click()
    await expect(dialog.getByLabel('Pays on')).toHaveAccessibleDescription('Choose what the offer pays on.')
    await dialog.getByLabel('Pays on').selectOption('Several types…')
    await expect(dialog.getByRole('checkbox', { checked: true })).toHaveCount(0)
    await dialog.getByRole('button', { name: 'Add offer' }).click()
    await expect(dialog.getByLabel('Pays on')).toHaveAccessibleDescription('Choose what the offer pays on.')
    await dialog.getByLabel('Registration').check()
    await dialog.getByLabel('FTD').check()
    await dialog.getByRole('button', { name: 'Add offer' }).click()
    await expect(dialog).toBeHidden()
    const found = await owner.get(`/api/offers?q=${encodeURIComponent(name)}`)
    const { data } = (await found.json()) as { data: { payout: string; payout_types: string[] }[] }
    expect(data.map(({ payout, payout_types }) => [payout, payout_types])).toEqual([['18.5', ['registration', 'ftd']]])
  }
})

test('every conversion earns the payout only if that is chosen, and a copy keeps the choice @detail', async ({
  page,
  owner,
}) => {
  await page.goto('/offers')
  await page.getByRole('button', { name: 'New offer' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'New offer' })
  await dialog.getByLabel('Name').fill('Each time')
  await dialog.getByLabel('Address').fill('https://each.example/')
  await dialog.getByLabel('Payout, $').fill('2')
  await dialog.getByLabel('Pays on').selectOption('Every conversion, each time')
  await dialog.getByRole('button', { name: 'Add offer' }).click()
  await expect(page.getByRole('row', { name: /^Select Each time/ })).toContainText('Every conversion')
  await page.getByRole('button', { name: 'Actions for Each time', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Clone' }).click()
  await expect(dialog.getByLabel('Pays on')).toHaveValue('every')
  await dialog.getByRole('button', { name: 'Add offer' }).click()
  await expect(page.getByRole('row', { name: /^Select Copy of Each time/ })).toContainText('Every conversion')
  const { data } = (await (await owner.get('/api/offers?q=each')).json()) as { data: { payout_types: string[] }[] }
  expect(data.map(({ payout_types }) => payout_types)).toEqual([[], []])
})
