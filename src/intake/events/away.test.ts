// After an outage, clicks in one process's journal are not unknown to another process.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { pino } from 'pino'
import { useDatabase } from '../../../tests/support/database.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { openTestHouse, type TestHouse } from '../../../tests/support/house.ts'
import { seedPlace } from '../../../tests/support/place.ts'
import { type Proxy, startProxy } from '../../../tests/support/proxy.ts'
import { newId, toWireId } from '../../contract/ids.ts'
import { openAbsence } from '../../ground/db/absence.ts'
import { connect } from '../../ground/db/connect.ts'

const fresh = await useDatabase()
const log = pino({ level: 'silent' })
const folder = mkdtempSync(join(tmpdir(), 'sluice-away-'))
const place = await seedPlace(fresh.database, 'away')
const ends: (() => Promise<unknown>)[] = []

type Process = { house: TestHouse; proxy: Proxy }

/** A process whose connection to the database can be cut. */
async function start(name: string): Promise<Process> {
  const proxy = await startProxy(fresh.connection)
  const behind = connect([proxy.connection], { log, isBehind: false })
  const house = await openTestHouse(behind, { DATA_DIR: join(folder, name) })
  ends.push(async () => {
    proxy.set('flow')
    await house.end()
    await behind.close()
    await proxy.close()
  })
  return { house, proxy }
}

let taker: Process
let other: Process
before(async () => {
  taker = await start('taker')
  other = await start('other')
})
after(async () => {
  for (const end of ends) await end()
  rmSync(folder, { recursive: true })
})

async function visit({ house }: Process): Promise<string> {
  const { headers } = await house.call('GET', '/c/away')
  return new URL(String(headers['location'])).searchParams.get('c') ?? assert.fail()
}

const report = async ({ house }: Process, clickId: string) =>
  (await house.call('POST', '/api/events', { key: place.key, body: { clickId, type: 'lead' } })).statusCode

test('a click of an outage that another process still keeps is told to come again, and no click at all is still refused', async () => {
  const before_ms = Date.now()
  const never = () => toWireId(newId())
  assert.equal(await report(other, never()), 403, 'without an outage nobody is told to come again')
  for (const { proxy } of [taker, other]) proxy.set('cut')
  const clickId = await visit(taker)
  assert.notEqual(clickId, '', 'the click is in a journal')
  assert.equal(await report(other, clickId), 503)
  other.proxy.set('flow')
  const old = toWireId(newId(before_ms - 3_600_000))
  await eventually('the other one reaches the database', async () => (await report(other, old)) === 403)
  assert.equal(await report(other, clickId), 503, 'it may yet be stored')
  assert.equal(await report(other, toWireId(newId(Date.now() + 3_600_000))), 403, 'nobody has made that one yet')
  taker.proxy.set('flow')
  await eventually('it is recorded once it is stored', async () => (await report(other, clickId)) === 201)
})

test('while the database only reads, as after a failover, conversions are told to come again and clicks wait in the journal', async () => {
  const { database: name } = fresh.connection
  // Over the processes' own connection to the node: each node of a cluster is configured separately.
  const turn = async (onOrOff: string) => {
    const client = new pg.Client(fresh.connection)
    await client.connect()
    await client.query(
      `begin read write; alter database ${name} set default_transaction_read_only = ${onOrOff}; commit`,
    )
    await client.end()
  }
  const clickId = await visit(taker)
  await turn('on')
  try {
    // New sessions, which start with the new settings.
    taker.proxy.set('cut')
    taker.proxy.set('flow')
    await eventually('a conversion meets it', async () => (await report(taker, clickId)) === 503)
    const kept = await visit(taker)
    assert.notEqual(kept, '', 'the click is in the journal')
    assert.equal(await report(taker, kept), 503)
    await turn('off')
    taker.proxy.set('cut')
    taker.proxy.set('flow')
    for (const id of [clickId, kept])
      await eventually('it is recorded when the database writes again', async () => (await report(taker, id)) === 201)
  } finally {
    await turn('off')
  }
})

test('the aftermath of an outage begins before it was noticed and ends by itself', () => {
  let now = 1_000_000
  const away = openAbsence(() => now)
  assert.equal(away.since(), undefined)
  away.note()
  now += 5000
  away.note()
  assert.equal(away.since(), 990_000)
  now += 29_000
  assert.equal(away.since(), 990_000)
  now += 2000
  assert.equal(away.since(), undefined)
  away.note()
  assert.equal(away.since(), now - 10_000)
  // A clock that was set back does not prolong it.
  now -= 3_600_000
  assert.equal(away.since(), undefined)
})
