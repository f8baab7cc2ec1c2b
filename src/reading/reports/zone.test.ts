import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shiftsOf } from './zone.ts'

const window = (from: string, to: string) => ({ from: Date.parse(from), to: Date.parse(to) })
const AUTUMN = window('2026-09-01T03:07:00Z', '2026-11-30T00:00:00Z')
const told = (tz: string, over = AUTUMN) =>
  shiftsOf(tz, over).map(({ from, minutes }) => `${new Date(from).toISOString().slice(0, 16)} ${minutes}`)

test('offsets and their changes are those of the zone, to the half hour', () => {
  assert.deepEqual(told('UTC'), ['2026-09-01T03:07 0'])
  assert.deepEqual(told('Asia/Kolkata'), ['2026-09-01T03:07 330'])
  assert.deepEqual(told('America/Sao_Paulo'), ['2026-09-01T03:07 -180'])
  assert.deepEqual(told('Europe/Kyiv'), ['2026-09-01T03:07 180', '2026-10-25T01:00 120'])
  assert.deepEqual(told('America/New_York'), ['2026-09-01T03:07 -240', '2026-11-01T06:00 -300'])
  assert.deepEqual(told('Australia/Lord_Howe'), ['2026-09-01T03:07 630', '2026-10-03T15:30 660'])
  assert.deepEqual(told('Europe/Kyiv', window('2026-03-29T00:59:59.999Z', '2026-03-29T01:00:00Z')), [
    '2026-03-29T00:59 120',
    '2026-03-29T01:00 180',
  ])
})

test('an unknown zone, and one whose offset is not a multiple of half an hour, is refused', () => {
  for (const tz of ['', 'Mars/Olympus', '+03:00', 'Europe/Kyiv ', 'GMT+3'])
    assert.throws(() => shiftsOf(tz, AUTUMN), { refusal: 'tz_unknown', status: 400 }, tz)
  for (const tz of ['Asia/Kathmandu', 'Pacific/Chatham', 'Australia/Eucla'])
    assert.throws(() => shiftsOf(tz, AUTUMN), { refusal: 'tz_not_offered', message: new RegExp(tz) }, tz)
})
