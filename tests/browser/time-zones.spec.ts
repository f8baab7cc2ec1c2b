// Days and times in the workspace’s time zone, and in the time zone that a person has chosen.
import { expect, OWNER, send, test } from './dashboard.ts'

const iso = (ms: number) => new Date(ms).toISOString()

// All tests of a worker share the workspace’s time zone.
test.afterEach(async ({ owner }) => {
  const { data } = (await send(owner, 'GET', '/api/organizations')) as unknown as { data: { id: string }[] }
  await send(owner, 'PATCH', `/api/organizations/${data[0]?.id}`, { timezone: 'UTC' })
})

test('two people of one workspace with different zones see their own days, and the same figures of the same moments @detail', async ({
  page,
  owner,
  sluice,
  browser,
}) => {
  const destination = { type: 'redirect', url: 'https://shop.example/?c={click_id}' }
  const { id, key } = await send(owner, 'POST', '/api/campaigns', { name: 'Zoned', destination })
  const agent = { 'user-agent': 'Mozilla/5.0 Chrome/130' }
  await owner.get(`/c/${String(key)}?sub1=zoned`, { maxRedirects: 0, headers: agent })
  const { data } = (await send(owner, 'GET', `/api/clicks?campaign_id=${id}`)) as unknown as {
    data: { created_at: string }[]
  }
  const clicked = Date.parse(data[0]?.created_at ?? '')
  await send(owner, 'PUT', '/api/ad-spend', { campaign_id: id, day: iso(clicked).slice(0, 10), amount: '5' })

  // The workspace is in Tokyo, whose time is never UTC’s.
  await page.goto('/settings/workspace')
  await page.getByRole('combobox', { name: 'Time zone' }).selectOption('Asia/Tokyo')
  await page.getByRole('button', { name: 'Save time zone' }).click()
  await expect(page.getByText('The time zone is saved')).toBeVisible()
  await expect(page.getByText('All times are Asia/Tokyo')).toBeVisible()
  const timeIn = (timeZone: string) =>
    new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', second: '2-digit' }).format(
      clicked,
    )
  const dayIn = (timeZone: string) => new Intl.DateTimeFormat('en-CA', { timeZone }).format(clicked)
  await page.goto(`/clicks?campaign=${id}&from=${dayIn('Asia/Tokyo')}&to=${dayIn('Asia/Tokyo')}`)
  await expect(page.getByRole('columnheader', { name: 'Time (Tokyo)' })).toBeVisible()
  await expect(page.getByRole('row').nth(1)).toContainText(timeIn('Asia/Tokyo'))
  const asked = page.waitForRequest(
    request => request.url().includes('/api/report?') && request.url().includes('campaign'),
  )
  await page.goto(`/?campaign=${id}&from=${dayIn('Asia/Tokyo')}&to=${dayIn('Asia/Tokyo')}`)
  const window = new URL((await asked).url()).searchParams
  expect(window.get('date_from')).toMatch(/T15:00:00\.000Z$/)
  await expect(page.getByText('their clicks count with their share of its spend')).toBeVisible()
  const figure = (on: typeof page, name: string) =>
    on.getByRole('group', { name: /^Figures of these days/ }).getByRole('button', { name: new RegExp(`^${name}`) })
  await expect(figure(page, 'Clicks')).toContainText('1')
  await expect(figure(page, 'Cost')).toContainText('5.00')
  await expect(figure(page, 'ROI')).toContainText('−100.0%')

  // Another person chooses their own time zone. Nobody else’s changes.
  const invitation = await send(owner, 'POST', '/api/invitations', { email: 'lee@example.com', role: 'member' })
  const context = await browser.newContext({ baseURL: sluice.address, storageState: { cookies: [], origins: [] } })
  const other = await context.newPage()
  const headers = { origin: sluice.address }
  const secret = String(invitation['link']).split('/').at(-1)
  const signUp = { name: 'Lee', email: 'lee@example.com', password: OWNER.password, invitation: secret }
  expect((await other.request.post('/api/auth/sign-up/email', { data: signUp, headers })).ok()).toBe(true)
  await other.goto('/settings/profile')
  await other.getByRole('combobox', { name: 'Time zone' }).selectOption('America/Sao_Paulo')
  await other.getByRole('button', { name: 'Save time zone' }).click()
  await expect(other.getByText('All times are America/Sao_Paulo')).toBeVisible()
  const day = dayIn('America/Sao_Paulo')
  await other.goto(`/clicks?campaign=${id}&from=${day}&to=${day}`)
  await expect(other.getByRole('row').nth(1)).toContainText(timeIn('America/Sao_Paulo'))
  const query = `/api/report?dimension=campaign&campaign_id=${id}&date_from=${iso(clicked - 1000)}&date_to=${iso(clicked + 1000)}`
  const told = await send(owner, 'GET', query)
  const headersOf = await other.request.get(query)
  expect(await headersOf.json()).toEqual(told)
  await page.reload()
  await expect(page.getByText('All times are Asia/Tokyo')).toBeVisible()
  await context.close()
  await page.goto('/settings/workspace')
  await page.getByRole('combobox', { name: 'Time zone' }).selectOption('UTC')
  await page.getByRole('button', { name: 'Save time zone' }).click()
  await expect(page.getByText('All times are UTC')).toBeVisible()
})

test('a time zone is listed under its current name @detail', async ({ page }) => {
  await page.goto('/settings/workspace')
  await page.getByRole('combobox', { name: 'Time zone' }).selectOption('Europe/Kyiv')
  await page.getByRole('button', { name: 'Save time zone' }).click()
  await expect(page.getByText('All times are Europe/Kyiv')).toBeVisible()
  await page.goto('/ad-spend')
  await page.getByRole('button', { name: 'Spread an amount' }).click()
  await page.getByLabel('Time zone').selectOption('Europe/Kyiv')
})
