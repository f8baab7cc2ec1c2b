// Deliveries at full size: two hundred rules, five of them with sick receivers, a hundred conversions a second.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId } from '../../src/contract/ids.ts'
import { assertAudit, drained } from '../support/audit.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { type FaultGround, faultGround, SECONDS } from '../support/fault-ground.ts'
import { seedKey, seedOrganization } from '../support/house.ts'
import { seedRule } from '../support/intake.ts'
import { Load, type Target } from '../support/load.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { SICKNESSES } from '../support/sick-receivers.ts'
import { residentBytes, type Sluice } from '../support/sluice.ts'
import { reportSteadily } from '../support/steady-load.ts'

const skip = process.env['SLUICE_FAULT_SECONDS'] === undefined ? 'it takes minutes: see npm run test:faults' : false
/** Five minutes; the other fault tests run for half a minute. */
const RUN_SECONDS = SECONDS * 10
const ORGANIZATIONS = 4
const CAMPAIGNS = 50
/** The memory growth allowed while a receiver floods. A single unread answer would exceed it. */
const GROWTH_BYTES = 100 * 1024 * 1024
/** Receivers that drip or flood are missing here: they have answered 200, which is success. */
const FAILING = ['hangs', 'closes', 'fails']

let fresh: FreshDatabase
let ground: FaultGround
let sluice: Sluice
const sick = new Map<string, Receiver>()
const targets: Target[] = []

/** A campaign whose conversions go to one address. */
async function seedRuledCampaign(org_id: number, key: string, url: string): Promise<string> {
  const [id, now] = [newId(), new Date().toISOString()]
  const destination = JSON.stringify({ type: 'redirect', url: 'https://example.com/?c={click_id}' })
  const campaign = { org_id, id, name: key, key, destination, source: '{}', strict_filter: false }
  await fresh.database.kysely
    .insertInto('campaigns')
    .values({ ...campaign, created_at: now, updated_at: now })
    .execute()
  await fresh.database.kysely.insertInto('campaign_keys').values({ key, org_id, campaign_id: id }).execute()
  return seedRule(fresh.database, org_id, { event_type: 'ftd', campaign_id: id, url: `${url}/hook?e={event_id}` })
}

before(async () => {
  if (skip !== false) return
  fresh = await freshDatabase()
  ground = await faultGround(fresh.database, fresh.url, 0)
  for (const [name, answer] of Object.entries(SICKNESSES))
    sick.set(name, await startReceiver((_, response) => answer(response)))
  const ill = [...sick.values()].map(({ origin }) => origin)
  for (let organization = 0; organization < ORGANIZATIONS; organization += 1) {
    const place = await seedOrganization(fresh.database, { balance: '100' })
    const { secret } = await seedKey(fresh.database, place, { rights: ['events', 'clicks'] })
    for (let number = 0; number < CAMPAIGNS; number += 1) {
      const campaign = `sick-${organization}-${number}`
      // All sick receivers are in one organization, next to healthy ones.
      const url = (organization === 0 ? ill[number] : undefined) ?? ground.receiver.origin
      await seedRuledCampaign(place.org_id, campaign, url)
      targets.push({ key: secret, campaign, org_id: place.org_id })
    }
  }
  sluice = await ground.start(0)
})
after(async () => {
  if (skip !== false) return
  await ground.end()
  for (const receiver of sick.values()) await receiver.close()
  await fresh.drop()
})

test('five sick rules among two hundred do not slow down the others, their breakers open, and the audit is exact', {
  skip,
}, async t => {
  const load = new Load({ address: () => sluice.address })
  const begun = performance.now()
  await reportSteadily(load, targets, begun + RUN_SECONDS * 200)
  const warm_bytes = residentBytes(sluice)
  await reportSteadily(load, targets, begun + RUN_SECONDS * 1000)
  const growth_bytes = residentBytes(sluice) - warm_bytes
  await drained(fresh.database.reads, ground.receiver)
  const { rows } = await fresh.database.reads.query<{ delivered: number; slowest: string; again: number }>(
    `select count(*)::int as delivered, (count(*) filter (where attempts > 1))::int as again,
      percentile_disc(0.99) within group (order by d.finished_at - d.created_at)::text as slowest
    from deliveries d join postback_rules r on r.org_id = d.org_id and r.id = d.target_id
    where d.state = 'delivered' and r.url like $1`,
    [`${ground.receiver.origin}/%`],
  )
  const [{ delivered, slowest, again } = assert.fail()] = rows
  // All of them call one origin, which has four call slots: the durations show how busy those are.
  t.diagnostic(`${load.events.size} conversions, ${delivered} deliveries of the healthy rules, p99 ${slowest}`)
  t.diagnostic(`${Math.round(growth_bytes / 1024 / 1024)} MB more in memory than after a fifth of the time`)
  assert.equal(again, 0, 'a healthy one is called once')
  // A shorter run ends while the process is still warming up.
  if (RUN_SECONDS >= 300) assert.ok(growth_bytes < GROWTH_BYTES, `${growth_bytes} bytes more`)
  const { rows: open } = await fresh.database.reads.query<{ url: string }>(
    `select r.url from failing_targets f join postback_rules r on r.org_id = f.org_id and r.id = f.target_id where f.pauses > 0`,
  )
  for (const [name, { connections, origin, arrivals }] of sick) {
    assert.ok(arrivals.length > 0, `the one that ${name} was called`)
    // Four, and the four they replace, whose end may be noticed a moment later.
    assert.ok(connections.most <= 8, `${connections.most} connections at once to the one that ${name}`)
    const isPaused = open.some(({ url }) => url.startsWith(`${origin}/`))
    assert.equal(isPaused, FAILING.includes(name), `whether the breaker of the one that ${name} has opened`)
  }
  assert.equal(sluice.child.exitCode, null)
  await assertAudit(fresh.database.reads, load, {
    targets: feeds(),
    receiver: ground.receiver,
    address: sluice.address,
  })
})

/** One target of each organization. */
const feeds = () => [...new Map(targets.map(target => [target.org_id, target])).values()]
