import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { eventually } from '../../tests/support/eventually.ts'
import { newId, startHouse, type TestHouse } from '../../tests/support/house.ts'
import { ORG, seedDelivery, seedOutboxRule } from '../../tests/support/outbox.ts'
import { seedPlace } from '../../tests/support/place.ts'
import { BROWSER } from '../../tests/support/visits.ts'
import { noteLastRuns } from '../ground/db/last-runs.ts'
import { sendMail } from '../ground/mail/mail.ts'

const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8')

let house: TestHouse
let address: string
before(async () => {
  house = await startHouse()
  address = await house.listen()
})
after(() => house.end())

/** The lines of `/metrics`. `value` is 0 for a series that is not there. */
async function scraped() {
  const body = await (await fetch(`${address}/metrics`)).text()
  const values = new Map(
    body
      .split('\n')
      .filter(line => line !== '' && !line.startsWith('#'))
      .map(line => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  )
  return { body, has: (series: string) => values.has(series), value: (series: string) => values.get(series) ?? 0 }
}

test('visits, clicks, conversions and requests are counted by their outcome', async () => {
  const place = await seedPlace(house.database, 'metered')
  const campaign = `${address}/c/${place.campaign}`
  const visit = async (url: string, init: RequestInit = {}) =>
    await fetch(url, { redirect: 'manual', headers: BROWSER, ...init })
  const report = async (body: object) =>
    (
      await fetch(`${address}/api/events`, {
        method: 'POST',
        headers: { 'x-api-key': place.key, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    ).status
  const was = await scraped()

  const answer = await visit(campaign)
  assert.equal((await visit(campaign, { method: 'HEAD' })).status, 302)
  assert.equal((await visit(campaign, { headers: { 'user-agent': 'Googlebot/2.1' } })).status, 302)
  assert.equal((await visit(`${address}/c/no-such-campaign`)).status, 404)
  assert.equal((await visit(`${address}/api/no-such-route`)).status, 404)
  const clickId = new URL(answer.headers.get('location') ?? assert.fail()).searchParams.get('c')
  assert.equal(await report({ clickId, type: 'lead', nonce: '1' }), 201)
  assert.equal(await report({ clickId, type: 'lead', nonce: '1' }), 201)
  assert.equal(await report({ clickId, type: 'no-such-type' }), 400)

  await eventually('the last answer is counted', async () => {
    const now = await scraped()
    return now.value('sluice_http_requests_total{route="POST /api/events",status="400"}') > 0
  })
  const now = await scraped()
  const risen = (series: string) => now.value(series) - was.value(series)
  for (const [series, by] of [
    ['sluice_clicks_total{stored="database"}', 2],
    ['sluice_clicks_total{stored="journal"}', 0],
    ['sluice_clicks_total{stored="lost"}', 0],
    ['sluice_visits_total{outcome="counted"}', 1],
    ['sluice_visits_total{outcome="filtered"}', 1],
    ['sluice_visits_total{outcome="unrecorded"}', 1],
    ['sluice_visits_total{outcome="not_found"}', 1],
    ['sluice_conversions_total{outcome="accepted"}', 1],
    ['sluice_conversions_total{outcome="repeated"}', 1],
    ['sluice_conversions_total{outcome="refused"}', 1],
    ['sluice_http_requests_total{route="GET /c/:key",status="302"}', 3],
    ['sluice_http_requests_total{route="GET /c/:key",status="404"}', 1],
    ['sluice_http_requests_total{route="POST /api/events",status="201"}', 2],
    ['sluice_http_request_duration_seconds_count{route="GET /c/:key"}', 4],
    ['sluice_http_request_duration_seconds_bucket{route="GET /c/:key",le="+Inf"}', 4],
    ['sluice_http_request_duration_seconds_count{route="POST /api/events"}', 3],
  ] as const)
    assert.equal(risen(series), by, series)
  assert.ok(risen('sluice_http_request_duration_seconds_sum{route="GET /c/:key"}') > 0)
  assert.match(now.body, /^sluice_http_requests_total\{route="(page|none)",status="404"\} [1-9]/m)
})

test('metrics contain no campaign, no address and no secret', async () => {
  const { campaign, key } = await seedPlace(house.database, 'unmeasured')
  const answer = await fetch(`${address}/c/${campaign}?sub1=a-sub`, { redirect: 'manual', headers: BROWSER })
  const clickId = new URL(answer.headers.get('location') ?? assert.fail()).searchParams.get('c') ?? assert.fail()
  await fetch(`${address}/api/events?secret=${key}`, { method: 'POST', headers: { 'x-api-key': key } })
  await fetch(`${address}/postback/${key}?click=${clickId}`)
  const { body } = await scraped()
  // The nodes of the database have their addresses.
  const others = body.replaceAll(/^sluice_database_connections\{.*$/gm, '')
  for (const secret of [campaign, key, clickId, 'a-sub', '127.0.0.1', 'localhost'])
    assert.ok(!others.includes(secret), secret)
})

test('what waits in the database and when it was backed up and reconciled is measured, whoever asks how often', async () => {
  const { kysely: db, worker } = house.database
  const target_id = await seedOutboxRule(db, { url: 'http://127.0.0.1:9' })
  await seedDelivery(db, { target_id, run_at: new Date(Date.now() + 3_600_000).toISOString() })
  await noteLastRuns(worker, { last_reconcile: '2026-01-02T03:04:05.000Z', last_reconcile_wrong: '2' })
  const hours = (count: number) => new Date(Date.now() - count * 3_600_000).toISOString()
  await worker.query('insert into fx_sources (source, due_at, fetched_at) values ($1, $2, $3)', [
    'ecb',
    hours(-9),
    hours(3),
  ])
  const failing = { org_id: ORG, kind: 'postback', target_id: newId(), failures: 10, failing_since: hours(1) }
  await db
    .insertInto('failing_targets')
    .values({ ...failing, paused_until: hours(-1) })
    .execute()
  await sendMail(house.ground, { to: 'someone@example.com', subject: 'Subject', text: 'Text' })
  await eventually(
    'the delivery waits',
    async () => (await scraped()).value('sluice_deliveries_waiting{kind="postback"}') > 0,
  )
  const now = await scraped()
  assert.equal(now.value('sluice_last_reconcile_timestamp_seconds'), Date.parse('2026-01-02T03:04:05Z') / 1000)
  assert.equal(now.value('sluice_last_reconcile_wrong'), 2)
  assert.equal(now.value('sluice_mails_total{outcome="logged"}'), 1)
  assert.equal(now.value('sluice_delivery_targets_paused{kind="postback"}'), 1)
  assert.equal(Math.floor(now.value('sluice_rates_age_seconds{source="ecb"}') / 3600), 3)
  assert.ok(!now.has('sluice_last_backup_timestamp_seconds'))
  assert.ok(!now.has('sluice_log_archiving_failing'))
  assert.equal(now.value('sluice_deliveries_waiting{kind="ad_account"}'), 0)
  for (const series of [
    'sluice_deliveries_oldest_age_seconds{kind="postback"}',
    'sluice_database_size_bytes',
    'sluice_data_dir_free_bytes',
    'sluice_data_dir_size_bytes',
    'sluice_pool_connections{pool="worker"}',
  ])
    assert.ok(now.value(series) > 0, series)
  assert.match(now.body, /^sluice_build_info\{version="[\d.]+",node="\d+/m)
  const before = now.value('sluice_stored_metrics_age_seconds')
  assert.ok((await scraped()).value('sluice_stored_metrics_age_seconds') > before, 'it was not read again at once')
})

test('the alert rules, the dashboard and the table in the documents name the metrics that there are', async () => {
  const { body } = await scraped()
  const measured = new Set([...body.matchAll(/^# TYPE (\w+) /gm)].map(([, name = '']) => name))
  const named = (text: string) =>
    new Set(
      [...text.matchAll(/\b(sluice|process|nodejs)_[a-z0-9_]+/g)].map(([name]) =>
        measured.has(name) ? name : name.replace(/_(bucket|sum|count)$/, ''),
      ),
    )
  for (const path of ['deploy/prometheus-alerts.yml', 'deploy/grafana-dashboard.json']) {
    const names = named(read(path))
    assert.ok(names.size > 15, path)
    assert.deepEqual(
      [...names].filter(name => !measured.has(name)),
      [],
      path,
    )
  }
  const documented = named(read('docs/operating.md'))
  assert.deepEqual(
    [...measured].filter(name => name.startsWith('sluice_') && !documented.has(name)),
    [],
  )
})
