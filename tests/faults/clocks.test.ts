// Two processes, one with its clock an hour behind and the other an hour ahead. Rules, accounts and campaigns change at one of them while
// both record conversions.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { toUuid } from '../../src/contract/ids.ts'
import { continueRuns } from '../../src/outgoing/deliveries/portions.ts'
import { postbackLane } from '../../src/outgoing/postbacks/lane.ts'
import { auditBooks } from '../../src/reading/audit/audit.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { type FaultGround, faultGround } from '../support/fault-ground.ts'
import { openTestHouse, seedKey, toWireId } from '../support/house.ts'
import { seedClicks } from '../support/intake.ts'
import { startMeta } from '../support/meta-fake.ts'
import { type SignedIn, seedSession, seedSignedIn } from '../support/people.ts'
import { pour } from '../support/pour.ts'
import type { Sluice } from '../support/sluice.ts'

const HOUR_MS = 3_600_000
/** Longer than the error of either clock. */
const SESSION_MS = 24 * HOUR_MS
const SECRET = 'the same in all processes'
const preload = pathToFileURL(join(import.meta.dirname, '../support/shifted-clock.ts')).href
const folder = mkdtempSync(join(tmpdir(), 'sluice-clocks-'))

let fresh: FreshDatabase
let ground: FaultGround
let behind: Sluice
let ahead: Sluice
before(async () => {
  fresh = await freshDatabase()
  ground = await faultGround(fresh.database, fresh.url, 0)
  // No process delivers: the test is about the rows of the outbox.
  behind = await start(0, -HOUR_MS, { ROLE: 'serve' })
  ahead = await start(1, HOUR_MS, { ROLE: 'serve' })
})
after(async () => {
  await ground.end()
  await fresh.drop()
  rmSync(folder, { recursive: true })
})

const RULE = { event_type: 'lead', url: 'https://tracker.example/?c={click_id}' }
const ACCOUNT = {
  platform: 'meta',
  name: 'Pixel',
  settings: { pixel_id: '1234567890' },
  credentials: { access_token: 'meta-token-dead' },
  event_map: { lead: { name: 'Lead' } },
}

/** Starts a process with its own clock. */
function start(number: number, shift_ms: number, env: Record<string, string>): Promise<Sluice> {
  const file = join(folder, String(number))
  writeFileSync(file, String(shift_ms))
  return ground.start(number, { NODE_OPTIONS: `--import ${preload}`, SLUICE_TEST_CLOCK: file, ...env })
}

type OrganizationWithKey = SignedIn & { key: string }

/** An organization with a person in it and a key; a house is needed for the secret that sessions are signed with. */
async function seedOrganizationWithKey(): Promise<OrganizationWithKey> {
  const house = await openTestHouse(fresh.database, { DATA_DIR: join(folder, 'house'), SECRET, ROLE: 'serve' })
  const owner = await seedSignedIn(house)
  const cookie = await seedSession(house, owner.user_id, SESSION_MS)
  await house.end()
  return { ...owner, cookie, key: (await seedKey(fresh.database, owner, { rights: ['events'] })).secret }
}

async function call({ address }: Sluice, from: object, method: string, path: string, body: object): Promise<string> {
  const answer = await fetch(address + path, {
    method,
    headers: { 'content-type': 'application/json', origin: address, ...from },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${text}`)
  return (JSON.parse(text) as { id: string }).id
}

/** Reports a lead of this click to a process; each number only once. Returns its id. */
const report = (process: Sluice, { key }: OrganizationWithKey, clickId: string, number: number) =>
  call(process, { 'x-api-key': key }, 'POST', '/api/events', { clickId, type: 'lead', nonce: String(number) })

/** The dashboard's requests to a process with this cookie. */
const dashboardAt = (process: Sluice, cookie: string) => (method: string, path: string, body: object) =>
  call(process, { cookie }, method, path, body)

/** The changes made at one process, and the objects they create. */
function changesAt(process: Sluice, { cookie }: OrganizationWithKey, campaign: string) {
  const change = dashboardAt(process, cookie)
  const made = { rule: '', account: '' }
  const alter = (state: string) =>
    change('PATCH', `/api/ad-accounts/${made.account}`, { platform: 'meta', event_map: ACCOUNT.event_map, state })
  const bind = (ad_account_id: string | null) => change('PATCH', `/api/campaigns/${campaign}`, { ad_account_id })
  const changes = [
    async () => (made.rule = await change('POST', '/api/postbacks', RULE)),
    async () => (made.account = await change('POST', '/api/ad-accounts', ACCOUNT)),
    () => bind(made.account),
    () => change('PATCH', `/api/postbacks/${made.rule}`, { active: false }),
    () => alter('off'),
    () => change('PATCH', `/api/postbacks/${made.rule}`, { active: true }),
    () => bind(null),
    () => alter('active'),
    () => bind(made.account),
    () => change('PATCH', `/api/campaigns/${campaign}`, { name: 'Renamed' }),
  ]
  return { made, changes }
}

/** The audit finds nothing. After the deliveries of a conversion of the `other` process are deleted, it finds exactly those two. */
async function assertExact(process: Sluice, other: Sluice) {
  const place = await seedOrganizationWithKey()
  const destination = { type: 'redirect', url: 'https://shop.example/' }
  const campaign = await dashboardAt(process, place.cookie)('POST', '/api/campaigns', { name: 'C', destination })
  const [click = ''] = await seedClicks(fresh.database, place.org_id, 1, {
    campaign_id: String(toUuid(campaign)),
    platform: 'meta',
  })
  const clickId = toWireId(click)
  const { made, changes } = changesAt(process, place, campaign)
  const conversions = pour(4, at => report(at % 2 === 0 ? process : other, place, clickId, at))
  for (const [number, change] of changes.entries()) {
    conversions.begin()
    await conversions.more(4)
    await change()
    await conversions.more(4)
    await conversions.stop()
    assert.deepEqual(await auditBooks(fresh.database.reads, place.org_id), [], `after change ${number}`)
  }
  const lost = toUuid(await report(other, place, clickId, conversions.recorded.length))
  await fresh.database.worker.query('delete from deliveries where org_id = $1 and event_id = $2', [place.org_id, lost])
  const findings = await auditBooks(fresh.database.reads, place.org_id)
  const missing = [`rule ${toUuid(made.rule)}`, `ad account ${toUuid(made.account)}`]
  assert.deepEqual(
    findings.map(({ wrong }) => wrong),
    missing.map(target => `event ${lost}, ${target}: missing`),
  )
}

test('a change at a process an hour behind is ordered correctly among the conversions', async () => {
  await assertExact(behind, ahead)
})

test('a change at a process an hour ahead is ordered correctly among the conversions @detail', async () => {
  await assertExact(ahead, behind)
})

test('changes of traffic’s objects have the database’s time, so that every process finds them', async () => {
  const place = await seedOrganizationWithKey()
  for (const process of [behind, ahead]) {
    const dashboard = dashboardAt(process, place.cookie)
    const page = { name: 'N', url: 'https://shop.example/' }
    const [offer, landing] = [
      await dashboard('POST', '/api/offers', page),
      await dashboard('POST', '/api/landings', page),
    ]
    const funnel = await dashboard('POST', '/api/funnels', {
      name: 'F',
      landings: [{ landing_id: landing, weight: 1 }],
    })
    const flow = await dashboard('POST', '/api/click-flows', { name: 'F', graph: { nodes: [], edges: [] } })
    await dashboard('PUT', `/api/offers/${offer}`, page)
    await dashboard('PUT', `/api/landings/${landing}`, page)
    await dashboard('PATCH', `/api/funnels/${funnel}`, { name: 'G' })
    await dashboard('PUT', `/api/click-flows/${flow}`, { name: 'G', graph: { nodes: [], edges: [] } })
  }
  for (const table of ['offers', 'landings', 'funnels', 'click_flows']) {
    const { rows } = await fresh.database.reads.query(
      `select updated_at - clock_timestamp() between interval '-30 minutes' and '0' and created_at <= updated_at as is_now
      from ${table} where org_id = $1`,
      [place.org_id],
    )
    assert.deepEqual(rows, [{ is_now: true }, { is_now: true }], table)
  }
})

test('a run over past conversions begun by a process an hour behind includes all conversions before it', async () => {
  const { worker } = fresh.database
  const place = await seedOrganizationWithKey()
  const [click = ''] = await seedClicks(fresh.database, place.org_id, 1)
  for (const number of [1, 2, 3]) await report(number === 2 ? behind : ahead, place, toWireId(click), number)
  const change = dashboardAt(behind, place.cookie)
  const rule = await change('POST', '/api/postbacks', RULE)
  const inState = async (state: string) => {
    const { rows } = await worker.query(`select from deliveries where org_id = $1 and state = $2`, [
      place.org_id,
      state,
    ])
    return rows.length
  }
  const run = async (path: string) => {
    await change('POST', path, { dry_run: false })
    while ((await continueRuns(worker, [postbackLane])) > 0);
    const { rows } = await worker.query('select from delivery_runs where finished_at is null')
    assert.equal(rows.length, 0, 'the run has ended')
  }
  await run(`/api/postbacks/${rule}/backfill`)
  assert.equal(await inState('pending'), 3)
  await report(ahead, place, toWireId(click), 4)
  await worker.query(`update deliveries set state = 'failed' where org_id = $1`, [place.org_id])
  await run('/api/deliveries/resend')
  assert.equal(await inState('pending'), 4)
})

test('an account that a worker an hour ahead marks as broken was changed at the database’s time, not in an hour @detail', async t => {
  const place = await seedOrganizationWithKey()
  const account = toUuid(await dashboardAt(ahead, place.cookie)('POST', '/api/ad-accounts', ACCOUNT))
  const [click = ''] = await seedClicks(fresh.database, place.org_id, 1, { platform: 'meta' })
  await report(behind, place, toWireId(click), 1)
  const meta = await startMeta({})
  t.after(() => meta.close())
  const worker = await start(2, HOUR_MS, { ROLE: 'work', META_GRAPH_BASE: meta.origin })
  const broken = `select updated_at <= clock_timestamp() as has_been from ad_accounts where org_id = $1 and id = $2 and state = 'broken'`
  const find = () => fresh.database.reads.query(broken, [place.org_id, account])
  await eventually('the account is broken', async () => (await find()).rowCount === 1)
  assert.deepEqual((await find()).rows, [{ has_been: true }])
  await worker.stop()
})
