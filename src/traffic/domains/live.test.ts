// Domains in memory: what every process serves, also while its database is away.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { pino } from 'pino'
import { useDatabase } from '../../../tests/support/database.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { newId, openTestHouse, seedOrganization, type TestHouse } from '../../../tests/support/house.ts'
import { startProxy } from '../../../tests/support/proxy.ts'
import { BROWSER, recount, seedCampaign } from '../../../tests/support/visits.ts'
import { connect, type Database } from '../../ground/db/connect.ts'

const fresh = await useDatabase()

/** A domain that was proven, as a check leaves it. */
async function seedDomain({ kysely }: Database, org_id: number, name: string): Promise<string> {
  const id = newId()
  const at = new Date().toISOString()
  await kysely
    .insertInto('domain_names')
    .values({ name, org_id, domain_id: id, way: 'pointing', proven_at: at })
    .execute()
  await kysely
    .insertInto('domains')
    .values({
      org_id,
      id,
      name,
      status: 'active',
      https: 'optional',
      root: '{"type":"not_found"}',
      unknown_path: '{"type":"not_found"}',
      robots: 'refuse',
      records: '[]',
      created_at: at,
      updated_at: at,
    })
    .execute()
  return id
}

const visit = async (house: TestHouse, host: string, url: string) =>
  (await house.app.inject({ url, headers: { ...BROWSER, host } })).statusCode

test('while the database is away domains go on, each for its organization alone, and their clicks are kept', async () => {
  const proxy = await startProxy(fresh.connection)
  const behind = connect([proxy.connection], { log: pino({ level: 'silent' }), isBehind: false })
  const place = await seedOrganization(fresh.database)
  const other = await seedOrganization(fresh.database)
  await seedDomain(fresh.database, place.org_id, 'away.test')
  const { key } = await seedCampaign(fresh.database, place.org_id)
  const theirs = await seedCampaign(fresh.database, other.org_id)
  const house = await openTestHouse(behind, { BASE_URL: 'http://track.test', ROLE: 'serve' })
  try {
    assert.deepEqual([await visit(house, 'away.test', `/${key}`), await visit(house, 'away.test', '/')], [302, 404])
    proxy.set('cut')
    for (let times = 0; times < 3; times += 1) assert.equal(await visit(house, 'away.test', `/c/${key}`), 302)
    assert.equal(await visit(house, 'away.test', `/c/${theirs.key}`), 404)
    assert.equal(await visit(house, 'away.test', '/healthz'), 404)
    proxy.set('flow')
    await eventually('the clicks are stored', async () => (await recount(fresh.database, place.org_id)).clicks === 4)
    assert.equal((await recount(fresh.database, other.org_id)).clicks, 0)
    // What was proven meanwhile, in silence, is found by looking.
    await seedDomain(fresh.database, other.org_id, 'meanwhile.test')
    await eventually('it is served', async () => (await visit(house, 'meanwhile.test', '/healthz')) === 404)
  } finally {
    proxy.set('flow')
    await house.end()
    await behind.close()
    await proxy.close()
  }
})

test('a process that starts serves what there is, and a name that changes hands leads to one of them', async () => {
  const [first, second] = [await seedOrganization(fresh.database), await seedOrganization(fresh.database)]
  const id = await seedDomain(fresh.database, first.org_id, 'hands.test')
  const [a, b] = [await seedCampaign(fresh.database, first.org_id), await seedCampaign(fresh.database, second.org_id)]
  const house = await openTestHouse(fresh.database, { BASE_URL: 'http://track.test', ROLE: 'serve' })
  const both = async () => [
    await visit(house, 'hands.test', `/${a.key}`),
    await visit(house, 'hands.test', `/${b.key}`),
  ]
  try {
    assert.deepEqual(await both(), [302, 404])
    await fresh.database.kysely.transaction().execute(async trx => {
      await trx.deleteFrom('domain_names').where('name', '=', 'hands.test').execute()
      await trx
        .updateTable('domains')
        .set({ status: 'lost', updated_at: new Date().toISOString() })
        .where('org_id', '=', first.org_id)
        .where('id', '=', id)
        .execute()
    })
    await seedDomain(fresh.database, second.org_id, 'hands.test')
    await eventually('it leads to the other one', async () => (await visit(house, 'hands.test', `/${b.key}`)) === 302)
    assert.deepEqual(await both(), [404, 302])
  } finally {
    await house.end()
  }
})

test('the metrics say how many domains there are of each status, also while the database is away', async () => {
  const proxy = await startProxy(fresh.connection)
  const behind = connect([proxy.connection], { log: pino({ level: 'silent' }), isBehind: false })
  const { org_id } = await seedOrganization(fresh.database)
  const house = await openTestHouse(behind, { ROLE: 'work' })
  const measured = async () => {
    const { body } = await house.call('GET', '/metrics')
    const of = (status: string) =>
      Number(new RegExp(`^sluice_domains\\{status="${status}"\\} (\\d+)$`, 'm').exec(body)?.[1])
    return { pending: of('pending'), active: of('active'), failing: of('failing'), lost: of('lost') }
  }
  const shows = (what: string, expected: Awaited<ReturnType<typeof measured>>) =>
    eventually(what, async () => isDeepStrictEqual(await measured(), expected))
  const change = (id: string, fields: { status: 'pending' | 'failing' | 'lost' } | { deleted_at: string }) =>
    fresh.database.kysely
      .updateTable('domains')
      .set({ ...fields, updated_at: new Date().toISOString() })
      .where('org_id', '=', org_id)
      .where('id', '=', id)
      .execute()
  try {
    const there = await measured()
    const [a, b] = [
      await seedDomain(fresh.database, org_id, 'counted-a.test'),
      await seedDomain(fresh.database, org_id, 'counted-b.test'),
    ]
    await shows('both are counted', { ...there, active: there.active + 2 })
    await change(a, { status: 'failing' })
    await change(b, { status: 'pending' })
    const changed = { ...there, failing: there.failing + 1, pending: there.pending + 1 }
    await shows('each is counted where it is now', changed)
    proxy.set('cut')
    assert.deepEqual(await measured(), changed)
    await change(b, { deleted_at: new Date().toISOString() })
    await change(a, { status: 'lost' })
    proxy.set('flow')
    await shows('a deleted one is counted nowhere', { ...there, lost: there.lost + 1 })
  } finally {
    proxy.set('flow')
    await house.end()
    await behind.close()
    await proxy.close()
  }
})
