import assert from 'node:assert/strict'
import test from 'node:test'
import { unquoted } from './sought.ts'

test('spaces and quotes around a pasted text are left out, those inside stay, however many there are', () => {
  for (const around of ['', ' ', '"', "'", '  "\t', '“', '«', '`\n'])
    assert.equal(unquoted(`${around}a "b" c${around}`), 'a "b" c')
  assert.equal(unquoted(' "\'" '), '')
  const long = `a${'"'.repeat(200_000)}b`
  const began = performance.now()
  assert.equal(unquoted(long), long)
  assert.ok(performance.now() - began < 2_000)
})
