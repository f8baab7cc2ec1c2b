// Connecting an AI host: the consent page shows who asks and is the grant editor, and the connection is a key among the others.
import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from './dashboard.ts'

test('a host is connected on the consent page, listed with its name, and ended like any key', async ({
  page,
  sluice,
}) => {
  const arrived = Promise.withResolvers<URL>()
  const server = createServer((request, reply) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    if (url.pathname === '/callback') arrived.resolve(url)
    reply.setHeader('content-type', 'text/html').end('<p>Back in the host</p>')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const redirect_uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`
  const post = async (path: string, body: BodyInit) =>
    (await fetch(`${sluice.address}${path}`, { method: 'POST', body })).json()
  const { client_id } = await post(
    '/oauth/register',
    JSON.stringify({ client_name: 'Desk Helper', redirect_uris: [redirect_uri] }),
  )
  const code_verifier = randomBytes(32).toString('base64url')
  const request = new URLSearchParams({
    client_id,
    redirect_uri,
    response_type: 'code',
    code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
    code_challenge_method: 'S256',
    resource: `${sluice.address}/mcp`,
    state: '12345678901234567890',
  })
  await page.goto(`/oauth/authorize?${request.toString()}`)
  await expect(page.getByRole('heading', { name: 'Connect Desk Helper' })).toBeVisible()
  await expect(page.getByText('nobody has verified it')).toBeVisible()
  await expect(page.getByText(new URL(redirect_uri).host)).toBeVisible()
  await page.getByRole('checkbox', { name: /^offers:delete/ }).check()
  await expect(page.getByRole('button', { name: 'Connect', exact: true })).toHaveAttribute('aria-disabled', 'true')
  await page.getByLabel('Type DELETE to add').fill('DELETE')
  await page.screenshot({ path: process.env['SLUICE_SHOT'] ?? 'test-results/connect.png', fullPage: true })
  await page.getByRole('button', { name: 'Connect', exact: true }).click()
  const back = await arrived.promise
  // Otherwise the next navigation may meet this one.
  await page.waitForURL(url => url.href.startsWith(redirect_uri))
  expect(back.searchParams.get('state')).toBe('12345678901234567890')
  const form = {
    grant_type: 'authorization_code',
    client_id,
    redirect_uri,
    code_verifier,
    code: back.searchParams.get('code') ?? '',
  }
  const { access_token } = await post('/oauth/token', new URLSearchParams(form))
  const list = async () => {
    const headers = { authorization: `Bearer ${access_token}` }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    return (await fetch(`${sluice.address}/mcp`, { method: 'POST', headers, body })).status
  }
  expect(await list()).toBe(200)
  await page.goto('/settings/api-keys')
  const row = page.getByRole('row', { name: /Desk Helper/ })
  await expect(row).toContainText('Connection')
  await row.getByRole('link', { name: 'Desk Helper' }).click()
  await expect(page.getByText('A host with an unverified name')).toBeVisible()
  await page.getByRole('button', { name: 'Revoke key' }).click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /Revoke/ })
    .click()
  await expect(page.getByText('Every call answers 401. This cannot be undone.')).toBeVisible()
  expect(await list()).toBe(401)
  server.close()
})
