import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { untilWaiting } from '../../../tests/support/blocked.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { newId, seedKey, startHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { startReceiver } from '../../../tests/support/receiver.ts'
import { toUuid } from '../../contract/ids.ts'
import type { Right } from '../../contract/rights.ts'

type As = { cookie?: string; key?: string }

let house: TestHouse
let owner: SignedIn
let other: SignedIn
before(async () => {
  house = await startHouse({ ALLOW_PRIVATE_TARGETS: 'false' })
  owner = await seedSignedIn(house)
  other = await seedSignedIn(house)
})
after(() => house.end())

const DRAFT = { event_type: 'lead', url: 'https://tracker.example/p?c={click_id}&s={sub1}' }

const create = (body: unknown, as: As = owner) => house.call('POST', '/api/postbacks', { ...as, body })
const patch = (id: string, body: unknown, as: As = owner) =>
  house.call('PATCH', `/api/postbacks/${id}`, { ...as, body })
const remove = (id: string, as: As = owner) => house.call('DELETE', `/api/postbacks/${id}`, as)
const read = (id: string, as: As = owner) => house.call('GET', `/api/postbacks/${id}`, as)

async function made(fields: object = {}, as: As = owner): Promise<string> {
  const reply = await create({ ...DRAFT, ...fields }, as)
  assert.equal(reply.statusCode, 201, reply.body)
  return String(reply.data()['id'])
}

async function campaign(as: As = owner): Promise<string> {
  const destination = { type: 'redirect', url: 'https://shop.example/' }
  return String((await house.call('POST', '/api/campaigns', { ...as, body: { name: 'C', destination } })).data()['id'])
}

async function keyWith(rights: Right[], campaigns?: string[]): Promise<As> {
  const list = campaigns === undefined ? {} : { campaigns: campaigns.map(id => toUuid(id) ?? '') }
  return { key: (await seedKey(house.database, owner, { rights, ...list })).secret }
}

const RIGHTS: Right[] = ['postbacks', 'postbacks:update', 'postbacks:delete']

const rows = async () => {
  const { rows } = await house.database.reads.query<{ all: string }>(
    `select md5(string_agg(r::text, '' order by id)) as all from postback_rules r`,
  )
  return rows[0]?.all
}

test('a rule is created for all campaigns, called by GET and active, unless it says otherwise', async () => {
  const reply = await create(DRAFT)
  assert.equal(reply.statusCode, 201)
  const { warnings, ...row } = reply.data()
  assert.deepEqual(warnings, [])
  const { id, created_at, updated_at, ...rest } = row
  assert.equal(updated_at, created_at)
  const notice = { on: 'recorded', traffic_source_id: null, switched_off_at: null, switched_off_reason: null }
  const plain = {
    unknown_macros: [],
    method: 'GET',
    campaign_id: null,
    preset: null,
    active: true,
    once_per_person: false,
  }
  assert.deepEqual(rest, { ...DRAFT, ...plain, ...notice })
  assert.deepEqual((await read(String(id))).data(), row)
  const campaign_id = await campaign()
  const full = { ...DRAFT, method: 'POST', campaign_id, preset: 'keitaro', active: false, once_per_person: true }
  const { id: _, created_at: __, updated_at: ___, ...stored } = (await create(full)).data()
  assert.deepEqual(stored, { ...full, unknown_macros: [], ...notice, warnings: [] })
})

test('what cannot be a rule is refused, says which field, and leaves nothing behind', async () => {
  const id = await made()
  const theirs = await campaign(other)
  const before = await rows()
  const wrong: [object | undefined, RegExp][] = [
    [{ event_type: 'sale' }, /event_type/],
    [{ url: 'tracker.example' }, /url/],
    [{ url: 'https://{sub1}/p' }, /url/],
    [{ url: 'https://tracker.example:{sub1}/p' }, /url/],
    [{ url: 'https://user:pass@tracker.example/' }, /url/],
    [{ url: `https://tracker.example/${'x'.repeat(2048)}` }, /url/],
    [{ method: 'PUT' }, /method/],
    [{ preset: 'unheard-of' }, /preset/],
    [{ active: 'yes' }, /active/],
    [{ once_per_person: 1 }, /once_per_person/],
    [{ campaign_id: 'x' }, /campaign_id/],
    [{ campaign_id: toWireId(newId()) }, /no such campaign/],
    [{ campaign_id: theirs }, /no such campaign/],
  ]
  for (const [fields, field] of wrong) {
    for (const reply of [await create({ ...DRAFT, ...fields }), await patch(id, fields)]) {
      assert.equal(reply.statusCode, 400, JSON.stringify(fields))
      assert.match(reply.body, field)
    }
  }
  for (const body of [undefined, {}, { event_type: 'lead' }, { url: DRAFT.url }])
    assert.equal((await create(body)).statusCode, 400)
  assert.equal(await rows(), before)
})

test('a rule that would lead inside is refused when it is saved', async () => {
  const id = await made()
  const before = await rows()
  const hosts = [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f.1',
    'localhost',
    'db.internal',
    'printer.local',
    '[::1]',
    '[::ffff:7f00:1]',
    '10.0.0.8',
    '169.254.169.254',
    '192.168.1.1:8080',
    '１２７.０.０.１',
  ]
  for (const host of hosts) {
    for (const reply of [
      await create({ ...DRAFT, url: `http://${host}/p` }),
      await patch(id, { url: `http://${host}/p` }),
    ]) {
      assert.equal(reply.statusCode, 400, host)
      assert.match(reply.body, /public address/)
    }
  }
  assert.equal(await rows(), before)
})

test('a change touches only what is sent, and null makes a rule one for all campaigns', async () => {
  const campaign_id = await campaign()
  const id = await made({ campaign_id, preset: 'binom' })
  const before = (await read(id)).data()
  const off = (await patch(id, { active: false })).data()
  assert.deepEqual(off, { ...before, active: false, updated_at: off['updated_at'], warnings: [] })
  const wide = (
    await patch(id, { campaign_id: null, preset: null, event_type: 'ftd', url: 'https://new.example/' })
  ).data()
  assert.deepEqual(wide, {
    ...off,
    campaign_id: null,
    preset: null,
    event_type: 'ftd',
    url: 'https://new.example/',
    updated_at: wide['updated_at'],
  })
})

test('a rule keeps its method, whoever asks', async () => {
  const id = await made()
  for (const as of [owner, await keyWith(RIGHTS)]) {
    assert.equal((await patch(id, { method: 'POST' }, as)).statusCode, 400)
    assert.equal((await patch(id, { method: 'GET', active: true }, as)).statusCode, 200)
  }
  assert.equal((await read(id)).data()['method'], 'GET')
})

test('a key creates GET rules only', async () => {
  const key = await keyWith(RIGHTS)
  assert.equal((await create({ ...DRAFT, method: 'GET' }, key)).statusCode, 201)
  const before = await rows()
  const reply = await create({ ...DRAFT, method: 'POST' }, key)
  assert.deepEqual([reply.statusCode, reply.data()['code']], [403, 'postback_method_forbidden'])
  assert.equal(await rows(), before)
})

test('a restricted key works on rules of its campaigns only, and cannot make one for all', async () => {
  const [listed, unlisted] = [await campaign(), await campaign()]
  const key = await keyWith(RIGHTS, [listed])
  const own = String((await create({ ...DRAFT, campaign_id: listed }, key)).data()['id'])
  const [wide, foreign] = [await made(), await made({ campaign_id: unlisted })]
  const before = await rows()
  const refused = [
    await create(DRAFT, key),
    await create({ ...DRAFT, campaign_id: null }, key),
    await create({ ...DRAFT, campaign_id: unlisted }, key),
    await patch(own, { campaign_id: null }, key),
    await patch(own, { campaign_id: unlisted }, key),
    ...(await Promise.all(
      [wide, foreign].flatMap(id => [
        patch(id, { active: false }, key),
        patch(id, { campaign_id: listed }, key),
        remove(id, key),
      ]),
    )),
  ]
  for (const reply of refused)
    assert.deepEqual([reply.statusCode, reply.data()['code']], [403, 'campaign_scope_forbidden'])
  assert.equal(await rows(), before)
  assert.equal((await patch(own, { active: false, campaign_id: listed }, key)).statusCode, 200)
  assert.equal((await remove(own, key)).statusCode, 200)
})

test("another organization's rule is as if it were not there", async () => {
  const id = await made({}, other)
  const before = await rows()
  const random = toWireId(newId())
  for (const as of [owner, await keyWith(RIGHTS), await keyWith(RIGHTS, [await campaign()])]) {
    for (const call of [(one: string) => patch(one, { active: false }, as), (one: string) => remove(one, as)]) {
      const [theirs, nobodys, noId] = [await call(id), await call(random), await call('x')]
      assert.deepEqual([theirs.statusCode, theirs.body, noId.body], [404, nobodys.body, nobodys.body])
    }
  }
  assert.equal((await read(id)).body, (await read(random)).body)
  assert.equal(await rows(), before)
})

test('keys without the right, members and strangers change nothing', async () => {
  const id = await made()
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  const key = await keyWith(['events', 'campaigns:update'])
  assert.equal((await read(id, member)).statusCode, 200)
  const before = await rows()
  for (const [as, code] of [
    [key, 'api_key_delete_not_granted'],
    [member, 'role_forbidden'],
  ] as const)
    for (const reply of [await create(DRAFT, as), await patch(id, {}, as), await remove(id, as)])
      assert.deepEqual([reply.statusCode, reply.data()['code']], [403, code])
  for (const reply of [await read(id, key), await house.call('GET', '/api/postbacks', key)])
    assert.deepEqual([reply.statusCode, reply.data()['code']], [403, 'api_key_resource_forbidden'])
  assert.equal((await house.call('GET', '/api/postbacks')).statusCode, 401)
  assert.equal(await rows(), before)
})

test('the list is newest first and finds by campaign, event type and whether a rule is active', async () => {
  const lister = await seedSignedIn(house)
  const campaign_id = await campaign(lister)
  const ids = [
    await made({}, lister),
    await made({ campaign_id, event_type: 'ftd' }, lister),
    await made({ active: false }, lister),
  ]
  const gone = await made({}, lister)
  await remove(gone, lister)
  const list = async (query: string) =>
    (await house.call('GET', `/api/postbacks?${query}`, { cookie: lister.cookie }))
      .json<{ data: { id: string }[] }>()
      .data.map(({ id }) => id)
  assert.deepEqual(await list(''), ids.toReversed())
  assert.deepEqual(await list(`campaign_id=${campaign_id}`), [ids[1]])
  assert.deepEqual(await list('event_type=ftd'), [ids[1]])
  assert.deepEqual(await list('active=false'), [ids[2]])
  assert.equal((await house.call('GET', '/api/postbacks?active=maybe', { cookie: lister.cookie })).statusCode, 400)
})

test('a conversion calls each matching rule once, and its delivery shows the call', async () => {
  const receiver = await startReceiver()
  const open = await startHouse({ ALLOW_PRIVATE_TARGETS: 'true' })
  const { cookie } = await seedSignedIn(open)
  const post = async (url: string, body: unknown) => (await open.call('POST', url, { cookie, body })).data()
  const destination = { type: 'redirect', url: 'https://shop.example/?c={click_id}' }
  const [one, two] = [
    await post('/api/campaigns', { name: 'One', destination }),
    await post('/api/campaigns', { name: 'Two', destination }),
  ]
  const rule = (path: string, fields: object) =>
    post('/api/postbacks', { event_type: 'lead', url: `${receiver.origin}/${path}?c={click_id}&s={sub1}`, ...fields })
  const wide = await rule('all', {})
  await rule('one', { campaign_id: one['id'], method: 'POST' })
  await rule('two', { campaign_id: two['id'] })
  await rule('ftd', { event_type: 'ftd' })
  await rule('off', { active: false })
  const headers = { 'user-agent': 'Mozilla/5.0 (X11; Linux x64) Chrome/130.0.0.0' }
  const visit = await open.call('GET', `/c/${String(one['key'])}?sub1=a%20b`, { headers })
  const clickId = new URL(String(visit.headers.location)).searchParams.get('c')
  const event = await post('/api/events', { clickId, type: 'lead', nonce: '1' })
  await post('/api/events', { clickId, type: 'lead', nonce: '1' })
  await receiver.arrived(2)
  const query = `?c=${clickId}&s=a%20b`
  assert.deepEqual(receiver.arrivals.map(({ method, url }) => `${method} ${url}`).sort(), [
    `GET /all${query}`,
    `POST /one${query}`,
  ])
  const delivered = async () =>
    (await open.call('GET', `/api/deliveries?event_id=${String(event['id'])}&state=delivered`, { cookie })).json<{
      data: { id: string; target_id: string }[]
    }>().data
  await eventually('both are delivered', async () => (await delivered()).length === 2)
  const delivery = (await delivered()).find(({ target_id }) => target_id === wide['id'])
  const shown = (await open.call('GET', `/api/deliveries/${delivery?.id}`, { cookie })).data()
  const [attempt] = shown['history'] as Record<string, unknown>[]
  assert.deepEqual(
    [
      shown['event_type'],
      shown['click_id'],
      shown['campaign_id'],
      shown['attempts'],
      shown['next_attempt_at'],
      attempt?.['url'],
      attempt?.['status'],
      attempt?.['answer'],
    ],
    ['lead', clickId, one['id'], 1, null, `${receiver.origin}/all${query}`, 200, 'ok'],
  )
  await open.end()
  await receiver.close()
  assert.equal(receiver.arrivals.length, 2)
})

test('a rule is made and changed between two conversions: one that is being decided is never later than a rule it has not met', async () => {
  const id = await made({ active: false })
  const changes = [() => create(DRAFT), () => patch(id, { active: true }), () => patch(id, { event_type: 'ftd' })]
  for (const change of changes) {
    const conversion = await house.database.worker.connect()
    try {
      await conversion.query('begin')
      await conversion.query('select 1 from balances where org_id = $1 for update', [owner.org_id])
      const changing = change()
      await untilWaiting(house.database, 1)
      const decided_at = Date.now()
      await conversion.query('commit')
      const { statusCode, data, body } = await changing
      assert.ok(statusCode < 300, body)
      assert.ok(Date.parse(String(data()['updated_at'])) >= decided_at)
    } finally {
      conversion.release(true)
    }
  }
})
