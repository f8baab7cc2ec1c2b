import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mixBits, stableHashOf } from './stable-hash.ts'

test('a text has the hash it has always had, in one piece or in two', () => {
  assert.equal(stableHashOf(''), 0x811c9dc5)
  assert.equal(stableHashOf('a'), 0xe40c292c)
  assert.equal(stableHashOf('foobar'), 0xbf9cf968)
  assert.equal(stableHashOf('bar', stableHashOf('foo')), stableHashOf('foobar'))
})

test('bits are mixed as they have always been', () => {
  assert.deepEqual([0, 1, 0xffffffff].map(mixBits), [0, 0x514e28b7, 0x81f16f39])
})
