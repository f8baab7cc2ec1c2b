import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { keysOf, type ShownGrant } from '../../../tests/support/grants.ts'
import { seedOrganization, useHouse, type TestHouse } from '../../../tests/support/house.ts'
import { join, type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { newId, toUuid, toWireId } from '../../contract/ids.ts'
import { ALL_RIGHTS, RIGHTS, type Right } from '../../contract/rights.ts'

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

const deleteCampaign = (id: string) =>
  house.database.kysely
    .updateTable('campaigns')
    .set({ deleted_at: new Date().toISOString() })
    .where('org_id', '=', owner.org_id)
    .where('id', '=', toUuid(id) ?? '')
    .execute()

const bySlug = (slug: Right) => ({ [RIGHTS[slug].tier]: [slug], confirmation: 'DELETE' })

test('delete rights held in one organization are new ones in another', async () => {
  const there = await seedOrganization(house.database)
  await join(house, there, owner.user_id, 'admin')
  const { id } = await keys.createKey()
  await keys.save(id, { delete: ['ad-spend'], confirmation: 'DELETE' })
  const moved = { organization_id: toWireId(there.organization_id), delete: ['ad-spend'] }
  assert.equal((await keys.save(id, moved)).data()['code'], 'delete_confirmation_required')
  assert.equal(
    (await keys.save(id, { ...moved, confirmation: 'DELETE' })).json<ShownGrant>().organization?.id,
    moved.organization_id,
  )
})

test('a grant names an organization its owner runs, and that lives', async () => {
  const { id, secret } = await keys.createKey()
  const there = await seedOrganization(house.database)
  const elsewhere = { organization_id: toWireId(there.organization_id), write: ['events'] }
  for (const organization_id of [elsewhere.organization_id, toWireId(newId())])
    assert.equal((await keys.save(id, { ...elsewhere, organization_id })).statusCode, 403)
  await join(house, there, owner.user_id, 'member')
  assert.deepEqual(refusalOf(await keys.save(id, elsewhere)), [403, 'role_forbidden'])
  const inThere = house.database.kysely
    .updateTable('members')
    .where('org_id', '=', there.org_id)
    .where('user_id', '=', owner.user_id)
  await inThere.set({ role: 'admin' }).execute()
  const deleted_at = new Date().toISOString()
  await house.database.kysely
    .updateTable('organizations')
    .set({ deleted_at })
    .where('org_id', '=', there.org_id)
    .execute()
  assert.deepEqual(refusalOf(await keys.save(id, elsewhere)), [409, 'org_deleted'])
  assert.equal((await keys.read(id)).state, 'fresh')
  assert.equal(await keys.tried(secret), 'let in')
})

test('the gate asks at every call whether the owner of the key is there, and owner or admin', async () => {
  const admin = await seedSignedIn(house, { place: owner, role: 'admin' })
  const { id, secret } = await keys.createKey(admin.cookie)
  await keys.save(id, { write: ['events'] }, admin.cookie)
  // Issued after the day from which the role counts on intake as well.
  await house.database.kysely
    .updateTable('api_keys')
    .set({ created_at: '2026-09-03T00:00:00Z' })
    .where('id', '=', toUuid(id) ?? '')
    .execute()
  assert.equal(await keys.tried(secret), 'let in')
  const { data } = (await house.call('GET', '/api/members', { cookie: owner.cookie })).json<{
    data: { id: string; user_id: string }[]
  }>()
  const member = `/api/members/${data.find(({ user_id }) => user_id === toWireId(admin.user_id))?.id}`
  await house.call('PATCH', member, { cookie: owner.cookie, body: { role: 'member' } })
  assert.equal(await keys.tried(secret), 'role_forbidden')
  await house.call('DELETE', member, { cookie: owner.cookie })
  assert.equal(await keys.tried(secret), 'api_key_org_not_member')
})

test('a campaign list goes with the rights that can be narrowed and with none of the others', async () => {
  const campaign = await keys.seedCampaign()
  const { id } = await keys.createKey()
  for (const slug of ALL_RIGHTS) {
    const reply = await keys.save(id, { ...bySlug(slug), campaigns: [campaign] })
    if (RIGHTS[slug].reach === 'campaigns') assert.equal(reply.statusCode, 200, slug)
    else {
      assert.deepEqual(refusalOf(reply), [400, 'grant_scope_unsupported_resource'], slug)
      assert.ok(
        String(reply.data()['error']).includes(`"${slug}"`) && String(reply.data()['hint']).includes(`"${slug}"`),
      )
    }
  }
  const mixed = await keys.save(id, { write: ['events', 'offers', 'funnels'], campaigns: [campaign] })
  assert.match(String(mixed.data()['error']), /"offers", "funnels"$/)
})

test('a campaign list names living campaigns of the organization, once each, and is never empty', async () => {
  const [first, second] = [await keys.seedCampaign(), await keys.seedCampaign()]
  const foreign = await keys.seedCampaign(await seedOrganization(house.database))
  const gone = await keys.seedCampaign()
  await deleteCampaign(gone)
  const { id } = await keys.createKey()
  for (const [list, named] of [
    [[first, foreign], foreign],
    [[gone], gone],
    [[toWireId(newId())], ''],
  ] as const) {
    const reply = await keys.save(id, { write: ['events'], campaigns: list })
    assert.equal(reply.statusCode, 400)
    assert.ok(String(reply.data()['error']).includes(named))
    assert.ok(!String(reply.data()['error']).includes(first))
  }
  for (const list of [[], 'all', ['nonsense']])
    assert.equal((await keys.save(id, { write: ['events'], campaigns: list })).statusCode, 400)
  assert.equal((await keys.read(id)).state, 'fresh')
  const saved = (await keys.save(id, { write: ['events'], campaigns: [second, first, second] })).json<ShownGrant>()
  assert.deepEqual(
    saved.campaigns?.map(({ id: campaign, deleted }) => [campaign, deleted]),
    [
      [second, false],
      [first, false],
    ],
  )
  for (const whole of [null, undefined]) {
    await keys.save(id, { write: ['events'], campaigns: [first] })
    assert.equal((await keys.save(id, { write: ['events'], campaigns: whole })).json<ShownGrant>().campaigns, null)
  }
})

test('deleting the last listed campaign widens nothing', async () => {
  const campaign = await keys.seedCampaign()
  const { id } = await keys.createKey()
  await keys.save(id, { write: ['events'], campaigns: [campaign] })
  await deleteCampaign(campaign)
  assert.deepEqual(
    (await keys.read(id)).campaigns?.map(({ id: listed, deleted }) => [listed, deleted]),
    [[campaign, true]],
  )
  const stored = await house.database.kysely
    .selectFrom('api_key_grants')
    .select('campaigns')
    .where('key_id', '=', toUuid(id) ?? '')
    .executeTakeFirstOrThrow()
  assert.deepEqual(stored.campaigns, [toUuid(campaign)])
})

test('a listed campaign that was deleted may stay in the list, and cannot be listed anew', async () => {
  const [live, gone] = [await keys.seedCampaign(), await keys.seedCampaign()]
  const { id } = await keys.createKey()
  await keys.save(id, { write: ['events'], campaigns: [gone] })
  await deleteCampaign(gone)
  const listed = async () => (await keys.read(id)).campaigns?.map(({ id: campaign, deleted }) => [campaign, deleted])

  const kept = await keys.save(id, { read: ['clicks'], write: ['events'], campaigns: [gone] })
  assert.deepEqual([kept.statusCode, kept.data()['read']], [200, ['clicks']])
  assert.equal((await keys.save(id, { write: ['events'], campaigns: [live, gone] })).statusCode, 200)
  assert.deepEqual(await listed(), [
    [live, false],
    [gone, true],
  ])

  await keys.save(id, { write: ['events'], campaigns: [live] })
  const again = await keys.save(id, { write: ['events'], campaigns: [live, gone] })
  assert.equal(again.statusCode, 400)
  assert.ok(String(again.data()['error']).includes(gone))
  assert.deepEqual(await listed(), [[live, false]])
})
