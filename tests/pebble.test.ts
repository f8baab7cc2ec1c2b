// Sluice processes with a certificate authority of others.
import assert from 'node:assert/strict'
import { request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'
import { afterEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSecrets } from '../src/ground/db/secrets.ts'
import { setupLine } from '../src/people/sign-in/setup-code.ts'
import { freshDatabase } from './support/database.ts'
import { eventually } from './support/eventually.ts'
import { freePort } from './support/ports.ts'
import { type Pebble, startPebble, withoutPebble } from './support/pebble.ts'
import { startSluice } from './support/sluice.ts'
import { readAnswer, shake } from './support/street.ts'

const SECRET = 'a secret that only tests know'
const ALL = process.env['SLUICE_TEST_ALL'] === '1'

let ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.reverse()) await end()
  ends = []
})

type Opened = {
  plain: string
  pebble: Pebble
  https_port: number
  setupCode: () => Promise<string | undefined>
  certified: (serial?: string, name?: string) => Promise<string>
  /** Restarts the process with the same settings, and makes the main host's certificate due. */
  restartDue: () => Promise<void>
}

async function opened(
  more: { lifetime_s?: number; bound?: { id: string; key: string } },
  env: Record<string, string> = {},
): Promise<Opened> {
  const [http_port, https_port, port] = [await freePort(), await freePort(), await freePort()]
  const pebble = await startPebble({ http_port, ...more })
  ends.push(() => pebble.close())
  const fresh = await freshDatabase()
  ends.push(() => fresh.drop())
  const baseUrl = `https://main.test:${https_port}`
  const settings = {
    DATABASE_URL: fresh.url,
    SECRET,
    PORT: String(port),
    TLS: 'auto',
    BASE_URL: baseUrl,
    TLS_HOST: '127.0.0.1',
    HTTP_PORT: String(http_port),
    HTTPS_PORT: String(https_port),
    ACME_DIRECTORY: pebble.directory,
    NODE_EXTRA_CA_CERTS: pebble.trusted,
    DNS_SERVERS: pebble.dns,
    CHECK_PORTS: `${http_port},${https_port}`,
    ALLOW_PRIVATE_TARGETS: 'true',
    ...env,
  }
  let sluice = await startSluice(settings)
  ends.push(() => sluice.stop())
  const serialOf = (name: string) =>
    shake(https_port, { name }).then(
      ({ serial }) => serial,
      () => '',
    )
  return {
    plain: `http://127.0.0.1:${port}`,
    async setupCode() {
      const db = fresh.database.kysely
      const secrets = await openSecrets({ secret: SECRET, dataDir: '' }, db)
      return (await setupLine({ config: { baseUrl }, db, secrets }))?.split(' ').at(-1)
    },
    pebble,
    https_port,
    async certified(serial, name = 'main.test') {
      let found = ''
      await eventually('there is a certificate', async () => {
        found = await serialOf(name)
        return found !== '' && found !== serial
      })
      return found
    },
    async restartDue() {
      await sluice.stop()
      await fresh.database.kysely.updateTable('certificates').set({ renew_at: '2020-01-01T00:00:00Z' }).execute()
      sluice = await startSluice(settings)
    },
  }
}

test('Pebble issues a certificate for the main host that a client with its root trusts', {
  skip: withoutPebble,
}, async () => {
  const { pebble, https_port, certified } = await opened({})
  await certified()
  const { trusted, certificates } = await shake(https_port, { name: 'main.test', root: await pebble.root() })
  assert.equal(trusted, true)
  assert.ok(certificates >= 2)
  assert.match(pebble.output(), /Issued certificate serial/)
})

test('an added domain is proven, gets a certificate from Pebble and opens links by HTTPS, automatically', {
  skip: withoutPebble,
}, async () => {
  const { pebble, plain, https_port, certified, setupCode } = await opened({})
  const host = `main.test:${https_port}`
  const jar: string[] = []
  const did = async (method: 'GET' | 'POST', path: string, body?: object) => {
    const reply = await readAnswer(
      plainRequest(`${plain}${path}`, { method, headers: { host, origin: `https://${host}`, cookie: jar.join('; ') } }),
      body,
    )
    assert.ok(reply.status < 300, `${method} ${path}: ${reply.body}`)
    jar.push(...(reply.headers['set-cookie'] ?? []).map(line => line.split(';')[0] ?? ''))
    return JSON.parse(reply.body) as { id: string; status: string; certificate: { state: string } }
  }
  const person = { name: 'Ada', email: 'ada@example.com', password: 'a long enough password' }
  await did('POST', '/api/setup', { ...person, organization: 'Acme', setup_code: await setupCode() })
  await did('POST', '/api/campaigns', {
    name: 'Summer',
    key: 'summer',
    destination: { type: 'redirect', url: 'https://shop.example/?c={click_id}' },
  })
  const { id } = await did('POST', '/api/domains', { name: 'go.shop.test' })
  const read = () => did('GET', `/api/domains/${id}`)
  await eventually('it is active', async () => (await read()).status === 'active')
  await certified(undefined, 'go.shop.test')
  await eventually('the domain shows it', async () => (await read()).certificate.state === 'active')
  const ca = await pebble.root()
  for (const path of ['/c/summer', '/summer']) {
    const visit = await readAnswer(
      secureRequest({
        host: '127.0.0.1',
        port: https_port,
        path,
        ca,
        servername: 'go.shop.test',
        headers: { host: 'go.shop.test' },
      }),
    )
    assert.equal(visit.status, 302)
    assert.match(visit.headers.location ?? '', /^https:\/\/shop\.example\/\?c=\w{26}$/)
  }
})

for (const [said, env] of [
  ['no ACME_EMAIL', {}],
  ['an ACME_EMAIL @detail', { ACME_EMAIL: 'ops@main.test' }],
] as const)
  test(`certificates are renewed after a restart with ${said}`, { skip: withoutPebble }, async () => {
    const { certified, restartDue } = await opened({}, env)
    const serial = await certified()
    await restartDue()
    await certified(serial)
  })

test('an account is bound to the one in ACME_EAB, and without it there is none @detail', {
  skip: withoutPebble,
}, async () => {
  const key = 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W'
  const { certified } = await opened({ bound: { id: 'kid-1', key } }, { ACME_EAB: `kid-1:${key}` })
  await certified()
  const wrong = await opened({ bound: { id: 'kid-1', key } }, { ACME_EAB: 'kid-2:AAAA' })
  await eventually('it is refused', async () => {
    const metrics = await (await fetch(`${wrong.plain}/metrics`)).text()
    return /^sluice_acme_orders_total\{result="failed"\} 1$/m.test(metrics)
  })
})

test('certificates that last a minute are renewed again and again, and no handshake fails', {
  skip: withoutPebble,
}, async () => {
  // Short certificates are renewed at half of their life.
  const lifetime_s = ALL ? 60 : 10
  const { https_port, certified, pebble } = await opened({ lifetime_s })
  const root = await pebble.root()
  const serials = new Set([await certified()])
  const failed: unknown[] = []
  let done = 0
  while (serials.size < 4) {
    try {
      const { serial, trusted } = await shake(https_port, { name: 'main.test', root })
      serials.add(serial)
      // On a busy machine the short run may miss five seconds.
      if (ALL && !trusted) failed.push(new Error('a certificate that had ended was shown'))
    } catch (error) {
      failed.push(error)
    }
    done += 1
    assert.ok(done < 18_000, `only ${serials.size} certificates in ${done} handshakes`)
    await sleep(100)
  }
  assert.deepEqual(failed, [])
  assert.ok(done > 30)
})
