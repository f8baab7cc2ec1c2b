import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertAudit, drained } from '../support/audit.ts'
import { type FaultGround, faultGround, SECONDS } from '../support/fault-ground.ts'
import { Load } from '../support/load.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import type { Sluice } from '../support/sluice.ts'

const CRASH_EVERY_MS = 2000

let postgres: TestPostgres
let ground: FaultGround
let sluice: Sluice
before(async () => {
  postgres = await startTestPostgres()
  ground = await faultGround(postgres.database, postgres.url, 4)
  sluice = await ground.start(0)
})
after(async () => {
  await ground.end()
  await postgres.end()
})

/** Runs the load during a fault of the database, then audits everything of this test and those before. */
async function auditAfter(load: Load, during: (until: number) => Promise<void>): Promise<void> {
  const { child } = sluice
  const until = performance.now() + SECONDS * 1000
  const running = load.run(until, 12, ground.targets)
  await during(until)
  await running
  await untilReady()
  assert.equal(child.exitCode, null, 'the process survived')
  await untilSettled(load)
  await load.enough(ground.targets)
  // A claim whose commit is unknown is due again after its lease. No process works while leases are made to expire.
  await sluice.stop()
  await ground.mature()
  sluice = await ground.start(0)
  await drained(postgres.database.reads, ground.receiver)
  const { targets, receiver } = ground
  await assertAudit(postgres.database.reads, load, { targets, receiver, address: sluice.address })
}

async function untilReady(): Promise<void> {
  const deadline = performance.now() + 60_000
  for (;;) {
    const isReady = await fetch(`${sluice.address}/readyz`, { signal: AbortSignal.timeout(20_000) }).then(
      ({ ok }) => ok,
      () => false,
    )
    // The connections of the tests' own pool are broken as well.
    const isOpen =
      isReady &&
      (await postgres.database.reads.query('select 1').then(
        () => true,
        () => false,
      ))
    if (isOpen) return
    assert.ok(performance.now() < deadline, 'it does not recover by itself')
    await sleep(100)
  }
}

/** Waits until conversions are accepted again; then clicks of the journal are in the database. */
async function untilSettled(load: Load): Promise<void> {
  const [target] = ground.targets
  const deadline = performance.now() + 60_000
  for (;;) {
    const clickId = await load.click(target ?? assert.fail())
    const nonce = `settled ${performance.now()}`
    const told = clickId && (await load.report(target ?? assert.fail(), { clickId, type: 'lead', nonce }))
    if (typeof told === 'object') return
    assert.ok(performance.now() < deadline, 'conversions are not accepted again')
    await sleep(100)
  }
}

const load = new Load({ address: () => sluice.address })

test('PostgreSQL crashes and comes back again and again under load: the audit is exact', async () => {
  await auditAfter(load, async until => {
    for (let turn = 0; performance.now() < until - CRASH_EVERY_MS; turn += 1) {
      await sleep(CRASH_EVERY_MS)
      if (turn % 2 === 0) postgres.crash()
      else postgres.killBackend()
    }
  })
})

test('PostgreSQL freezes under load: visitors are redirected with an id, no request waits for ever, and the audit is exact', async () => {
  await auditAfter(load, async until => {
    await sleep(500)
    postgres.freeze()
    const [target] = ground.targets
    assert.ok(await load.click(target ?? assert.fail()), 'a visitor is redirected with an id')
    await sleep(Math.max(0, until - performance.now() - 1000))
    postgres.thaw()
  })
})
