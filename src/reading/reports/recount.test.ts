// The one property of reports: whatever has happened to clicks, and however much of it is folded, a report equals a recount of the
// clicks. Everything here runs on a real database.
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { pino } from 'pino'
import {
  type ClickSeed,
  changeClick,
  type CountedClick,
  seedCountedClicks,
} from '../../../tests/support/counted-clicks.ts'
import { useDatabase } from '../../../tests/support/database.ts'
import { DAY_MS } from '../../contract/days.ts'
import { newId, timeOfId, toWireId } from '../../contract/ids.ts'
import type { Database } from '../../ground/db/connect.ts'
import type { Key } from '../../ground/room.ts'
import { DIMENSIONS, type ReportDimension } from './api.ts'
import { openFolder } from './fold.ts'
import { type Recounted, type RecountedCost, recount, recountCosts } from './recount.ts'
import { readReport, readReportAsMember } from './report.ts'
import { hasCost } from './spend.ts'

const ground = await useDatabase()
const log = pino({ level: 'silent' })

const CAMPAIGNS = Array.from({ length: 4 }, () => newId())
const OFFERS = Array.from({ length: 3 }, () => newId())
const DAYS = 24
/** Random windows for each period. */
const HISTORIES = process.env['SLUICE_TEST_ALL'] ? 40 : 8

type Spend = { campaign_id: string; day: number; sub1: string; amount: string; source: 'manual' | 'api' }
type Asked = { from: number; to: number; campaigns: string[] | null; campaign_id: string | undefined }

const keyOf = (org_id: number, campaigns: string[] | null) => ({ kind: 'key', org_id, campaigns }) as unknown as Key

type Reads = Pick<Database['reads'], 'query'>

function ask(reads: Reads, org_id: number, dimension: ReportDimension, asked: Asked) {
  const context = { database: { reads }, actor: keyOf(org_id, asked.campaigns) }
  return readReport(context as unknown as Parameters<typeof readReport>[0], queryOf(dimension, asked))
}

function askAsMember(reads: Reads, org_id: number, dimension: ReportDimension, asked: Asked) {
  const context = { database: { reads }, actor: { kind: 'member', org_id } }
  return readReportAsMember(context as unknown as Parameters<typeof readReportAsMember>[0], queryOf(dimension, asked))
}

function queryOf(dimension: ReportDimension, asked: Asked) {
  const query = {
    dimension,
    date_from: new Date(asked.from).toISOString(),
    date_to: new Date(asked.to).toISOString(),
    ...(asked.campaign_id !== undefined && { campaign_id: asked.campaign_id }),
  }
  return { query, params: {}, body: undefined }
}

const NUMBERS = ['clicks', 'landed', 'started', 'registered', 'lead', 'deposit', 'ftd'] as const
const nothing = {
  clicks: 0,
  landed: 0,
  started: 0,
  registered: 0,
  lead: 0,
  deposit: 0,
  ftd: 0,
  revenue: '0',
  cost: '0',
  unread_costs: 0,
  revenue_pending: '0',
  approved: 0,
  pending: 0,
  rejected: 0,
}
const VERDICTS = ['approved', 'pending', 'rejected'] as const

/** Money in billionths of a dollar, as fine as a click's cost. */
const nanos = (amount: string): bigint => {
  const [whole = '', fraction = ''] = amount.split('.')
  return BigInt(whole + fraction.padEnd(9, '0'))
}
const cents = (amount: bigint): string => {
  const text = ((amount + 5_000_000n) / 10_000_000n).toString().padStart(3, '0')
  return `${text.slice(0, -2)}.${text.slice(-2)}`
}
const sourceOf = (sources: string[]): string | null => (new Set(sources).size > 1 ? 'mixed' : (sources[0] ?? null))

/** The expected report, from the recounts of clicks and costs. */
function expected(dimension: ReportDimension, recounted: Recounted[], spend: RecountedCost[]) {
  const isCosting = hasCost(dimension)
  const keys = new Set([...recounted.map(row => row.key), ...spend.map(row => row.key)])
  const costOf = (rows: RecountedCost[]) =>
    isCosting
      ? {
          cost: cents(rows.reduce((sum, row) => sum + nanos(row.cost), 0n)),
          cost_source: sourceOf(rows.map(row => row.cost_source)),
        }
      : {}
  const wire = (key: string) =>
    key !== '' && (dimension === 'campaign' || dimension === 'offer') ? toWireId(key) : key
  const rows = [...keys].map(key => {
    const {
      key: _,
      revenue,
      cost,
      revenue_pending,
      ...counts
    } = recounted.find(row => row.key === key) ?? { key, ...nothing }
    return {
      key: wire(key),
      ...counts,
      revenue: cents(nanos(revenue)),
      revenue_pending: cents(nanos(revenue_pending)),
      ...UNCONVERTED,
      cost_of_clicks: cents(nanos(cost)),
      ...costOf(spend.filter(row => row.key === key)),
    }
  })
  const byKey = (a: { key: string }, b: { key: string }) => (Buffer.from(a.key) < Buffer.from(b.key) ? -1 : 1)
  rows.sort((a, b) => (dimension === 'day' ? 0 : b.clicks - a.clicks) || byKey(a, b))
  const totals = Object.fromEntries(
    [...NUMBERS, ...VERDICTS].map(name => [name, recounted.reduce((sum, row) => sum + row[name], 0)]),
  )
  const revenue = cents(recounted.reduce((sum, row) => sum + nanos(row.revenue), 0n))
  const cost_of_clicks = cents(recounted.reduce((sum, row) => sum + nanos(row.cost), 0n))
  const revenue_pending = cents(recounted.reduce((sum, row) => sum + nanos(row.revenue_pending), 0n))
  const unread_costs = recounted.reduce((sum, row) => sum + row.unread_costs, 0)
  const of_members = { revenue_pending, cost_of_clicks, unread_costs, ...UNCONVERTED }
  return { rows, totals: { ...totals, revenue, ...of_members, ...costOf(spend) } }
}

/** Without conversions: converted.test.ts compares those with events. */
const UNCONVERTED = { conversions: 0, conversions_pending: 0, conversions_rejected: 0, by_type: {} }

type Reported = { rows: readonly { label: string }[]; totals: object }
const inShort = ({ rows, totals }: Reported) => ({ rows: rows.map(({ label: _, ...row }) => row), totals })

function withoutWhatMembersSee({ rows, totals }: ReturnType<typeof expected>) {
  const hidden = [
    'cost_of_clicks',
    'unread_costs',
    'revenue_pending',
    ...Object.keys(UNCONVERTED),
    ...VERDICTS,
  ] as string[]
  const seen = <Row extends object>(row: Row) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !hidden.includes(name)))
  return { rows: rows.map(seen), totals: seen(totals) }
}

async function compare(database: Database, org_id: number, asked: Asked): Promise<void> {
  const scope = asked.campaigns ?? CAMPAIGNS
  const campaigns =
    asked.campaign_id === undefined ? asked.campaigns : scope.includes(asked.campaign_id) ? [asked.campaign_id] : []
  for (const dimension of DIMENSIONS) {
    const recounted = await recount(database.reads, org_id, asked.from, asked.to, dimension, campaigns)
    const costsOf = async (byShare: boolean) =>
      hasCost(dimension)
        ? recountCosts(database.reads, org_id, asked.from, asked.to, dimension, campaigns, byShare)
        : []
    const report = await ask(database.reads, org_id, dimension, asked)
    const told = expected(dimension, recounted, await costsOf(false))
    assert.deepEqual(inShort(report), withoutWhatMembersSee(told), dimension)
    if (asked.campaigns !== null) continue
    const { not_broken_down, ...asMember } = await askAsMember(database.reads, org_id, dimension, asked)
    const toldMember = expected(dimension, recounted, await costsOf(true))
    assert.deepEqual(asMember.totals, toldMember.totals, dimension)
    // By sub1, spend without one is not_broken_down; the rest is as by any other dimension.
    if (not_broken_down === null) assert.deepEqual(inShort(asMember), toldMember, dimension)
  }
}

/** Midnights, moments shared by clicks and bounds of windows, and any other moment. */
const offset = fc.oneof(
  fc.tuple(fc.integer({ min: 0, max: DAYS }), fc.integer({ min: -2, max: 2 })).map(([day, ms]) => day * DAY_MS + ms),
  fc
    .tuple(fc.constantFrom(2, 9, 20), fc.constantFrom(5, 18), fc.integer({ min: 0, max: 3 }))
    .map(([day, hour, ms]) => day * DAY_MS + hour * 3_600_000 + ms),
  fc.integer({ min: 0, max: DAYS * DAY_MS }),
)
const revenue = fc.constantFrom(null, '12.5', '0.000001', '0.005', '0.004', '99999.999999')
const stages = fc.integer({ min: 0, max: 63 }).map(bits => bits * 2 + 1)
const seed = fc.record({
  at: offset,
  campaign_id: fc.constantFrom(null, ...CAMPAIGNS),
  offer_id: fc.constantFrom(null, ...OFFERS),
  stages,
  tracked: fc.boolean(),
  revenue,
  geo: fc.constantFrom(null, 'DE', 'US', 'XX'),
  sub1: fc.constantFrom(null, 'a', 'A', 'ä', '', '(none)', ' '),
  cost: fc.constantFrom(null, '0', '0.0025', '0.000000001', '10', '0.004999999'),
  cost_counts: fc.constantFrom(null, true),
})
const spendSeed = fc.record({
  campaign_id: fc.constantFrom(...CAMPAIGNS),
  day: fc.integer({ min: 0, max: DAYS }),
  sub1: fc.constantFrom('', 'a', 'unclicked'),
  amount: fc.constantFrom('0', '7.25', '0.005', '1000000'),
  source: fc.constantFrom('manual' as const, 'api' as const),
})
const bookedSeed = fc.record({
  campaign_id: fc.constantFrom(...CAMPAIGNS),
  day: fc.integer({ min: 0, max: DAYS }),
  sub1: fc.constantFrom('', 'a', 'unclicked'),
  amount: fc.constantFrom('0', '3.333334', '0.005', '1000000'),
  origin: fc.constantFrom(...['spread', 'account'].flatMap(kind => [`${kind}:${newId()}`, `${kind}:${newId()}`])),
})
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant('click' as const),
      seeds: fc.array(seed, { minLength: 1, maxLength: 12 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant('change' as const),
      at: fc.nat(),
      to: fc.record({ stages, tracked: fc.boolean(), revenue, offer_id: fc.constantFrom(null, ...OFFERS) }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('spend' as const), spend: spendSeed }) },
  {
    weight: 1,
    arbitrary: fc.record({
      does: fc.constant('book' as const),
      booked: fc.array(bookedSeed, { minLength: 1, maxLength: 6 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('fold' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant('ask' as const),
      ends: fc.tuple(offset, offset),
      campaigns: fc.option(fc.subarray(CAMPAIGNS, { minLength: 1 }), { nil: null }),
      campaign_id: fc.option(fc.constantFrom(...CAMPAIGNS), { nil: undefined, freq: 4 }),
    }),
  },
)

const insertSpend = `insert into ad_spend (org_id, campaign_id, day, sub1, amount, source, updated_at) values ($1, $2, $3, $4, $5, $6, $7)
  on conflict (org_id, day, campaign_id, sub1) do update set amount = excluded.amount, source = excluded.source`

const insertBooked = `insert into booked_spend (org_id, day, campaign_id, sub1, origin, amount) values ($1, $2, $3, $4, $5, $6)
  on conflict (org_id, day, campaign_id, sub1, origin) do update set amount = excluded.amount`

describe('a report equals a recount of the clicks', () => {
  for (const [when, start] of [
    ['in the past', Date.UTC(2026, 1, 26)],
    ['around today', Math.floor(Date.now() / DAY_MS) * DAY_MS - 20 * DAY_MS],
  ] as const) {
    test(`for every history and every question, ${when}`, async () => {
      const { database } = ground
      const folder = openFolder({ database, log })
      await folder.close()
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async steps => {
          const org_id = randomInt(1, 2 ** 31 - 1)
          const clicks: CountedClick[] = []
          for (const one of steps) {
            if (one.does === 'click')
              clicks.push(
                ...(await seedCountedClicks(
                  database,
                  org_id,
                  one.seeds.map(({ at, ...rest }): ClickSeed => ({ ...rest, at: start + at })),
                )),
              )
            else if (one.does === 'change' && clicks.length > 0) {
              const at = one.at % clicks.length
              clicks[at] = await changeClick(database, org_id, clicks[at] as CountedClick, one.to)
            } else if (one.does === 'spend') {
              const { campaign_id, day, sub1, amount, source } = one.spend
              const date = new Date(start + day * DAY_MS).toISOString()
              await database.worker.query(insertSpend, [
                org_id,
                campaign_id,
                date.slice(0, 10),
                sub1,
                amount,
                source,
                date,
              ])
            } else if (one.does === 'book') {
              for (const { campaign_id, day, sub1, origin, amount } of one.booked) {
                const date = new Date(start + day * DAY_MS).toISOString().slice(0, 10)
                await database.worker.query(insertBooked, [org_id, date, campaign_id, sub1, origin, amount])
              }
            } else if (one.does === 'fold') await folder.foldAll()
            else if (one.does === 'ask') {
              const [from, to] = one.ends.toSorted((a, b) => a - b) as [number, number]
              const { campaigns, campaign_id } = one
              await compare(database, org_id, { from: start + from, to: start + to, campaigns, campaign_id })
            }
          }
          const all = { from: start - 5, to: start + (DAYS + 2) * DAY_MS, campaigns: null, campaign_id: undefined }
          await compare(database, org_id, all)
        }),
        { numRuns: HISTORIES },
      )
    })
  }

  test('at every moment of a day full of clicks, conversions and two folders at once', async () => {
    const { database } = ground
    const org_id = randomInt(1, 2 ** 31 - 1)
    const start = Date.UTC(2026, 2, 2)
    const folders = [openFolder({ database, log }), openFolder({ database, log })]
    const began = performance.now()
    let written = 0
    let asked = 0
    /** At least so many reports over so many clicks, however slow the machine. */
    const isDay = () => performance.now() < began + (asked > 10 && written > 10 ? 1500 : 60_000)
    const write = async () => {
      for (let at = 0; isDay(); at += 1) {
        const [click] = await seedCountedClicks(database, org_id, [
          {
            at: start + at * 61_007,
            campaign_id: CAMPAIGNS[at % 4] as string,
            cost: '0.013',
            cost_counts: at % 3 === 0,
          },
        ])
        await changeClick(database, org_id, click as CountedClick, { stages: 35, revenue: '1.10' })
        written += 1
      }
    }
    const fold = async (folder: ReturnType<typeof openFolder>) => {
      while (isDay()) await folder.foldAll()
    }
    const read = async () => {
      const client = await database.reads.connect()
      while (isDay()) {
        const dimension = DIMENSIONS[asked % DIMENSIONS.length] as ReportDimension
        await client.query('begin isolation level repeatable read')
        const window = { from: start, to: start + 40 * DAY_MS }
        const counted = await recount(client, org_id, window.from, window.to, dimension)
        const spent = hasCost(dimension) ? await recountCosts(client, org_id, window.from, window.to, dimension) : []
        const report = await ask(client, org_id, dimension, { ...window, campaigns: null, campaign_id: undefined })
        await client.query('commit')
        assert.deepEqual(
          report.rows.map(({ label: _, ...row }) => row),
          withoutWhatMembersSee(expected(dimension, counted, hasCost(dimension) ? spent : [])).rows,
        )
        asked += 1
      }
      client.release()
    }
    await Promise.all([read(), write(), write(), ...folders.map(fold)])
    for (const folder of folders) await folder.foldAll()
    for (const folder of folders) await folder.close()
    assert.ok(asked > 10 && written > 10, `${asked} reports were read over ${written} clicks`)
    const { rows } = await database.reads.query('select count(*)::int as left from report_delta where org_id = $1', [
      org_id,
    ])
    assert.deepEqual(rows, [{ left: 0 }])
    const window = { from: start, to: start + 40 * DAY_MS, campaigns: null, campaign_id: undefined }
    assert.equal((await ask(database.reads, org_id, 'day', window)).totals.clicks, written)
  })

  test('a recount equals an independent count in memory', async () => {
    const { database } = ground
    const org_id = randomInt(1, 2 ** 31 - 1)
    const start = Date.UTC(2026, 2, 2)
    const clicks = await seedCountedClicks(
      database,
      org_id,
      fc.sample(seed, { numRuns: 300, seed: 7 }).map(({ at, ...rest }) => ({ ...rest, at: start + at })),
    )
    const [from, to] = [start + 3 * DAY_MS + 17, start + 20 * DAY_MS + 5]
    const counted = clicks.filter(({ id, tracked }) => tracked && timeOfId(id) >= from && timeOfId(id) <= to)
    for (const dimension of DIMENSIONS) {
      const keyOf = (click: CountedClick) =>
        ({
          campaign: click.campaign_id,
          geo: click.geo,
          sub1: click.sub1,
          offer: click.offer_id,
          day: new Date(timeOfId(click.id)).toISOString().slice(0, 10),
        })[dimension] ?? ''
      const groups = Map.groupBy(counted, keyOf)
      const rows = await recount(database.reads, org_id, from, to, dimension)
      assert.equal(rows.length, groups.size)
      for (const row of rows) {
        const group = groups.get(row.key) ?? []
        const having = (bit: number) => group.filter(click => click.stages & bit).length
        assert.deepEqual(
          [row.clicks, row.landed, row.started, row.registered, row.lead, row.deposit, row.ftd],
          [group.length, ...[2, 4, 8, 16, 32, 64].map(having)],
        )
        assert.equal(
          nanos(row.revenue),
          group.reduce((sum, click) => sum + nanos(click.revenue ?? '0'), 0n),
        )
        const priced = group.filter(click => click.cost_counts === true)
        assert.equal(row.unread_costs, priced.filter(({ cost }) => cost === null).length)
        assert.equal(
          nanos(row.cost),
          priced.reduce((sum, { cost }) => sum + nanos(cost ?? '0'), 0n),
        )
      }
    }
  })

  test('a recount of the costs equals an independent one in memory', async () => {
    const { database } = ground
    const org_id = randomInt(1, 2 ** 31 - 1)
    const start = Date.UTC(2026, 2, 2)
    const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)
    const seeds = fc.sample(seed, { numRuns: 300, seed: 8 })
    const clicks = await seedCountedClicks(
      database,
      org_id,
      seeds.map(({ at, ...rest }) => ({ ...rest, at: start + at })),
    )
    const spend = new Map<string, Spend>()
    for (const one of fc.sample(spendSeed, { numRuns: 40, seed: 9 }))
      spend.set(`${one.campaign_id} ${dayOf(start + one.day * DAY_MS)} ${one.sub1}`, one)
    for (const [place, { campaign_id, sub1, amount, source }] of spend)
      await database.worker.query(insertSpend, [
        org_id,
        campaign_id,
        place.split(' ')[1],
        sub1,
        amount,
        source,
        new Date(),
      ])
    const booked = new Map<string, { cell: string; day: string; origin: string; amount: string }>()
    for (const { campaign_id, day, sub1, origin, amount } of fc.sample(bookedSeed, { numRuns: 60, seed: 10 })) {
      const whole = `${campaign_id} ${dayOf(start + day * DAY_MS)}`
      booked.set(`${whole} ${sub1} ${origin}`, { cell: `${whole} ${sub1}`, day: `${whole} `, origin, amount })
      const values = [org_id, dayOf(start + day * DAY_MS), campaign_id, sub1, origin, amount]
      await database.worker.query(insertBooked, values)
    }
    const entered = new Set(spend.keys())
    const cellsOf = (kind: string) =>
      new Set([...booked.values()].flatMap(({ origin, cell }) => (origin.startsWith(kind) ? [cell] : [])))
    const [spreads, accounts] = [cellsOf('spread'), cellsOf('account')]
    const isCovered = ({ cell, day }: { cell: string; day: string }, ...by: ReadonlySet<string>[]) =>
      by.some(cells => cells.has(cell) || cells.has(day))
    const counting = [...booked.values()].filter(row =>
      row.origin.startsWith('spread') ? !isCovered(row, entered) : !isCovered(row, entered, spreads),
    )
    for (const kind of ['spread', 'account'])
      assert.ok(counting.some(({ origin }) => origin.startsWith(kind)) && counting.length < booked.size)
    const remaining = clicks.filter(click => {
      const day = `${click.campaign_id} ${dayOf(timeOfId(click.id))} `
      const place = { day, cell: `${day}${click.sub1 ?? ''}` }
      return click.tracked && click.cost_counts === true && !isCovered(place, entered, spreads, accounts)
    })
    const ofClicks = remaining.reduce((sum, { cost }) => sum + nanos(cost ?? '0'), 0n)
    assert.ok(ofClicks > 0n && remaining.length < clicks.length / 2)
    const ofSpend = [...spend.values(), ...counting].reduce((sum, { amount }) => sum + nanos(amount), 0n)
    for (const dimension of ['campaign', 'sub1', 'day'] as const) {
      const costs = await recountCosts(database.reads, org_id, start - DAY_MS, start + 30 * DAY_MS, dimension)
      assert.equal(
        costs.reduce((sum, { cost }) => sum + nanos(cost), 0n),
        ofClicks + ofSpend,
      )
    }
  })
})
