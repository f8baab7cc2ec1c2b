import assert from 'node:assert/strict'
import { test } from 'node:test'
import { localIn, momentIn } from './zones.ts'

test('a local time becomes the right moment in any season and zone', () => {
  for (const [zone, local, moment] of [
    ['UTC', '2026-03-02T00:00', '2026-03-02T00:00:00.000Z'],
    ['Europe/Kyiv', '2026-03-02T00:00', '2026-03-01T22:00:00.000Z'],
    ['Europe/Kyiv', '2026-07-02T00:00', '2026-07-01T21:00:00.000Z'],
    ['America/Sao_Paulo', '2026-03-02T00:00', '2026-03-02T03:00:00.000Z'],
    ['Asia/Kolkata', '2026-03-02T00:00', '2026-03-01T18:30:00.000Z'],
    ['Pacific/Chatham', '2026-07-02T00:00', '2026-07-01T11:15:00.000Z'],
    ['Pacific/Kiritimati', '2026-07-02T00:00', '2026-07-01T10:00:00.000Z'],
  ] as const) {
    assert.equal(momentIn(zone, local), moment, `${zone} ${local}`)
    assert.equal(localIn(zone, Date.parse(moment)), local)
  }
})

test('at a clock change, a repeated hour is the first one, and a skipped hour is after the change', () => {
  assert.equal(momentIn('Europe/Kyiv', '2026-10-25T03:30'), '2026-10-25T00:30:00.000Z')
  assert.equal(momentIn('Europe/Kyiv', '2026-10-25T00:00'), '2026-10-24T21:00:00.000Z')
  assert.equal(momentIn('Europe/Kyiv', '2026-10-26T00:00'), '2026-10-25T22:00:00.000Z')
  assert.equal(momentIn('Europe/Kyiv', '2026-03-29T03:30'), '2026-03-29T01:30:00.000Z')
  assert.equal(momentIn('America/New_York', '2026-11-01T01:30'), '2026-11-01T05:30:00.000Z')
})

test('text that is no local time is refused', () => {
  for (const local of ['', '2026-03-02', '2026-13-02T00:00', '2026-03-02T24:30', '2026-03-02T00:00Z'])
    assert.equal(momentIn('UTC', local), undefined, local)
})
