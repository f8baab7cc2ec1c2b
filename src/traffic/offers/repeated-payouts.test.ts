// Where an offer's payout was earned more than once, as its page says, on conversions that came in through the door.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { seedCountedClicks } from '../../../tests/support/counted-clicks.ts'
import { newId, seedKey, useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedOffer } from '../../../tests/support/intake.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

const record = async (as: SignedIn, click: string, type: string, more: object = {}) => {
  const reply = await house.call('POST', '/api/events', { ...as, body: { clickId: toWireId(click), type, ...more } })
  assert.equal(reply.statusCode, 201, reply.body)
}

const ask = (as: { cookie: string }, offer: string) =>
  house.call('GET', `/api/offers/${toWireId(offer)}/repeated-payouts`, { cookie: as.cookie })

async function seedTraffic(as: SignedIn, clicks: number) {
  const offer = await seedOffer(house.database, as.org_id, { payout: '18.50' })
  const seeds = Array.from({ length: clicks }, () => ({ offer_id: offer }))
  return { offer, clicks: (await seedCountedClicks(house.database, as.org_id, seeds)).map(({ id }) => id) }
}

test('an offer says on how many clicks two types earned its payout, and which', async () => {
  const owner = await seedSignedIn(house)
  const { offer, clicks } = await seedTraffic(owner, 6)
  const { offer: other, clicks: others } = await seedTraffic(owner, 1)
  const [first = '', second = '', third = '', own = '', once = '', twice = ''] = clicks
  for (const click of [first, second]) for (const type of ['purchase', 'lead']) await record(owner, click, type)
  for (const type of ['ftd', 'deposit', 'lead']) await record(owner, third, type)
  // A payout of its own, or of nothing, is not the offer's; and a type earns again for another transaction.
  await record(owner, own, 'lead')
  await record(owner, own, 'purchase', { payout: '20' })
  await record(owner, own, 'ftd', { payout: '0' })
  await record(owner, once, 'lead')
  await record(owner, twice, 'deposit', { nonce: 'a' })
  await record(owner, twice, 'deposit', { nonce: 'b' })
  for (const type of ['lead', 'ftd']) await record(owner, others[0] ?? '', type)
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  for (const as of [owner, member]) {
    const { from, ...told } = (await ask(as, offer)).data()
    assert.deepEqual(told, {
      clicks: 3,
      together: [
        { types: ['lead', 'purchase'], clicks: 2 },
        { types: ['lead', 'deposit', 'ftd'], clicks: 1 },
      ],
      unearned: [],
    })
    const days = (Date.now() - Date.parse(String(from))) / 86_400_000
    assert.ok(days > 29.9 && days < 30.1, String(from))
  }
  assert.deepEqual((await ask(owner, other)).data()['together'], [{ types: ['lead', 'ftd'], clicks: 1 }])
})

test('an offer with a payout that no conversion earned says what they were, until one earns it', async () => {
  const owner = await seedSignedIn(house)
  const unearned = async (offer: string) => (await ask(owner, offer)).data()['unearned']
  const offer = await seedOffer(house.database, owner.org_id, { payout: '18.50', payout_types: ['deposit'] })
  const free = await seedOffer(house.database, owner.org_id, { payout: null })
  const clicks = await seedCountedClicks(
    house.database,
    owner.org_id,
    [offer, offer, free].map(offer_id => ({ offer_id })),
  )
  const [first = '', second = '', other = ''] = clicks.map(({ id }) => id)
  assert.deepEqual(await unearned(offer), [])
  for (const click of [first, second]) await record(owner, click, 'lead')
  await record(owner, first, 'deposit', { payout: '0' })
  await record(owner, other, 'lead')
  assert.deepEqual(await unearned(offer), [
    { type: 'lead', conversions: 2 },
    { type: 'deposit', conversions: 1 },
  ])
  assert.deepEqual(await unearned(free), [])
  await record(owner, second, 'deposit')
  assert.deepEqual(await unearned(offer), [])
})

test('what is older than 30 days is no part of it, and a fresh offer has nothing to say', async () => {
  const owner = await seedSignedIn(house)
  const { offer, clicks } = await seedTraffic(owner, 1)
  for (const type of ['lead', 'ftd']) await record(owner, clicks[0] ?? '', type)
  await house.database.worker.query("update events set created_at = now() - interval '31 days' where org_id = $1", [
    owner.org_id,
  ])
  const { clicks: found, together } = (await ask(owner, offer)).data()
  assert.deepEqual([found, together], [0, []])
})

test('an unknown offer and another workspace’s are not there, and keys cannot ask', async () => {
  const [owner, stranger] = [await seedSignedIn(house), await seedSignedIn(house)]
  const { offer, clicks } = await seedTraffic(owner, 1)
  for (const type of ['lead', 'ftd']) await record(owner, clicks[0] ?? '', type)
  assert.deepEqual([(await ask(stranger, offer)).statusCode, (await ask(owner, newId())).statusCode], [404, 404])
  const { secret: key } = await seedKey(house.database, owner, { rights: ['offers', 'offers:update'] })
  const byKey = await house.call('GET', `/api/offers/${toWireId(offer)}/repeated-payouts`, { key })
  assert.deepEqual([byKey.statusCode, byKey.data()['code']], [403, 'api_key_resource_forbidden'])
})
