// Many rows of a list are chosen, changed by one act after a look at what it would do, and put back.
import { expect, send, test } from './dashboard.ts'

test('twelve campaigns of a source are paused together by a range, and put back', async ({ page, owner }) => {
  const destination = { type: 'redirect', url: 'https://example.com/' }
  const source = await send(owner, 'POST', '/api/traffic-sources', { name: 'Twelve' })
  for (let at = 1; at <= 13; at += 1)
    await send(owner, 'POST', '/api/campaigns', {
      name: `Range ${String(at).padStart(2, '0')}`,
      destination,
      ...(at === 1 ? {} : { traffic_source_id: source['id'] }),
    })
  await page.goto('/campaigns')
  await page.getByLabel('Source', { exact: true }).selectOption('Twelve')
  await expect(page.getByRole('row', { name: /Range 01/ })).toBeHidden()
  const box = (name: string) => page.getByRole('checkbox', { name: `Select ${name}` })
  await box('Range 13').check()
  await box('Range 02').click({ modifiers: ['Shift'] })
  const bar = page.getByRole('toolbar', { name: 'Selected rows' })
  await expect(bar).toContainText('12 selected')
  await bar.getByRole('button', { name: 'Pause' }).click()
  const dialog = page.getByRole('dialog', { name: 'Pause: campaigns' })
  await expect(dialog).toContainText('12 would change.')
  await dialog.getByRole('button', { name: 'Pause (12)' }).click()
  await expect(dialog).toContainText('12 changed.')
  const paused = async () =>
    ((await send(owner, 'GET', '/api/campaigns?q=Range&status=paused'))['data'] as unknown[]).length
  expect(await paused()).toBe(12)
  await dialog.getByRole('button', { name: 'Put it back' }).click()
  await expect(dialog).toBeHidden()
  await expect(bar).toBeHidden()
  expect(await paused()).toBe(0)
})

test('a tag is created, put on offers, and the list shows only those @detail', async ({ page, owner }) => {
  for (const name of ['Tagged one', 'Tagged two', 'Plain'])
    await send(owner, 'POST', '/api/offers', { name, url: 'https://o.example/' })
  await page.goto('/settings/tags')
  await page.getByRole('button', { name: 'New tag' }).first().click()
  const form = page.getByRole('dialog', { name: 'New tag' })
  await form.getByLabel('Name').fill('Finance')
  await form.getByLabel('Color').selectOption('teal')
  await form.getByRole('button', { name: 'Add tag' }).click()
  await expect(page.getByRole('row', { name: /^Finance/ })).toBeVisible()
  await page.goto('/offers')
  for (const name of ['Tagged one', 'Tagged two']) await page.getByRole('checkbox', { name: `Select ${name}` }).check()
  await page.getByRole('toolbar', { name: 'Selected rows' }).getByRole('button', { name: 'Add a tag' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add a tag: offers' })
  await dialog.getByLabel('Tag').selectOption('Finance')
  await dialog.getByRole('button', { name: 'Add a tag (2)' }).click()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await page.getByLabel('Tag', { exact: true }).selectOption('Finance')
  await expect(page.getByRole('row', { name: /Tagged one/ })).toContainText('Finance')
  await expect(page.getByRole('row', { name: /Plain/ })).toBeHidden()
})

test('a campaign is tagged and noted on its page, and a note of a day stands below the chart @detail', async ({
  page,
  owner,
}) => {
  const destination = { type: 'redirect', url: 'https://example.com/' }
  const { id } = await send(owner, 'POST', '/api/campaigns', { name: 'Labelled', destination })
  await send(owner, 'POST', '/api/tags', { name: 'Nutra', color: 'red' })
  await page.goto(`/campaigns/${id}`)
  const tag = page.getByRole('button', { name: 'Nutra' })
  await tag.click()
  await expect(tag).toHaveAttribute('aria-pressed', 'true')
  const note = page.getByRole('textbox', { name: 'Note (optional)' })
  await note.fill('Asked for a higher payout')
  await note.blur()
  await expect(page.getByText('The note is saved')).toBeVisible()
  const saved = await send(owner, 'GET', `/api/campaigns/${id}`)
  expect([(saved['tag_ids'] as string[]).length, saved['note']]).toEqual([1, 'Asked for a higher payout'])

  for (const status of ['paused', 'active', 'paused', 'active', 'paused', 'active', 'archived'])
    await send(owner, 'PUT', `/api/campaigns/${id}/status`, { status })
  await page.goto(`/?campaign=${id}`)
  await page.getByRole('button', { name: 'Add a note' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add a note' })
  await dialog.getByRole('textbox', { name: 'Note' }).fill('Rain in the north')
  await dialog.getByRole('button', { name: 'Add note' }).click()
  const list = page.getByRole('list', { name: 'Notes and changes' })
  await expect(list).toContainText('Rain in the north')
  await expect(list).toContainText('Archived: Labelled')
  await expect(list.getByText('Paused: Labelled')).not.toHaveCount(3)
  await list.getByRole('button', { name: /^Show \d+ more$/ }).click()
  await expect(list.getByText('Paused: Labelled')).toHaveCount(3)
})
