// The balance through the door: what changes it, who may, and idempotent entries.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { givenUpBehind } from '../../../tests/support/blocked.ts'
import { type Sent, seedKey, startHouse, type TestHouse } from '../../../tests/support/house.ts'
import { seedClick, seedClicks, tally } from '../../../tests/support/intake.ts'
import { openQueue } from '../../../tests/support/organization-queue.ts'
import { seedPerson, seedSession, seedSignedIn } from '../../../tests/support/people.ts'
import { newId, toWireId } from '../../contract/ids.ts'
import { RIGHTS, type Right } from '../../contract/rights.ts'
import { auditBooks } from '../../reading/audit/audit.ts'

let house: TestHouse
before(async () => {
  house = await startHouse({ WELCOME_CREDIT: '12.34', PRICE_PER_PERSON: '0.07' })
})
after(() => house.end())

const topUp = (sent: Sent, body: unknown = { amount: '5' }) =>
  house.call('POST', '/api/billing/top-ups', { ...sent, body })
type Page = {
  balance: string
  persons_charged: number
  hold_when_empty: boolean
  data: Record<string, unknown>[]
  next_cursor: string | null
}
const read = async (cookie: string, query = '') =>
  (await house.call('GET', `/api/billing${query}`, { cookie })).data() as unknown as Page
const assertBooks = async (org_id: number) => assert.deepEqual(await auditBooks(house.database.reads, org_id), [])

test('a new organization opens with the welcome credit in its ledger, at the price of the day', async () => {
  const cookie = await seedSession(house, await seedPerson(house))
  const founded = await house.call('POST', '/api/organizations', { cookie, body: { name: 'Fresh' } })
  assert.ok(founded.statusCode < 300, founded.body)
  const { data, ...books } = await read(cookie)
  assert.deepEqual(books, {
    balance: '12.34',
    price_per_person: '0.07',
    persons_charged: 0,
    hold_when_empty: false,
    deliveries_held: 0,
    low_balance_threshold: '1',
    next_cursor: null,
  })
  assert.deepEqual(
    data.map(({ kind, amount, event_id, note }) => ({ kind, amount, event_id, note })),
    [{ kind: 'adjustment', amount: '12.34', event_id: null, note: 'Welcome credit' }],
  )
})

describe('a top-up', () => {
  test('is told to come again where the balance is held for too long, and is then entered once', async () => {
    const { cookie, org_id } = await seedSignedIn(house)
    const hold = `select 1 from balances where org_id = ${org_id} for update`
    const answer = await givenUpBehind(house.database, hold, () => topUp({ cookie }, { amount: '5', nonce: 'held' }))
    assert.deepEqual([answer.statusCode, answer.headers['retry-after']], [503, '60'], answer.body)
    const again = await topUp({ cookie }, { amount: '5', nonce: 'held' })
    assert.deepEqual([again.statusCode, again.headers['idempotent-replayed']], [201, undefined], again.body)
    assert.equal(
      (await read(cookie)).data.filter(entry => entry['kind'] === 'top_up' && entry['amount'] === '5').length,
      1,
    )
    await assertBooks(org_id)
  })

  test('is added to the balance and stands in the ledger, newest first', async () => {
    const { cookie, org_id } = await seedSignedIn(house)
    const answer = await topUp({ cookie }, { amount: 7.5, note: ' Invoice 7 ' })
    assert.equal(answer.statusCode, 201, answer.body)
    const { kind, amount, note, balance } = answer.data()
    assert.deepEqual(
      { kind, amount, note, balance },
      { kind: 'top_up', amount: '7.5', note: 'Invoice 7', balance: '17.5' },
    )
    const books = await read(cookie)
    assert.equal(books.balance, '17.5')
    assert.equal(books.data[0]?.['id'], answer.data()['id'])
    await assertBooks(org_id)
  })

  test('is refused 400 for what is no amount above zero, and changes nothing', async () => {
    const { cookie, org_id } = await seedSignedIn(house)
    for (const body of [
      {},
      { amount: 0 },
      { amount: '0.0000001' },
      { amount: -1 },
      { amount: '1e3' },
      { amount: 1_000_001 },
      { amount: 1, note: 'x'.repeat(501) },
    ])
      assert.equal((await topUp({ cookie }, body)).statusCode, 400, JSON.stringify(body))
    assert.equal((await tally(house.database, org_id)).balance, '10')
  })

  test('is for the owner: admins and members may only look, keys not even that', async () => {
    const owner = await seedSignedIn(house)
    for (const role of ['admin', 'member'] as const) {
      const { cookie } = await seedSignedIn(house, { place: owner, role })
      assert.deepEqual(
        [(await topUp({ cookie })).statusCode, (await topUp({ cookie })).data()['code']],
        [403, 'role_forbidden'],
      )
      assert.equal(
        (await house.call('PUT', '/api/billing/hold-when-empty', { cookie, body: { hold_when_empty: true } }))
          .statusCode,
        403,
      )
      assert.equal((await read(cookie)).balance, '10')
    }
    const { secret: key } = await seedKey(house.database, owner, { rights: Object.keys(RIGHTS) as Right[] })
    for (const answer of [await topUp({ key }), await house.call('GET', '/api/billing', { key })])
      assert.deepEqual([answer.statusCode, answer.data()['code']], [403, 'api_key_resource_forbidden'])
    assert.equal((await tally(house.database, owner.org_id)).balance, '10')
  })

  test('of one nonce is entered once, however often and at once it is sent', async () => {
    const { cookie, org_id } = await seedSignedIn(house)
    const nonce = 'invoice 7'
    const answers = await Promise.all(Array.from({ length: 6 }, () => topUp({ cookie }, { amount: '5', nonce })))
    assert.deepEqual(
      answers.map(({ statusCode }) => statusCode),
      answers.map(() => 201),
    )
    assert.equal(new Set(answers.map(answer => answer.data()['id'])).size, 1)
    assert.equal(answers.filter(answer => answer.headers['idempotent-replayed'] === undefined).length, 1)
    // Another amount with the same nonce still returns the first entry.
    assert.equal((await topUp({ cookie }, { amount: '900', nonce })).data()['amount'], '5')
    const other = await seedSignedIn(house)
    assert.equal((await topUp({ cookie: other.cookie }, { amount: '5', nonce })).data()['balance'], '15')
    assert.equal((await tally(house.database, org_id)).balance, '15')
    await assertBooks(org_id)
  })

  test('and charges at the same time leave a balance that is the sum of the ledger', async () => {
    const { cookie, org_id } = await seedSignedIn(house)
    const queue = openQueue(house.database)
    const clicks = await seedClicks(house.database, org_id, 60)
    const work = clicks.flatMap((click, at) => [
      queue.send(org_id, click, {}),
      ...(at % 3 === 0 ? [topUp({ cookie }, { amount: '0.25' })] : []),
    ])
    await Promise.all(work)
    assert.deepEqual(await tally(house.database, org_id), {
      events: 60,
      aliases: 0,
      charges: 60,
      deliveries: 0,
      balance: '12',
    })
    await assertBooks(org_id)
    await queue.close()
  })
})

test('the database itself refuses a second charge of a person', async () => {
  const { org_id } = await seedSignedIn(house)
  const queue = openQueue(house.database)
  await queue.send(org_id, await seedClick(house.database, org_id), {})
  await queue.close()
  const charges = house.database.kysely.selectFrom('ledger').selectAll().where('org_id', '=', org_id)
  const charge = await charges.where('kind', '=', 'charge').executeTakeFirstOrThrow()
  const again = house.database.kysely
    .insertInto('ledger')
    .values({ ...charge, id: newId() })
    .execute()
  await assert.rejects(again, { code: '23505' })
})

describe('an adjustment', () => {
  const adjust = (cookie: string, body: unknown) => house.call('POST', '/api/billing/adjustments', { cookie, body })

  test('adds or takes, with its reason in the ledger, also below zero', async () => {
    const { cookie, org_id } = await seedSignedIn(house)
    const answers = []
    for (const amount of ['-12.5', 1, '-0.000001']) answers.push(await adjust(cookie, { amount, note: 'Typed twice' }))
    assert.deepEqual(
      answers.map(answer => [answer.statusCode, answer.data()['amount'], answer.data()['balance']]),
      [
        [201, '-12.5', '-2.5'],
        [201, '1', '-1.5'],
        [201, '-0.000001', '-1.500001'],
      ],
    )
    const { data } = await read(cookie, '?kind=adjustment')
    assert.deepEqual(
      data.map(({ kind, note }) => [kind, note]),
      data.map(() => ['adjustment', 'Typed twice']),
    )
    assert.equal(data.length, 3)
    await assertBooks(org_id)
  })

  test('is refused without a reason, of nothing, of no number, and to all but the owner', async () => {
    const owner = await seedSignedIn(house)
    const { cookie } = owner
    for (const body of [
      { amount: '5' },
      { amount: '5', note: ' ' },
      { amount: '0', note: 'x' },
      { amount: '-0.0000001', note: 'x' },
      { amount: '--5', note: 'x' },
      { amount: '+5', note: 'x' },
      { amount: '-1000001', note: 'x' },
      { amount: null, note: 'x' },
      { amount: '5', note: 'x', nonce: '' },
    ])
      assert.equal((await adjust(cookie, body)).statusCode, 400, JSON.stringify(body))
    const comma = await adjust(cookie, { amount: '-18,50', note: 'x' })
    assert.equal(comma.data()['error'], 'amount: write -18.50: a point, not a comma')
    const admin = await seedSignedIn(house, { place: owner, role: 'admin' })
    assert.equal((await adjust(admin.cookie, { amount: '5', note: 'x' })).data()['code'], 'role_forbidden')
    assert.equal((await tally(house.database, owner.org_id)).balance, '10')
  })
})

test('a nonce names one entry: an entry of the other kind is refused it, however they meet, and nothing is entered', async () => {
  const { cookie, org_id } = await seedSignedIn(house)
  const enter = {
    top_up: (nonce: string) => topUp({ cookie }, { amount: '5', nonce }),
    adjustment: (nonce: string) =>
      house.call('POST', '/api/billing/adjustments', { cookie, body: { amount: '-3', note: 'Typed twice', nonce } }),
  }
  assert.equal((await enter.top_up('a')).statusCode, 201)
  assert.equal((await enter.adjustment('b')).statusCode, 201)
  for (const [answer, words] of [
    [await enter.adjustment('a'), 'nonce: it belongs to a top-up'],
    [await enter.top_up('b'), 'nonce: it belongs to an adjustment'],
  ] as const) {
    const { error, code, hint } = answer.data()
    assert.deepEqual([answer.statusCode, error, code], [409, words, 'already_exists'])
    assert.equal(hint, 'Nothing was entered. Send it with a new nonce.')
    assert.equal(answer.headers['idempotent-replayed'], undefined)
  }
  assert.equal((await read(cookie)).balance, '12')
  const met = await Promise.all([enter.top_up('c'), enter.adjustment('c'), enter.top_up('c'), enter.adjustment('c')])
  const entered = met.filter(({ statusCode }) => statusCode === 201)
  assert.deepEqual([entered.length, new Set(entered.map(one => one.data()['id'])).size], [2, 1])
  assert.equal(met.filter(({ statusCode }) => statusCode === 409).length, 2)
  await assertBooks(org_id)
})

test('the price is the owner’s to set, and holds for persons met from then on', async () => {
  const owner = await seedSignedIn(house)
  const setPrice = (cookie: string, price_per_person: unknown) =>
    house.call('PUT', '/api/billing/price-per-person', { cookie, body: { price_per_person } })
  const queue = openQueue(house.database)
  const [first = '', second = ''] = await seedClicks(house.database, owner.org_id, 2)
  await queue.send(owner.org_id, first, {})
  assert.equal((await setPrice(owner.cookie, '0.5')).statusCode, 200)
  await queue.send(owner.org_id, first, { nonce: 'again' })
  await queue.send(owner.org_id, second, {})
  await queue.close()
  const { balance, price_per_person } = (await read(owner.cookie)) as unknown as Record<string, string>
  assert.deepEqual([balance, price_per_person], ['9.45', '0.5'])
  for (const price of ['-1', 'x', null, '1000.01'])
    assert.equal((await setPrice(owner.cookie, price)).statusCode, 400, String(price))
  const admin = await seedSignedIn(house, { place: owner, role: 'admin' })
  assert.equal((await setPrice(admin.cookie, '0')).data()['code'], 'role_forbidden')
  await assertBooks(owner.org_id)
})

test('a charge names the conversion that met the person first and its click, of this organization alone', async () => {
  const [one, other] = [await seedSignedIn(house), await seedSignedIn(house)]
  const queue = openQueue(house.database)
  const [first = ''] = await seedClicks(house.database, one.org_id, 1)
  const { event } = await queue.send(one.org_id, first, { type: 'registration' })
  await queue.send(one.org_id, first, { type: 'ftd' })
  await queue.close()
  assert.equal((await topUp({ cookie: one.cookie })).statusCode, 201)
  const { data } = await read(one.cookie)
  assert.equal(data.filter(({ kind }) => kind === 'charge').length, 1)
  for (const { kind, event_id, event_type, click_id } of data)
    assert.deepEqual(
      [event_id, event_type, click_id],
      kind === 'charge' ? [toWireId(event.id), 'registration', toWireId(first)] : [null, null, null],
    )
  // Ids are unique only within an organization: the same id elsewhere is not a conversion of this ledger.
  const { worker } = house.database
  const { rows } = await worker.query('select to_jsonb(e) as event from events e where org_id = $1', [one.org_id])
  const moved = JSON.stringify(rows.map(row => ({ ...row.event, org_id: other.org_id })))
  await worker.query('insert into events select * from jsonb_populate_recordset(null::events, $1)', [moved])
  await worker.query('delete from events where org_id = $1', [one.org_id])
  const charge = (await read(one.cookie, '?kind=charge')).data[0]
  assert.deepEqual([charge?.['event_type'], charge?.['click_id']], [null, null])
})

test('the ledger pages through every entry once, with the persons charged', async () => {
  const { cookie, org_id } = await seedSignedIn(house)
  const queue = openQueue(house.database)
  for (const click of await seedClicks(house.database, org_id, 7)) await queue.send(org_id, click, {})
  await queue.close()
  const seen: unknown[] = []
  for (let cursor = ''; ; ) {
    const page = await read(cookie, `?limit=3${cursor}`)
    assert.equal(page.persons_charged, 7)
    seen.push(...page.data.map(entry => entry['id']))
    if (page.next_cursor === null) break
    cursor = `&cursor=${page.next_cursor}`
  }
  assert.deepEqual([seen.length, new Set(seen).size], [8, 8])
})

test('holding deliveries is switched on and off, for this organization alone', async () => {
  const [one, other] = [await seedSignedIn(house), await seedSignedIn(house)]
  for (const hold_when_empty of [true, false, true]) {
    const answer = await house.call('PUT', '/api/billing/hold-when-empty', {
      cookie: one.cookie,
      body: { hold_when_empty },
    })
    assert.deepEqual([answer.statusCode, answer.data()], [200, { ok: true }])
    assert.equal((await read(one.cookie)).hold_when_empty, hold_when_empty)
  }
  assert.equal((await read(other.cookie)).hold_when_empty, false)
})
