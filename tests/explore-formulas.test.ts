// Custom figures: parsing an expression, its value, and its error messages.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFormula } from '../src/contract/formula.ts'

const FIGURES: Readonly<Record<string, number>> = { clicks: 200, landed: 50, revenue: 30, cost: 12, lead: 0 }
const known = new Set([...Object.keys(FIGURES), 'profit'])

function valueOf(text: string): number | undefined {
  const formula = readFormula(text, known)
  assert.ok('value' in formula, `${text}: ${'wrong' in formula ? formula.wrong : ''}`)
  return formula.value(name => FIGURES[name])
}

const errorOf = (text: string) => {
  const formula = readFormula(text, known)
  return 'wrong' in formula ? formula.wrong : undefined
}

test('products come before sums, operators of equal rank from the left, and parentheses first', () => {
  assert.equal(valueOf('2 + 3 * 4'), 14)
  assert.equal(valueOf('(2 + 3) * 4'), 20)
  assert.equal(valueOf('20 - 5 - 3'), 12)
  assert.equal(valueOf('100 / 5 / 2'), 10)
  assert.equal(valueOf('-clicks + 1'), -199)
  assert.equal(valueOf('2 * -(1 + .5)'), -3)
})

test('figures are found by their names, in upper or lower case', () => {
  assert.equal(valueOf('Revenue/clicks'), 0.15)
  assert.equal(valueOf(' (revenue-cost) / landed '), 0.36)
})

test('division by 0, or by a missing value, gives no value', () => {
  assert.equal(valueOf('revenue / lead'), undefined)
  assert.equal(valueOf('1 + cost / (clicks - 200)'), undefined)
  assert.equal(valueOf('profit + 1'), undefined)
  assert.equal(valueOf('0 * profit'), undefined)
})

test('only figures and arithmetic are allowed', () => {
  assert.equal(errorOf('clicks.constructor'), '“.” has no meaning here')
  assert.equal(errorOf('alert(1)'), 'There is no figure called “alert”')
  assert.equal(errorOf('clicks = 1'), '“=” has no meaning here')
  assert.equal(errorOf('constructor'), 'There is no figure called “constructor”')
})

test('errors are explained', () => {
  assert.equal(errorOf('  '), 'Type a formula, such as revenue / clicks')
  assert.equal(errorOf('revenue /'), 'Something is missing at the end')
  assert.equal(errorOf('(revenue'), 'A parenthesis is not closed')
  assert.equal(errorOf('revenue)'), 'An operator is missing before “)”')
  assert.equal(errorOf('revenue clicks'), 'An operator is missing before “clicks”')
  assert.equal(errorOf('* clicks'), 'A figure is missing before “*”')
  assert.equal(errorOf('1'.repeat(201)), 'A formula has at most 200 characters')
})
