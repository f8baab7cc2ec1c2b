// Domains on the screen: added, checked, used in campaign links, deleted; and the warning when a domain fails.
import { type FakeDns, startDns } from '../support/dns-fake.ts'
import { HERE, NOBODY } from '../support/domains.ts'
import { freePort } from '../support/ports.ts'
import { expect, send, test as plain } from './dashboard.ts'

/** An installation with its own DNS server, whose domain checks connect to the installation itself. */
const test = plain.extend<object, { dns: FakeDns }>({
  dns: [
    // oxlint-disable-next-line no-empty-pattern -- Playwright reads the fixtures that a fixture needs from its first argument.
    async ({}, use) => {
      const dns = await startDns()
      dns.set('localhost', { A: [HERE] })
      await use(dns)
      await dns.close()
    },
    { scope: 'worker' },
  ],
  settings: [
    async ({ dns }, use) => {
      const [port, closed] = [await freePort(), await freePort()]
      await use({
        PORT: String(port),
        BASE_URL: `http://localhost:${port}`,
        DNS_SERVERS: dns.address,
        CHECK_PORTS: `${port},${closed}`,
        ALLOW_PRIVATE_TARGETS: 'true',
      })
    },
    { scope: 'worker' },
  ],
})

const destination = { type: 'redirect', url: 'https://shop.example/?c={click_id}' }

test('a domain is added, waits for its DNS, becomes active, and is used in campaign links @detail', async ({
  page,
  owner,
  dns,
}) => {
  await page.goto('/settings/domains')
  await expect(page.getByText('No domains yet')).toBeVisible()
  await page.getByRole('button', { name: 'Add domains' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Add domains' })
  await dialog.getByLabel('Names').fill('https://go.shop.test/x\n10.0.0.1')
  await dialog.getByRole('button', { name: 'Add 2 domains' }).click()
  await expect(dialog.getByRole('listitem').first()).toContainText('Added.')
  await expect(dialog.getByRole('listitem').last()).toContainText('Must be a name, not an address.')
  await expect(dialog.getByLabel('Names')).toHaveValue('10.0.0.1')
  await dialog.getByRole('button', { name: 'Cancel' }).click()

  await page.getByRole('link', { name: 'go.shop.test' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'go.shop.test' })).toBeVisible()
  await expect(page.getByText('DNS has no address for go.shop.test.').first()).toBeVisible()
  const record = page.getByRole('row', { name: /^A go\.shop\.test/ })
  await expect(record).toContainText(HERE)
  dns.set('go.shop.test', { A: [HERE] })
  // The check is automatic: every ten seconds in the first minute.
  await expect(page.getByText('Requests for this name reach Sluice.')).toBeVisible({ timeout: 60_000 })
  await expect(page.getByText('Leads here', { exact: true }).first()).toBeVisible()
  await expect(record.getByText('Found', { exact: true })).toBeAttached()

  await send(owner, 'POST', '/api/campaigns', { name: 'Spring', key: 'spring', destination })
  dns.set('second.shop.test', { A: [HERE] })
  const { id } = await send(owner, 'POST', '/api/domains', { name: 'second.shop.test' })
  await send(owner, 'POST', `/api/domains/${id}/check`, {})
  await page.goto('/settings/domains')
  const second = page.getByRole('row', { name: /^second\.shop\.test/ })
  await expect(second).toContainText('Leads here')
  await second.getByRole('button', { name: 'Actions for second.shop.test' }).click()
  await page.getByRole('menuitem', { name: 'Make default' }).click()
  await expect(second.getByText('Default', { exact: true })).toBeAttached()

  await page.goto('/campaigns')
  await page.getByRole('link', { name: 'Spring' }).first().click()
  await expect(page.getByText('http://second.shop.test/c/spring').first()).toBeVisible()
  await page.getByLabel('Domain', { exact: false }).selectOption({ label: 'go.shop.test' })
  await page.getByRole('button', { name: 'Save campaign' }).click()
  await expect(page.getByText('http://go.shop.test/c/spring').first()).toBeVisible()
})

test('the settings of a domain are changed, and it is deleted by typing its name @detail', async ({
  page,
  owner,
  dns,
}) => {
  dns.set('answers.own.test', { A: [HERE] })
  await send(owner, 'POST', '/api/domains', { name: 'answers.own.test' })
  await page.goto('/settings/domains?q=answers')
  await page.getByRole('link', { name: 'answers.own.test' }).click()
  await page.getByLabel('At unknown paths', { exact: true }).selectOption('campaign')
  await expect(page.getByText('scanners then visit the name')).toBeVisible()
  await page.getByLabel('At unknown paths', { exact: true }).selectOption('redirect')
  await page.getByLabel('Address for at unknown paths').fill('ftp://nowhere')
  await page.getByRole('button', { name: 'Save domain' }).click()
  await expect(page.getByRole('alert')).toContainText('must begin with http')
  await page.getByLabel('Address for at unknown paths').fill('https://shop.example/404')
  await page.getByRole('button', { name: 'Save domain' }).click()
  await expect(page.getByText('The domain is saved').first()).toBeVisible()
  await page.reload()
  await expect(page.getByLabel('Address for at unknown paths')).toHaveValue('https://shop.example/404')
  await page.getByRole('button', { name: 'Delete domain' }).click()
  const dialog = page.getByRole('dialog', { name: /Delete answers/ })
  await dialog.getByLabel(/Type answers/).fill('answers.own.test')
  await dialog.getByRole('button', { name: 'Delete domain' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Domains' })).toBeVisible()
  await expect(page.getByRole('link', { name: 'answers.own.test' })).toHaveCount(0)
})

test('a failing domain with campaign links is named on every page, and its page moves the links to another domain @detail', async ({
  page,
  owner,
  sluice,
  dns,
}) => {
  const created: { id: string }[] = []
  for (const name of ['falls.fallen.test', 'stays.fallen.test']) {
    dns.set(name, { A: [HERE] })
    const { id } = await send(owner, 'POST', '/api/domains', { name })
    await send(owner, 'POST', `/api/domains/${id}/check`, {})
    created.push({ id })
  }
  const [falls, stays] = created
  await send(owner, 'PATCH', `/api/domains/${falls?.id}`, { is_default: true })
  dns.set('falls.fallen.test', { A: [NOBODY] })
  const { default: pg } = await import('pg')
  const client = new pg.Client(sluice.database)
  await client.connect()
  await client.query(
    `update domains set failures = 5, failing_since = now() - interval '2 hours', checked_at = null where name = 'falls.fallen.test'`,
  )
  await client.end()
  await send(owner, 'POST', `/api/domains/${falls?.id}/check`, {})
  const destination = { type: 'redirect', url: 'https://example.com/' }
  await send(owner, 'POST', '/api/campaigns', { name: 'On a fallen domain', destination })
  await page.goto('/campaigns')
  const said = page.getByText('falls.fallen.test no longer points to Sluice.')
  await expect(said).toBeVisible()
  await page.getByRole('link', { name: 'Fix DNS or move campaigns' }).click()
  await page.getByRole('button', { name: /^Move links to/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Move links' }).click()
  await expect(said).toHaveCount(0)
  for (const { id } of [falls, stays].filter(one => one !== undefined))
    await send(owner, 'DELETE', `/api/domains/${id}`, undefined)
})
