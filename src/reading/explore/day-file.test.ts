// The Parquet file of a day, read by another engine, equals the clicks.
import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { DuckDBInstance } from '@duckdb/node-api'
import { newId, seedKey, seedOrganization, startHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { aClick, seedCampaign } from '../../../tests/support/visits.ts'
import { DAY_MS } from '../../contract/days.ts'
import { TEXT_DIMENSIONS } from '../../contract/explore-dimensions.ts'
import { storeClicks } from '../../intake/clicks/store.ts'
import { sealAll } from '../segments/seal.ts'

let house: TestHouse
before(async () => {
  house = await startHouse({ ROLE: 'serve' })
})
after(() => house.end())

const TODAY = Math.floor(Date.now() / DAY_MS) * DAY_MS
const DAY = new Date(TODAY - DAY_MS).toISOString().slice(0, 10)
const NOON = TODAY - DAY_MS / 2

const take = (cookie: string, day = DAY) => house.call('GET', `/api/explore/facts?day=${day}`, { cookie })

/** The rows of a file as another engine reads them. */
async function read(bytes: Buffer, columns = '*'): Promise<Record<string, unknown>[]> {
  const path = join(house.ground.config.dataDir, `${newId()}.parquet`)
  writeFileSync(path, bytes)
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  await connection.run("set timezone = 'UTC'")
  const reader = await connection.runAndReadAll(`select ${columns} from read_parquet('${path}')`)
  return reader.getRowObjectsJS()
}

async function taken({ cookie }: SignedIn, columns?: string) {
  const answer = await take(cookie)
  assert.equal(answer.statusCode, 200, answer.body)
  assert.equal(answer.headers['content-type'], 'application/vnd.apache.parquet')
  return read(answer.rawPayload, columns)
}

async function convert({ cookie }: SignedIn, id: string, payout: string): Promise<void> {
  const body = { clickId: toWireId(id), type: 'ftd', payout }
  const answer = await house.call('POST', '/api/events', { cookie, body })
  assert.equal(answer.statusCode, 201, answer.body)
}

test('the file of a day has a row for each tracked click in its present state, sealed or not, and identifies no visitor', async () => {
  const owner = await seedSignedIn(house)
  const { org_id } = owner
  const { id: campaign } = await seedCampaign(house.database, org_id)
  const [anna, bert] = [newId(), newId()]
  const secrets = { ip_hash: 'a'.repeat(64), user_agent: 'secret-agent', fbclid: 'secret-fbclid' }
  const clicks = Array.from({ length: 12 }, (_, at) => ({
    ...aClick(house.ground.secrets.clickKey, org_id, {
      campaign_id: campaign,
      sub1: `zone ${at % 2}`,
      geo: at % 2 ? 'DE' : null,
      visitor_id: at % 3 === 2 ? null : at % 3 === 0 ? bert : anna,
      visitor_is_new: at < 2,
      cost: '0.000000001',
      cost_counts: true,
      ...secrets,
    }),
    // Two days; the first four clicks have the same millisecond.
    id: newId(at < 10 ? NOON + Math.max(0, at - 3) : NOON + DAY_MS),
    tracked: at !== 5,
  }))
  await storeClicks(house.database.clicks, clicks.slice(0, 8))
  await convert(owner, clicks[1]?.id ?? '', '12.345678')
  await sealAll(house.database.worker, house.ground.secrets)
  await storeClicks(house.database.clicks, clicks.slice(8))
  await convert(owner, clicks[2]?.id ?? '', '1')

  const rows = await taken(owner, 'epoch_ms(made_at)::bigint as ms, *')
  assert.equal(rows.length, 9)
  assert.ok(rows.every(row => row['campaign'] === toWireId(campaign) && row['os'] === 'Android' && row['bot'] === null))
  assert.deepEqual(
    rows.map(({ ms }) => Number(ms)),
    [0, 0, 0, 0, 1, 3, 4, 5, 6].map(after => NOON + after),
  )
  const [sums] = await taken(
    owner,
    `count(*)::integer as clicks, count(*) filter (where ftd)::integer as ftd, sum(revenue)::varchar as revenue, sum(cost)::varchar as cost,
      sum(approved)::integer as approved, count(distinct visitor)::integer as visitors, min(visitor) as first, max(visitor) as last,
      count(*) filter (where is_new)::integer as new, count(*) filter (where geo is null)::integer as nowhere, any_value(typeof(made_at)) as type`,
  )
  assert.deepEqual(sums, {
    clicks: 9,
    ftd: 2,
    revenue: '13.345678',
    cost: '0.000000009',
    approved: 2,
    visitors: 2,
    first: 1,
    last: 2,
    new: 2,
    nowhere: 5,
    type: 'TIMESTAMP WITH TIME ZONE',
  })
  assert.equal(
    Object.keys(rows[0] ?? {})
      .slice(1)
      .join(' '),
    `made_at campaign offer landing ad_account bot ${TEXT_DIMENSIONS.join(' ')} way visitor is_new is_left_out ` +
      'landed started registered lead deposit ftd approved pending rejected revenue revenue_pending cost unread_cost',
  )
  const text = JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value))
  for (const word of ['secret-', 'aaaa', anna, bert, ...clicks.map(({ id }) => id)])
    assert.ok(!text.includes(word) && !text.includes(word.slice(0, 8) + word.slice(9)), word)
  const places = readdirSync(join(house.ground.config.dataDir, 'explore', String(org_id)))
  assert.ok(!places.some(name => name.startsWith('tail-')), 'nothing is left of it')
})

test("a day without clicks is a file without rows, and another organization's clicks are in none", async () => {
  const [owner, other] = [await seedSignedIn(house), await seedSignedIn(house)]
  await storeClicks(house.database.clicks, [
    { ...aClick(house.ground.secrets.clickKey, other.org_id), id: newId(NOON) },
  ])
  assert.equal((await taken(other)).length, 1)
  assert.deepEqual(await taken(owner), [])
  const answer = await take(owner.cookie, '1970-01-02')
  assert.deepEqual([answer.statusCode, await read(answer.rawPayload)], [200, []])
})

test('a day with missing clicks is refused instead of answered in part', async () => {
  const { org_id, cookie } = await seedSignedIn(house)
  await storeClicks(house.database.clicks, [{ ...aClick(house.ground.secrets.clickKey, org_id), id: newId(NOON) }])
  for (const table of ['clicks', 'click_sheet'])
    await house.database.worker.query(`delete from ${table} where org_id = $1`, [org_id])
  const answer = await take(cookie)
  assert.deepEqual(
    [answer.statusCode, answer.data()['code'], answer.headers['retry-after']],
    [503, 'explore_busy', '60'],
  )
  assert.match(answer.body, /still being counted/)
})

test('members, keys and strangers cannot export a day, and the day must be a date', async () => {
  const { user_id, ...owner } = await seedSignedIn(house)
  await house.database.worker.query("update members set role = 'member' where org_id = $1", [owner.org_id])
  const byMember = await take(owner.cookie)
  assert.deepEqual([byMember.statusCode, byMember.data()['code']], [403, 'role_forbidden'])
  await house.database.worker.query("update members set role = 'admin' where org_id = $1", [owner.org_id])
  assert.equal((await take(owner.cookie)).statusCode, 200)
  for (const day of ['', 'soon', '2026-02-30', '2026-02-03T00:00:00Z']) {
    const wrong = await take(owner.cookie, day)
    assert.equal(wrong.statusCode, 400, day)
    assert.match(String(wrong.data()['error']), /day/)
  }
  const { secret } = await seedKey(house.database, await seedOrganization(house.database, { user_id }), {
    rights: ['report'],
  })
  const url = `/api/explore/facts?day=${DAY}`
  const byKey = await house.call('GET', url, { key: secret })
  assert.deepEqual([byKey.statusCode, byKey.data()['code']], [403, 'api_key_resource_forbidden'])
  assert.equal((await house.call('GET', url)).statusCode, 401)
})
