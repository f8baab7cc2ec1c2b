// Custom formulas: how expressions are parsed, their values, and their errors.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFormula } from '../src/contract/formula.ts'

const FIGURES: Readonly<Record<string, number>> = { clicks: 200, landed: 50, revenue: 30, cost: 12, lead: 0 }
const known = new Set([...Object.keys(FIGURES), 'profit'])

function worked(text: string): number | undefined {
  const formula = readFormula(text, known)
  assert.ok('value' in formula, `${text}: ${'wrong' in formula ? formula.wrong : ''}`)
  return formula.value(name => FIGURES[name])
}

const wrongOf = (text: string) => {
  const formula = readFormula(text, known)
  return 'wrong' in formula ? formula.wrong : undefined
}

test('products bind before sums, operators of one rank from the left, and parentheses first', () => {
  assert.equal(worked('2 + 3 * 4'), 14)
  assert.equal(worked('(2 + 3) * 4'), 20)
  assert.equal(worked('20 - 5 - 3'), 12)
  assert.equal(worked('100 / 5 / 2'), 10)
  assert.equal(worked('-clicks + 1'), -199)
  assert.equal(worked('2 * -(1 + .5)'), -3)
})

test('names of figures are read in any case', () => {
  assert.equal(worked('Revenue/clicks'), 0.15)
  assert.equal(worked(' (revenue-cost) / landed '), 0.36)
})

test('a division by 0, or of an unknown figure, has no value', () => {
  assert.equal(worked('revenue / lead'), undefined)
  assert.equal(worked('1 + cost / (clicks - 200)'), undefined)
  assert.equal(worked('profit + 1'), undefined)
  assert.equal(worked('0 * profit'), undefined)
})

test('only figures and arithmetic are accepted', () => {
  assert.equal(wrongOf('clicks.constructor'), '“.” has no meaning here')
  assert.equal(wrongOf('alert(1)'), 'There is no figure called “alert”')
  assert.equal(wrongOf('clicks = 1'), '“=” has no meaning here')
  assert.equal(wrongOf('constructor'), 'There is no figure called “constructor”')
})

test('errors are named', () => {
  assert.equal(wrongOf('  '), 'Type a formula, such as revenue / clicks')
  assert.equal(wrongOf('revenue /'), 'Something is missing at the end')
  assert.equal(wrongOf('(revenue'), 'A parenthesis is not closed')
  assert.equal(wrongOf('revenue)'), 'An operator is missing before “)”')
  assert.equal(wrongOf('revenue clicks'), 'An operator is missing before “clicks”')
  assert.equal(wrongOf('* clicks'), 'A figure is missing before “*”')
  assert.equal(wrongOf('1'.repeat(201)), 'A formula has at most 200 characters')
})
