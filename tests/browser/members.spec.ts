// A member sees everything in the dashboard, and every action that the server would refuse is disabled.
import { expect, send, test } from './dashboard.ts'

const ONLY = /^Only owners and admins of the workspace can do this; you are a member\.$/

test('a member cannot record conversions, and cannot share, change or delete shared views @detail', async ({
  browser,
  sluice,
  owner,
  playwright,
}) => {
  const member = { name: 'Ines', email: 'ines.member@example.com', password: 'another long password' }
  const question = { levels: [{ dimension: 'sub1' }] }
  await send(owner, 'POST', '/api/explore-views', { name: 'Everyone’s zones', question, is_shared: true })
  const { link } = await send(owner, 'POST', '/api/invitations', { email: member.email, role: 'member' })
  const invitation = String(link).split('/').at(-1)
  const door = await playwright.request.newContext({
    baseURL: sluice.address,
    storageState: { cookies: [], origins: [] },
  })
  const headers = { origin: sluice.address }
  const reply = await door.post('/api/auth/sign-up/email', { data: { ...member, invitation }, headers })
  expect(reply.ok(), await reply.text()).toBe(true)
  const context = await browser.newContext({ baseURL: sluice.address, storageState: await door.storageState() })
  const page = await context.newPage()

  await page.goto('/conversions')
  for (const name of ['Record', 'Approve or reject']) {
    const button = page.getByRole('button', { name, exact: true })
    await expect(button).toHaveAttribute('aria-disabled', 'true')
    await expect(button).toHaveAccessibleDescription(ONLY)
  }

  await page.goto('/report')
  await page.getByRole('button', { name: 'Views', exact: true }).click()
  await page.getByRole('menuitemradio', { name: 'Everyone’s zones' }).click()
  await page.getByRole('button', { name: 'Everyone’s zones' }).click()
  for (const name of [/^Rename or share/, /^Delete/])
    await expect(page.getByRole('menuitem', { name })).toHaveAttribute('aria-disabled', 'true')
  await page.getByRole('menuitem', { name: 'Save as a view' }).click()
  const dialog = page.getByRole('dialog', { name: 'Save as a view' })
  const share = dialog.getByRole('checkbox', { name: 'Share with the workspace' })
  await expect(share).toHaveAttribute('aria-disabled', 'true')
  await dialog.getByRole('textbox', { name: 'Name' }).fill('My zones')
  await dialog.getByRole('button', { name: 'Save view' }).click()
  await expect(page.getByRole('button', { name: 'My zones' })).toBeVisible()
  await context.close()
  await door.dispose()
})
