// Postbacks that name no event get the type that the click's offer pays on; conversions of other types are listed under Refused.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type TestHouse, useHouse } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { BROWSER } from '../../../tests/support/visits.ts'
import { auditBooks } from '../../reading/audit/audit.ts'
import type * as refused from '../refused-events/api.ts'
import type * as api from './api.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

type Made = { id: string }
const send = async <Reply = Made>(as: SignedIn, method: 'POST' | 'PUT' | 'PATCH', url: string, body: object) => {
  const reply = await house.call(method, url, { cookie: as.cookie, body })
  assert.ok(reply.statusCode < 300, reply.body)
  return reply.json<Reply>()
}
const read = async <Reply>(as: SignedIn, url: string) => {
  const reply = await house.call('GET', url, { cookie: as.cookie })
  assert.equal(reply.statusCode, 200, reply.body)
  return reply.json<Reply>()
}

const URL_OF_OFFER = 'https://shop.example/?sub={click_id}'
type Place = { owner: SignedIn; offer: string; campaign: string; key: string; network: string; path: string }

/** A new organization with an offer, a campaign that leads to it, and a network. */
async function place(offered: object, template = 'plain', maps?: object): Promise<Place> {
  const owner = await seedSignedIn(house)
  const offer = await send(owner, 'POST', '/api/offers', { name: 'Offer', url: URL_OF_OFFER, ...offered })
  const destination = { type: 'offer', offer_id: offer.id }
  const campaign = await send<{ id: string; key: string }>(owner, 'POST', '/api/campaigns', { name: 'C', destination })
  const made = await send<api.Network>(owner, 'POST', '/api/networks', { name: 'Net', template })
  if (maps !== undefined) await send(owner, 'PATCH', `/api/networks/${made.id}`, maps)
  const path = new URL(made.postback_url).pathname
  return { owner, offer: offer.id, campaign: campaign.id, key: campaign.key, network: made.id, path }
}

/** The click id that the offer gets. */
async function visit({ key }: Place): Promise<string> {
  const reply = await house.call('GET', `/c/${key}`, { headers: BROWSER })
  return new URL(String(reply.headers['location'])).searchParams.get('sub') ?? assert.fail(reply.body)
}

async function fire({ path }: Place, click: string, query: Record<string, string>): Promise<string> {
  const reply = await house.call('GET', `${path}?${new URLSearchParams({ click_id: click, ...query }).toString()}`)
  return `${reply.statusCode} ${reply.body.trim()}`
}

type Logged = { id: string; type: string; status: string; amount: string }
/** The conversions of a click, the oldest first. */
async function logged({ owner }: Place, click: string): Promise<string[]> {
  const { data } = await read<{ data: Logged[] }>(owner, `/api/events?click_id=${click}`)
  assert.deepEqual(await auditBooks(house.database.reads, owner.org_id), [])
  return data.toReversed().map(({ type, status, amount }) => `${type} ${status} ${amount}`)
}
const kept = async ({ owner }: Place, more = '') =>
  (await read<{ data: refused.RefusedEvent[] }>(owner, `/api/refused-events?limit=50${more}`)).data

type Figures = { clicks: number; conversions: number; revenue: string }
const day = () => new Date().toISOString().slice(0, 10)

test('the first approved sale of a new workspace is its conversion, with its revenue, in Overview and in Explore', async () => {
  const words: Record<string, Record<string, string>> = {
    keitaro: { status: 'approved', tid: '1' },
    everflow: { event: 'Base', txid: '1' },
    affise: { status: '1', txid: '1' },
    tune: { txid: '1' },
    plain: { status: 'approved', txid: '1' },
  }
  for (const [template, said] of Object.entries(words))
    for (const types of [['lead'], ['purchase'], ['ftd'], []]) {
      const about = `${template}, paid for ${types.join()}`
      const here = await place({ payout: '22', payout_types: types }, template)
      const click = await visit(here)
      assert.equal(await fire(here, click, said), '200 OK', about)
      const window = `date_from=${day()}&date_to=${day()}T23:59:59.999Z`
      const report = await read<{ rows: Figures[]; totals: Figures }>(
        here.owner,
        `/api/report?dimension=campaign&${window}`,
      )
      for (const { clicks, conversions, revenue } of [report.totals, ...report.rows])
        assert.deepEqual({ clicks, conversions, revenue }, { clicks: 1, conversions: 1, revenue: '22.00' }, about)
      assert.deepEqual(await kept(here), [], about)
      const question = {
        date_from: day(),
        date_to: `${day()}T23:59:59.999Z`,
        levels: [{ dimension: 'campaign' }],
        measures: ['conversions', 'revenue', 'cr'],
      }
      const { totals } = await send<{ totals: object }>(here.owner, 'POST', '/api/explore', question)
      assert.deepEqual(totals, { conversions: 1, revenue: '22.00', cr: 1 }, about)
    }
})

test('a call that names no event is of the type its click’s offer pays for, once, whatever the offer pays for later', async () => {
  const here = await place({ payout: '22', payout_types: ['lead'] })
  const click = await visit(here)
  assert.equal(await fire(here, click, { status: 'approved', txid: 'A' }), '200 OK')
  assert.deepEqual(await logged(here, click), ['lead approved 22'])
  const offer = { name: 'Offer', url: URL_OF_OFFER, payout: '30', payout_types: ['ftd', 'purchase'] }
  await send(here.owner, 'PUT', `/api/offers/${here.offer}`, offer)
  assert.equal(await fire(here, click, { status: 'approved', txid: 'A' }), '200 OK')
  assert.deepEqual(await logged(here, click), ['lead approved 22'])
  assert.deepEqual(await kept(here), [])
  // Of several types, the postback's own type, else purchase.
  assert.equal(await fire(here, click, { txid: 'B' }), '200 OK')
  assert.equal(await fire(here, click, { status: 'pending', txid: 'C' }), '200 OK')
  assert.equal(await fire(here, click, { status: 'approved', txid: 'C' }), '200 OK')
  const all = ['lead approved 22', 'purchase approved 30', 'purchase approved 30']
  assert.deepEqual(await logged(here, click), all)
  // A postback that names an event gets that type.
  assert.equal(await fire(here, click, { status: 'reg', txid: 'D', payout: '1' }), '200 OK')
  assert.deepEqual(await logged(here, click), [...all, 'registration approved 1'])
})

test('a network’s steps to a paid conversion of one transaction are counted and paid once', async () => {
  const keitaro = await place({ payout: '22', payout_types: ['lead'] }, 'keitaro')
  const click = await visit(keitaro)
  for (const status of ['lead', 'approved', 'approved'])
    assert.equal(await fire(keitaro, click, { status, tid: '1' }), '200 OK')
  assert.deepEqual(await logged(keitaro, click), ['lead approved 0', 'purchase approved 22'])
  const plain = await place({ payout: '22', payout_types: ['lead'] })
  for (const [first, second] of [
    ['lead', 'approved'],
    ['approved', 'lead'],
  ] as const)
    for (const said of [{ txid: '1' }, {}]) {
      const visited = await visit(plain)
      assert.equal(await fire(plain, visited, { ...said, status: first }), '200 OK')
      assert.equal(await fire(plain, visited, { ...said, status: second }), '200 OK')
      assert.deepEqual(await logged(plain, visited), ['lead approved 22'], `${first}, then ${second}`)
    }
  // A conversion that was worth nothing does not block a later paid one.
  const unpaid = await place({ payout_types: ['lead'] })
  const last = await visit(unpaid)
  await fire(unpaid, last, { status: 'lead', txid: '1' })
  await fire(unpaid, last, { status: 'approved', txid: '1', payout: '25' })
  assert.deepEqual(await logged(unpaid, last), ['lead approved 0', 'purchase approved 25'])
})

test('a call that is worth nothing because its offer pays for another type is kept with the reason, beside its conversion', async () => {
  const here = await place({ payout: '22', payout_types: ['lead'] })
  const stranger = await seedSignedIn(house)
  const click = await visit(here)
  assert.equal(await fire(here, click, { status: 'sale', txid: '1' }), '200 OK')
  assert.deepEqual(await logged(here, click), ['purchase approved 0'])
  const [row, ...others] = await kept(here)
  assert.deepEqual(others, [])
  const { data } = await read<{ data: Logged[] }>(here.owner, `/api/events?click_id=${click}`)
  assert.deepEqual(
    [row?.diagnosis, row?.error, row?.state, row?.event_id, row?.click_id, row?.status],
    [
      'paid_for_other_types',
      'recorded as Purchase and worth nothing, because its offer pays on Lead',
      'recorded',
      data[0]?.id,
      click,
      400,
    ],
  )
  assert.deepEqual((await house.call('GET', '/api/refused-events', { cookie: stranger.cookie })).data()['data'], [])
  // Each is listed once, and cannot be run again.
  assert.equal(await fire(here, click, { status: 'sale', txid: '1' }), '200 OK')
  assert.equal((await kept(here)).length, 1)
  assert.equal(await fire(here, await visit(here), { status: 'sale', txid: '2' }), '200 OK')
  assert.equal((await kept(here)).length, 2)
  const run = await send<{ recorded: number }>(here.owner, 'POST', '/api/refused-events/run', {})
  assert.deepEqual(run, { recorded: 0, refused: 0, next_cursor: null })
  // A step before the paid type is listed once a day.
  for (const txid of ['3', '4']) assert.equal(await fire(here, await visit(here), { status: 'reg', txid }), '200 OK')
  assert.equal((await kept(here)).length, 3)
  // A payout in the postback, and a type that the offer pays on.
  assert.equal(await fire(here, click, { status: 'ftd', txid: '4', payout: '5' }), '200 OK')
  assert.equal(await fire(here, click, { status: 'ftd', txid: '5', payout: '0' }), '200 OK')
  assert.equal(await fire(here, click, { status: 'lead', txid: '6' }), '200 OK')
  assert.equal((await kept(here)).length, 3)
  // The fix that the advice names.
  const statuses = { sale: 'offer' }
  await send(here.owner, 'PATCH', `/api/networks/${here.network}`, { statuses })
  assert.equal(await fire(here, await visit(here), { status: 'sale', txid: '7' }), '200 OK')
  assert.equal((await kept(here)).length, 3)
})

test('refused intake that is run again and is worth nothing says so', async () => {
  const here = await place({ payout: '22', payout_types: ['lead'] }, 'plain', { statuses: {} })
  const click = await visit(here)
  assert.match(await fire(here, click, { status: 'won', txid: '1' }), /^200 Not recorded/)
  await send(here.owner, 'PATCH', `/api/networks/${here.network}`, { statuses: { won: 'ftd' } })
  const [row] = await kept(here)
  const ran = await send<refused.RefusedEvent>(here.owner, 'POST', `/api/refused-events/${row?.id}/run`, {})
  assert.deepEqual([ran.state, ran.diagnosis], ['recorded', 'paid_for_other_types'])
  assert.match(ran.error, /worth nothing, because its offer pays on Lead/)
})

test('a call that is tried says whether the offer decides on its type', async () => {
  const here = await place({ payout: '22', payout_types: ['lead'] })
  const click = await visit(here)
  const tried = async (call: string) => {
    const { reads_as } = await send<{ reads_as: { type: string; by_offer: boolean; verdict: string | null } }>(
      here.owner,
      'POST',
      `/api/networks/${here.network}/try`,
      { call: `click_id=${click}&${call}` },
    )
    return [reads_as.type, reads_as.by_offer, reads_as.verdict]
  }
  assert.deepEqual(await tried('status=approved'), ['purchase', true, null])
  assert.deepEqual(await tried('status=hold'), ['purchase', true, 'pending'])
  assert.deepEqual(await tried('txid=1'), ['lead', true, null])
  assert.deepEqual(await tried('status=sale'), ['purchase', false, null])
  assert.deepEqual(await tried('status=hold&goal=dep'), ['deposit', false, 'pending'])
  assert.deepEqual(await tried('status=rejected'), [null, false, 'rejected'])
})
