// Values of a campaign are left out of its traffic: from a row of the report, by hand and as text, and let in again.
import { expect, send, test } from './dashboard.ts'
import { only, seedClicks } from './explored.ts'

test('rows of the report are left out of their campaign, whose page lists them and takes more as text @detail', async ({
  page,
  owner,
  sluice,
}) => {
  const { wide } = await seedClicks(owner, sluice.address, ['Leaky', 'Tight'])
  await page.goto(`/report?range=today&by=sub1&${only(wide)}`)
  await page.getByRole('button', { name: 'zone-7', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Leave out of its campaign …' }).click()
  const dialog = page.getByRole('dialog', { name: 'Leave out of a campaign' })
  await expect(dialog).toContainText('Campaign Leaky')
  await expect(dialog.getByRole('checkbox', { name: 'zone-7' })).toBeChecked()
  await dialog.getByRole('checkbox', { name: 'zone-9' }).check()
  await dialog.getByLabel('Note').fill('They lose')
  await dialog.getByRole('button', { name: 'Leave out (2)' }).click()
  await expect(page.getByText('2 values are left out')).toBeVisible()

  await page.goto(`/campaigns/${wide}`)
  const table = page.getByRole('table', { name: 'Left-out values' })
  await expect(table.getByRole('row', { name: /^zone-9 sub1 Fallback For good They lose/ })).toBeVisible()
  await table.getByRole('button', { name: 'Let in zone-7' }).click()
  await expect(table.getByText('zone-7')).toBeHidden()

  await page.getByRole('button', { name: 'Import', exact: true }).click()
  const text = page.getByRole('dialog', { name: 'Import left-out values' })
  await text.getByLabel('Text').fill('zone-9\nzone-11\n{zoneid}')
  await text.getByRole('button', { name: 'Check' }).click()
  await expect(text).toContainText('1 new, 1 the same, 0 let in again, 1 wrong.')
  await expect(text).toContainText('Line 3: “{zoneid}” is a macro that was not replaced')
  await text.getByLabel('Text').fill('zone-9\nzone-11')
  await text.getByRole('button', { name: 'Check' }).click()
  await text.getByRole('button', { name: 'Import' }).click()
  await expect(table.getByRole('row', { name: /^zone-11/ })).toBeVisible()
  const { data } = await send(owner, 'GET', `/api/campaigns/${wide}/left-out`)
  expect((data as { value: string }[]).map(({ value }) => value).sort()).toEqual(['zone-11', 'zone-9'])
})
