// The logic of screens with figures: which conversions count, and the order of rows with unknown figures.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lineOf, sorted } from '../src/web/ground/figures/columns.ts'
import {
  counting,
  countingIn,
  measure,
  NO_CLICKS,
  type WireReport,
  type Totals,
} from '../src/web/ground/figures/measures.ts'
import { FiguresSearch, OverviewSearch } from '../src/web/ground/figures/search.ts'

const row = (more: Partial<Totals>): Totals => ({ ...NO_CLICKS, clicks: 10, ...more })

test('rows shown as a dash come last in both sort orders', () => {
  const lines = [
    { ...lineOf(row({ revenue: '-5' }), 'own'), id: 'loss' },
    { ...lineOf(row({ revenue: '5' }), 'own'), id: 'gain' },
    // Its figures are unknown: the zeros are placeholders.
    { ...lineOf(NO_CLICKS, 'own'), id: 'unknown', isUnknown: true },
  ]
  const order = (sort: string) => sorted(lines, sort).map(({ id }) => id)
  assert.deepEqual(order('revenue'), ['loss', 'gain', 'unknown'])
  assert.deepEqual(order('-revenue'), ['gain', 'loss', 'unknown'])
  const [costless, costly] = [row({ revenue: '9' }), row({ revenue: '1', cost: '2', cost_source: 'manual' })]
  const profits = [
    { ...lineOf(costless, 'own'), id: 'costless' },
    { ...lineOf(costly, 'own'), id: 'costly' },
  ]
  for (const sort of ['profit', '-profit', 'roi', '-roi', 'cost', '-cost'])
    assert.deepEqual(
      sorted(profits, sort).map(({ id }) => id),
      ['costly', 'costless'],
      sort,
    )
})

test('conversions on hold count only if a person chose so, for any goal', () => {
  const by_type = { ftd: { approved: 1, pending: 3, rejected: 2 } }
  const told = row({ conversions: 2, conversions_pending: 3, conversions_rejected: 1, by_type })
  const shown = (of: Totals, goal: 'own' | 'ftd') => {
    const { conversions, pending, rejected, cr } = measure(of, goal)
    return [conversions, pending, rejected, cr]
  }
  assert.deepEqual(shown(told, 'own'), [2, 3, 1, 0.2])
  assert.deepEqual(shown(told, 'ftd'), [1, 3, 2, 0.1])
  const both = counting(told, true)
  assert.deepEqual(shown(both, 'own'), [5, 3, 1, 0.5])
  assert.deepEqual(shown(both, 'ftd'), [4, 3, 2, 0.4])
  const report = { rows: [{ ...told, key: 'a', label: 'A' }], totals: told } as unknown as WireReport
  assert.deepEqual(countingIn(report, true).rows[0]?.conversions, 5)
  assert.equal(countingIn(report, undefined), report)
})

test('old addresses that name conversions by the goal lead to the same figure', () => {
  const { chart, pending } = OverviewSearch.parse({ chart: 'goal', pending: 'x' })
  const { sort } = FiguresSearch.parse({ sort: '-goal' })
  assert.deepEqual([chart, sort, pending], ['conversions', '-conversions', undefined])
})
