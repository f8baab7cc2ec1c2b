// Receivers of alerts: a webhook is created, its secret shown once, tested, given quiet hours and a new secret, and deleted.
import { startReceiver } from '../support/receiver.ts'
import { expect, test } from './dashboard.ts'

test.use({ settings: { ALLOW_PRIVATE_TARGETS: 'true' } })

test('a webhook is created, tested, changed, gets a new secret, and is deleted', async ({ page }) => {
  let status = 500
  const program = await startReceiver((_, response) => void response.writeHead(status).end())
  await page.goto('/automation/receivers')
  await page.getByRole('button', { name: 'New receiver' }).first().click()
  const form = page.getByRole('dialog', { name: 'New receiver' })
  await form.getByLabel('Sent by').selectOption('webhook')
  await form.getByLabel('Name').fill('Pager')
  await form.getByLabel('Address').fill('nowhere')
  await form.getByRole('button', { name: 'Add receiver' }).click()
  await expect(form.getByText('Must begin with http:// or https://')).toBeVisible()
  await form.getByLabel('Address').fill(`${program.origin}/in/path`)
  await form.getByRole('button', { name: 'Add receiver' }).click()
  const secret = page.getByRole('dialog', { name: 'The secret of Pager' })
  await expect(secret.getByLabel('Secret', { exact: true })).toHaveValue(/^whsec_.{44}$/)
  const first = await secret.getByLabel('Secret', { exact: true }).inputValue()
  await secret.getByRole('button', { name: 'Done' }).click()

  const row = page.getByRole('row', { name: /^Pager/ })
  const choose = async (item: string) => {
    await row.getByRole('button', { name: /^Actions/ }).click()
    await page.getByRole('menuitem', { name: item }).click()
  }
  await choose('Send test')
  const trial = page.getByRole('dialog', { name: 'Test Pager' })
  await trial.getByRole('button', { name: 'Send test' }).click()
  await expect(trial.getByText('It answered HTTP 500', { exact: false })).toBeVisible()
  status = 200
  await trial.getByRole('button', { name: 'Send again' }).click()
  await expect(trial.getByText('Sent', { exact: true })).toBeVisible()
  await trial.getByRole('button', { name: 'Close' }).first().click()
  await expect(row).toContainText('Works')
  expect(JSON.parse(program.arrivals.at(-1)?.body ?? '')).toMatchObject({ type: 'test' })
  await program.close()

  await row.getByRole('button', { name: 'Pager', exact: true }).click()
  const edit = page.getByRole('dialog', { name: 'Edit receiver' })
  await edit.getByLabel('About').selectOption('some')
  await edit.getByLabel('Balance low').check()
  await edit.getByLabel('Quiet hours').check()
  await edit.getByLabel('Until').fill('07:00')
  await edit.getByLabel('One digest a day').check()
  await edit.getByRole('button', { name: 'Save receiver' }).click()
  await expect(row).toContainText('Balance low')
  await expect(row).toContainText('Digest at 09:00, not 22:00–07:00')

  await choose('New secret')
  await page.getByRole('button', { name: 'Make new secret' }).click()
  await expect(secret.getByLabel('Secret', { exact: true })).not.toHaveValue(first)
  await secret.getByRole('button', { name: 'Done' }).click()
  await choose('Delete')
  await page.getByRole('button', { name: 'Delete receiver' }).click()
  await expect(page.getByText('No receivers yet')).toBeVisible()
})

test('a kind of alert is switched off for the workspace @detail', async ({ page }) => {
  await page.goto('/automation/receivers')
  const told = page.getByRole('group', { name: 'What is told' })
  // A reload would break off what is still to be sent.
  const saved = page.waitForResponse(
    reply => reply.request().method() === 'PUT' && reply.request().postData()?.includes('50') === true,
  )
  await told.getByLabel('Clicks fall').uncheck()
  // Changed while the other change is being saved.
  await page.getByLabel('Least conversions expected').fill('50')
  await page.getByLabel('Least conversions expected').blur()
  expect((await saved).status()).toBe(200)
  await page.reload()
  await expect(told.getByLabel('Clicks fall')).not.toBeChecked()
  await expect(page.getByLabel('Least conversions expected')).toHaveValue('50')
})
