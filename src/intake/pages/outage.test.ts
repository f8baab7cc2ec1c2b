// Visits of pages while the database is away: an id for each, and afterwards one click, whichever process got which report.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { useDatabase } from '../../../tests/support/database.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { openTestHouse, seedKey, type TestHouse } from '../../../tests/support/house.ts'
import { clicksOf, pagesOf, pageToken, SITE } from '../../../tests/support/pages.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import { type Proxy, startProxy } from '../../../tests/support/proxy.ts'
import { BROWSER } from '../../../tests/support/visits.ts'
import { HOUR_MS } from '../../contract/days.ts'
import { toUuid, toWireId } from '../../contract/ids.ts'
import { connect, type Database } from '../../ground/db/connect.ts'
import { auditBooks } from '../../reading/audit/audit.ts'
import { mintClickId } from '../clicks/click-id.ts'

test('every report gets an id while the database is away, and afterwards each visit is there once', async () => {
  const fresh = await useDatabase()
  const proxy = await startProxy(fresh.connection)
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-pages-'))
  const pools = [0, 1].map(() => connect([proxy.connection], { log: pino({ level: 'silent' }), isBehind: false }))
  const houses = await Promise.all(pools.map(behind => openTestHouse(behind, { DATA_DIR: dataDir })))
  try {
    await throughOutage(houses as [TestHouse, TestHouse], proxy, fresh.database)
  } finally {
    proxy.set('flow')
    for (const house of houses) await house.end()
    for (const behind of pools) await behind.close()
    await proxy.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
})

async function throughOutage([one, other]: [TestHouse, TestHouse], proxy: Proxy, database: Database): Promise<void> {
  const owner = await seedSignedIn(one)
  const pages = pagesOf(one, owner)
  const elsewhere = pagesOf(other, owner)
  const { id, key } = await pages.campaign()
  // Both processes know the campaign before the database goes.
  for (const process of [pages, elsewhere]) assert.equal((await process.get(`/c/${key}`)).statusCode, 302)
  const t = pageToken()
  const reported = (answer: { statusCode: number; body: string; data: () => Record<string, unknown> }) => {
    assert.equal(answer.statusCode, 200, answer.body)
    return String(answer.data()['click_id'])
  }
  proxy.set('cut')
  const first = reported(await pages.report(key, { t, u: `${SITE}/` }))
  assert.equal(reported(await pages.report(key, { t, u: `${SITE}/` })), first)
  const second = reported(await elsewhere.report(key, { t, u: `${SITE}/` }))
  assert.notEqual(second, first, 'the other process cannot know')
  const loaded = await pages.get(`/c/${key}?gclid=A`)
  const redirected = new URL(String(loaded.headers.location)).searchParams.get('c') ?? ''
  const joined = reported(await elsewhere.report(key, { u: `${SITE}/?gclid=A` }))
  assert.equal((await pages.get(`/o/${first}`)).statusCode, 302)
  assert.equal((await pages.get(`/o/v/${pageToken()}?k=${key}&u=${SITE}/`)).statusCode, 302)
  proxy.set('flow')
  const handedOut = [first, second, redirected, joined]
  await eventually('the journal is stored', async () => {
    const { rows } = await database.reads.query<{ id: string }>(
      'select id from clicks where org_id = $1 union all select id from click_aliases where org_id = $1',
      [owner.org_id],
    )
    const known = new Set(rows.map(row => row.id))
    return handedOut.every(sent => known.has(toUuid(sent) ?? ''))
  })
  // The two clicks before the outage, two visits and the one of /o/v.
  await eventually('each is there once', async () => (await clicksOf(one, id)).length === 5)
  const { rows: ofBoth } = await database.reads.query<{ id: string }>(
    "select id from clicks where org_id = $1 and gclid = 'A'",
    [owner.org_id],
  )
  assert.equal(ofBoth.length, 1)
  await eventually('the click of the redirect and the page is landed', async () => {
    const [click] = (await clicksOf(one, id)).filter(row => row.id === ofBoth[0]?.id)
    return click?.['status'] === 1
  })
  for (const sent of handedOut) assert.equal((await elsewhere.get(`/o/${sent}`)).statusCode, 302)
  const { secret } = await seedKey(database, owner, { rights: ['events'] })
  const event = async (clickId: string) => {
    const body = { clickId, type: 'lead', nonce: 'n' }
    const answer = await one.call('POST', '/api/events', { key: secret, body })
    assert.equal(answer.statusCode, 201, answer.body)
    return answer.data()['id']
  }
  assert.equal(await event(first), await event(second), 'a conversion is recorded on the click that the id leads to')
  assert.equal(await event(redirected), await event(joined))
  for (const sent of handedOut)
    assert.equal((await one.call('GET', `/api/clicks/${sent}/trace`, owner)).statusCode, 200)
  assert.deepEqual(await auditBooks(database.reads, owner.org_id), [])
  await isUnsureOfJournals(other, owner.org_id, proxy)
}

/** A click of a process that ended in the outage, whose journal is still to be stored, is not said to be unknown. */
async function isUnsureOfJournals(house: TestHouse, org_id: number, proxy: Proxy): Promise<void> {
  proxy.set('cut')
  const click = toWireId(mintClickId(house.ground.secrets.clickKey, org_id))
  const headers = { ...BROWSER, origin: SITE }
  const ask = () =>
    Promise.all([
      house.call('GET', `/o/${click}`, { headers }),
      house.call('POST', `/k/${click}`, { payload: '{"type":"lead"}', headers }),
    ])
  const statuses = async () => (await ask()).map(({ statusCode }) => statusCode)
  assert.deepEqual(await statuses(), [503, 503])
  proxy.set('flow')
  const older = toWireId(mintClickId(house.ground.secrets.clickKey, org_id, Date.now() - HOUR_MS))
  const isBack = async () => (await house.call('GET', `/o/${older}`, { headers })).statusCode === 404
  await eventually('the database is back', isBack)
  assert.deepEqual(await statuses(), [503, 503])
}
