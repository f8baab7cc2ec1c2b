import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectPlain } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { sql } from 'kysely'
import { pino } from 'pino'
import { eventually } from '../../tests/support/eventually.ts'
import { seedPlace } from '../../tests/support/place.ts'
import { startProxy } from '../../tests/support/proxy.ts'
import { openCertified, openStreetHouse, type StreetHouse, shake } from '../../tests/support/street.ts'
import { useDatabase } from '../../tests/support/database.ts'
import { connect } from '../ground/db/connect.ts'
import { changeKeyDaily, keyOfToday } from './ticket-keys.ts'

const ALL = process.env['SLUICE_TEST_ALL'] === '1'

describe('the public servers', () => {
  let all: Awaited<ReturnType<typeof openCertified>>
  let house: StreetHouse
  before(async () => {
    all = await openCertified()
    house = all.house
    await seedPlace(house.database, 'on-the-street')
    await house.certified('main.test')
  })
  after(() => all.end())

  test('serve links by http and https, with Secure cookies by https only', async () => {
    const cookies: (string[] | undefined)[] = []
    for (const answer of [
      await house.plain('main.test', '/c/on-the-street'),
      await house.secure('main.test', '/c/on-the-street'),
    ]) {
      assert.equal(answer.status, 302)
      cookies.push(answer.headers['set-cookie'])
    }
    assert.deepEqual(
      cookies.map(some => /; secure/i.test(String(some))),
      [false, true],
    )
  })

  test('redirect the dashboard from http to https, and refuse writes and keys over http unread', async () => {
    for (const [path, location] of [
      ['/', 'https://main.test/'],
      ['/campaigns?q=a%20b', 'https://main.test/campaigns?q=a%20b'],
      ['//evil.test/x', 'https://main.test/evil.test/x'],
      ['/c', undefined],
      ['/cx', 'https://main.test/cx'],
      ['/sluice.jsx', 'https://main.test/sluice.jsx'],
    ] as const) {
      const { status, headers } = await house.plain('main.test', path)
      assert.deepEqual([path, status, headers.location], [path, location === undefined ? 404 : 308, location])
    }
    const posted = await house.plain('main.test', '/api/events', 'POST')
    assert.deepEqual([posted.status, posted.headers.connection], [421, 'close'])
    assert.equal(JSON.parse(posted.body).error, 'send this to https://main.test')
    assert.equal((await house.plain('main.test', '/api/v1/clicks', 'GET', { 'x-api-key': 'k' })).status, 421)
  })

  test("serve metrics and the proxy's question on PORT only", async () => {
    for (const path of ['/metrics', '/metrics?x', '/metrics/', '/tls-ask?domain=main.test']) {
      assert.equal((await house.plain('main.test', path)).status, 404)
      assert.equal((await house.secure('main.test', path)).status, 404)
      assert.equal((await house.plain('127.0.0.1', path)).status, 404)
    }
    const { body } = await house.call('GET', '/metrics')
    assert.match(body, /^sluice_certificates\{state="active"\} 1$/m)
    assert.match(body, /^sluice_certificate_soonest_expiry_seconds 77\d{5}\.?\d*$/m)
    assert.match(body, /^sluice_acme_orders_total\{result="issued"\} [1-9]/m)
    assert.match(body, /^sluice_tls_handshake_failures_total\{reason="no_certificate"\} [1-9]/m)
  })

  test('do not treat a loopback name as the main host, even from this machine', async () => {
    for (const host of ['localhost', '127.0.0.1', '[::1]', `localhost:${house.https_port}`]) {
      const page = await house.secure('main.test', '/', { host })
      assert.deepEqual([page.status, page.headers['strict-transport-security']], [421, undefined], host)
      assert.equal((await house.secure('main.test', '/api/setup', { host })).status, 421, host)
      const plain = await house.plain(host, '/')
      assert.deepEqual([plain.status, plain.headers.location], [421, undefined], host)
      assert.equal((await house.call('GET', '/api/setup', { headers: { host } })).statusCode, 200, `on PORT: ${host}`)
    }
  })

  test('send HSTS for the main host only', async () => {
    assert.equal((await house.secure('main.test', '/healthz')).headers['strict-transport-security'], 'max-age=31536000')
    assert.equal((await house.plain('main.test', '/healthz')).headers['strict-transport-security'], undefined)
    const other = await house.secure('main.test', '/c/on-the-street', { host: 'other.test' })
    assert.equal(other.headers['strict-transport-security'], undefined)
  })

  test('answer a name without a certificate, and no name, with an alert and no byte of a certificate', async () => {
    for (const name of ['other.test', 'MAIN.TEST.other', '', undefined]) {
      const heard = await rawHandshake(house.https_port, name)
      // An alert: content type 21, level fatal, handshake failure (40).
      assert.deepEqual([...heard], [21, 3, 3, 0, 2, 2, 40], String(name))
    }
    assert.equal((await shake(house.https_port, { name: 'MAIN.Test' })).certificates, 2)
  })

  test('keep no memory of thousands of such handshakes', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const round = async (times: number) => {
      for (let done = 0; done < times; done += 50)
        await Promise.all(
          Array.from({ length: 50 }, (_, at) => rawHandshake(house.https_port, `n${done + at}.other.test`)),
        )
    }
    // Memory that a socket holds outside of the heap is released some turns later.
    const left = () => {
      collect()
      const { heapUsed, external } = process.memoryUsage()
      return heapUsed + external
    }
    await round(1000)
    const warm = left()
    await round(ALL ? 10_000 : 2000)
    await eventually('all of it is collected', () => left() < warm + 2 * 1024 * 1024)
    await shake(house.https_port, { name: 'main.test' })
  })

  test('count connections without TLS, and aborted ones, without harm', async () => {
    const socket = connectPlain(house.https_port, '127.0.0.1').on('error', () => {})
    socket.write('GET / HTTP/1.1\r\n\r\n')
    socket.resume()
    await once(socket, 'close')
    await shake(house.https_port, { name: 'main.test' })
  })

  test('answer challenges, use new certificates at once, and resume sessions in another process of the installation', async () => {
    const second = await openStreetHouse({ ROLE: 'serve', ACME_DIRECTORY: all.stub.directory }, house.database)
    try {
      const first = await shake(house.https_port, { name: 'main.test', wantsSession: true })
      assert.equal((await shake(second.https_port, { name: 'main.test' })).serial, first.serial)
      assert.ok(first.session !== undefined)
      const resumed = await shake(second.https_port, { name: 'main.test', session: first.session })
      assert.equal(resumed.reused, true)

      const token = 'a-token-of-forty-three-characters-xxxxxxxxx'
      await house.database.kysely
        .insertInto('acme_challenges')
        .values({ token, name: 'main.test', key_authorization: `${token}.thumb`, expires_at: '2999-01-01T00:00:00Z' })
        .execute()
      for (const process of [house, second])
        for (const name of ['main.test', 'whatever.test']) {
          const { status, body, headers } = await process.plain(name, `/.well-known/acme-challenge/${token}`)
          assert.deepEqual([status, body, headers['content-type']], [200, `${token}.thumb`, 'text/plain'])
        }
      assert.equal((await house.plain('main.test', '/.well-known/acme-challenge/of-nobody-and-nothing')).status, 404)

      await house.database.kysely.updateTable('certificates').set({ renew_at: '2020-01-01T00:00:00Z' }).execute()
      const serial = await house.certified('main.test', first.serial)
      await eventually(
        'the other has it',
        async () => (await shake(second.https_port, { name: 'main.test' })).serial === serial,
      )
    } finally {
      await second.end()
    }
  })
})

test('the key of TLS sessions is random, encrypted, changed with the day of the database, and deleted after it', async () => {
  const { house, stub, end } = await openCertified()
  try {
    await house.certified('main.test')
    const { kysely: db } = house.database
    const first = await keyOfToday(house.ground)
    assert.deepEqual(await keyOfToday(house.ground), first)
    const { session } = await shake(house.https_port, { name: 'main.test', wantsSession: true })
    const resumed = async ({ https_port }: StreetHouse) =>
      (await shake(https_port, { name: 'main.test', ...(session && { session }) })).reused
    assert.equal(await resumed(house), true)

    await sql`update tls_ticket_keys set day = day - 1`.execute(db)
    const next = await keyOfToday(house.ground)
    assert.ok(next.key.length === 48 && !next.key.equals(first.key), 'nothing it could be derived from has changed')
    const { rows } = await sql<{ day: string; key: Buffer }>`select day, key from tls_ticket_keys`.execute(db)
    assert.deepEqual(
      rows.map(({ day }) => day),
      [next.day],
    )
    assert.ok(!rows[0]?.key.includes(next.key) && !rows[0]?.key.includes(next.key.toString('base64')))

    const exchanged = await new Promise<Buffer>(resolve => {
      const keyChanges = changeKeyDaily(house.ground, { ...first, day: '2020-01-01' }, key => {
        void keyChanges.close()
        resolve(key)
      })
    })
    assert.deepEqual(exchanged, next.key)
    const later = await openStreetHouse({ ROLE: 'serve', ACME_DIRECTORY: stub.directory }, house.database)
    try {
      assert.equal(await resumed(later), false, 'a session of the day before makes a full handshake')
    } finally {
      await later.end()
    }
  } finally {
    await end()
  }
})

test('while the database is away, https uses the certificates in memory', async () => {
  const fresh = await useDatabase()
  const proxy = await startProxy(fresh.connection)
  const behind = connect([proxy.connection], { log: pino({ level: 'silent' }), isBehind: false })
  await seedPlace(fresh.database, 'by-https')
  const { house, end } = await openCertified({}, undefined, behind)
  try {
    await house.certified('main.test')
    proxy.set('cut')
    const clicked = await house.secure('main.test', '/c/by-https')
    assert.equal(clicked.status, 302)
    assert.equal((await house.plain('main.test', '/.well-known/acme-challenge/a-token-of-nobody')).status, 503)
    proxy.set('flow')
    await eventually('the click is stored', async () => {
      const { rows } = await fresh.database.reads.query('select 1 from clicks')
      return rows.length === 1
    })
  } finally {
    proxy.set('flow')
    await end()
    await behind.close()
    await proxy.close()
  }
})

/** All bytes that a server answers to a ClientHello for a name. */
async function rawHandshake(port: number, name: string | undefined): Promise<Buffer> {
  const socket = connectPlain(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', chunk => chunks.push(chunk)).on('error', () => {})
  socket.write(clientHello(name))
  await once(socket, 'close')
  return Buffer.concat(chunks)
}

/** TLS 1.2 as old programs send it, so that a certificate would be sent in clear. */
function clientHello(name: string | undefined): Buffer {
  const u16 = (value: number) => Buffer.from([value >> 8, value & 255])
  const sized = (body: Buffer) => Buffer.concat([u16(body.length), body])
  const extension = (type: number, body: Buffer) => Buffer.concat([u16(type), sized(body)])
  const sni =
    name === undefined || name === ''
      ? []
      : [extension(0, sized(Buffer.concat([Buffer.from([0]), sized(Buffer.from(name))])))]
  const extensions = Buffer.concat([
    ...sni,
    extension(10, sized(u16(0x0017))),
    extension(13, sized(Buffer.concat([u16(0x0403), u16(0x0804), u16(0x0401)]))),
  ])
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, 7),
    Buffer.from([0]),
    sized(Buffer.concat([u16(0xc02b), u16(0xc02f)])),
    Buffer.from([1, 0]),
    sized(extensions),
  ])
  const hello = Buffer.concat([Buffer.from([1, 0]), u16(body.length), body])
  return Buffer.concat([Buffer.from([22, 3, 1]), sized(hello)])
}
