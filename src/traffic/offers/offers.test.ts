import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  areArchivedFoundAndPaged,
  areGoneWhenDeleted,
  areNotTouchedByMembers,
  areTheirOrganizationsAlone,
  openRoom,
  openToKeysByRight,
  refuses,
} from '../../../tests/support/archivable.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import { toUuid } from '../../contract/ids.ts'

const DRAFT = { name: 'Casino', url: 'https://offer.example/?c={click_id}' }
const FULL = { ...DRAFT, payout: '12.50', payout_types: ['ftd', 'lead'] }

const room = openRoom('offers', FULL)
const { create, put, setStatus, remove, read, preview, made, rows } = room

refuses(room, [
  [undefined, /./],
  [{ url: DRAFT.url }, /name/],
  [{ name: 'No url' }, /url/],
  [{ ...DRAFT, name: '' }, /name/],
  [{ ...DRAFT, url: 'offer.example' }, /url/],
  [{ ...DRAFT, url: 'https://{geo}.example/' }, /url/],
  [{ ...DRAFT, payout_types: ['sale'] }, /payout_types/],
  [{ ...DRAFT, payout_types: 'lead' }, /payout_types/],
])
areArchivedFoundAndPaged(room)
areGoneWhenDeleted(room)
areTheirOrganizationsAlone(room)
openToKeysByRight(room)
areNotTouchedByMembers(room)

test('an offer is created with what it pays and for which events', async () => {
  const reply = await create(FULL)
  assert.equal(reply.statusCode, 201)
  const { warnings, ...row } = reply.data()
  assert.deepEqual(warnings, [])
  const { id, created_at, updated_at, ...rest } = row
  assert.deepEqual(rest, {
    ...FULL,
    payout: '12.5',
    payout_currency: null,
    payout_types: ['lead', 'ftd'],
    unknown_macros: [],
    status: 'active',
    campaigns: { following: 0, own_address: 0, by_funnel: 0, by_click_flow: 0 },
    tag_ids: [],
    note: null,
  })
  assert.equal(updated_at, created_at)
  assert.deepEqual((await read(String(id))).data(), row)
})

test('payouts are exact decimals from 0 to a million, and nothing that only looks like one', async () => {
  const exact: [unknown, string | null][] = [
    [0, '0'],
    ['0.000001', '0.000001'],
    [0.1, '0.1'],
    ['1000000', '1000000'],
    ['999999.9999999', '1000000'],
    ['0.0000005', '0.000001'],
    [null, null],
    [undefined, null],
  ]
  for (const [payout, stored] of exact)
    assert.equal((await read(await made({ ...DRAFT, payout }))).data()['payout'], stored, String(payout))
  const before = await rows()
  for (const payout of [
    -1,
    '-1',
    1000001,
    '1000000.000001',
    'NaN',
    '0x10',
    '1e3',
    ' ',
    '',
    '1_000',
    true,
    {},
    ['1'],
    '1,5',
  ])
    assert.equal((await create({ ...DRAFT, payout })).statusCode, 400, JSON.stringify(payout))
  assert.equal(await rows(), before)
})

test('an amount with a comma is refused with what to write instead, and never guessed', async () => {
  const answers: [string, RegExp][] = [
    ['18,50', /^payout: write 18\.50: a point, not a comma$/],
    ['18,5', /write 18\.5: a point/],
    ['0,125', /write 0\.125: a point/],
    ['1,234', /nothing between thousands, such as 1234\.50/],
    ['1,234.50', /nothing between thousands/],
    ['1.234,50', /nothing between thousands/],
    ['a,b', /must be a number or a decimal string/],
    [`${'1'.repeat(50)},5`, /must be a number or a decimal string/],
  ]
  const before = await rows()
  for (const [payout, words] of answers) {
    const reply = await create({ ...DRAFT, payout })
    assert.equal(reply.statusCode, 400, payout)
    assert.match(String(reply.data()['error']), words, payout)
  }
  assert.equal(await rows(), before)
})

test('replacing an offer clears what is not sent, and leaves its status', async () => {
  const id = await made()
  await setStatus(id, { status: 'archived' })
  const { warnings, ...replaced } = (await put(id, { name: 'New', url: 'https://new.example/?p={payout}' })).json<
    Record<string, unknown> & { warnings: { field: string }[] }
  >()
  assert.deepEqual(
    warnings.map(({ field }) => field),
    ['url', 'payout', 'payout_types'],
  )
  assert.deepEqual(warnings.slice(0, 1), [
    {
      code: 'unknown_macros',
      field: 'url',
      message: '{payout} is no macro of Sluice and is left out of the address. Correct the name, or remove it.',
    },
  ])
  const { updated_at, created_at, ...rest } = replaced
  assert.ok(String(updated_at) > String(created_at))
  assert.deepEqual(rest, {
    id,
    name: 'New',
    url: 'https://new.example/?p={payout}',
    unknown_macros: ['payout'],
    payout: null,
    payout_currency: null,
    payout_types: [],
    status: 'archived',
    campaigns: { following: 0, own_address: 0, by_funnel: 0, by_click_flow: 0 },
    tag_ids: [],
    note: null,
  })
  assert.deepEqual((await read(id)).data(), replaced)
})

async function aCampaign(fields: object): Promise<{ id: string; visit: () => Promise<unknown> }> {
  const { house, owner } = room.people()
  const destination = { type: 'redirect', url: 'https://shop.example/?o={offer_id}' }
  const { id, key } = (
    await house.call('POST', '/api/campaigns', { ...owner, body: { name: 'C', destination, ...fields } })
  ).data()
  return { id: String(id), visit: async () => (await house.call('GET', `/c/${String(key)}`)).headers.location }
}

test('the campaigns of a deleted offer go on without it', async () => {
  const { house, owner } = room.people()
  const id = await made()
  const campaign = await aCampaign({ offer_id: id })
  assert.equal(await campaign.visit(), `https://shop.example/?o=${id}`)
  assert.deepEqual((await remove(id)).data(), { ok: true, id, campaigns_on_fallback: [] })
  assert.equal(await campaign.visit(), 'https://shop.example/?o=')
  assert.equal(
    (await house.call('PATCH', `/api/campaigns/${campaign.id}`, { ...owner, body: { name: 'Still there' } }))
      .statusCode,
    200,
  )
})

test('an archived offer gets no new clicks: visitors go to the fallback, and only where there is none they go on without it', async () => {
  const { house, owner } = room.people()
  const id = await made()
  const guarded = await aCampaign({ offer_id: id, fallback_url: 'https://fallback.example/' })
  const plain = await aCampaign({ offer_id: id })
  assert.equal(await guarded.visit(), `https://shop.example/?o=${id}`)
  await setStatus(id, { status: 'archived' })
  assert.equal(await guarded.visit(), 'https://fallback.example/')
  assert.equal(await plain.visit(), 'https://shop.example/?o=')
  const refused = await house.call('POST', '/api/campaigns', {
    ...owner,
    body: { name: 'C', destination: { type: 'redirect', url: 'https://shop.example/' }, offer_id: id },
  })
  assert.deepEqual([refused.statusCode, refused.data()['error']], [400, 'offer_id: the offer is archived'])
  const { rows } = await house.database.reads.query<{ offer_id: string | null }>(
    'select offer_id from clicks where org_id = $1 and campaign_id = any($2) order by id',
    [owner.org_id, [guarded.id, plain.id].map(toUuid)],
  )
  assert.deepEqual(
    rows.map(row => row.offer_id === null),
    [false, true, true],
  )
  await setStatus(id, { status: 'active' })
  assert.equal(await guarded.visit(), `https://shop.example/?o=${id}`)
})

test('an address is shown as visitors will see it, with the macros that are none', async () => {
  const { house, owner } = room.people()
  const before = await rows()
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  const { url, unknown_macros } = (
    await preview('https://o.example/?c={click_id}&s={sub1}&x={payout}&y={clickid}&z={payout}', member)
  ).data()
  assert.match(String(url), /^https:\/\/o\.example\/\?c=[0-9a-z]{26}&s=sub1&x=&y=&z=$/)
  assert.deepEqual(unknown_macros, ['payout', 'clickid'])
  for (const wrong of [undefined, '', 'o.example', 'javascript:alert(1)', 'https://{geo}.example/'])
    assert.equal((await preview(wrong)).statusCode, 400, String(wrong))
  assert.equal(await rows(), before)
})
