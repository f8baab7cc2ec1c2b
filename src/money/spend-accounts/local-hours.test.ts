import assert from 'node:assert/strict'
import { test } from 'node:test'
import { divideByQuarters, type AccountZone, accountZone } from './local-hours.ts'

const zone = (name: string) => accountZone(name) as AccountZone
/** The quarters of a local day's hours in each UTC day. */
const told = (name: string, day: string) =>
  zone(name)
    .hoursOf(day)
    .map(parts => parts.map(part => `${part.day.slice(-2)}:${part.quarters}`).join('+'))

test('an hour of a zone lies in the UTC day it is in, on either side of midnight', () => {
  assert.deepEqual(told('UTC', '2026-03-02'), Array(24).fill('02:4'))
  assert.deepEqual(told('Europe/Kyiv', '2026-01-10'), [...Array(2).fill('09:4'), ...Array(22).fill('10:4')])
  assert.deepEqual(told('America/Los_Angeles', '2026-01-10'), [...Array(16).fill('10:4'), ...Array(8).fill('11:4')])
  assert.deepEqual(told('Pacific/Kiritimati', '2026-01-10'), [...Array(14).fill('09:4'), ...Array(10).fill('10:4')])
})

test('an hour that lies in two UTC days is divided by its quarters', () => {
  const kolkata = told('Asia/Kolkata', '2026-01-10')
  assert.deepEqual(kolkata.slice(4, 7), ['09:4', '09:2+10:2', '10:4'])
  assert.deepEqual(told('Asia/Kathmandu', '2026-01-10').slice(4, 7), ['09:4', '09:3+10:1', '10:4'])
  const parts = zone('Asia/Kolkata').hoursOf('2026-01-10')[5] ?? []
  assert.deepEqual(divideByQuarters(10_000_001n, parts), [
    { day: '2026-01-09', amount: 5_000_000n },
    { day: '2026-01-10', amount: 5_000_001n },
  ])
})

test('clocks that are turned make an hour twice as long, or leave it out', () => {
  const autumn = told('Europe/Kyiv', '2026-10-25')
  assert.deepEqual(autumn.slice(0, 5), ['24:4', '24:4', '24:4', '25:8', '25:4'])
  const spring = zone('Europe/Kyiv').hoursOf('2026-03-29')
  assert.deepEqual(
    spring.slice(1, 5).map(parts => parts.map(({ day }) => day.slice(-2)).join('+')),
    ['28', '29', '29', '29'],
  )
  assert.equal(zone('Europe/Kyiv').startOf('2026-10-25'), Date.parse('2026-10-24T21:00:00Z'))
  assert.equal(zone('Europe/Kyiv').startOf('2026-10-26'), Date.parse('2026-10-25T22:00:00Z'))
})

test('a zone is known by its name alone', () => {
  assert.equal(accountZone('Europe/Atlantis'), undefined)
  assert.equal(accountZone(''), undefined)
  assert.deepEqual(zone('Asia/Kolkata').at(Date.parse('2026-03-01T20:00:00Z')), { day: '2026-03-02', hour: 1 })
})
