// Campaigns on the screen: their state, the list on a phone, unsaved changes, traffic sources, cost models.
import { expect, send, test } from './dashboard.ts'

const url = 'https://shop.example/?c={click_id}'
const destination = { type: 'redirect', url }

test('a campaign is paused by the switch in its row, archived, and deleted from the archive only', async ({
  page,
  owner,
}) => {
  const { id } = await send(owner, 'POST', '/api/campaigns', { name: 'Stopped', key: 'stopped', destination })
  const visit = () => owner.get('/c/stopped', { maxRedirects: 0, headers: { 'user-agent': 'curl/8' } })
  await page.goto('/campaigns')
  const row = page.getByRole('row', { name: /Stopped/ })
  const stateSwitch = row.getByRole('switch', { name: 'Stopped takes traffic' })
  await expect(stateSwitch).toBeChecked()
  await stateSwitch.click()
  await expect(page.getByText('Stopped is paused').first()).toBeVisible()
  await expect(stateSwitch).not.toBeChecked()
  expect((await visit()).status()).toBe(200)

  await row.getByRole('button', { name: 'Actions for Stopped' }).click()
  await expect(page.getByRole('menuitem', { name: /Delete/ })).toContainText('Archive it first.')
  await page.getByRole('menuitem', { name: 'Archive', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: /^(Archive|Delete) Stopped/ })
  await expect(dialog).toContainText('It has no fallback, so visitors see a page that says the offer is closed.')
  await dialog.getByRole('button', { name: 'Archive' }).click()
  await expect(row).toBeHidden()

  await page.goto(`/campaigns/${id}`)
  await expect(page.getByText(/Clicks while paused: 1, the last/)).toBeVisible()
  await expect(page.getByRole('switch')).toHaveAttribute('aria-disabled', 'true')
  await expect(page.getByRole('switch')).toHaveAccessibleDescription(/It is archived/)

  await page.goto('/campaigns')
  await page.getByLabel('State').selectOption('Archived')
  await row.getByRole('button', { name: 'Actions for Stopped' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await expect(dialog).toContainText('its link answers 404')
  await dialog.getByRole('button', { name: 'Delete campaign' }).click()
  await expect(page.getByText('Stopped is deleted').first()).toBeVisible()
  expect((await visit()).status()).toBe(404)
})

test('the list of campaigns has a line of totals, and a phone shows profit, ROI and the switch first', async ({
  page,
  owner,
}) => {
  const day = new Date().toISOString().slice(0, 10)
  for (const name of ['Sum one', 'Sum two']) {
    const { id } = await send(owner, 'POST', '/api/campaigns', { name, destination })
    await send(owner, 'PUT', '/api/ad-spend', { campaign_id: id, day, amount: '10.25' })
  }
  await page.goto('/campaigns?q=sum')
  await expect(page.getByRole('row', { name: /^Total/ })).toContainText('20.50')
  await expect(page.getByRole('row', { name: /^Total/ })).toContainText('−20.50')
  await expect(page.getByRole('columnheader', { name: 'EPC' })).toBeVisible()
  await page.setViewportSize({ width: 390, height: 844 })
  const heads = page.getByRole('table', { name: 'Campaigns' }).getByRole('columnheader')
  await expect(heads.nth(1)).toHaveText('Profit')
  await expect(heads.nth(2)).toHaveText('ROI')
  await expect(page.getByRole('switch', { name: 'Sum one takes traffic' })).toBeInViewport({ ratio: 1 })
})

test('leaving a form with unsaved changes asks first, and leaving after saving does not @detail', async ({
  page,
  owner,
}) => {
  const { id } = await send(owner, 'POST', '/api/campaigns', { name: 'Kept', destination })
  const network = await send(owner, 'POST', '/api/networks', { name: 'Kept too', template: 'affise' })
  const { id: account } = await send(owner, 'POST', '/api/ad-accounts', {
    platform: 'tiktok',
    name: 'Kept as well',
    settings: { pixel_code: 'C4A1B2C3D4E5F6G7H8I9' },
    credentials: { access_token: 'a'.repeat(40) },
  })
  const questions: string[] = []
  page.on('dialog', dialog => {
    questions.push(dialog.message())
    void dialog.dismiss()
  })
  for (const [path, action, question] of [
    [`/campaigns/${id}`, 'Save campaign', 'Leave without saving the campaign?'],
    [`/networks/${network.id}`, 'Save network', 'Leave without saving the network?'],
    [`/ad-accounts/${account}`, 'Save connection', 'Leave without saving the connection?'],
  ] as const) {
    await page.goto(path)
    const name = page.getByLabel('Name', { exact: true })
    // Focusing a field is not a change.
    await name.focus()
    await name.blur()
    await page.getByRole('link', { name: 'Offers' }).click()
    await expect(page).toHaveURL(/offers$/)
    await page.goto(path)
    await name.fill('Renamed')
    await page.getByRole('link', { name: 'Offers' }).click()
    await expect.poll(() => questions.splice(0)).toEqual([question])
    await expect(page).toHaveURL(new RegExp(`${path}$`))
    await expect(name).toHaveValue('Renamed')
    await page.getByRole('button', { name: action }).click()
    await expect(page.getByText(/is saved$/).first()).toBeVisible()
    await page.getByRole('link', { name: 'Offers' }).click()
    await expect(page).toHaveURL(/offers$/)
    expect(questions).toEqual([])
  }
  await page.goto('/campaigns/new')
  await page.getByLabel('Name', { exact: true }).fill('New and kept')
  await page.getByRole('link', { name: 'Offers' }).click()
  await expect.poll(() => questions.splice(0)).toEqual(['Leave without saving the campaign?'])
  await page.getByLabel('Visitors go to').selectOption('Another URL')
  await page.getByLabel('Redirect to').fill(url)
  await page.getByRole('button', { name: 'Create campaign' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'New and kept' })).toBeVisible()
  expect(questions).toEqual([])
})

test('the traffic source is saved, fills the campaign link, and replaces a template @detail', async ({
  page,
  owner,
}) => {
  await send(owner, 'POST', '/api/traffic-sources', { name: 'Push zones', template: 'propellerads' })
  const { id } = await send(owner, 'POST', '/api/campaigns', {
    name: 'Sourced',
    key: 'sourced',
    destination,
    source: { sub3: 'cmp', template: 'meta' },
  })
  const address = page.getByRole('figure').filter({ hasText: 'Campaign link' })
  const save = async () => {
    await page.getByRole('button', { name: 'Save campaign' }).click()
    await expect(page.getByText('Sourced is saved').first()).toBeVisible()
  }
  await page.goto(`/campaigns/${id}`)
  await expect(address).toContainText('&cmp={{campaign.name}}&')
  await expect(page.getByLabel('Traffic source')).toContainText('None (macros of meta)')
  await page.getByLabel('Traffic source').selectOption({ label: 'Push zones' })
  await save()
  await expect(address).toContainText(
    /\/c\/sourced\?ref_id=\$\{SUBID\}&sub1=\{zoneid\}&sub2=\{bannerid\}&cmp=\{campaignid\}&cost=\{cost\}$/,
  )
  await page.reload()
  await expect(page.getByLabel('Traffic source').locator('option:checked')).toHaveText('Push zones')

  await page.getByText('Names of incoming parameters', { exact: true }).click()
  await page.getByLabel('sub1', { exact: true }).fill('zone')
  await page.getByLabel('sub4', { exact: true }).fill('zone')
  await page.getByRole('button', { name: 'Save campaign' }).click()
  await expect(page.getByLabel('sub4', { exact: true })).toHaveAccessibleDescription(/"zone" fills sub1 already/)
  // Correcting the error does not collapse the section.
  await page.getByLabel('sub4', { exact: true }).fill('')
  await expect(page.getByLabel('sub4', { exact: true })).toHaveAccessibleDescription('')
  await page.getByLabel('sub3', { exact: true }).fill('cost')
  await save()
  await expect(address).toContainText('&cost={campaignid}')
})

test('a cost model is chosen in the form, and the page says how many clicks had no readable cost @detail', async ({
  page,
  owner,
}) => {
  const { id } = await send(owner, 'POST', '/api/campaigns', { name: 'Priced', key: 'priced', destination })
  await page.goto(`/campaigns/${id}`)
  const model = page.getByLabel('Cost of a click')
  await expect(model).toHaveValue('none')
  await model.selectOption('cpm')
  await page.getByRole('button', { name: 'Save campaign' }).click()
  await expect(page.getByText(/Must be sent with cpm/)).toBeVisible()
  await model.selectOption('link')
  await page.getByLabel(/Ignore costs above/).fill('0.5')
  await page.getByRole('button', { name: 'Save campaign' }).click()
  await expect(page.getByText('Priced is saved').first()).toBeVisible()
  const headers = {
    'user-agent':
      'Mozilla/5.0 (Linux; Android 14; SM-S911B) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36',
  }
  for (const cost of ['0.25', '0.6', '%7Bcost%7D'])
    expect((await owner.get(`/c/priced?cost=${cost}`, { maxRedirects: 0, headers })).status()).toBe(302)
  await page.goto(`/campaigns/${id}`)
  await expect(model).toHaveValue('link')
  await expect(page.getByLabel(/Ignore costs above/)).toHaveValue('0.5')
  await expect(page.getByText('In the last 30 days 2 of 3 clicks had no readable cost.')).toBeVisible()
  await page.goto(`/?campaign=${id}`)
  const figures = page.getByRole('group', { name: /^Figures of these days/ })
  await expect(figures.getByRole('button', { name: /^Cost/ })).toContainText('$0.25')
})
