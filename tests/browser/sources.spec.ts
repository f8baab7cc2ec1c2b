// Traffic sources on the screen: created from a template, changed, used by a campaign, notified by a postback.
import { expect, send, test } from './dashboard.ts'

const destination = { type: 'redirect', url: 'https://shop.example/?c={click_id}' }

test('a source is added from a template, changed, and its postback is off until its placeholders are filled', async ({
  page,
  owner,
}) => {
  await page.goto('/sources')
  await page.getByRole('button', { name: 'New source' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'New source' })
  await dialog.getByLabel('Template').selectOption({ label: 'PropellerAds' })
  await expect(dialog.getByLabel('Name')).toHaveValue('PropellerAds')
  await expect(dialog.getByLabel('Template')).toHaveAccessibleDescription(/From another tracker/)
  await dialog.getByRole('button', { name: 'Add source' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'PropellerAds' })).toBeVisible()
  const zone = page.getByRole('group', { name: 'Parameter for sub1' })
  await expect(zone.getByLabel('Macro')).toHaveValue('{zoneid}')
  await zone.getByLabel('Parameter').fill('sub2')
  await page.getByRole('button', { name: 'Save source' }).click()
  await expect(page.getByText(/"sub2" fills sub2 already/)).toBeVisible()
  await zone.getByLabel('Parameter').fill('zone')
  await page.getByRole('button', { name: 'Save source' }).click()
  await expect(page.getByText('The source is saved').first()).toBeVisible()

  await page.getByRole('link', { name: 'Postbacks' }).last().click()
  await page.getByRole('button', { name: 'New rule' }).first().click()
  const rule = page.getByRole('dialog', { name: 'New postback rule' })
  await expect(rule.getByLabel('Address')).toHaveValue(/visitor_id=\{ref_id\}/)
  await expect(rule.getByLabel('Active')).not.toBeChecked()
  await expect(rule).toContainText('Replace each YOUR_… with the value of your account')
  await rule.getByRole('button', { name: 'Add rule' }).click()
  const row = page.getByRole('row', { name: /^Select Lead/ })
  await expect(row).toContainText('Clicks from PropellerAds')
  await expect(row).toContainText('Off')

  const source = ((await (await owner.get('/api/traffic-sources')).json()) as { data: { id: string }[] }).data[0]
  const fields = { name: 'Push', key: 'pushed', destination, traffic_source_id: source?.id }
  await send(owner, 'POST', '/api/campaigns', fields)
  await owner.get('/c/pushed?zone=7', { maxRedirects: 0, headers: { 'user-agent': 'curl/8' } })
  await page.goto('/sources')
  const line = page.getByRole('row', { name: /^Select PropellerAds/ })
  await expect(line).toContainText('Click id, cost, Zone, Creative, Campaign')
  await line.getByRole('button', { name: 'Actions for PropellerAds' }).click()
  await expect(page.getByRole('menuitem', { name: /Delete/ })).toContainText('Campaigns use it.')
})

test('a new campaign reads the cost from its source’s parameter, unless another cost model was chosen @detail', async ({
  page,
  owner,
}) => {
  await send(owner, 'POST', '/api/traffic-sources', { name: 'With its cost', template: 'propellerads' })
  await page.goto('/campaigns/new')
  const cost = page.getByLabel('Cost of a click')
  await expect(cost).toHaveValue('none')
  await page.getByLabel('Traffic source').selectOption({ label: 'With its cost' })
  await expect(cost).toHaveValue('link')
  await cost.selectOption('cpc')
  await page.getByLabel('Traffic source').selectOption('')
  await page.getByLabel('Traffic source').selectOption({ label: 'With its cost' })
  await expect(cost).toHaveValue('cpc')
})

const VISITOR = {
  'user-agent':
    'Mozilla/5.0 (Linux; Android 14; SM-S911B) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36',
}

test('a campaign’s link is tested with sample values or a pasted link, and nothing is recorded @detail', async ({
  page,
  owner,
}) => {
  const source = await send(owner, 'POST', '/api/traffic-sources', { name: 'Tried zones', template: 'propellerads' })
  const fields = { name: 'Tried', key: 'tried', destination, traffic_source_id: source.id, cost: { model: 'link' } }
  const { id } = await send(owner, 'POST', '/api/campaigns', fields)
  await page.goto(`/campaigns/${id}`)
  await page.getByRole('button', { name: 'Try it' }).click()
  const dialog = page.getByRole('dialog', { name: 'Try the link' })
  const address = dialog.getByLabel('Link as a visitor opens it')
  await expect(address).toHaveValue(/\/c\/tried\?ref_id=sample-ref-id&sub1=sample-sub1&.*cost=0\.01$/)
  await expect(dialog.getByRole('row', { name: /^ref_id/ })).toContainText('sample-ref-id')
  await expect(dialog).toContainText('The click would cost $0.01.')

  await address.fill('https://ads.example/c/tried?ref_id=77&sub1={zoneid}&cost=0,25&camp=9')
  await dialog.getByRole('button', { name: 'Check' }).click()
  await expect(dialog.getByRole('row', { name: /^ref_id/ })).toContainText('77')
  await expect(dialog.getByRole('row', { name: /^sub1/ })).toContainText('Not saved: macro not replaced')
  await expect(dialog.getByRole('row', { name: /^sub2/ })).toContainText('Not in the link')
  await expect(dialog.getByRole('row', { name: /^cost/ })).toContainText('No cost: not an amount such as 0.015')
  await expect(dialog).toContainText('Not saved: camp=9')
  await address.fill('https://ads.example/c/another?ref_id=77')
  await dialog.getByRole('button', { name: 'Check' }).click()
  await expect(dialog.getByRole('alert')).toContainText("The link is another campaign's")
  const clicks = (await (await owner.get(`/api/clicks?campaign_id=${id}&tracked=all`)).json()) as { data: object[] }
  expect(clicks.data).toEqual([])

  await address.fill('https://ads.example/c/tried?ref_id=78')
  const test = await dialog.getByRole('link', { name: 'Open as a test click' }).getAttribute('href')
  const visit = await owner.get(test ?? '', { maxRedirects: 0, headers: VISITOR })
  expect(visit.status()).toBe(302)
  const tests = (await (await owner.get(`/api/clicks?campaign_id=${id}&tracked=all`)).json()) as {
    data: { ref_id: string; tracked: boolean }[]
  }
  expect(tests.data.map(({ ref_id, tracked }) => [ref_id, tracked])).toEqual([['78', false]])
})

test('a source shows how it differs from its template, and can use the template again @detail', async ({
  page,
  owner,
}) => {
  const { id } = await send(owner, 'POST', '/api/traffic-sources', {
    name: 'Changed zones',
    template: 'propellerads',
  })
  await page.goto(`/sources/${id}`)
  const zone = page.getByRole('group', { name: 'Parameter for sub1' })
  await expect(zone.getByLabel('Macro')).toHaveValue('{zoneid}')
  const note = page.getByText('This source differs from its template, PropellerAds.')
  await expect(note).toBeHidden()
  await zone.getByLabel('Macro').fill('{zone_id}')
  await page.getByRole('group', { name: 'Parameter for cost' }).getByRole('button', { name: 'Remove cost' }).click()
  await page.getByRole('button', { name: 'Save source' }).click()
  await expect(page.getByText('The source is saved').first()).toBeVisible()
  await page.reload()
  await expect(note).toBeVisible()
  await expect(page.getByRole('listitem').filter({ hasText: 'sub1:' })).toHaveText(
    'sub1: sub1={zone_id} here, sub1={zoneid} in the template',
  )
  await expect(page.getByRole('listitem').filter({ hasText: 'cost:' })).toHaveText(
    'cost: nothing here, cost={cost} in the template',
  )
  await page.getByRole('button', { name: 'Use the template' }).click()
  await expect(note).toBeHidden()
  await page.getByRole('button', { name: 'Save source' }).click()
  await expect(page.getByText('The source is saved').first()).toBeVisible()
  const saved = (await (await owner.get(`/api/traffic-sources/${id}`)).json()) as { parameters: { macro: string }[] }
  expect(saved.parameters.map(({ macro }) => macro)).toContain('{zoneid}')
})

test('the list of sources shows today’s clicks and the share of them with a click id and a cost @detail', async ({
  page,
  owner,
}) => {
  const source = await send(owner, 'POST', '/api/traffic-sources', { name: 'Today zones', template: 'propellerads' })
  await send(owner, 'POST', '/api/traffic-sources', { name: 'Quiet zones', template: 'meta' })
  const fields = { name: 'Today', key: 'todays', destination, traffic_source_id: source.id, cost: { model: 'link' } }
  await send(owner, 'POST', '/api/campaigns', fields)
  for (const query of ['ref_id=1&cost=0.1', 'ref_id=2&cost={cost}', 'ref_id={x}&cost={cost}', 'ref_id=4&cost={cost}'])
    await owner.get(`/c/todays?${query}`, { maxRedirects: 0, headers: VISITOR })
  await page.goto('/sources')
  const line = page.getByRole('row', { name: /^Select Today zones/ })
  const cells = async (name: RegExp) => {
    const heads = await page.getByRole('table', { name: 'Sources' }).getByRole('columnheader').allTextContents()
    const row = await page.getByRole('row', { name }).locator('th,td').allTextContents()
    return ['Today', 'With id', 'With cost'].map(head => row[heads.indexOf(head)])
  }
  await expect(line).toContainText('75.0%')
  expect(await cells(/^Select Today zones/)).toEqual(['4', '75.0%', '25.0%'])
  expect(await cells(/^Select Quiet zones/)).toEqual(['—', '—', '—'])
})

test('the overview of a campaign lists its zones under the source’s name for them @detail', async ({ page, owner }) => {
  const source = await send(owner, 'POST', '/api/traffic-sources', { name: 'Named zones', template: 'propellerads' })
  const fields = { name: 'By zone', key: 'by-zone', destination, traffic_source_id: source.id }
  const { id } = await send(owner, 'POST', '/api/campaigns', fields)
  await owner.get('/c/by-zone?sub1=771', { maxRedirects: 0, headers: VISITOR })
  const day = new Date().toISOString().slice(0, 10)
  await send(owner, 'PUT', '/api/ad-spend', { campaign_id: id, day, amount: '5' })
  await page.goto(`/?range=today&campaign=${id}`)
  const worst = page.getByRole('table', { name: 'Worst by profit' })
  await expect(worst.getByRole('columnheader', { name: 'Zone' })).toBeVisible()
  await expect(worst.getByRole('row', { name: /^771/ })).toContainText('−5.00')
  await page.getByLabel('Campaign', { exact: true }).selectOption('')
  await expect(worst.getByRole('columnheader', { name: 'Campaign' })).toBeVisible()
})
