// Answers equal a recount of the clicks, wherever the facts are: unsealed, sealed, changed since, merged, rebuilt from the clicks.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { askerOf } from '../../../tests/support/any-question.ts'
import { type FreshDatabase, freshDatabase } from '../../../tests/support/database.ts'
import { asRecounted, recountExplore } from '../../../tests/support/explore-recount.ts'
import { newId, openTestHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { aClick, seedCampaign } from '../../../tests/support/visits.ts'
import { DAY_MS } from '../../contract/days.ts'
import { ExploreQuestion } from '../../contract/explore.ts'
import type { ExploreAnswer } from '../../contract/explore-answer.ts'
import { MEASURES } from '../../contract/explore-measures.ts'
import { storeClicks } from '../../intake/clicks/store.ts'
import { openFolder } from '../reports/fold.ts'
import { checkSegments } from '../segments/check.ts'
import { mergeAll } from '../segments/merge.ts'
import { sealAll } from '../segments/seal.ts'

let fresh: FreshDatabase
let house: TestHouse
let folder: ReturnType<typeof openFolder>
const dataDir = mkdtempSync(join(tmpdir(), 'sluice-exact-'))
before(async () => {
  fresh = await freshDatabase()
  // The house does not seal, merge or check in the background: the test does.
  // It reads few unsealed clicks in a turn, so that a question takes several turns.
  house = await openTestHouse(fresh.database, { DATA_DIR: dataDir, ROLE: 'serve' }, { explore: { fresh_at_once: 25 } })
  folder = openFolder(house.ground, DAY_MS)
})
after(async () => {
  await folder.close()
  await house.close()
  await fresh.drop()
  rmSync(dataDir, { recursive: true, force: true })
})

const NOON = Math.floor(Date.now() / DAY_MS) * DAY_MS - DAY_MS / 2
const WINDOW = {
  date_from: new Date(NOON - 3 * DAY_MS).toISOString(),
  date_to: new Date(NOON + DAY_MS).toISOString(),
}
const QUESTIONS: readonly object[] = [
  { levels: [{ dimension: 'campaign' }, { dimension: 'sub1', top: 2 }, { dimension: 'status' }] },
  { levels: [{ dimension: 'weekday_hour', top: 168 }], time_zone: 'Europe/Kyiv' },
  { levels: [{ dimension: 'geo' }], filters: [{ dimension: 'sub1', op: 'contains', values: ['ZONE 1'] }] },
]
const MEASURED = { measures: [...MEASURES] }

const seal = () => sealAll(fresh.database.worker, house.ground.secrets)

const ask = ({ cookie }: SignedIn, question: object): Promise<ExploreAnswer> =>
  askerOf(house, cookie)(ExploreQuestion.parse({ ...WINDOW, ...MEASURED, ...question }))

async function assertExact(owner: SignedIn, when: string, window = WINDOW): Promise<void> {
  for (const question of QUESTIONS) {
    const answer = await ask(owner, { ...window, ...question })
    const asked = ExploreQuestion.parse({ ...window, ...MEASURED, ...question })
    const recounted = await recountExplore(fresh.database.worker, owner.org_id, asked)
    assert.deepEqual(asRecounted(answer), recounted, when)
    assert.deepEqual(answer.incomplete_days, [], when)
  }
}

async function store(org_id: number, campaign_id: string, count: number): Promise<string[]> {
  const visitors = Array.from({ length: 7 }, () => newId())
  const clicks = Array.from({ length: count }, (_, at) => ({
    ...aClick(house.ground.secrets.clickKey, org_id, {
      campaign_id,
      sub1: `zone ${at % 13}`,
      geo: at % 3 ? 'DE' : null,
    }),
    id: newId(NOON - (at % 3) * DAY_MS + at),
    visitor_id: visitors[at % 8] ?? null,
    visitor_is_new: at < 7,
    tracked: at % 5 !== 0,
    cost: at % 2 === 0 ? '0.000000001' : null,
    cost_counts: at % 5 !== 0,
  }))
  await storeClicks(fresh.database.clicks, clicks)
  return clicks.map(({ id }) => id)
}

async function convert({ cookie }: SignedIn, id: string, type: string): Promise<void> {
  const body = { clickId: toWireId(id), type, payout: '1.234567' }
  const answer = await house.call('POST', '/api/events', { cookie, body })
  assert.equal(answer.statusCode, 201, answer.body)
}

test('an answer is exact wherever the facts of its clicks are', async () => {
  const owner = await seedSignedIn(house)
  const { org_id } = owner
  const { id: campaign_id } = await seedCampaign(fresh.database, org_id)
  const ids = await store(org_id, campaign_id, 60)
  await assertExact(owner, 'waiting')
  for (const id of ids.slice(0, 12)) await convert(owner, id, 'lead')
  await assertExact(owner, 'converted before they are sealed')
  await seal()
  await assertExact(owner, 'sealed')
  for (const id of ids.slice(6, 18)) await convert(owner, id, 'ftd')
  await assertExact(owner, 'converted after they were sealed')
  await seal()
  await assertExact(owner, 'sealed again')
  for (let round = 0; round < 9; round += 1) {
    await store(org_id, campaign_id, 6)
    await seal()
  }
  const count = async () =>
    (await fresh.database.worker.query('select id from segments where org_id = $1', [org_id])).rows.length
  const crowded = await count()
  await mergeAll(fresh.database.worker)
  assert.ok((await count()) < crowded)
  await assertExact(owner, 'merged')
  await fresh.database.worker.query('delete from segments where org_id = $1', [org_id])
  const { incomplete_days, totals } = await ask(owner, { levels: [{ dimension: 'day' }] })
  assert.deepEqual([incomplete_days.length, totals.clicks], [3, 0])
  // The check finds organizations by folded counters.
  await folder.foldAll()
  await checkSegments(house.ground)
  await assertExact(owner, 'built anew')
})

test('answers between new clicks, conversions and sealing are exact, whichever days each question asks for', async () => {
  const owner = await seedSignedIn(house)
  const { id: campaign_id } = await seedCampaign(fresh.database, owner.org_id)
  const ids = await store(owner.org_id, campaign_id, 40)
  const steps = [
    async () => ids.push(...(await store(owner.org_id, campaign_id, 30))),
    async () => convert(owner, ids[Math.floor(Math.random() * ids.length)] ?? '', 'lead'),
    seal,
  ]
  const taken: number[] = []
  for (let asked = 0; asked < 12; asked += 1) {
    for (let step = 0; step < 2; step += 1) {
      // The first questions are asked before and after some sheets are sealed and others are new.
      const next = asked === 0 ? 0 : asked === 1 ? 2 - 2 * step : Math.floor(Math.random() * steps.length)
      taken.push(next)
      await steps[next]?.()
    }
    const from = NOON - Math.floor(Math.random() * 4) * DAY_MS
    const days = { date_from: new Date(from - DAY_MS / 2).toISOString(), date_to: new Date(from).toISOString() }
    await assertExact(owner, `after the steps ${taken.join(' ')}`, asked < 2 || Math.random() < 0.5 ? WINDOW : days)
  }
})

test('no click is missing from an answer or in it twice while clicks are sealed and merged', async () => {
  const owner = await seedSignedIn(house)
  const { org_id } = owner
  const { id: campaign_id } = await seedCampaign(fresh.database, org_id)
  const question = { levels: [{ dimension: 'campaign' }], measures: ['clicks'] }
  let stored = 0
  for (let round = 0; round < 4; round += 1) {
    // Three of fifteen clicks are not tracked.
    await store(org_id, campaign_id, 15)
    stored += 12
    const [first, second] = await Promise.all([
      ask(owner, question),
      ask(owner, question),
      seal(),
      round === 2 ? mergeAll(fresh.database.worker) : undefined,
    ])
    assert.deepEqual([first.totals.clicks, second.totals.clicks], [stored, stored])
  }
})

test('removing local files again and again during many questions costs time, but no figure and no answer @detail', async () => {
  const owners = [await seedSignedIn(house), await seedSignedIn(house)]
  for (const { org_id } of owners) {
    const { id } = await seedCampaign(fresh.database, org_id)
    for (let portion = 0; portion < 4; portion += 1) {
      await store(org_id, id, 15)
      if (portion < 3) await seal()
    }
  }
  let isOver = false
  const take = async () => {
    while (!isOver) {
      rmSync(join(dataDir, 'explore'), { recursive: true, force: true, maxRetries: 20 })
      await new Promise(resolve => setTimeout(resolve, Math.random() * 200))
    }
  }
  const levels = [{ dimension: 'sub1' }, { dimension: 'day' }]
  const told: [status: number, clicks: number][] = []
  const asking = async ({ cookie }: SignedIn) => {
    for (let turn = 0; turn < 3; turn += 1) {
      const body = { ...WINDOW, levels, measures: ['clicks'] }
      const response = await house.call('POST', '/api/explore', { cookie, body })
      const clicks = response.statusCode === 200 ? response.json<ExploreAnswer>().totals.clicks : undefined
      told.push([response.statusCode, clicks ?? 48])
    }
  }
  const taking = take()
  await Promise.all([...owners, ...owners].map(asking)).finally(() => {
    isOver = true
  })
  await taking
  const others = told.filter(([status, clicks]) => clicks !== 48 || (status !== 200 && status !== 503))
  assert.deepEqual(others, [])
  for (const owner of owners) await assertExact(owner, 'files are left alone')
})
