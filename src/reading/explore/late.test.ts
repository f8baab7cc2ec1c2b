// Late changes of clicks whose day was sealed long ago are in the very next answer, and still are after sealing and merging.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { pino } from 'pino'
import { askerOf, assertRecounted } from '../../../tests/support/any-question.ts'
import { type FreshDatabase, freshDatabase } from '../../../tests/support/database.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { newId, openTestHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedBot } from '../../../tests/support/intake.ts'
import { openQueue } from '../../../tests/support/organization-queue.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { type Proxy, startProxy } from '../../../tests/support/proxy.ts'
import { aClick, BROWSER, seedCampaign } from '../../../tests/support/visits.ts'
import { DAY_MS } from '../../contract/days.ts'
import { ExploreQuestion } from '../../contract/explore.ts'
import type { ExploreAnswer, ExploreMeasures } from '../../contract/explore-answer.ts'
import { MEASURES } from '../../contract/explore-measures.ts'
import { toUuid } from '../../contract/ids.ts'
import { connect, type Database } from '../../ground/db/connect.ts'
import type { Click } from '../../intake/clicks/click.ts'
import { openJournal } from '../../intake/clicks/journal.ts'
import { storeClicks } from '../../intake/clicks/store.ts'
import { mergeAll } from '../segments/merge.ts'
import { sealAll } from '../segments/seal.ts'

const log = pino({ level: 'silent' })
const dataDir = mkdtempSync(join(tmpdir(), 'sluice-late-'))
let fresh: FreshDatabase
let proxy: Proxy
let behind: Database
let house: TestHouse
const open = () => openTestHouse(behind, { DATA_DIR: dataDir, ROLE: 'serve' })
before(async () => {
  fresh = await freshDatabase()
  proxy = await startProxy(fresh.connection)
  behind = connect([proxy.connection], { log, isBehind: false })
  // The house does not seal or merge in the background: the test does.
  house = await open()
})
after(async () => {
  await house.close()
  await behind.close()
  await proxy.close()
  await fresh.drop()
  rmSync(dataDir, { recursive: true, force: true })
})

let owner: SignedIn
let campaign: Awaited<ReturnType<typeof seedCampaign>>
/** Clicks of today, of yesterday and of eighty days ago, all of them sealed. */
let clicks: Click[]
beforeEach(async () => {
  owner = await seedSignedIn(house)
  campaign = await seedCampaign(fresh.database, owner.org_id)
  clicks = [0, 0, 1, 80, 80, 80].map(days => clickOf(days))
  await storeClicks(fresh.database.clicks, clicks)
  await seal()
})

const seal = () => sealAll(fresh.database.worker, house.ground.secrets)

function clickOf(days: number, more: Partial<Click> = {}): Click {
  const fields = { campaign_id: campaign.id, sub1: `zone ${days}`, visitor_id: newId(), ...more }
  return {
    ...aClick(house.ground.secrets.clickKey, owner.org_id, fields),
    id: newId(Date.now() - days * DAY_MS),
  }
}

const QUESTIONS: readonly Pick<ExploreQuestion, 'levels' | 'filters'>[] = [
  { levels: [{ dimension: 'day' }, { dimension: 'bot' }, { dimension: 'status' }] },
  { levels: [{ dimension: 'sub1' }], filters: [{ dimension: 'status', op: 'is_not', values: ['clicked'] }] },
]

/** All totals, after checking that the questions are answered like a recount. */
async function exact(questions: readonly (typeof QUESTIONS)[number][] = QUESTIONS.slice(0, 1)): Promise<ExploreAnswer> {
  const now = Date.now()
  const window = {
    date_from: new Date(now - 100 * DAY_MS).toISOString(),
    date_to: new Date(now + DAY_MS).toISOString(),
  }
  const answers: ExploreAnswer[] = []
  for (const one of questions) {
    const question = ExploreQuestion.parse({ ...window, measures: [...MEASURES], ...one })
    answers.push(await assertRecounted(askerOf(house, owner.cookie), fresh.database, owner.org_id, question))
  }
  return answers[0] ?? assert.fail()
}

type Seen<T> = { readonly changed: Partial<ExploreMeasures>; readonly told: T; readonly answer: ExploreAnswer }

/** The last answer about the test's organization. */
let known: ExploreAnswer | undefined
beforeEach(() => {
  known = undefined
})

/** The change of the totals by `deed`: visible at once, and the same after sealing and merging. */
async function seen<T>(deed: () => Promise<T>): Promise<Seen<T>> {
  const were = (known ?? (await exact())).totals
  const told = await deed()
  const answer = await exact(QUESTIONS)
  await seal()
  const { rows } = await fresh.database.worker.query('select id from click_sheet where org_id = $1', [owner.org_id])
  assert.deepEqual(rows, [])
  if (process.env['SLUICE_TEST_ALL']) assert.deepEqual((await exact()).rows, answer.rows, 'sealed')
  await mergeAll(fresh.database.worker)
  assert.deepEqual((await exact()).rows, answer.rows, 'merged')
  known = answer
  const changed = Object.entries(answer.totals).filter(([name, value]) => Reflect.get(were, name) !== value)
  return { changed: Object.fromEntries(changed), told, answer }
}

async function send(id: string | undefined, body: object, statusCode = 201): Promise<string> {
  const answer = await house.call('POST', '/api/events', {
    cookie: owner.cookie,
    body: { clickId: toWireId(id ?? assert.fail()), ...body },
  })
  assert.equal(answer.statusCode, statusCode, answer.body)
  return String(answer.data()['id'])
}

async function revise(event_id: string, body: object): Promise<void> {
  const answer = await house.call('POST', `/api/events/${event_id}/revisions`, { cookie: owner.cookie, body })
  assert.equal(answer.statusCode, 200, answer.body)
}

/** Follows the campaign's link as a phone's browser. */
async function visit(url: string): Promise<string> {
  const answer = await house.call('GET', url, { headers: BROWSER })
  assert.equal(answer.statusCode, 302)
  return URL.parse(String(answer.headers['location']))?.searchParams.get('c') ?? assert.fail()
}

const isStored = async (id: string | null | undefined) =>
  (await fresh.database.worker.query('select 1 from clicks where org_id = $1 and id = $2', [owner.org_id, id])).rows
    .length === 1

test('a conversion eighty days after its click', async () => {
  const { changed } = await seen(() => send(clicks[4]?.id, { type: 'deposit', payout: '12.345678' }))
  assert.equal(changed.deposit, 1)
  assert.equal(changed.revenue, '12.345678')
  assert.equal(changed.approved, 1)
})

test('status changes of a conversion: more, on hold, approved for less, rejected, approved again, refunded', async () => {
  const event = await send(clicks[3]?.id, { type: 'ftd', payout: '10' })
  const steps: [said: object, revenue: string, others: Partial<ExploreMeasures>][] = [
    [{ status: 'approved', amount: '25.5' }, '25.50', {}],
    [{ status: 'pending', amount: '20' }, '0.00', { pending: 1, approved: 0, revenue_pending: '20.00' }],
    [{ status: 'approved', amount: '0.000001' }, '0.000001', { pending: 0, approved: 1, revenue_pending: '0.00' }],
    [{ status: 'rejected', reason: 'fraud' }, '0.00', { approved: 0, rejected: 1 }],
    [{ status: 'approved', amount: '7' }, '7.00', { approved: 1, rejected: 0 }],
    [{ status: 'refunded' }, '0.00', { approved: 0, rejected: 1 }],
  ]
  for (const [said, revenue, others] of steps) {
    const { changed } = await seen(() => revise(event, said))
    for (const [name, value] of Object.entries({ revenue, ...others }))
      assert.equal(Reflect.get(changed, name), value, `${name} of ${JSON.stringify(said)}`)
  }
})

test('an event that comes again with another payout is the event it was', async () => {
  const nonce = 'one sale'
  const { changed } = await seen(() => send(clicks[2]?.id, { type: 'ftd', nonce, payout: '3' }))
  assert.equal(changed.revenue, '3.00')
  const { changed: again } = await seen(() => send(clicks[2]?.id, { type: 'ftd', nonce, payout: '30' }))
  assert.deepEqual(again, {})
  const { changed: more } = await seen(() => send(clicks[2]?.id, { type: 'ftd', nonce: 'another sale', payout: '30' }))
  assert.equal(more.revenue, '33.00')
})

test('a start that names the bot of a click, also where the click had started before', async () => {
  const bot_id = await seedBot(fresh.database, owner.org_id, `late_${owner.org_id}_bot`)
  const queue = openQueue(fresh.database)
  try {
    const start = (click: Click | undefined, telegram_user_id: string) =>
      queue.recordStart({ org_id: owner.org_id, bot_id, telegram_user_id, click_id: click?.id ?? assert.fail() })
    // So the day can be broken down by bot.
    const ofBot = ({ rows }: ExploreAnswer) =>
      rows.flatMap(({ children = [] }) => children.filter(({ key }) => key === toWireId(bot_id)).map(one => one.clicks))
    const first = await seen(() => start(clicks[3], '4711'))
    assert.equal(first.changed.started, 1)
    assert.deepEqual(ofBot(first.answer), [1])
    await send(clicks[4]?.id, { type: 'bot_start', payload: { telegram_user_id: '4712' } })
    await seal()
    known = undefined
    const second = await seen(() => start(clicks[4], '4713'))
    assert.equal(second.changed.started, undefined)
    assert.deepEqual(ofBot(second.answer), [2])
  } finally {
    await queue.close()
  }
})

test('an untracked click that a conversion makes count days later', async () => {
  const crawler = clickOf(3, { tracked: false, cost: '0.5', cost_counts: false, visitor_id: newId() })
  const { changed: stored } = await seen(() => storeClicks(fresh.database.clicks, [crawler]))
  assert.deepEqual(stored, {})
  const { changed: proved } = await seen(() => send(crawler.id, { type: 'lead', payout: '1' }))
  assert.deepEqual([proved.clicks, proved.lead, proved.revenue, proved.cost], [7, 1, '1.00', '0.50'])
})

test('a test click and its conversions are in no answer', async () => {
  const link = await house.call('GET', `/api/campaigns/${toWireId(campaign.id)}/test-link`, { cookie: owner.cookie })
  const url = URL.parse(String(link.data()['url']), 'http://localhost') ?? assert.fail()
  const { changed: clicked, told: id } = await seen(async () => {
    const told = toUuid(await visit(`${url.pathname}${url.search}`))
    await eventually('the click is stored', () => isStored(told))
    return told
  })
  assert.deepEqual(clicked, {})
  const { changed: converted } = await seen(() => send(id, { type: 'lead', payout: '1' }))
  assert.deepEqual(converted, {})
})

test('clicks that were accepted while the database was away, once it is back', async () => {
  await visit(`/c/${campaign.key}?sub1=before`)
  const { changed } = await seen(async () => {
    proxy.set('cut')
    const told: (string | undefined)[] = []
    try {
      for (let turn = 0; turn < 3; turn += 1) told.push(toUuid(await visit(`/c/${campaign.key}?sub1=away`)))
      assert.equal(await isStored(told[0]), false)
      // Meanwhile a process that reaches the database seals.
      await seal()
    } finally {
      proxy.set('flow')
    }
    await eventually('the clicks are stored', () => isStored(told[2]))
  })
  assert.equal(changed.clicks, 10)
})

test('clicks of an hour ago and of the day before, from the journal of a dead process', async () => {
  const { changed } = await seen(async () => {
    await house.close()
    const journal = await openJournal(join(dataDir, 'journal'), log)
    const late = [clickOf(1 / 24), clickOf(1 / 24), clickOf(1)]
    // One of them was stored before its process could record that.
    await journal.append([...late, clicks[0] ?? assert.fail()])
    await journal.close()
    house = await open()
    await eventually('the clicks are stored', () => isStored(late[2]?.id))
  })
  assert.equal(changed.clicks, 9)
})
