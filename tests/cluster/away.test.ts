// Two serving and two working processes, with Redis, on a cluster whose nodes fail under load.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { reconcileAll } from '../../src/reading/audit/reconcile.ts'
import { assertAudit, drained } from '../support/audit.ts'
import { eventually } from '../support/eventually.ts'
import { type FaultGround, faultGround, SECONDS } from '../support/fault-ground.ts'
import { Load, type Target } from '../support/load.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'
import { isSharded } from '../support/sharded.ts'
import type { Sluice } from '../support/sluice.ts'
import { startNodes } from './nodes.ts'

const skip = isSharded ? false : 'npm run test:citus gives it a cluster'
const ORGANIZATIONS = 12

type Ground = Awaited<ReturnType<typeof startNodes>>
let nodes: Ground
let ground: FaultGround
let redis: TestRedis
const serving: Sluice[] = []
const load = new Load({
  address: () => serving[Math.floor(Math.random() * serving.length)]?.address ?? assert.fail(),
  patience_ms: 20_000,
})

if (!skip) {
  before(async () => {
    nodes = await startNodes()
    ground = await faultGround(nodes.database, nodes.url, ORGANIZATIONS)
    redis = await startRedis()
    const env = (ROLE: string) => ({
      ROLE,
      REDIS_URL: redis.url,
      LOG_LEVEL: process.env['SLUICE_TEST_LOG'] ?? 'silent',
    })
    for (const number of [0, 1]) serving.push(await ground.start(number, env('serve')))
    for (const number of [2, 3]) await ground.start(number, env('work'))
  })
  afterEach(() => nodes.proxies.forEach(one => one.set('flow')))
  after(async () => {
    await ground.end()
    redis.end()
    await nodes.end()
  })
}

/** The answers of each kind of request for each organization. */
async function look(target: Target): Promise<Record<string, number>> {
  const address = serving[Math.floor(Math.random() * serving.length)]?.address ?? assert.fail()
  const click = await load.click(target)
  const headers = { 'x-api-key': target.key }
  const feed = await fetch(`${address}/api/v1/clicks?limit=10`, { headers })
  const told =
    click === undefined
      ? undefined
      : await load.report(target, { clickId: click, type: 'ftd', nonce: String(Math.random()) })
  return { click: click === undefined ? 0 : 1, feed: feed.status, conversion: typeof told === 'object' ? 201 : 503 }
}

const count = (answers: readonly Record<string, number>[], name: string, value: number) =>
  answers.filter(one => one[name] === value).length

for (const [node, name] of [
  [2, 'a worker'],
  [1, 'the other worker'],
  [0, 'the coordinator'],
] as const)
  test(`${name} down under load harms only its own organizations, and the audit is exact`, { skip }, async () => {
    const ids = ground.targets.map(({ org_id }) => org_id)
    const dead = await nodes.organizationsOf(node, ids)
    const living = ground.targets.filter(({ org_id }) => !dead.has(org_id))
    const until = performance.now() + SECONDS * 1000
    const running = load.run(until, ORGANIZATIONS, ground.targets)
    await sleep(1000)
    nodes.proxies[node]?.set('cut')
    // The first request that meets the dead node marks it for all later ones.
    await sleep(1500)
    const answers: Record<string, number>[] = []
    const arrived = ground.receiver.arrivals.length
    for (let round = 0; performance.now() < until || round < 3; round += 1)
      for (const target of living) answers.push(await look(target))
    const further = await ground.start(7, { ROLE: 'serve', REDIS_URL: redis.url })
    const ready = await fetch(`${further.address}/readyz`)
    const { degraded = [] } = (await ready.json()) as { degraded?: string[] }
    const isTold = degraded.includes('the first node of the cluster does not answer')
    assert.deepEqual([ready.status, isTold], [200, node === 0], degraded.join('; '))
    const visit = await fetch(`${further.address}/c/${living[0]?.campaign}`, { redirect: 'manual' })
    assert.equal(visit.status, 302)
    await further.stop()
    await running
    const summary = ['click', 'feed', 'conversion'].map(of => [of, ...new Set(answers.map(one => one[of]))].join(' '))
    assert.deepEqual(
      [count(answers, 'click', 1), count(answers, 'feed', 200), count(answers, 'conversion', 201)],
      [answers.length, answers.length, answers.length],
      `${summary.join('; ')} of ${answers.length}`,
    )
    await eventually('deliveries of the others go on', () => ground.receiver.arrivals.length > arrived)
    for (const { org_id, body } of load.failures) assert.doesNotMatch(body, /internal error/, `organization ${org_id}`)

    nodes.proxies[node]?.set('flow')
    await eventually('every organization is served again', async () =>
      (await Promise.all(ground.targets.map(look))).every(one => one['conversion'] === 201),
    )
    await eventually('no transaction is left open', async () => {
      const { rows } = await nodes.direct.query(
        `select 1 from run_command_on_all_nodes('select count(*) from pg_prepared_xacts where database = current_database()') where result <> '0'`,
      )
      return rows.length === 0
    })
    await drained(nodes.direct, ground.receiver)
    const lines: string[] = []
    assert.equal(await reconcileAll(nodes.direct, line => lines.push(line)), 0, lines.join('\n'))
    await assertAudit(nodes.direct, load, {
      targets: ground.targets,
      receiver: ground.receiver,
      address: serving[0]?.address ?? '',
    })
  })
