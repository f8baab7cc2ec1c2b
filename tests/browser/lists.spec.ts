// What all list pages have in common, tested on one of them.
import pg from 'pg'
import { newId, toUuid } from '../../src/contract/ids.ts'
import { expect, send, test } from './dashboard.ts'

const url = 'https://example.com/?c={click_id}'

test('search and filters of a list are in the address, Back undoes them, and an empty result offers to show all', async ({
  page,
  owner,
}) => {
  await send(owner, 'POST', '/api/offers', { name: 'Alpine', url })
  const archived = await send(owner, 'POST', '/api/offers', { name: 'Bay', url })
  await send(owner, 'PUT', `/api/offers/${archived.id}/status`, { status: 'archived' })
  await page.goto('/offers')
  const search = page.getByRole('searchbox')
  const [alpine, bay] = [page.getByRole('row', { name: /Alpine/ }), page.getByRole('row', { name: /Bay/ })]
  await expect(alpine).toBeVisible()

  await page.getByLabel('Status').selectOption('Archived')
  await expect(page).toHaveURL(/status=archived/)
  await expect(bay).toBeVisible()
  await expect(alpine).toBeHidden()

  await search.fill('alp')
  await expect(page).toHaveURL(/q=alp/)
  await expect(page.getByText('No offers here')).toBeVisible()
  await page.goBack()
  await expect(search).toHaveValue('')
  await expect(page).not.toHaveURL(/q=/)
  await expect(bay).toBeVisible()

  await search.fill('nowhere')
  await expect(page.getByText('No offers here')).toBeVisible()
  await page.getByRole('button', { name: 'Show all' }).click()
  await expect(alpine).toBeVisible()
  await expect(bay).toBeVisible()
  await expect(search).toHaveValue('')
  await expect(page.getByLabel('Status')).toHaveValue('')
})

test('a row is archived, unarchived and deleted from its menu, each after a confirmation', async ({ page, owner }) => {
  await send(owner, 'POST', '/api/landings', { name: 'Quiz', url })
  await page.goto('/landings')
  const row = page.getByRole('row', { name: /^Select Quiz/ })
  const choose = async (item: string) => {
    await row.getByRole('button', { name: 'Actions for Quiz' }).click()
    await page.getByRole('menuitem', { name: item, exact: true }).click()
  }
  await choose('Archive')
  await page.getByRole('dialog', { name: 'Archive Quiz?' }).getByRole('button', { name: 'Cancel' }).click()
  await expect(row).toContainText('Active')
  await choose('Archive')
  await page.getByRole('dialog', { name: 'Archive Quiz?' }).getByRole('button', { name: 'Archive' }).click()
  await expect(row).toContainText('Archived')
  await choose('Unarchive')
  await page.getByRole('dialog', { name: 'Unarchive Quiz?' }).getByRole('button', { name: 'Unarchive' }).click()
  await expect(row).toContainText('Active')
  await choose('Delete')
  await page.getByRole('dialog', { name: 'Delete Quiz?' }).getByRole('button', { name: 'Delete landing' }).click()
  await expect(page.getByText('Quiz is deleted')).toBeVisible()
  await expect(row).toBeHidden()
})

// $1 is an offer, $2 the ids of its copies, oldest first.
const COPY = `
  insert into offers (org_id, id, name, url, payout_types, status, created_at, updated_at)
  select o.org_id, copy.id, 'Page ' || copy.number + 1, o.url, o.payout_types, o.status, now(), now()
  from offers o, unnest($2::uuid[]) with ordinality as copy (id, number) where o.id = $1`

test('older rows are on further pages, and a new search starts at the newest @detail', async ({
  page,
  owner,
  sluice,
}) => {
  const { id } = await send(owner, 'POST', '/api/offers', { name: 'Page 1', url })
  // One more than a page holds. They are inserted by SQL, because 200 requests would take too long.
  const others = Array.from({ length: 200 }, () => newId())
  const database = new pg.Client(sluice.database)
  await database.connect()
  await database.query(COPY, [toUuid(id), others])
  const oldest = page.getByRole('row', { name: /^Select Page 1 / })
  await page.goto('/offers')
  await expect(page.getByRole('row', { name: /^Select Page 201 / })).toBeVisible()
  await expect(oldest).toBeHidden()
  await page.getByRole('button', { name: 'Older' }).click()
  await expect(oldest).toBeVisible()
  await expect(page).toHaveURL(/cursor=/)
  await page.getByRole('searchbox').fill('Page 201')
  await expect(page.getByRole('row', { name: /^Select Page 201 / })).toBeVisible()
  await expect(page).not.toHaveURL(/cursor=/)
  // Other tests expect their offers on the first page.
  await database.query('update offers set deleted_at = now(), updated_at = now() where id = any($1)', [others])
  await database.end()
  await send(owner, 'DELETE', `/api/offers/${id}`)
})

test('the name of a row opens it, and closing returns the focus to the name @detail', async ({ page, owner }) => {
  await send(owner, 'POST', '/api/landings', { name: 'Quiz', url: 'https://example.com/?c={click_id}' })
  await page.goto('/landings')
  const name = page.getByRole('row', { name: /^Select Quiz/ }).getByRole('button', { name: 'Quiz', exact: true })
  await name.press('Enter')
  await expect(page.getByRole('dialog', { name: 'Edit Quiz' }).getByLabel('Name')).toHaveValue('Quiz')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toBeHidden()
  await expect(name).toBeFocused()
})

test('campaigns show cost and profit in the chosen days @detail', async ({ page, owner }) => {
  const { id } = await send(owner, 'POST', '/api/campaigns', {
    name: 'Counted',
    destination: { type: 'redirect', url: 'https://example.com/' },
  })
  const { id: dear } = await send(owner, 'POST', '/api/campaigns', {
    name: 'Dear',
    destination: { type: 'redirect', url: 'https://example.com/' },
  })
  const old = new Date(Date.now() - 20 * 86_400_000).toISOString().slice(0, 10)
  await send(owner, 'PUT', '/api/ad-spend', { campaign_id: id, day: old, amount: '8.25' })
  await send(owner, 'PUT', '/api/ad-spend', { campaign_id: dear, day: old, amount: '1000' })
  await page.goto('/campaigns')
  const row = page.getByRole('row', { name: /Counted/ })
  await expect(row).toContainText('0.00')
  await expect(row).not.toContainText('8.25')
  await page.getByLabel('Days').selectOption('Last 30 days')
  await expect(page).toHaveURL(/range=30d/)
  await expect(row).toContainText('−8.25')

  const table = page.getByRole('table', { name: 'Campaigns' })
  await table.getByRole('button', { name: 'Cost' }).click()
  await expect(page).toHaveURL(/sort=-cost/)
  await expect(table.getByRole('columnheader', { name: 'Cost' })).toHaveAttribute('aria-sort', 'descending')
  await expect(table).toHaveText(/Dear.*Counted/s)
  await table.getByRole('button', { name: 'Cost' }).click()
  await expect(page).toHaveURL(/sort=cost/)
  await expect(table).toHaveText(/Counted.*Dear/s)
  await page.getByRole('button', { name: 'Actions for Counted' }).click()
  await page.getByRole('menuitem', { name: 'Report' }).click()
  await expect(page).toHaveURL(/by=day/)
  await expect(page.getByLabel('Days', { exact: true })).toHaveValue('30d')
})

test('the actions of a row are in view on a laptop and on a phone, however long its name @detail', async ({
  page,
  owner,
}) => {
  const name = 'A campaign whose name is longer than any column should be, and on it goes'
  const destination = { type: 'redirect', url: `https://example.com/${'landing/'.repeat(20)}` }
  await send(owner, 'POST', '/api/campaigns', { name, destination })
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 740 })
    await page.goto('/campaigns')
    const actions = page.getByRole('button', { name: `Actions for ${name}` })
    await expect(actions).toBeInViewport({ ratio: 1 })
    await actions.click()
    await expect(page.getByRole('menuitem', { name: /Delete/ })).toBeVisible()
  }
})

test('the log of conversions is filtered by days, including the last one', async ({ page, sluice, owner }) => {
  await send(owner, 'POST', '/api/campaigns', {
    name: 'Dated',
    key: 'dated',
    destination: { type: 'redirect', url: 'https://example.com/?c={click_id}' },
  })
  const visit = await fetch(`${sluice.address}/c/dated`, { redirect: 'manual' })
  const clickId = /c=(\w+)/.exec(visit.headers.get('location') ?? '')?.[1] ?? ''
  const { created_at } = await send(owner, 'POST', '/api/events', { clickId, type: 'lead' })
  const day = String(created_at).slice(0, 10)
  // Earlier than the rows of other tests.
  const before = '2026-01-01'

  await page.goto('/conversions')
  const row = page.getByRole('row', { name: new RegExp(clickId) })
  await page.getByLabel('Recorded until and including (UTC)').fill(before)
  await expect(page.getByText('No conversions here')).toBeVisible()
  await page.getByLabel('Recorded until and including (UTC)').fill(day)
  await page.getByLabel('Recorded from (UTC)').fill(day)
  await expect(page).toHaveURL(new RegExp(`from=${day}`))
  await expect(row).toBeVisible()
})
