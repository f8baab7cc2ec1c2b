// Conversions by type: whatever is recorded, by whichever version of Sluice, and however much of it is counted, the report says what a recount
// of the events says.
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { seedCountedClicks } from '../../../tests/support/counted-clicks.ts'
import { useDatabase } from '../../../tests/support/database.ts'
import { DAY_MS } from '../../contract/days.ts'
import { newId, toWireId } from '../../contract/ids.ts'
import { USUAL_GOAL } from '../../traffic/event-settings/api.ts'
import type { Goals } from '../../traffic/event-settings/goals.ts'
import { type Converted, DIMENSIONS, type ReportDimension } from './api.ts'
import { foldEvents } from './fold-events.ts'
import { type RecountedConversions, recountConversions } from './recount.ts'
import { readReportAsMember } from './report.ts'

const { database } = await useDatabase()

const CAMPAIGNS = Array.from({ length: 4 }, () => newId())
const OFFERS = Array.from({ length: 3 }, () => newId())
const TYPES = ['lead', 'ftd', 'purchase', 'subscription_renewed', 'custom_3'] as const
const DAYS = 24
const START = Date.UTC(2026, 1, 26)

const anyone = () => randomInt(1, 2 ** 31 - 1)

type SeededEvent = {
  at: number
  campaign: number
  offer: number
  geo: string
  sub1: string
  type: string
  test: boolean
}

/** Clicks, each with an event as a process of any version writes it. */
async function record(org_id: number, events: readonly SeededEvent[]) {
  const clicks = await seedCountedClicks(
    database,
    org_id,
    events.map(({ at, campaign, offer, geo, sub1, test }) => ({
      at: START + at,
      campaign_id: CAMPAIGNS[campaign] ?? null,
      offer_id: OFFERS[offer] ?? null,
      geo,
      sub1,
      tracked: !test,
    })),
  )
  const rows = clicks.map(({ id, campaign_id, offer_id }, at) => {
    const { type = '', test = false } = events[at] ?? {}
    return { id: newId(), click_id: id, campaign_id, offer_id, type, test }
  })
  await database.worker.query(
    `insert into events (created_at, payout_is_explicit, person_id, source, id, click_id, campaign_id, offer_id, type, test, org_id)
    select now(), false, $3::uuid, 'api', t.*, $2::int
    from json_to_recordset($1) as t(id uuid, click_id uuid, campaign_id uuid, offer_id uuid, type text, test boolean)`,
    [JSON.stringify(rows), org_id, newId()],
  )
}

/** Adds a revision to each of `count` events, whatever their status. */
async function judge(org_id: number, verdicts: readonly { nth: number; status: string }[]) {
  for (const { nth, status } of verdicts)
    await database.worker.query(
      `insert into event_revisions (org_id, event_id, seq, status, amount, source, created_at)
      select $1::int, id, coalesce((select max(seq) from event_revisions r where r.org_id = $1 and r.event_id = e.id), 0) + 1, $3, 0, 'dashboard', now()
      from events e where org_id = $1 order by id offset $2 limit 1`,
      [org_id, nth, status],
    )
}

async function setGoals(org_id: number, { goal, own }: Goals) {
  const { worker } = database
  await worker.query('delete from event_settings where org_id = $1', [org_id])
  await worker.query('delete from campaigns where org_id = $1', [org_id])
  await worker.query(
    `insert into event_settings (org_id, names, goal, updated_by, updated_at) values ($1, '{}', $2, $3, now())`,
    [org_id, goal, newId()],
  )
  for (const one of own)
    await worker.query(
      `insert into campaigns (org_id, id, name, key, destination, source, strict_filter, goal, created_at, updated_at)
      values ($1, $2, 'C', $3, '{}', '{}', false, $4, now(), now())`,
      [org_id, one.id, newId(), one.goal],
    )
}

type Asked = { from: number; to: number; campaign_id: string | undefined }

async function ask(
  org_id: number,
  dimension: ReportDimension,
  { from, to, campaign_id }: Asked,
  reads: typeof database.reads,
) {
  const context = { database: { reads }, actor: { kind: 'member', org_id } }
  const query = {
    dimension,
    date_from: new Date(from).toISOString(),
    date_to: new Date(to).toISOString(),
    ...(campaign_id !== undefined && { campaign_id: toWireId(campaign_id) }),
  }
  return readReportAsMember(context as unknown as Parameters<typeof readReportAsMember>[0], {
    query,
    params: {},
    body: undefined,
  })
}

const wire = (dimension: ReportDimension, key: string) =>
  key !== '' && (dimension === 'campaign' || dimension === 'offer') ? toWireId(key) : key

type Counts = { approved: number; pending: number; rejected: number }
const NONE: Counts = { approved: 0, pending: 0, rejected: 0 }
const plus = (one: Counts, more: Counts): Counts => ({
  approved: one.approved + more.approved,
  pending: one.pending + more.pending,
  rejected: one.rejected + more.rejected,
})

const sumOf = (rows: readonly RecountedConversions[]): Record<string, Counts> => {
  const sums: Record<string, Counts> = {}
  for (const { type, ...counts } of rows) sums[type] = plus(sums[type] ?? NONE, counts)
  return sums
}

const ofGoal = ({ conversions, conversions_pending, conversions_rejected }: Converted): Counts => ({
  approved: conversions,
  pending: conversions_pending,
  rejected: conversions_rejected,
})

/** How many of these are their campaign's goal, counted one campaign at a time. */
async function goalOf(
  org_id: number,
  dimension: ReportDimension,
  asked: Asked,
  goals: Goals,
  key?: string,
): Promise<Counts> {
  let sum = NONE
  for (const id of asked.campaign_id === undefined ? CAMPAIGNS : [asked.campaign_id]) {
    const goal = goals.own.find(one => one.id === id)?.goal ?? goals.goal
    const rows = await recountConversions(database.reads, org_id, asked.from, asked.to, dimension, [id])
    for (const row of rows) if ((key === undefined || row.key === key) && goal.includes(row.type)) sum = plus(sum, row)
  }
  return sum
}

async function compare(org_id: number, asked: Asked, goals: Goals) {
  const campaigns = asked.campaign_id === undefined ? null : [asked.campaign_id]
  for (const dimension of DIMENSIONS) {
    const recounted = await recountConversions(database.reads, org_id, asked.from, asked.to, dimension, campaigns)
    const report = await ask(org_id, dimension, asked, database.reads)
    const byKey = Map.groupBy(recounted, row => wire(dimension, row.key))
    for (const row of report.rows) {
      const own = byKey.get(row.key) ?? []
      assert.deepEqual(row.by_type, sumOf(own), `${dimension} ${row.key}`)
      byKey.delete(row.key)
      assert.deepEqual(
        ofGoal(row),
        await goalOf(org_id, dimension, asked, goals, own[0]?.key ?? '-'),
        `${dimension} ${row.key}`,
      )
    }
    assert.deepEqual([...byKey.keys()], [], 'no conversion is without a row')
    assert.deepEqual(report.totals.by_type, sumOf(recounted))
    assert.deepEqual(ofGoal(report.totals), await goalOf(org_id, dimension, asked, goals))
  }
}

const offset = fc.oneof(
  fc.tuple(fc.integer({ min: 0, max: DAYS }), fc.integer({ min: -2, max: 2 })).map(([day, ms]) => day * DAY_MS + ms),
  fc.integer({ min: 0, max: DAYS * DAY_MS }),
)
const event = fc.record({
  at: offset,
  campaign: fc.nat({ max: CAMPAIGNS.length - 1 }),
  offer: fc.nat({ max: OFFERS.length }),
  geo: fc.constantFrom('DE', 'US', ''),
  sub1: fc.constantFrom('a', 'A', ''),
  type: fc.constantFrom(...TYPES),
  test: fc.boolean(),
})
const goal = fc.subarray([...TYPES], { minLength: 1 })
const step = fc.oneof(
  fc.record({ does: fc.constant('record' as const), events: fc.array(event, { minLength: 1, maxLength: 12 }) }),
  fc.record({ does: fc.constant('fold' as const) }),
  fc.record({
    does: fc.constant('judge' as const),
    verdicts: fc.array(
      fc.record({
        nth: fc.nat({ max: 20 }),
        status: fc.constantFrom('approved', 'pending', 'rejected', 'refunded', 'chargeback'),
      }),
      { maxLength: 6 },
    ),
  }),
  fc.record({
    does: fc.constant('goals' as const),
    goal,
    own: fc.uniqueArray(fc.record({ id: fc.constantFrom(...CAMPAIGNS), goal }), {
      selector: ({ id }) => id,
      maxLength: 3,
    }),
  }),
  fc.record({
    does: fc.constant('ask' as const),
    ends: fc.tuple(offset, offset),
    campaign_id: fc.option(fc.constantFrom(...CAMPAIGNS), { nil: undefined, freq: 3 }),
  }),
)

test('a report counts the same conversions as a recount, by type, status and each campaign’s goal', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 10 }), async steps => {
      const org_id = anyone()
      let goals: Goals = { goal: USUAL_GOAL, own: [] }
      for (const one of steps) {
        if (one.does === 'record') await record(org_id, one.events)
        else if (one.does === 'fold') await foldEvents(database.worker)
        else if (one.does === 'judge') await judge(org_id, one.verdicts)
        else if (one.does === 'goals') await setGoals(org_id, (goals = one))
        else {
          const [from, to] = one.ends.toSorted((a, b) => a - b) as [number, number]
          await compare(org_id, { from: START + from, to: START + to, campaign_id: one.campaign_id }, goals)
        }
      }
      await compare(org_id, { from: START - 5, to: START + (DAYS + 2) * DAY_MS, campaign_id: undefined }, goals)
    }),
    { numRuns: 15 },
  )
})

test('concurrent counting counts each conversion once, while reports are read and more are recorded', async () => {
  const org_id = anyone()
  const batch = (at: number): SeededEvent[] =>
    Array.from({ length: 40 }, (_, of) => ({
      at: at * 3_600_007 + of,
      campaign: of % 4,
      offer: of % 3,
      geo: 'DE',
      sub1: 'a',
      type: TYPES[of % TYPES.length] ?? 'lead',
      test: false,
    }))
  let isRecording = true
  const fold = async () => {
    while (isRecording) await foldEvents(database.worker)
  }
  const asked = { from: START, to: START + DAYS * DAY_MS, campaign_id: undefined }
  let reports = 0
  const read = async () => {
    const client = await database.reads.connect()
    const reads = client as unknown as typeof database.reads
    while (isRecording) {
      await client.query('begin isolation level repeatable read')
      const recounted = await recountConversions(reads, org_id, asked.from, asked.to, 'campaign')
      const { totals } = await ask(org_id, 'campaign', asked, reads)
      await client.query('commit')
      assert.deepEqual(totals.by_type, sumOf(recounted))
      reports += 1
    }
    client.release()
  }
  const write = async () => {
    for (let at = 0; at < 20 || reports < 5; at += 1) {
      await record(org_id, batch(at))
      const said = (status: string) => ({ nth: randomInt(40), status })
      await judge(org_id, [said('pending'), said('rejected'), said('approved')])
    }
    isRecording = false
  }
  await Promise.all([fold(), fold(), fold(), read(), write()])
  await foldEvents(database.worker)
  const { rows } = await database.reads.query(
    `select (select row(sum(events), sum(pending), sum(rejected))::text from event_counts where org_id = $1 and dimension = 1) as kept,
      (select row(count(*), count(*) filter (where status = 'pending'), count(*) filter (where status = 'rejected'))::text
        from events e left join lateral (
          select status from event_revisions where org_id = $1 and event_id = e.id order by seq desc limit 1) r on true
        where e.org_id = $1) as recorded`,
    [org_id],
  )
  assert.equal(rows[0]?.kept, rows[0]?.recorded)
})

test('a conversion whose click is no longer kept counts in its campaign, and as (none) where the click would be needed', async () => {
  const org_id = anyone()
  await record(org_id, [{ at: 0, campaign: 1, offer: 1, geo: 'DE', sub1: 'a', type: 'purchase', test: false }])
  await database.worker.query('delete from clicks where org_id = $1', [org_id])
  await foldEvents(database.worker)
  const { rows } = await database.reads.query<{ unit: number; key: string }>(
    `select dimension as unit, key from event_counts where org_id = $1 and dimension < 10 order by 1`,
    [org_id],
  )
  assert.deepEqual(
    rows.map(({ unit, key }) => [unit, key]),
    [
      [1, ''],
      [2, ''],
      [3, ''],
      [4, OFFERS[1]],
    ],
  )
})
