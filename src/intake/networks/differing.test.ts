// A network's later postback for a recorded conversion: differences are kept once, and the conversion does not change.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type FreshDatabase, freshDatabase } from '../../../tests/support/database.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { openTestHouse, seedKey, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedClick, seedOffer, seedRule, tally } from '../../../tests/support/intake.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { auditBooks } from '../../reading/audit/audit.ts'
import type * as api from './api.ts'

let fresh: FreshDatabase
let folder: string
const houses: TestHouse[] = []
const open = async (perMinute = 100_000): Promise<TestHouse> => {
  const env = { DATA_DIR: join(folder, String(houses.length)), ROLE: 'serve' }
  const house = await openTestHouse(fresh.database, env, { quotas: { events: perMinute } })
  houses.push(house)
  return house
}
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-differing-'))
  fresh = await freshDatabase()
  await open()
})
after(async () => {
  for (const house of houses) await house.end()
  await fresh.drop()
  rmSync(folder, { recursive: true, force: true })
})

const house = (): TestHouse => houses[0] ?? assert.fail()

type Place = { owner: SignedIn; path: string; network_id: string }
async function place(): Promise<Place> {
  const owner = await seedSignedIn(house())
  const made = await house().call('POST', '/api/networks', { ...owner, body: { name: 'Net', template: 'plain' } })
  const { id, postback_url } = made.json<api.Network>()
  return { owner, path: new URL(postback_url).pathname, network_id: id }
}

/** A network whose map ignores rejections, like those created before verdicts existed. */
async function ignoring(): Promise<Place> {
  const here = await place()
  const ignored = ['rejected', 'chargeback', 'refund'].map(word => [word, null] as const)
  const statuses = { sale: 'purchase', ...Object.fromEntries(ignored) }
  await house().call('PATCH', `/api/networks/${here.network_id}`, { ...here.owner, body: { statuses } })
  return here
}

type Kept = { id: string; diagnosis: string; state: string; error: string; difference: unknown; body: string }
const kept = async ({ owner }: Place) =>
  (await house().call('GET', '/api/refused-events?limit=200', owner)).json<{ data: Kept[] }>().data
const fire = async ({ path }: Place, query: Record<string, string>, at = house()) => {
  const reply = await at.call('GET', `${path}?${new URLSearchParams(query).toString()}`)
  return `${reply.statusCode} ${reply.body}`
}
const OK = '200 OK\n'

test('a later call with another payout or status is answered OK, kept with both values, and changes nothing', async () => {
  const here = await place()
  await seedRule(fresh.database, here.owner.org_id, { event_type: 'purchase' })
  const subid = toWireId(await seedClick(fresh.database, here.owner.org_id))
  const sent = { subid, status: 'approved', txid: 'T1' }
  assert.equal(await fire(here, { ...sent, payout: '20' }), OK)
  const before = await tally(fresh.database, here.owner.org_id)
  assert.equal(await fire(here, { ...sent, payout: '25' }), OK)
  assert.equal(await fire(here, { ...sent, status: 'Paid', payout: '20.00' }), OK)
  assert.equal(await fire(here, { ...sent, status: 'sale', payout: '30' }), OK)
  const rows = await kept(here)
  const { data } = (await house().call('GET', `/api/events?click_id=${subid}`, here.owner)).json<{
    data: { id: string; payout: string }[]
  }>()
  assert.deepEqual(data.length, 1)
  const event_id = data[0]?.id
  assert.deepEqual(
    rows.map(({ diagnosis, state, error, difference }) => ({ diagnosis, state, error, difference })).toReversed(),
    [
      ['the payout is 25, recorded is 20', { recorded: '20', sent: '25' }, null],
      ['the status is Paid, recorded is approved', null, { recorded: 'approved', sent: 'Paid' }],
      [
        'the payout is 30, recorded is 20; the status is sale, recorded is approved',
        { recorded: '20', sent: '30' },
        { recorded: 'approved', sent: 'sale' },
      ],
    ].map(([error, payout, status]) => ({
      diagnosis: 'differs_from_recorded',
      state: 'refused',
      error,
      difference: { event_id, payout, status },
    })),
  )
  assert.equal(JSON.parse(rows.at(-1)?.body ?? '')['payout'], '25')
  assert.deepEqual(await tally(fresh.database, here.owner.org_id), before)
  assert.deepEqual(await auditBooks(fresh.database.reads, here.owner.org_id), [])
  const trace = await house().call('GET', `/api/clicks/${subid}/trace`, here.owner)
  assert.deepEqual(trace.json<{ refused: Kept[] }>().refused, rows)
})

test('a plain resend leaves nothing, however it is written', async () => {
  const here = await place()
  const offer = await seedOffer(fresh.database, here.owner.org_id, { payout: '18.5' })
  const click = (offer_id: string | null = null) => seedClick(fresh.database, here.owner.org_id, { offer_id })
  const [paid, inherited, unpaid, bare] = [
    toWireId(await click()),
    toWireId(await click(offer)),
    toWireId(await click()),
    toWireId(await click()),
  ]
  await house().call('PATCH', `/api/networks/${here.network_id}`, { ...here.owner, body: { unpaid_types: ['lead'] } })
  const calls: Record<string, string>[] = [
    { subid: paid, status: 'approved', txid: 'T1', payout: '20' },
    { cid: paid.toUpperCase(), event: 'APPROVED', tid: 'T1', sum: '20.000000' },
    { subid: paid, status: 'approved', txid: 'T1' },
    { subid: paid, txid: 'T1', status: 'approved', payout: '20.0000001' },
    { subid: inherited, status: 'purchase', txid: 'T1' },
    { subid: inherited, status: 'purchase', txid: 'T1', payout: '18.50' },
    { subid: unpaid, status: 'lead', txid: 'T1', payout: '7' },
    { subid: unpaid, status: 'lead', txid: 'T1', payout: '9' },
    { subid: bare, txid: 'T1' },
    { subid: bare, txid: 'T1', payout: '0' },
  ]
  for (const call of calls) assert.equal(await fire(here, call), OK, JSON.stringify(call))
  assert.deepEqual(await kept(here), [])
  assert.equal((await tally(fresh.database, here.owner.org_id)).events, 4)
})

test('of a conversion that no network reported only the payout is compared; the API’s own resend is kept nowhere', async () => {
  const here = await place()
  const { secret } = await seedKey(fresh.database, here.owner, { rights: ['events'] })
  const subid = toWireId(await seedClick(fresh.database, here.owner.org_id))
  const body = { clickId: subid, type: 'purchase', nonce: 'T1', payout: '20' }
  for (const payout of ['20', '21'])
    assert.equal(
      (await house().call('POST', '/api/events', { key: secret, body: { ...body, payout } })).statusCode,
      201,
    )
  assert.equal(await fire(here, { subid, status: 'approved', txid: 'T1', payout: '20' }), OK)
  assert.deepEqual(await kept(here), [])
  assert.equal(await fire(here, { subid, status: 'approved', txid: 'T1', payout: '21' }), OK)
  assert.deepEqual(
    (await kept(here)).map(({ error }) => error),
    ['the payout is 21, recorded is 20'],
  )
})

test('the same differing call a thousand times over two processes is one row', async () => {
  const here = await place()
  const second = await open()
  const subid = toWireId(await seedClick(fresh.database, here.owner.org_id))
  const sent = { subid, status: 'approved', txid: 'T1' }
  await fire(here, { ...sent, payout: '20' })
  for (let round = 0; round < 10; round += 1) {
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, at) => fire(here, { ...sent, payout: '25' }, at % 2 === 0 ? house() : second)),
    )
    assert.deepEqual(new Set(answers), new Set([OK]))
  }
  // More than the allowance of a minute: repeated differences use up none of it, and none waits to be run later.
  assert.equal(await fire(here, { ...sent, payout: '26' }), OK)
  assert.deepEqual((await kept(here)).map(({ error }) => error).toSorted(), [
    'the payout is 25, recorded is 20',
    'the payout is 26, recorded is 20',
  ])
})

test('of two differing calls at once one is recorded and the other is kept, whichever comes first', async () => {
  const here = await place()
  const second = houses[1] ?? assert.fail()
  for (let round = 0; round < 20; round += 1) {
    const subid = toWireId(await seedClick(fresh.database, here.owner.org_id))
    const amounts = ['20', '25', '30']
    const answers = await Promise.all(
      amounts.map((payout, at) =>
        fire(here, { subid, status: 'approved', txid: 'T1', payout }, at % 2 === 0 ? house() : second),
      ),
    )
    assert.deepEqual(answers, [OK, OK, OK])
    const { events, refused } = (await house().call('GET', `/api/clicks/${subid}/trace`, here.owner)).json<{
      events: { payout: string }[]
      refused: { difference: { payout: { recorded: string; sent: string } } }[]
    }>()
    assert.equal(events.length, 1)
    const recorded = events[0]?.payout ?? ''
    const differing = refused.map(({ difference }) => difference.payout)
    assert.deepEqual(
      differing.toSorted((a, b) => a.sent.localeCompare(b.sent)),
      amounts.filter(amount => amount !== recorded).map(amount => ({ recorded, sent: amount })),
    )
  }
})

test('a call over the quota that differs is kept when it is run later', async () => {
  const here = await place()
  const narrow = await open(1)
  const subid = toWireId(await seedClick(fresh.database, here.owner.org_id))
  const sent = { subid, status: 'approved', txid: 'T1' }
  const answers = await Promise.all(['20', '20', '25', '25'].map(payout => fire(here, { ...sent, payout }, narrow)))
  assert.deepEqual(new Set(answers), new Set([OK]))
  await eventually('it is run and kept', async () => (await kept(here)).length > 0)
  await eventually('none waits', async () => {
    const { rows } = await fresh.database.reads.query('select from network_calls where org_id = $1', [
      here.owner.org_id,
    ])
    return rows.length === 0
  })
  assert.equal((await kept(here)).length, 1)
  assert.equal((await tally(fresh.database, here.owner.org_id)).events, 1)
})

test('what differs cannot be run again, alone or among others, and says what to do instead', async () => {
  const here = await place()
  const subid = toWireId(await seedClick(fresh.database, here.owner.org_id))
  await fire(here, { subid, status: 'approved', txid: 'T1', payout: '20' })
  await fire(here, { subid, status: 'approved', txid: 'T1', payout: '25' })
  const [row] = await kept(here)
  const reply = await house().call('POST', `/api/refused-events/${row?.id}/run`, here.owner)
  assert.deepEqual([reply.statusCode, reply.data()['code']], [409, 'cannot_run_again'])
  assert.match(String(reply.data()['hint']), /record the rest by hand/)
  const all = await house().call('POST', '/api/refused-events/run', { ...here.owner, body: {} })
  assert.deepEqual([all.data()['recorded'], all.data()['refused']], [0, 0])
  assert.deepEqual(await kept(here), [row])
})

test('refused for another reason and run again after a fix, a call that differs by now is not taken for recorded', async () => {
  const here = await place()
  const subid = toWireId(await seedClick(fresh.database, here.owner.org_id))
  assert.match(await fire(here, { subid, status: 'qualified', txid: 'T1', payout: '25' }), /^200 Not recorded/)
  assert.match(await fire(here, { subid, status: 'qualified', txid: 'T2', payout: '3' }), /^200 Not recorded/)
  await fire(here, { subid, status: 'purchase', txid: 'T1', payout: '20' })
  const statuses = { qualified: 'purchase' }
  await house().call('PATCH', `/api/networks/${here.network_id}`, { ...here.owner, body: { statuses } })
  const ran = await house().call('POST', '/api/refused-events/run', { ...here.owner, body: {} })
  assert.deepEqual([ran.data()['recorded'], ran.data()['refused']], [1, 1])
  const [recorded, differing] = (await kept(here)).toSorted((a, b) => a.state.localeCompare(b.state))
  assert.equal(recorded?.state, 'recorded')
  assert.deepEqual([differing?.state, differing?.diagnosis], ['refused', 'differs_from_recorded'])
  assert.equal(differing?.error, 'the payout is 25, recorded is 20; the status is qualified, recorded is purchase')
  assert.equal((await tally(fresh.database, here.owner.org_id)).events, 2)
})

test('a status that is ignored, of a recorded conversion, is kept once with both values; of none it is only ignored', async () => {
  const here = await ignoring()
  const other = await ignoring()
  const subid = toWireId(await seedClick(fresh.database, here.owner.org_id))
  const ignored = (word: string) => `200 Not recorded: status is ${word}, which the status map ignores\n`
  assert.equal(await fire(here, { subid, status: 'sale', tid: 'T1', payout: '20' }), OK)
  const before = await tally(fresh.database, here.owner.org_id)
  for (const [status, tid] of [
    ['Chargeback', 'T1'],
    ['chargeback', 'T1'],
    ['rejected', 'T1'],
    ['rejected', 'T2'],
  ] as const)
    assert.equal(await fire(here, { subid, status, tid }), ignored(status.toLowerCase()))
  assert.equal(await fire(here, { subid, status: 'refund', tid: 'T1', payout: '20' }), ignored('refund'))
  assert.equal(await fire(here, { subid, status: 'rejected' }), ignored('rejected'))
  assert.equal(await fire(other, { subid, status: 'chargeback', tid: 'T1' }), ignored('chargeback'))
  const rows = await kept(here)
  const { data } = (await house().call('GET', `/api/events?click_id=${subid}`, here.owner)).json<{
    data: { id: string }[]
  }>()
  const event_id = data[0]?.id
  const differs = (sent: string, payout: string | null) => [
    'differs_from_recorded',
    `a payout of 20 is recorded; the status is ${sent}, recorded is sale`,
    { event_id, payout: { recorded: '20', sent: payout }, status: { recorded: 'sale', sent } },
  ]
  const nothing = ['status_ignored', 'status is rejected, which the status map ignores', null]
  assert.deepEqual(rows.map(({ diagnosis, error, difference }) => [diagnosis, error, difference]).toReversed(), [
    differs('Chargeback', null),
    differs('rejected', null),
    nothing,
    differs('refund', '20'),
    nothing,
  ])
  assert.deepEqual(
    (await kept(other)).map(({ diagnosis }) => diagnosis),
    ['status_ignored'],
  )
  assert.deepEqual(await tally(fresh.database, here.owner.org_id), before)
  const trace = await house().call('GET', `/api/clicks/${subid}/trace`, here.owner)
  assert.deepEqual(trace.json<{ refused: Kept[] }>().refused, rows)
  const run = await house().call('POST', `/api/refused-events/${rows.at(-1)?.id}/run`, here.owner)
  assert.deepEqual([run.statusCode, run.data()['code']], [409, 'cannot_run_again'])
})

test('of several types under one transaction id the newest is named, and what was ignored first differs when run again', async () => {
  const here = await ignoring()
  const subid = toWireId(await seedClick(fresh.database, here.owner.org_id))
  await fire(here, { subid, status: 'rejected', tid: 'T1' })
  await fire(here, { subid, status: 'lead', tid: 'T1', payout: '1' })
  await fire(here, { subid, status: 'ftd', tid: 'T1', payout: '30' })
  const [row] = await kept(here)
  assert.equal(row?.diagnosis, 'status_ignored')
  const ran = await house().call('POST', `/api/refused-events/${row?.id}/run`, here.owner)
  assert.deepEqual(
    [ran.data()['state'], ran.data()['diagnosis'], ran.data()['error']],
    ['refused', 'differs_from_recorded', 'a payout of 30 is recorded; the status is rejected, recorded is ftd'],
  )
})
