import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashOf, mixed } from './stable-hash.ts'

test('a text has the hash it has always had, in one piece or in two', () => {
  assert.equal(hashOf(''), 0x811c9dc5)
  assert.equal(hashOf('a'), 0xe40c292c)
  assert.equal(hashOf('foobar'), 0xbf9cf968)
  assert.equal(hashOf('bar', hashOf('foo')), hashOf('foobar'))
})

test('bits are mixed as they have always been', () => {
  assert.deepEqual([0, 1, 0xffffffff].map(mixed), [0, 0x514e28b7, 0x81f16f39])
})
