// Runs over the past, started repeatedly while conversions come in: past and new conversions are each called for once, and once per person if the rule
// says so.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertBooks } from '../../../tests/support/audit.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { startHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedClicks } from '../../../tests/support/intake.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { pour } from '../../../tests/support/pour.ts'
import { type Receiver, startReceiver } from '../../../tests/support/receiver.ts'
import { toUuid } from '../../contract/ids.ts'
import { auditBooks } from '../../reading/audit/audit.ts'
import { continueRuns } from '../deliveries/portions.ts'
import { postbackLane } from './lane.ts'

const PEOPLE = 30
/** The fifth round is the last with a fault of its own. */
const ROUNDS = process.env['SLUICE_TEST_ALL'] ? 8 : 5
/** Small, so that a run needs many batches between conversions. */
const PORTION = 7

let house: TestHouse
let receiver: Receiver
before(async () => {
  receiver = await startReceiver()
  house = await startHouse({}, { quotas: { events: 1_000_000 } })
})
after(async () => {
  await house.end()
  await receiver.close()
})

async function call(place: SignedIn, method: 'GET' | 'POST' | 'PATCH', url: string, body?: object) {
  const reply = await house.call(method, url, { cookie: place.cookie, ...(body && { body }) })
  assert.ok(reply.statusCode < 300, `${method} ${url}: ${reply.body}`)
  return reply.data()
}

/** Creates a rule for leads that calls `path`. Returns its id. */
async function rule(place: SignedIn, path: string, fields: object = {}): Promise<string> {
  const url = `${receiver.origin}/${path}?e={event_id}`
  return String((await call(place, 'POST', '/api/postbacks', { event_type: 'lead', url, ...fields }))['id'])
}

/** Reports leads of these clicks, of different people, one after the other. */
const reporter = (place: SignedIn, clicks: readonly string[]) => async (at: number) => {
  const payload = { telegram_user_id: String(1 + (at % PEOPLE)) }
  const body = { clickId: clicks[at % clicks.length], type: 'lead', nonce: String(at), payload }
  return String((await call(place, 'POST', '/api/events', body))['id'])
}

/** Starts a run over everything once no other is in progress. Returns its id. */
async function begin(place: SignedIn, rule_id: string): Promise<string> {
  let id = ''
  await eventually('a run begins', async () => {
    const url = `/api/postbacks/${rule_id}/backfill`
    const reply = await house.call('POST', url, { cookie: place.cookie, body: { dry_run: false } })
    if (reply.statusCode === 409) assert.equal(reply.data()['code'], 'run_under_way')
    else {
      assert.equal(reply.statusCode, 200, reply.body)
      id = (reply.data()['run'] as { id: string }).id
    }
    return id !== ''
  })
  return id
}

const portion = () => continueRuns(house.database.worker, [postbackLane], PORTION)

async function isOver(place: SignedIn): Promise<boolean> {
  await portion()
  const { data } = (await call(place, 'GET', '/api/delivery-runs')) as { data: { outcome: string | null }[] }
  return data.every(({ outcome }) => outcome !== null)
}

async function pending(): Promise<number> {
  const { rows } = await house.database.reads.query(`select from deliveries where state = 'pending'`)
  return rows.length
}

/** The deliveries of a rule. */
async function putOut({ org_id }: SignedIn, rule_id: string) {
  const { rows } = await house.database.reads.query<{ event_id: string; person_id: string }>(
    `select d.event_id, e.person_id from deliveries d join events e on e.org_id = d.org_id and e.id = d.event_id
    where d.org_id = $1 and d.kind = 'postback' and d.target_id = $2`,
    [org_id, toUuid(rule_id)],
  )
  return rows
}

/** The ids of the conversions that arrived under a path. */
const arrivedAt = (path: string) =>
  receiver.arrivals.flatMap(({ url }) => (url.startsWith(`/${path}?e=`) ? [url.slice(path.length + 4)] : []))

test('runs that begin again and again while conversions come in put each out once, and each person once where the rule says so', async () => {
  const [place, bystander] = [await seedSignedIn(house), await seedSignedIn(house)]
  const clicksOf = async ({ org_id }: SignedIn) =>
    (await seedClicks(house.database, org_id, 10)).map(id => toWireId(id))
  const [mine, others] = [
    pour(5, reporter(place, await clicksOf(place))),
    pour(5, reporter(bystander, await clicksOf(bystander))),
  ]
  others.begin()
  await others.more(20)
  await others.stop()
  const theirs = await rule(bystander, 'theirs')
  mine.begin()
  await mine.more(60)
  const [always, once] = [await rule(place, 'always'), await rule(place, 'once', { once_per_person: true })]
  await mine.stop()
  const stopped: string[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    mine.begin()
    await mine.more(5)
    const id = await begin(place, round % 2 === 0 ? always : once)
    await Promise.all([
      portion(),
      portion(),
      mine.more(15),
      // One is stopped in its midst; in another the rule is for something else, and misses some conversions that only a run can bring it.
      round === 2 ? call(place, 'POST', `/api/delivery-runs/${id}/stop`).then(() => stopped.push(id)) : portion(),
      round === 4 ? call(place, 'PATCH', `/api/postbacks/${always}`, { event_type: 'ftd' }) : portion(),
    ])
    // A run waits behind a long queue, so it may end only after the last conversion.
    await mine.stop()
    await eventually('the run ends', () => isOver(place))
    if (round === 4) await call(place, 'PATCH', `/api/postbacks/${always}`, { event_type: 'lead' })
    assert.deepEqual(await auditBooks(house.database.reads, place.org_id), [])
  }
  for (const rule_id of [always, once]) {
    await begin(place, rule_id)
    await eventually('the run ends', () => isOver(place))
  }
  assert.equal(stopped.length, 1)
  for (const rule_id of [always, once]) {
    assert.equal((await call(place, 'POST', `/api/postbacks/${rule_id}/backfill`, {}))['count'], 0, 'nothing is left')
  }
  for (const { org_id } of [place, bystander]) assert.deepEqual(await auditBooks(house.database.reads, org_id), [])
  await assertBooks(house.database.reads)

  const [all, firsts] = [await putOut(place, always), await putOut(place, once)]
  assert.deepEqual(all.map(({ event_id }) => toWireId(event_id)).toSorted(), mine.recorded.toSorted())
  assert.equal(firsts.length, PEOPLE)
  assert.equal(new Set(firsts.map(({ person_id }) => person_id)).size, PEOPLE)
  assert.deepEqual(await putOut(bystander, theirs), [])

  // Each round has its own deadline, because the total depends on the machine.
  for (let left = await pending(); left > 0; left = await pending())
    await eventually('deliveries are sent', async () => (await pending()) < left)
  assert.deepEqual(arrivedAt('always').toSorted(), mine.recorded.toSorted())
  assert.deepEqual(arrivedAt('once').toSorted(), firsts.map(({ event_id }) => toWireId(event_id)).toSorted())
  assert.deepEqual(arrivedAt('theirs'), [])
})
