import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId } from '../../src/contract/ids.ts'
import { assertAudit, drained } from '../support/audit.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { type FaultGround, faultGround, SECONDS } from '../support/fault-ground.ts'
import { Load } from '../support/load.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { SICKNESSES } from '../support/sick-receivers.ts'
import type { Sluice } from '../support/sluice.ts'

let fresh: FreshDatabase
let ground: FaultGround
let sluice: Sluice
const sick = new Map<string, Receiver>()

before(async () => {
  fresh = await freshDatabase()
  ground = await faultGround(fresh.database, fresh.url, 2)
  for (const [name, answer] of Object.entries(SICKNESSES))
    sick.set(name, await startReceiver((_, response) => answer(response)))
  const urls = [...sick.values()].map(({ origin }) => `${origin}/hook?e={event_id}`)
  // No process listens there: the connection is refused.
  urls.push('http://127.0.0.1:9/hook?e={event_id}')
  const now = new Date().toISOString()
  for (const { org_id } of ground.targets)
    for (const url of urls) {
      const rule = { org_id, id: newId(), event_type: 'ftd', url, method: 'GET', active: true }
      await fresh.database.kysely
        .insertInto('postback_rules')
        .values({ ...rule, created_at: now, updated_at: now })
        .execute()
    }
  sluice = await ground.start(0)
})
after(async () => {
  await ground.end()
  for (const receiver of sick.values()) await receiver.close()
  await fresh.drop()
})

test('receivers that hang, drip, flood, close, fail and refuse do not slow down a healthy one, and the audit is exact', async t => {
  const load = new Load({ address: () => sluice.address })
  await load.run(performance.now() + SECONDS * 1000, 8, ground.targets)
  await drained(fresh.database.reads, ground.receiver)
  const { rows } = await fresh.database.reads.query<{ delivered: number; slowest: string }>(
    `select count(*)::int as delivered, percentile_disc(0.99) within group (order by d.finished_at - d.created_at)::text as slowest
    from deliveries d join postback_rules r on r.org_id = d.org_id and r.id = d.target_id
    where d.state = 'delivered' and r.url like $1`,
    [`${ground.receiver.origin}/%`],
  )
  t.diagnostic(`${rows[0]?.delivered} deliveries of the healthy rules, p99 ${rows[0]?.slowest}`)
  for (const [name, { connections, arrivals }] of sick) {
    assert.ok(arrivals.length > 0, `the one that ${name} was called`)
    // Four, and the four they replace, whose end may be noticed a moment later.
    assert.ok(connections.most <= 8, `${connections.most} connections at once to the one that ${name}`)
  }
  assert.equal(sluice.child.exitCode, null)
  const { targets, receiver } = ground
  await assertAudit(fresh.database.reads, load, { targets, receiver, address: sluice.address })
})
