// The conversion log: what a session records and lists, by type, click, campaign and time.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { useHouse, type TestHouse } from '../../../tests/support/house.ts'
import { seedPlainCampaign, seedClick } from '../../../tests/support/intake.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import { seedSender, seedSenderWithClick } from '../../../tests/support/senders.ts'
import { newId, toWireId } from '../../contract/ids.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

test('the log is narrowed to what was recorded from one time on and before another', async () => {
  const { cookie, ...place } = await seedSignedIn(house)
  const clickId = toWireId(await seedClick(house.database, place.org_id))
  for (const type of ['lead', 'deposit', 'ftd'])
    assert.equal((await house.call('POST', '/api/events', { cookie, body: { clickId, type } })).statusCode, 201)
  await house.database.worker.query(
    `update events set created_at = case when type = 'lead' then timestamptz '2026-03-01T23:59:59.999Z'
       when type = 'deposit' then '2026-03-02T00:00:00Z' else '2026-03-03T00:00:00Z' end
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

test('a conversion is found by its click, its transaction id or the click id of the source, in one organization', async () => {
  const { cookie, ...place } = await seedSignedIn(house)
  const stranger = await seedSignedIn(house)
  const click = async (ref_id: string | null, org_id = place.org_id) => {
    const id = await seedClick(house.database, org_id)
    await house.database.worker.query('update clicks set ref_id = $3 where org_id = $1 and id = $2', [
      org_id,
      id,
      ref_id,
    ])
    return id
  }
  const [one, two, bare] = [await click('src 1'), await click('T-9'), await click(null)]
  const record = (click_id: string, nonce: string | undefined, as = cookie) =>
    house.call('POST', '/api/events', {
      cookie: as,
      body: { clickId: toWireId(click_id), type: 'lead', ...(nonce === undefined ? {} : { nonce }) },
    })
  await record(one, 'T-1')
  await record(one, 'T-2')
  await record(two, 'T-3')
  await record(bare, 'T-9')
  await record(bare, undefined)
  await record(await click('src 1', stranger.org_id), 'T-1', stranger.cookie)
  const find = async (q: string, more = '') => {
    const reply = await house.call('GET', `/api/events?q=${encodeURIComponent(q)}${more}`, { cookie })
    assert.equal(reply.statusCode, 200, reply.body)
    return (reply.data()['data'] as { nonce: string | null }[]).map(({ nonce }) => nonce)
  }
  assert.deepEqual(await find('T-1'), ['T-1'])
  assert.deepEqual(await find(' src 1 '), ['T-2', 'T-1'])
  for (const form of [toWireId(one), toWireId(one).toUpperCase(), one, ` ${one}`])
    assert.deepEqual(await find(form), ['T-2', 'T-1'], form)
  // The same text can be a transaction id of one click and the source's click id of another.
  assert.deepEqual(await find('T-9'), ['T-9', 'T-3'])
  assert.deepEqual(await find('src 1', '&type=ftd'), [])
  assert.deepEqual(await find('src 1', '&limit=1'), ['T-2'])
  for (const nothing of ['t-1', 'T-', 'src', '%', toWireId(newId()), "' or true --"])
    assert.deepEqual(await find(nothing), [])
  assert.equal((await find('')).length, 5)
  for (const wrong of ['x'.repeat(513), '\u0000'])
    assert.equal(
      (await house.call('GET', `/api/events?q=${encodeURIComponent(wrong)}`, { cookie })).statusCode,
      400,
      wrong,
    )
})

test('a transaction id is found by an index of its own, however much there is', async () => {
  const { rows } = await house.database.worker.query<{ indexdef: string }>(
    "select indexdef from pg_indexes where indexname = 'events_nonce'",
  )
  assert.match(rows[0]?.indexdef ?? '', /\(org_id, nonce\) WHERE \(nonce IS NOT NULL\)$/)
})

describe('the dashboard', () => {
  test('records for the active organization with a session, and lists what was recorded, newest first', async () => {
    const { cookie, ...place } = await seedSignedIn(house)
    const campaign_id = await seedPlainCampaign(house.database, place.org_id)
    const clicks = [
      await seedClick(house.database, place.org_id, { campaign_id }),
      await seedClick(house.database, place.org_id, { test: true }),
    ]
    for (const click_id of clicks)
      for (const type of ['lead', 'deposit'])
        assert.equal(
          (await house.call('POST', '/api/events', { cookie, body: { clickId: toWireId(click_id), type } })).statusCode,
          201,
        )
    const stranger = await seedSenderWithClick(house)
    await house.call('POST', '/api/events', { key: stranger.key, body: { clickId: stranger.clickId, type: 'lead' } })
    const list = async (query: string) => {
      const answer = await house.call('GET', `/api/events${query}`, { cookie })
      assert.equal(answer.statusCode, 200, answer.body)
      return answer.data() as { data: Record<string, unknown>[]; next_cursor: string | null }
    }
    const all = await list('')
    assert.deepEqual(
      all.data.map(row => [row['type'], row['test'], row['source']]),
      [
        ['deposit', true, 'dashboard'],
        ['lead', true, 'dashboard'],
        ['deposit', false, 'dashboard'],
        ['lead', false, 'dashboard'],
      ],
    )
    assert.equal(all.next_cursor, null)
    const paged = []
    for (let cursor = ''; ; ) {
      const { data, next_cursor } = await list(`?limit=1${cursor}`)
      paged.push(...data)
      if (next_cursor === null) break
      cursor = `&cursor=${next_cursor}`
    }
    assert.deepEqual(paged, all.data)
    assert.equal((await list('?type=lead')).data.length, 2)
    assert.equal((await list(`?campaign_id=${toWireId(campaign_id)}`)).data.length, 2)
    assert.equal((await list(`?click_id=${toWireId(clicks[0] ?? '')}&type=deposit`)).data.length, 1)
    assert.equal((await list(`?click_id=${stranger.clickId}`)).data.length, 0)
  })

  test('keeps the log from keys', async () => {
    const { key } = await seedSender(house)
    const answer = await house.call('GET', '/api/events', { key })
    assert.deepEqual([answer.statusCode, answer.data()['code']], [403, 'api_key_resource_forbidden'])
  })
})
