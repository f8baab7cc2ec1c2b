import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import { sql } from 'kysely'
import { eventually } from '../../../tests/support/eventually.ts'
import { openCertified } from '../../../tests/support/street.ts'
import { startAcmeStub } from '../../../tests/support/acme-stub.ts'
import { readConfig } from '../../ground/config.ts'
import { againAfter, openAuthority } from './authority.ts'
import { expiryWarningAt, timeWithin, renewalTimeOf, pauseAfter } from './renewal.ts'
import { retryAfter_ms } from './retry-after.ts'

const HOUR = 60 * 60_000
const DAY = 24 * HOUR

let ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.reverse()) await end()
  ends = []
})

describe('times', () => {
  test('a certificate is renewed at two thirds of its life, a short one at half, give or take a twentieth', () => {
    const lived = (days: number, chance: number) =>
      renewalTimeOf({ not_before: 0, not_after: days * DAY }, () => chance) / (days * DAY)
    assert.deepEqual([lived(90, 0.5), lived(6, 0.5)], [2 / 3, 1 / 2])
    assert.ok(Math.abs(lived(90, 0) - (2 / 3 - 0.05)) < 1e-9 && Math.abs(lived(90, 1) - (2 / 3 + 0.05)) < 1e-9)
  })

  test('a window is hit anywhere', () => {
    assert.deepEqual(
      [0, 0.5, 1].map(chance => timeWithin({ from: 10, to: 20 }, () => chance)),
      [10, 15, 20],
    )
  })

  test('the end of ninety days is near seven days before, that of six days a fifth of them', () => {
    assert.equal(expiryWarningAt({ not_before: 0, not_after: 90 * DAY }), 83 * DAY)
    assert.equal(expiryWarningAt({ not_before: 0, not_after: 5 * DAY }), 4 * DAY)
  })

  test('failures are tried again after ever longer pauses, twelve hours at the most', () => {
    const pauses = [1, 2, 3, 4, 5, 6, 7, 100].map(failures => Math.round(pauseAfter(failures, () => 0.5) / 60_000))
    assert.deepEqual(pauses, [1, 5, 15, 60, 180, 360, 720, 720])
    assert.ok(pauseAfter(1, () => 0) === 48_000 && Math.round(pauseAfter(1, () => 1)) === 72_000)
  })

  test('Retry-After is seconds or a date; what has passed or says nothing is left out', () => {
    const now = Date.parse('2026-11-22T12:00:00Z')
    const read = (value: unknown) => retryAfter_ms(value, now)
    assert.deepEqual([read('120'), read('Sun, 22 Nov 2026 12:01:00 GMT')], [120_000, 60_000])
    for (const value of ['0', '-1', 'soon', '', undefined, 'Sun, 22 Nov 2026 11:00:00 GMT'])
      assert.equal(read(value), undefined)
  })

  test('the authority is asked again as it says, within a minute and a day, else after six hours', () => {
    assert.deepEqual(
      [againAfter(undefined), againAfter(1000), againAfter(3 * HOUR), againAfter(99 * DAY)],
      [6 * HOUR, 60_000, 3 * HOUR, DAY],
    )
  })
})

describe('what the authority wants', () => {
  const opened: typeof openCertified = async (env, change) => {
    const all = await openCertified(env, change)
    ends.push(all.end)
    return all
  }

  test('a certificate whose window has passed is renewed now, and the order says which one it replaces', async () => {
    const wants = { from: Date.now() + 10 * DAY, to: Date.now() + 11 * DAY }
    const { house, stub } = await opened({}, ({ behaviour }) => {
      behaviour.window = () => wants
    })
    const serial = await house.certified('main.test')
    await eventually('the window is known', async () => (await house.row('main.test')).ari_from !== null)
    const { renew_at, ari_at } = await house.row('main.test')
    assert.ok(Date.parse(renew_at ?? '') >= wants.from && Date.parse(renew_at ?? '') <= wants.to)
    const again = Date.parse(ari_at ?? '') - Date.now()
    assert.ok(again > 0.9 * HOUR && again < 1.1 * HOUR, 'asked again as its Retry-After says')
    assert.equal(stub.orders.length, 1)

    stub.behaviour.window = () => ({ from: Date.now() - DAY, to: Date.now() - HOUR })
    await sql`update certificates set ari_at = now()`.execute(house.database.kysely)
    assert.notEqual(await house.certified('main.test', serial), serial)
    const [, id = ''] = stub.asked.filter(path => path.startsWith('/renewal-info/')).map(path => path.split('/')[2])
    assert.equal(stub.orders[1]?.placed.replaces, id)
    assert.match(id, /^[\w-]+\.[\w-]+$/)
  })

  test('a window that moves later is waited for, and the moment stays while the window does', async () => {
    let window = { from: Date.now() + 10 * DAY, to: Date.now() + 11 * DAY }
    const { house, stub } = await opened({}, ({ behaviour }) => {
      behaviour.window = () => window
    })
    await house.certified('main.test')
    const known = async (from: number) =>
      eventually('the window is known', async () => Date.parse((await house.row('main.test')).ari_from ?? '') === from)
    const askNow = () =>
      sql`update certificates set ari_at = now() - interval '1 second'`.execute(house.database.kysely)
    await known(window.from)
    const { renew_at } = await house.row('main.test')
    await askNow()
    await eventually(
      'it was asked again',
      async () => Date.parse((await house.row('main.test')).ari_at ?? '') > Date.now(),
    )
    await eventually('twice', () => stub.asked.filter(path => path.startsWith('/renewal-info/')).length === 2)
    assert.equal((await house.row('main.test')).renew_at, renew_at)
    window = { from: window.from + 5 * DAY, to: window.to + 5 * DAY }
    // Again and again, because the answer of before may be written down only after this.
    await eventually('the later window is known', async () => {
      await askNow()
      return Date.parse((await house.row('main.test')).ari_from ?? '') === window.from
    })
    assert.ok(Date.parse((await house.row('main.test')).renew_at ?? '') >= window.from)
    assert.equal(stub.orders.length, 1)
  })

  test('an authority that does not know the certificate leaves it at two thirds of its life', async () => {
    const { house, stub } = await opened({}, ({ behaviour }) => {
      behaviour.window = () => 'none'
    })
    await house.certified('main.test')
    const { renew_at } = await house.row('main.test')
    await eventually('it was asked', () => stub.asked.some(path => path.startsWith('/renewal-info/')))
    await eventually(
      'and is again',
      async () => Date.parse((await house.row('main.test')).ari_at ?? '') > Date.now() + 5 * HOUR,
    )
    const row = await house.row('main.test')
    assert.deepEqual([row.renew_at, row.ari_from, row.problem], [renew_at, null, null])
  })

  test('a certificate that was replaced before is ordered all the same', async () => {
    const { house, stub } = await opened({}, ({ behaviour }) => {
      behaviour.window = () => ({ from: Date.now() + 10 * DAY, to: Date.now() + 11 * DAY })
    })
    const first = await house.certified('main.test')
    const { chain } = await house.row('main.test')
    // Again and again, because the window that the authority tells of the first one may be written down only after this.
    const renewed = async (serial: string) => {
      const renewing = setInterval(() => {
        void sql`update certificates set renew_at = now() where chain = ${chain}`.execute(house.database.kysely)
      }, 200)
      return await house.certified('main.test', serial).finally(() => clearInterval(renewing))
    }
    const second = await renewed(first)
    await sql`update certificates set chain = ${chain}`.execute(house.database.kysely)
    await renewed(second)
    assert.deepEqual(
      stub.orders.map(({ placed }) => placed.replaces !== undefined),
      [false, true, false],
    )
  })

  test('a certificate is named as RFC 9773 names it', async () => {
    const stub = await startAcmeStub(() => 0)
    ends.push(() => stub.close())
    stub.behaviour.window = () => ({ from: 1000, to: 2000, why: 'https://authority.test/why' })
    const { chain } = await stub.authority.issue({ names: ['main.test'], serial: '87654321' })
    const authority = openAuthority({
      config: readConfig({ ACME_DIRECTORY: stub.directory }),
      secrets: undefined as never,
    })
    const told = await authority.renewalInfo(chain, new AbortController().signal)
    assert.deepEqual(told, { window: { from: 1000, to: 2000 }, again_ms: HOUR, why: 'https://authority.test/why' })
    const [, serial] = stub.asked.at(-1)?.split('.') ?? []
    // The example of its section 4.1: the first bit of 87 is set, so a zero stands before it.
    assert.equal(serial, 'AIdlQyE')
  })
})
