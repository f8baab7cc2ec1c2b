import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS, HOUR_MS } from './days.ts'
import { dayBeginsIn, isTimeZone, localDay, localPeriod, TimeZone, weekClock } from './time-zones.ts'

const at = (text: string) => Date.parse(text)
const day = (zone: string, text: string) => {
  const { from_ms, to_ms } = localPeriod(zone, 'day', at(text))
  return [from_ms, to_ms].map(ms => new Date(ms).toISOString().replace(':00.000Z', 'Z'))
}

test('a day begins at the midnight of its zone', () => {
  assert.deepEqual(day('UTC', '2026-11-22T13:00:00Z'), ['2026-11-22T00:00Z', '2026-11-23T00:00Z'])
  assert.deepEqual(day('America/Sao_Paulo', '2026-11-22T02:59:59.999Z'), ['2026-11-21T03:00Z', '2026-11-22T03:00Z'])
  assert.deepEqual(day('America/Sao_Paulo', '2026-11-22T03:00:00Z'), ['2026-11-22T03:00Z', '2026-11-23T03:00Z'])
  assert.deepEqual(day('Asia/Kathmandu', '2026-11-22T13:00:00Z'), ['2026-11-21T18:15Z', '2026-11-22T18:15Z'])
})

test('a day with a clock change has 23 or 25 hours', () => {
  assert.deepEqual(day('Europe/Kyiv', '2026-10-25T10:00:00Z'), ['2026-10-24T21:00Z', '2026-10-25T22:00Z'])
  assert.deepEqual(day('Europe/Kyiv', '2026-03-29T10:00:00Z'), ['2026-03-28T22:00Z', '2026-03-29T21:00Z'])
  // Midnight was skipped in São Paulo, and occurred twice in Havana.
  assert.deepEqual(day('America/Sao_Paulo', '2018-11-04T12:00:00Z'), ['2018-11-04T03:00Z', '2018-11-05T02:00Z'])
  assert.deepEqual(day('America/Sao_Paulo', '2018-02-17T12:00:00Z'), ['2018-02-17T02:00Z', '2018-02-18T03:00Z'])
  assert.deepEqual(day('America/Havana', '2026-11-01T12:00:00Z'), ['2026-11-01T04:00Z', '2026-11-02T05:00Z'])
  // Samoa had no 30 December 2011.
  assert.deepEqual(day('Pacific/Apia', '2011-12-30T09:00:00Z'), ['2011-12-29T10:00Z', '2011-12-30T10:00Z'])
})

test('days and months follow one another without a gap in any zone', () => {
  for (const zone of ['Europe/Kyiv', 'America/Sao_Paulo', 'America/Havana', 'Africa/Cairo', 'Australia/Lord_Howe'])
    for (const unit of ['day', 'month'] as const)
      for (let ms = at('2026-01-01T00:00:00Z'), last = -1; ms < at('2027-02-01T00:00:00Z'); ) {
        const { from_ms, to_ms } = localPeriod(zone, unit, ms)
        assert.ok(
          from_ms <= ms && ms < to_ms && (last < 0 || from_ms === last),
          `${zone} ${new Date(ms).toISOString()}`,
        )
        assert.deepEqual(localPeriod(zone, unit, to_ms - 1), { from_ms, to_ms })
        assert.ok(unit === 'month' || Math.abs(to_ms - from_ms - DAY_MS) <= HOUR_MS)
        last = to_ms
        ms = to_ms
      }
})

const pick = ({ day, minute }: { day: number; minute: number }) => [day, minute]
test('the minute of a week is that of the zone', () => {
  assert.deepEqual(pick(weekClock('UTC', at('2026-11-22T13:05:59Z'))), [6, 785])
  assert.deepEqual(pick(weekClock('UTC', at('2026-11-23T00:00:00Z'))), [0, 0])
  assert.deepEqual(pick(weekClock('Asia/Kathmandu', at('2026-11-22T18:15:00Z'))), [0, 0])
  assert.deepEqual(pick(weekClock('America/Sao_Paulo', at('2026-11-22T02:59:00Z'))), [5, 1439])
})

test('a zone is known by its name', () => {
  for (const zone of ['Europe/Kyiv', 'UTC', 'Asia/Kolkata']) assert.equal(TimeZone.parse(zone), zone)
  for (const zone of ['', '+03:00', 'Europe/Atlantis', 'Mars']) assert.equal(TimeZone.safeParse(zone).success, false)
})

test('a date in a zone begins at its first moment there', () => {
  assert.equal(localDay('Europe/Kyiv', at('2026-10-24T20:59:59.999Z')), '2026-10-24')
  assert.equal(localDay('Europe/Kyiv', at('2026-10-24T21:00:00Z')), '2026-10-25')
  assert.equal(localDay('America/Sao_Paulo', at('2026-11-22T02:59:59Z')), '2026-11-21')
  assert.equal(dayBeginsIn('Europe/Kyiv', '2026-10-25'), at('2026-10-24T21:00:00Z'))
  assert.equal(dayBeginsIn('Europe/Kyiv', '2026-10-26') - dayBeginsIn('Europe/Kyiv', '2026-10-25'), 25 * HOUR_MS)
  assert.equal(dayBeginsIn('Europe/Kyiv', '2026-03-30') - dayBeginsIn('Europe/Kyiv', '2026-03-29'), 23 * HOUR_MS)
})

test('an offset and an unknown name are no zones', () => {
  for (const zone of ['+03:00', 'Mars/Olympus', '', '3']) assert.equal(isTimeZone(zone), false, zone)
  for (const zone of ['UTC', 'Europe/Kyiv', 'Asia/Kathmandu']) assert.equal(isTimeZone(zone), true, zone)
})
