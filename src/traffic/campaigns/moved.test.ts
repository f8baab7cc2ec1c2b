// What the migration makes of campaigns that a database of before had: one server's, because a cluster is made with all migrations so far.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { useHouse, type TestHouse } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { listMigrations } from '../../ground/db/migrate.ts'

let house: TestHouse
let owner: SignedIn
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
})
after(() => house.end())

async function made(what: 'campaigns' | 'offers', body: object) {
  const reply = await house.call('POST', `/api/${what}`, { ...owner, body: { name: 'One', ...body } })
  assert.equal(reply.statusCode, 201, reply.body)
  return reply.json<{ id: string }>()
}
const leads = async (id: string) => {
  const { destination, offer_id } = (await house.call('GET', `/api/campaigns/${id}`, owner)).data()
  return { destination, offer_id }
}

test("campaigns whose redirect is their offer's address are moved to the offer by the migration, and no others", async () => {
  const url = 'https://one.example/?c={click_id}'
  const { id } = await made('offers', { url, payout: '18.50' })
  const seed = (destination: object, fields: object = {}) => made('campaigns', { destination, ...fields })
  const [equal, other, none] = [
    await seed({ type: 'redirect', url }, { offer_id: id }),
    await seed({ type: 'redirect', url: `${url}&x=1` }, { offer_id: id }),
    await seed({ type: 'redirect', url }),
  ]
  const moving = listMigrations().find(({ number }) => number === 21)
  await house.database.reads.query(moving?.sql ?? '')
  assert.deepEqual(await leads(equal.id), { destination: { type: 'offer', offer_id: id }, offer_id: id })
  assert.deepEqual(await leads(other.id), { destination: { type: 'redirect', url: `${url}&x=1` }, offer_id: id })
  assert.deepEqual(await leads(none.id), { destination: { type: 'redirect', url }, offer_id: null })
})
