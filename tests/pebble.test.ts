// Whole processes of Sluice against a certificate authority that is not ours.
import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freshDatabase } from './support/database.ts'
import { eventually } from './support/eventually.ts'
import { freePort, type Pebble, startPebble, withoutPebble } from './support/pebble.ts'
import { startSluice } from './support/sluice.ts'
import { shake } from './support/street.ts'

const ALL = process.env['SLUICE_TEST_ALL'] === '1'

let ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.reverse()) await end()
  ends = []
})

type Opened = { plain: string; pebble: Pebble; https_port: number; certified: (serial?: string) => Promise<string> }

async function opened(
  more: { lifetime_s?: number; bound?: { id: string; key: string } },
  env: Record<string, string> = {},
): Promise<Opened> {
  const [http_port, https_port, port] = [await freePort(), await freePort(), await freePort()]
  const pebble = await startPebble({ http_port, ...more })
  ends.push(() => pebble.close())
  const fresh = await freshDatabase()
  ends.push(() => fresh.drop())
  const sluice = await startSluice({
    DATABASE_URL: fresh.url,
    SECRET: 'a secret that only tests know',
    PORT: String(port),
    TLS: 'auto',
    BASE_URL: `https://main.test:${https_port}`,
    TLS_HOST: '127.0.0.1',
    HTTP_PORT: String(http_port),
    HTTPS_PORT: String(https_port),
    ACME_DIRECTORY: pebble.directory,
    NODE_EXTRA_CA_CERTS: pebble.trusted,
    ...env,
  })
  ends.push(() => sluice.stop())
  const serialOf = () =>
    shake(https_port, { name: 'main.test' }).then(
      ({ serial }) => serial,
      () => '',
    )
  return {
    plain: `http://127.0.0.1:${port}`,
    pebble,
    https_port,
    async certified(serial) {
      let found = ''
      await eventually('there is a certificate', async () => {
        found = await serialOf()
        return found !== '' && found !== serial
      })
      return found
    },
  }
}

test('Pebble gives a certificate for the main host that a client with its root trusts', {
  skip: withoutPebble,
}, async () => {
  const { pebble, https_port, certified } = await opened({})
  await certified()
  const { trusted, certificates } = await shake(https_port, { name: 'main.test', root: await pebble.root() })
  assert.equal(trusted, true)
  assert.ok(certificates >= 2)
  assert.match(pebble.said(), /Issued certificate serial/)
})

test('an account is bound to the one that ACME_EAB names, and without it there is none', {
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

test('certificates of a minute are renewed again and again, and no handshake fails meanwhile', {
  skip: withoutPebble,
}, async () => {
  // At half of its life, when a life is short.
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
      // On a busy machine the short form may miss five seconds.
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
