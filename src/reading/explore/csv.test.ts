import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { seedExplored } from '../../../tests/support/explored.ts'
import { startHouse, type TestHouse } from '../../../tests/support/house.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import { DAY_MS } from '../../contract/days.ts'

let house: TestHouse
before(async () => {
  // The house does not seal, merge or check in the background: the test does.
  house = await startHouse({ ROLE: 'serve' })
})
after(() => house.end())

const NOON = Date.UTC(2026, 2, 2, 12)
const WEEK = { date_from: '2026-03-01', date_to: '2026-03-07T23:59:59.999Z' }
const BEFORE = NOON - 7 * DAY_MS

const file = (cookie: string, question: object) =>
  house.call('POST', '/api/explore/csv', { cookie, body: { ...WEEK, levels: [{ dimension: 'geo' }], ...question } })

test('a file has the columns of the question in their order, with custom formulas', async () => {
  const { org_id, cookie } = await seedSignedIn(house)
  await seedExplored(house.database, org_id, [
    { at: NOON, geo: 'DE', cost: '0.3', cost_counts: true, stages: 3 },
    { at: NOON, geo: 'DE', cost: '0.7', cost_counts: true },
    { at: NOON, geo: 'DE' },
    { at: NOON, geo: 'FR' },
  ])
  const response = await file(cookie, {
    measures: ['clicks', 'cost', 'landed', 'cr'],
    columns: [
      'cost',
      { name: '=Paid, each', formula: 'cost / clicks' },
      'clicks',
      { name: 'By landed', formula: 'COST/landed' },
    ],
  })
  assert.equal(response.statusCode, 200, response.body)
  assert.deepEqual(response.body.split('\r\n'), [
    `"geo","geo_label","cost","'=Paid, each","clicks","By landed"`,
    '"DE","Germany",1.00,0.333333333333,3,1',
    '"FR","France",,,1,',
  ])
})

test('text of a click is no formula in the file, also for a program that separates by semicolon', async () => {
  const { org_id, cookie } = await seedSignedIn(house)
  await seedExplored(house.database, org_id, [
    { at: NOON, sub1: `a;=1+cmd|' /C calc'!A0` },
    { at: NOON, sub1: '＝1＋1' },
  ])
  const { body } = await file(cookie, { levels: [{ dimension: 'sub1' }], measures: ['clicks'] })
  assert.deepEqual(body.split('\r\n').toSorted(), [
    `"'＝1＋1","'＝1＋1",1`,
    `"a;'=1+cmd|' /C calc'!A0","a;'=1+cmd|' /C calc'!A0",1`,
    '"sub1","sub1_label","clicks"',
  ])
})

test('with a comparison each column is followed by its value before', async () => {
  const { org_id, cookie } = await seedSignedIn(house)
  await seedExplored(house.database, org_id, [
    { at: NOON, geo: 'DE' },
    { at: BEFORE, geo: 'DE' },
    { at: BEFORE, geo: 'DE' },
    { at: NOON, geo: 'FR' },
  ])
  const columns = ['clicks', { name: 'Twice', formula: 'clicks * 2' }]
  const { body } = await file(cookie, { measures: ['clicks'], columns, compare: 'before' })
  assert.deepEqual(body.split('\r\n'), [
    '"geo","geo_label","clicks","clicks_before","Twice","Twice_before"',
    '"DE","Germany",1,2,2,4',
    '"FR","France",1,0,2,0',
  ])
})

test('a column that is not among the measures, or whose formula cannot be read, is refused by its index', async () => {
  const { cookie } = await seedSignedIn(house)
  const refusals: readonly [columns: unknown, words: RegExp][] = [
    [['clicks', 'revenue'], /columns\.1.*must be among the measures/],
    [['shoes'], /columns\.0/],
    [[], /columns/],
    [[{ name: 'Bad', formula: 'clicks +' }], /columns\.0\.formula.*Something is missing at the end/],
    [['clicks', { name: 'Bad', formula: 'revenue / clicks' }], /columns\.1\.formula.*among the measures/],
    [[{ name: '', formula: 'clicks' }], /columns\.0\.name/],
    [[{ name: 'Long', formula: `clicks${' + clicks'.repeat(40)}` }], /columns\.0\.formula/],
  ]
  for (const [columns, words] of refusals) {
    const response = await file(cookie, { measures: ['clicks'], columns })
    assert.deepEqual([response.statusCode, response.data()['code']], [400, 'invalid_question'], response.body)
    assert.match(String(response.data()['error']), words)
  }
  const asked = await house.call('POST', '/api/explore', {
    cookie,
    body: { ...WEEK, levels: [{ dimension: 'geo' }], columns: ['clicks'] },
  })
  assert.equal(asked.data()['code'], 'invalid_question')
})
