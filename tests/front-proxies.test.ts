// Behind the proxies that docs/operating.md shows: the name and the scheme a visitor came by arrive, and nothing that a visitor forges does.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type FrontProxy, lacking, sampleOf, startCaddy, startNginx } from './support/front-proxies.ts'
import { seedOrganization, startHouse, type TestHouse } from './support/house.ts'
import { BROWSER, seedCampaign } from './support/visits.ts'

let house: TestHouse
let port: number
before(async () => {
  house = await startHouse({ BASE_URL: 'https://track.example', TRUST_PROXY: '127.0.0.1' })
  port = Number(new URL(await house.listen()).port)
  const { org_id } = await seedOrganization(house.database)
  await seedCampaign(house.database, org_id, { key: 'spring' })
})
after(() => house.end())

/** What holds behind either of them. */
async function holds(proxy: FrontProxy): Promise<void> {
  assert.equal((await proxy.ask('track.example', '/api/setup')).status, 200)
  const visit = await proxy.ask('track.example', '/c/spring', BROWSER)
  assert.equal(visit.status, 302)
  assert.match(visit.cookies[0] ?? '', /^sluice_v=.*; Secure$/)
  const forged = { ...BROWSER, 'X-Forwarded-Proto': 'http', 'X-Forwarded-Host': 'evil.example' }
  assert.match((await proxy.ask('track.example', '/c/spring', forged)).cookies[0] ?? '', /; Secure$/)
  assert.equal((await proxy.ask('track.example', '/api/setup', { 'X-Forwarded-Host': 'evil.example' })).status, 200)
  assert.equal((await proxy.ask('track.example', '/metrics')).status, 404)
}

test('the nginx sample hands the Host on', { skip: lacking('nginx', 'openssl') }, async () => {
  const proxy = await startNginx(port)
  try {
    await holds(proxy)
    assert.equal((await proxy.ask('other.example', '/api/setup')).status, 421)
    assert.equal((await proxy.ask('other.example', '/api/setup', { 'X-Forwarded-Host': 'track.example' })).status, 421)
  } finally {
    await proxy.close()
  }
})

test('without its Host line nginx passes for this machine, and all goes on', {
  skip: lacking('nginx', 'openssl'),
}, async () => {
  const proxy = await startNginx(port, sample => sample.replace(/.*proxy_set_header Host.*\n/, ''))
  try {
    assert.equal((await proxy.ask('track.example', '/api/setup')).status, 200)
    assert.equal((await proxy.ask('track.example', '/c/spring', BROWSER)).status, 302)
  } finally {
    await proxy.close()
  }
})

test('the Caddy sample does', { skip: lacking('caddy') }, async () => {
  const proxy = await startCaddy(port, sampleOf('caddyfile'))
  try {
    await holds(proxy)
  } finally {
    await proxy.close()
  }
})
