import { type Browser, type CDPSession, type Page, request } from '@playwright/test'
import { codeOf } from '../support/totp.ts'
import { expect, type Installation, send, test, watch } from './dashboard.ts'

// This spec has its own installation and people: a second factor of the shared owner would be asked for in every other spec.
test.use({ settings: { SIGN_UP: 'open' } })

const PASSWORD = 'correct horse battery'

let people = 0

/** A new person with their own workspace, in their own browser. */
async function newcomer(browser: Browser, sluice: Installation, name: string) {
  people += 1
  const email = `person${people}@example.com`
  const headers = { origin: sluice.address }
  const context = await browser.newContext({ baseURL: sluice.address, storageState: { cookies: [], origins: [] } })
  const api = context.request
  const signedUp = await api.post('/api/auth/sign-up/email', { data: { name, email, password: PASSWORD }, headers })
  expect(signedUp.status(), await signedUp.text()).toBe(200)
  const created = await api.post('/api/organizations', { data: { name: `${name} Media` }, headers })
  expect(created.status()).toBe(201)
  const page = await context.newPage()
  return { page, email, complaints: watch(page), close: () => context.close() }
}

async function signInWithPassword(page: Page, email: string) {
  await page.context().clearCookies()
  await page.goto('/sign-in')
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'One more step' })).toBeVisible()
}

const expectSignedIn = (page: Page) => expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible()

/** A virtual authenticator that confirms every request. */
async function addAuthenticator(page: Page): Promise<{ devtools: CDPSession; id: string }> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return { devtools, id: authenticatorId }
}

test('an app is set up by its QR code, asked for after the password, replaced once by a recovery code, and removed', async ({
  browser,
  sluice,
}) => {
  const { page, email, complaints, close } = await newcomer(browser, sluice, 'Ann')
  await page.goto('/settings/profile')
  const factors = page.getByRole('region', { name: 'Second factor' })
  await factors.getByRole('button', { name: 'Set up an app' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Your password').fill('not the password')
  await dialog.getByRole('button', { name: 'Continue' }).click()
  await expect(dialog.getByRole('alert')).toContainText(/invalid password/i)
  await dialog.getByLabel('Your password').fill(PASSWORD)
  await dialog.getByLabel('Your password').press('Enter')
  await expect(dialog.getByRole('figure', { name: 'QR code for the app' })).toBeVisible()
  const secret = (await dialog.locator('code').innerText()).replace(/\s/g, '')
  const uri = `otpauth://totp/Sluice?secret=${secret}`
  await dialog.getByLabel('Code shown by the app').fill('12')
  await dialog.getByRole('button', { name: 'Set up' }).click()
  await expect(dialog.getByLabel('Code shown by the app')).toHaveAccessibleDescription(/six digits/)
  const used = codeOf(uri)
  await dialog.getByLabel('Code shown by the app').fill(used)
  await dialog.getByRole('button', { name: 'Set up' }).click()
  const codes = dialog.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem')
  await expect(codes).toHaveCount(10)
  const recovery = await codes.first().innerText()
  const saved = page.waitForEvent('download')
  await dialog.getByRole('button', { name: 'Download' }).click()
  expect((await saved).suggestedFilename()).toBe('sluice-recovery-codes.txt')
  await dialog.getByRole('button', { name: 'I have saved them' }).click()
  await expect(factors).toContainText('10 left')

  await signInWithPassword(page, email)
  await page.getByLabel('Code from your app').fill(used)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await expect(page.getByRole('alert')).toContainText('This code was used')
  // The next code is accepted a little early, so the test need not wait half a minute for it.
  await page.getByLabel('Code from your app').fill(codeOf(uri, Date.now() + 30_000))
  await page.getByLabel('Code from your app').press('Enter')
  await expectSignedIn(page)

  await signInWithPassword(page, email)
  await page.getByRole('button', { name: 'Use a recovery code' }).click()
  await page.getByLabel('Recovery code').fill(recovery.toUpperCase())
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await expectSignedIn(page)
  await page.goto('/settings/profile')
  await expect(factors).toContainText('9 left')

  await factors.getByRole('button', { name: 'Make new codes' }).click()
  await dialog.getByLabel('Your password').fill(PASSWORD)
  await dialog.getByRole('button', { name: 'Make new codes' }).click()
  await expect(codes).toHaveCount(10)
  await expect(codes.first()).not.toHaveText(recovery)
  await dialog.getByRole('button', { name: 'I have saved them' }).click()
  await expect(factors).toContainText('10 left')

  await factors.getByRole('button', { name: 'Remove the app' }).click()
  await expect(dialog).toContainText('Your password alone will sign you in')
  await dialog.getByLabel('Your password').fill(PASSWORD)
  await dialog.getByRole('button', { name: 'Remove the app' }).click()
  await expect(factors.getByRole('button', { name: 'Set up an app' })).toBeVisible()
  await expect(factors).not.toContainText('Recovery codes')
  expect(complaints).toEqual([])
  await close()
})

test('a passkey is added, signs in alone and after the password, is renamed, and is removed @detail', async ({
  browser,
  sluice,
}) => {
  const { page, email, complaints, close } = await newcomer(browser, sluice, 'Bea')
  const { devtools, id } = await addAuthenticator(page)
  await page.goto('/settings/profile')
  const factors = page.getByRole('region', { name: 'Second factor' })
  const dialog = page.getByRole('dialog')
  await factors.getByRole('button', { name: 'Add a passkey' }).click()
  await dialog.getByLabel('Name').fill('Laptop')
  await dialog.getByRole('button', { name: 'Add passkey' }).click()
  await expect(dialog.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem')).toHaveCount(10)
  await dialog.getByRole('button', { name: 'I have saved them' }).click()
  await expect(factors).toContainText('Laptop')
  await factors.getByRole('button', { name: 'Add a passkey' }).click()
  await dialog.getByLabel('Name').fill('Once more')
  await dialog.getByRole('button', { name: 'Add passkey' }).click()
  await expect(dialog.getByRole('alert')).toContainText('already holds a passkey for your account')
  await dialog.getByRole('button', { name: 'Cancel' }).click()

  await page.context().clearCookies()
  await page.goto('/sign-in')
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await expectSignedIn(page)
  await signInWithPassword(page, email)
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await expectSignedIn(page)

  // When the session ends under an open page, the person signs in again over it, in the same two steps.
  await page.context().clearCookies()
  await page.getByRole('link', { name: 'Clicks' }).click()
  await dialog.getByLabel('Password').fill(PASSWORD)
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click()
  await expect(dialog.getByRole('button', { name: 'Use a recovery code' })).toBeVisible()
  await dialog.getByRole('button', { name: 'Use a passkey' }).click()
  await expect(page.getByText('You are signed in again')).toBeVisible()
  await expect(page.getByRole('heading', { level: 1, name: 'Clicks' })).toBeVisible()

  // Without user verification the passkey is not accepted.
  await devtools.send('WebAuthn.setUserVerified', { authenticatorId: id, isUserVerified: false })
  await page.context().clearCookies()
  await page.goto('/sign-in')
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await expect(page.getByRole('alert')).toContainText('No passkey was used')
  await devtools.send('WebAuthn.setUserVerified', { authenticatorId: id, isUserVerified: true })
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await expectSignedIn(page)

  await page.goto('/settings/profile')
  await factors.getByRole('button', { name: 'Rename the passkey Laptop' }).click()
  await expect(dialog.getByLabel('Name')).toHaveValue('Laptop')
  await dialog.getByLabel('Name').fill(' ')
  await dialog.getByRole('button', { name: 'Rename', exact: true }).click()
  await expect(dialog.getByLabel('Name')).toHaveAttribute('aria-invalid', 'true')
  await dialog.getByLabel('Name').fill('Old laptop')
  await dialog.getByLabel('Name').press('Enter')
  await expect(factors).toContainText('Old laptop')
  await factors.getByRole('button', { name: 'Remove the passkey Old laptop' }).click()
  await dialog.getByRole('button', { name: 'Remove', exact: true }).click()
  await expect(factors).not.toContainText('Old laptop')
  await page.context().clearCookies()
  await page.goto('/sign-in')
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await expect(page.getByRole('alert')).toContainText('This passkey was not accepted')
  expect(complaints).toEqual([])
  await close()
})

test('a workspace requires a second factor: a member without one gets a link to their profile, and the workspace opens once they have one @detail', async ({
  browser,
  sluice,
}) => {
  const ann = await newcomer(browser, sluice, 'Cleo')
  const mate = await newcomer(browser, sluice, 'Dan')
  const api = await request.newContext({
    baseURL: sluice.address,
    storageState: await ann.page.context().storageState(),
    extraHTTPHeaders: { origin: sluice.address },
  })
  const invitation = await send(api, 'POST', '/api/invitations', { email: mate.email, role: 'admin' })
  await mate.page.goto(String(invitation['link']))
  await mate.page.getByRole('button', { name: /^(Join|Accept)/ }).click()
  await expectSignedIn(mate.page)

  await ann.page.goto('/settings/workspace')
  const asking = ann.page.getByRole('switch', { name: 'Require a second factor' })
  await expect(asking).toHaveAttribute('aria-disabled', 'true')
  await addAuthenticator(ann.page)
  await ann.page.getByRole('link', { name: 'set one up' }).click()
  await ann.page.getByRole('button', { name: 'Add a passkey' }).click()
  await ann.page.getByRole('dialog').getByLabel('Name').fill('Laptop')
  await ann.page.getByRole('dialog').getByRole('button', { name: 'Add passkey' }).click()
  await ann.page.getByRole('button', { name: 'I have saved them' }).click()
  await ann.page.goto('/settings/team')
  await expect(ann.page.getByRole('row', { name: /Cleo/ })).toContainText('On')
  await expect(ann.page.getByRole('row', { name: /Dan/ })).toContainText('None')
  await ann.page.goto('/settings/workspace')
  await asking.click()
  await expect(ann.page.getByRole('dialog')).toContainText('Dan has none and is locked out')
  await ann.page.getByRole('dialog').getByRole('button', { name: 'Require it' }).click()
  await expect(asking).toHaveAttribute('aria-checked', 'true')

  // A page that is already open shows it as well.
  await mate.page.getByRole('link', { name: 'Clicks' }).click()
  const wanted = mate.page.getByRole('heading', { level: 1, name: 'Cleo Media requires a second factor' })
  await expect(wanted).toBeVisible()
  await mate.page.goto('/campaigns')
  await expect(wanted).toBeVisible()
  await addAuthenticator(mate.page)
  await mate.page.getByRole('link', { name: 'Set one up' }).click()
  await expect(mate.page.getByText('You get in as soon as you set up')).toBeVisible()
  await mate.page.getByRole('button', { name: 'Add a passkey' }).click()
  await mate.page.getByRole('dialog').getByLabel('Name').fill('Phone')
  await mate.page.getByRole('dialog').getByRole('button', { name: 'Add passkey' }).click()
  await mate.page.getByRole('button', { name: 'I have saved them' }).click()
  await mate.page.getByRole('link', { name: 'Campaigns' }).click()
  await expect(mate.page.getByRole('heading', { level: 1, name: 'Campaigns' })).toBeVisible()
  expect([...ann.complaints, ...mate.complaints]).toEqual([])
  await api.dispose()
  await ann.close()
  await mate.close()
})
