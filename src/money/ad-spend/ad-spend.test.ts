import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newId, seedKey, startHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import type { AdSpend } from './api.ts'

let house: TestHouse
before(async () => {
  house = await startHouse({}, { quotas: { writes: 100_000 } })
})
after(() => house.end())

async function seedPlace() {
  const place = await seedSignedIn(house)
  const { secret } = await seedKey(house.database, place, { rights: ['ad-spend'] })
  return { ...place, key: secret, campaign_id: await seedCampaign(place.org_id) }
}

async function seedCampaign(org_id: number, deleted = false): Promise<string> {
  const id = newId()
  const now = new Date().toISOString()
  await house.database.worker.query(
    `insert into campaigns (org_id, id, name, key, destination, source, strict_filter, created_at, updated_at, deleted_at)
    values ($1, $2, 'Campaign', $3, '{"type":"redirect","url":"https://a.example"}', '{}', false, $4, $4, $5)`,
    [org_id, id, id, now, deleted ? now : null],
  )
  return id
}

const put = (key: string, body: unknown) => house.call('PUT', '/api/ad-spend', { key, body })

async function stored() {
  const { rows } = await house.database.reads.query(
    'select org_id, campaign_id, day, sub1, amount, source from ad_spend order by org_id, day, campaign_id, sub1',
  )
  return rows
}

/** No refusal may leave a row. */
async function nothingChanges(deed: () => Promise<unknown>): Promise<void> {
  const before = await stored()
  await deed()
  assert.deepEqual(await stored(), before)
}

describe('recording spend', () => {
  test('by key or in the dashboard stores one row per campaign, day and sub1, replaced whole each time', async () => {
    const { key, cookie, campaign_id, org_id } = await seedPlace()
    const body = { campaign_id: toWireId(campaign_id), day: '2026-03-02', amount: 12.5 }
    const first = await put(key, body)
    assert.equal(first.statusCode, 200, first.body)
    const { warnings, ...recorded } = first.json<{ warnings: { code: string }[] }>()
    assert.deepEqual(recorded, { ...body, sub1: '', amount: '12.5', deleted: false })
    assert.deepEqual(
      warnings.map(({ code }) => code),
      ['no_clicks'],
    )
    const again = await house.call('PUT', '/api/ad-spend', {
      cookie,
      body: { ...body, amount: '0.0000005', sub1: null },
    })
    assert.deepEqual([again.statusCode, again.data()['amount'], again.data()['source']], [200, '0.000001', 'manual'])
    await put(key, { ...body, sub1: 'ad "1"', amount: '1000000000' })
    assert.deepEqual(
      (await stored()).filter(one => one.org_id === org_id),
      [
        { org_id, campaign_id, day: '2026-03-02', sub1: '', amount: '0.000001', source: 'manual' },
        { org_id, campaign_id, day: '2026-03-02', sub1: 'ad "1"', amount: '1000000000', source: 'api' },
      ],
    )
  })

  test('with an empty amount deletes that row and no other', async () => {
    const { key, campaign_id, org_id } = await seedPlace()
    const body = { campaign_id: toWireId(campaign_id), day: '2026-03-02' }
    for (const sub1 of ['', 'a', 'b']) await put(key, { ...body, sub1, amount: 1 })
    const gone = await put(key, { ...body, sub1: 'a', amount: '' })
    assert.deepEqual(gone.json(), { ...body, sub1: 'a', amount: null, deleted: true, warnings: [] })
    assert.equal((await put(key, { ...body, sub1: 'a', amount: null })).data()['deleted'], false)
    assert.equal((await put(key, { ...body, amount: null })).data()['deleted'], true)
    assert.deepEqual(
      (await stored()).filter(row => row.org_id === org_id).map(row => row.sub1),
      ['b'],
    )
  })

  test('meets the clicks: sub1 is cut where theirs is, and a deleted campaign still takes bills', async () => {
    const { key, org_id } = await seedPlace()
    const campaign_id = await seedCampaign(org_id, true)
    const long = `a${'ä'.repeat(300)}`
    const reply = await put(key, { campaign_id: toWireId(campaign_id), day: '2026-03-02', sub1: long, amount: '3' })
    assert.equal(reply.data()['sub1'], `a${'ä'.repeat(249)}`)
    assert.equal((await stored()).filter(row => row.org_id === org_id).length, 1)
  })

  test('refuses what is no campaign, day or amount, and stores nothing', async () => {
    const { key, campaign_id } = await seedPlace()
    const body = { campaign_id: toWireId(campaign_id), day: '2026-03-02', amount: '1' }
    const wrong = [
      { ...body, campaign_id: 'nonsense' },
      { ...body, campaign_id: undefined },
      { ...body, day: '2026-02-30' },
      { ...body, day: '2026-03-02T00:00:00Z' },
      { ...body, day: '0000-01-01' },
      { ...body, day: undefined },
      ...['-1', -1, ' ', '0x10', '1e3', 'NaN', true, {}, '1000000000.01', undefined].map(amount => ({
        ...body,
        amount,
      })),
      { ...body, sub1: 5 },
      [],
      null,
    ]
    await nothingChanges(async () => {
      for (const one of wrong) assert.equal((await put(key, one)).statusCode, 400, JSON.stringify(one))
    })
    const forgotten = await put(key, { ...body, amount: undefined })
    assert.match(String(forgotten.data()['error']), /^amount: must be sent: .*empty to delete the row$/)
  })

  test('a key restricted to campaigns must name a listed one', async () => {
    const { org_id, user_id, campaign_id } = await seedPlace()
    const { secret } = await seedKey(
      house.database,
      { org_id, user_id },
      { rights: ['ad-spend'], campaigns: [campaign_id] },
    )
    const outside = await seedCampaign(org_id)
    const spend = { day: '2026-03-02', amount: '1' }
    assert.equal((await put(secret, { ...spend, campaign_id: toWireId(campaign_id) })).statusCode, 200)
    await nothingChanges(async () => {
      for (const other of [outside, newId()])
        for (const amount of ['1', '']) {
          const reply = await put(secret, { ...spend, campaign_id: toWireId(other), amount })
          assert.deepEqual([reply.statusCode, reply.data()['code']], [403, 'campaign_scope_forbidden'])
        }
    })
  })

  test('an unknown campaign and one of another organization are both not found', async () => {
    const [one, other] = [await seedPlace(), await seedPlace()]
    await put(other.key, { campaign_id: toWireId(other.campaign_id), day: '2026-03-02', amount: '1' })
    await nothingChanges(async () => {
      const answers = []
      for (const campaign_id of [newId(), other.campaign_id])
        for (const amount of ['1', '']) {
          const reply = await put(one.key, { campaign_id: toWireId(campaign_id), day: '2026-03-02', amount })
          assert.deepEqual([reply.statusCode, reply.data()['code']], [404, 'not_found'])
          answers.push(reply.body)
        }
      assert.equal(new Set(answers).size, 1)
    })
  })

  test('needs the right, or the role of an admin', async () => {
    const owner = await seedPlace()
    const member = await seedSignedIn(house, { place: owner, role: 'member' })
    const { secret } = await seedKey(house.database, owner, { rights: ['campaigns:update'] })
    const body = { campaign_id: toWireId(owner.campaign_id), day: '2026-03-02', amount: '1' }
    await nothingChanges(async () => {
      const byMember = await house.call('PUT', '/api/ad-spend', { cookie: member.cookie, body })
      assert.deepEqual([byMember.statusCode, byMember.data()['code']], [403, 'role_forbidden'])
      const byKey = await put(secret, body)
      assert.deepEqual([byKey.statusCode, byKey.data()['code']], [403, 'api_key_delete_not_granted'])
    })
  })
})

describe('listing spend', () => {
  const list = async (cookie: string, query: string) => {
    const response = await house.call('GET', `/api/ad-spend?${query}`, { cookie })
    assert.equal(response.statusCode, 200, response.body)
    return response.json<{ data: AdSpend[]; next_cursor: string | null }>()
  }

  test('shows the days a window touches, newest first, each row once over all pages', async () => {
    const { key, cookie, campaign_id, org_id } = await seedPlace()
    const second = await seedCampaign(org_id)
    for (const day of ['2026-02-28', '2026-03-01', '2026-03-02', '2026-03-03'])
      for (const campaign of [campaign_id, second])
        for (const sub1 of ['', 'a']) await put(key, { campaign_id: toWireId(campaign), day, sub1, amount: '2' })
    const window = 'date_from=2026-03-01T12:00:00Z&date_to=2026-03-02'
    const whole = await list(cookie, window)
    assert.deepEqual([whole.data.length, whole.next_cursor], [8, null])
    assert.deepEqual([...new Set(whole.data.map(row => row.day))], ['2026-03-02', '2026-03-01'])
    const paged: AdSpend[] = []
    for (let cursor = ''; ; ) {
      const page = await list(cookie, `${window}&limit=3${cursor}`)
      paged.push(...page.data)
      if (page.next_cursor === null) break
      cursor = `&cursor=${page.next_cursor}`
    }
    assert.deepEqual(paged, whole.data)
    const one = await list(cookie, `${window}&campaign_id=${toWireId(second)}`)
    assert.deepEqual(
      one.data,
      whole.data.filter(row => row.campaign_id === toWireId(second)),
    )
    assert.deepEqual((await list(cookie, '')).data, [])
    const today = new Date().toISOString().slice(0, 10)
    await put(key, { campaign_id: toWireId(second), day: today, amount: '2' })
    assert.equal((await list(cookie, '')).data.length, 1)
    assert.equal((await list(cookie, 'date_from=2026-02-28')).data.length, 16)
  })

  test('refuses windows and cursors that mean nothing', async () => {
    const { cookie } = await seedPlace()
    const forged = (place: unknown) => Buffer.from(JSON.stringify(place)).toString('base64url')
    const codes: [string, string][] = [
      ['date_from=x', 'invalid_window'],
      ['date_from=2026-03-02&date_to=2026-03-01', 'invalid_window'],
      ['date_from=2026-01-01&date_to=2026-05-01', 'window_too_wide'],
      ['cursor=x', 'invalid_cursor'],
      [`cursor=${forged(['2026-02-30', newId(), ''])}`, 'invalid_cursor'],
      [`cursor=${forged(['2026-02-03', 'x', ''])}`, 'invalid_cursor'],
      [`cursor=${forged(['2026-02-03', newId(), 5])}`, 'invalid_cursor'],
      [`cursor=${forged(['2026-02-03', newId(), '\u0000'])}`, 'invalid_cursor'],
      [`cursor=${forged(null)}`, 'invalid_cursor'],
    ]
    for (const [query, code] of codes) {
      const reply = await house.call('GET', `/api/ad-spend?${query}`, { cookie })
      assert.deepEqual([reply.statusCode, reply.data()['code']], [400, code], query)
    }
  })

  test('shows nothing of another organization, and nothing to a key', async () => {
    const [one, other] = [await seedPlace(), await seedPlace()]
    await put(other.key, { campaign_id: toWireId(other.campaign_id), day: '2026-03-02', amount: '1' })
    const window = 'date_from=2026-03-01&date_to=2026-03-31'
    assert.deepEqual((await list(one.cookie, window)).data, [])
    assert.deepEqual((await list(one.cookie, `${window}&campaign_id=${toWireId(other.campaign_id)}`)).data, [])
    const byKey = await house.call('GET', `/api/ad-spend?${window}`, { key: one.key })
    assert.deepEqual([byKey.statusCode, byKey.data()['code']], [403, 'api_key_resource_forbidden'])
  })
})
