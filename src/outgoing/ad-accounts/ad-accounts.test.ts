import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { after, before, test } from 'node:test'
import { newId, seedKey, useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { DEFAULT_MAPS } from '../../contract/ad-platforms.ts'

type As = { cookie?: string; key?: string }

let house: TestHouse
let owner: SignedIn
let other: SignedIn
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
  other = await seedSignedIn(house)
})
after(() => house.end())

const TOKEN = 'EAABsbCS1iHgBAtokenThatNobodyShallSee'
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const keyFile = (fields: object = {}) =>
  JSON.stringify({ type: 'service_account', client_email: 'a@p.iam.gserviceaccount.com', private_key: PEM, ...fields })

const META = {
  platform: 'meta',
  name: 'Main pixel',
  settings: { pixel_id: '1234567890' },
  credentials: { access_token: TOKEN },
}
const TIKTOK = { ...META, platform: 'tiktok', settings: { pixel_code: 'C4ABCDEF' } }
const GOOGLE = {
  platform: 'google',
  name: 'Search',
  settings: { customer_id: '123-456-7890' },
  credentials: { service_account: keyFile() },
}

const create = (body: unknown, as: As = owner) => house.call('POST', '/api/ad-accounts', { ...as, body })
const patch = (id: string, body: object, as: As = owner) =>
  house.call('PATCH', `/api/ad-accounts/${id}`, { ...as, body: { platform: 'meta', ...body } })
const read = (id: string, as: As = owner) => house.call('GET', `/api/ad-accounts/${id}`, as)
const remove = (id: string, as: As = owner) => house.call('DELETE', `/api/ad-accounts/${id}`, as)

async function made(fields: object = META, as: As = owner): Promise<string> {
  const reply = await create(fields, as)
  assert.equal(reply.statusCode, 201, reply.body)
  return String(reply.data()['id'])
}

const rows = async () => {
  const { rows } = await house.database.reads.query<{ all: string }>(
    `select md5(string_agg(a::text, '' order by id)) as all from ad_accounts a`,
  )
  return rows[0]?.all
}

test('an account is connected with the usual events of its platform, and its token is never shown', async () => {
  const reply = await create(META)
  assert.equal(reply.statusCode, 201, reply.body)
  const { id, created_at, updated_at, state_changed_at, ...rest } = reply.data()
  assert.deepEqual(rest, {
    platform: 'meta',
    name: 'Main pixel',
    settings: {
      pixel_id: '1234567890',
      website_url: null,
      use_payout_as_value: false,
      action_source: 'automatic',
      keeps_ip: false,
      sends_contact: false,
    },
    send_when: 'recorded',
    restate: false,
    credential_hint: '…lSee',
    event_map: DEFAULT_MAPS.meta,
    state: 'active',
    state_reason: null,
  })
  assert.ok(created_at === updated_at && created_at === state_changed_at)
  const list = await house.call('GET', '/api/ad-accounts', owner)
  for (const { body } of [reply, await read(String(id)), list, await patch(String(id), { name: 'Renamed' })])
    assert.equal(body.includes(TOKEN), false)
  const stored = await house.database.reads.query<{ row: string }>(
    `select a::text || encode(credential, 'escape') as row from ad_accounts a where org_id = $1`,
    [owner.org_id],
  )
  assert.equal(stored.rows.length, 1)
  assert.equal(JSON.stringify(stored.rows).includes(TOKEN), false)
})

test('each platform has settings of its own, and a key file shows its address alone', async () => {
  const tiktok = await create(TIKTOK)
  assert.deepEqual((tiktok.data()['settings'] as { pixel_code: string }).pixel_code, 'C4ABCDEF')
  const google = await create({ ...GOOGLE, event_map: { lead: { name: '987654321' } } })
  assert.equal(google.statusCode, 201, google.body)
  const { settings, credential_hint, event_map } = google.data()
  assert.deepEqual(settings, {
    customer_id: '1234567890',
    login_customer_id: null,
    ad_user_data: 'unspecified',
    ad_personalization: 'unspecified',
    sends_contact: false,
  })
  assert.equal(credential_hint, 'a@p.iam.gserviceaccount.com')
  assert.deepEqual(event_map, { lead: { name: '987654321' } })
  assert.equal(google.body.includes('PRIVATE KEY'), false)
})

test('what cannot work is refused with its field, and nothing is kept', async () => {
  const before = await rows()
  const purchase = (custom_data?: object) => ({ ...META, event_map: { ftd: { name: 'Purchase', custom_data } } })
  const wrong: [unknown, RegExp][] = [
    [{ ...META, platform: 'snap' }, /platform/],
    [{ ...META, name: '' }, /name/],
    [{ ...META, settings: { pixel_id: '12/../34' } }, /pixel_id/],
    [{ ...META, settings: {} }, /pixel_id/],
    [{ ...META, settings: { pixel_id: '1', action_source: 'app' } }, /action_source/],
    [{ ...META, settings: { pixel_id: '1', website_url: 'javascript:1' } }, /website_url/],
    [{ ...META, credentials: undefined }, /credentials/],
    [{ ...META, credentials: { access_token: 'short' } }, /access_token/],
    [{ ...META, credentials: { access_token: 'with a snowman ☃ in it' } }, /access_token/],
    [{ ...META, event_map: { nothing: { name: 'Lead' } } }, /event_map/],
    [{ ...META, event_map: { lead: { name: '<b>' } } }, /event_map\.lead\.name/],
    [{ ...META, event_map: { lead: { name: 'Lead', custom_data: { value: '5' } } } }, /value and currency together/],
    [{ ...META, event_map: { lead: { name: 'Lead', custom_data: { value: '-5', currency: 'USD' } } } }, /value/],
    [{ ...META, event_map: { lead: { name: 'Lead', custom_data: { value: 5, currency: 'usd' } } } }, /currency/],
    [{ ...META, event_map: { lead: { name: 'Lead', custom_data: { colour: 'red' } } } }, /custom_data/],
    [purchase(), /event_map\.ftd\.custom_data.*value and a currency/],
    [{ ...TIKTOK, settings: { pixel_code: 'a-b' } }, /pixel_code/],
    [{ ...TIKTOK, event_map: { lead: { name: 'Lead', custom_data: {} } } }, /event_map\.lead/],
    [{ ...GOOGLE, settings: { customer_id: '12345' } }, /customer_id/],
    [{ ...GOOGLE, event_map: { lead: { name: 'Lead' } } }, /event_map\.lead\.name/],
    [{ ...GOOGLE, credentials: { service_account: 'not JSON at all' } }, /service_account/],
    [{ ...GOOGLE, credentials: { service_account: keyFile({ private_key: 'torn' }) } }, /service_account/],
    [{ ...GOOGLE, credentials: { service_account: keyFile({ client_email: 7 }) } }, /service_account/],
  ]
  for (const [body, field] of wrong) {
    const reply = await create(body)
    assert.equal(reply.statusCode, 400, `${JSON.stringify(body)}: ${reply.body}`)
    assert.match(reply.body, field)
    assert.equal(reply.body.includes('PRIVATE KEY') || reply.body.includes(TOKEN), false)
  }
  assert.equal(await rows(), before)
  const worth = { value: '49.90', currency: 'EUR', content_ids: ['a'], num_items: 2 }
  const right = await create(purchase(worth))
  assert.deepEqual(right.data()['event_map'], { ftd: { name: 'Purchase', custom_data: { ...worth, value: '49.9' } } })
  const paid = { ...META.settings, use_payout_as_value: true }
  assert.equal((await create({ ...purchase(), settings: paid })).statusCode, 201)
})

test('parts that are sent replace those that were, the rest stays; the platform stays for ever', async () => {
  const id = await made()
  const changed = await patch(id, { event_map: { lead: { name: 'SubmitApplication' } }, name: 'Second pixel' })
  assert.equal(changed.statusCode, 200, changed.body)
  const { name, event_map, credential_hint } = changed.data()
  assert.deepEqual(
    [name, event_map, credential_hint],
    ['Second pixel', { lead: { name: 'SubmitApplication' } }, '…lSee'],
  )
  const renewed = await patch(id, { credentials: { access_token: 'another-token-1234' } })
  assert.equal(renewed.data()['credential_hint'], '…1234')
  const wrong = await patch(id, { platform: 'tiktok', name: 'x' })
  assert.deepEqual([wrong.statusCode, /platform/.test(wrong.body)], [400, true])
  assert.equal((await patch(id, { event_map: { ftd: { name: 'Purchase' } } })).statusCode, 400)
  assert.equal((await patch(id, { state: 'broken' })).statusCode, 400)
  assert.deepEqual((await patch(id, { state: 'off' })).data()['state'], 'off')
  assert.deepEqual((await patch(id, { state: 'active' })).data()['state'], 'active')
})

test('an account that campaigns name cannot be disconnected; afterwards its credential is gone', async () => {
  const id = await made()
  const draft = { name: 'Summer', destination: { type: 'redirect', url: 'https://shop.example/' }, ad_account_id: id }
  const campaign = await house.call('POST', '/api/campaigns', { ...owner, body: draft })
  assert.equal(campaign.statusCode, 201, campaign.body)
  assert.equal(campaign.data()['ad_account_id'], id)
  const refused = await remove(id)
  assert.deepEqual([refused.statusCode, refused.data()['code'], /Summer/.test(refused.body)], [409, 'in_use', true])
  const unbound = await house.call('PATCH', `/api/campaigns/${String(campaign.data()['id'])}`, {
    ...owner,
    body: { ad_account_id: null },
  })
  assert.equal(unbound.data()['ad_account_id'], null)
  assert.deepEqual((await remove(id)).data(), { ok: true })
  for (const gone of [await read(id), await patch(id, { name: 'x' }), await remove(id)])
    assert.equal(gone.statusCode, 404)
  const late = await house.call('POST', '/api/campaigns', { ...owner, body: draft })
  assert.match(late.body, /no such ad account/)
  const { rows } = await house.database.reads.query(
    `select octet_length(credential) as bytes, credential_hint as hint from ad_accounts where deleted_at is not null and org_id = $1`,
    [owner.org_id],
  )
  assert.deepEqual(rows, [{ bytes: 0, hint: '' }])
})

test('another organization’s account is as if it were not there', async () => {
  const id = await made()
  const before = await rows()
  for (const refused of [
    await read(id, other),
    await patch(id, { name: 'mine' }, other),
    await remove(id, other),
    await house.call('POST', `/api/ad-accounts/${id}/test`, { ...other, body: { event_type: 'lead' } }),
    await read(toWireId(newId())),
    await read('nonsense'),
  ])
    assert.equal(refused.statusCode, 404)
  const campaign = await house.call('POST', '/api/campaigns', {
    ...other,
    body: { name: 'C', destination: { type: 'redirect', url: 'https://shop.example/' }, ad_account_id: id },
  })
  assert.match(campaign.body, /no such ad account/)
  assert.deepEqual((await house.call('GET', '/api/ad-accounts', other)).data(), { data: [], next_cursor: null })
  assert.equal(await rows(), before)
})

test('no key reaches an account, a member only reads, a stranger nothing', async () => {
  const id = await made()
  const before = await rows()
  const key = { key: (await seedKey(house.database, owner, { rights: ['campaigns', 'postbacks', 'events'] })).secret }
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  const all = (as: As) => [
    house.call('GET', '/api/ad-accounts', as),
    read(id, as),
    create(META, as),
    patch(id, { name: 'x' }, as),
    remove(id, as),
    house.call('POST', `/api/ad-accounts/${id}/test`, { ...as, body: { event_type: 'lead' } }),
  ]
  for (const refused of await Promise.all(all(key)))
    assert.deepEqual([refused.statusCode, refused.data()['code']], [403, 'api_key_resource_forbidden'])
  for (const refused of await Promise.all(all({}))) assert.ok([401, 403].includes(refused.statusCode))
  const asMember = (await Promise.all(all(member))).map(({ statusCode }) => statusCode)
  assert.deepEqual(asMember, [200, 200, 403, 403, 403, 403])
  assert.equal(await rows(), before)
})
