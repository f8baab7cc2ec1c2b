// Caps on clicks while processes are killed: places of a dead process are not used, and the limit is never exceeded.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { toUuid } from '../../src/contract/ids.ts'
import { capsAs } from '../support/caps.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { type FaultGround, faultGround, IS_LONG } from '../support/fault-ground.ts'
import { openTestHouse, type TestHouse } from '../support/house.ts'
import { awayFromMidnight } from '../support/midnight.ts'
import { seedSignedIn } from '../support/people.ts'
import type { Sluice } from '../support/sluice.ts'
import { BROWSER } from '../support/visits.ts'

let fresh: FreshDatabase
let ground: FaultGround
let house: TestHouse
const processes: Sluice[] = []
const start = (number: number) => ground.start(number, { ROLE: 'serve' })

before(async () => {
  await awayFromMidnight()
  fresh = await freshDatabase()
  ground = await faultGround(fresh.database, fresh.url, 1)
  house = await openTestHouse(fresh.database, { SECRET: 'the same in all processes' })
  for (const number of [0, 1]) processes.push(await start(number))
})
after(async () => {
  await ground.end()
  await house.end()
  await fresh.drop()
})

const VISITS = IS_LONG ? 5000 : 1000
const LIMIT = VISITS / 5
const VISITORS = 24

test('of many visits to two processes that are killed again and again, no more than the cap allows go to the offer', async () => {
  const at = capsAs(house, await seedSignedIn(house))
  const offer = await at.offer('slots')
  const cap = await at.cap(offer.id, { metric: 'clicks', limit: LIMIT })
  const { key } = await at.follow(offer.id, { fallback_url: 'https://back.example/' })
  const hosts = new Map<string, number>()
  let cutOff = 0
  const visit = async (n: number) => {
    const { address } = processes[n % processes.length] ?? assert.fail()
    try {
      const { headers, status } = await fetch(`${address}/c/${key}`, { headers: BROWSER, redirect: 'manual' })
      const host = status === 302 ? new URL(headers.get('location') ?? '').host : String(status)
      hosts.set(host, (hosts.get(host) ?? 0) + 1)
      return true
    } catch (error) {
      // Its process was killed. A refused connection never reached one.
      const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException
      if (code !== 'ECONNREFUSED') cutOff += 1
      return false
    }
  }
  let done = 0
  const walk = async (n: number) => {
    for (let visits = n; visits < VISITS; visits += VISITORS) {
      // Otherwise all places would be used while a process starts.
      for (let other = visits; !(await visit(other)); other += 1);
      done += 1
    }
  }
  const walking = Promise.all(Array.from({ length: VISITORS }, (_, n) => walk(n)))
  // While the row has places left, and each process holds some.
  for (const [number, after_] of [
    [0, LIMIT * 0.15],
    [1, LIMIT * 0.5],
  ] as const) {
    await eventually('so many visits', () => done >= after_)
    await processes[number]?.kill()
    processes[number] = await start(number)
  }
  await walking
  const { rows } = await fresh.database.reads.query<{ clicks: number }>(
    'select count(*)::int as clicks from clicks where offer_id = $1',
    [toUuid(offer.id)],
  )
  const clicks = rows[0]?.clicks ?? 0
  const { reserved } = await at.read(cap.id)
  assert.ok(clicks <= LIMIT && (hosts.get('slots.example') ?? 0) <= LIMIT, `${clicks} clicks`)
  // Only places of dead processes are missing, a sixteenth of the remaining ones each, and those of the visits that a kill cut off.
  const lost = 4 * (LIMIT / 16) + cutOff
  assert.ok(clicks >= LIMIT - lost, `${clicks} clicks, ${reserved} reserved, ${cutOff} visits cut off`)
  await Promise.all(processes.map(one => one.stop()))
  const told = await at.read(cap.id)
  assert.ok(told.used + told.reserved <= LIMIT, JSON.stringify(told))
  assert.ok(clicks <= told.used + told.reserved, `${clicks} clicks, ${JSON.stringify(told)}`)
})
