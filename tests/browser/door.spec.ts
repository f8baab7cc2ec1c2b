import type { APIRequestContext, Locator, Page } from '@playwright/test'
import { expect, type Installation, OWNER, send, startInstallation, test, watch } from './dashboard.ts'
import { freePort } from '../support/ports.ts'

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

test.describe('an installation without an owner that others can reach', () => {
  let fresh: Installation
  let port: number
  test.beforeAll(async () => {
    port = await freePort()
    fresh = await startInstallation({ BASE_URL: 'https://track.example.com', PORT: String(port) })
  })
  test.afterAll(() => fresh.end())

  test('the first page asks for the setup code and says where it is shown', async ({ browser }) => {
    const context = await browser.newContext({ storageState: { cookies: [], origins: [] } })
    const page = await context.newPage()
    await page.goto(`http://localhost:${port}/setup`)
    await page.getByLabel('Setup code').fill('aaaaa-aaaaa')
    await page.getByLabel('Your name').fill(OWNER.name)
    await page.getByLabel('E-mail').fill(OWNER.email)
    await page.getByLabel('Password').fill(OWNER.password)
    await page.getByLabel('Workspace').fill(OWNER.organization)
    await page.getByRole('button', { name: 'Create account and workspace' }).click()
    await expect(page.getByRole('alert')).toContainText('The setup code is missing or wrong')
    await context.close()
  })
})

test('signing out closes the dashboard, and signing in returns to the page that was asked for', async ({
  page,
  context,
}) => {
  // Uses its own session, because signing out would end the shared one for other tests.
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

/** Signs the page in with its own session. Returns a function that ends the session from elsewhere. */
async function signIn(page: Page, owner: APIRequestContext, path: string) {
  await page.context().clearCookies()
  await page.goto(path)
  await page.getByLabel('E-mail').fill(OWNER.email)
  await page.getByLabel('Password').fill(OWNER.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Sign in' })).toBeHidden()
  const mine = await send(page.request, 'GET', '/api/sessions')
  const session = (mine['data'] as { id: string; current: boolean }[]).find(({ current }) => current)
  return () => send(owner, 'DELETE', `/api/sessions/${session?.id}`)
}

/** Clicks `asks` after the session has ended, and returns the sign-in dialog. A background request of the page may have opened it before the click. */
async function clickAfterSessionEnd(page: Page, asks: Locator) {
  const over = page.getByRole('dialog', { name: 'Your session has ended' })
  await expect(async () => {
    if (!(await over.isVisible())) await asks.click({ timeout: 1000 })
    await expect(over).toBeVisible({ timeout: 2000 })
  }).toPass()
  return over
}

test('signing in again after a session ended elsewhere keeps the typed values and the workspace @detail', async ({
  page,
  sluice,
  owner,
}) => {
  const endElsewhere = await signIn(page, owner, '/offers')
  // A second workspace, because a new session opens in the first one.
  const headers = { origin: sluice.address }
  const made = await page.request.post('/api/organizations', { data: { name: 'Southwind' }, headers })
  expect(made.ok(), await made.text()).toBe(true)
  const second = (await made.json()) as { id: string }
  await page.reload()
  await expect(page.getByRole('button', { name: 'Workspace: Southwind' })).toBeVisible()

  await page.getByRole('button', { name: 'New offer' }).first().click()
  const form = page.getByRole('dialog', { name: 'New offer' })
  await form.getByLabel('Name').fill('Typed with care')
  await form.getByLabel('Address').fill('https://example.com/?sub1={click_id}')
  await endElsewhere()
  const over = await clickAfterSessionEnd(page, form.getByRole('button', { name: 'Add offer' }))

  await expect(over.getByLabel('E-mail')).toHaveValue(OWNER.email)
  await expect(over.getByLabel('Password')).toBeFocused()
  await page.keyboard.press('Escape')
  await over.getByLabel('Password').fill('not the password')
  await over.getByLabel('Password').press('Enter')
  await expect(over.getByRole('alert')).toContainText(/invalid email or password/i)
  await over.getByLabel('Password').fill(OWNER.password)
  await over.getByLabel('Password').press('Enter')
  await expect(over).toBeHidden()

  await expect(form.getByLabel('Name')).toHaveValue('Typed with care')
  await form.getByRole('button', { name: 'Add offer' }).click()
  await expect(form).toBeHidden()
  await expect(page.getByRole('rowheader', { name: 'Typed with care' })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Workspace: Southwind' })).toBeVisible()
  const { data } = await send(owner, 'GET', '/api/offers')
  expect(data).not.toContainEqual(expect.objectContaining({ name: 'Typed with care' }))
  // All tests share this owner, and expect one workspace.
  await send(owner, 'DELETE', `/api/organizations/${second.id}`)
})

test('a page that was asked for after the session ended opens after signing in again @detail', async ({
  page,
  owner,
}) => {
  const destination = { type: 'redirect', url: 'https://example.com/' }
  const campaign = await send(owner, 'POST', '/api/campaigns', { name: 'Read in the end', destination })
  const endElsewhere = await signIn(page, owner, '/settings/team')
  await endElsewhere()
  // Dispatched as an event, because the dialog may already cover the link.
  await page.locator('a[href="/campaigns"]').dispatchEvent('click')
  const over = page.getByRole('dialog', { name: 'Your session has ended' })
  await over.getByLabel('Password').fill(OWNER.password)
  await over.getByRole('button', { name: 'Sign in' }).click()
  await expect(over).toBeHidden()
  await expect(page.getByRole('heading', { level: 1, name: 'Campaigns' })).toBeVisible()
  await expect(page.getByRole('row', { name: /Read in the end/ })).toBeVisible()
  await send(owner, 'PUT', `/api/campaigns/${campaign.id}/status`, { status: 'archived' })
  await send(owner, 'DELETE', `/api/campaigns/${campaign.id}`)
})

test('another account that signs in after a session ended starts at the overview @detail', async ({
  page,
  sluice,
  owner,
  playwright,
}) => {
  const other = { name: 'Ines', email: 'ines@example.com', password: 'another long password' }
  const { link } = await send(owner, 'POST', '/api/invitations', { email: other.email, role: 'member' })
  const invitation = String(link).split('/').at(-1)
  const theirs = await playwright.request.newContext({ baseURL: sluice.address })
  await theirs.post('/api/auth/sign-up/email', {
    data: { ...other, invitation },
    headers: { origin: sluice.address },
  })
  await theirs.dispose()

  const endElsewhere = await signIn(page, owner, '/campaigns')
  await endElsewhere()
  const over = await clickAfterSessionEnd(page, page.getByRole('link', { name: 'Offers' }))
  await over.getByLabel('E-mail').fill(other.email)
  await over.getByLabel('Password').fill(other.password)
  await over.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible()
  await expect(page.getByRole('button', { name: other.email })).toBeVisible()
})

test('a tab whose session ended continues once the person signs in in another tab @detail', async ({
  page,
  context,
  owner,
}) => {
  const endElsewhere = await signIn(page, owner, '/settings/profile')
  const name = page.getByRole('textbox', { name: 'Name', exact: true })
  await name.fill('Typed with care')
  await endElsewhere()
  const over = await clickAfterSessionEnd(page, page.getByRole('button', { name: 'Save name' }))

  const other = await context.newPage()
  await other.goto('/')
  await other.getByLabel('E-mail').fill(OWNER.email)
  await other.getByLabel('Password').fill(OWNER.password)
  await other.getByRole('button', { name: 'Sign in' }).click()
  await expect(other.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible()
  await expect(over).toBeHidden()
  await expect(name).toHaveValue('Typed with care')
})

test('if accounts need an invitation, the sign-up page says so and links to the sign-in page @detail', async ({
  page,
  context,
}) => {
  await context.clearCookies()
  await page.goto('/sign-up')
  await expect(page.getByRole('heading', { level: 1, name: 'You need an invitation' })).toBeVisible()
  await expect(page.getByRole('textbox')).toHaveCount(0)
  await page.getByRole('link', { name: 'Sign in' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible()
  await expect(page.getByRole('link', { name: 'Create an account' })).toHaveCount(0)
})

test.describe('an installation with open sign-up', () => {
  let open: Installation
  test.beforeAll(async () => {
    open = await startInstallation({ SIGN_UP: 'open' })
  })
  test.afterAll(() => open.end())

  test('anyone can sign up, and is then in no workspace @detail', async ({ browser }) => {
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
