import { rmSync } from 'node:fs'
import pg from 'pg'
import { expect, test } from './dashboard.ts'

test('an owner runs a backup, downloads it, and reads how it is restored', async ({ page, owner }) => {
  await page.goto('/settings/backup')
  await expect(page.getByText('No backups yet')).toBeVisible()
  await page.getByRole('button', { name: 'Run now' }).click()
  const row = page.getByRole('row', { name: /Complete/ })
  await expect(row).toContainText(/backups\/sluice-\w+-\w+\.backup/, { timeout: 60_000 })
  const waiting = page.waitForEvent('download')
  await row.getByRole('link', { name: 'Download' }).click()
  const download = await waiting
  expect(download.suggestedFilename()).toMatch(/^sluice-\d{8}T\d{6}Z-\w{8}\.backup$/)
  expect(await download.failure()).toBeNull()
  await expect(page.getByRole('region', { name: 'Restoring' })).toContainText(/npm run restore -- \S+\.backup/)

  const { folder } = (await (await owner.get('/api/backups')).json()) as { folder: string }
  rmSync(folder, { recursive: true })
  await page.reload()
  await expect(row).toContainText('Not here: it was moved or removed')
  await expect(row.getByRole('link', { name: 'Download' })).toHaveCount(0)
})

test('a running and a failed backup are shown, and the page is gone once another workspace exists @detail', async ({
  page,
  sluice,
}) => {
  const client = new pg.Client({ connectionString: sluice.database })
  await client.connect()
  await client.query(
    `insert into backups (id, started_at, path, bytes, rows, tables, lease_token, leased_until)
    values (uuidv7(), now(), '/backup/one.backup', 45200000, 1234567, 12, gen_random_uuid(), now() + interval '1 hour')`,
  )
  await page.goto('/settings/backup')
  await expect(page.getByText(/A backup is running.*: 45.2 MB and 1,234,567 rows of 12 tables so far/)).toBeVisible()
  await expect(page.getByRole('button', { name: 'Run now' })).toHaveAccessibleDescription(/A backup is running/)
  await client.query(
    `update backups set ended_at = now(), failure = 'the disk is full: free space' where ended_at is null`,
  )
  await expect(page.getByText(/The last backup failed.*The disk is full: free space\./)).toBeVisible()

  await client.query(`insert into organizations (org_id, id, name, created_at) values (1, uuidv7(), 'Foreign', now())`)
  await page.reload()
  await expect(page.getByText('Page not found')).toBeVisible()
  await page.goto('/settings/profile')
  await expect(page.getByRole('link', { name: 'Workspace' })).toBeVisible()
  await expect(page.getByRole('link', { name: 'Backup' })).toHaveCount(0)
  await client.end()
})
