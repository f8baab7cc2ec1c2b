// Behind the proxies in docs/operating.md: the visitor's host and scheme arrive, and forged headers do not.
import assert from 'node:assert/strict'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { type DomainHouse, HERE, MAIN_HOST, startDomainHouse, startOther } from './support/domains.ts'
import { freePort } from './support/ports.ts'
import { type FrontProxy, lacking, sampleOf, startCaddy, startNginx } from './support/front-proxies.ts'
import { seedOrganization, startHouse, type TestHouse } from './support/house.ts'
import { type SignedIn, seedSignedIn } from './support/people.ts'
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

/** The checks for both proxies. */
async function holds(proxy: FrontProxy): Promise<void> {
  assert.equal((await proxy.ask('track.example', '/api/setup')).status, 200)
  const visit = await proxy.ask('track.example', '/c/spring', BROWSER)
  assert.equal(visit.status, 302)
  assert.match(visit.cookies[0] ?? '', /^vis_id=.*; Secure$/)
  const forged = { ...BROWSER, 'X-Forwarded-Proto': 'http', 'X-Forwarded-Host': 'evil.example' }
  assert.match((await proxy.ask('track.example', '/c/spring', forged)).cookies[0] ?? '', /; Secure$/)
  assert.equal((await proxy.ask('track.example', '/api/setup', { 'X-Forwarded-Host': 'evil.example' })).status, 200)
  assert.equal((await proxy.ask('track.example', '/metrics')).status, 404)
}

test('the nginx sample passes on the Host', { skip: lacking('nginx', 'openssl') }, async () => {
  const proxy = await startNginx(port)
  try {
    await holds(proxy)
    assert.equal((await proxy.ask('other.example', '/api/setup')).status, 421)
    assert.equal((await proxy.ask('other.example', '/api/setup', { 'X-Forwarded-Host': 'track.example' })).status, 421)
  } finally {
    await proxy.close()
  }
})

test('without its Host line nginx does not count as this machine: links work, and the dashboard is 421', {
  skip: lacking('nginx', 'openssl'),
}, async () => {
  const proxy = await startNginx(port, sample => sample.replace(/.*proxy_set_header Host.*\n/, ''))
  try {
    assert.equal((await proxy.ask('track.example', '/api/setup')).status, 421)
    assert.equal((await proxy.ask('track.example', '/c/spring', BROWSER)).status, 302)
  } finally {
    await proxy.close()
  }
})

describe('domains behind proxies', () => {
  let domains: DomainHouse
  let owner: SignedIn
  const stand = async (name: string) => {
    domains.dns.set(name, { A: [HERE] })
    const made = await domains.call('POST', '/api/domains', { cookie: owner.cookie, body: { name } })
    const url = `/api/domains/${String(made.data()['id'])}/check`
    const checked = await domains.call('POST', url, { cookie: owner.cookie })
    return checked.json<{ status: string; certificate: { state: string }; check: { problems: { code: string }[] } }>()
  }
  /** A house whose checks reach the proxy by HTTPS and nothing by HTTP. */
  const open = async () => {
    const [front, closed] = [await freePort(), await freePort()]
    domains = await startDomainHouse({ CHECK_PORTS: `${closed},${front}` })
    owner = await seedSignedIn(domains)
    await seedCampaign(domains.database, owner.org_id, { key: 'autumn' })
    return front
  }

  test('are proven through nginx, unless it does not pass on the Host', {
    skip: lacking('nginx', 'openssl'),
  }, async () => {
    const front = await open()
    const kept = await startNginx(domains.port, sample => sample.replace(/.*proxy_set_header Host.*\n/, ''), front)
    try {
      const { status, check } = await stand('kept.example')
      assert.deepEqual([status, check.problems.map(({ code }) => code)], ['pending', ['host_not_forwarded']])
    } finally {
      await kept.close()
    }
    const proxy = await startNginx(domains.port, undefined, front)
    try {
      const { status, certificate } = await stand('go.example')
      assert.deepEqual([status, certificate.state], ['active', 'external'])
      assert.match((await proxy.ask('go.example', '/autumn', BROWSER)).cookies[0] ?? '', /; Secure$/)
      assert.equal((await proxy.ask('go.example', '/api/setup')).status, 404)
    } finally {
      await proxy.close()
      await domains.end()
    }
  })

  test('get certificates from Caddy once they are proven, and other names do not', {
    skip: lacking('caddy'),
  }, async () => {
    const front = await open()
    const proxy = await startCaddy(domains.port, sampleOf('caddyfile', 1), { port: front, known: MAIN_HOST })
    try {
      domains.dns.set('go.example', undefined)
      await stand('pending.example')
      for (const name of ['pending.example', 'unknown.example'])
        await assert.rejects(proxy.ask(name, '/autumn'), /alert|ECONNRESET|handshake/i, name)
      // Before its first certificate a name works by HTTP only.
      const plain = await startOther('127.0.0.8', Number(domains.ground.config.checkPorts[0]), pass(domains.port))
      domains.dns.set('go.example', { A: ['127.0.0.8'] })
      const made = await domains.call('POST', '/api/domains', { cookie: owner.cookie, body: { name: 'go.example' } })
      const { id } = made.json<{ id: string }>()
      const checked = await domains.call('POST', `/api/domains/${id}/check`, { cookie: owner.cookie })
      assert.equal(checked.data()['status'], 'active')
      const visit = await proxy.ask('go.example', '/autumn', BROWSER)
      assert.equal(visit.status, 302)
      assert.match(visit.cookies[0] ?? '', /; Secure$/)
      assert.equal((await proxy.ask('go.example', '/tls-ask?domain=go.example')).status, 404)
      assert.equal(
        (await proxy.ask(MAIN_HOST, '/tls-ask?domain=go.example')).status,
        404,
        'what was proxied cannot ask',
      )
      assert.equal((await proxy.ask('go.example', '/api/setup', { 'X-Forwarded-Host': MAIN_HOST })).status, 404)
      await domains.call('DELETE', `/api/domains/${id}`, { cookie: owner.cookie })
      assert.equal((await domains.visit('127.0.0.1', '/tls-ask?domain=go.example')).status, 404)
      await plain.close()
    } finally {
      await proxy.close()
      await domains.end()
    }
  })
})

/** A proxy that passes on requests with their Host. */
const pass = (port: number) => (asked: IncomingMessage, answer: ServerResponse) => {
  const { headers, url = '/' } = asked
  request({ host: '127.0.0.1', port, path: url, headers }, got => {
    answer.writeHead(got.statusCode ?? 0, got.headers)
    got.pipe(answer)
  }).end()
}

test('the Caddy sample passes on the Host', { skip: lacking('caddy') }, async () => {
  const proxy = await startCaddy(port, sampleOf('caddyfile'))
  try {
    await holds(proxy)
  } finally {
    await proxy.close()
  }
})
