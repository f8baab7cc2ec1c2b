// Which spend counts for a cell with several sources: entered, spread, ad accounts, and the clicks' own cost.
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { pino } from 'pino'
import { seedCountedClicks } from '../../../tests/support/counted-clicks.ts'
import { useDatabase } from '../../../tests/support/database.ts'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { newId, toWireId } from '../../contract/ids.ts'
import { openFolder } from './fold.ts'
import { recountCosts } from './recount.ts'
import { readReport, readReportAsMember } from './report.ts'
import type { CostDimension } from './spend.ts'

const { database } = await useDatabase()
const [day, at] = ['2026-03-02', Date.UTC(2026, 2, 2, 12)]
const [spread, other] = [`spread:${newId()}`, `spread:${newId()}`]
const account = `account:${newId()}`

type Row = readonly [origin: string, sub1: string, amount: string]

/** A campaign whose clicks of a day cost 1 without a sub1, 2 with a, 4 with b; and these rows of spend. */
async function seeded(...rows: Row[]) {
  const [org_id, campaign_id] = [randomInt(1, 2 ** 31 - 1), newId()]
  const clicks = [
    [null, '1'],
    ['a', '2'],
    ['b', '4'],
  ] as const
  await seedCountedClicks(
    database,
    org_id,
    clicks.map(([sub1, cost]) => ({ at, campaign_id, sub1, cost, cost_counts: true })),
  )
  for (const [origin, sub1, amount] of rows) {
    const place = [org_id, day, campaign_id, sub1, amount]
    if (origin === 'manual')
      await database.worker.query(
        `insert into ad_spend (org_id, day, campaign_id, sub1, amount, source, updated_at) values ($1, $2, $3, $4, $5, 'manual', now())`,
        place,
      )
    else
      await database.worker.query(
        'insert into booked_spend (org_id, day, campaign_id, sub1, amount, origin) values ($1, $2, $3, $4, $5, $6)',
        [...place, origin],
      )
  }
  return org_id
}

/** The costs of a report by sub1, after checking them against a recount: by sub1, not_broken_down, and the totals. */
async function told(org_id: number) {
  const query = { dimension: 'sub1', date_from: `${day}T00:00:00Z`, date_to: `${day}T23:59:59.999Z` }
  const context = { database, actor: { kind: 'member', org_id } } as unknown as Parameters<typeof readReportAsMember>[0]
  const { rows, totals, not_broken_down } = await readReportAsMember(context, { query, params: {}, body: undefined })
  const sum = await recountCosts(database.reads, org_id, Date.parse(day), Date.parse(day) + 86_399_999, 'day')
  assert.deepEqual([totals.cost, totals.cost_source], [Number(sum[0]?.cost).toFixed(2), sum[0]?.cost_source])
  return {
    ...Object.fromEntries(rows.map(({ key, cost, cost_source }) => [key, `${cost} ${cost_source ?? '-'}`])),
    ...(not_broken_down !== null && { apart: `${not_broken_down.cost} ${not_broken_down.cost_source}` }),
  }
}

test('each source replaces those of lower precedence in what it covers, and rows of one source add up', async () => {
  const cases: readonly (readonly [rows: Row[], told: object])[] = [
    [[], { '': '1.00 link', a: '2.00 link', b: '4.00 link' }],
    [[[account, 'a', '10']], { '': '1.00 link', a: '10.00 account', b: '4.00 link' }],
    [[[account, '', '10']], { '': '0.00 -', a: '0.00 -', b: '0.00 -', apart: '10.00 account' }],
    [
      [
        [account, '', '10'],
        ['manual', 'a', '20'],
      ],
      { '': '0.00 -', a: '20.00 manual', b: '0.00 -', apart: '10.00 account' },
    ],
    [
      [
        [account, 'a', '10'],
        [`account:${newId()}`, 'a', '0.5'],
      ],
      { '': '1.00 link', a: '10.50 account', b: '4.00 link' },
    ],
    [
      [
        [account, 'a', '10'],
        [account, 'b', '20'],
        [spread, 'a', '30'],
        [other, 'a', '0.25'],
      ],
      { '': '1.00 link', a: '30.25 spread', b: '20.00 account' },
    ],
    [
      [
        [account, '', '10'],
        [account, 'b', '20'],
        [spread, '', '30'],
        [spread, 'a', '40'],
      ],
      { '': '30.00 spread', a: '40.00 spread', b: '0.00 -' },
    ],
    [
      [
        [account, '', '10'],
        [spread, '', '0'],
        [spread, 'b', '7'],
      ],
      { '': '0.00 -', a: '0.00 -', b: '7.00 spread' },
    ],
    [
      [
        [account, 'a', '10'],
        [spread, 'a', '30'],
        ['manual', 'a', '50'],
      ],
      { '': '1.00 link', a: '50.00 manual', b: '4.00 link' },
    ],
    [
      [
        [account, 'b', '10'],
        [spread, 'a', '30'],
        ['manual', '', '60'],
      ],
      { '': '0.00 -', a: '0.00 -', b: '0.00 -', apart: '60.00 manual' },
    ],
  ]
  const folder = openFolder({ database, log: pino({ level: 'silent' }) })
  await folder.close()
  for (const [rows, expected] of cases) {
    const org_id = await seeded(...rows)
    assert.deepEqual(await told(org_id), expected, String(rows))
    await folder.foldAll()
    assert.deepEqual(await told(org_id), expected, `${String(rows)}, folded`)
  }
})

test('deleting a row restores what it covered', async () => {
  const org_id = await seeded([account, '', '10'], [spread, '', '0'], [spread, 'a', '7'], ['manual', 'a', '50'])
  const less = (text: string, value: string) => database.worker.query(text, [org_id, value])
  assert.deepEqual(await told(org_id), { '': '0.00 -', a: '50.00 manual', b: '0.00 -' })
  await less('delete from ad_spend where org_id = $1 and sub1 = $2', 'a')
  assert.deepEqual(await told(org_id), { '': '0.00 -', a: '7.00 spread', b: '0.00 -' })
  await less('delete from booked_spend where org_id = $1 and origin = $2', spread)
  assert.deepEqual(await told(org_id), { '': '0.00 -', a: '0.00 -', b: '0.00 -', apart: '10.00 account' })
  await less('delete from booked_spend where org_id = $1 and origin = $2', account)
  assert.deepEqual(await told(org_id), { '': '1.00 link', a: '2.00 link', b: '4.00 link' })
})

test('each of hundreds of cells of a campaign’s day is replaced separately', async () => {
  const [org_id, campaign_id] = [randomInt(1, 2 ** 31 - 1), newId()]
  const zones = Array.from({ length: 301 }, (_, at) => `zone-${at * 7919}`)
  const cost = { cost: '0.5', cost_counts: true }
  const ofOthers = { at, campaign_id: newId(), sub1: zones[0] ?? '', ...cost }
  await seedCountedClicks(database, org_id, [...zones.map(sub1 => ({ at, campaign_id, sub1, ...cost })), ofOthers])
  const entered = zones.filter((_, at) => at % 2 === 0)
  await database.worker.query(
    `insert into ad_spend (org_id, day, campaign_id, sub1, amount, source, updated_at)
      select $1, $2, $3, sub1, 3, 'manual', now() from unnest($4::text[]) sub1`,
    [org_id, day, campaign_id, entered],
  )
  const expected = Object.fromEntries(
    zones.map((sub1, at) => [sub1, at === 0 ? '3.50 mixed' : at % 2 === 0 ? '3.00 manual' : '0.50 link']),
  )
  const folder = openFolder({ database, log: pino({ level: 'silent' }) })
  await folder.close()
  assert.deepEqual(await told(org_id), expected)
  await folder.foldAll()
  assert.deepEqual(await told(org_id), expected)
})

test('over weeks replaced whole, in part and across the ends of windows, each dimension equals a recount', async () => {
  const org_id = randomInt(1, 2 ** 31 - 1)
  const campaigns = [newId(), newId(), newId()] as const
  const subs = [null, 'a', 'b', 'c'] as const
  const days = Array.from({ length: 24 }, (_, n) => Date.UTC(2026, 2, 5) + n * DAY_MS)
  const clicks = days.flatMap(from =>
    campaigns.flatMap(campaign_id =>
      subs.map(sub1 => {
        const cost = (randomInt(1, 1000) / 100).toFixed(2)
        return { at: from + randomInt(DAY_MS), campaign_id, sub1, cost, cost_counts: true }
      }),
    ),
  )
  await seedCountedClicks(database, org_id, clicks)
  const [byCell, byDay, inPart] = campaigns
  const cells = days.flatMap((from, n) => [
    { from, campaign_id: byCell, sub1: 'a' },
    { from, campaign_id: byDay, sub1: '' },
    ...(n % 3 > 0 ? [{ from, campaign_id: inPart, sub1: 'b' }] : []),
    ...(n % 9 === 0 ? [{ from, campaign_id: inPart, sub1: '' }] : []),
  ])
  await database.worker.query(
    `insert into ad_spend (org_id, day, campaign_id, sub1, amount, source, updated_at)
      select $1, day, campaign_id, sub1, 0.25, 'manual', now() from unnest($2::date[], $3::uuid[], $4::text[]) cells (day, campaign_id, sub1)`,
    [
      org_id,
      cells.map(({ from }) => dayOf(from)),
      cells.map(({ campaign_id }) => campaign_id),
      cells.map(({ sub1 }) => sub1),
    ],
  )
  const [start, end] = [days[0] ?? 0, (days.at(-1) ?? 0) + DAY_MS - 1]
  // Bounds in the morning of each day of a week, and in the evening before.
  const windows = days.slice(10, 17).flatMap(to => [
    { from: start, to: to + DAY_MS / 8 },
    { from: to - DAY_MS / 8, to: end },
    { from: to + randomInt(-DAY_MS, DAY_MS), to: to + randomInt(DAY_MS, 3 * DAY_MS) },
  ])
  const folder = openFolder({ database, log: pino({ level: 'silent' }) })
  await folder.close()
  const hold = async (when: string) => {
    for (const { from, to } of [{ from: start, to: end }, ...windows])
      for (const dimension of ['campaign', 'sub1', 'day'] as const)
        assert.deepEqual(
          await costsTold(org_id, dimension, from, to),
          await costsRecounted(org_id, dimension, from, to),
          `${when}, by ${dimension}, ${new Date(from).toISOString()} to ${new Date(to).toISOString()}`,
        )
  }
  await hold('unfolded')
  await folder.foldAll()
  await hold('folded')
  await seedCountedClicks(database, org_id, clicks.slice(0, 60))
  await hold('folded in part')
})

const sorted = (costs: [string, string][]) =>
  costs.filter(([, cost]) => Number(cost) !== 0).sort(([one], [other]) => (one < other ? -1 : 1))

async function costsTold(org_id: number, dimension: CostDimension, from: number, to: number) {
  const query = { dimension, date_from: new Date(from).toISOString(), date_to: new Date(to).toISOString() }
  const { rows } = await readReport(
    { database, actor: { kind: 'key', org_id, campaigns: null } } as unknown as Parameters<typeof readReport>[0],
    { query, params: {}, body: undefined },
  )
  return sorted(rows.map(({ key, cost }) => [key, cost ?? '']))
}

async function costsRecounted(org_id: number, dimension: CostDimension, from: number, to: number) {
  const rows = await recountCosts(database.reads, org_id, from, to, dimension)
  const wire = (key: string) => (dimension === 'campaign' ? toWireId(key) : key)
  return sorted(rows.map(({ key, cost }) => [wire(key), Number(cost).toFixed(2)]))
}
