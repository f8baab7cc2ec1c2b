import { expect, type Installation, OWNER, send, startInstallation, test, watch } from './dashboard.ts'

test.describe('an installation without an owner', () => {
  let fresh: Installation
  test.beforeAll(async () => {
    fresh = await startInstallation()
  })
  test.afterAll(() => fresh.end())

  test('the first visit creates the owner and the workspace, and signs in', async ({ browser }) => {
    const context = await browser.newContext({ storageState: { cookies: [], origins: [] } })
    const page = await context.newPage()
    const complaints = watch(page)
    for (const path of ['/sign-up', '/settings/api-keys']) {
      await page.goto(`${fresh.address}${path}`)
      await expect(page.getByRole('heading', { level: 1, name: 'Set up Sluice' })).toBeVisible()
    }

    await page.getByLabel('Your name').fill(OWNER.name)
    await page.getByLabel('E-mail').fill(OWNER.email)
    await page.getByLabel('Password').fill('short')
    await page.getByLabel('Workspace').fill(OWNER.organization)
    await page.getByRole('button', { name: 'Create account and workspace' }).click()
    await expect(page.getByLabel('Password')).toHaveAccessibleDescription('Needs at least 10 characters.')

    await page.getByLabel('Password').fill(OWNER.password)
    await page.getByLabel('Password').press('Enter')
    await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible()
    await expect(page.getByRole('button', { name: `Workspace: ${OWNER.organization}` })).toBeVisible()

    await page.goto(`${fresh.address}/setup`)
    await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible()
    expect(complaints).toEqual([])
    await context.close()
  })
})

test('signing out closes the dashboard, and signing in leads back to where one wanted to be', async ({
  page,
  context,
}) => {
  // A session of its own: signing out ends it for every test that shared it.
  await context.clearCookies()
  await page.goto('/settings/team')
  await page.getByLabel('E-mail').fill(OWNER.email)
  await page.getByLabel('Password').fill(OWNER.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Team' })).toBeVisible()
  await page.getByRole('button', { name: OWNER.email }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible()

  await page.goto('/settings/workspace')
  await expect(page.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible()
  await page.getByLabel('E-mail').fill(OWNER.email)
  await page.getByLabel('Password').fill('not the password')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByRole('alert')).toContainText(/invalid email or password/i)

  await page.getByLabel('Password').fill(OWNER.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Workspace' })).toBeVisible()
})

test('a session ended elsewhere leads to the sign-in page with the next thing asked for', async ({
  page,
  context,
  owner,
}) => {
  await context.clearCookies()
  await page.goto('/settings/team')
  await page.getByLabel('E-mail').fill(OWNER.email)
  await page.getByLabel('Password').fill(OWNER.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Team' })).toBeVisible()

  const sessions = await send(owner, 'GET', '/api/sessions')
  const newest = (sessions['data'] as { id: string; current: boolean; created_at: string }[])
    .filter(session => !session.current)
    .toSorted((one, other) => other.created_at.localeCompare(one.created_at))[0]
  await send(owner, 'DELETE', `/api/sessions/${newest?.id}`)
  await page.getByRole('link', { name: 'Campaigns' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible()
  await expect(page.getByText('Your session has ended').first()).toBeVisible()
  await page.getByLabel('E-mail').fill(OWNER.email)
  await page.getByLabel('Password').fill(OWNER.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Campaigns' })).toBeVisible()
})

test('where accounts come by invitation, the page to sign up says so and leads to the sign-in page', async ({
  page,
  context,
}) => {
  await context.clearCookies()
  await page.goto('/sign-up')
  await expect(page.getByRole('heading', { level: 1, name: 'Accounts come by invitation' })).toBeVisible()
  await expect(page.getByRole('textbox')).toHaveCount(0)
  await page.getByRole('link', { name: 'Sign in' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible()
  await expect(page.getByRole('link', { name: 'Create an account' })).toHaveCount(0)
})

test.describe('an installation that is open to all', () => {
  let open: Installation
  test.beforeAll(async () => {
    test.setTimeout(60_000)
    open = await startInstallation({ SIGN_UP: 'open' })
  })
  test.afterAll(() => open.end())

  test('anyone signs up, and is led to a workspace of their own', async ({ browser }) => {
    const context = await browser.newContext({ baseURL: open.address, storageState: { cookies: [], origins: [] } })
    const founding = await context.request.post('/api/setup', { data: OWNER, headers: { origin: open.address } })
    expect(founding.status()).toBe(201)
    await context.clearCookies()
    const page = await context.newPage()
    const complaints = watch(page)
    await page.goto('/sign-in')
    await page.getByRole('link', { name: 'Create an account' }).click()
    await page.getByLabel('Your name').fill('Jo')
    await page.getByLabel('E-mail').fill('jo@example.com')
    await page.getByLabel('Password').fill(OWNER.password)
    await page.getByRole('button', { name: 'Create account' }).click()
    await expect(page.getByRole('heading', { level: 1, name: 'You are in no workspace' })).toBeVisible()
    expect(complaints).toEqual([])
    await context.close()
  })
})
