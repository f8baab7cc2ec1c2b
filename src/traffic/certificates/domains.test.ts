// Domains of organizations with TLS=auto: checked as they always are, then certified, and served by https.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type AcmeStub, startAcmeStub } from '../../../tests/support/acme-stub.ts'
import { type FakeDns, startDns } from '../../../tests/support/dns-fake.ts'
import { freePort } from '../../../tests/support/ports.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { type Mailbox, openMailbox } from '../../../tests/support/mailbox.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { openStreetHouse, type StreetHouse, shake } from '../../../tests/support/street.ts'
import { seedCampaign } from '../../../tests/support/visits.ts'
import { namesToServe } from './names.ts'

const HERE = '127.0.0.1'
const NOBODY = '127.0.0.9'

let dns: FakeDns
let stub: AcmeStub
let house: StreetHouse
let mailbox: Mailbox
let owner: SignedIn
let origin = ''
before(async () => {
  const [http_port, https_port] = [await freePort(), await freePort()]
  dns = await startDns()
  mailbox = await openMailbox()
  stub = await startAcmeStub(() => http_port)
  dns.set('main.test', { A: [HERE] })
  origin = `https://main.test:${https_port}`
  house = await openStreetHouse({
    BASE_URL: origin,
    HTTP_PORT: String(http_port),
    HTTPS_PORT: String(https_port),
    ACME_DIRECTORY: stub.directory,
    DNS_SERVERS: dns.address,
    SMTP_URL: mailbox.url,
    CHECK_PORTS: `${http_port},${https_port}`,
  })
  await seedSignedIn(house)
  owner = await seedSignedIn(house)
  await house.certified('main.test')
})
after(async () => {
  await house.end()
  await stub.close()
  await dns.close()
  await mailbox.close()
})

const did = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, body?: object) => {
  const headers = { host: origin.replace('https://', ''), origin }
  const reply = await house.call(method, url, { cookie: `__Host-${owner.cookie}`, headers, ...(body && { body }) })
  assert.ok(reply.statusCode < 300, `${method} ${url}: ${reply.body}`)
  return reply.json<{
    id: string
    status: string
    check: { problems: { code: string }[] }
    certificate: { state: string; not_after: string | null; problem: string | null }
  }>()
}
const domain = async (name: string, more: object = {}) => {
  const { id } = await did('POST', '/api/domains', { name, ...more })
  return { id, read: () => did('GET', `/api/domains/${id}`) }
}

/** So that the next one is made, however young the last one is. */
const forgetChecks = () =>
  house.database.kysely.updateTable('domains').set({ checked_at: null }).where('org_id', '=', owner.org_id).execute()

test('a domain that leads here is active, gets its certificate and serves its links by https', async () => {
  dns.set('go.test', { A: [HERE] })
  const { read } = await domain('go.test')
  await eventually('it is active', async () => (await read()).status === 'active')
  await house.certified('go.test')
  assert.equal((await shake(house.https_port, { name: 'go.test', root: stub.authority.root })).trusted, true)
  const { key } = await seedCampaign(house.database, owner.org_id)
  for (const path of [`/c/${key}`, `/${key}`]) {
    const { status, headers } = await house.secure('go.test', path)
    assert.deepEqual([status, headers['strict-transport-security']], [302, undefined])
    assert.match(String(headers['set-cookie']), /secure/i)
  }
  assert.equal((await house.secure('go.test', '/')).status, 404)
})

test('what is told of a domain’s certificate is what is in service', async () => {
  dns.set('told.test', { A: [HERE] })
  const { id, read } = await domain('told.test')
  await house.certified('told.test')
  const { state, not_after, problem } = (await read()).certificate
  const { not_after: stored } = await house.row('told.test')
  assert.deepEqual([state, problem, Date.parse(not_after ?? '')], ['active', null, Date.parse(stored ?? '')])
  await house.database.kysely
    .updateTable('certificates')
    // Told already, so that no mail of it comes into another test.
    .set({ not_after: '2020-01-01T00:00:00Z', problem: 'why', told_at: new Date().toISOString() })
    .where('name', '=', 'told.test')
    .execute()
  assert.deepEqual(
    { ...(await read()).certificate, not_after: '', next_try_at: null, renews_at: null },
    {
      state: 'failing',
      issuer: 'Test Authority',
      problem: 'why',
      not_after: '',
      next_try_at: null,
      renews_at: null,
    },
  )
  await did('DELETE', `/api/domains/${id}`)
  await eventually('its name is answered with an alert', () =>
    shake(house.https_port, { name: 'told.test' }).then(
      () => false,
      () => true,
    ),
  )
})

test('a domain that wants https alone leads there once its certificate is in service, and the authority is never led on', async () => {
  let open = () => {}
  stub.behaviour.beforeFinalize = () => new Promise(resolve => (open = resolve))
  dns.set('only.test', { A: [HERE] })
  const { read } = await domain('only.test', { https: 'only' })
  const { key } = await seedCampaign(house.database, owner.org_id)
  await eventually('it is ordered', async () => (await read()).certificate.state === 'ordering')
  const early = await house.plain('only.test', `/c/${key}`)
  assert.deepEqual([early.status, early.headers.location?.startsWith('https://only.test')], [302, false])
  await eventually('it waits for the authority', () =>
    stub.orders.some(({ name, status }) => name === 'only.test' && status === 'processing'),
  )
  open()
  stub.behaviour.beforeFinalize = async () => {}
  await house.certified('only.test')
  const clicks = async () =>
    (await house.database.reads.query('select 1 from clicks where org_id = $1', [owner.org_id])).rows.length
  const before = await clicks()
  const late = await house.plain('only.test', `/c/${key}?sub1=a`)
  assert.deepEqual([late.status, late.headers.location], [302, `https://only.test/c/${key}?sub1=a`])
  assert.equal((await house.plain('only.test', '/.well-known/acme-challenge/a-token-of-nobody-at-all')).status, 404)
  assert.equal(await clicks(), before, 'the visitor is on the way')
})

test('nothing is ordered for a domain whose check has found what would fail, and at once when that is mended', async () => {
  dns.set('two.test', { A: [HERE, NOBODY] })
  dns.set('six.test', { A: [HERE], AAAA: ['::2'] })
  const six = await domain('six.test')
  await eventually('it is active', async () => (await six.read()).status === 'active')
  await eventually(
    'it is told why there is no certificate',
    async () => (await six.read()).certificate.state === 'failing',
  )
  assert.match((await six.read()).certificate.problem ?? '', /The name’s IPv6 address leads elsewhere/)
  // Two more rounds have gone by when another name has been served.
  const two = await domain('two.test')
  await house.certified('two.test')
  assert.ok(!stub.orders.some(({ name }) => name === 'six.test'))
  const { attempts, next_try_at } = await house.row('six.test')
  assert.deepEqual([attempts, next_try_at], [0, null])

  dns.set('six.test', { A: [HERE] })
  await forgetChecks()
  await did('POST', `/api/domains/${six.id}/check`)
  await house.certified('six.test')
  assert.equal((await six.read()).certificate.state, 'active')
  assert.equal((await two.read()).certificate.state, 'active')
})

test('nothing is ordered for a name that is reserved for documentation, as the demo has one', async () => {
  dns.set('go.demo.example', { A: [HERE] })
  const { read } = await domain('go.demo.example')
  await eventually('it is told why', async () => (await read()).certificate.state === 'failing')
  assert.match((await read()).certificate.problem ?? '', /reserved for documentation/)
  dns.set('behind-it.test', { A: [HERE] })
  await domain('behind-it.test')
  await house.certified('behind-it.test')
  assert.ok(!stub.orders.some(({ name }) => name === 'go.demo.example'))
})

test('a domain that names other authorities alone is not ordered for at Let’s Encrypt', async () => {
  dns.set('caa.test', { A: [HERE], CAA: ['ca.example'] })
  await domain('caa.test')
  // Whose authority it is here nobody knows, so it is asked.
  await house.certified('caa.test')
  const { config } = house.ground
  const atLetsEncrypt = { ...config, acmeDirectory: 'https://acme-v02.api.letsencrypt.org/directory' }
  const obstacles = async (of: typeof config) => (await namesToServe({ ...house.ground, config: of })).obstacles
  assert.match((await obstacles(atLetsEncrypt)).get('caa.test') ?? '', /CAA/)
  assert.equal((await obstacles(config)).has('caa.test'), false)
})

test('an error of DNS at a later check ends nothing: the domain stays active and its certificate in service', async () => {
  dns.set('shaky.test', { A: [HERE] })
  const { id, read } = await domain('shaky.test')
  const serial = await house.certified('shaky.test')
  dns.set('shaky.test', { state: 'servfail' })
  // One that goes on by itself may have asked before.
  await eventually('a check finds it', async () => {
    await forgetChecks()
    const { check } = await did('POST', `/api/domains/${id}/check`)
    return check.problems.map(({ code }) => code).join() === 'dns_broken'
  })
  assert.equal((await read()).status, 'active')
  assert.equal((await shake(house.https_port, { name: 'shaky.test' })).serial, serial)
  assert.equal((await read()).certificate.state, 'active')
  assert.equal(stub.orders.filter(({ name }) => name === 'shaky.test').length, 1)
})

test('an order that keeps failing is told to the owners of the domain', async () => {
  stub.behaviour.refuse = name =>
    name === 'bad.test' ? { type: 'rejectedIdentifier', detail: 'bad.test is on our list', status: 400 } : undefined
  dns.set('bad.test', { A: [HERE] })
  await domain('bad.test')
  await house.failed('bad.test')
  await house.database.kysely.updateTable('certificates').set({ attempts: 5 }).where('name', '=', 'bad.test').execute()
  const { text } = await mailbox.next(owner.email)
  assert.match(text.replaceAll('=\n', ''), /could not get a certificate for bad\.test[^]*is on our list/)
  stub.behaviour.refuse = () => undefined
})
