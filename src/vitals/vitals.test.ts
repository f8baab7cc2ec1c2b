import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pino } from 'pino'
import { freshDatabase, useDatabase } from '../../tests/support/database.ts'
import { eventually } from '../../tests/support/eventually.ts'
import { openTestHouse } from '../../tests/support/house.ts'
import { deliveryOf, seedDelivery, seedOutboxRule } from '../../tests/support/outbox.ts'
import { type SignedIn, seedSignedIn } from '../../tests/support/people.ts'
import { seedPlace } from '../../tests/support/place.ts'
import { mountSmallDisk, whyNoDisk } from '../../tests/support/small-disk.ts'
import { startProxy } from '../../tests/support/proxy.ts'
import { startReceiver } from '../../tests/support/receiver.ts'
import { connect } from '../ground/db/connect.ts'
import { watchRound } from '../ground/round-watch.ts'

const fresh = await useDatabase()

for (const ROLE of ['all', 'serve', 'work']) {
  test(`ROLE=${ROLE} says on its port that it lives, whether its database answers, and what it measures`, async () => {
    const proxy = await startProxy(fresh.connection)
    const behind = connect([proxy.connection], { log: pino({ level: 'silent' }), isBehind: false })
    const house = await openTestHouse(behind, { ROLE })
    try {
      const address = await house.listen()
      const status = async (path: string) => (await fetch(`${address}${path}`)).status
      assert.deepEqual([await status('/healthz'), await status('/readyz')], [200, 200])
      const metrics = await fetch(`${address}/metrics`)
      assert.match(await metrics.text(), /^process_cpu_seconds_total \d/m)
      proxy.set('cut')
      assert.deepEqual([await status('/healthz'), await status('/readyz')], [200, 503])
      proxy.set('flow')
      await eventually('it is ready again', async () => (await status('/readyz')) === 200)
    } finally {
      await house.end()
      await behind.close()
      await proxy.close()
    }
  })
}

test('a process that only delivers serves nothing else', async () => {
  const house = await openTestHouse(fresh.database, { ROLE: 'work' })
  try {
    assert.deepEqual(house.furnished.map(({ endpoint }) => endpoint.route).toSorted(), [
      'GET /healthz',
      'GET /metrics',
      'GET /readyz',
    ])
    for (const path of ['/', '/c/some-campaign', '/api/v1/clicks', '/api/openapi.json']) {
      const answer = await house.call('GET', path)
      assert.deepEqual([answer.statusCode, answer.headers['content-type']], [404, 'application/json; charset=utf-8'])
    }
    assert.equal((await house.call('POST', '/api/events', { key: 'k', body: {} })).statusCode, 404)
  } finally {
    await house.end()
  }
})

test('a process that can serve says for what reasons it is degraded, until they are gone', async () => {
  const own = await freshDatabase()
  await seedPlace(own.database, 'degraded')
  const house = await openTestHouse(own.database, {})
  const degraded = async () => {
    const answer = await house.call('GET', '/readyz')
    assert.equal(answer.statusCode, 200)
    // The disk of this machine may be nearly full.
    const reasons = answer.json<{ degraded?: string[] }>().degraded?.filter(reason => !reason.includes('disk')) ?? []
    return reasons.length === 0 ? 'well' : reasons
  }
  const watch = watchRound('somewhere/something')
  const fetched = (age: string) =>
    own.database.worker.query(
      `insert into fx_sources (source, due_at, fetched_at) values ('ecb', now(), now() - $1::interval)
        on conflict (source) do update set fetched_at = excluded.fetched_at`,
      [age],
    )
  const locking = await own.database.worker.connect()
  try {
    assert.equal(await degraded(), 'well')
    for (let times = 0; times < 3; times += 1) watch.failed(new Error('no'), () => {})
    await fetched('3 days')
    assert.deepEqual(await degraded(), [
      'the periodic job somewhere/something keeps failing',
      'the exchange rates of ecb are more than two days old',
    ])
    watch.passed()
    await fetched('1 day')
    assert.equal(await degraded(), 'well')
    await locking.query('begin; lock table clicks in exclusive mode')
    assert.equal((await house.call('GET', '/c/degraded')).statusCode, 302)
    assert.match(String(await degraded()), /journal/)
    await locking.query('commit')
    await eventually('the clicks are stored', async () => (await degraded()) === 'well')
  } finally {
    locking.release()
    watch.close()
    await house.end()
    await own.drop()
  }
})

test('a nearly full disk is a reason, and a journal without its reserve', { skip: whyNoDisk() }, async () => {
  const disk = mountSmallDisk(6)
  const house = await openTestHouse(fresh.database, { DATA_DIR: disk.folder, JOURNAL_RESERVE_MB: '1' })
  const reasons = async () => (await house.call('GET', '/readyz')).json<{ degraded?: string[] }>().degraded?.join(', ')
  const metric = async () =>
    /^sluice_clicks_reserve_missing (\d)$/m.exec((await house.call('GET', '/metrics')).body)?.[1]
  try {
    await eventually('the reserve is set aside', () => existsSync(join(disk.folder, 'journal/reserve')))
    await eventually('it is well', async () => (await reasons()) === undefined && (await metric()) === '0')
    rmSync(join(disk.folder, 'journal/reserve'))
    disk.fill()
    assert.equal(await reasons(), 'the disk of DATA_DIR has less than a tenth of its space free')
    await eventually('the reserve is missed', async () => (await metric()) === '1')
    assert.match((await reasons()) ?? '', /the journal has no reserve for a full disk/)
  } finally {
    await house.end()
    disk.end()
  }
})

test('the metrics show clicks that wait on disk for the database, and when they no longer do', async () => {
  await seedPlace(fresh.database, 'measured')
  const proxy = await startProxy(fresh.connection)
  const behind = connect([proxy.connection], { log: pino({ level: 'silent' }), isBehind: false })
  const folder = mkdtempSync(join(tmpdir(), 'sluice-vitals-'))
  const house = await openTestHouse(behind, { DATA_DIR: folder })
  const measured = async () => {
    const { body } = await house.call('GET', '/metrics')
    const value = (name: string) => Number(new RegExp(`^sluice_clicks_${name} (\\d+)$`, 'm').exec(body)?.[1])
    return { isDown: value('database_down'), bytes: value('journal_bytes'), lost: value('lost') }
  }
  try {
    assert.deepEqual(await measured(), { isDown: 0, bytes: 0, lost: 0 })
    proxy.set('cut')
    assert.equal((await house.call('GET', '/c/measured')).statusCode, 302)
    const { isDown, bytes, lost } = await measured()
    assert.ok(isDown === 1 && bytes > 0 && lost === 0, JSON.stringify({ isDown, bytes, lost }))
    proxy.set('flow')
    await eventually('the journal is stored', async () => {
      const now = await measured()
      return now.isDown === 0 && now.bytes === 0
    })
  } finally {
    proxy.set('flow')
    await house.end()
    await behind.close()
    await proxy.close()
    rmSync(folder, { recursive: true })
  }
})

test('claims that keep failing are in the metrics, once in the log, and on the dashboard of owners and admins only, until they succeed', async () => {
  const own = await freshDatabase()
  const receiver = await startReceiver()
  const said: string[] = []
  const log = pino({ level: 'error' }, { write: line => void said.push(line) })
  const works = await openTestHouse(own.database, { ROLE: 'work' }, {}, log)
  const serves = await openTestHouse(own.database, { ROLE: 'serve' })
  const { kysely: db } = own.database
  const measured = async () =>
    Number(
      /^sluice_rounds_failing\{round="deliveries\/postback"\} (\d+)$/m.exec(
        (await works.call('GET', '/metrics')).body,
      )?.[1],
    )
  try {
    const owner = await seedSignedIn(serves)
    type Line = { kind: string; name: string }
    const told = async (as: SignedIn = owner) =>
      (await serves.call('GET', '/api/attention', as))
        .json<{ lines: Line[] }>()
        .lines.filter(({ kind }) => kind === 'job_failing')
    assert.deepEqual([await measured(), await told()], [0, []])
    const target_id = await seedOutboxRule(db, { url: receiver.origin })
    await own.database.schema.schema.alterTable('delivery_attempts').renameTo('away').execute()
    const { id } = await seedDelivery(db, { target_id })
    await eventually('the metrics say so', async () => (await measured()) > 3)
    await eventually('the dashboard of another process says so', async () => (await told()).length > 0)
    assert.deepEqual(
      (await told()).map(({ name }) => name),
      ['deliveries/postback'],
    )
    for (const role of ['admin', 'member'] as const)
      assert.equal((await told(await seedSignedIn(serves, { place: owner, role }))).length, role === 'admin' ? 1 : 0)
    const lines = said.filter(line => line.includes('could not claim deliveries'))
    assert.equal(lines.length, 1, lines.join(''))
    await own.database.schema.schema.alterTable('away').renameTo('delivery_attempts').execute()
    await eventually('it is delivered', async () => (await deliveryOf(db, id)).state === 'delivered')
    await eventually('nothing is told any more', async () => (await measured()) === 0 && (await told()).length === 0)
  } finally {
    await Promise.all([works.end(), serves.end()])
    await receiver.close()
    await own.drop()
  }
})
