import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { newId } from '../../src/contract/ids.ts'
import { assertAudit, drained } from '../support/audit.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { type FaultGround, faultGround, SECONDS } from '../support/fault-ground.ts'
import { openTestHouse } from '../support/house.ts'
import { Load } from '../support/load.ts'
import { seedSignedIn } from '../support/people.ts'
import type { Sluice } from '../support/sluice.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const SESSION_MS = 30 * DAY_MS
/** The ways in which the clock of a process misbehaves. */
const SWINGS: [string, (turn: number) => number][] = [
  ['an hour behind', () => -HOUR_MS],
  ['a day ahead', () => DAY_MS],
  ['five seconds to and fro', turn => (turn % 2 === 0 ? 5000 : -5000)],
]

const folder = mkdtempSync(join(tmpdir(), 'sluice-clock-'))
const file = join(folder, 'clock')
const shift = (ms: number) => writeFileSync(file, String(ms))
const preload = pathToFileURL(join(import.meta.dirname, '../support/shifted-clock.ts')).href
const env = { NODE_OPTIONS: `--import ${preload}`, SLUICE_TEST_CLOCK: file }

let fresh: FreshDatabase
let ground: FaultGround
let sluice: Sluice
before(async () => {
  fresh = await freshDatabase()
  ground = await faultGround(fresh.database, fresh.url, 2)
  shift(0)
  sluice = await ground.start(0, env)
})
after(async () => {
  await ground.end()
  await fresh.drop()
  rmSync(folder, { recursive: true })
})

/** The cookie of a new session; a house is needed for the secret that signs it. */
async function signedIn(): Promise<string> {
  const house = await openTestHouse(fresh.database, {
    DATA_DIR: join(folder, 'house'),
    SECRET: 'the same in all processes',
    ROLE: 'work',
  })
  const { cookie, user_id } = await seedSignedIn(house)
  await fresh.database.worker.query('update sessions set expires_at = $2 where user_id = $1', [
    user_id,
    new Date(Date.now() + SESSION_MS).toISOString(),
  ])
  await house.end()
  return cookie
}

test('the clock of a process jumps and swings under load: nothing waits for it, sessions remain, and the audit is exact', async () => {
  const cookie = await signedIn()
  const load = new Load({ address: () => sluice.address })
  const target = ground.targets[0] ?? assert.fail()
  const running = load.run(performance.now() + SECONDS * 1000, 8, ground.targets)
  for (const [swing, by] of SWINGS) {
    const until = performance.now() + (SECONDS * 1000) / SWINGS.length
    for (let turn = 0; performance.now() < until; turn += 1) {
      shift(by(turn))
      await sleep(100)
      const clickId = (await load.click(target)) ?? assert.fail(`${swing}: a visitor gets on`)
      // It may be refused over the quota.
      assert.notEqual(await load.report(target, { clickId, type: 'lead', nonce: newId() }), 'unknown', swing)
      const session = await fetch(`${sluice.address}/api/campaigns`, { headers: { cookie } })
      assert.equal(session.status, 200, `${swing}: ${await session.text()}`)
      const feed = await fetch(`${sluice.address}/api/v1/clicks?limit=1`, { headers: { 'x-api-key': target.key } })
      const reset_s = Number(feed.headers.get('x-ratelimit-reset')) - (Date.now() + by(turn)) / 1000
      // If the clock swings, the answer may still use the time before the swing.
      if (feed.status !== 429) assert.ok(reset_s > -12 && reset_s < 72, `${swing}: the quota is new in ${reset_s} s`)
      await feed.arrayBuffer()
    }
    // Deliveries become due by the database's clock.
    await drained(fresh.database.reads, ground.receiver)
  }
  await running
  assert.equal(sluice.child.exitCode, null)
  // Clicks dated in the future appear in the feed once that day has come.
  await sluice.stop()
  shift(2 * DAY_MS)
  sluice = await ground.start(0, env)
  await drained(fresh.database.reads, ground.receiver)
  const { targets, receiver } = ground
  await assertAudit(fresh.database.reads, load, { targets, receiver, address: sluice.address })
})
