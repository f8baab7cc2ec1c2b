import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { DAY_MS, dayOf } from './days.ts'
import { type Moment, parseMoment } from './moments.ts'
import { Refusal } from './refusals.ts'
import { after, windowBetween } from './window.ts'

const at = (text: string): string | undefined => {
  const moment = parseMoment(text)
  return moment && new Date(moment.ms).toISOString() + moment.finer
}
const moment = (text: string): Moment => {
  const read = parseMoment(text)
  assert.ok(read, text)
  return read
}
const refusalOf = (from: string, to: string): string | undefined => {
  try {
    windowBetween(moment(from), moment(to))
    return undefined
  } catch (error) {
    assert.ok(error instanceof Refusal)
    return error.refusal
  }
}

test('ISO 8601 is understood in the forms that clients send', () => {
  const forms: [string, string][] = [
    ['2026-03-01', '2026-03-01T00:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2026-03-01T12:30', '2026-03-01T12:30:00.000Z'],
    ['2026-03-01T12:30:15', '2026-03-01T12:30:15.000Z'],
    ['2026-03-01 12:30:15', '2026-03-01T12:30:15.000Z'],
    ['2026-03-01t12:30:15.5z', '2026-03-01T12:30:15.500Z'],
    ['2026-03-01T12:30:15,25Z', '2026-03-01T12:30:15.250Z'],
    ['2026-03-01T12:30:15.1234500Z', '2026-03-01T12:30:15.123Z45'],
    ['2026-03-01T12:30:15+02:00', '2026-03-01T10:30:15.000Z'],
    ['2026-03-01T12:30:15 02:00', '2026-03-01T10:30:15.000Z'],
    ['2026-03-01T12:30:15-0530', '2026-03-01T18:00:15.000Z'],
    ['2026-03-01T00:30+02', '2026-02-28T22:30:00.000Z'],
    ['2026-03-01T24:00:00Z', '2026-03-02T00:00:00.000Z'],
  ]
  for (const [sent, meant] of forms) assert.equal(at(sent), meant, sent)
})

test('text that is no date is refused', () => {
  const not = [
    '',
    'yesterday',
    '2026',
    '2026-03',
    '2026-3-1',
    '2026-02-30',
    '2026-02-29',
    '2026-13-01',
    '2026-00-10',
    '2026-03-01T',
  ]
  const neither = [
    '2026-03-01T25:00',
    '2026-03-01T24:00:01',
    '2026-03-01T12:60',
    '2026-03-01T12:30:60',
    '2026-03-01T12:30:15+24:00',
  ]
  const nor = [
    '1772323200',
    ' 2026-03-01',
    '2026-03-01 ',
    '2026-03-01T12:30:15Z2',
    '2026-03-01Z',
    '2026-03-01+02:00',
    '٢٠٢٦-٠٣-٠١',
  ]
  for (const text of [...not, ...neither, ...nor]) assert.equal(at(text), undefined, text)
})

test('a window includes both ends and is at most 92 days wide', () => {
  assert.deepEqual(windowBetween(moment('2026-01-01'), moment('2026-01-01')), {
    from: 1767225600000,
    to: 1767225600000,
  })
  assert.equal(refusalOf('2026-01-01', '2026-04-03'), undefined)
  assert.equal(refusalOf('2026-01-01', '2026-04-03T00:00:00.001'), 'window_too_wide')
  assert.equal(refusalOf('2026-01-01', '2026-04-03T00:00:00.0000001'), 'window_too_wide')
  assert.equal(refusalOf('2026-01-01T00:00:00.0000001', '2026-04-03T00:00:00.0000001'), undefined)
  assert.equal(refusalOf('2026-01-02', '2026-01-01'), 'invalid_window')
  assert.equal(refusalOf('2026-01-01T00:00:00.0000002', '2026-01-01T00:00:00.0000001'), 'invalid_window')
})

test('a bound finer than a millisecond excludes the milliseconds outside', () => {
  assert.deepEqual(windowBetween(moment('2026-01-01T00:00:00.0015'), moment('2026-01-01T00:00:00.0045')), {
    from: 1767225600002,
    to: 1767225600004,
  })
  const none = windowBetween(moment('2026-01-01T00:00:00.0015'), moment('2026-01-01T00:00:00.0016'))
  assert.ok(none.from > none.to)
})

test('every moment written in any zone is read as the same moment', () => {
  const ms = fc.integer({ min: 0, max: Date.UTC(9999, 0, 1) })
  fc.assert(
    fc.property(ms, fc.integer({ min: -14 * 60, max: 14 * 60 }), (time, zone) => {
      const local = new Date(time + zone * 60_000).toISOString().slice(0, -1)
      if (!/^\d{4}-/.test(local)) return
      const size = Math.abs(zone)
      const text = `${local}${zone < 0 ? '-' : '+'}${String(Math.floor(size / 60)).padStart(2, '0')}:${String(size % 60).padStart(2, '0')}`
      assert.deepEqual(parseMoment(text), { ms: time, finer: '' })
      assert.deepEqual(parseMoment(text.replace('+', ' ')), { ms: time, finer: '' })
      assert.equal(dayOf(time), new Date(time).toISOString().slice(0, 10))
    }),
  )
  assert.equal(after({ ms: 5, finer: '1' }, DAY_MS).ms, DAY_MS + 5)
})

test('days outside the range of ids become the nearest day in it', () => {
  assert.equal(dayOf(-1), '1970-01-01')
  assert.equal(dayOf(moment('9999-12-31T23:59:59-14:00').ms), '9999-12-31')
})
