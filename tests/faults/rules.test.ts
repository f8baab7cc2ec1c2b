// Two processes that check a rule are killed again and again in the middle of its acts: each object is acted on once, and each act has its row in the
// history and in the log of the rule, or neither.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { LATE_MS } from '../../src/automation/rules/clock.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { type FaultGround, faultGround, IS_LONG } from '../support/fault-ground.ts'
import { openTestHouse, type TestHouse } from '../support/house.ts'
import { RULE_HOUR, seedRuled, ZONE_RULE } from '../support/ruled.ts'
import type { Sluice } from '../support/sluice.ts'

const KILLS = IS_LONG ? 15 : 1
const ZONES_PER_ROUND = 15
/** The acts of a check take about so long. */
const ACTS_MS = 50
const SECRET = 'the same in all processes'
const preload = pathToFileURL(join(import.meta.dirname, '../support/shifted-clock.ts')).href
const folder = mkdtempSync(join(tmpdir(), 'sluice-rule-kills-'))
const clock = join(folder, 'clock')

let fresh: FreshDatabase
let ground: FaultGround
let house: TestHouse
before(async () => {
  fresh = await freshDatabase()
  ground = await faultGround(fresh.database, fresh.url, 0)
  house = await openTestHouse(fresh.database, { DATA_DIR: join(folder, 'house'), SECRET, ROLE: 'serve' })
})
after(async () => {
  await ground.end()
  await house.end()
  await fresh.drop()
  rmSync(folder, { recursive: true })
})

const start = (number: number): Promise<Sluice> =>
  ground.start(number, { NODE_OPTIONS: `--import ${preload}`, SLUICE_TEST_CLOCK: clock })

/** Sets the clock of the processes to shortly before the full hour that comes so many hours after now. */
const setBeforeHour = (hours: number) => {
  const now = Date.now()
  const full = Math.ceil(now / RULE_HOUR) * RULE_HOUR + hours * RULE_HOUR
  writeFileSync(clock, String(full - 200 - now))
}

test(`both processes are killed ${KILLS === 1 ? 'once' : `${KILLS} times`} while they act on a rule: each zone is left out and told once`, async t => {
  const place = await seedRuled(house)
  const { org_id } = place.owner
  const webhook = { type: 'webhook', name: 'Pager', url: 'https://pager.example/' }
  const receiver = await place.did<{ id: string }>('POST', '/api/receivers', webhook)
  const acts = [{ type: 'tell', receiver_ids: [receiver.id] }, ...ZONE_RULE.then]
  await place.rule({ ...ZONE_RULE, active: true, then: acts })
  setBeforeHour(-2)
  const processes = await Promise.all([start(0), start(1)])
  const zones: string[] = []
  /** In the last hour, so that they are in the windows of all rounds. */
  const visit = async (round: number) => {
    const names = Array.from({ length: ZONES_PER_ROUND }, (_, zone) => `zone ${round}.${zone}`)
    await place.visit(names.map(sub1 => ({ sub1, hours_ago: 1, clicks: 20 })))
    zones.push(...names)
  }
  const leftOut = async (): Promise<number> => {
    const { rows } = await fresh.database.reads.query<{ value: string }>(
      'select value from left_out_values where org_id = $1',
      [org_id],
    )
    return rows.length
  }
  const isActing = async () => {
    const { rows } = await fresh.database.reads.query(
      `select 1 from pg_locks where relation = 'rule_objects'::regclass and mode = 'RowExclusiveLock'`,
    )
    return rows.length > 0
  }
  let hour = 0
  /** After a minute in vain it lets the next hour come: a check that fails for a minute on a busy machine is not repeated before. */
  const orNextHour = (isSo: () => Promise<boolean>) => {
    let late_ms = performance.now() + LATE_MS
    return async () => {
      if (await isSo()) return true
      if (performance.now() < late_ms) return false
      setBeforeHour(hour++)
      late_ms = performance.now() + LATE_MS
      return false
    }
  }
  const areAllOut = () => orNextHour(async () => (await leftOut()) === zones.length)
  let cut = 0
  for (let round = 0; round < KILLS; round += 1) {
    await visit(round)
    const before = await leftOut()
    setBeforeHour(hour++)
    const hasBegun = async () => (await isActing()) || (await leftOut()) > before
    await eventually('a process acts', orNextHour(hasBegun))
    await sleep(Math.random() * ACTS_MS)
    await Promise.all(processes.map(one => one.kill()))
    await eventually('the database has ended the transactions of killed processes', async () => !(await isActing()))
    cut += (await leftOut()) === before ? 1 : 0
    processes.splice(0, 2, ...(await Promise.all([start(0), start(1)])))
    // Else the zones of several rounds would be above the stop line.
    await eventually('the next processes check it again', areAllOut())
  }
  await visit(KILLS)
  setBeforeHour(hour++)
  await eventually('all zones are left out', areAllOut())
  t.diagnostic(`${cut} of ${KILLS} kills cut off the acts, the others came after them`)

  const { rows } = await fresh.database.reads.query<{ id: string; name: string }>(
    `select id, object_name as name from history where org_id = $1 and kind = 'left_out' and because = 'rule' and change = 'created'`,
    [org_id],
  )
  assert.deepEqual(rows.map(({ name }) => name.replace('sub1 = ', '')).toSorted(), zones.toSorted(), 'one row each')
  const { rows: log } = await fresh.database.reads.query<{ value: string; history_id: string }>(
    `select o ->> 'value' as value, o ->> 'history_id' as history_id from rule_checks, json_array_elements(objects) o
    where org_id = $1 and o ->> 'act' = 'left_out'`,
    [org_id],
  )
  assert.deepEqual(
    log.map(({ value, history_id }) => `${value} ${history_id}`).toSorted(),
    rows.map(({ id, name }) => `${name.replace('sub1 = ', '')} ${id}`).toSorted(),
    'the log and the history have the same acts',
  )
  const { rows: told } = await fresh.database.reads.query<{ text: string }>(
    `select body ->> 'text' as text from receiver_messages where org_id = $1 and body ->> 'type' = 'rule' and body ->> 'phase' = 'begins'`,
    [org_id],
  )
  assert.equal(new Set(told.map(({ text }) => text)).size, zones.length)
  assert.equal(told.length, zones.length, 'each zone is told once')
})
