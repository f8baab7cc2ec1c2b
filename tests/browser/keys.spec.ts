import { expect, send, test } from './dashboard.ts'

test('a key is created, shown once, granted, used, emptied and revoked', async ({ page, context, sluice, owner }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const campaign = await send(owner, 'POST', '/api/campaigns', {
    name: 'Broad DE',
    destination: { type: 'redirect', url: 'https://example.com/' },
  })
  await page.goto('/settings/api-keys')

  // A name is enough to create a key. The secret is shown once.
  await page.getByRole('button', { name: 'Create key' }).first().click()
  await page.getByRole('dialog').getByLabel('Name').fill('CRM')
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
  await expect(page.getByRole('dialog')).toContainText('never shown again')
  await page.getByRole('button', { name: 'Copy secret' }).click()
  const secret = await page.evaluate(() => navigator.clipboard.readText())
  expect(secret).toMatch(/^sluice_[0-9A-Za-z]{49}$/)
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog'), 'Escape must not lose the secret').toBeVisible()
  await page.getByRole('button', { name: 'Grant permissions' }).click()

  // A first grant without `events` shows a warning, and a right of the delete tier needs the typed word.
  const dialog = page.getByRole('dialog', { name: 'Permissions of CRM', exact: true })
  await dialog.getByRole('checkbox', { name: 'report' }).check()
  await expect(dialog.getByText('This integration will stop reporting conversions')).toBeVisible()
  await dialog.getByRole('checkbox', { name: 'campaigns:update' }).check()
  const save = dialog.getByRole('button', { name: 'Save permissions' })
  await expect(save).toBeDisabled()
  await expect(save).toHaveAccessibleDescription('Type DELETE to add rights of the delete tier.')
  await dialog.getByLabel('Type DELETE to add').fill('DELETE')
  await save.click()
  await expect(dialog).toBeHidden()
  await expect(page.getByText('campaigns:update', { exact: true })).toBeVisible()

  const use = (method: string, path: string, data?: unknown) =>
    fetch(`${sluice.address}${path}`, {
      method,
      headers: { 'x-api-key': secret, ...(data === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(data === undefined ? {} : { body: JSON.stringify(data) }),
    })
  const renamed = await use('PATCH', `/api/campaigns/${campaign.id}`, { name: 'Broad DE 2' })
  expect(renamed.status).toBe(200)

  // An emptied key has no rights from its next call on.
  await page.getByRole('button', { name: 'Revoke all permissions' }).click()
  await page
    .getByRole('dialog', { name: 'Revoke all permissions of CRM?' })
    .getByRole('button', { name: 'Revoke all permissions' })
    .click()
  await expect(page.getByText('All permissions were revoked', { exact: false })).toBeVisible()
  expect((await use('PATCH', `/api/campaigns/${campaign.id}`, { name: 'Broad DE 3' })).status).toBe(403)

  // A revoked key is refused altogether.
  await page.getByRole('button', { name: 'Revoke key' }).click()
  const question = page.getByRole('dialog', { name: 'Revoke CRM?' })
  await expect(question).toContainText('cannot be undone')
  await question.getByRole('button', { name: 'Revoke key' }).click()
  await expect(page.getByText('Revoked', { exact: true })).toBeVisible()
  expect((await use('GET', '/api/v1/clicks')).status).toBe(401)

  await page.getByRole('link', { name: 'API keys' }).first().click()
  await expect(page.getByRole('row', { name: /CRM/ })).toContainText('Revoked')
  expect(await page.content(), 'no screen shows a secret again').not.toContain(secret)
})

test('rights over the whole workspace cannot be ticked beside a list of campaigns @detail', async ({ page, owner }) => {
  await send(owner, 'POST', '/api/campaigns', {
    name: 'Push ES',
    destination: { type: 'redirect', url: 'https://example.com/' },
  })
  const key = await send(owner, 'POST', '/api/api-keys', { name: 'Buyer' })
  await page.goto(`/settings/api-keys/${key.id}?grant=true`)
  const dialog = page.getByRole('dialog', { name: 'Permissions of Buyer', exact: true })
  await dialog.getByRole('checkbox', { name: 'offers', exact: true }).check()
  await dialog.getByRole('checkbox', { name: 'events' }).check()
  await dialog.getByRole('radio', { name: /Only some campaigns/ }).check()
  const save = dialog.getByRole('button', { name: 'Save permissions' })
  await expect(save).toHaveAccessibleDescription('Choose at least one campaign, or allow every campaign.')
  await dialog.getByRole('checkbox', { name: 'Push ES' }).check()

  const offers = dialog.getByRole('checkbox', { name: 'offers', exact: true })
  await expect(offers).not.toBeChecked()
  await expect(offers).toHaveAccessibleDescription(/cannot be limited to campaigns/)
  await expect(dialog.getByText('these rights cannot be limited to campaigns')).toContainText('offers')
  await save.click()
  await expect(page.getByText('Only Push ES.')).toBeVisible()
  const grant = await send(owner, 'GET', `/api/api-keys/${key.id}/grant`)
  expect(grant).toMatchObject({ read: [], write: ['events'], delete: [], campaigns: [{ name: 'Push ES' }] })
})

test('rights of a key can be changed while a campaign it lists is deleted @detail', async ({ page, owner }) => {
  const campaign = await send(owner, 'POST', '/api/campaigns', {
    name: 'Pop FR',
    destination: { type: 'redirect', url: 'https://example.com/' },
  })
  const key = await send(owner, 'POST', '/api/api-keys', { name: 'Late' })
  const { organization } = (await send(owner, 'GET', `/api/api-keys/${key.id}/grant`)) as unknown as {
    organization: { id: string }
  }
  await send(owner, 'PUT', `/api/api-keys/${key.id}/grant`, {
    organization_id: organization.id,
    write: ['events'],
    campaigns: [campaign.id],
  })
  await send(owner, 'PUT', `/api/campaigns/${campaign.id}/status`, { status: 'archived' })
  await send(owner, 'DELETE', `/api/campaigns/${campaign.id}`)

  await page.goto(`/settings/api-keys/${key.id}?grant=true`)
  const dialog = page.getByRole('dialog', { name: 'Permissions of Late', exact: true })
  await expect(dialog.getByRole('checkbox', { name: 'Pop FR (deleted)' })).toBeChecked()
  await dialog.getByRole('checkbox', { name: 'clicks', exact: true }).check()
  await dialog.getByRole('button', { name: 'Save permissions' }).click()
  await expect(dialog).toBeHidden()
  const grant = await send(owner, 'GET', `/api/api-keys/${key.id}/grant`)
  expect(grant).toMatchObject({ read: ['clicks'], write: ['events'], campaigns: [{ name: 'Pop FR', deleted: true }] })
})

test('the grant dialog works by keyboard alone, and gives the focus back @detail', async ({ page, owner }) => {
  const key = await send(owner, 'POST', '/api/api-keys', { name: 'Script' })
  await page.goto(`/settings/api-keys/${key.id}`)
  const edit = page.getByRole('button', { name: 'Edit permissions' })
  await edit.focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Permissions of Script', exact: true })
  await expect(dialog).toBeVisible()
  // The focus follows a moment after the dialog.
  await expect(dialog.locator(':focus')).toHaveCount(1)

  const tabTo = async (name: string) => {
    for (let presses = 0; presses < 60; presses++) {
      const now = await page.evaluate(() => {
        const at = document.activeElement
        return {
          inside: at?.closest('[role=dialog]') !== null,
          label: at instanceof HTMLInputElement ? at.labels?.[0]?.textContent : at?.textContent,
        }
      })
      expect(now.inside, 'the focus stays in the dialog').toBe(true)
      if (now.label === name) return
      await page.keyboard.press('Tab')
    }
    throw new Error(`${name} cannot be reached by Tab`)
  }
  await tabTo('clicks')
  await page.keyboard.press('Space')
  await tabTo('ad-spend')
  await page.keyboard.press('Space')
  await tabTo('Type DELETE to add')
  await page.keyboard.type('DELETE')
  await page.keyboard.press('Enter')
  await expect(dialog).toBeHidden()
  await expect(edit).toBeFocused()
  const grant = await send(owner, 'GET', `/api/api-keys/${key.id}/grant`)
  expect(grant).toMatchObject({ state: 'granted', read: ['clicks'], write: [], delete: ['ad-spend'] })

  await page.keyboard.press('Enter')
  await expect(dialog).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(dialog).toBeHidden()
  await expect(edit).toBeFocused()
})

test('a key is disabled, enabled, and made to expire @detail', async ({ page, owner }) => {
  await send(owner, 'POST', '/api/api-keys', { name: 'Nightly' })
  await page.goto('/settings/api-keys')
  const row = page.getByRole('row', { name: /Nightly/ })
  const choose = async (item: string) => {
    await row.getByRole('button', { name: 'Actions for Nightly' }).click()
    await page.getByRole('menuitem', { name: item }).click()
  }
  await choose('Disable')
  await page.getByRole('dialog', { name: 'Disable Nightly?' }).getByRole('button', { name: 'Disable key' }).click()
  await expect(row).toContainText('Disabled')
  await choose('Enable')
  await page.getByRole('dialog', { name: 'Enable Nightly?' }).getByRole('button', { name: 'Enable key' }).click()
  await expect(row).toContainText('Accepted')
  const expiry = page.getByRole('dialog', { name: 'Expiry of Nightly' })
  await choose('Set expiry')
  await expect(expiry).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(row.getByRole('button', { name: 'Actions for Nightly' })).toBeFocused()
  await choose('Set expiry')
  await expiry.getByLabel('Accepted until (UTC)').fill('2020-01-01T00:00')
  await expiry.getByRole('button', { name: 'Save expiry' }).click()
  await expect(row).toContainText('Expired')
})

test('a key asks first, and what it changed is put back in one act @detail', async ({ page, sluice, owner }) => {
  const made = await send(owner, 'POST', '/api/api-keys', { name: 'Host' })
  const offers = ['Slots', 'Poker'].map(name => send(owner, 'POST', '/api/offers', { name, url: 'https://o.example/' }))
  const [slots, poker] = await Promise.all(offers)
  const { organization } = (await send(owner, 'GET', `/api/api-keys/${made.id}/grant`)) as unknown as {
    organization: { id: string }
  }
  const grant = {
    organization_id: organization.id,
    write: ['offers'],
    delete: ['offers:update'],
    confirmation: 'DELETE',
  }
  await send(owner, 'PUT', `/api/api-keys/${made.id}/grant`, grant)
  for (const offer of [slots, poker])
    await fetch(`${sluice.address}/api/offers/${offer?.id}`, {
      method: 'PUT',
      headers: { 'x-api-key': String(made['secret']), 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Renamed', url: 'https://o.example/' }),
    })

  await page.goto(`/settings/api-keys/${made.id}`)
  await page.getByRole('button', { name: 'Turn on' }).click()
  const question = page.getByRole('dialog', { name: 'Make Host ask first?' })
  await expect(question).toContainText('HTTP calls with this key do not ask')
  await question.getByRole('button', { name: 'Ask first' }).click()
  await expect(page.getByRole('button', { name: 'Turn off' })).toBeVisible()

  await page.getByRole('button', { name: 'Put back…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Put back what Host changed' })
  const changes = dialog.getByRole('checkbox', { name: 'Renamed' })
  await expect(changes).toHaveCount(2)
  await changes.first().uncheck()
  await dialog.getByRole('button', { name: 'Put back' }).click()
  await expect(page.getByText('One change is put back')).toBeVisible()
  const names = await Promise.all([slots, poker].map(offer => send(owner, 'GET', `/api/offers/${offer?.id}`)))
  expect(names.map(({ name }) => name)).toEqual(['Slots', 'Renamed'])
})
