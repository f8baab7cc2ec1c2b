// The cost of a page depends on the clicks it shows, not on how many others there are.
import assert from 'node:assert/strict'
import test from 'node:test'
import { seedCountedClicks } from '../../../tests/support/counted-clicks.ts'
import { useDatabase } from '../../../tests/support/database.ts'
import { type Plan, stepsBelow } from '../../../tests/support/plans.ts'
import { LADDER } from '../../contract/ladder.ts'
import { type FeedPage, feedStatement } from './statement.ts'

const { database } = await useDatabase()
const ORG = 1
const NOON = Date.UTC(2026, 2, 2, 12)
const PAGE: FeedPage = {
  window: { from: NOON - 86_400_000, to: NOON + 86_400_000 },
  campaigns: null,
  status: undefined,
  tracked: true,
  geo: undefined,
  sub1: undefined,
  before: undefined,
  limit: 20,
}

/** Rows that were read, shown or not. */
function rowsRead(plan: Plan): number {
  const below = stepsBelow(plan).reduce((sum, one) => sum + rowsRead(one), 0)
  return Math.max(below, plan['Actual Rows']) + (plan['Rows Removed by Filter'] ?? 0)
}

async function read(page: FeedPage): Promise<{ shown: number; read: number }> {
  const { text, values = [] } = feedStatement(ORG, page)
  const { rows } = await database.reads.query(`explain (analyze, format json) ${text}`, [...values])
  const plan = rows[0]?.['QUERY PLAN'][0].Plan as Plan
  return { shown: plan['Actual Rows'], read: rowsRead(plan) }
}

test('a page of one status reads only the clicks it shows, whether common or rare', async () => {
  const seeds = Array.from({ length: 3000 }, (_, at) => ({ at: NOON + at, stages: at % 300 === 0 ? 0b100_0001 : 1 }))
  await seedCountedClicks(database, ORG, seeds)
  await database.worker.query('analyze clicks')
  assert.deepEqual(await read({ ...PAGE, status: LADDER.indexOf('ftd') }), { shown: 10, read: 10 })
  assert.deepEqual(await read({ ...PAGE, status: LADDER.indexOf('lead') }), { shown: 0, read: 0 })
  const usual = await read({ ...PAGE, status: LADDER.indexOf('clicked') })
  assert.equal(usual.shown, 21)
  assert.ok(usual.read < 40, String(usual.read))
})
