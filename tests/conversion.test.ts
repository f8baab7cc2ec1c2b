import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { toUuid } from '../src/contract/ids.ts'
import { assertBooks } from './support/audit.ts'
import { useHouse, type TestHouse } from './support/house.ts'
import { seedPlace } from './support/place.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

const rowsOf = async (text: string, values: unknown[]) =>
  (await house.database.reads.query(text, values)).rows as Record<string, unknown>[]

test('a conversion proves that a click was no prefetch or crawler: it is counted, billed and delivered like any other', async () => {
  const { key, campaign, org_id } = await seedPlace(house.database, 'proven')
  for (const headers of [
    { 'sec-purpose': 'prefetch' },
    { 'user-agent': 'Googlebot/2.1' },
    { 'user-agent': 'TelegramBot (like TwitterBot)' },
  ]) {
    const { location } = (await house.call('GET', `/c/${campaign}`, { headers })).headers
    const clickId = new URL(String(location)).searchParams.get('c') ?? ''
    const click = toUuid(clickId)
    assert.deepEqual(await rowsOf('select tracked from clicks where org_id = $1 and id = $2', [org_id, click]), [
      { tracked: false },
    ])
    const answer = await house.call('POST', '/api/events', { key, body: { clickId, type: 'ftd' } })
    assert.equal(answer.statusCode, 201)
    const id = toUuid(String(answer.data()['id']))
    const followed = await rowsOf(
      `select c.tracked, c.revenue, (select count(*)::int from deliveries where org_id = $1 and event_id = $2) as deliveries,
        (select count(*)::int from ledger where org_id = $1 and event_id = $2) as charges
      from clicks c where c.org_id = $1 and c.id = $3`,
      [org_id, id, click],
    )
    assert.deepEqual(followed, [{ tracked: true, revenue: '2.5', deliveries: 1, charges: 1 }])
  }
  await assertBooks(house.database.reads, org_id)
})

test('a nonce in the header equals one in the body, in any script', async () => {
  const { key, campaign, org_id } = await seedPlace(house.database, 'letters')
  const { location } = (await house.call('GET', `/c/${campaign}`)).headers
  const body = { clickId: new URL(String(location)).searchParams.get('c'), type: 'lead' }
  for (const [nonce, encoding] of [
    ['заказ-1', 'utf8'],
    ['é'.repeat(128), 'utf8'],
    ['größe-1', 'latin1'],
  ] as const) {
    // Node sends each character of a header as one byte.
    const headers = { 'idempotency-key': Buffer.from(nonce, encoding).toString('latin1') }
    const inBody = await house.call('POST', '/api/events', { key, body: { ...body, nonce } })
    const inHeader = await house.call('POST', '/api/events', { key, body, headers })
    assert.deepEqual([inHeader.statusCode, inHeader.body], [201, inBody.body], nonce)
  }
  assert.deepEqual(await rowsOf('select count(*)::int as events from events where org_id = $1', [org_id]), [
    { events: 3 },
  ])
})
