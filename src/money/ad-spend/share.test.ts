import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { toUnits } from '../../contract/decimals.ts'
import { divideByWeights } from './share.ts'

test('what does not divide goes to the largest remainders, the first of equal ones first', () => {
  assert.deepEqual(divideByWeights('100', [1, 1, 1]), ['33.333334', '33.333333', '33.333333'])
  assert.deepEqual(divideByWeights('0.000002', [1, 1, 1]), ['0.000001', '0.000001', '0'])
  assert.deepEqual(divideByWeights('1', [1, 5, 0]), ['0.166667', '0.833333', '0'])
  assert.deepEqual(divideByWeights('0.00001', [1, 3, 3]), ['0.000002', '0.000004', '0.000004'])
})

test('parts add up to the amount, and none is a millionth from what is exactly its own', () => {
  const weights = fc
    .array(fc.nat(2_000_000_000), { minLength: 1, maxLength: 60 })
    .filter(all => all.some(one => one > 0))
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 10n ** 15n }), weights, (units, weights) => {
      const text = `${units / 1_000_000n}.${String(units % 1_000_000n).padStart(6, '0')}`
      const parts = divideByWeights(text, weights).map(part => toUnits(part, 6))
      const sum = weights.reduce((all, weight) => all + BigInt(weight), 0n)
      assert.equal(
        parts.reduce((all, part) => all + part, 0n),
        units,
      )
      for (const [at, part] of parts.entries()) {
        const off = part * sum - units * BigInt(weights[at] ?? 0)
        assert.ok(off < sum && off > -sum)
      }
    }),
  )
})
