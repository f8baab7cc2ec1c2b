import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inCurrency, inDollars, quotient } from './exact.ts'

test('a quotient has 12 significant digits, whatever its size', () => {
  const cases: [string, string, string][] = [
    ['1', '3', '0.333333333333'],
    ['2', '3', '0.666666666667'],
    ['1.1526', '1', '1.1526'],
    ['1.1526', '30412', '0.0000378995133500'],
    ['1', '26000', '0.0000384615384615'],
    ['100', '3', '33.3333333333'],
    ['999999999999.5', '1', '1000000000000'],
    ['9.99999999999999', '1', '10'],
    ['0.001', '0.001', '1'],
    ['10', '0.0003', '33333.3333333'],
  ]
  for (const [a, b, expected] of cases) {
    const bare = expected.includes('.') ? expected.replace(/\.?0+$/, '') : expected
    assert.equal(quotient(a, b), bare, `${a} / ${b}`)
  }
  for (const [a, b] of [
    ['0', '1'],
    ['1', '0'],
    ['1e3', '1'],
  ] as const)
    assert.throws(() => quotient(a, b), RangeError)
})

test('an amount in dollars is exact to the millionth, half up', () => {
  assert.equal(inDollars('10', '1.1'), '11')
  assert.equal(inDollars('0.000005', '0.1'), '0.000001')
  assert.equal(inDollars('0.000004', '0.1'), '0')
  assert.equal(inDollars('25000000', '0.0000384615384615'), '961.538462')
  assert.equal(inDollars('123456789012345.123456789', '1'), '123456789012345.123457')
})

test('dollars in another currency are exact to its hundredth, half up', () => {
  assert.equal(inCurrency('11.00', '1.1'), '10.00')
  assert.equal(inCurrency('0.00', '1.1'), '0.00')
  assert.equal(inCurrency('1.00', '3'), '0.33')
  assert.equal(inCurrency('2.00', '3'), '0.67')
  assert.equal(inCurrency('0.01', '2'), '0.01')
  assert.equal(inCurrency('0.01', '2.000001'), '0.00')
  assert.equal(inCurrency('961.54', '0.0000384615384615'), '25000040.00')
  assert.equal(inCurrency('90071992547409.93', '0.5'), '180143985094819.86')
})
