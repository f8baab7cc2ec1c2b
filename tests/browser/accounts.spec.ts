import { crc32, deflateSync } from 'node:zlib'
import { expect, test } from './dashboard.ts'

/** A valid PNG in one colour. */
function png(width: number, height: number): Buffer {
  const rows = Buffer.alloc(height * (1 + width * 3), 90)
  for (let row = 0; row < height; row += 1) rows[row * (1 + width * 3)] = 0
  const chunk = (type: string, body: Buffer) => {
    const typed = Buffer.concat([Buffer.from(type), body])
    const ends = Buffer.alloc(8)
    ends.writeUInt32BE(body.length)
    ends.writeUInt32BE(crc32(typed), 4)
    return Buffer.concat([ends.subarray(0, 4), typed, ends.subarray(4)])
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width)
  head.writeUInt32BE(height, 4)
  head.set([8, 2, 0, 0, 0], 8)
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

test('a picture is chosen, made small, shown in the frame and the team, and removed @detail', async ({ page }) => {
  await page.goto('/settings/profile')
  const menu = page.getByRole('button', { name: 'mara@example.com' })
  await expect(menu).toContainText('ML')
  const wrong = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no image') }
  await page.getByLabel('Image file').setInputFiles(wrong)
  await expect(page.getByRole('alert')).toContainText('cannot read this file as an image')

  // The file is larger than the server accepts, so the browser must make it small.
  const photo = { name: 'me.png', mimeType: 'image/png', buffer: png(2400, 1600) }
  await page.getByLabel('Image file').setInputFiles(photo)
  await expect(page.getByText('Your picture is saved')).toBeVisible()
  const picture = menu.locator('img')
  await expect(picture).toHaveJSProperty('naturalWidth', 256)
  await expect(picture).toHaveJSProperty('naturalHeight', 256)
  await page.goto('/settings/team')
  await expect(page.getByRole('row', { name: /Mara Lindqvist/ }).locator('img')).toHaveJSProperty('naturalWidth', 256)

  await page.goto('/settings/profile')
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await expect(page.getByText('Your picture is removed')).toBeVisible()
  await expect(menu).toContainText('ML')
})

test('the link of an invitation is shown once, a new one replaces it, and a link that no longer works says what to do @detail', async ({
  page,
  browser,
  sluice,
}) => {
  await page.goto('/settings/team')
  await page.getByRole('button', { name: 'Invite', exact: true }).click()
  const form = page.getByRole('dialog', { name: 'Invite to the workspace' })
  await form.getByLabel('E-mail').fill('nia@example.com')
  await form.getByRole('button', { name: 'Invite' }).click()
  const made = page.getByRole('dialog', { name: 'nia@example.com is invited' })
  await expect(made).toContainText('without proving that they are nia@example.com')
  const first = await made.getByLabel('Link').inputValue()
  await made.getByRole('button', { name: 'Done' }).click()

  await page.getByRole('button', { name: 'New link for nia@example.com' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Make a new link' }).click()
  await expect(made).toBeVisible()
  const second = await made.getByLabel('Link').inputValue()
  expect(second).not.toBe(first)
  await made.getByRole('button', { name: 'Done' }).click()

  const context = await browser.newContext({ baseURL: sluice.address, storageState: { cookies: [], origins: [] } })
  const guest = await context.newPage()
  await guest.goto('/invitations/01h455vb4pex5vsknk084sn02q')
  await expect(guest.getByText('Ask the person who invited you for a new one')).toBeVisible()
  await guest.goto(first)
  await expect(guest.getByRole('alert')).toContainText('Ask the person who invited you for a new link')
  await guest.goto(second)
  await expect(guest.getByRole('heading', { level: 1, name: 'Join Northwind' })).toBeVisible()
  await guest.goto('/confirm-email?token=x')
  await expect(guest.getByRole('link', { name: 'Sign in' })).toBeVisible()
  await context.close()

  await page.goto('/settings/profile')
  await page.getByLabel('New e-mail').fill('mara2@example.com')
  await page.getByLabel('Current password').first().fill('correct horse battery')
  await page.getByRole('button', { name: 'Change e-mail' }).click()
  await expect(page.getByRole('alert')).toContainText('No mail server is set up')
})
