// The click log's filters by country and sub1, and how many rows a page of rare clicks reads.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { pino } from 'pino'
import { type CountedClick, seedCountedClicks } from '../../../tests/support/counted-clicks.ts'
import { newId, seedKey, useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import { type Plan, stepsBelow } from '../../../tests/support/plans.ts'
import { openFolder } from '../reports/fold.ts'
import type { FeedClick } from './api.ts'
import { stretchesOf } from './days.ts'
import { type FeedPage, feedStatement } from './statement.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

type Feed = { data: FeedClick[]; next_cursor: string | null }

const DAY = 86_400_000
const START = Date.UTC(2026, 2, 1)
const WEEKS = 'date_from=2026-03-01&date_to=2026-03-28T23:59:59.999Z'

async function read(cookie: string, query: string): Promise<Feed> {
  const response = await house.call('GET', `/api/clicks?${query}`, { cookie })
  assert.equal(response.statusCode, 200, response.body)
  return response.json<Feed>()
}

/** The rows of all pages, and the number of pages. */
async function walk(cookie: string, query: string): Promise<[string[], number]> {
  const seen: string[] = []
  let pages = 0
  for (let cursor: string | null = ''; cursor !== null; pages += 1) {
    const page: Feed = await read(cookie, `${query}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`)
    seen.push(...page.data.map(({ id }) => id))
    cursor = page.next_cursor
  }
  return [seen, pages]
}

const wire = (clicks: CountedClick[]) => clicks.map(({ id }) => toWireId(id))

/** Clicks of four weeks with days in between that have none, newest first. */
async function seedWeeks(org_id: number, campaigns: (string | null)[]) {
  const seeds = Array.from({ length: 90 }, (_, at) => ({
    at: START + [0, 1, 2, 5, 6, 13, 27][at % 7]! * DAY + at * 60_000,
    geo: ['DE', 'AT', null, 'DE'][at % 4] ?? null,
    sub1: ['a', 'A', null, 'a b', 'ä&=%'][at % 5] ?? null,
    campaign_id: campaigns[at % campaigns.length] ?? null,
    tracked: at % 6 !== 0,
    stages: at % 5 === 1 ? 0b1_0001 : 1,
  }))
  return (await seedCountedClicks(house.database, org_id, seeds)).toSorted((a, b) => (a.id < b.id ? 1 : -1))
}

test('clicks are filtered by country and sub1, alone, together, and with all other filters, page after page', async () => {
  const { cookie, ...place } = await seedSignedIn(house, { role: 'member' })
  const campaign = newId()
  const clicks = await seedWeeks(place.org_id, [campaign, null, newId()])
  const compare = async () => {
    for (const geo of [undefined, 'DE', 'at', 'FR', ''])
      for (const sub1 of [undefined, 'a', 'ä&=%', 'b', ''])
        for (const [others, holds] of [
          ['', click => click.tracked],
          ['&tracked=all', () => true],
          ['&tracked=false', click => !click.tracked],
          ['&status=lead', click => click.tracked && click.stages === 0b1_0001],
          [`&campaign_id=${toWireId(campaign)}`, click => click.tracked && click.campaign_id === campaign],
        ] satisfies [string, (click: CountedClick) => boolean][]) {
          const wanted = clicks.filter(
            click =>
              holds(click) &&
              (geo === undefined || click.geo === (geo.toUpperCase() || null)) &&
              (sub1 === undefined || click.sub1 === (sub1 || null)),
          )
          const query = `${WEEKS}${geo === undefined ? '' : `&geo=${geo}`}${sub1 === undefined ? '' : `&sub1=${encodeURIComponent(sub1)}`}${others}`
          const [seen, pages] = await walk(cookie, `${query}&limit=20`)
          assert.deepEqual(seen, wire(wanted), query)
          assert.equal(pages, Math.max(1, Math.ceil(wanted.length / 20)), query)
        }
  }
  await compare()
  const folder = openFolder({ database: house.database, log: pino({ level: 'silent' }) })
  await folder.foldAll()
  await folder.close()
  await compare()
})

test('a window that cuts days, and a cursor within a day, lose no click and show none twice', async () => {
  const { cookie, ...place } = await seedSignedIn(house)
  const clicks = await seedWeeks(place.org_id, [null])
  const from = START + DAY + 20 * 60_000
  const to = START + 13 * DAY + 40 * 60_000
  const query = `date_from=${new Date(from).toISOString()}&date_to=${new Date(to).toISOString()}&geo=DE`
  const within = clicks.filter(({ id }) => {
    const at = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
    return at >= from && at <= to
  })
  const wanted = wire(within.filter(({ geo, tracked }) => geo === 'DE' && tracked))
  assert.ok(wanted.length > 10)
  for (const limit of [1, 4, wanted.length])
    assert.deepEqual((await walk(cookie, `${query}&limit=${limit}`))[0], wanted)
  // The cursor of one query continues another query from the same place.
  const { data, next_cursor } = await read(cookie, `${query}&limit=3`)
  const rest = await read(cookie, `${query.replace('geo=DE', 'geo=AT')}&cursor=${next_cursor}`)
  const place_ = within.findIndex(({ id }) => toWireId(id) === data.at(-1)?.id)
  assert.deepEqual(
    rest.data.map(({ id }) => id),
    wire(within.slice(place_ + 1).filter(({ geo, tracked }) => geo === 'AT' && tracked)),
  )
})

test('an invalid country or sub1 is refused, and the error says what is valid', async () => {
  const { cookie } = await seedSignedIn(house)
  const country = /^geo: must be the two letters of a country such as DE/
  for (const [query, words] of [
    ['geo=DEU', country],
    ['geo=D', country],
    ['geo=49', country],
    ['geo=%20', country],
    ['geo=DE&geo=AT', /^geo: must be sent once/],
    [`sub1=${'x'.repeat(501)}`, /^sub1: must be a text of at most 500 characters/],
    ['sub1=a&sub1=b', /^sub1: must be sent once/],
    ['sub1=a%00', /^sub1: holds characters that cannot be stored/],
  ] satisfies [string, RegExp][]) {
    const response = await house.call('GET', `/api/clicks?${WEEKS}&${query}`, { cookie })
    assert.equal(response.statusCode, 400, query)
    assert.match(String(response.data()['error']), words)
  }
  const { data } = await read(cookie, `${WEEKS}&geo=&sub1=${'x'.repeat(500)}`)
  assert.deepEqual(data, [])
})

test("another organization's clicks are as if they were not there, nor do its counters show", async () => {
  const [one, other] = [await seedSignedIn(house), await seedSignedIn(house)]
  const [mine] = await seedCountedClicks(house.database, one.org_id, [{ at: START, geo: 'DE', sub1: 'shared' }])
  await seedCountedClicks(house.database, other.org_id, [{ at: START + DAY, geo: 'DE', sub1: 'shared' }])
  for (const query of ['geo=DE', 'sub1=shared', 'geo=DE&sub1=shared&tracked=all'])
    assert.deepEqual((await walk(one.cookie, `${WEEKS}&${query}`))[0], [toWireId(mine?.id ?? '')])
  const window = { from: START, to: START + 9 * DAY }
  assert.deepEqual(
    await stretchesOf(house.database.reads, one.org_id, window, null, { geo: undefined, sub1: 'shared' }),
    [{ from: START, to: START + DAY - 1 }],
  )
})

test('the feed for keys has neither parameter', async () => {
  const place = await seedSignedIn(house)
  const { secret: key } = await seedKey(house.database, place, { rights: ['clicks'] })
  await seedCountedClicks(house.database, place.org_id, [{ at: START, geo: 'DE' }])
  const response = await house.call('GET', `/api/v1/clicks?${WEEKS}&geo=nowhere&sub1=x`, { key })
  assert.equal(response.json<Feed>().data.length, 1, response.body)
})

test('a page of a rare country or sub1 reads only the days that have such clicks', async () => {
  const { org_id } = await seedSignedIn(house)
  const seeds = Array.from({ length: 3000 }, (_, at) => ({
    at: START + (at % 20) * DAY + at,
    ...(at === 3 || at === 16 ? { geo: 'IS', sub1: 'rare' } : { geo: 'US', sub1: 'usual' }),
  }))
  await seedCountedClicks(house.database, org_id, seeds)
  await house.database.worker.query('analyze clicks')
  const window = { from: START, to: START + 28 * DAY }
  const readFor = async (sought: { geo?: string; sub1?: string }) => {
    const wanted = { geo: sought.geo, sub1: sought.sub1 }
    const stretches = await stretchesOf(house.database.reads, org_id, window, null, wanted)
    const page: FeedPage = {
      window,
      stretches,
      campaigns: null,
      status: undefined,
      tracked: true,
      before: undefined,
      limit: 50,
      ...wanted,
    }
    const { text, values = [] } = feedStatement(org_id, page)
    const { rows } = await house.database.reads.query(`explain (analyze, format json) ${text}`, [...values])
    return { days: stretches.length, removed: removedIn(rows[0]?.['QUERY PLAN'][0].Plan as Plan) }
  }
  for (const sought of [{ geo: 'IS' }, { sub1: 'rare' }, { geo: 'IS', sub1: 'rare' }]) {
    const { days, removed } = await readFor(sought)
    assert.equal(days, 2)
    // Two days of 150 clicks each.
    assert.ok(removed < 300, String(removed))
  }
  assert.equal((await readFor({ sub1: 'never' })).days, 0)
  assert.equal((await readFor({ geo: 'US' })).days, 1)
  assert.ok((await readFor({ geo: 'US' })).removed < 10)
})

/** Rows that were read but not shown. */
const removedIn = (plan: Plan): number =>
  (plan['Rows Removed by Filter'] ?? 0) * (plan['Actual Loops'] ?? 1) +
  stepsBelow(plan).reduce((sum, one) => sum + removedIn(one), 0)
