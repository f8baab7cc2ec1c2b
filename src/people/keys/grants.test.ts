import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { raceInto } from '../../../tests/support/blocked.ts'
import { keysOf, type ShownGrant } from '../../../tests/support/grants.ts'
import { seedKey, useHouse, type TestHouse } from '../../../tests/support/house.ts'
import { join, type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { toUuid, toWireId } from '../../contract/ids.ts'
import { ALL_RIGHTS, RIGHTS } from '../../contract/rights.ts'

let house: TestHouse
let owner: SignedIn
let keys: ReturnType<typeof keysOf>
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
  keys = keysOf(house, owner)
})
after(() => house.end())

type Reply = Awaited<ReturnType<TestHouse['call']>>
const refusalOf = (reply: Reply) => [reply.statusCode, reply.data()['code']]

test('a fresh key sends events and nothing else; its first save with events keeps them', async () => {
  const { id, secret } = await keys.createKey()
  assert.deepEqual(await keys.read(id), {
    state: 'fresh',
    organization: { id: keys.here.organization_id, name: 'Acme' },
    read: [],
    write: [],
    delete: [],
    campaigns: null,
    saved_at: null,
  })
  assert.equal(await keys.tried(secret), 'let in')
  assert.deepEqual(refusalOf(await house.call('POST', '/api/campaigns', { key: secret, body: {} })), [
    403,
    'api_key_write_not_granted',
  ])
  assert.equal((await keys.save(id, { write: ['events'] })).statusCode, 200)
  assert.equal((await keys.read(id)).state, 'granted')
  assert.equal(await keys.tried(secret), 'let in')
})

test('the first save without events ends the exemption for ever', async () => {
  const { id, secret } = await keys.createKey()
  assert.equal((await keys.save(id, { read: ['clicks'] })).statusCode, 200)
  assert.equal(await keys.tried(secret), 'api_key_write_not_granted')
  assert.equal((await keys.emptyOut(id)).statusCode, 200)
  assert.equal(await keys.tried(secret), 'api_key_write_not_granted')
})

test('a save replaces all three tiers', async () => {
  const { id } = await keys.createKey()
  await keys.save(id, {
    read: ['clicks', 'report'],
    write: ['events', 'offers'],
    delete: ['postbacks'],
    confirmation: 'DELETE',
  })
  const replaced = await keys.save(id, { read: ['report', 'report'], write: ['campaigns'] })
  const { read: reads, write, delete: deletes } = replaced.json<ShownGrant>()
  assert.deepEqual([reads, write, deletes], [['report'], ['campaigns'], []])
  assert.deepEqual(await keys.read(id), replaced.json())
})

test('revoking all permissions empties a granted key, which keeps its organization and may be granted again', async () => {
  const { id, secret } = await keys.createKey()
  await keys.save(id, { read: ['clicks'], write: ['events'] })
  const emptied = (await keys.emptyOut(id)).json<ShownGrant>()
  assert.deepEqual(
    [emptied.state, emptied.organization?.id, emptied.write, emptied.campaigns],
    ['emptied', keys.here.organization_id, [], null],
  )
  assert.equal(await keys.tried(secret), 'api_key_write_not_granted')
  await keys.save(id, { write: ['events'] })
  const again = await keys.read(id)
  assert.deepEqual([again.state, again.read, again.write], ['granted', [], ['events']])
  assert.equal(await keys.tried(secret), 'let in')
})

test('saving with nothing ticked leaves a key granted that holds nothing, be it fresh, granted or emptied before', async () => {
  const { id, secret } = await keys.createKey()
  for (const before of [() => keys.read(id), () => keys.save(id, { write: ['events'] }), () => keys.emptyOut(id)]) {
    await before()
    const saved = (await keys.save(id, {})).json<ShownGrant>()
    assert.deepEqual([saved.state, saved.read, saved.write, saved.delete], ['granted', [], [], []])
    assert.equal(await keys.tried(secret), 'api_key_write_not_granted')
  }
})

test('revoking all permissions of a fresh key empties it where it resolved to, the earliest membership', async () => {
  const first = await seedSignedIn(house)
  await join(house, owner, first.user_id, 'admin')
  const { id, secret } = await keys.createKey(first.cookie)
  const emptied = (await keys.emptyOut(id, first.cookie)).json<ShownGrant>()
  assert.deepEqual([emptied.state, emptied.organization?.id], ['emptied', toWireId(first.organization_id)])
  assert.equal(await keys.tried(secret), 'api_key_write_not_granted')
})

test('a slug that is none, or stands in the wrong tier, is refused by its name', async () => {
  const { id, secret } = await keys.createKey()
  for (const [draft, named] of [
    [{ read: ['bots'] }, 'bots'],
    [{ write: ['clicks'] }, 'clicks'],
    [{ read: ['events'] }, 'events'],
    [{ write: ['offers:update'] }, 'offers:update'],
    [{ delete: ['__proto__'] }, '__proto__'],
  ] as const) {
    const reply = await keys.save(id, draft)
    assert.equal(reply.statusCode, 400)
    assert.ok(String(reply.data()['error']).includes(`"${named}"`), reply.body)
  }
  for (const draft of [
    { read: 'clicks' },
    { read: [7] },
    { organization_id: undefined },
    { organization_id: 'nonsense' },
  ])
    assert.equal((await keys.save(id, draft)).statusCode, 400, JSON.stringify(draft))
  assert.equal((await keys.read(id)).state, 'fresh')
  assert.equal(await keys.tried(secret), 'let in')
})

test('every right can be granted in its tier', async () => {
  const { id } = await keys.createKey()
  const tier = (name: string) => ALL_RIGHTS.filter(slug => RIGHTS[slug].tier === name)
  const all = { read: tier('read'), write: tier('write'), delete: tier('delete') }
  const saved = (await keys.save(id, { ...all, confirmation: 'DELETE' })).json<ShownGrant>()
  assert.deepEqual({ read: saved.read, write: saved.write, delete: saved.delete }, all)
})

test('adding a right of the delete tier needs DELETE, keeping or removing one does not', async () => {
  const { id } = await keys.createKey()
  const needs = async (draft: object) => (await keys.save(id, draft)).data()['code'] === 'delete_confirmation_required'
  for (const confirmation of [undefined, '', 'delete', 'DELETE ', 'yes'])
    assert.ok(await needs({ delete: ['postbacks'], confirmation }))
  assert.equal((await keys.read(id)).state, 'fresh')
  assert.equal((await keys.save(id, { delete: ['postbacks', 'ad-spend'], confirmation: 'DELETE' })).statusCode, 200)
  assert.equal((await keys.save(id, { delete: ['postbacks', 'ad-spend'], read: ['clicks'] })).statusCode, 200)
  assert.equal((await keys.save(id, { delete: ['ad-spend'] })).statusCode, 200)
  assert.ok(await needs({ delete: ['ad-spend', 'postbacks'] }))
  assert.deepEqual((await keys.read(id)).delete, ['ad-spend'])
  assert.equal((await keys.save(id, {})).statusCode, 200)
  assert.ok(await needs({ delete: ['ad-spend'] }))
})

test('of saves at once one stands whole, never a mix', async () => {
  const campaign = await keys.seedCampaign()
  const { id } = await keys.createKey()
  const drafts = [
    { read: ['clicks'], write: ['events'], delete: ['ad-spend'], campaigns: [campaign] },
    { read: ['report'], write: ['offers', 'landings'], delete: ['offers:delete'] },
    { read: [], write: ['campaigns'], delete: ['postbacks'] },
  ]
  for (let round = 0; round < 5; round += 1) {
    const replies = await Promise.all(
      [...drafts, ...drafts].map(draft => keys.save(id, { ...draft, confirmation: 'DELETE' })),
    )
    assert.ok(replies.every(({ statusCode }) => statusCode === 200))
    const { read: reads, write, delete: deletes, campaigns: list } = await keys.read(id)
    const whole = drafts.map(draft => JSON.stringify([draft.read, draft.write, draft.delete, draft.campaigns ?? null]))
    assert.ok(whole.includes(JSON.stringify([reads, write, deletes, list?.map(({ id: listed }) => listed) ?? null])))
  }
})

test('a delete right that is being removed cannot be kept unconfirmed by a save that came at the same time', async () => {
  const { id } = await keys.createKey()
  await keys.save(id, { delete: ['ad-spend'], confirmation: 'DELETE' })
  const hold = `select 1 from api_key_grants where key_id = '${toUuid(id)}' for update`
  const [removed, kept] = await raceInto(house.database, hold, [
    () => keys.save(id, {}),
    () => keys.save(id, { delete: ['ad-spend'] }),
  ])
  assert.equal(removed?.statusCode, 200)
  assert.equal(kept?.data()['code'], 'delete_confirmation_required')
  assert.deepEqual((await keys.read(id)).delete, [])
})

test('a revocation and a save at once never leave a revoked key that is let in', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { id, secret } = await keys.createKey()
    await Promise.all([
      keys.save(id, { write: ['events'] }),
      house.call('DELETE', `/api/api-keys/${id}`, { cookie: owner.cookie }),
    ])
    assert.equal((await house.call('POST', '/api/events', { key: secret, body: {} })).statusCode, 401)
  }
})

test('a stored grant that cannot be read is shown as it is and can be saved anew', async () => {
  const { key_id, secret } = await seedKey(house.database, owner, { rights: ['events'] })
  await house.database.kysely.updateTable('api_key_grants').set({ org_id: null }).where('key_id', '=', key_id).execute()
  assert.equal(await keys.tried(secret), 'api_key_grant_unverifiable')
  const id = toWireId(key_id)
  assert.deepEqual([(await keys.read(id)).organization, (await keys.read(id)).state], [null, 'granted'])
  await keys.save(id, { write: ['events'] })
  assert.equal(await keys.tried(secret), 'let in')
})
