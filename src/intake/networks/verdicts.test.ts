// Verdicts of networks on recorded conversions: holds, approvals, rejections, and whose conversions they may change.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { eventually } from '../../../tests/support/eventually.ts'
import { useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { readClick, seedClick, seedOffer } from '../../../tests/support/intake.ts'
import { openQueue } from '../../../tests/support/organization-queue.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { auditBooks } from '../../reading/audit/audit.ts'
import { openHolds } from '../events/holds.ts'
import type * as api from './api.ts'

let house: TestHouse
let owner: SignedIn
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
})
after(() => house.end())

type Place = { id: string; path: string; click: string; subid: string }

/** A network, with a click it may report on. */
async function place(changes: object = {}, template = 'keitaro'): Promise<Place> {
  const made = await house.call('POST', '/api/networks', { ...owner, body: { name: 'Net', template } })
  const { id, postback_url } = made.json<api.Network>()
  const changed = await house.call('PATCH', `/api/networks/${id}`, { ...owner, body: changes })
  assert.equal(changed.statusCode, 200, changed.body)
  const click = await seedClick(house.database, owner.org_id)
  return { id, path: new URL(postback_url).pathname, click, subid: toWireId(click) }
}

const fire = async ({ path, subid }: Pick<Place, 'path' | 'subid'>, query: Record<string, string>) => {
  const { statusCode, body } = await house.call('GET', `${path}?${new URLSearchParams({ subid, ...query }).toString()}`)
  return `${statusCode} ${body.trim()}`
}
const OK = '200 OK'

type Logged = { id: string; type: string; payout: string | null }
const eventsOf = async ({ subid }: Pick<Place, 'subid'>) =>
  (await house.call('GET', `/api/events?click_id=${subid}`, owner)).json<{ data: Logged[] }>().data.toReversed()

type History = { status: string; amount: string; hold_until: string | null; data: Revised[] }
type Revised = { status: string; amount: string; reason: string | null; source: string; network_name: string | null }
const historyOf = async (id: string) => (await house.call('GET', `/api/events/${id}/revisions`, owner)).json<History>()

/** The click's conversions with their status, and its revenue. */
async function standing(here: Place): Promise<string> {
  const all = []
  for (const { id, type } of await eventsOf(here)) {
    const { status, amount, data } = await historyOf(id)
    all.push(`${type} ${status} ${amount} (${data.length})`)
  }
  const revenue = (await readClick(house.database, owner.org_id, here.click))?.revenue ?? null
  assert.deepEqual(await auditBooks(house.database.reads, owner.org_id), [])
  return `${all.join(', ')}: ${revenue}`
}

type Kept = { id: string; diagnosis: string; error: string; state: string }
const kept = async ({ subid }: Pick<Place, 'subid'>) =>
  (await house.call('GET', `/api/refused-events?click_id=${subid}`, owner)).json<{ data: Kept[] }>().data

describe('a new network', () => {
  test('holds what is pending, approves it with what is paid, and takes it back', async () => {
    const here = await place()
    assert.equal(await fire(here, { status: 'hold', tid: 'T1', payout: '40' }), OK)
    assert.equal(await standing(here), 'purchase pending 40 (1): null')
    assert.equal(await fire(here, { status: 'hold', tid: 'T1', payout: '40' }), OK)
    assert.equal(await fire(here, { status: 'approved', tid: 'T1', payout: '35' }), OK)
    assert.equal(await standing(here), 'purchase approved 35 (2): 35')
    assert.equal(await fire(here, { status: 'approved', tid: 'T1', payout: '35' }), OK)
    assert.equal(await fire(here, { status: 'pending', tid: 'T1', payout: '35' }), OK)
    assert.equal(await standing(here), 'purchase approved 35 (2): 35')
    for (let at = 0; at < 2; at += 1)
      assert.equal(await fire(here, { status: 'Rejected', tid: 'T1', payout: '35' }), OK)
    assert.equal(await standing(here), 'purchase rejected 0 (3): null')
    assert.equal(await fire(here, { status: 'refund', tid: 'T1' }), OK)
    assert.equal(await fire(here, { status: 'chargeback', tid: 'T1' }), OK)
    const [event] = await eventsOf(here)
    const { data } = await historyOf(event?.id ?? '')
    assert.deepEqual(
      data.map(({ status, reason, source, network_name }) => [status, reason, source, network_name]).toReversed(),
      [
        ['pending', 'hold', 'network', 'Net'],
        ['approved', 'approved', 'network', 'Net'],
        ['rejected', 'Rejected', 'network', 'Net'],
        ['refunded', 'refund', 'network', 'Net'],
        ['chargeback', 'chargeback', 'network', 'Net'],
      ],
    )
    assert.deepEqual(await kept(here), [])
  })

  test('approves what is held under the same transaction id by another word, once, and adds what is of another', async () => {
    const here = await place({ statuses: { hold: 'pend:lead', sale: 'purchase' } })
    assert.equal(await fire(here, { status: 'hold', tid: 'T1', payout: '9' }), OK)
    for (let at = 0; at < 2; at += 1) assert.equal(await fire(here, { status: 'sale', tid: 'T1', payout: '9' }), OK)
    assert.equal(await standing(here), 'lead approved 9 (2): 9')
    assert.equal(await fire(here, { status: 'sale', tid: 'T2', payout: '3' }), OK)
    assert.equal(await standing(here), 'lead approved 9 (2), purchase approved 3 (0): 12')
  })

  test('holds what another parameter names, and takes the payout of the offer', async () => {
    const here = await place({}, 'affise')
    const offer_id = await seedOffer(house.database, owner.org_id, { payout: '18.5' })
    const click = await seedClick(house.database, owner.org_id, { offer_id })
    const there = { ...here, click, subid: toWireId(click) }
    assert.equal(await fire(there, { goal: 'dep', status: '2', txid: 'T1' }), OK)
    assert.equal(await standing(there), 'deposit pending 18.5 (1): null')
    assert.equal(await fire(there, { goal: 'dep', status: '1', txid: 'T1' }), OK)
    assert.equal(await standing(there), 'deposit approved 18.5 (2): 18.5')
    assert.equal(await fire(there, { goal: 'dep', status: '3', txid: 'T1' }), OK)
    assert.equal(await standing(there), 'deposit rejected 0 (3): null')
  })
})

describe('which conversion is meant', () => {
  test('without a transaction id it is the only paid one of this network, else none', async () => {
    const here = await place({ unpaid_types: ['registration'] })
    await fire(here, { status: 'reg', tid: 'R' })
    await fire(here, { status: 'sale', tid: 'T1', payout: '5' })
    assert.equal(await fire(here, { status: 'rejected' }), OK)
    assert.equal(await standing(here), 'registration approved 0 (0), purchase rejected 0 (1): null')
    await fire(here, { status: 'sale', tid: 'T2', payout: '6' })
    assert.match(await fire(here, { status: 'rejected' }), /^200 Not recorded: several conversions/)
    assert.deepEqual(
      (await kept(here)).map(({ diagnosis }) => diagnosis),
      ['conversion_ambiguous'],
    )
    assert.equal(
      await standing(here),
      'registration approved 0 (0), purchase rejected 0 (1), purchase approved 6 (0): 6',
    )
  })

  test('it is none that somebody else has recorded', async () => {
    const [here, other] = [await place(), await place()]
    await fire(here, { status: 'sale', tid: 'T1', payout: '5' })
    assert.match(
      await fire({ ...other, subid: here.subid }, { status: 'rejected', tid: 'T1' }),
      /not recorded by this network$/,
    )
    assert.equal((await kept(here))[0]?.diagnosis, 'not_yours')
    assert.equal(await standing(here), 'purchase approved 5 (0): 5')
  })

  test('on a click that nobody knows it is refused as any conversion', async () => {
    const here = await place()
    assert.match(
      await fire({ ...here, subid: '01h455vb4pex5vsknk084sn02q' }, { status: 'rejected', tid: 'T1' }),
      /click not found/,
    )
  })
})

test('a verdict that overtakes its conversion is tried again until that is there', async () => {
  const here = await place()
  assert.equal(await fire(here, { status: 'rejected', tid: 'T1' }), OK)
  assert.deepEqual(await kept(here), [])
  assert.equal(await fire(here, { status: 'sale', tid: 'T1', payout: '5' }), OK)
  const due = () =>
    house.database.worker.query('update network_calls set run_at = now() where org_id = $1', [owner.org_id])
  await eventually('the verdict was run again', async () => {
    await due()
    return (await standing(here)) === 'purchase rejected 0 (1): null'
  })
  assert.deepEqual(await kept(here), [])
})

test('a verdict on nothing is kept after a day, and can be run again', async () => {
  const here = await place()
  assert.equal(await fire(here, { status: 'rejected', tid: 'T1' }), OK)
  await eventually('the verdict is kept', async () => {
    await house.database.worker.query(
      `update network_calls set run_at = now(), received_at = now() - interval '25 hours' where org_id = $1`,
      [owner.org_id],
    )
    return (await kept(here)).some(({ diagnosis }) => diagnosis === 'conversion_unknown')
  })
  assert.equal(await fire(here, { status: 'sale', tid: 'T1', payout: '5' }), OK)
  const [row] = await kept(here)
  const preview = await house.call('POST', '/api/refused-events/run/preview', {
    ...owner,
    body: { network_id: here.id },
  })
  assert.deepEqual(preview.json<{ first: { reads_as: unknown }[] }>().first[0]?.reads_as, {
    type: null,
    verdict: 'rejected',
    payout: null,
  })
  const run = await house.call('POST', `/api/refused-events/${row?.id}/run`, owner)
  assert.equal(run.data()['state'], 'recorded', run.body)
  assert.equal(await standing(here), 'purchase rejected 0 (1): null')
})

test('a paid word changes what is approved or refused only where the network may amend; else it is kept as differing', async () => {
  const [here, amending] = [await place(), await place({ amend: true })]
  for (const one of [here, amending]) {
    await fire(one, { status: 'sale', tid: 'T1', payout: '5' })
    assert.equal(await fire(one, { status: 'sale', tid: 'T1', payout: '8' }), OK)
    await fire(one, { status: 'rejected', tid: 'T1' })
    assert.equal(await fire(one, { status: 'approved', tid: 'T1', payout: '9' }), OK)
  }
  assert.equal(await standing(here), 'purchase rejected 0 (1): null')
  assert.deepEqual((await kept(here)).map(({ error }) => error).toReversed(), [
    'the payout is 8, recorded is 5',
    'the payout is 9, recorded is 0; the status is approved, recorded is rejected',
  ])
  assert.equal(await standing(amending), 'purchase approved 9 (3): 9')
  assert.deepEqual(await kept(amending), [])
})

test('verdicts as words of a map of one’s own say what they say', async () => {
  const statuses = { yes: '!approve', wait: '!pend', no: '!reject', back: '!refund', sale: 'purchase' }
  const here = await place({ statuses })
  await fire(here, { status: 'sale', tid: 'T1', payout: '50' })
  for (const [status, payout, expected] of [
    ['wait', '', 'purchase pending 50 (1): null'],
    ['yes', '20', 'purchase approved 20 (2): 20'],
    ['no', '20', 'purchase rejected 0 (3): null'],
    ['yes', '', 'purchase approved 50 (4): 50'],
    ['back', '', 'purchase refunded 0 (5): null'],
  ] as const) {
    assert.equal(await fire(here, { status, tid: 'T1', ...(payout === '' ? {} : { payout }) }), OK)
    assert.equal(await standing(here), expected)
  }
  const unconverted = await place({ statuses, convert: false })
  await fire(unconverted, { status: 'sale', tid: 'T1', payout: '50' })
  const inEuro = { status: 'yes', tid: 'T1', payout: '5', currency: 'EUR' }
  assert.match(await fire(unconverted, inEuro), /the currency is EUR, and the network takes only USD/)
  assert.equal(await standing(unconverted), 'purchase approved 50 (0): 50')
  const wrong = await house.call('PATCH', `/api/networks/${here.id}`, {
    ...owner,
    body: { statuses: { no: '!maybe' } },
  })
  assert.equal(wrong.statusCode, 400)
})

test('what was held for its days is approved by itself, once, unless something else was said', async () => {
  const here = await place({ hold_days: 3 })
  await fire(here, { status: 'hold', tid: 'T1', payout: '7' })
  await fire(here, { status: 'hold', tid: 'T2', payout: '5' })
  await fire(here, { status: 'rejected', tid: 'T2' })
  const [event] = await eventsOf(here)
  const left = Date.parse((await historyOf(event?.id ?? '')).hold_until ?? '') - Date.now()
  assert.ok(left > 2.9 * 86_400_000 && left <= 3 * 86_400_000, String(left))
  const queue = openQueue(house.database)
  const holds = openHolds(house.ground, queue, 86_400_000)
  await holds.approveDue()
  assert.match(await standing(here), /^purchase pending 7 \(1\), /)
  await house.database.worker.query(`update held_events set approve_at = now() where org_id = $1`, [owner.org_id])
  await Promise.all([holds.approveDue(), holds.approveDue()])
  assert.equal(await standing(here), 'purchase approved 7 (2), purchase rejected 0 (2): 7')
  const { data, hold_until } = await historyOf(event?.id ?? '')
  assert.deepEqual([data[0]?.source, hold_until], ['hold', null])
  await holds.close()
  await queue.close()
})

test('fifty calls on one click at once leave what the last revision says', async () => {
  const here = await place({ amend: true })
  const words = ['sale', 'rejected', 'hold', 'refund', 'approved']
  await fire(here, { status: 'sale', tid: 'T1', payout: '1' })
  await Promise.all(
    Array.from({ length: 50 }, (_, at) =>
      fire(here, { status: words[at % words.length] ?? '', tid: 'T1', payout: String(at + 1) }),
    ),
  )
  const [event, ...others] = await eventsOf(here)
  assert.deepEqual(others, [])
  const { status, amount } = await historyOf(event?.id ?? '')
  const { revenue } = (await readClick(house.database, owner.org_id, here.click)) ?? assert.fail()
  assert.equal(revenue ?? '0', status === 'approved' ? amount : '0')
  assert.deepEqual(await auditBooks(house.database.reads, owner.org_id), [])
})

test('a call is tried as it would be read, by the saved maps or by others, and nothing happens', async () => {
  const here = await place()
  const attempt = async (body: object, by: object = owner) =>
    (await house.call('POST', `/api/networks/${here.id}/try`, { ...by, body })).json<{
      reads_as: unknown
      error: string
    }>()
  const call = `https://sluice.example${here.path}?subid=${here.subid}&status=trash&tid=T1&payout=5`
  const verdict = {
    click_id: here.subid,
    transaction_id: 'T1',
    type: null,
    by_offer: false,
    verdict: 'rejected',
    payout: null,
    currency: null,
  }
  assert.deepEqual(await attempt({ call }), { reads_as: verdict, error: null })
  const statuses = { trash: 'pend:deposit' }
  const held = { ...verdict, type: 'deposit', verdict: 'pending', payout: '5', currency: 'USD' }
  assert.deepEqual(await attempt({ call, statuses }), { reads_as: held, error: null })
  const json = JSON.stringify({ subid: here.subid, status: 'sale', sum: '7' })
  assert.deepEqual((await attempt({ call: json })).reads_as, {
    ...held,
    transaction_id: null,
    type: 'purchase',
    verdict: null,
    payout: '7',
  })
  assert.match((await attempt({ call: 'status=sale' })).error, /no click id/)
  assert.deepEqual(await eventsOf(here), [])
  assert.deepEqual(await kept(here), [])
  const other = await seedSignedIn(house)
  const stranger = await house.call('POST', `/api/networks/${here.id}/try`, { ...other, body: { call } })
  assert.equal(stranger.statusCode, 404)
})
