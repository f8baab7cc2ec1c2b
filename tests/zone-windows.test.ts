// The dashboard's windows: whole days of its time zone.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  boundsBefore,
  boundsOf,
  daysOf,
  daysOrBoundsOf,
  isRagged,
  isTooWide,
  utcBoundsOf,
} from '../src/web/ground/figures/window.ts'
import { dayAt, dayBegins, dayEnds, setScreenZone, zoneNow, zoneWords } from '../src/web/ground/zone.ts'

const HOUR = 3_600_000
const at = (text: string) => Date.parse(text)

after(() => setScreenZone('UTC'))

test('in UTC the days are dates, as the API expects them', () => {
  setScreenZone('UTC')
  const days = { from: '2026-10-24', to: '2026-10-25' }
  assert.deepEqual(boundsOf(days), { date_from: '2026-10-24', date_to: '2026-10-25T23:59:59.999Z' })
  assert.deepEqual(daysOrBoundsOf(days), { date_from: '2026-10-24', date_to: '2026-10-25' })
  assert.equal(isRagged(days), false)
})

test('in Kyiv they begin at midnight there, and the day of the clock change has 25 hours', () => {
  setScreenZone('Europe/Kyiv')
  const day = { from: '2026-10-25', to: '2026-10-25' }
  assert.deepEqual(boundsOf(day), { date_from: '2026-10-24T21:00:00.000Z', date_to: '2026-10-25T21:59:59.999Z' })
  assert.equal(dayEnds('2026-10-25') - dayBegins('2026-10-25'), 25 * HOUR)
  assert.equal(dayEnds('2026-03-29') - dayBegins('2026-03-29'), 23 * HOUR)
  assert.deepEqual(daysOrBoundsOf(day), boundsOf(day))
  assert.deepEqual(utcBoundsOf(day), { date_from: '2026-10-25', date_to: '2026-10-25T23:59:59.999Z' })
  assert.equal(isRagged(day), true)
})

test('presets begin with the zone’s date, and earlier periods end at the same time of day', () => {
  setScreenZone('America/Sao_Paulo')
  const now = at('2026-11-22T02:30:00Z')
  assert.equal(dayAt(now), '2026-11-21')
  const days = daysOf({ range: 'today' }, dayAt(now))
  assert.deepEqual(days, { from: '2026-11-21', to: '2026-11-21' })
  assert.deepEqual(boundsBefore(days, now), {
    date_from: '2026-11-20T03:00:00.000Z',
    date_to: '2026-11-21T02:30:00.000Z',
  })
})

test('92 days and an hour are too wide, and fall back to the preset', () => {
  setScreenZone('Europe/Kyiv')
  const days = { from: '2026-08-01', to: '2026-10-31' }
  assert.equal(isTooWide(days), true)
  assert.deepEqual(daysOf(days, '2026-11-22'), { from: '2026-11-16', to: '2026-11-22' })
  assert.equal(isTooWide({ from: '2026-05-01', to: '2026-07-31' }), false)
})

test('a zone has its place’s name, and an unknown zone is UTC', () => {
  setScreenZone('America/New_York')
  assert.deepEqual([zoneNow(), zoneWords()], ['America/New_York', 'New York'])
  setScreenZone('Mars/Olympus')
  assert.deepEqual([zoneNow(), zoneWords()], ['UTC', 'UTC'])
})
