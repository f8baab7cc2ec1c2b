// An upgrade under traffic: the version before Explore beside this one on one database. Answers include its rows, or name the days that lack them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { DAY_MS } from '../../src/contract/days.ts'
import { ExploreQuestion } from '../../src/contract/explore.ts'
import { MEASURES } from '../../src/contract/explore-measures.ts'
import { toWireId } from '../../src/contract/ids.ts'
import { connect, type Database } from '../../src/ground/db/connect.ts'
import { sealAll } from '../../src/reading/segments/seal.ts'
import { assertBooks } from '../support/audit.ts'
import { seedCountedClicks } from '../support/counted-clicks.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { asRecounted, recountExplore } from '../support/explore-recount.ts'
import { anyVisit, asker, assertExactAnswers, cookieOf, hasty, secretsOf } from '../support/explore-processes.ts'
import { type FaultGround, faultGround } from '../support/fault-ground.ts'
import { Load, type Target } from '../support/load.ts'
import { seedPlace } from '../support/place.ts'
import { assertSealed } from '../support/segments.ts'
import { MAIN_FILE } from '../support/sluice.ts'
import { checkOut, commitBefore } from '../support/version-before.ts'

const isWhole = process.env['SLUICE_FAULT_SECONDS'] !== undefined
const commit = commitBefore('0065_segments.sql')
const skip =
  commit === undefined ? 'it needs the history of the repository' : isWhole ? false : 'see npm run test:faults'
const BURSTS = 5
const BURST_MS = 4000
/** Clicks from before the upgrade, by day, so that both versions record conversions on days that only one of them knows. */
const STOCK_DAYS = 4
const STOCK_OF_A_DAY = 2000

let fresh: FreshDatabase
let database: Database
let ground: FaultGround
let before_: ReturnType<typeof checkOut>
before(async () => {
  if (skip !== false) return
  before_ = checkOut(commit ?? '')
  fresh = await freshDatabase()
  const name = `${fresh.connection.database}_before`
  await fresh.database.worker.query(`create database ${name}`)
  database = connect([{ ...fresh.connection, database: name }], { log: pino({ level: 'silent' }) })
  const url = fresh.url.replace(String(fresh.connection.database), name)
  // The previous version creates its own database.
  ground = await faultGround(database, url, 0)
})
after(async () => {
  if (skip !== false) return
  await ground.end()
  await database.close()
  await fresh.database.worker.query(`drop database ${fresh.connection.database}_before with (force)`)
  await fresh.drop()
  before_.end()
})

/** Reports conversions of old clicks to either process. */
async function convertStock(address: () => string, { key }: Target, ids: readonly string[], nonce: string) {
  for (const id of ids) {
    const body = JSON.stringify({ clickId: toWireId(id), type: 'lead', nonce, payout: 1.5 })
    const answer = await fetch(`${address()}/api/events`, { method: 'POST', headers: { 'x-api-key': key }, body })
    assert.ok(answer.status === 201 || answer.status === 429, await answer.text())
  }
}

test('beside the previous version answers are exact or name the incomplete days, and everything is complete a minute after its end', {
  skip,
}, async t => {
  const old = await ground.start(0, {}, { main: before_.main })
  const target = await seedPlace(database, 'upgraded')
  const { org_id } = target
  const now = Date.now()
  const stock: string[] = []
  for (let day = 1; day <= STOCK_DAYS; day += 1) {
    const seeds = Array.from({ length: STOCK_OF_A_DAY }, (_, at) => ({
      at: now - day * DAY_MS - at,
      sub1: `${at % 7}`,
    }))
    stock.push(...(await seedCountedClicks(database, org_id, seeds)).map(({ id }) => id))
  }
  const addresses = [old.address]
  const address = () => addresses[Math.floor(Math.random() * addresses.length)] ?? assert.fail()
  const load = new Load({ address, visit: anyVisit })
  await load.run(performance.now() + BURST_MS, 6, [target])

  const own = await ground.start(1, hasty({ seal: 100, merge: 300 }), { main: MAIN_FILE })
  addresses.push(own.address)
  const secrets = await secretsOf(database)
  const ask = asker(() => own.address, await cookieOf(database, secrets, target))
  const question = ExploreQuestion.parse({
    date_from: new Date(now - 10 * DAY_MS).toISOString(),
    date_to: new Date(now + DAY_MS).toISOString(),
    levels: [{ dimension: 'day' }, { dimension: 'sub1' }, { dimension: 'status' }],
    measures: [...MEASURES],
  })
  /** The days that an answer names; asserts that all others equal a recount. */
  const namedDays = async (): Promise<readonly string[]> => {
    for (;;) {
      const recounted = await recountExplore(database.worker, org_id, question)
      const answer = await ask(question)
      const again = await recountExplore(database.worker, org_id, question)
      if (JSON.stringify(recounted) !== JSON.stringify(again)) continue
      const named = answer.incomplete_days
      const others = <T extends { key: string | null }>(rows: readonly T[]) =>
        rows.filter(({ key }) => key === null || !named.includes(key))
      const said = asRecounted(answer) as typeof recounted
      assert.deepEqual(others(said.rows), others(recounted.rows))
      if (named.length === 0) assert.deepEqual(said, recounted)
      return named
    }
  }
  const named: number[] = [(await namedDays()).length]
  for (let burst = 0; burst < BURSTS; burst += 1) {
    const some = stock.filter((_, at) => at % 97 === burst)
    await Promise.all([
      load.run(performance.now() + BURST_MS, 6, [target]),
      convertStock(address, target, some, `burst ${burst}`),
      sleep(BURST_MS / 2).then(async () => {
        for (let turn = 0; turn < 3; turn += 1) await ask(question)
      }),
    ])
    named.push((await namedDays()).length)
  }
  assert.ok(
    named.some(count => count > 0),
    'something was missing meanwhile',
  )

  await old.stop()
  const ended = performance.now()
  addresses.shift()
  await eventually('everything is complete', async () => (await namedDays()).length === 0)
  const seconds = ((performance.now() - ended) / 1000).toFixed(1)
  t.diagnostic(`days named after each burst: ${named.join(' ')}; whole after ${seconds} s; ${load.clicks.size} clicks`)
  await load.run(performance.now() + BURST_MS, 6, [target])
  await eventually('clicks are stored', async () => (await namedDays()).length === 0)
  await assertExactAnswers(ask, database, org_id, 10)
  await own.stop()
  await sealAll(database.worker, secrets)
  await assertBooks(database.reads)
  await assertSealed(database, secrets, org_id)
})
