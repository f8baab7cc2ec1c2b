// Due times of rules by the clock of the workspace, and the windows judged then.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOUR_MS, MINUTE_MS } from '../../contract/days.ts'
import { dueNow, lastDue, nextDue, type Rhythm, windowAt } from './clock.ts'

const at = (text: string) => Date.parse(text)
const both = (rhythm: Rhythm, zone: string, now: string) =>
  [lastDue(rhythm, zone, at(now)), nextDue(rhythm, zone, at(now))].map(ms => new Date(ms).toISOString().slice(0, 16))

test('a rule is due at each full interval of the clock in the zone', () => {
  assert.deepEqual(both({ every: 5 }, 'UTC', '2026-11-26T10:04:59.999Z'), ['2026-11-26T10:00', '2026-11-26T10:05'])
  assert.deepEqual(both({ every: 5 }, 'UTC', '2026-11-26T10:05:00Z'), ['2026-11-26T10:05', '2026-11-26T10:10'])
  assert.deepEqual(both({ every: 60 }, 'Asia/Kathmandu', '2026-11-26T10:20:00Z'), [
    '2026-11-26T10:15',
    '2026-11-26T11:15',
  ])
  assert.deepEqual(both({ every: 'day', at: '09:00' }, 'Europe/Kyiv', '2026-10-24T10:00:00Z'), [
    '2026-10-24T06:00',
    '2026-10-25T07:00',
  ])
  assert.deepEqual(both({ every: 'day' }, 'America/Sao_Paulo', '2026-11-26T11:59:00Z'), [
    '2026-11-25T12:00',
    '2026-11-26T12:00',
  ])
})

test('each due time comes after the one before, and none is left out, also where clocks change', () => {
  const changes = [
    { zone: 'Australia/Lord_Howe', around: ['2026-04-04T15:00:00Z', '2026-10-03T15:30:00Z'] },
    { zone: 'America/New_York', around: ['2026-03-08T07:00:00Z', '2026-11-01T06:00:00Z'] },
  ]
  for (const { zone, around } of changes)
    for (const change of around.map(at))
      for (const every of [5, 15, 60, 'day'] as const) {
        const rhythm = every === 'day' ? ({ every, at: '23:00' } as const) : { every }
        const first = change - 60 * HOUR_MS
        let due = nextDue(rhythm, zone, first)
        for (let next = due; due < change + 60 * HOUR_MS; due = next) {
          next = nextDue(rhythm, zone, due)
          assert.ok(next > due, `${zone} ${every}`)
          const most_ms = every === 'day' ? 25 * HOUR_MS : (every + 30) * MINUTE_MS
          assert.ok(next - due <= most_ms, `${zone} ${every}: ${(next - due) / HOUR_MS} hours`)
          assert.deepEqual(
            [lastDue(rhythm, zone, next), lastDue(rhythm, zone, next - 1)],
            [next, due],
            `${zone} ${every}`,
          )
        }
      }
  const daily = { every: 'day', at: '23:00' } as const
  assert.equal(nextDue(daily, 'America/New_York', at('2026-03-08T04:00:00.500Z')), at('2026-03-09T03:00:00Z'))
})

test('the window ends at the due time less the newest hours', () => {
  const due = at('2026-11-26T10:00:00Z')
  const { from, to } = windowAt({ hours: 24, leave_out_newest_hours: 3 }, due)
  assert.deepEqual([from, to], [due - 27 * HOUR_MS, due - 3 * HOUR_MS - 1])
})

test('times at which nobody was up are not made up for, and of several only the last counts', () => {
  const now_ms = at('2026-11-26T12:20:00Z')
  const [planned_ms, noon] = [at('2026-11-26T10:00:00Z'), at('2026-11-26T12:00:00Z')]
  const due = (began_ms: number, planned = planned_ms) =>
    dueNow({ every: 60 }, 'UTC', { planned_ms: planned, now_ms, began_ms })
  assert.equal(due(planned_ms), noon)
  assert.equal(due(noon + MINUTE_MS), noon, 'a restart takes a moment')
  assert.equal(due(noon + 2 * MINUTE_MS), undefined)
  assert.equal(due(planned_ms, noon + HOUR_MS), undefined, 'it is not due yet')
})
