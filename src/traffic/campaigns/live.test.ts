import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { pino } from 'pino'
import { useDatabase } from '../../../tests/support/database.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { startProxy } from '../../../tests/support/proxy.ts'
import { seedCampaign } from '../../../tests/support/visits.ts'
import { newId } from '../../contract/ids.ts'
import { readConfig } from '../../ground/config.ts'
import { connect, type Database } from '../../ground/db/connect.ts'
import { openSecrets } from '../../ground/db/secrets.ts'
import type { Ground } from '../../ground/room.ts'
import { announceChange, announceOrganization, type LiveCampaigns, openLiveCampaigns } from './live.ts'

const fresh = await useDatabase()
const { database } = fresh
const log = pino({ level: 'silent' })
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

let organizations = 0

async function anOrganization(): Promise<number> {
  const org_id = ++organizations
  const created_at = new Date().toISOString()
  await database.kysely.insertInto('organizations').values({ org_id, id: newId(), name: 'Acme', created_at }).execute()
  return org_id
}

/** The campaigns of one process: of this one, or of another that shares nothing but the database. */
async function open(on: Database = database, heard = log): Promise<LiveCampaigns> {
  const config = readConfig({ SECRET: 'a secret that only tests know' })
  const secrets = await openSecrets(config, on.kysely)
  const ground: Ground = { config, database: on, db: on.kysely, log: heard, secrets }
  const live = await openLiveCampaigns(ground)
  closing.push(() => live.close())
  return live
}

function anotherProcess(): Database {
  const other = connect(fresh.nodes, { log })
  closing.push(() => other.close())
  return other
}

/** Changes a campaign as its room does, without telling anybody. */
async function rename(org_id: number, id: string, url: string): Promise<void> {
  const destination = JSON.stringify({ type: 'redirect', url })
  await database.kysely
    .updateTable('campaigns')
    .set({ destination, updated_at: new Date().toISOString() })
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .execute()
}

const urlOf = (live: LiveCampaigns, key: string): string | undefined => {
  const destination = live.find(key)?.destination
  return destination?.type === 'redirect' ? destination.url : undefined
}

test('every campaign is in memory from the start, deleted ones included', async () => {
  const org_id = await anOrganization()
  const one = await seedCampaign(database, org_id, { source: { sub1: 'utm' }, strict_filter: true })
  const gone = await seedCampaign(database, org_id, { deleted_at: new Date().toISOString() })
  const live = await open()
  const found = live.find(one.key)
  assert.deepEqual(
    {
      org_id: found?.org_id,
      id: found?.id,
      source: found?.source,
      strict: found?.strict_filter,
      is_deleted: found?.is_deleted,
    },
    { org_id, id: one.id, source: { sub1: 'utm' }, strict: true, is_deleted: false },
  )
  assert.equal(live.find(gone.key)?.is_deleted, true)
  assert.equal(live.find('nobody'), undefined)
})

test('an announced change is served by this process before its author is answered', async () => {
  const org_id = await anOrganization()
  const { id, key } = await seedCampaign(database, org_id)
  const live = await open()
  for (let i = 0; i < 20; i += 1) {
    await rename(org_id, id, `https://a.example/${i}`)
    await announceChange(database.kysely, org_id, id)
    assert.equal(urlOf(live, key), `https://a.example/${i}`)
  }
})

test('an announced change is served by other processes, also when its time lies far back', async () => {
  const org_id = await anOrganization()
  const { id, key } = await seedCampaign(database, org_id, { updated_at: '2020-01-01T00:00:00Z' })
  const other = await open(anotherProcess())
  const destination = JSON.stringify({ type: 'redirect', url: 'https://b.example/' })
  await database.kysely
    .updateTable('campaigns')
    .set({ destination })
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .execute()
  await announceChange(database.kysely, org_id, id)
  await eventually('the change', () => urlOf(other, key) === 'https://b.example/')
})

test('a change that nobody announces is seen by itself', async () => {
  const org_id = await anOrganization()
  const { id, key } = await seedCampaign(database, org_id)
  const live = await open()
  await rename(org_id, id, 'https://c.example/')
  const another = await seedCampaign(database, org_id)
  await eventually(
    'the change',
    () => urlOf(live, key) === 'https://c.example/' && live.find(another.key) !== undefined,
  )
})

test('a change that nobody announces is seen by a process whose clock is an hour ahead, and by one an hour behind', async t => {
  const org_id = await anOrganization()
  const { id, key } = await seedCampaign(database, org_id)
  const now = Date.now()
  for (const hours of [1, -1]) {
    t.mock.timers.enable({ apis: ['Date'], now: now + hours * 3_600_000 })
    const live = await open()
    await live.refresh()
    const destination = JSON.stringify({ type: 'redirect', url: `https://d.example/${hours}` })
    // By the database's clock, as their rooms write them.
    await database.reads.query(
      'update campaigns set destination = $3, updated_at = now() where org_id = $1 and id = $2',
      [org_id, id, destination],
    )
    await eventually('the change', () => urlOf(live, key) === `https://d.example/${hours}`)
    t.mock.timers.reset()
  }
})

test('a campaign made a moment ago in another process is found by a search', async () => {
  const live = await open()
  const org_id = await anOrganization()
  const { key } = await seedCampaign(database, org_id)
  assert.equal((await live.search(key))?.key, key)
  assert.equal(live.find(key)?.key, key)
})

test('inventing keys costs the database one look-up, and ill-formed ones none', async t => {
  const live = await open()
  // That nobody has a key is remembered for some seconds, which do not pass here.
  const now = performance.now()
  t.mock.method(performance, 'now', () => now)
  const { clicks: pool } = database
  let lookups = 0
  const query = pool.query.bind(pool)
  // Counts, and passes on to the real one.
  pool.query = ((text: string, ...rest: unknown[]) => {
    if (String(text).includes('campaign_keys')) lookups += 1
    return (query as (...all: unknown[]) => unknown)(text, ...rest)
  }) as typeof pool.query
  closing.push(async () => void (pool.query = query))
  const answers = await Promise.all(Array.from({ length: 300 }, (_, i) => live.search(`invented-${i % 100}`)))
  assert.ok(answers.every(answer => answer === undefined))
  assert.ok(lookups <= 2, `${lookups} look-ups`)
  const before = lookups
  for (const key of ['invented-1', 'UPPER', '../etc', 'ü', 'x'.repeat(65), ''])
    assert.equal(await live.search(key), undefined)
  assert.equal(lookups, before)
})

test('while the database is away campaigns go on being served, the log says so, and changes of that time are seen afterwards', async () => {
  const org_id = await anOrganization()
  const { id, key } = await seedCampaign(database, org_id)
  const proxy = await startProxy(fresh.connection)
  const behind = connect([proxy.connection], { log, isBehind: false })
  closing.push(
    () => proxy.close(),
    () => behind.close(),
  )
  const lines: string[] = []
  const live = await open(behind, pino({ level: 'warn' }, { write: line => void lines.push(line) }))
  proxy.set('cut')
  await rename(org_id, id, 'https://d.example/')
  const another = await seedCampaign(database, org_id)
  await announceChange(behind.kysely, org_id, id)
  assert.equal(urlOf(live, key), 'https://offer.example/?c={click_id}')
  assert.equal(await live.search('nobody-knows'), undefined)
  await eventually('the log', () => lines.some(line => line.includes('campaigns cannot be refreshed')))
  proxy.set('flow')
  await eventually(
    'the change',
    () => urlOf(live, key) === 'https://d.example/' && live.find(another.key) !== undefined,
  )
})

test('offers are known, archived and deleted ones too', async () => {
  const org_id = await anOrganization()
  const live = await open()
  const id = newId()
  const now = new Date().toISOString()
  const offer = { org_id, id, name: 'O', url: 'https://o.example/', payout: '1.5', payout_types: [], created_at: now }
  await database.kysely
    .insertInto('offers')
    .values({ ...offer, status: 'archived', updated_at: now })
    .execute()
  await announceChange(database.kysely, org_id, id)
  assert.deepEqual(live.object('offer', id), {
    org_id,
    id,
    url: 'https://o.example/',
    payout: '1.5',
    status: 'archived',
    is_deleted: false,
  })
  await database.kysely
    .updateTable('offers')
    .set({ deleted_at: now })
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .execute()
  await announceChange(database.kysely, org_id, id)
  assert.equal(live.object('offer', id)?.is_deleted, true)
})

test('landings and funnels are known, and their changes are seen by other processes, announced or not', async () => {
  const org_id = await anOrganization()
  const live = await open()
  const other = await open(anotherProcess())
  const now = new Date().toISOString()
  const [landing_id, funnel_id] = [newId(), newId()]
  const times = { created_at: now, updated_at: now }
  const landings = [{ landing_id, weight: 3 }]
  await database.kysely
    .insertInto('landings')
    .values({ org_id, id: landing_id, name: 'L', url: 'https://l.example/', status: 'active', ...times })
    .execute()
  await announceChange(database.kysely, org_id, landing_id)
  await database.kysely
    .insertInto('funnels')
    .values({ org_id, id: funnel_id, name: 'F', landings: JSON.stringify(landings), offers: '[]', ...times })
    .execute()
  await announceChange(database.kysely, org_id, funnel_id)
  const landing = { org_id, id: landing_id, url: 'https://l.example/', status: 'active', is_deleted: false }
  assert.deepEqual(live.object('landing', landing_id), landing)
  assert.deepEqual(live.object('funnel', funnel_id), { org_id, id: funnel_id, landings, offers: [], is_deleted: false })
  assert.equal(live.object('offer', landing_id), undefined)
  await eventually('the funnel', () => other.object('funnel', funnel_id) !== undefined)
  await database.kysely
    .updateTable('landings')
    .set({ status: 'archived', updated_at: new Date().toISOString() })
    .where('org_id', '=', org_id)
    .execute()
  await eventually('the change', () => other.object('landing', landing_id)?.status === 'archived')
})

test('deleting and restoring an organization is seen', async () => {
  const org_id = await anOrganization()
  const { key } = await seedCampaign(database, org_id)
  const live = await open()
  for (const deleted_at of [new Date().toISOString(), null]) {
    await database.kysely.updateTable('organizations').set({ deleted_at }).where('org_id', '=', org_id).execute()
    await announceOrganization(database.kysely, org_id)
    assert.equal(live.find(key)?.organization.is_deleted, deleted_at !== null)
  }
})
