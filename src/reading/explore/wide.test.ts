// Questions that are too wide, with limits low enough for a test.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { seedExplored, seedUnsealed } from '../../../tests/support/explored.ts'
import { startHouse, type TestHouse } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import type { ExploreAnswer } from '../../contract/explore-answer.ts'
import { sealAll } from '../segments/seal.ts'

let house: TestHouse
before(async () => {
  house = await startHouse({ ROLE: 'serve' }, { explore: { wide_clicks: 20, wide_words: 12, waiting: 10 } })
})
after(() => house.end())

const NOON = Date.UTC(2026, 2, 2, 12)
const DAY_MS = 86_400_000
const WEEK = { date_from: '2026-03-01', date_to: '2026-03-07T23:59:59.999Z' }
const post = ({ cookie }: SignedIn, question: object, route = '/api/explore') =>
  house.call('POST', route, { cookie, body: { ...WEEK, measures: ['clicks'], ...question } })

async function ask(owner: SignedIn, question: object): Promise<ExploreAnswer> {
  const response = await post(owner, question)
  assert.equal(response.statusCode, 200, response.body)
  return response.json<ExploreAnswer>()
}
const by = (...names: string[]) => ({ levels: names.map(dimension => ({ dimension })) })

test('a dimension with a value for nearly every click is grouped only over few clicks, and the refusal says what to do', async () => {
  const owner = await seedSignedIn(house)
  await seedExplored(
    house.database,
    owner.org_id,
    Array.from({ length: 30 }, (_, at) => ({
      at: NOON + (at % 3) * DAY_MS + at,
      sub5: `their-click-${at}`,
      sub1: `zone ${at % 4}`,
      geo: at % 3 ? 'DE' : 'FR',
    })),
  )
  for (const route of ['/api/explore', '/api/explore/csv'])
    for (const levels of [by('sub5'), by('geo', 'sub5')]) {
      const refused = await post(owner, levels, route)
      const { code, error, hint } = refused.data()
      assert.deepEqual([refused.statusCode, code], [400, 'question_too_wide'])
      assert.match(String(error), /^sub5 has about \d+ values over 30 clicks$/)
      assert.match(String(hint), /at most 20 clicks: choose fewer days, or filter by one campaign, or by sub5 itself/)
    }
  const open = { ...by('geo', 'sub5'), within: ['DE'] }
  assert.equal((await ask(owner, open)).rows.length, 20, 'in one branch')
  assert.equal((await ask(owner, { ...open, within: [] })).rows.length, 2, 'and the level above it')
  const few = { ...by('sub5'), filters: [{ dimension: 'sub1', op: 'is', values: ['zone 1'] }] }
  assert.equal((await ask(owner, few)).totals.clicks, 8)
  assert.equal((await ask(owner, { ...by('sub5'), date_to: '2026-03-03' })).totals.clicks, 10)
  const named = { ...by('geo'), filters: [{ dimension: 'sub5', op: 'contains', values: ['CLICK-1'] }] }
  assert.equal((await ask(owner, named)).totals.clicks, 11)
  assert.equal((await ask(owner, by('sub1', 'geo'))).totals.clicks, 30, 'few words')
  assert.deepEqual((await ask(owner, by('day'))).rows.length, 3)
})

test('more unsealed clicks than a question reads are left out, their days are named, and once sealed they are there', async () => {
  const owner = await seedSignedIn(house)
  await seedExplored(house.database, owner.org_id, [{ at: NOON }])
  // Three days, because one or two would be read from their clicks.
  await seedUnsealed(
    house.database,
    owner.org_id,
    Array.from({ length: 11 }, (_, at) => ({ at: NOON + (at % 3) * DAY_MS })),
  )
  const { totals, incomplete_days } = await ask(owner, by('geo'))
  assert.deepEqual([totals.clicks, incomplete_days], [1, ['2026-03-02', '2026-03-03', '2026-03-04']])
  const fewer = await ask(owner, { ...by('geo'), date_from: '2026-03-03' })
  assert.deepEqual([fewer.totals.clicks, fewer.incomplete_days], [7, []])
  await sealAll(house.database.worker, house.ground.secrets)
  const sealed = await ask(owner, by('geo'))
  assert.deepEqual([sealed.totals.clicks, sealed.incomplete_days], [12, []])
})
