import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { sql } from 'kysely'
import { freshDatabase } from '../../../tests/support/database.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { openCertified, openStreetHouse, shake } from '../../../tests/support/street.ts'
import { putInService } from './certificates.ts'
import { claimDue } from './claim.ts'

const ALL = process.env['SLUICE_TEST_ALL'] === '1'

let ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.reverse()) await end()
  ends = []
})

const opened: typeof openCertified = async (env, change, database) => {
  const all = await openCertified(env, change, database)
  ends.push(all.end)
  return all
}

const count = (stub: { asked: readonly string[] }, path: string) => stub.asked.filter(one => one === path).length

/** Makes a row due, as the passing of time would. */
const timePasses = (db: Parameters<typeof claimDue>[0], name: string) =>
  sql`update certificates set next_try_at = now() - interval '1 second', leased_until = null where name = ${name}`.execute(
    db,
  )

test('a name has its certificate ordered, proven over http, checked, sealed and served with its chain', async () => {
  const { stub, house } = await opened({ ACME_PROFILE: 'tlsserver' })
  const serial = await house.certified('main.test')
  const given = await shake(house.https_port, { name: 'main.test', root: stub.authority.root })
  assert.deepEqual([given.trusted, given.certificates, given.serial], [true, 2, serial])
  assert.deepEqual(
    stub.orders.map(({ name, placed }) => ({ name, placed })),
    [{ name: 'main.test', placed: { profile: 'tlsserver' } }],
  )
  const row = await house.row('main.test')
  assert.deepEqual([row.serial, row.attempts, row.problem, row.lease_token], [serial, 0, null, null])
  const key = row.key?.toString('latin1') ?? ''
  assert.ok(key.length > 100 && !key.includes('PRIVATE KEY'), 'the key is sealed')
  const { rows } = await sql<{ value: string }>`select value from installation where name like 'acme_account%'`.execute(
    house.database.kysely,
  )
  assert.equal(rows.length, 1)
  assert.ok(
    !Buffer.from(rows[0]?.value ?? '', 'hex')
      .toString('latin1')
      .includes('PRIVATE KEY'),
    'so is the account’s',
  )
  await eventually('nothing is left of the challenge', async () => {
    const { rows: left } = await sql`select 1 from acme_challenges`.execute(house.database.kysely)
    return left.length === 0
  })
})

test('a renewal is two thirds into the lifetime where the authority says nothing, and needs no visitor to wait', async () => {
  const { house, stub } = await opened()
  const serial = await house.certified('main.test')
  const { not_before, not_after, renew_at, ari_at } = await house.row('main.test')
  const [from, to, at] = [not_before, not_after, renew_at].map(time => Date.parse(time ?? ''))
  const share = ((at ?? 0) - (from ?? 0)) / ((to ?? 0) - (from ?? 0))
  assert.ok(share > 2 / 3 - 0.051 && share < 2 / 3 + 0.051, String(share))
  assert.equal(ari_at, null)
  await sql`update certificates set renew_at = now() where name = 'main.test'`.execute(house.database.kysely)
  assert.notEqual(await house.certified('main.test', serial), serial)
  assert.equal(stub.orders.length, 2)
})

test('another directory is asked for another certificate at once, and the old one is served until then', async () => {
  const { house, stub } = await opened()
  const serial = await house.certified('main.test')
  await sql`update certificates set directory = 'https://staging.test/dir'`.execute(house.database.kysely)
  assert.notEqual(await house.certified('main.test', serial), serial)
  assert.deepEqual(
    stub.orders.map(({ placed }) => placed),
    [{}, {}],
    'what another authority gave is not replaced here',
  )
})

for (const chain of ['leaf alone', 'another key', 'another name'] as const) {
  test(`a chain that cannot be served (${chain}) is not put in service, and tried again`, async () => {
    const { house, stub } = await opened()
    const serial = await house.certified('main.test')
    stub.behaviour.chain = chain
    await sql`update certificates set renew_at = now() where name = 'main.test'`.execute(house.database.kysely)
    const { problem, next_try_at } = await house.failed('main.test')
    assert.match(problem ?? '', /^the certificate from the authority cannot be served: /)
    assert.ok(Date.parse(next_try_at ?? '') > Date.now())
    assert.equal((await shake(house.https_port, { name: 'main.test' })).serial, serial)
    stub.behaviour.chain = 'whole'
    await timePasses(house.database.kysely, 'main.test')
    assert.notEqual(await house.certified('main.test', serial), serial)
    assert.equal((await house.row('main.test')).problem, null)
  })
}

test('metrics say that a certificate in service could not be renewed, and when that of the main host expires', async () => {
  const { house, stub } = await opened({ ALSO_HOSTS: 'www.main.test' })
  await house.certified('main.test')
  const serial = await house.certified('www.main.test')
  stub.behaviour.refuse = () => ({ type: 'dns', detail: 'no', status: 400 })
  await sql`update certificates set renew_at = now() where serial = ${serial}`.execute(house.database.kysely)
  await eventually('it is told', async () => {
    const { body } = await house.call('GET', '/metrics')
    return (
      /^sluice_certificates\{state="not_renewed"\} 1$/m.test(body) &&
      /^sluice_certificates\{state="active"\} 1$/m.test(body) &&
      /^sluice_certificate_main_expiry_seconds 77\d{5}\.?\d*$/m.test(body)
    )
  })
})

test('an authority that asks for two minutes is not asked before, for any name, and goes on by itself', async () => {
  const limit = { type: 'rateLimited', detail: 'too many new orders recently', status: 429, retry_after: '120' }
  const { house, stub } = await opened({ ALSO_HOSTS: 'www.main.test' }, ({ behaviour }) => {
    behaviour.refuse = () => limit
  })
  const { kysely: db } = house.database
  await eventually(
    'it is held',
    async () => (await sql`select 1 from acme_accounts where held_until > now()`.execute(db)).rows.length === 1,
  )
  await eventually('both have failed', async () => {
    const rows = [await house.row('main.test'), await house.row('www.main.test')]
    return rows.every(({ leased_until }) => leased_until === null)
  })
  const held = await sql<{
    seconds: string
  }>`select extract(epoch from held_until - now()) as seconds from acme_accounts`.execute(db)
  assert.ok(Number(held.rows[0]?.seconds) > 100)
  const orders = count(stub, '/new-order')
  for (const name of ['main.test', 'www.main.test']) await timePasses(db, name)
  assert.deepEqual(
    await claimDue(db, { directory: stub.directory, main: [], except: [] }),
    [],
    'nothing is claimed while it is held',
  )
  assert.equal(count(stub, '/new-order'), orders)
  stub.behaviour.refuse = () => undefined
  await sql`update acme_accounts set held_until = now() - interval '1 second'`.execute(db)
  await house.certified('main.test')
  await house.certified('www.main.test')
})

test('a limit on one name holds that name alone', async () => {
  const detail = 'too many certificates already issued for "limited.test" in the last 168h'
  const { house } = await opened({ ALSO_HOSTS: 'go.limited.test' }, ({ behaviour }) => {
    behaviour.refuse = name =>
      name === 'go.limited.test' ? { type: 'rateLimited', detail, status: 429, retry_after: '86400' } : undefined
  })
  await house.certified('main.test')
  const { problem, next_try_at } = await house.failed('go.limited.test')
  assert.match(problem ?? '', /already issued/)
  assert.ok(Date.parse(next_try_at ?? '') - Date.now() > 80_000_000, 'a day, as the authority says')
  const held = await sql`select 1 from acme_accounts where held_until > now()`.execute(house.database.kysely)
  assert.equal(held.rows.length, 0)
})

test('a name that does not lead here fails with the words of the authority', async () => {
  const { house, stub } = await opened({}, ({ behaviour }) => {
    behaviour.refuse = () => ({ type: 'dns', detail: 'no valid A records found for main.test', status: 400 })
  })
  assert.equal((await house.failed('main.test')).problem, 'the authority says: no valid A records found for main.test')
  assert.equal(stub.orders.length, 0)
})

test('an authority that is away is asked again after a minute, and the name is in service once it is back', async () => {
  const { house, stub } = await opened({}, ({ behaviour }) => {
    behaviour.isAway = true
  })
  const { problem, next_try_at } = await house.failed('main.test')
  assert.match(problem ?? '', /^the authority could not be reached \(\w+\)$/)
  const wait = Date.parse(next_try_at ?? '') - Date.now()
  assert.ok(wait > 30_000 && wait < 75_000, 'a minute, give or take a fifth')
  stub.behaviour.isAway = false
  await timePasses(house.database.kysely, 'main.test')
  await house.certified('main.test')
  assert.equal((await house.row('main.test')).attempts, 0)
})

test('of three hundred names that come at once 250 are ordered in three hours, never more than five at a time @detail', async () => {
  // In the short form all but sixty of them were ordered a moment ago.
  const before = ALL ? 0 : 240
  const names = Array.from({ length: 299 - before }, (_, at) => `n${at}.test`)
  const fresh = await freshDatabase()
  ends.push(() => fresh.drop())
  const { kysely: db } = fresh.database
  const note = ({ directory }: { directory: string }) =>
    sql`
      insert into acme_orders (id, directory, name, ordered_at)
      select gen_random_uuid(), ${directory}, 'before' || n || '.test', now() from generate_series(1, ${before}::int) n`.execute(
      db,
    )
  const { stub } = await opened({ ALSO_HOSTS: names.join() }, note, fresh.database)
  await eventually('250 are ordered', () => before + stub.orders.length >= 250)
  await eventually(
    'none is under way',
    async () => (await sql`select 1 from certificates where leased_until is not null`.execute(db)).rows.length === 0,
  )
  assert.deepEqual(await claimDue(db, { directory: stub.directory, main: [], except: [] }), [])
  assert.equal(before + stub.orders.length, 250)
  assert.ok(stub.peak <= 5, `${stub.peak} at once`)
  await sql`update acme_orders set ordered_at = now() - interval '3 hours'`.execute(db)
  await eventually('the others follow', () => before + stub.orders.length === 300)
  assert.equal(new Set(stub.orders.map(({ name }) => name)).size, 300 - before)
})

test('an order whose process has slept past its lease changes nothing', async () => {
  const { house, stub } = await opened()
  await house.certified('main.test')
  const { kysely: db } = house.database
  const before = await house.row('main.test')
  const claimed = {
    name: 'main.test',
    lease_token: '0199aaaa-0000-7000-8000-000000000000',
    directory: null,
    chain: null,
    attempts: 0,
  }
  const { chain, key } = await stub.authority.issue({ names: ['main.test'] })
  const leaf = { certificate: undefined as never, serial: '01', not_before: 0, not_after: Date.now() + 1e9 }
  const sealed_key = Buffer.from(key)
  assert.equal(
    await putInService(db, claimed, stub.directory, { ...leaf, chain, sealed_key, renew_at: 0, asks: false }),
    false,
  )
  assert.deepEqual(await house.row('main.test'), before)
})

test('a name that is no longer served is answered with an alert, and has its certificate when it comes back', async () => {
  const { house, stub } = await opened({ ALSO_HOSTS: 'www.main.test' })
  const serial = await house.certified('www.main.test')
  await house.certified('main.test')
  const env = { ACME_DIRECTORY: stub.directory }
  const without = await openStreetHouse(env, house.database)
  await house.close()
  await eventually('it is gone', () =>
    shake(without.https_port, { name: 'www.main.test' }).then(
      () => false,
      () => true,
    ),
  )
  assert.ok((await without.row('www.main.test')).gone_at !== null)
  await without.close()
  const again = await openStreetHouse({ ...env, ALSO_HOSTS: 'www.main.test' }, house.database)
  ends.push(() => again.close())
  assert.equal(await again.certified('www.main.test'), serial)
  assert.equal(stub.orders.length, 2, 'nothing was ordered anew')
})
