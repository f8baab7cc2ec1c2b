import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { useDatabase } from '../../../tests/support/database.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { type Proxy, startProxy } from '../../../tests/support/proxy.ts'
import { aClick, recount, seedCampaign, startTraffic, type Traffic } from '../../../tests/support/visits.ts'
import { toUuid } from '../../contract/ids.ts'
import { openAbsence } from '../../ground/db/absence.ts'
import { connect, type Database } from '../../ground/db/connect.ts'
import type { Click } from './click.ts'
import { openJournal } from './journal.ts'
import { openOutage } from './outage.ts'

const fresh = await useDatabase()
const log = pino({ level: 'silent' })
let organizations = 0
let org_id = 0
let key = ''
let proxy: Proxy
let behind: Database
let traffic: Traffic

beforeEach(async () => {
  org_id = ++organizations
  const campaign = await seedCampaign(fresh.database, org_id)
  key = campaign.key
  proxy = await startProxy(fresh.connection)
  behind = connect([proxy.connection], { log, isBehind: false })
  traffic = await startTraffic(behind)
  // The first click opens the connections.
  await ids(1)
})
afterEach(async () => {
  proxy.set('flow')
  await traffic.close()
  await behind.close()
  await proxy.close()
})

/** Visits concurrently; returns the ids in the redirects, '' for an empty one. */
async function ids(count: number): Promise<string[]> {
  const answers = await Promise.all(Array.from({ length: count }, (_, i) => traffic.visit(`/c/${key}?sub1=${i % 3}`)))
  for (const { statusCode } of answers) assert.equal(statusCode, 302)
  return answers.map(({ headers }) => new URL(String(headers['location'])).searchParams.get('c') ?? '')
}

/** Asserts that each id is stored and counted once, and nothing else. */
async function requireExactlyOnce(handedOut: readonly string[], { other = 0 } = {}): Promise<void> {
  assert.ok(handedOut.every(id => id !== ''))
  assert.equal(new Set(handedOut).size, handedOut.length)
  const uuids = handedOut.map(id => toUuid(id))
  const { rows } = await fresh.database.reads.query('select id from clicks where org_id = $1 and id = any($2)', [
    org_id,
    uuids,
  ])
  assert.equal(rows.length, handedOut.length)
  const all = handedOut.length + other
  assert.deepEqual(await recount(fresh.database, org_id), { clicks: all, tracked: all, counted: all })
}

test('while the database is gone every visit is redirected with an id, and each is stored once when it is back', async () => {
  const before = await ids(20)
  proxy.set('cut')
  const during = [...(await ids(50)), ...(await ids(50))]
  assert.equal(traffic.clicks.isSettled(), false)
  assert.equal(traffic.clicks.state().is_down, true)
  during.push(...(await ids(50)))
  assert.deepEqual(await recount(fresh.database, org_id), { clicks: 21, tracked: 21, counted: 21 })

  proxy.set('flow')
  await eventually('recovery', () => traffic.clicks.isSettled())
  const after = await ids(20)
  await requireExactlyOnce([...before, ...during, ...after], { other: 1 })
  assert.deepEqual(
    { is_down: traffic.clicks.state().is_down, files: traffic.clicks.state().journal_files },
    { is_down: false, files: 0 },
  )
})

test('a database that hangs holds nobody for long, and only the first', async () => {
  proxy.set('freeze')
  const first = await ids(30)
  assert.equal(traffic.clicks.state().is_down, true, 'the others are not to wait for it')
  const second = await ids(30)
  proxy.set('flow')
  await eventually('recovery', () => traffic.clicks.isSettled())
  await requireExactlyOnce([...first, ...second], { other: 1 })
})

test('clicks whose commit was not heard of are neither stored nor counted twice', async () => {
  proxy.set('hush')
  const handedOut = await ids(40)
  proxy.set('flow')
  await eventually('recovery', () => traffic.clicks.isSettled())
  await requireExactlyOnce(handedOut, { other: 1 })
})

test('outages one after another under load lose and double nothing', async () => {
  const handedOut: string[] = []
  let isOver = false
  const load = Array.from({ length: 8 }, async () => {
    while (!isOver) {
      handedOut.push(...(await ids(1)))
      await sleep(1)
    }
  })
  for (const mode of ['cut', 'hush', 'cut', 'freeze'] as const) {
    await sleep(100)
    proxy.set(mode)
    await sleep(150)
    proxy.set('flow')
    await eventually('recovery', () => traffic.clicks.isSettled() && !traffic.clicks.state().is_down)
  }
  isOver = true
  await Promise.all(load)
  await eventually('recovery', () => traffic.clicks.isSettled())
  assert.ok(handedOut.length > 0)
  await requireExactlyOnce(handedOut, { other: 1 })
})

test('what a stopped process left in the journal is stored by the next one', async () => {
  proxy.set('cut')
  const handedOut = await ids(30)
  await traffic.close('keep')
  proxy.set('flow')
  const { dataDir } = traffic
  traffic = await startTraffic(behind, { DATA_DIR: dataDir })
  await eventually('taking over', () => traffic.clicks.isSettled())
  await requireExactlyOnce(handedOut, { other: 1 })
})

test('a click of the journal that the database refuses is written aside and holds up nothing', async () => {
  const { dataDir } = traffic
  await traffic.close('keep')
  const folder = join(dataDir, 'journal')
  const journal = await openJournal(folder, log)
  const clicks = Array.from({ length: 30 }, (_, i) =>
    aClick(Buffer.alloc(16), org_id, i === 7 ? { visitor_id: 'no uuid' } : {}),
  )
  await journal.append(clicks)
  await journal.close()
  traffic = await startTraffic(behind, { DATA_DIR: dataDir })
  await eventually('taking over', () => traffic.clicks.isSettled())
  assert.deepEqual(await recount(fresh.database, org_id), { clicks: 30, tracked: 30, counted: 30 })
  const aside = readFileSync(join(folder, 'refused.jsonl'), 'utf8').trim().split('\n')
  assert.deepEqual(
    aside.map(line => (JSON.parse(line) as Click).id),
    [clicks[7]?.id],
  )
})

test('where neither database nor disk takes a click, the visitor still gets on, with an empty id', async () => {
  proxy.set('cut')
  rmSync(join(traffic.dataDir, 'journal'), { recursive: true })
  assert.deepEqual(await ids(3), ['', '', ''])
  assert.equal(traffic.clicks.state().lost, 3)
  proxy.set('flow')
  await eventually('recovery', () => !traffic.clicks.state().is_down)
  await requireExactlyOnce(await ids(2), { other: 1 })
})

test('kill -9 loses no click whose append was answered', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-killed-'))
  const here = (name: string) => JSON.stringify(new URL(name, import.meta.url).href)
  const code = `
    import { openJournal } from ${here('./journal.ts')}
    import { aClick } from ${here('../../../tests/support/visits.ts')}
    const journal = await openJournal(${JSON.stringify(folder)}, console)
    for (let i = 0; i < 8; i += 1) void (async () => {
      for (;;) {
        const click = aClick(Buffer.alloc(16), 1)
        await journal.append([click])
        process.stdout.write(click.id + '\\n')
      }
    })()`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  let told = ''
  child.stdout.on('data', chunk => {
    told += String(chunk)
    if (told.length > 37 * 500) child.kill('SIGKILL')
  })
  await once(child, 'close')
  const answered = told.split('\n').slice(0, -1)
  const journal = await openJournal(folder, log)
  const found = new Set<string>()
  await journal.drain(async clicks => {
    for (const click of clicks) found.add(click.id)
    return true
  })
  assert.ok(answered.length >= 500)
  assert.deepEqual(
    answered.filter(id => !found.has(id)),
    [],
  )
  rmSync(folder, { recursive: true })
})

test('what comes for a paused campaign while the database is gone is counted as such afterwards, and in no report', async () => {
  const paused = await seedCampaign(fresh.database, org_id, { status: 'paused' })
  await eventually('the campaign', async () => (await traffic.visit(`/c/${paused.key}`)).statusCode === 200)
  const before = await recount(fresh.database, org_id)
  proxy.set('cut')
  for (let n = 0; n < 5; n += 1) assert.equal((await traffic.visit(`/c/${paused.key}`)).statusCode, 200)
  assert.equal(traffic.clicks.isSettled(), false)
  proxy.set('flow')
  await eventually('recovery', () => traffic.clicks.isSettled())
  const { rows } = await fresh.database.reads.query<{ all: number }>(
    `select count(*)::int as all from clicks where org_id = $1 and campaign_id = $2 and click_flow_node_path = 'paused'`,
    [org_id, paused.id],
  )
  assert.equal(rows[0]?.all, before.clicks - before.tracked + 5)
  assert.deepEqual(await recount(fresh.database, org_id), { ...before, clicks: before.clicks + 5 })
})

test('clicks of an outage cost what their links said when they were made, once, whatever becomes of the campaign meanwhile', async () => {
  const cost = { model: 'link', amount: null, currency: 'USD', max: '10' } as const
  const priced = await seedCampaign(fresh.database, org_id, { cost })
  const told = async () =>
    (
      await fresh.database.reads.query(
        `select (select trim_scale(sum(c.cost))::text from report_delta c where c.org_id = $1) as counted,
          (select sum(c.unread_costs)::int from report_delta c where c.org_id = $1) as unread,
          (select trim_scale(sum(cost))::text from clicks where org_id = $1) as stored`,
        [org_id],
      )
    ).rows
  const visit = (query: string) => traffic.visit(`/c/${priced.key}?${query}`)
  assert.equal((await visit('cost=0.5')).statusCode, 302)
  proxy.set('cut')
  for (const query of ['cost=0.25&sub1=a', 'cost=0.000000001', 'cost={bid}', 'cost=11'])
    assert.equal((await visit(query)).statusCode, 302)
  await fresh.database.kysely.updateTable('campaigns').set({ cost: null }).where('org_id', '=', org_id).execute()
  assert.deepEqual(await told(), [{ counted: '0.5', unread: 0, stored: '0.5' }])
  proxy.set('flow')
  await eventually('recovery', () => traffic.clicks.isSettled() && !traffic.clicks.state().is_down)
  assert.deepEqual(await told(), [{ counted: '0.750000001', unread: 2, stored: '0.750000001' }])
})

test('an organization whose clicks come into the journal while it is being read stays known as one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-outage-'))
  const journal = await openJournal(folder, log)
  const [late, free] = [org_id, Promise.withResolvers<void>()]
  const append = async (clicks: readonly Click[]) => {
    if (clicks.some(click => click.org_id === late)) await free.promise
    await journal.append(clicks)
  }
  const outage = openOutage({
    pool: fresh.database.clicks,
    away: openAbsence(),
    journal: { ...journal, append },
    log,
  })
  const another = ++organizations
  const campaign = await seedCampaign(fresh.database, another)
  const keeping = outage.keep([aClick(Buffer.alloc(16, 3), late, {})])
  await outage.keep([aClick(Buffer.alloc(16, 4), another, { campaign_id: campaign.id })])
  await eventually('the journal was read', () => outage.isSettled())
  free.resolve()
  assert.equal(await keeping, true)
  assert.equal(outage.isKept()(late), true)
  await eventually('it is read again', () => outage.isSettled())
  await outage.close()
  await journal.close()
  rmSync(folder, { recursive: true })
})
