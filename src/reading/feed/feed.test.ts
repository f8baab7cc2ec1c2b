import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { anyCharacter } from '../../../tests/support/any-character.ts'
import { type ClickSeed, seedCountedClicks, WITHHELD } from '../../../tests/support/counted-clicks.ts'
import { newId, seedKey, seedOrganization, startHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedPlainCampaign } from '../../../tests/support/intake.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import { LADDER } from '../../contract/ladder.ts'
import type { FeedClick } from './api.ts'

let house: TestHouse
before(async () => {
  house = await startHouse({}, { quotas: { clicks: 1_000_000 } })
})
after(() => house.end())

type Feed = { data: FeedClick[]; next_cursor: string | null }

const NOON = Date.UTC(2026, 2, 2, 12)
const WEEK = 'date_from=2026-03-01&date_to=2026-03-07T23:59:59.999Z'
const MINUTE = 60_000
const DAY = 86_400_000

const FIELDS =
  'id created_at campaign_id status tracked geo device os browser ref_id offer_id sub1 sub2 sub3 sub4 sub5 sub6 sub7 sub8 sub9 revenue'

async function seedPlace() {
  const place = await seedOrganization(house.database)
  const { secret } = await seedKey(house.database, place, { rights: ['clicks'] })
  return { ...place, key: secret }
}

async function read(key: string, query = ''): Promise<Feed> {
  const response = await house.call('GET', `/api/v1/clicks?${query}`, { key })
  assert.equal(response.statusCode, 200, response.body)
  return response.json<Feed>()
}

async function pageWithoutWarnings(key: string, query: string): Promise<Feed> {
  const { data, next_cursor } = await read(key, query)
  return { data, next_cursor }
}

async function refused(key: string, query: string): Promise<string> {
  const response = await house.call('GET', `/api/v1/clicks?${query}`, { key })
  assert.equal(response.statusCode, 400, response.body)
  const body = response.json<{ code: string }>()
  assert.deepEqual(Object.keys(body), ['error', 'code', 'hint'])
  return body.code
}

const ids = ({ data }: Feed) => data.map(click => click.id)
const wire = (clicks: { id: string }[]) => clicks.map(click => toWireId(click.id))

/** All pages from the first, as the feed answered them. */
async function walk(key: string, query: string, between: () => Promise<unknown> = async () => {}): Promise<Feed[]> {
  const pages = [await read(key, query)]
  for (let next = pages[0]?.next_cursor; next; next = pages.at(-1)?.next_cursor) {
    await between()
    pages.push(await read(key, `${query}&cursor=${encodeURIComponent(next)}`))
  }
  return pages
}

test('a click has exactly the 21 fields, in the order of the interface and of the types it promises', async () => {
  const { org_id, key } = await seedPlace()
  const [campaign_id, offer_id] = [newId(), newId()]
  const full: ClickSeed = {
    at: NOON + 7,
    campaign_id,
    offer_id,
    stages: 0b10_0011,
    revenue: '12.500',
    geo: 'DE',
    sub1: 'ad "1"',
  }
  const [one, two] = await seedCountedClicks(house.database, org_id, [
    full,
    { at: NOON, geo: null, revenue: '10.000000' },
  ])
  await house.database.worker.query(
    `update clicks set device = 'mobile', os = 'iOS', browser = 'Safari', ref_id = 'r', sub2 = '2', sub3 = '3', sub4 = '4', sub5 = '5',
      sub6 = '6', sub7 = '7', sub8 = '8', sub9 = '9' where org_id = $1 and id = $2`,
    [org_id, one?.id],
  )
  const response = await house.call('GET', `/api/v1/clicks?${WEEK}`, { key })
  const { data, next_cursor } = response.json<Feed>()
  assert.deepEqual(data[0], {
    id: toWireId(one?.id ?? ''),
    created_at: '2026-03-02T12:00:00.007Z',
    campaign_id: toWireId(campaign_id),
    status: 'deposit',
    tracked: true,
    geo: 'DE',
    device: 'mobile',
    os: 'iOS',
    browser: 'Safari',
    ref_id: 'r',
    offer_id: toWireId(offer_id),
    ...Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`sub${at + 1}`, at === 0 ? 'ad "1"' : String(at + 1)])),
    revenue: '12.5',
  })
  assert.deepEqual([data[1]?.id, data[1]?.revenue, data[1]?.campaign_id], [toWireId(two?.id ?? ''), '10', null])
  for (const click of data) assert.equal(Object.keys(click).join(' '), FIELDS)
  assert.equal(next_cursor, null)
  for (const value of [...Object.values(WITHHELD), '5ec4e7', toWireId(WITHHELD.visitor_id), 'org_id'])
    assert.ok(!response.body.includes(value), `${value} is withheld`)
})

describe('the window', () => {
  test('defaults to the last 30 days', async () => {
    const { org_id, key } = await seedPlace()
    const now = Date.now()
    const ages = [MINUTE, 30 * DAY - MINUTE, 30 * DAY + MINUTE, -MINUTE]
    const clicks = await seedCountedClicks(
      house.database,
      org_id,
      ages.map(age => ({ at: now - age })),
    )
    assert.deepEqual(ids(await read(key)), wire(clicks.slice(0, 2)))
  })

  test('with one bound the other is 30 days away', async () => {
    const { org_id, key } = await seedPlace()
    const at = (ms: number) => ({ at: Date.UTC(2026, 2, 1) + ms })
    const [first, last, after, before] = await seedCountedClicks(
      house.database,
      org_id,
      [0, 30 * DAY, 30 * DAY + 1, -1].map(at),
    )
    assert.deepEqual(ids(await read(key, 'date_from=2026-03-01')), [
      toWireId(last?.id ?? ''),
      toWireId(first?.id ?? ''),
    ])
    assert.deepEqual(ids(await read(key, 'date_to=2026-03-31')), [toWireId(last?.id ?? ''), toWireId(first?.id ?? '')])
    assert.ok(after && before)
  })

  test('at the ends of time is answered like any other', async () => {
    const { org_id, key } = await seedPlace()
    await seedCountedClicks(house.database, org_id, [{ at: 0 }, { at: Date.UTC(9999, 11, 31, 23, 59, 59, 999) }])
    for (const query of [
      'date_to=1970-01-01',
      'date_from=1970-01-01',
      'date_from=9999-12-31',
      'date_to=9999-12-31T23:59:59.999Z',
    ])
      assert.equal((await read(key, query)).data.length, 1, query)
    for (const query of ['date_from=0000-01-01', 'date_from=9999-12-31T23:59:59-14:00'])
      assert.deepEqual(ids(await read(key, query)), [])
  })

  test('includes both bounds to the millisecond', async () => {
    const { org_id, key } = await seedPlace()
    const clicks = await seedCountedClicks(
      house.database,
      org_id,
      [-1, 0, 1].map(ms => ({ at: NOON + ms })),
    )
    const between = async (from: string, to: string) =>
      ids(await read(key, `date_from=2026-03-02T${from}&date_to=2026-03-02T${to}`))
    assert.deepEqual(await between('12:00:00', '12:00:00'), [wire(clicks)[1]])
    assert.deepEqual(await between('14:00:00+02:00', '12:00:00.001'), [wire(clicks)[2], wire(clicks)[1]])
    assert.deepEqual(await between('12:00:00.0001', '12:00:00.0002'), [])
  })
})

describe('filters', () => {
  test('by status, by tracked and by campaign, alone and together', async () => {
    const { org_id, key } = await seedPlace()
    const campaigns = [newId(), newId()]
    const seeds = Array.from({ length: 56 }, (_, at) => ({
      at: NOON + at,
      stages: (2 ** (at % 7)) | 1,
      tracked: at % 3 !== 0,
      campaign_id: [campaigns[0], campaigns[1], null][at % 5] ?? null,
    }))
    const clicks = (await seedCountedClicks(house.database, org_id, seeds)).toReversed()
    for (const tracked of [undefined, 'true', 'false', 'all'])
      for (const status of [undefined, ...LADDER])
        for (const campaign of [undefined, ...campaigns]) {
          const wanted = clicks.filter(
            click =>
              (tracked === 'all' || click.tracked === (tracked !== 'false')) &&
              (status === undefined ||
                Math.log2(click.stages & ~1 || 1) === LADDER.findIndex(rung => rung === status)) &&
              (campaign === undefined || click.campaign_id === campaign),
          )
          const query = [
            WEEK,
            tracked && `tracked=${tracked}`,
            status && `status=${status}`,
            campaign && `campaign_id=${toWireId(campaign)}`,
          ]
          assert.deepEqual(ids(await read(key, query.filter(Boolean).join('&'))), wire(wanted), query.join('&'))
        }
  })

  test('an unknown or foreign campaign, or a malformed id, yields an empty page', async () => {
    const [{ org_id, key }, other] = [await seedPlace(), await seedPlace()]
    const foreign = newId()
    await seedCountedClicks(house.database, other.org_id, [{ at: NOON, campaign_id: foreign }])
    await seedCountedClicks(house.database, org_id, [{ at: NOON }])
    for (const campaign_id of [toWireId(foreign), toWireId(newId()), '', 'x', '{campaign_id}', '0'.repeat(26)])
      assert.deepEqual(await pageWithoutWarnings(key, `${WEEK}&campaign_id=${campaign_id}`), {
        data: [],
        next_cursor: null,
      })
  })
})

describe('refusals', () => {
  test('come in the order window, width, status, tracked, cursor', async () => {
    const { key } = await seedPlace()
    const codes: [string, string][] = [
      ['date_from=nonsense&status=x&tracked=x&cursor=x', 'invalid_window'],
      ['date_from=&status=x', 'invalid_window'],
      ['date_to=2026-02-30', 'invalid_window'],
      ['date_from=2026-03-02&date_to=2026-03-01&status=x', 'invalid_window'],
      ['date_from=2026-03-01&date_from=2026-03-02', 'invalid_window'],
      ['date_from=2026-01-01&date_to=2026-04-03T00:00:00.001&status=x&tracked=x', 'window_too_wide'],
      ['status=x&tracked=x&cursor=x', 'invalid_status'],
      ['status=Lead', 'invalid_status'],
      ['status=', 'invalid_status'],
      ['status=lead&status=lead', 'invalid_status'],
      ['tracked=yes&cursor=x', 'invalid_tracked'],
      ['tracked=', 'invalid_tracked'],
      ['tracked=true&tracked=true', 'invalid_tracked'],
      ['cursor=x', 'invalid_cursor'],
      ['cursor=', 'invalid_cursor'],
    ]
    for (const [query, code] of codes) assert.equal(await refused(key, query), code, query)
    for (const query of ['date_from=2026-01-01&date_to=2026-04-03T00:00:00Z', 'campaign_id=a&campaign_id=b'])
      assert.deepEqual(await pageWithoutWarnings(key, query), { data: [], next_cursor: null })
  })

  test('a limit out of range is clamped, and one that is not a whole number is the default', async () => {
    const { org_id, key } = await seedPlace()
    await seedCountedClicks(
      house.database,
      org_id,
      Array.from({ length: 1002 }, (_, at) => ({ at: NOON + at })),
    )
    const sizes: [string, number][] = [
      ['', 100],
      ['&limit=5', 5],
      ['&limit=0', 1],
      ['&limit=-7', 1],
      ['&limit=1000', 1000],
      ['&limit=99999999999999999999', 1000],
      ['&limit=2.5', 100],
      ['&limit=ten', 100],
      ['&limit=', 100],
      ['&limit=1e1', 100],
      ['&limit=5&limit=6', 100],
    ]
    for (const [limit, size] of sizes) {
      const page = await read(key, WEEK + limit)
      assert.deepEqual([page.data.length, typeof page.next_cursor], [size, 'string'], limit)
    }
  })
})

describe('paging', () => {
  test('shows every click exactly once, newest first, while clicks keep coming, and ends with null', async () => {
    const { org_id, key } = await seedPlace()
    const now = Date.now()
    // Several clicks in one millisecond, so that time alone gives no order.
    const seeds = Array.from({ length: 53 }, (_, at) => ({ at: now - MINUTE - Math.floor(at / 4) }))
    const there = await seedCountedClicks(house.database, org_id, seeds)
    const wanted = wire(there).toSorted().toReversed()
    for (const limit of [1, 7, 53, 54]) {
      const pages = await walk(key, `limit=${limit}&tracked=all`, () =>
        seedCountedClicks(house.database, org_id, [{ at: Date.now(), tracked: false }]),
      )
      const seen = pages.flatMap(ids)
      assert.deepEqual(seen.slice(-53), wanted)
      assert.equal(new Set(seen).size, seen.length)
      assert.ok(
        pages.every(({ data }) => data.length > 0),
        'no empty page at the end',
      )
    }
    const exact = await walk(key, 'limit=53')
    assert.deepEqual(
      exact.map(({ data, next_cursor }) => [data.length, next_cursor]),
      [[53, null]],
    )
  })

  test('stays within the bounds that were defaulted on the first page', async context => {
    const { mock } = context
    const { org_id, key } = await seedPlace()
    const now = Date.now()
    // The clock stands still until the first page is read.
    mock.timers.enable({ apis: ['Date'], now })
    const clicks = await seedCountedClicks(house.database, org_id, [
      { at: now - 1000 },
      { at: now - 2000 },
      // This click leaves the last 30 days while the pages are read.
      { at: now - 30 * DAY + 400 },
    ])
    const first = await read(key, 'limit=2')
    assert.deepEqual(ids(first), wire(clicks).slice(0, 2))
    mock.timers.setTime(now + 500)
    assert.deepEqual(ids(await read(key, `limit=2&cursor=${first.next_cursor}`)), [wire(clicks)[2]])
    assert.deepEqual(ids(await read(key, 'limit=3')), wire(clicks).slice(0, 2))
  })

  test('takes filters and limit from the request, not from the cursor', async () => {
    const { org_id, key } = await seedPlace()
    const clicks = await seedCountedClicks(
      house.database,
      org_id,
      Array.from({ length: 6 }, (_, at) => ({ at: NOON - at, stages: at % 2 === 0 ? 1 : 65 })),
    )
    const { next_cursor } = await read(key, `${WEEK}&limit=1`)
    const rest = await read(key, `${WEEK}&limit=9&status=ftd&cursor=${next_cursor}`)
    assert.deepEqual(
      ids(rest),
      wire(clicks).filter((_, at) => at % 2 === 1),
    )
    const earlier = 'date_from=2026-03-02T11:00&date_to=2026-03-02T11:59:59.997'
    assert.deepEqual(ids(await read(key, `${earlier}&cursor=${next_cursor}`)), wire(clicks).slice(3))
  })

  test('a cursor that was changed, cut, lengthened or sealed for another organization is refused', async () => {
    const { org_id, key } = await seedPlace()
    const other = await seedPlace()
    for (const place of [org_id, other.org_id])
      await seedCountedClicks(
        house.database,
        place,
        [0, 1, 2].map(age => ({ at: Date.now() - age * MINUTE - MINUTE })),
      )
    for (const query of ['limit=1', `limit=1&date_from=${new Date(Date.now() - DAY).toISOString()}`]) {
      const cursor = (await read(key, query)).next_cursor ?? ''
      assert.equal((await read(key, `${query}&cursor=${cursor}`)).data.length, 1)
      assert.equal(await refused(other.key, `${query}&cursor=${cursor}`), 'invalid_cursor')
      const changed = Array.from({ length: cursor.length }, (_, at) => {
        const letter = cursor[at] === 'A' ? 'B' : 'A'
        return cursor.slice(0, at) + letter + cursor.slice(at + 1)
      })
      const cut = [cursor.slice(0, -1), cursor.slice(0, 20), cursor.slice(1)]
      const longer = [
        `${cursor}A`,
        `${cursor}=`,
        `${cursor}.`,
        ` ${cursor}`,
        cursor.toUpperCase(),
        `${cursor}&cursor=${cursor}`,
      ]
      for (const wrong of [...changed, ...cut, ...longer])
        assert.equal(
          await refused(key, `${query}&cursor=${encodeURIComponent(wrong).replace('%26cursor%3D', '&cursor=')}`),
          'invalid_cursor',
          wrong,
        )
    }
  })

  test('no random text is accepted as a cursor or breaks the feed', async () => {
    const { key } = await seedPlace()
    const text = fc.oneof(
      fc.string({ unit: anyCharacter }).map(value => value.toWellFormed()),
      fc.base64String(),
    )
    await fc.assert(
      fc.asyncProperty(text, async cursor => {
        assert.equal(await refused(key, `cursor=${encodeURIComponent(cursor)}`), 'invalid_cursor')
      }),
      { numRuns: 60 },
    )
  })
})

describe('who asks', () => {
  test('a key restricted to campaigns sees their clicks only, page after page', async () => {
    const { org_id, user_id } = await seedPlace()
    const [one, two, three] = [newId(), newId(), newId()]
    const seeds = Array.from({ length: 40 }, (_, at) => ({
      at: NOON + at,
      campaign_id: [one, two, three, null][at % 4] ?? null,
      stages: at % 3 === 0 ? 17 : 1,
    }))
    const clicks = (await seedCountedClicks(house.database, org_id, seeds)).toReversed()
    for (const campaigns of [[one], [one, two], [two, newId()]]) {
      const { secret } = await seedKey(house.database, { org_id, user_id }, { rights: ['clicks'], campaigns })
      const mine = clicks.filter(click => campaigns.includes(click.campaign_id ?? ''))
      assert.deepEqual((await walk(secret, `${WEEK}&limit=3`)).flatMap(ids), wire(mine))
      const leads = mine.filter(click => click.stages === 17)
      assert.deepEqual((await walk(secret, `${WEEK}&limit=3&status=lead`)).flatMap(ids), wire(leads))
      const outside = await read(secret, `${WEEK}&campaign_id=${toWireId(three)}`)
      assert.deepEqual(outside, { data: [], next_cursor: null })
      const narrowed = await read(secret, `${WEEK}&campaign_id=${campaigns[0]}`)
      assert.deepEqual(ids(narrowed), wire(mine.filter(click => click.campaign_id === campaigns[0])))
    }
  })

  test('a member gets the names of a page’s campaigns, deleted ones too, and no other organization’s', async () => {
    const [place, other] = [await seedSignedIn(house), await seedSignedIn(house)]
    const [live, gone, idle] = [
      await seedPlainCampaign(house.database, place.org_id),
      await seedPlainCampaign(house.database, place.org_id),
      await seedPlainCampaign(house.database, place.org_id),
    ]
    const theirs = await seedPlainCampaign(house.database, other.org_id)
    const of = (campaign_id: string | null, at: number) => ({ at: NOON + at, campaign_id })
    await seedCountedClicks(house.database, place.org_id, [
      of(live, 1),
      of(gone, 2),
      of(gone, 3),
      of(theirs, 4),
      of(null, 5),
    ])
    await seedCountedClicks(house.database, place.org_id, [{ at: NOON - 30 * DAY, campaign_id: idle }])
    const named = async () => {
      const seen = await house.call('GET', `/api/clicks?${WEEK}`, { cookie: place.cookie })
      assert.equal(seen.statusCode, 200, seen.body)
      return seen.data()['campaigns']
    }
    const wanted = [live, gone].toSorted().map(id => ({ id: toWireId(id), name: 'Campaign', is_deleted: false }))
    assert.deepEqual(await named(), wanted)
    const path = `/api/campaigns/${toWireId(gone)}`
    await house.call('PUT', `${path}/status`, { cookie: place.cookie, body: { status: 'archived' } })
    const removed = await house.call('DELETE', path, { cookie: place.cookie })
    assert.equal(removed.statusCode, 200, removed.body)
    assert.deepEqual(
      await named(),
      wanted.map(one => ({ ...one, is_deleted: one.id === toWireId(gone) })),
    )
  })

  test('a member reads the same feed with a session, and a key needs the right', async () => {
    const place = await seedSignedIn(house, { role: 'member' })
    const owner = await seedSignedIn(house, { place, role: 'owner' })
    const { secret: key } = await seedKey(house.database, owner, { rights: ['clicks'] })
    await seedCountedClicks(house.database, place.org_id, [{ at: NOON }, { at: NOON + 1 }])
    const seen = await house.call('GET', `/api/clicks?${WEEK}`, { cookie: place.cookie })
    assert.equal(seen.statusCode, 200, seen.body)
    const feed = await read(key, WEEK)
    const data = feed.data.map(click => ({ ...click, is_left_out: false }))
    assert.deepEqual(seen.data(), { ...feed, data, campaigns: [], clicks_from: null })
    assert.equal(seen.json<Feed>().data.length, 2)
    const { secret: without } = await seedKey(house.database, owner, { rights: ['report'] })
    const refusal = await house.call('GET', '/api/v1/clicks', { key: without })
    assert.deepEqual([refusal.statusCode, refusal.data()['code']], [403, 'api_key_read_not_granted'])
    const byCookie = await house.call('GET', '/api/v1/clicks', { cookie: place.cookie })
    assert.deepEqual([byCookie.statusCode, byCookie.data()['code']], [401, 'api_key_required'])
    const posted = await house.call('POST', '/api/v1/clicks', { key })
    assert.deepEqual([posted.statusCode, posted.data()['code']], [405, 'method_not_allowed'])
  })

  test('another organization is as if it were not there', async () => {
    const [one, other] = [await seedPlace(), await seedPlace()]
    await seedCountedClicks(house.database, other.org_id, [{ at: NOON }])
    assert.deepEqual(await read(one.key, `${WEEK}&tracked=all`), { data: [], next_cursor: null })
  })
})
