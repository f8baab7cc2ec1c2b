// By whose clock people see their days: the workspace's zone and their own, and what the days of a zone come to.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { seedCountedClicks } from '../../../tests/support/counted-clicks.ts'
import { seedKey, useHouse, type TestHouse } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { HOUR_MS } from '../../contract/days.ts'
import { newId, toWireId } from '../../contract/ids.ts'
import { ALL_RIGHTS } from '../../contract/rights.ts'
import { dayBeginsIn } from '../../contract/time-zones.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

const change = ({ cookie, organization_id }: SignedIn, body: object, as = cookie) =>
  house.call('PATCH', `/api/organizations/${toWireId(organization_id)}`, { cookie: as, body })
const placeOf = async ({ cookie }: SignedIn) => {
  const { data } = (await house.call('GET', '/api/organizations', { cookie })).data() as { data: object[] }
  return data[0] as { name: string; timezone: string }
}
const prefer = (cookie: string, timezone: unknown) =>
  house.call('PUT', '/api/preferences', { cookie, body: { timezone } })
const preferred = async (cookie: string) => (await house.call('GET', '/api/preferences', { cookie })).data()

test('a workspace is in UTC until its owner says otherwise, and everyone in it is told', async () => {
  const owner = await seedSignedIn(house)
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  assert.equal((await placeOf(member)).timezone, 'UTC')
  const { name } = await placeOf(owner)
  const reply = await change(owner, { timezone: 'Europe/Kyiv' })
  assert.deepEqual([reply.statusCode, reply.data()['timezone']], [200, 'Europe/Kyiv'])
  const place = await placeOf(member)
  assert.deepEqual([place.timezone, place.name], ['Europe/Kyiv', name])
  assert.equal((await change(owner, { name: 'Other' })).data()['timezone'], 'Europe/Kyiv')
  assert.equal((await change(owner, {})).statusCode, 200)
  const refused = await change(owner, { timezone: 'UTC' }, member.cookie)
  assert.deepEqual([refused.statusCode, refused.data()['code']], [403, 'role_forbidden'])
  const stranger = await seedSignedIn(house)
  assert.equal((await change(owner, { timezone: 'UTC' }, stranger.cookie)).statusCode, 404)
  assert.equal((await placeOf(owner)).timezone, 'Europe/Kyiv')
})

test('what is no zone is refused, for a workspace and for a person, and changes nothing', async () => {
  const owner = await seedSignedIn(house)
  for (const timezone of ['Mars/Olympus', '+03:00', 'kyiv', '']) {
    for (const reply of [await change(owner, { timezone, name: 'x' }), await prefer(owner.cookie, timezone)])
      assert.deepEqual([reply.statusCode, reply.data()['code']], [400, 'tz_unknown'], timezone)
  }
  assert.equal((await prefer(owner.cookie, 3)).statusCode, 400)
  assert.notEqual((await placeOf(owner)).name, 'x')
  assert.equal((await placeOf(owner)).timezone, 'UTC')
  assert.deepEqual(await preferred(owner.cookie), { timezone: null, report_columns: null, is_operator: false })
})

test('a person chooses a zone and the columns of the report, which nobody else has', async () => {
  const owner = await seedSignedIn(house)
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  const chosen = { timezone: 'America/Sao_Paulo', report_columns: null, is_operator: false }
  assert.deepEqual((await prefer(member.cookie, 'America/Sao_Paulo')).data(), chosen)
  assert.deepEqual(await preferred(member.cookie), chosen)
  assert.deepEqual(await preferred(owner.cookie), { timezone: null, report_columns: null, is_operator: false })
  assert.equal((await placeOf(member)).timezone, 'UTC')
  const report_columns = { columns: 'clicks,=Each', own: [['Each', 'revenue / clicks', 'money']] }
  const put = (body: object) => house.call('PUT', '/api/preferences', { cookie: member.cookie, body })
  assert.deepEqual((await put({ timezone: null, report_columns })).data(), {
    timezone: null,
    report_columns,
    is_operator: false,
  })
  // Who chooses a zone leaves the columns as they are.
  assert.deepEqual((await prefer(member.cookie, null)).data(), { timezone: null, report_columns, is_operator: false })
  assert.deepEqual(await preferred(member.cookie), { timezone: null, report_columns, is_operator: false })
  assert.deepEqual(await preferred(owner.cookie), { timezone: null, report_columns: null, is_operator: false })
  const long = await put({ timezone: null, report_columns: { columns: 'x'.repeat(8192) } })
  assert.equal(long.statusCode, 400)
  assert.match(String(long.data()['error']), /^report_columns/)
  assert.deepEqual((await put({ timezone: null, report_columns: null })).data(), {
    timezone: null,
    report_columns: null,
    is_operator: false,
  })
  assert.equal((await house.call('GET', '/api/preferences')).statusCode, 401)
  const { secret: key } = await seedKey(house.database, owner, { rights: ALL_RIGHTS })
  for (const method of ['GET', 'PUT'] as const) {
    const reply = await house.call(method, '/api/preferences', {
      key,
      ...(method === 'PUT' && { body: { timezone: null } }),
    })
    assert.deepEqual([reply.statusCode, reply.data()['code']], [403, 'api_key_resource_forbidden'])
  }
})

test('a day of 25 hours counts all of its clicks by every dimension, and no other', async () => {
  const owner = await seedSignedIn(house)
  const begins = dayBeginsIn('Europe/Kyiv', '2026-10-25')
  const ends = dayBeginsIn('Europe/Kyiv', '2026-10-26')
  assert.equal(ends - begins, 25 * HOUR_MS)
  const funnel_id = newId()
  const campaign_id = newId()
  await house.database.worker.query(
    `insert into campaigns (org_id, id, name, key, destination, source, strict_filter, created_at, updated_at)
    values ($1, $2, 'C', $3, $4, '{}', false, now(), now())`,
    [owner.org_id, campaign_id, newId(), JSON.stringify({ type: 'funnel', funnel_id })],
  )
  const hours = Array.from({ length: 25 }, (_, hour) => begins + hour * HOUR_MS)
  await seedCountedClicks(
    house.database,
    owner.org_id,
    [begins - 1, ...hours, ends - 1, ends].map(at => ({ at, campaign_id, revenue: '1' })),
  )
  const bounds = `date_from=${new Date(begins).toISOString()}&date_to=${new Date(ends - 1).toISOString()}`
  const read = async (path: string) => {
    const reply = await house.call('GET', path, { cookie: owner.cookie })
    assert.equal(reply.statusCode, 200, reply.body)
    return reply.json<{ rows: { clicks: number; revenue: string }[]; totals: { clicks: number; revenue: string } }>()
  }
  for (const dimension of ['campaign', 'geo', 'sub1', 'offer', 'day']) {
    const { totals } = await read(`/api/report?dimension=${dimension}&${bounds}`)
    assert.deepEqual([totals.clicks, totals.revenue], [26, '26.00'], dimension)
  }
  const [row] = (await read(`/api/figures/destinations?type=funnel&${bounds}`)).rows
  assert.deepEqual([row?.clicks, row?.revenue], [26, '26.00'])
  const { data } = (await house.call('GET', `/api/clicks?limit=100&${bounds}`, { cookie: owner.cookie })).data()
  assert.equal((data as object[]).length, 26)
  // By UTC days they fall apart otherwise.
  const utc = await read('/api/report?dimension=campaign&date_from=2026-10-25&date_to=2026-10-25T23:59:59.999Z')
  assert.equal(utc.totals.clicks, 24)
})
