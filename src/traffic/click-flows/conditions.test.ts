import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { languageOf, zoneClock } from './conditions.ts'

test('the language a visitor likes best is taken, wherever it stands', () => {
  assert.equal(languageOf('de-DE,de;q=0.9,en;q=0.8'), 'de-DE')
  assert.equal(languageOf('en;q=0.5, fr;q=0.9, *;q=0.1'), 'fr')
  assert.equal(languageOf(['pt', 'en;q=0.2']), 'pt')
  for (const nothing of [undefined, '', '*', 'en;q=0', ';;;', '<script>']) assert.equal(languageOf(nothing), null)
})

test('no header makes reading the language fail', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 600 }), header => {
      const language = languageOf(header)
      assert.ok(language === null || /^[A-Za-z0-9-]{1,35}$/.test(language))
    }),
    { seed: 1 },
  )
})

test('a zone that is not known is no clock', () => {
  assert.equal(zoneClock('Europe/Atlantis'), undefined)
  assert.deepEqual(zoneClock('UTC')?.(Date.parse('2026-11-21T00:00:59Z')), { day: 5, minute: 0 })
})
