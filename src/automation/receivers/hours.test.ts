// Quiet hours and digests: over midnight, and on days when clocks change.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MessageBody } from '../../contract/alerts.ts'
import { turnOf } from './hours.ts'

const HOURS = { from: '22:00', to: '07:00', time_zone: 'Europe/Berlin' }
const at = (text: string) => Date.parse(text)
const message = (type: string, created_at = '2026-03-28T12:00:00Z', attempts = 0) => ({
  body: { type } as MessageBody,
  attempts,
  created_at,
})
const untilOf = (turn: unknown) =>
  typeof turn === 'object' && turn !== null && 'wait_until' in turn
    ? new Date(Number(turn.wait_until)).toISOString()
    : turn

test('quiet hours over midnight end by the clocks of their zone, also in the night when these change', () => {
  const turn = (now: string, type = 'rule', attempts = 0) =>
    untilOf(turnOf({ quiet_hours: HOURS, digest: null }, message(type, now, attempts), at(now)))
  // Winter: 22:00 is 21:00 UTC.
  assert.equal(turn('2026-01-10T20:59:59Z'), 'send')
  assert.equal(turn('2026-01-10T21:00:00Z'), '2026-01-11T06:00:00.000Z')
  assert.equal(turn('2026-01-11T05:59:59Z'), '2026-01-11T06:00:00.000Z')
  assert.equal(turn('2026-01-11T06:00:00Z'), 'send')
  // The night before summer has eight hours, the one before winter ten.
  assert.equal(turn('2026-03-28T21:00:00Z'), '2026-03-29T05:00:00.000Z')
  assert.equal(turn('2026-10-24T20:00:00Z'), '2026-10-25T06:00:00.000Z')
  // Retries and digests wait too, tests do not.
  assert.equal(turn('2026-01-10T23:00:00Z', 'rule', 3), '2026-01-11T06:00:00.000Z')
  assert.equal(turn('2026-01-10T23:00:00Z', 'digest'), '2026-01-11T06:00:00.000Z')
  assert.equal(turn('2026-01-10T23:00:00Z', 'test'), 'send')
})

test('a digest is due at its time of day in its zone, once on days when clocks change', () => {
  const digest = { at: '02:30', time_zone: 'Europe/Berlin' }
  const turn = (created_at: string, now: string) =>
    untilOf(turnOf({ quiet_hours: null, digest }, message('rule', created_at), at(now)))
  assert.equal(turn('2026-01-10T12:00:00Z', '2026-01-10T12:00:00Z'), '2026-01-11T01:30:00.000Z')
  assert.equal(turn('2026-01-10T12:00:00Z', '2026-01-11T01:30:00Z'), 'collect')
  // On 29 March there is no 02:30, on 25 October it is twice.
  assert.equal(turn('2026-03-28T12:00:00Z', '2026-03-28T12:00:00Z'), '2026-03-29T01:30:00.000Z')
  assert.equal(turn('2026-10-24T12:00:00Z', '2026-10-24T12:00:00Z'), '2026-10-25T00:30:00.000Z')
  assert.equal(turn('2026-10-25T00:30:00Z', '2026-10-25T01:00:00Z'), '2026-10-26T01:30:00.000Z')
  assert.equal(
    turnOf({ quiet_hours: null, digest }, message('rule', '2026-01-10T12:00:00Z', 1), at('2026-01-10T12:00:00Z')),
    'send',
  )
})
