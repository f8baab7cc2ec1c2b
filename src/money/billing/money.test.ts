import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { fromMillionths, toMillionths } from './money.ts'

test('every amount of six decimals survives the way in and out', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }),
      amount => toMillionths(fromMillionths(amount)) === amount,
    ),
  )
})

test('what is finer than a millionth is rounded half up, and nothing is padded', () => {
  const known = {
    '0': '0',
    '-0': '0',
    '12.50': '12.5',
    '0.0000005': '0.000001',
    '0.00000049': '0',
    '-0.0000005': '-0.000001',
    '1000000.000000': '1000000',
  }
  for (const [text, shown] of Object.entries(known)) assert.equal(fromMillionths(toMillionths(text)), shown, text)
})

test('what is no plain decimal is an error, never zero', () => {
  for (const text of ['', ' ', '1e3', '0x10', '.5', '5.', 'NaN', '1,5', '--1'])
    assert.throws(() => toMillionths(text), RangeError, text)
})
