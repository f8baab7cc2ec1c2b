// Traffic sources on the screen: made from a template, changed, named by a campaign, told by a postback.
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
  await expect(dialog.getByLabel('Template')).toHaveAccessibleDescription(/another tracker has it/)
  await dialog.getByRole('button', { name: 'Add source' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'PropellerAds' })).toBeVisible()
  const zone = page.getByRole('group', { name: 'Parameter for sub1' })
  await expect(zone.getByLabel('Macro')).toHaveValue('{zoneid}')
  await zone.getByLabel('Arrives as').fill('sub2')
  await page.getByRole('button', { name: 'Save source' }).click()
  await expect(page.getByText(/"sub2" fills sub2 already/)).toBeVisible()
  await zone.getByLabel('Arrives as').fill('zone')
  await page.getByRole('button', { name: 'Save source' }).click()
  await expect(page.getByText('The source is saved').first()).toBeVisible()

  await page.getByRole('link', { name: 'Postbacks' }).last().click()
  await page.getByRole('button', { name: 'New rule' }).first().click()
  const rule = page.getByRole('dialog', { name: 'New postback rule' })
  await expect(rule.getByLabel('Address')).toHaveValue(/visitor_id=\{ref_id\}/)
  await expect(rule.getByLabel('Active')).not.toBeChecked()
  await expect(rule).toContainText('What begins with YOUR_ is of your account')
  await rule.getByRole('button', { name: 'Add rule' }).click()
  const row = page.getByRole('row', { name: /^Lead/ })
  await expect(row).toContainText('Clicks from PropellerAds')
  await expect(row).toContainText('Off')

  const source = ((await (await owner.get('/api/traffic-sources')).json()) as { data: { id: string }[] }).data[0]
  const fields = { name: 'Push', key: 'pushed', destination, traffic_source_id: source?.id }
  await send(owner, 'POST', '/api/campaigns', fields)
  await owner.get('/c/pushed?zone=7', { maxRedirects: 0, headers: { 'user-agent': 'curl/8' } })
  await page.goto('/sources')
  const line = page.getByRole('row', { name: /^PropellerAds/ })
  await expect(line).toContainText('Click id, cost, Zone, Creative, Campaign')
  await line.getByRole('button', { name: 'Actions for PropellerAds' }).click()
  await expect(page.getByRole('menuitem', { name: /Delete/ })).toContainText('Campaigns name it.')
})
