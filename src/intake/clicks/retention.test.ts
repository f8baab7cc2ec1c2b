// Months of clicks are dropped and their counts stay: through the gate, before and after, on one database whose months are dropped once.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '../../../tests/support/eventually.ts'
import { newId, openTestHouse, seedKey, startHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import {
  readClick,
  seedBot,
  seedPlainCampaign,
  seedClick,
  seedClicks,
  seedRule,
  tally,
} from '../../../tests/support/intake.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { type Receiver, startReceiver } from '../../../tests/support/receiver.ts'
import { aClick } from '../../../tests/support/visits.ts'
import { DAY_MS } from '../../contract/days.ts'
import { firstIdAt } from '../../contract/ids.ts'
import { reconcile } from '../../reading/audit/audit.ts'
import type { Report } from '../../reading/reports/api.ts'
import { recount } from '../../reading/reports/recount.ts'
import { sealAll } from '../../reading/segments/seal.ts'
import type { Trace } from '../../reading/traces/api.ts'
import { ensurePartitions } from '../../ground/db/partitions.ts'
import { dropOldClicks } from './retention.ts'
import { storeAbsentClicks } from './store.ts'

const KEPT_MONTHS = 2
const today = new Date()
/** Noon in the middle of the month `months` ago. */
const middleOf = (ago: number) => Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - ago, 15, 12)
const beginningOf = (ago: number) => Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - ago, 1)
const OLD = middleOf(5)
/** So long ago that no partition was created for it. */
const STRAY = middleOf(9)

let house: TestHouse
let receiver: Receiver
let owner: SignedIn
let key: string
let campaign_id: string
const clicks: Record<'old' | 'converted' | 'started' | 'waiting' | 'suppressed' | 'lately', string> =
  Object.create(null)
let firstAnswer: { status: number; body: string }
let reportBefore: Report
before(async () => {
  receiver = await startReceiver()
  // Without a worker, so that deliveries wait until their click is dropped.
  house = await startHouse({ ROLE: 'serve' }, { quotas: { report: 10_000, clicks: 10_000 } })
  owner = await seedSignedIn(house)
  key = (await seedKey(house.database, owner, { rights: ['events', 'clicks', 'report'] })).secret
  const { database } = house
  await ensurePartitions(database.schema, 'clicks', middleOf(5), middleOf(1))
  campaign_id = await seedPlainCampaign(database, owner.org_id)
  await seedBot(database, owner.org_id, 'acme_bot')
  await seedClicks(database, owner.org_id, 20, at => ({ campaign_id, at: OLD + at * 3_600_000, sub1: `s${at % 3}` }))
  for (const name of ['old', 'converted', 'started', 'waiting', 'suppressed'] as const)
    clicks[name] = await seedClick(database, owner.org_id, { campaign_id, at: OLD, sub1: 'kept-until-then' })
  await seedClick(database, owner.org_id, { campaign_id, at: STRAY })
  clicks.lately = await seedClick(database, owner.org_id, { campaign_id, at: middleOf(1) })
  await seedClicks(database, owner.org_id, 5, { campaign_id })
})
after(async () => {
  await house.end()
  await receiver.close()
})

const send = (clickId: string, body: object = {}) =>
  house.call('POST', '/api/events', { key, body: { clickId: toWireId(clickId), type: 'lead', ...body } })
const report = async (query: string) => {
  const reply = await house.call('GET', `/api/v1/report?${query}`, { key })
  return Object.assign(reply, { report: () => reply.json<Report>() })
}
const iso = (ms: number) => new Date(ms).toISOString()
const wholeMonth = (dimension: string) =>
  `dimension=${dimension}&date_from=${iso(beginningOf(5))}&date_to=${iso(beginningOf(4) - 1)}`
/** The time when the tests began, because the month may end meanwhile. */
const drop = async (months = KEPT_MONTHS, options = {}) => {
  await sealAll(house.database.worker, house.ground.secrets)
  return dropOldClicks(house.ground, months, { this_ms: today.getTime(), ...options })
}
const monthsThere = async () => {
  const { rows } = await house.database.reads.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'clicks'::regclass order by 1`,
  )
  return rows.map(({ name }) => name)
}
const nameOf = (ms: number) => `clicks_${iso(ms).slice(0, 7).replace('-', '_')}`

test('before: conversions of months past are recorded, charged and put out', async () => {
  const { database } = house
  const answer = await send(clicks.converted, { payout: '7', nonce: 'n1', payload: { telegram_user_id: 1 } })
  assert.equal(answer.statusCode, 201, answer.body)
  firstAnswer = { status: answer.statusCode, body: answer.body }
  const start = { type: 'bot_start', payload: { telegram_user_id: 2, bot_username: 'acme_bot' } }
  assert.equal((await send(clicks.started, start)).statusCode, 201)
  await database.worker.query('update clicks set suppressed_delivery = true where org_id = $1 and id = $2', [
    owner.org_id,
    clicks.suppressed,
  ])
  for (const macro of ['{sub1}', '%7BSUB1%7D'])
    await seedRule(database, owner.org_id, { event_type: 'custom_1', url: `${receiver.origin}/told?s=${macro}` })
  await seedRule(database, owner.org_id, { event_type: 'custom_1', url: `${receiver.origin}/named?c={click_id}` })
  for (const name of ['waiting', 'suppressed'] as const)
    assert.equal((await send(clicks[name], { type: 'custom_1' })).statusCode, 201)
  await seedRule(database, owner.org_id, { event_type: 'custom_2', url: `${receiver.origin}/x` })
  assert.deepEqual((await reconcile(database.worker, owner.org_id)).findings, [])
  reportBefore = (await report(wholeMonth('sub1'))).report()
  assert.equal(reportBefore.totals.clicks, 25)
  assert.equal(reportBefore.totals.revenue, '7.00')
})

test('a month whose click a conversion has read goes only after that conversion', async () => {
  const reading = await house.database.worker.connect()
  await reading.query('begin')
  await reading.query('set local idle_in_transaction_session_timeout = 0')
  await reading.query('select 1 from clicks where org_id = $1 and id = $2', [owner.org_id, clicks.old])
  assert.ok(!(await drop()).includes(nameOf(OLD)))
  assert.ok((await monthsThere()).includes(nameOf(OLD)))
  assert.ok((await readClick(house.database, owner.org_id, clicks.old)) !== undefined)
  // Marked as dropped, but still there: its conversions are recorded and counted, and the audit is exact.
  assert.equal((await send(clicks.old, { payout: '1' })).statusCode, 201)
  await reading.query('commit')
  reading.release()
  assert.deepEqual((await reconcile(house.database.worker, owner.org_id)).findings, [])
  reportBefore = (await report(wholeMonth('sub1'))).report()
  assert.equal(reportBefore.totals.revenue, '8.00')
})

test('a month of which something waits to be sealed stays until that is sealed', async () => {
  const { rows } = await house.database.reads.query('select id from click_sheet where org_id = $1', [owner.org_id])
  assert.ok(rows.length > 0, 'something waits')
  assert.deepEqual(await dropOldClicks(house.ground, KEPT_MONTHS, { this_ms: today.getTime() }), [])
  assert.ok((await monthsThere()).includes(nameOf(OLD)))
})

test('whole months go, those kept stay, and clicks that lie in no month go too', async () => {
  await drop()
  const there = await monthsThere()
  for (const ago of [5, 4]) assert.ok(!there.includes(nameOf(middleOf(ago))), `month ${ago} has gone`)
  for (const ago of [1, 0]) assert.ok(there.includes(nameOf(middleOf(ago))), `month ${ago} is there`)
  const { rows } = await house.database.reads.query<{ count: number }>('select count(*)::int as count from clicks')
  assert.equal(rows[0]?.count, 6)
  assert.deepEqual(await drop(), [])
})

test('no clock of one process that is ahead drops more', async () => {
  assert.deepEqual(await drop(KEPT_MONTHS, { this_ms: Date.now() + 4000 * DAY_MS }), [])
  assert.ok((await readClick(house.database, owner.org_id, clicks.lately)) !== undefined)
})

test('the report counts whole days as before, also of months that have gone', async () => {
  assert.deepEqual((await report(wholeMonth('sub1'))).report(), reportBefore)
  const byDay = (await report(wholeMonth('day'))).report()
  assert.deepEqual([byDay.totals.clicks, byDay.totals.revenue], [25, '8.00'])
})

test('a window that cuts a day whose clicks are gone is refused; one that nearly ends with a day is counted to its end', async () => {
  const day = iso(OLD).slice(0, 10)
  const cut = await report(`dimension=day&date_from=${day}T06:00:00Z&date_to=${day}T23:59:59.999Z`)
  assert.deepEqual([cut.statusCode, cut.data()['code']], [400, 'invalid_window'])
  assert.match(String(cut.data()['error']), new RegExp(`the clicks of ${day} are no longer kept`))
  const whole = (await report(`dimension=day&date_from=${day}&date_to=${day}T23:59:59.999Z`)).report()
  assert.ok(whole.totals.clicks > 0)
  const next = iso(Date.parse(day) + DAY_MS).slice(0, 10)
  for (const to of [`${day}T23:59:59Z`, `${day}T23:59`, next]) {
    // A date alone at the end of a window causes a warning: it means that day's midnight.
    const { warnings, ...near } = (await report(`dimension=day&date_from=${day}&date_to=${to}`)).report()
    assert.deepEqual(near, whole, to)
    assert.equal(warnings?.length, to === next ? 1 : undefined, to)
  }
  const moment = (await report(`dimension=day&date_from=${day}&date_to=${day}`)).report()
  assert.deepEqual([moment.rows, moment.totals.clicks], [[], 0])
  // From a dropped month into one that is kept: only the kept end may be a partial day.
  const into = `dimension=campaign&date_from=${iso(beginningOf(3))}&date_to=${iso(middleOf(1) + 1)}`
  assert.equal((await report(into)).report().totals.clicks, 1)
})

test('the books hold, and the months that are kept are counted again', async () => {
  const { figures, findings, clicks_from } = await reconcile(house.database.worker, owner.org_id)
  assert.deepEqual(findings, [])
  assert.deepEqual(
    figures.filter(({ kept, counted }) => kept !== counted),
    [],
  )
  assert.equal(figures.find(({ name }) => name === 'Clicks')?.counted, '6')
  assert.equal(clicks_from, iso(beginningOf(KEPT_MONTHS)).slice(0, 10))
  const answer = await house.call('GET', '/api/billing/reconciliation', owner)
  assert.deepEqual([answer.data()['holds'], answer.data()['clicks_from']], [true, clicks_from])
  const [from, to] = [beginningOf(1), Date.now()]
  const counted = await recount(house.database.worker, owner.org_id, from, to, 'campaign')
  const told = (await report(`dimension=campaign&date_from=${iso(from)}&date_to=${iso(to)}`)).report()
  assert.deepEqual([counted[0]?.clicks, told.totals.clicks], [6, 6])
})

test('what is harmed in a month that is kept is still found', async () => {
  const harmed = await seedSignedIn(house)
  await seedClick(house.database, harmed.org_id)
  await house.database.worker.query('delete from clicks where org_id = $1', [harmed.org_id])
  const { findings } = await reconcile(house.database.worker, harmed.org_id)
  assert.deepEqual(
    findings.map(({ check }) => check),
    ['the report counts what the clicks are', 'half hours that add up to their day count what the clicks are'],
  )
})

test('the feed ends where the clicks do, without an error', async () => {
  const pages: string[][] = []
  for (let cursor = ''; ; ) {
    const window = `date_from=${iso(Date.now() - 91 * DAY_MS)}&date_to=${iso(Date.now())}`
    const page = await house.call('GET', `/api/v1/clicks?limit=2&${window}${cursor}`, { key })
    assert.equal(page.statusCode, 200, page.body)
    const { data, next_cursor } = page.json<{ data: { id: string }[]; next_cursor: string | null }>()
    pages.push(data.map(({ id }) => id))
    if (next_cursor === null) break
    cursor = `&cursor=${encodeURIComponent(next_cursor)}`
  }
  assert.deepEqual([pages.flat().length, pages.flat().at(-1)], [6, toWireId(clicks.lately)])
  const window = `date_from=${iso(beginningOf(5))}&date_to=${iso(beginningOf(4))}`
  const gone = await house.call('GET', `/api/v1/clicks?${window}`, { key })
  assert.deepEqual([gone.statusCode, gone.data()], [200, { data: [], next_cursor: null }])
  const seen = await house.call('GET', `/api/clicks?${window}`, owner)
  const clicks_from = iso(beginningOf(KEPT_MONTHS)).slice(0, 10)
  assert.deepEqual(seen.data(), { data: [], next_cursor: null, campaigns: [], clicks_from })
})

test('a conversion recorded before is answered as ever; a new one of a click that has gone is refused like that of any unknown click', async () => {
  const was = await tally(house.database, owner.org_id)
  const again = await send(clicks.converted, { payout: '7', nonce: 'n1', payload: { telegram_user_id: 1 } })
  assert.deepEqual([again.statusCode, again.body], [firstAnswer.status, firstAnswer.body])
  assert.equal(again.headers['idempotent-replayed'], 'true')
  const [gone, unknown] = [await send(clicks.converted, { nonce: 'n2' }), await send(newId())]
  assert.deepEqual([gone.statusCode, gone.body], [403, unknown.body])
  assert.deepEqual(Object.keys(gone.data()), ['error'])
  assert.deepEqual(await tally(house.database, owner.org_id), was)
})

test('nobody who was charged on a click that has gone is charged again, and a start stays one event', async () => {
  const was = await tally(house.database, owner.org_id)
  const click = await seedClick(house.database, owner.org_id, { campaign_id })
  assert.equal((await send(click, { payload: { telegram_user_id: 1 } })).statusCode, 201)
  const start = { type: 'bot_start', payout: '5', payload: { telegram_user_id: 2, bot_username: 'acme_bot' } }
  const merged = await send(click, start)
  assert.equal(merged.statusCode, 201, merged.body)
  assert.deepEqual([merged.data()['click_id'], merged.data()['payout']], [toWireId(clicks.started), '5'])
  const is = await tally(house.database, owner.org_id)
  assert.deepEqual([is.events - was.events, is.charges - was.charges, is.balance], [1, 0, was.balance])
  assert.deepEqual((await reconcile(house.database.worker, owner.org_id)).findings, [])
})

test('a click of the journal whose month was given up is neither stored nor counted, one of a month that is kept is', async () => {
  const { clickKey } = house.ground.secrets
  const place = await seedSignedIn(house)
  const [gone, kept] = [OLD, middleOf(1)].map(ms => ({ ...aClick(clickKey, place.org_id), id: newId(ms) }))
  assert.ok(gone !== undefined && kept !== undefined)
  for (let times = 0; times < 2; times += 1) await storeAbsentClicks(house.database.clicks, place.org_id, [gone, kept])
  assert.equal(await readClick(house.database, place.org_id, gone.id), undefined)
  assert.ok((await readClick(house.database, place.org_id, kept.id)) !== undefined)
  const { figures, findings } = await reconcile(house.database.worker, place.org_id)
  assert.deepEqual([findings, figures.find(({ name }) => name === 'Clicks')?.kept], [[], '1'])
})

test('a waiting postback that tells of the click, however its macros are written, is skipped, one that only names it is called', async () => {
  const ended = async () => {
    const { rows } = await house.database.reads.query<{ state: string; reason: string | null }>(
      `select state, reason from deliveries where org_id = $1 and click_id = $2 order by state`,
      [owner.org_id, clicks.waiting],
    )
    return rows
  }
  const worker = await openTestHouse(house.database, { ROLE: 'work' })
  try {
    await eventually('all deliveries ended', async () =>
      (await ended()).every(({ state }) => state === 'delivered' || state === 'skipped'),
    )
  } finally {
    await worker.end()
  }
  const skipped = { state: 'skipped', reason: 'the click has been deleted, and the address has macros of the click' }
  assert.deepEqual(await ended(), [{ state: 'delivered', reason: null }, skipped, skipped])
  assert.deepEqual(
    receiver.arrivals.map(({ url }) => url),
    [`/named?c=${toWireId(clicks.waiting)}`],
  )
})

test('a rule that runs over the past leaves out what nobody can tell any more', async () => {
  const body = { event_type: 'custom_1', url: `${receiver.origin}/late?c={click_id}`, method: 'GET' }
  const rule = await house.call('POST', '/api/postbacks', { ...owner, body })
  const plan = await house.call('POST', `/api/postbacks/${String(rule.data()['id'])}/backfill`, { ...owner, body: {} })
  assert.deepEqual([plan.statusCode, plan.data()['count']], [200, 0], plan.body)
})

test('a trace says that the click is no longer kept, and shows what came of it', async () => {
  const read = async (id: string) => (await house.call('GET', `/api/clicks/${toWireId(id)}/trace`, owner)).json<Trace>()
  const gone = await read(clicks.converted)
  assert.deepEqual([gone.click, gone.is_dropped, gone.events.length, gone.persons.length], [null, true, 1, 1])
  const kept = await read(clicks.lately)
  assert.deepEqual([kept.click?.id, kept.is_dropped], [toWireId(clicks.lately), false])
})

test('what was given up stays given up when more is to be kept from now on', async () => {
  assert.deepEqual(await drop(100), [])
  const day = iso(OLD).slice(0, 10)
  assert.equal((await report(`dimension=day&date_from=${day}T06:00:00Z&date_to=${day}T07:00:00Z`)).statusCode, 400)
})

test('conversions and a drop at once: what is recorded is counted, what is refused is not, and no click comes back', async () => {
  const { database } = house
  const place = await seedSignedIn(house)
  const { secret } = await seedKey(database, place, { rights: ['events', 'report'] })
  await ensurePartitions(database.schema, 'clicks', middleOf(6), middleOf(6))
  // Half of them are in a monthly partition, half in the default partition.
  const at = (index: number) => (index % 2 === 0 ? middleOf(6) : STRAY) + index
  const ids = await seedClicks(database, place.org_id, 60, index => ({ at: at(index) }))
  const dropping = sleep(30).then(() => drop())
  const answers = await Promise.all(
    ids.map(async (id, index) => {
      await sleep(index * 3)
      const body = { clickId: toWireId(id), type: 'ftd', payout: '1' }
      for (const deadline = performance.now() + 60_000; ; ) {
        const answer = await house.call('POST', '/api/events', { key: secret, body })
        // On a busy machine it is refused later; nothing is recorded then.
        if (answer.statusCode !== 503 || performance.now() > deadline) return answer
      }
    }),
  )
  await dropping
  await drop()
  const recorded = answers.filter(({ statusCode }) => statusCode === 201).length
  assert.ok(answers.every(({ statusCode }) => statusCode === 201 || statusCode === 403))
  const { rows } = await database.reads.query('select 1 from clicks where org_id = $1', [place.org_id])
  assert.equal(rows.length, 0)
  const was = await tally(database, place.org_id)
  assert.deepEqual([was.events, was.charges], [recorded, recorded])
  assert.deepEqual((await reconcile(database.worker, place.org_id)).findings, [])
  const totals = { clicks: 0, revenue: 0 }
  for (const ago of [6, 9]) {
    const window = `date_from=${iso(beginningOf(ago))}&date_to=${iso(beginningOf(ago - 1) - 1)}`
    const reply = await house.call('GET', `/api/v1/report?dimension=day&${window}`, { key: secret })
    const { clicks: counted, revenue } = reply.json<Report>().totals
    totals.clicks += counted
    totals.revenue += Number(revenue)
  }
  assert.deepEqual(totals, { clicks: 60, revenue: recorded })
})

test('a worker drops by itself what KEEP_CLICKS_MONTHS no longer keeps', async () => {
  const name = nameOf(middleOf(7))
  await ensurePartitions(house.database.schema, 'clicks', middleOf(7), middleOf(7))
  const worker = await openTestHouse(house.database, { ROLE: 'work', KEEP_CLICKS_MONTHS: '3' })
  try {
    await eventually('the month is dropped', async () => !(await monthsThere()).includes(name))
    assert.ok((await readClick(house.database, owner.org_id, clicks.lately)) !== undefined)
  } finally {
    await worker.end()
  }
  const { rows } = await house.database.reads.query<{ id: string }>('select before_id as id from dropped_clicks')
  assert.ok(rows.some(({ id }) => id === firstIdAt(beginningOf(KEPT_MONTHS))))
})
