// The days and hours of a time zone equal a recount of the clicks, whatever is folded, and whatever a process of an earlier version writes
// beside a newer one. Everything here runs on a real database.
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { pino } from 'pino'
import { changeClick, type CountedClick, seedCountedClicks } from '../../../tests/support/counted-clicks.ts'
import { useDatabase } from '../../../tests/support/database.ts'
import { DAY_MS, HOUR_MS } from '../../contract/days.ts'
import { newId, toWireId } from '../../contract/ids.ts'
import { LOCAL_DIMENSIONS, type LocalDimension } from './api.ts'
import { completeSlots } from './complete-slots.ts'
import { openFolder } from './fold.ts'
import { localReport } from './local-report.ts'
import { type Recounted, recount, recountConversions } from './recount.ts'
import { SLOTS_KEPT_DAYS } from './slots.ts'

const { database } = await useDatabase()
const folder = openFolder({ database, log: pino({ level: 'silent' }) })
await folder.close()

const CAMPAIGNS = Array.from({ length: 3 }, () => newId())
const TODAY = Math.floor(Date.now() / DAY_MS) * DAY_MS
const ZONES = [
  'Europe/Kyiv',
  'America/Sao_Paulo',
  'Asia/Kolkata',
  'America/New_York',
  'Australia/Lord_Howe',
  'UTC',
  'Pacific/Kiritimati',
]

type Asked = { from: number; to: number; tz: string; campaign_id?: string | undefined; now?: number }
type Reads = Pick<typeof database.reads, 'query'>

function ask(org_id: number, dimension: LocalDimension, asked: Asked, reads: Reads = database.reads) {
  const { from, to, tz, campaign_id, now } = asked
  const query = {
    dimension,
    tz,
    date_from: new Date(from).toISOString(),
    date_to: new Date(to).toISOString(),
    ...(campaign_id !== undefined && { campaign_id: toWireId(campaign_id) }),
  }
  const context = { database: { reads }, actor: { kind: 'member', org_id } }
  return localReport(context as unknown as Parameters<typeof localReport>[0], query, dimension, now)
}

const told = ({ revenue, cost, revenue_pending, ...row }: Recounted) => ({
  ...row,
  revenue_pending: cents(revenue_pending),
  revenue: cents(revenue),
  cost_of_clicks: cents(cost),
})
const cents = (amount: string) => (Math.round(Number(amount) * 100) / 100).toFixed(2)

async function compare(org_id: number, asked: Asked, reads: Reads = database.reads): Promise<void> {
  const { from, to, tz, campaign_id } = asked
  const campaigns = campaign_id === undefined ? null : [campaign_id]
  for (const dimension of LOCAL_DIMENSIONS) {
    const recounted = await recount(reads, org_id, from, to, dimension, campaigns, tz)
    const { rows, totals } = await ask(org_id, dimension, asked, reads)
    assert.deepEqual(
      rows.map(
        ({ label: _, conversions: __, conversions_pending: ___, conversions_rejected: ____, by_type: _____, ...row }) =>
          row,
      ),
      recounted.map(told),
      `${dimension} in ${tz}`,
    )
    assert.equal(
      totals.clicks,
      recounted.reduce((sum, { clicks }) => sum + clicks, 0),
    )
  }
}

const byKey = (one: { key: string; type: string }, other: { key: string; type: string }) =>
  `${one.key} ${one.type}` < `${other.key} ${other.type}` ? -1 : 1

const DAYS = 40
const offset = fc.oneof(
  fc
    .tuple(fc.integer({ min: 0, max: DAYS * 48 }), fc.integer({ min: -2, max: 2 }))
    .map(([slot, ms]) => (slot * HOUR_MS) / 2 + ms),
  fc.integer({ min: 0, max: DAYS * DAY_MS }),
)
const stages = fc.integer({ min: 0, max: 63 }).map(bits => bits * 2 + 1)
const revenue = fc.constantFrom(null, '12.5', '0.25', '99999.75')
const seed = fc.record({
  at: offset,
  campaign_id: fc.constantFrom(null, ...CAMPAIGNS),
  stages,
  tracked: fc.boolean(),
  revenue,
  cost: fc.constantFrom(null, '0', '0.25', '10'),
  cost_counts: fc.constantFrom(null, true),
})
/** Earlier versions only add: no conversion is on hold, and none changes its status later. */
const ofBefore = <S extends { stages: number }>(one: S): S => ({ ...one, stages: one.stages & ~32 })
const writer = fc.constantFrom('of this version', 'of before', 'of this version')
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant('click' as const),
      writer,
      seeds: fc.array(seed, { minLength: 1, maxLength: 12 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant('change' as const),
      writer,
      at: fc.nat(),
      more: stages,
      earned: fc.constantFrom('0.5', '20'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('fold' as const) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('check' as const) }) },
)
const window = fc.record({
  ends: fc.tuple(offset, offset),
  tz: fc.constantFrom(...ZONES),
  campaign_id: fc.option(fc.constantFrom(...CAMPAIGNS), { nil: undefined, freq: 3 }),
})

describe('days and hours of a time zone equal a recount of the clicks', () => {
  test('for every history, by every version, and every question', async () => {
    const start = TODAY - (DAYS - 2) * DAY_MS
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 3, maxLength: 10 }),
        fc.array(window, { minLength: 1, maxLength: 3 }),
        async (steps, asked) => {
          const org_id = randomInt(1, 2 ** 31 - 1)
          const clicks: CountedClick[] = []
          for (const one of steps) {
            const how = { slots: !('writer' in one) || one.writer !== 'of before' }
            if (one.does === 'click') {
              const seeds = one.seeds.map(ofBefore).map(({ at, ...rest }) => ({ ...rest, at: start + at }))
              clicks.push(...(await seedCountedClicks(database, org_id, seeds, how)))
            } else if (one.does === 'change' && clicks.length > 0) {
              const at = one.at % clicks.length
              const click = clicks[at] as CountedClick
              // Like every version before half hours: counters are only added to.
              const grown = {
                tracked: true,
                stages: click.stages | one.more,
                revenue: String(Number(click.revenue ?? 0) + Number(one.earned)),
              }
              clicks[at] = await changeClick(database, org_id, click, grown, how)
            } else if (one.does === 'fold') await folder.foldAll()
            else if (one.does === 'check') await completeSlots(database.worker, org_id)
          }
          await checkSome(org_id)
          for (const { ends, tz, campaign_id } of asked) {
            const [from, to] = ends.toSorted((a, b) => a - b) as [number, number]
            await compare(org_id, { from: start + from, to: start + to, tz, campaign_id })
          }
          await folder.foldAll()
          await completeSlots(database.worker, org_id)
          await compare(org_id, { from: start - DAY_MS, to: start + (DAYS + 1) * DAY_MS, tz: 'Europe/Kyiv' })
        },
      ),
      { numRuns: 15, endOnFailure: true },
    )
  })

  test('at every moment while old and new processes write, sheets are folded and days completed', async () => {
    const org_id = randomInt(1, 2 ** 31 - 1)
    const start = TODAY - 2 * DAY_MS
    let [written, asked] = [0, 0]
    const isOver = () => asked >= 12 && written >= 40
    const write = async (isOfBefore: boolean) => {
      for (let at = 0; !isOver(); at += 1) {
        const seeds = [
          { at: start + ((at * 3_100_007) % (2 * DAY_MS)), campaign_id: CAMPAIGNS[at % 3] as string, revenue: '0.25' },
        ]
        if (isOfBefore) await seedAsOfBefore(org_id, seeds)
        else await seedCountedClicks(database, org_id, seeds)
        written += 1
      }
    }
    const fold = async () => {
      while (!isOver()) await folder.foldAll()
    }
    const complete = async () => {
      while (!isOver()) await completeSlots(database.worker, org_id)
    }
    const read = async () => {
      const client = await database.reads.connect()
      for (; !isOver(); asked += 1) {
        await client.query('begin isolation level repeatable read')
        await compare(org_id, { from: start - HOUR_MS, to: start + 3 * DAY_MS - 700_000, tz: 'Asia/Kolkata' }, client)
        await client.query('commit')
      }
      client.release()
    }
    await Promise.all([read(), write(true), write(false), fold(), complete(), complete()])
    await folder.foldAll()
    await completeSlots(database.worker, org_id)
    const { rows } = await database.worker.query(
      'select dimension, sum(clicks)::int as clicks, sum(revenue)::float as revenue from report_slot where org_id = $1 group by 1 order by 1',
      [org_id],
    )
    const all = { clicks: written, revenue: written / 4 }
    assert.deepEqual(rows, [
      { dimension: 1, ...all },
      { dimension: 11, ...all },
    ])
  })
})

describe('a day of a time zone', () => {
  const NOW = Date.UTC(2026, 9, 28, 9)
  const whole = { from: Date.UTC(2026, 9, 23, 21), to: Date.UTC(2026, 9, 26, 22) - 1, tz: 'Europe/Kyiv', now: NOW }
  const at = (iso: string) => ({ at: Date.parse(`2026-10-${iso}Z`), campaign_id: CAMPAIGNS[0] as string })
  const days = async (org_id: number, asked: Asked) =>
    (await ask(org_id, 'local_day', asked)).rows.map(({ key, clicks }) => [key, clicks])

  test('begins at its own midnight, and has 25 hours where clocks go back', async () => {
    const org_id = randomInt(1, 2 ** 31 - 1)
    const hours = Array.from({ length: 25 }, (_, hour) => ({ at: Date.UTC(2026, 9, 24, 21 + hour) }))
    await seedCountedClicks(database, org_id, [
      at('24T20:59:00'),
      at('24T21:01:00'),
      ...hours,
      at('25T22:00:00'),
      at('25T21:59:59.999'),
    ])
    const expected = [
      ['2026-10-24', 1],
      ['2026-10-25', 27],
      ['2026-10-26', 1],
    ]
    assert.deepEqual(await days(org_id, whole), expected)
    await folder.foldAll()
    assert.deepEqual(await days(org_id, whole), expected)
    const byHour = await ask(org_id, 'local_hour', {
      ...whole,
      from: Date.UTC(2026, 9, 24, 21),
      to: Date.UTC(2026, 9, 25, 22) - 1,
    })
    // The hour from three to four occurs twice.
    const expectedHours = Array.from({ length: 24 }, (_, hour) => (hour === 3 ? 2 : 1))
    expectedHours[0] = 2
    expectedHours[23] = 2
    assert.deepEqual(
      byHour.rows.map(({ clicks }) => clicks),
      expectedHours,
    )
    const week = await ask(org_id, 'local_weekday_hour', whole)
    assert.deepEqual(
      week.rows
        .filter(({ key }) => key.endsWith('-03') || !key.startsWith('7'))
        .map(({ key, label, clicks }) => [key, label, clicks]),
      [
        ['1-00', 'Monday 00:00', 1],
        ['6-23', 'Saturday 23:00', 1],
        ['7-03', 'Sunday 03:00', 2],
      ],
    )
  })

  test('is offset by half an hour in Kolkata, and the zone only decides where days begin', async () => {
    const org_id = randomInt(1, 2 ** 31 - 1)
    await seedCountedClicks(database, org_id, [at('24T18:29:59.999'), at('24T18:30:00'), at('25T18:29:00')])
    assert.deepEqual(await days(org_id, { ...whole, tz: 'Asia/Kolkata' }), [
      ['2026-10-24', 1],
      ['2026-10-25', 2],
    ])
    for (const tz of ZONES) assert.equal((await ask(org_id, 'local_day', { ...whole, tz })).totals.clicks, 3)
    // The bounds of the window cut half hours.
    const cut = { ...whole, from: Date.UTC(2026, 9, 24, 18, 30), to: Date.UTC(2026, 9, 25, 18, 28, 59, 999) }
    assert.deepEqual(await days(org_id, { ...cut, tz: 'Asia/Kolkata' }), [['2026-10-25', 1]])
  })

  test('has the conversions of its clicks, by type and status, and those of the goal', async () => {
    const org_id = randomInt(1, 2 ** 31 - 1)
    const clicks = await seedCountedClicks(database, org_id, [at('24T20:59:00'), at('24T21:01:00'), at('26T23:30:00')])
    const told = clicks.flatMap(({ id, campaign_id }) =>
      ['lead', 'ftd', 'custom_3'].map((type, nth) => ({
        id: newId(),
        click_id: id,
        campaign_id,
        type,
        test: nth === 2,
      })),
    )
    await database.worker.query(
      `insert into events (created_at, payout_is_explicit, person_id, source, id, click_id, campaign_id, type, test, org_id)
      select now(), false, $3::uuid, 'api', t.*, $2::int from json_to_recordset($1) as t(id uuid, click_id uuid, campaign_id uuid, type text, test boolean)`,
      [JSON.stringify(told), org_id, newId()],
    )
    // The lead of the first click is charged back, that of the second is on hold.
    await database.worker.query(
      `insert into event_revisions (org_id, event_id, seq, status, amount, source, created_at)
      values ($1, $2, 1, 'pending', 0, 'dashboard', now()), ($1, $2, 2, 'chargeback', 0, 'dashboard', now()), ($1, $3, 1, 'pending', 0, 'dashboard', now())`,
      [org_id, told[0]?.id, told[3]?.id],
    )
    for (const dimension of LOCAL_DIMENSIONS) {
      const { rows, totals } = await ask(org_id, dimension, { ...whole, campaign_id: CAMPAIGNS[0] })
      // Conversions of test clicks are left out, as in the recount.
      const recounted = await recountConversions(
        database.reads,
        org_id,
        whole.from,
        whole.to,
        dimension,
        null,
        whole.tz,
      )
      const counted = recounted.filter(({ type }) => type !== 'custom_3')
      assert.deepEqual(
        rows
          .flatMap(({ key, by_type }) => Object.entries(by_type).map(([type, counts]) => ({ key, type, ...counts })))
          .toSorted(byKey),
        counted.toSorted(byKey),
      )
      const { by_type, conversions, conversions_pending, conversions_rejected } = totals
      assert.deepEqual(by_type, {
        ftd: { approved: 2, pending: 0, rejected: 0 },
        lead: { approved: 0, pending: 1, rejected: 1 },
      })
      // Both types are in the default goal.
      assert.deepEqual([conversions, conversions_pending, conversions_rejected], [2, 1, 1])
    }
  })

  test('is counted from its clicks where it has no half hours, up to some days, until it is completed', async () => {
    const org_id = randomInt(1, 2 ** 31 - 1)
    await seedAsOfBefore(org_id, [at('24T20:59:00'), at('25T21:01:00'), at('26T08:00:00')])
    const expected = [
      ['2026-10-24', 1],
      ['2026-10-25', 1],
      ['2026-10-26', 1],
    ]
    assert.deepEqual(await days(org_id, whole), expected)
    await seedAsOfBefore(org_id, [at('23T21:00:00')])
    await assert.rejects(days(org_id, whole), { refusal: 'slots_incomplete', status: 503 })
    await completeSlots(database.worker, org_id, NOW)
    assert.deepEqual(await days(org_id, whole), [['2026-10-24', 2], ...expected.slice(1)])
  })

  test('is deleted after a hundred days, and then refused', async () => {
    const org_id = randomInt(1, 2 ** 31 - 1)
    await seedCountedClicks(database, org_id, [at('24T20:59:00'), at('26T08:00:00')])
    await folder.foldAll()
    const later = Date.UTC(2026, 9, 26) + SLOTS_KEPT_DAYS * DAY_MS
    await completeSlots(database.worker, org_id, later)
    const { rows } = await database.worker.query('select distinct day::text from report_slot where org_id = $1', [
      org_id,
    ])
    assert.deepEqual(rows, [{ day: '2026-10-26' }])
    const asked = { ...whole, now: later }
    await assert.rejects(days(org_id, asked), {
      refusal: 'invalid_window',
      message: /kept for 100 days, .* from 2026-10-26 on/,
    })
    assert.deepEqual(await days(org_id, { ...asked, from: Date.UTC(2026, 9, 26) }), [['2026-10-26', 1]])
  })
})

/** Stores clicks like a process of the previous version, without half hours. */
function seedAsOfBefore(org_id: number, seeds: Parameters<typeof seedCountedClicks>[2]) {
  return seedCountedClicks(database, org_id, seeds, { slots: false })
}

/** Completes half hours first where a report would have to count too many days from clicks. */
async function checkSome(org_id: number): Promise<void> {
  try {
    await ask(org_id, 'local_day', { from: TODAY - 60 * DAY_MS, to: TODAY + 5 * DAY_MS, tz: 'UTC' })
  } catch (error) {
    assert.equal((error as { refusal?: string }).refusal, 'slots_incomplete')
    await completeSlots(database.worker, org_id)
  }
}
