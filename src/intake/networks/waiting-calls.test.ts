// Networks do not retry: a postback answered OK is recorded once, whatever happens in between. Two houses on one database act as two processes.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pino } from 'pino'
import { type FreshDatabase, freshDatabase } from '../../../tests/support/database.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { openTestHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedClick, seedOffer, seedRule, tally } from '../../../tests/support/intake.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { startProxy } from '../../../tests/support/proxy.ts'
import { newId, toUuid } from '../../contract/ids.ts'
import { connect } from '../../ground/db/connect.ts'
import { auditBooks } from '../../reading/audit/audit.ts'
import type * as api from './api.ts'
import { openCallStore } from './store-calls.ts'

let fresh: FreshDatabase
let folder: string
const houses: TestHouse[] = []
/** A process like any other; `perMinute` is the quota of its organizations. */
const open = async (perMinute = 100_000, database = fresh.database): Promise<TestHouse> => {
  const env = { DATA_DIR: join(folder, String(houses.length)), ROLE: 'serve' }
  const house = await openTestHouse(database, env, { quotas: { events: perMinute } })
  houses.push(house)
  return house
}
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-networks-'))
  fresh = await freshDatabase()
  await open()
})
after(async () => {
  for (const house of houses) await house.end()
  await fresh.drop()
  rmSync(folder, { recursive: true, force: true })
})

const first = (): TestHouse => houses[0] ?? assert.fail()

async function place(): Promise<{ owner: SignedIn; path: string; network_id: string }> {
  const owner = await seedSignedIn(first())
  const made = await first().call('POST', '/api/networks', { ...owner, body: { name: 'Net', template: 'plain' } })
  const { id, postback_url } = made.json<api.Network>()
  return { owner, path: new URL(postback_url).pathname, network_id: id }
}

const waiting = async (org_id: number) => {
  const { rows } = await fresh.database.reads.query<{ count: number }>(
    'select count(*)::int as count from network_calls where org_id = $1',
    [org_id],
  )
  return rows[0]?.count ?? 0
}

test('the same call 100 times at once over two processes is one event, one charge, one delivery', async () => {
  const second = await open()
  const { owner, path } = await place()
  await seedRule(fresh.database, owner.org_id, { event_type: 'lead' })
  const wire = toWireId(await seedClick(fresh.database, owner.org_id))
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, at) =>
      (at % 2 === 0 ? first() : second).call('GET', `${path}?subid=${wire}&payout=5&txid=same&status=lead`),
    ),
  )
  assert.deepEqual(new Set(answers.map(({ body }) => body)), new Set(['OK\n']))
  const expected = { events: 1, aliases: 0, charges: 1, deliveries: 1, balance: '9.95' }
  assert.deepEqual(await tally(fresh.database, owner.org_id), expected)
  assert.deepEqual(await auditBooks(fresh.database.reads, owner.org_id), [])
})

test('what is over the quota is stored, shown as waiting, and recorded once when there is room again', async () => {
  const { owner, path, network_id } = await place()
  const narrow = await open(5)
  const wire = toWireId(await seedClick(fresh.database, owner.org_id))
  // Other processes would run them at once, so the test holds the organization's lock.
  const release = await holdBooks(owner.org_id)
  const answers = Promise.all(
    Array.from({ length: 30 }, (_, at) =>
      narrow.call('GET', `${path}?subid=${wire}&status=deposit&payout=1&txid=${at}`),
    ),
  )
  await eventually('the waiting of 25', async () => (await waiting(owner.org_id)) >= 25)
  const shown = await first().call('GET', `/api/networks/${network_id}`, owner)
  assert.ok(shown.json<api.Network>().waiting >= 25)
  await release()
  assert.deepEqual(new Set((await answers).map(({ body }) => body)), new Set(['OK\n']))
  await eventually('the draining', async () => (await waiting(owner.org_id)) === 0)
  const { events, charges } = await tally(fresh.database, owner.org_id)
  assert.deepEqual([events, charges], [30, 1])
  assert.deepEqual(await auditBooks(fresh.database.reads, owner.org_id), [])
})

test('a call that takes too long is answered, stored, and recorded once', async () => {
  const { owner, path } = await place()
  const click = await seedClick(fresh.database, owner.org_id)
  const release = await holdBooks(owner.org_id)
  const reply = await first().call('GET', `${path}?subid=${toWireId(click)}&payout=2`)
  assert.equal(reply.body, 'OK\n')
  assert.equal(await waiting(owner.org_id), 1)
  await release()
  await eventually('the draining', async () => (await waiting(owner.org_id)) === 0)
  assert.equal((await tally(fresh.database, owner.org_id)).events, 1)
})

test('a stored call that is worth nothing is recorded, and kept once with the reason', async () => {
  const { owner, path } = await place()
  const offer_id = await seedOffer(fresh.database, owner.org_id, { payout: '20', payout_types: ['lead'] })
  const click = await seedClick(fresh.database, owner.org_id, { offer_id })
  const release = await holdBooks(owner.org_id)
  const reply = await first().call('GET', `${path}?subid=${toWireId(click)}&status=sale`)
  assert.equal(reply.body, 'OK\n')
  await release()
  await eventually('the draining', async () => (await waiting(owner.org_id)) === 0)
  assert.equal((await tally(fresh.database, owner.org_id)).events, 1)
  const kept = await first().call('GET', '/api/refused-events', owner)
  const diagnoses = kept.json<{ data: { diagnosis: string }[] }>().data.map(({ diagnosis }) => diagnosis)
  assert.deepEqual(diagnoses, ['paid_for_other_types'])
})

test('what a killed process had taken, had recorded, or had found to be refused is finished by another, once', async () => {
  const { owner, path, network_id } = await place()
  const { org_id } = owner
  const network = (await first().call('GET', `/api/networks/${network_id}`, owner)).json<api.Network>()
  const [recorded, taken] = [await seedClick(fresh.database, org_id), await seedClick(fresh.database, org_id)]
  await first().call('GET', `${path}?subid=${toWireId(recorded)}&txid=1&payout=3`)
  const { rows } = await fresh.database.reads.query<{ id: string }>('select id from networks where org_id = $1', [
    org_id,
  ])
  const ids = [newId(), newId(), newId()]
  const row = (at: number, fields: object) => ({
    org_id,
    id: ids[at] ?? '',
    network_id: rows[0]?.id ?? '',
    fields: JSON.stringify(fields),
    ip: '127.0.0.1',
    received_at: new Date().toISOString(),
    // Like a lease that has just expired.
    run_at: new Date().toISOString(),
    attempts: 1,
  })
  const refused = { subid: '{click_id}', payout: '1' }
  // Its refusal was kept before the process died, and its row was still there.
  await first().call('GET', `${path}?${new URLSearchParams(refused).toString()}`)
  await fresh.database.kysely
    .updateTable('refused_events')
    .set({ id: ids[2] ?? '' })
    .where('org_id', '=', org_id)
    .execute()
  await fresh.database.kysely
    .insertInto('network_calls')
    .values([
      row(0, { subid: toWireId(recorded), txid: '1', payout: '3' }),
      row(1, { subid: toWireId(taken) }),
      row(2, refused),
    ])
    .execute()
  await eventually('the draining', async () => (await waiting(org_id)) === 0)
  assert.equal((await tally(fresh.database, org_id)).events, 2)
  const kept = await first().call('GET', `/api/refused-events?network_id=${network.id}`, owner)
  assert.equal(kept.json<{ data: unknown[] }>().data.length, 1)
  assert.deepEqual(await auditBooks(fresh.database.reads, org_id), [])
})

test('a call that waits and turns out to be refused is kept with its diagnosis', async () => {
  const { owner, path } = await place()
  const narrow = await open(0)
  const text = toWireId(newId())
  assert.equal((await narrow.call('GET', `${path}?subid=${text}&payout=2`)).body, 'OK\n')
  await eventually('the draining', async () => (await waiting(owner.org_id)) === 0)
  const kept = (await first().call('GET', '/api/refused-events', owner)).json<{ data: { diagnosis: string }[] }>()
  assert.deepEqual(
    kept.data.map(({ diagnosis }) => diagnosis),
    ['click_unknown'],
  )
})

test('more calls than may wait are not acknowledged', async () => {
  const { owner, network_id } = await place()
  const { rows } = await fresh.database.reads.query<{ id: string }>('select id from networks where org_id = $1', [
    owner.org_id,
  ])
  assert.equal(toWireId(rows[0]?.id ?? ''), network_id)
  const store = openCallStore(fresh.database.kysely, 3)
  const call = {
    org_id: owner.org_id,
    network_id: rows[0]?.id ?? '',
    fields: {},
    ip: '127.0.0.1',
    received_at: Date.now(),
  }
  const answers = await Promise.all(Array.from({ length: 10 }, () => store(call)))
  assert.equal(answers.filter(isStored => isStored).length, 3)
})

test('without the database a network is told to come again, and nothing is acknowledged', async () => {
  const { owner, path } = await place()
  const proxy = await startProxy(fresh.connection)
  const database = connect([proxy.connection], { log: pino({ level: 'silent' }), isBehind: false })
  const house = await open(100_000, database)
  const url = `${path}?subid=${toWireId(await seedClick(fresh.database, owner.org_id))}`
  proxy.set('cut')
  const reply = await house.call('GET', url)
  assert.deepEqual([reply.statusCode, reply.headers['retry-after']], [503, '60'])
  proxy.set('flow')
  await eventually('the recording', async () => (await house.call('GET', url)).statusCode === 200)
  assert.equal((await tally(fresh.database, owner.org_id)).events, 1)
  houses.splice(houses.indexOf(house), 1)
  await house.end()
  await database.close()
  await proxy.close()
})

/** Holds the organization's lock, for which every conversion waits. */
async function holdBooks(org_id: number): Promise<() => Promise<void>> {
  const client = fresh.database.dedicated()
  await client.connect()
  await client.query('begin')
  await client.query('select 1 from balances where org_id = $1 for update', [org_id])
  return async () => {
    await client.query('rollback')
    await client.end()
  }
}

test('a process that closes has written down when a network was last heard of, for the one it was', async () => {
  const { owner, path, network_id } = await place()
  const { network_id: silent } = await place()
  const before = Date.now()
  const env = { DATA_DIR: join(folder, 'closing'), ROLE: 'serve' }
  const closing = await openTestHouse(fresh.database, env)
  assert.equal((await closing.call('GET', `${path}?subid=nonsense`)).statusCode, 200)
  await closing.end()
  const { rows } = await fresh.database.reads.query<{ id: string; last_received_at: string | null }>(
    'select id, last_received_at from networks where id = any($1)',
    [[network_id, silent].map(toUuid)],
  )
  const heard = new Map(rows.map(({ id, last_received_at }) => [toWireId(id), last_received_at]))
  assert.ok(Date.parse(heard.get(network_id) ?? '') >= before)
  assert.equal(heard.get(silent), null)
  const { data } = (await first().call('GET', '/api/networks', owner)).json<{ data: api.Network[] }>()
  assert.equal(typeof data[0]?.last_received_at, 'string')
})
