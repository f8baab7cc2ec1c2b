// Postbacks through the gate: they are understood, nothing is recorded twice, and nothing acknowledged is lost.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newId, startHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedClick, seedOffer, tally } from '../../../tests/support/intake.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { mintClickId } from '../clicks/click-id.ts'
import type * as api from './api.ts'

let house: TestHouse
let owner: SignedIn
let other: SignedIn
before(async () => {
  house = await startHouse({ TRUST_PROXY: '127.0.0.1' })
  owner = await seedSignedIn(house)
  other = await seedSignedIn(house)
})
after(() => house.end())

type Made = { id: string; postback_url: string; token: string; path: string }

async function network(template: string, changes: object = {}, as = owner): Promise<Made> {
  const made = await house.call('POST', '/api/networks', { ...as, body: { name: 'Net', template } })
  assert.equal(made.statusCode, 201, made.body)
  const { id, postback_url } = made.json<api.Network>()
  const changed = await house.call('PATCH', `/api/networks/${id}`, { ...as, body: changes })
  assert.equal(changed.statusCode, 200, changed.body)
  const path = new URL(postback_url).pathname
  return { id, postback_url, path, token: path.split('/')[2] ?? '' }
}

/** A postback as the network sends it. */
const fire = (path: string, query: Record<string, string> | string = '', headers: Record<string, string> = {}) =>
  house.call('GET', `${path}?${new URLSearchParams(query).toString()}`, { headers })

const events = async (org_id = owner.org_id) => {
  const { rows } = await house.database.reads.query<{ type: string; payout: string | null; nonce: string | null }>(
    'select type, trim_scale(payout) as payout, nonce from events where org_id = $1 order by created_at, type',
    [org_id],
  )
  return rows
}
const eventsOf = async (click_id: string) => {
  const { rows } = await house.database.reads.query<{
    type: string
    payout: string | null
    nonce: string | null
    source: string
    payload: unknown
  }>(
    'select type, trim_scale(payout) as payout, nonce, source, payload from events where click_id = $1 order by type',
    [click_id],
  )
  return rows
}
const refusedOf = async (click_text: string | null, as = owner) => {
  const reply = await house.call('GET', '/api/refused-events?limit=200', as)
  return reply.json<{ data: Record<string, unknown>[] }>().data.filter(row => row['click_text'] === click_text)
}
const click = (org_id = owner.org_id) => seedClick(house.database, org_id)

/** The shown postback URL, with its macros filled in as the network does. */
function filled(postback_url: string, values: Record<string, string>): string {
  const { pathname, search } = new URL(postback_url)
  return (
    pathname +
    decodeURIComponent(search).replace(/\{(\w+)\}/g, (_, macro: string) => encodeURIComponent(values[macro] ?? ''))
  )
}

describe('the address of each template', () => {
  const cases = {
    keitaro: { subid: 'CLICK', payout: '12.5', transaction_id: 'k-1', status: 'sale', currency: 'usd' },
    everflow: { sub1: 'CLICK', payout_amount: '12.5', transaction_id: 'e-1', event_name: 'Purchase' },
    affise: { sub1: 'CLICK', sum: '12.5', transactionid: 'a-1', status: '1', goal: '2', currency: 'USD' },
    tune: { aff_sub: 'CLICK', payout: '12.50', transaction_id: 't-1', currency: 'USD' },
    plain: { click_id: 'CLICK', payout: '12.5', transaction_id: 'p-1', status: 'approved', currency: '' },
  } as const
  for (const [template, values] of Object.entries(cases)) {
    test(`${template}: filled in as the network does, it records one conversion with its payout and transaction`, async () => {
      const { postback_url } = await network(template)
      const id = await click()
      const url = filled(
        postback_url,
        Object.fromEntries(Object.entries(values).map(([k, v]) => [k, v === 'CLICK' ? toWireId(id) : v])),
      )
      const reply = await house.call('GET', url)
      assert.deepEqual(
        [reply.statusCode, reply.body, reply.headers['content-type']],
        [200, 'OK\n', 'text/plain; charset=utf-8'],
      )
      const [event, ...rest] = await eventsOf(id)
      assert.deepEqual(rest, [])
      assert.equal(event?.payout, '12.5')
      assert.equal(event?.type, template === 'tune' ? 'lead' : 'purchase')
      assert.equal(event?.source, 'network')
      assert.match(event?.nonce ?? '', /^[a-z]-1$/)
    })
  }
})

test('a click id is understood under every name of the field, in any case and form', async () => {
  const { path } = await network('plain')
  const names = [
    'subid',
    'sub_id',
    'cid',
    'clickid',
    'click_id',
    'cnv_id',
    'aff_click_id',
    'sub1',
    'aff_sub',
    'hit',
    'transaction_id',
    'ClickId',
  ]
  for (const [at, name] of names.entries()) {
    const id = await click()
    const text = [toWireId(id), toWireId(id).toUpperCase(), id, id.replaceAll('-', '')][at % 4] ?? ''
    assert.equal((await fire(path, { [name]: text, payout: '1' })).body, 'OK\n', name)
    assert.equal((await eventsOf(id)).length, 1, name)
  }
})

test('transaction_id is the click id where it holds one, else the transaction', async () => {
  const { path } = await network('everflow')
  const [one, two] = [await click(), await click()]
  await fire(path, { transaction_id: toWireId(one), order_id: 'o-1' })
  await fire(path, { sub1: toWireId(two), transaction_id: 'ef-77' })
  assert.equal((await eventsOf(one))[0]?.nonce, 'o-1')
  assert.equal((await eventsOf(two))[0]?.nonce, 'ef-77')
})

test('a call sent again does nothing; another transaction is another conversion; without one the type is the identity', async () => {
  const { path } = await network('plain')
  const id = await click()
  const wire = toWireId(id)
  const before = await tally(house.database, owner.org_id)
  for (let time = 0; time < 3; time += 1) {
    await fire(path, { subid: wire, status: 'deposit', payout: '5', txid: 'a' })
    await fire(path, { cid: wire.toUpperCase(), event: 'dep', sum: '7', tid: 'b' })
    await fire(path, { subid: wire, status: 'lead', payout: '2' })
  }
  assert.deepEqual((await eventsOf(id)).map(({ type, payout }) => `${type} ${payout}`).toSorted(), [
    'deposit 5',
    'deposit 7',
    'lead 2',
  ])
  const now = await tally(house.database, owner.org_id)
  assert.equal(now.charges - before.charges, 1)
})

test('forms, JSON and the query are read alike, and together', async () => {
  const { path } = await network('plain')
  const sent: [string, string][] = [
    ['', `subid=CLICK&payout=3.5&txid=f`],
    ['', `{"subid":"CLICK","payout":3.5,"txid":"f","nested":{"a":1},"list":[1]}`],
    ['?subid=CLICK', 'payout=3.5&txid=f'],
    ['?subid=CLICK&payout=3.5&txid=f', ''],
  ]
  for (const [query, payload] of sent) {
    const id = await click()
    const reply = await house.call('POST', path + query.replace('CLICK', toWireId(id)), {
      payload: payload.replace('CLICK', toWireId(id)),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    assert.equal(reply.body, 'OK\n', payload)
    assert.deepEqual(
      (await eventsOf(id)).map(({ type, payout, nonce }) => [type, payout, nonce]),
      [['lead', '3.5', 'f']],
    )
  }
})

test('an address that was escaped as HTML on its way is read as it was meant: a rejection stays one', async () => {
  const { path } = await network('plain')
  const [paid, rejected] = [await click(), await click()]
  await house.call('GET', `${path}?click_id=${toWireId(paid)}&amp;status=deposit&amp;payout=7&amp;txid=t`)
  assert.deepEqual(
    (await eventsOf(paid)).map(({ type, payout, nonce }) => [type, payout, nonce]),
    [['deposit', '7', 't']],
  )
  await house.call('GET', `${path}?click_id=${toWireId(rejected)}&amp;status=rejected`)
  assert.deepEqual(await eventsOf(rejected), [])
})

test('a transaction number of JSON is not rounded: two that differ in their last digit are two conversions', async () => {
  const { path } = await network('plain')
  const id = await click()
  for (const txid of ['9007199254740993', '9007199254740992', '-1234567890123456789'])
    await house.call('POST', path, {
      payload: `{"click_id":"${toWireId(id)}","txid":${txid},"payout":12.50}`,
      headers: { 'content-type': 'application/json' },
    })
  assert.deepEqual((await eventsOf(id)).map(({ nonce, payout }) => `${nonce} ${payout}`).toSorted(), [
    '-1234567890123456789 12.5',
    '9007199254740992 12.5',
    '9007199254740993 12.5',
  ])
})

test('an answer that repeats what was sent is never taken for a page', async () => {
  const { path } = await network('plain')
  const { headers, body } = await fire(path, { click_id: toWireId(await click()), status: '<script>alert(1)</script>' })
  assert.match(body, /<script>/)
  assert.deepEqual(
    [headers['content-type'], headers['x-content-type-options']],
    ['text/plain; charset=utf-8', 'nosniff'],
  )
})

test('a parameter may be called like a member of every object', async () => {
  const { path, id: network_id } = await network('plain')
  const { parameters } = (await house.call('GET', `/api/networks/${network_id}`, owner)).json<api.Network>()
  const strange = Object.fromEntries(
    Object.entries(parameters).map(([field, names]) => [field, ['constructor', '__proto__', ...names].slice(0, 30)]),
  )
  await house.call('PATCH', `/api/networks/${network_id}`, { ...owner, body: { parameters: strange } })
  const [one, two] = [await click(), await click()]
  assert.equal((await fire(path, { click_id: toWireId(one), payout: '2', txid: 't' })).body, 'OK\n')
  assert.deepEqual(
    (await eventsOf(one)).map(({ payout, nonce }) => [payout, nonce]),
    [['2', 't']],
  )
  assert.match((await fire(path, { constructor: toWireId(two), click_id: 'no id' })).body, /^Not recorded: /)
})

test('the offer’s payout is inherited where none is sent; a type that is not paid yet is worth nothing', async () => {
  const offer_id = await seedOffer(house.database, owner.org_id, { payout: '4' })
  const [one, two] = [
    await seedClick(house.database, owner.org_id, { offer_id }),
    await seedClick(house.database, owner.org_id, { offer_id }),
  ]
  const { path } = await network('keitaro')
  await fire(path, { subid: toWireId(one), status: 'sale', tid: '1' })
  await fire(path, { subid: toWireId(two), status: 'lead', payout: '9', tid: '1' })
  await fire(path, { subid: toWireId(two), status: 'sale', payout: '9', tid: '1' })
  assert.equal((await eventsOf(one))[0]?.payout, '4')
  assert.deepEqual(
    (await eventsOf(two)).map(({ type, payout }) => [type, payout]),
    [
      ['lead', '0'],
      ['purchase', '9'],
    ],
  )
  const { rows } = await house.database.reads.query<{ revenue: string }>(
    'select trim_scale(revenue) as revenue from clicks where id = $1',
    [two],
  )
  assert.equal(rows[0]?.revenue, '9')
})

test('what cannot be booked exactly is answered 200, recorded as nothing and kept with its diagnosis', async () => {
  const { path } = await network('plain', { statuses: { dep: 'deposit', lost: null } })
  const cases: [Record<string, string>, string][] = [
    [{ status: 'lost' }, 'status_ignored'],
    [{ goal: 'dep', status: 'lost' }, 'status_ignored'],
    [{ status: 'whatever' }, 'status_unmapped'],
    [{ status: '{status}' }, 'macro_not_replaced'],
    [{ payout: '12,50' }, 'payout_invalid'],
    [{ payout: '-3' }, 'payout_invalid'],
    [{ payout: '0x10' }, 'payout_invalid'],
    [{ payout: '1000001' }, 'payout_invalid'],
    [{ payout: '{payout}' }, 'macro_not_replaced'],
    [{ currency: 'EUR', payout: '1' }, 'rate_unknown'],
    [{ currency: '{currency}' }, 'macro_not_replaced'],
    [{ txid: 'x'.repeat(129) }, 'nonce_invalid'],
    [{ status: 'bot_start' }, 'telegram_user_id_missing'],
  ]
  for (const [query, diagnosis] of cases) {
    const id = await click()
    const reply = await fire(path, { click_id: toWireId(id), ...query })
    assert.equal(reply.statusCode, 200)
    assert.match(reply.body, /^Not recorded: /, JSON.stringify(query))
    assert.deepEqual(await eventsOf(id), [])
    const [kept, ...more] = await refusedOf(toWireId(id))
    assert.deepEqual(
      [kept?.['diagnosis'], kept?.['state'], kept?.['is_whole'], more.length],
      [diagnosis, 'refused', true, 0],
      JSON.stringify(query),
    )
  }
})

test('a payout with a comma is never guessed: the refusal says what to have sent', async () => {
  const { path } = await network('plain')
  for (const [payout, words] of [
    ['18,50', 'the payout is 18,50: write 18.50: a point, not a comma'],
    ['1,850', /nothing between thousands/],
  ] as const) {
    const id = await click()
    await fire(path, { click_id: toWireId(id), payout })
    const [kept] = await refusedOf(toWireId(id))
    assert.match(String(kept?.['error']), typeof words === 'string' ? new RegExp(`^${words}$`) : words)
    assert.deepEqual(await eventsOf(id), [])
  }
})

test('a click id that is none, unknown, cut or another workspace’s is told apart for the owner, not for the caller', async () => {
  const { path } = await network('plain')
  const { clickKey } = house.ground.secrets
  const foreign = mintClickId(clickKey, other.org_id)
  await house.database.kysely
    .insertInto('clicks')
    .values({
      org_id: other.org_id,
      id: foreign,
      status: 0,
      stages: 1,
      tracked: true,
      test: false,
      suppressed_delivery: false,
    })
    .execute()
  const before = await events(other.org_id)
  const cases: [string, string][] = [
    [toWireId(foreign), 'click_other_organization'],
    [toWireId(mintClickId(clickKey, owner.org_id)), 'click_not_stored'],
    [toWireId(newId()), 'click_unknown'],
    [toWireId(newId()).slice(0, 20), 'click_id_truncated'],
    ['{subid}', 'macro_not_replaced'],
    ['##CLICK_ID##', 'macro_not_replaced'],
    ['#click#', 'macro_not_replaced'],
    ['12345', 'click_id_malformed'],
  ]
  const answers = new Set<string>()
  for (const [text, diagnosis] of cases) {
    const reply = await fire(path, { click_id: text, payout: '1' })
    assert.equal(reply.statusCode, 200)
    if (diagnosis.startsWith('click_') && !diagnosis.includes('id_')) answers.add(reply.body)
    assert.equal((await refusedOf(text))[0]?.['diagnosis'], diagnosis, text)
  }
  assert.deepEqual([...answers], ['Not recorded: click not found\n'])
  await fire(path, { payout: '1' })
  assert.equal((await refusedOf(null))[0]?.['diagnosis'], 'click_id_missing')
  assert.deepEqual(await events(other.org_id), before)
  assert.deepEqual(await refusedOf(toWireId(foreign), other), [])
})

test('an IP list lets in whom it names, through a trusted proxy too; strangers are refused and kept', async () => {
  const { path } = await network('plain', { ips: ['203.0.113.0/24', '2001:db8::/32', '198.51.100.7'] })
  const from = async (ip: string) => {
    const id = await click()
    const reply = await fire(path, { subid: toWireId(id) }, { 'x-forwarded-for': ip })
    return {
      status: reply.statusCode,
      events: (await eventsOf(id)).length,
      kept: (await refusedOf(toWireId(id)))[0]?.['diagnosis'],
    }
  }
  const inside = { status: 200, events: 1, kept: undefined }
  const outside = { status: 403, events: 0, kept: 'ip_not_listed' }
  for (const ip of ['203.0.113.9', '::ffff:203.0.113.9', '2001:db8:1::5', '198.51.100.7'])
    assert.deepEqual(await from(ip), inside, ip)
  for (const ip of ['203.0.114.1', '2001:db9::1', '198.51.100.8', '127.0.0.1'])
    assert.deepEqual(await from(ip), outside, ip)
})

test('an unknown, rotated or deleted address is 404; one that is switched off records nothing and is kept', async () => {
  const made = await network('plain')
  const id = await click()
  const query = { subid: toWireId(id) }
  assert.equal((await fire(`/postback/${'a'.repeat(32)}`, query)).statusCode, 404)
  for (const path of ['/postback/x', `/postback/${'%00'.repeat(11)}`, '/postback/%ff%fe', `/postback/${made.token}x`])
    assert.ok([400, 404].includes((await fire(path, query)).statusCode), path)
  const rotate = (overlap_hours: number) =>
    house.call('POST', `/api/networks/${made.id}/rotate`, { ...owner, body: { overlap_hours } })
  const second = new URL((await rotate(1)).json<api.Network>().postback_url).pathname
  assert.notEqual(second, made.path)
  assert.equal((await fire(made.path, query)).statusCode, 200)
  const third = new URL((await rotate(0)).json<api.Network>().postback_url).pathname
  for (const path of [made.path, second]) assert.equal((await fire(path, { ...query, txid: '2' })).statusCode, 404)
  assert.equal(
    (await fire(third.toUpperCase().replace('/POSTBACK', '/postback'), { ...query, txid: '3' })).body,
    'OK\n',
  )
  await house.call('PATCH', `/api/networks/${made.id}`, { ...owner, body: { active: false } })
  assert.match((await fire(third, { ...query, txid: '4' })).body, /switched off/)
  assert.equal((await refusedOf(toWireId(id)))[0]?.['diagnosis'], 'network_off')
  await house.call('DELETE', `/api/networks/${made.id}`, owner)
  assert.equal((await fire(third, { ...query, txid: '5' })).statusCode, 404)
  assert.deepEqual(new Set((await eventsOf(id)).map(({ nonce }) => nonce)), new Set([null, '3']))
})

test('HEAD, odd methods and a deleted organization record nothing', async () => {
  const { path } = await network('plain')
  const id = await click()
  assert.equal((await house.call('HEAD', `${path}?subid=${toWireId(id)}`)).statusCode, 200)
  assert.equal((await house.call('PUT', `${path}?subid=${toWireId(id)}`)).statusCode, 404)
  const gone = await seedSignedIn(house)
  const theirs = await network('plain', {}, gone)
  await house.database.kysely
    .updateTable('organizations')
    .set({ deleted_at: new Date().toISOString() })
    .where('org_id', '=', gone.org_id)
    .execute()
  assert.equal((await fire(theirs.path, { subid: toWireId(id) })).statusCode, 409)
  assert.deepEqual(await eventsOf(id), [])
})

test('a network reports for its own organization alone, whatever the call says', async () => {
  const { path } = await network('plain', {}, other)
  const id = await click()
  await fire(path, { subid: toWireId(id), payout: '5', org_id: String(owner.org_id) })
  assert.deepEqual(await eventsOf(id), [])
})

test('hostile calls are never answered with a failure', async () => {
  const { path } = await network('plain')
  const id = toWireId(await click())
  const queries = [
    '%',
    '%00',
    '%ff=%fe',
    '&&&&',
    '=',
    'subid[]=1',
    `subid=${id}&payout=%00`,
    `subid=${id}&status=%ED%A0%80`,
    '__proto__=1&constructor=2&toString=3',
    `subid=${id}&status=__proto__`,
    `subid=${id}&status=constructor`,
    `subid=${id}&currency=%F0%9F%92%B0`,
    `subid=${'9'.repeat(8000)}`,
    `subid=${id}&txid=${'%F0%9F%98%80'.repeat(200)}`,
    Array.from({ length: 900 }, (_, at) => `p${at}=${at}`).join('&'),
    `subid=${id}&payout=1e309`,
    `subid=${id}&payout=NaN`,
    `subid=${id}';drop table events;--`,
    `subid=${id}&telegram_user_id=${'9'.repeat(400)}&txid=long`,
  ]
  for (const query of queries)
    assert.equal((await house.call('GET', `${path}?${query}`)).statusCode, 200, query.slice(0, 60))
  const bodies: (string | Buffer)[] = [
    '',
    '{',
    '{}',
    '[]',
    'null',
    '"x"',
    '{"subid":',
    `{"__proto__":{"a":1}}`,
    '['.repeat(100_000),
    `{"a":${'['.repeat(50_000)}`,
    Buffer.from([0xff, 0xfe, 0x00]),
    Buffer.alloc(300_000, 0x26),
    `{"subid":"\\u0000","payout":"\\ud800"}`,
    '--x\r\ncontent-disposition: form-data',
  ]
  for (const payload of bodies)
    assert.equal(
      (await house.call('POST', path, { payload, headers: { 'content-type': 'text/plain' } })).statusCode,
      200,
      String(payload).slice(0, 40),
    )
  assert.equal((await house.call('POST', path, { payload: Buffer.alloc(1_100_000, 0x61) })).statusCode, 413)
})

test('a network’s own map is followed, and what was refused before is recorded when it is run again', async () => {
  const { path, id: network_id } = await network('plain')
  const id = await click()
  await fire(path, { xid: toWireId(id), verdict: 'Bingo', payout: '8' })
  const [kept] = await refusedOf(null)
  assert.equal(kept?.['diagnosis'], 'click_id_missing')
  const { parameters, statuses } = (await house.call('GET', `/api/networks/${network_id}`, owner)).json<api.Network>()
  const body = {
    parameters: { ...parameters, click_id: ['xid'], status: ['Verdict'] },
    statuses: { ...statuses, BINGO: 'ftd' },
  }
  assert.equal((await house.call('PATCH', `/api/networks/${network_id}`, { ...owner, body })).statusCode, 200)
  for (let time = 0; time < 2; time += 1) {
    const ran = await house.call('POST', `/api/refused-events/${String(kept?.['id'])}/run`, owner)
    assert.equal(ran.data()['state'], 'recorded', ran.body)
  }
  await fire(path, { xid: toWireId(id), verdict: 'bingo', payout: '8' })
  assert.deepEqual(
    (await eventsOf(id)).map(({ type, payout }) => [type, payout]),
    [['ftd', '8']],
  )
})

test('secrets in a call are not stored', async () => {
  const { path, token } = await network('plain')
  await fire(path, {
    subid: 'nonsense-1',
    token,
    api_key: 'k-123',
    password: 'p-123',
    note: 'sluice_abcdefghijklmnopqrstuvwxyz',
  })
  const [kept] = await refusedOf('nonsense-1')
  const body = String(kept?.['body'])
  for (const secret of [token, 'k-123', 'p-123', 'sluice_abc']) assert.ok(!body.includes(secret), body)
})
