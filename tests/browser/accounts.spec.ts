import { crc32, deflateSync } from 'node:zlib'
import { expect, test } from './dashboard.ts'

/** A PNG in one colour, as a camera would never send it and every browser reads it. */
function png(width: number, height: number): Buffer {
  const rows = Buffer.alloc(height * (1 + width * 3), 90)
  for (let row = 0; row < height; row += 1) rows[row * (1 + width * 3)] = 0
  const chunk = (type: string, body: Buffer) => {
    const named = Buffer.concat([Buffer.from(type), body])
    const ends = Buffer.alloc(8)
    ends.writeUInt32BE(body.length)
    ends.writeUInt32BE(crc32(named), 4)
    return Buffer.concat([ends.subarray(0, 4), named, ends.subarray(4)])
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

test('a picture is chosen, made small, shown in the frame and the team, and removed', async ({ page }) => {
  await page.goto('/settings/profile')
  const menu = page.getByRole('button', { name: 'mara@example.com' })
  await expect(menu).toContainText('ML')
  const wrong = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no image') }
  await page.getByLabel('Image file').setInputFiles(wrong)
  await expect(page.getByRole('alert')).toContainText('cannot read this file as an image')

  // Larger than what may be sent: the browser makes it small.
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
