import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Notation, notationOf, readAmount, readDay } from './spend-values.ts'

describe('an amount', () => {
  const read = (text: string, notation: Notation = 'point') => {
    const found = readAmount(text, notation)
    return 'error' in found ? undefined : found.amount
  }

  test('is read as files write it', () => {
    const known: [string, Notation, string | null][] = [
      ['12.5', 'point', '12.5'],
      ['0', 'unsure', '0'],
      ['1234', 'unsure', '1234'],
      ['$1,234.56', 'point', '1234.56'],
      ['1,234', 'point', '1234'],
      ['12.345', 'point', '12.345'],
      ['USD 7.00', 'point', '7.00'],
      ['7 $', 'unsure', '7'],
      ['1 234,5', 'comma', '1234.5'],
      ['1.234,56', 'comma', '1234.56'],
      ['1.234', 'comma', '1234'],
      ['0,123', 'comma', '0.123'],
      ['', 'point', null],
    ]
    for (const [text, notation, amount] of known) assert.equal(read(text, notation), amount, text)
  })

  test('that can be read in two ways, or is none, is refused', () => {
    const wrong: [string, Notation][] = [
      ['1,234', 'unsure'],
      ['1.234', 'unsure'],
      ['12,5', 'point'],
      ['12.5', 'comma'],
      ['12.5', 'mixed'],
      ['-5', 'point'],
      ['(5)', 'point'],
      ['−5', 'point'],
      ['5 EUR', 'point'],
      ['€5', 'point'],
      ['1e3', 'point'],
      ['0x10', 'point'],
      ['$', 'point'],
      ['n/a', 'point'],
      ['1,23,4.5', 'point'],
      ['1000000000.01', 'point'],
    ]
    for (const [text, notation] of wrong) assert.equal(read(text, notation), undefined, text)
  })

  test('tells how a file marks decimals only where it can be read in one way', () => {
    const known: [string[], Notation][] = [
      [['1,234', '12.50'], 'point'],
      [['1.234', '12,50'], 'comma'],
      [['1,234', '1.234', '7'], 'unsure'],
      [['12,50', '12.50'], 'mixed'],
      [['1.234,5'], 'comma'],
      [['1,234,567'], 'point'],
      [['0,125'], 'comma'],
      [[], 'unsure'],
    ]
    for (const [texts, notation] of known) assert.equal(notationOf(texts), notation, texts.join(' '))
  })
})

test('a day is read from what is unambiguous, and from slashes when their order is said', () => {
  const read = (text: string, order?: 'month_first' | 'day_first') => {
    const found = readDay(text, order)
    return 'error' in found ? undefined : found.day
  }
  for (const text of ['2026-03-04', '2026-03-04 00:00:00', '2026-03-04T00:00:00Z', '4.3.2026', '04.03.2026'])
    assert.equal(read(text), '2026-03-04', text)
  assert.deepEqual([read('3/4/2026', 'month_first'), read('3/4/2026', 'day_first')], ['2026-03-04', '2026-04-03'])
  for (const text of [
    '',
    '3/4/2026',
    '2026-02-30',
    '2026-03-04 12:00',
    '31.02.2026',
    '1999-12-31',
    '20260304',
    'Total',
  ])
    assert.equal(read(text), undefined, text)
  assert.equal(read('13/13/2026', 'day_first'), undefined)
})
