import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openKept } from './kept-organizations.ts'

test('what a dead process has left may be anybody’s until it is read', () => {
  const kept = openKept(true)
  const before = kept.isKept()
  kept.begin()
  assert.equal(kept.isKept()(1), true, 'while it is being read')
  kept.end(true)
  assert.deepEqual([before(1), kept.isKept()(1)], [true, false], 'whoever asked before goes by what was then')
})

test('an organization’s clicks are in the journal until they were read and not put back', () => {
  const kept = openKept(false)
  kept.add([1, 2])
  assert.deepEqual([kept.isKept()(1), kept.isKept()(3)], [true, false], 'nobody else’s are')
  kept.begin()
  kept.add([2])
  assert.deepEqual([kept.isKept()(1), kept.isKept()(2)], [true, true], 'both may still lie there')
  kept.end(true)
  assert.deepEqual([kept.isKept()(1), kept.isKept()(2)], [false, true])
})

test('a reading that stopped has stored nobody’s', () => {
  const kept = openKept(false)
  kept.add([1])
  kept.begin()
  kept.add([2])
  kept.end(false)
  assert.deepEqual([kept.isKept()(1), kept.isKept()(2)], [true, true])
  assert.deepEqual([kept.isOnly(org_id => org_id < 3), kept.isOnly(org_id => org_id === 1)], [true, false])
})
