// The log of conversions as people read it, by the time of what was recorded.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startHouse, type TestHouse } from '../../tests/support/house.ts'
import { seedClick } from '../../tests/support/intake.ts'
import { seedSignedIn } from '../../tests/support/people.ts'
import { toWireId } from '../contract/ids.ts'

let house: TestHouse
before(async () => {
  house = await startHouse()
})
after(() => house.end())

test('the log is narrowed to what was recorded from one time on and before another', async () => {
  const { cookie, ...place } = await seedSignedIn(house)
  const clickId = toWireId(await seedClick(house.database, place.org_id))
  for (const type of ['lead', 'deposit', 'ftd'])
    assert.equal((await house.call('POST', '/api/events', { cookie, body: { clickId, type } })).statusCode, 201)
  await house.database.worker.query(
    `update events set created_at = case type when 'lead' then timestamptz '2026-03-01T23:59:59.999Z'
       when 'deposit' then '2026-03-02T00:00:00Z' else '2026-03-03T00:00:00Z' end
     where org_id = $1`,
    [place.org_id],
  )
  const list = async (query: string) => {
    const { data, next_cursor } = (await house.call('GET', `/api/events?${query}`, { cookie })).data()
    return [(data as { type: string }[]).map(({ type }) => type), next_cursor]
  }
  assert.deepEqual(await list('date_from=2026-03-02&date_to=2026-03-03'), [['deposit'], null])
  assert.deepEqual(await list('date_from=2026-03-02'), [['ftd', 'deposit'], null])
  assert.deepEqual(await list('date_to=2026-03-03'), [['deposit', 'lead'], null])
  assert.deepEqual(await list('date_from=2026-03-03T00:00:00.001Z'), [[], null])
  const [, cursor] = await list('date_from=2026-03-02&limit=1')
  assert.deepEqual(await list(`date_from=2026-03-02&limit=1&cursor=${String(cursor)}`), [['deposit'], null])
  assert.equal((await house.call('GET', '/api/events?date_from=2026-02-30', { cookie })).statusCode, 400)
})
