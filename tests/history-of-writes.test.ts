// Every writing operation of the API leaves exactly one row of the history with what it changed, by session and by key; what is refused, or is so
// already, leaves none. An operation that is missing here fails the test.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { historyKindOf } from '../src/contract/history.ts'
import { ALL_RIGHTS } from '../src/contract/rights.ts'
import { type Endpoint, isReading, rightOf } from '../src/contract/endpoint.ts'
import { type BotGround, botGround, PUBLIC } from './support/bots.ts'
import { type FakeDns, startDns } from './support/dns-fake.ts'
import { seedKey, toWireId } from './support/house.ts'
import { parted, straight } from './support/graphs.ts'
import { BROWSER } from './support/visits.ts'

let ground: BotGround
let dns: FakeDns
let key: string
before(async () => {
  dns = await startDns()
  ground = await botGround({ DNS_SERVERS: dns.address, ROLE: 'serve' })
  const { house, owner } = ground
  key = (await seedKey(house.database, owner, { rights: ALL_RIGHTS })).secret
})
after(async () => {
  await ground.end()
  await dns.close()
})

type Field = { name: string; before?: unknown; after?: unknown; is_secret?: true }
type Row = {
  id: string
  kind: string
  object_id: string | null
  object_name: string
  change: string
  fields: Field[]
  act_id: string
  actor: { kind: string; id: string; name: string }
}
type Reply = Awaited<ReturnType<BotGround['call']>>
type Method = 'POST' | 'PUT' | 'PATCH' | 'DELETE'

const walked = new Set<string>()

async function rows(query = ''): Promise<Row[]> {
  const reply = await ground.call('GET', `/api/history?limit=3&${query}`)
  assert.equal(reply.statusCode, 200, reply.body)
  return reply.json<{ data: Row[] }>().data
}

const endpointOf = (name: string): Endpoint =>
  ground.house.furnished.find(one => one.name === name)?.endpoint ?? assert.fail(`${name} is no endpoint`)

/** Calls an operation by its name, as the owner or with the key. */
async function send(name: string, ids: string[], body?: unknown, byKey = false, query = ''): Promise<Reply> {
  const [method = '', path = ''] = endpointOf(name).route.split(' ')
  let at = 0
  const url = path.replaceAll(/:\w+/g, () => ids[at++] ?? '') + query
  const { house, owner } = ground
  const sent = body === undefined ? {} : { body }
  return byKey
    ? await house.call(method as Method, url, { key, ...sent })
    : await house.call(method as Method, url, { headers: { origin: PUBLIC, cookie: owner.cookie }, ...sent })
}

/** The rows that were written while `work` ran, newest first. */
async function rowsOf<T>(work: () => Promise<T>): Promise<{ result: T; written: Row[] }> {
  const [last] = await rows()
  const result = await work()
  const now = await rows()
  return { result, written: now.slice(0, last === undefined ? now.length : now.findIndex(({ id }) => id === last.id)) }
}

type Expected = 'created' | 'deleted' | Record<string, [before: unknown, after: unknown] | 'secret'>

/** Calls an operation, and finds exactly one row of its kind with exactly these differences. Returns the answer. */
async function walk(name: string, ids: string[], body: unknown, expected: Expected, byKey = false, query = '') {
  walked.add(name)
  const { result, written } = await rowsOf(() => send(name, ids, body, byKey, query))
  assert.ok(result.statusCode < 300, `${name}: ${result.body}`)
  assert.equal(written.length, 1, `${name}: ${JSON.stringify(written)}`)
  const [row] = written as [Row]
  assert.equal(row.kind, historyKindOf(endpointOf(name).history), name)
  assert.equal(row.actor.kind, byKey ? 'key' : 'person', name)
  assert.equal(row.actor.name, byKey ? 'Test key' : 'Person', name)
  if (typeof expected === 'string') {
    assert.equal(row.change, expected, name)
    const other = expected === 'created' ? 'before' : 'after'
    assert.ok(
      row.fields.every(field => field.is_secret === true || field[other] === null),
      `${name}: ${JSON.stringify(row.fields)}`,
    )
    return { ...result.data(), row } as Record<string, unknown> & { id: string; row: Row }
  }
  assert.equal(row.change, 'changed', name)
  const found = Object.fromEntries(
    row.fields.map(field => [field.name, field.is_secret === true ? 'secret' : [field.before, field.after]]),
  )
  assert.deepEqual(found, expected, name)
  return { ...result.data(), row } as Record<string, unknown> & { id: string; row: Row }
}

/** A write that changes nothing leaves no row. */
async function leavesNone(name: string, ids: string[], body?: unknown, status = 200, byKey = false) {
  const { result, written } = await rowsOf(() => send(name, ids, body, byKey))
  assert.equal(result.statusCode, status, `${name}: ${result.body}`)
  assert.deepEqual(written, [], name)
}

const unknown = toWireId('01900000-0000-7000-8000-000000000000')
const WEEK = Array(7).fill('1'.repeat(48))
const HOURS = { timezone: 'UTC', week: ['0'.repeat(48), ...WEEK.slice(1)] }

test('offers, landings and funnels', async () => {
  for (const byKey of [false, true]) {
    const draft = { name: 'Casino', url: 'https://o.example/', payout: '7' }
    const offer = await walk('createOffer', [], draft, 'created', byKey)
    const fields = Object.fromEntries(offer.row.fields.map(({ name, after: value }) => [name, value]))
    const {
      campaigns: _,
      unknown_macros: __,
      updated_at: ___,
      ...shown
    } = (await ground.call('GET', `/api/offers/${offer.id}`)).data()
    assert.deepEqual(fields, { ...shown, open_hours: null })
    assert.deepEqual([offer.row.object_id, offer.row.object_name], [offer.id, 'Casino'])
    const url = 'https://other.example/'
    await walk('replaceOffer', [offer.id], { ...draft, url }, { url: [draft.url, url] }, byKey)
    await leavesNone('replaceOffer', [offer.id], { ...draft, url }, 200, byKey)
    await leavesNone('replaceOffer', [offer.id], { ...draft, url: 'no' }, 400, byKey)
    await leavesNone('replaceOffer', [unknown], draft, 404, byKey)
    await walk('setOfferStatus', [offer.id], { status: 'archived' }, { status: ['active', 'archived'] }, byKey)
    await leavesNone('setOfferStatus', [offer.id], { status: 'archived' }, 200, byKey)
    await walk('setOfferStatus', [offer.id], { status: 'active' }, { status: ['archived', 'active'] }, byKey)
    const landing = await walk('createLanding', [], { name: 'L', url: 'https://l.example/' }, 'created', byKey)
    await walk('replaceLanding', [landing.id], { name: 'L2', url: 'https://l.example/' }, { name: ['L', 'L2'] }, byKey)
    await walk('setLandingStatus', [landing.id], { status: 'archived' }, { status: ['active', 'archived'] }, byKey)
    await send('setLandingStatus', [landing.id], { status: 'active' })
    const members = { landings: [{ landing_id: landing.id, weight: 1 }], offers: [{ offer_id: offer.id, weight: 1 }] }
    const funnel = await walk('createFunnel', [], { name: 'F', ...members }, 'created', byKey)
    await walk('updateFunnel', [funnel.id], { name: 'F2' }, { name: ['F', 'F2'] }, byKey)
    await leavesNone('updateFunnel', [funnel.id], { name: 'F2' }, 200, byKey)
    await leavesNone('updateFunnel', [funnel.id], { landings: [], offers: [] }, 400, byKey)
    await walk('deleteFunnel', [funnel.id], undefined, 'deleted', byKey)
    await leavesNone('deleteFunnel', [funnel.id], undefined, 404, byKey)
    await walk('deleteLanding', [landing.id], undefined, 'deleted', byKey)
    await walk('setOfferHours', [offer.id], { open_hours: HOURS }, { open_hours: [null, HOURS] })
    await leavesNone('setOfferHours', [offer.id], { open_hours: HOURS })
    await walk('deleteOffer', [offer.id], undefined, 'deleted', byKey)
  }
})

test('campaigns, click flows, sources, caps and rules of postbacks', async () => {
  const source = await walk('createTrafficSource', [], { name: 'Push' }, 'created')
  await walk('updateTrafficSource', [source.id], { name: 'Push 2' }, { name: ['Push', 'Push 2'] })
  await leavesNone('updateTrafficSource', [source.id], { name: 'Push 2' })
  for (const byKey of [false, true]) {
    const destination = { type: 'redirect', url: 'https://shop.example/' }
    const campaign = await walk('createCampaign', [], { name: 'C', destination }, 'created', byKey)
    await walk('updateCampaign', [campaign.id], { name: 'C2' }, { name: ['C', 'C2'] }, byKey)
    await leavesNone('updateCampaign', [campaign.id], { name: 'C2' }, 200, byKey)
    await leavesNone('updateCampaign', [campaign.id], { offer_id: unknown }, 400, byKey)
    await walk(
      'updateCampaign',
      [campaign.id],
      { traffic_source_id: source.id },
      { traffic_source_id: [null, source.id] },
      byKey,
    )
    await walk('setCampaignHours', [campaign.id], { open_hours: HOURS }, { open_hours: [null, HOURS] })
    const cap = await walk(
      'createCap',
      [],
      { object: 'campaign', object_id: campaign.id, metric: 'clicks', limit: 5, period: 'day' },
      'created',
    )
    await walk('updateCap', [cap.id], { limit: 6 }, { limit: [5, 6] })
    await leavesNone('updateCap', [cap.id], { limit: 6 })
    await leavesNone('reopenCap', [cap.id])
    await walk('deleteCap', [cap.id], undefined, 'deleted')
    const rule = await walk(
      'createPostbackRule',
      [],
      { event_type: 'lead', url: 'https://p.example/', campaign_id: campaign.id },
      'created',
      byKey,
    )
    await walk('updatePostbackRule', [rule.id], { active: false }, { active: [true, false] }, byKey)
    await leavesNone('updatePostbackRule', [rule.id], { active: false }, 200, byKey)
    await walk('deletePostbackRule', [rule.id], undefined, 'deleted', byKey)
    await walk('setCampaignStatus', [campaign.id], { status: 'archived' }, { status: ['active', 'archived'] })
    await leavesNone('setCampaignStatus', [campaign.id], { status: 'archived' })
    await walk('deleteCampaign', [campaign.id], undefined, 'deleted', byKey)
    const [one, other] = [straight(), straight('https://other.example/')]
    const flow = await walk('createClickFlow', [], { name: 'Flow', graph: one }, 'created', byKey)
    await walk(
      'publishClickFlow',
      [flow.id],
      undefined,
      { status: ['draft', 'active'], published_version: [null, 1] },
      byKey,
    )
    await leavesNone('publishClickFlow', [flow.id], undefined, 200, byKey)
    await walk('replaceClickFlow', [flow.id], { name: 'Flow', graph: other }, { graph: [one, other] }, byKey)
    await walk('setClickFlowStatus', [flow.id], { status: 'paused' }, { status: ['active', 'paused'] }, byKey)
    await walk('restoreClickFlowVersion', [flow.id, '1'], undefined, { graph: [other, one] })
    await walk('deleteClickFlow', [flow.id], undefined, 'deleted', byKey)
  }
  await walk('deleteTrafficSource', [source.id], undefined, 'deleted')
})

test('a cap that is opened again', async () => {
  const destination = { type: 'redirect', url: 'https://shop.example/' }
  const campaign = (await send('createCampaign', [], { name: 'Capped', destination })).data()
  const object = { object: 'campaign', object_id: campaign['id'], metric: 'conversions', limit: 1, period: 'day' }
  const cap = (await send('createCap', [], object)).data()
  const visit = await ground.house.call('GET', `/c/${String(campaign['key'])}`, { headers: BROWSER })
  assert.equal(visit.statusCode, 302)
  const { data } = (await ground.call('GET', `/api/clicks?campaign_id=${String(campaign['id'])}`)).json<{
    data: { id: string }[]
  }>()
  const event = await send('recordConversion', [], { clickId: data[0]?.id, type: 'lead' })
  assert.equal(event.statusCode, 201, event.body)
  const id = String(cap['id'])
  const { written } = await rowsOf(() => send('reopenCap', [id]))
  assert.deepEqual([written.length, written[0]?.fields.map(({ name }) => name)], [1, ['reopened_at', 'reopened_by']])
  walked.add('reopenCap')
  const revised = { status: 'rejected', reason: 'fraud' }
  const of = String(event.data()['id'])
  await walk('reviseEvent', [of], { ...revised, status: 'approved', amount: '9' }, { amount: ['0', '9'] })
  await walk('reviseEvent', [of], revised, { status: ['approved', 'rejected'], amount: ['9', '0'] })
  await leavesNone('reviseEvent', [of], revised)
  const csv = `event_id,status,amount\n${of},approved,3\n`
  await leavesNone('importRevisions', [], { csv, dry_run: true })
  await walk('importRevisions', [], { csv, dry_run: false }, { status: ['rejected', 'approved'], amount: ['0', '3'] })
  await leavesNone('importRevisions', [], { csv, dry_run: false })
  const network = (await send('createNetwork', [], { name: 'Paying', template: 'keitaro' })).data()
  const compared = await ground.house.call('POST', `/api/networks/${String(network['id'])}/reconciliations`, {
    headers: { origin: PUBLIC, cookie: ground.owner.cookie, 'content-type': 'text/csv' },
    payload: `click_id,payout\n${data[0]?.id},4\n`,
  })
  const [act, differing] = [{ heap: 'other_amount', act: 'revise' }, [String(compared.data()['id'])]]
  await leavesNone('actOnReconciliation', differing, { ...act, dry_run: true })
  await walk('actOnReconciliation', differing, { ...act, dry_run: false }, { amount: ['3', '4'] })
  await leavesNone('actOnReconciliation', differing, { ...act, dry_run: false })
  const campaign_id = String(campaign['id'])
  const today = new Date().toISOString().slice(0, 10)
  for (const byKey of [false, true]) {
    const { row } = await walk('recordAdSpend', [], { campaign_id, day: '2026-11-23', amount: '5' }, 'created', byKey)
    assert.deepEqual([row.object_id, row.object_name], [campaign_id, '2026-11-23'])
    assert.deepEqual(row.fields, [{ name: 'amount', before: null, after: '5' }])
    await leavesNone('recordAdSpend', [], { campaign_id, day: '2026-11-23', amount: '5' }, 200, byKey)
    await walk('recordAdSpend', [], { campaign_id, day: '2026-11-23', amount: '6' }, { amount: ['5', '6'] }, byKey)
    await walk('recordAdSpend', [], { campaign_id, day: '2026-11-23', amount: null }, 'deleted', byKey)
  }
  const file = `campaign,day,sub1,amount\n${campaign_id},2026-11-22,zone1,4\n`
  await leavesNone('importAdSpend', [], { csv: file, dry_run: true })
  const { row } = await walk('importAdSpend', [], { csv: file, dry_run: false }, 'created')
  assert.equal(row.object_name, '2026-11-22 / zone1')
  await leavesNone('importAdSpend', [], { csv: file, dry_run: false })
  const from = `${today}T00:00:00Z`
  const bill = { campaign_id, from, to: new Date().toISOString(), amount: '10' }
  await leavesNone('spreadAdSpend', [], { ...bill, dry_run: true })
  const spread = await walk('spreadAdSpend', [], { ...bill, dry_run: false }, 'created')
  await walk('takeBackSpread', [String((spread['spread'] as { id: string }).id)], undefined, 'deleted')
})

test('tags, notes, and what they are on', async () => {
  const tag = await walk('createTag', [], { name: 'Spring', color: 'teal' }, 'created')
  await walk('updateTag', [tag.id], { color: 'red' }, { color: ['teal', 'red'] })
  await leavesNone('updateTag', [tag.id], { color: 'red' })
  await leavesNone('createTag', [], { name: 'spring', color: 'red' }, 409)
  const { id: offer_id } = (await send('createOffer', [], { name: 'O', url: 'https://o.example/' })).data()
  const campaign = { name: 'C', destination: { type: 'offer', offer_id } }
  const objects: [string, object][] = [
    ['Campaign', campaign],
    ['Offer', { name: 'O', url: 'https://o.example/' }],
    ['Landing', { name: 'L', url: 'https://l.example/' }],
    ['Funnel', { name: 'F', offers: [{ offer_id, weight: 1 }] }],
    ['ClickFlow', { name: 'Flow', graph: straight() }],
    ['TrafficSource', { name: 'Tagged' }],
    ['Network', { name: 'N', template: 'plain' }],
  ]
  for (const [name, body] of objects) {
    const id = String((await send(`create${name}`, [], body)).data()['id'])
    await walk(`set${name}Tags`, [id], { tag_ids: [tag.id] }, { tag_ids: [[], [tag.id]] })
    await leavesNone(`set${name}Tags`, [id], { tag_ids: [tag.id] })
    await leavesNone(`set${name}Tags`, [id], { tag_ids: [unknown] }, 400)
    await walk(`set${name}Note`, [id], { note: 'Why' }, { note: [null, 'Why'] })
    await leavesNone(`set${name}Note`, [unknown], { note: 'Why' }, 404)
  }
  await walk('deleteTag', [tag.id], undefined, 'deleted')
  const note = await walk('createNote', [], { day: '2026-11-20', text: 'New landing' }, 'created')
  await walk('updateNote', [note.id], { text: 'Old landing' }, { text: ['New landing', 'Old landing'] })
  await leavesNone('updateNote', [note.id], { text: 'Old landing' })
  await walk('deleteNote', [note.id], undefined, 'deleted')
})

test('rules', async () => {
  const campaign = await walk(
    'createCampaign',
    [],
    { name: 'Ruled', destination: { type: 'redirect', url: 'https://a.example/' } },
    'created',
  )
  const condition = { figure: 'roi', is: 'below', value: -0.4 }
  const draft = {
    when: [condition],
    window: { hours: 24 },
    at_least: { clicks: 100 },
    then: [{ type: 'pause' }],
    every: 60,
  }
  const over = { campaign_ids: [campaign.id] }
  const rule = await walk('createRule', [], { ...draft, name: 'R', over }, 'created')
  await walk('updateRule', [rule.id], { name: 'R2' }, { name: ['R', 'R2'] })
  await leavesNone('updateRule', [rule.id], { name: 'R2' })
  await leavesNone('updateRule', [rule.id], { value_of: 'sub10' }, 400)
  await leavesNone('checkRule', [rule.id])
  await leavesNone('confirmRule', [rule.id], { check_id: unknown }, 404)
  await walk('deleteRule', [rule.id], undefined, 'deleted')
})

test('networks, accounts, domains, rates and settings', async () => {
  const network = await walk('createNetwork', [], { name: 'N', template: 'plain' }, 'created')
  assert.ok(network.row.fields.some(({ name, is_secret }) => name === 'token' && is_secret))
  await walk('updateNetwork', [network.id], { name: 'N2' }, { name: ['N', 'N2'] })
  await leavesNone('updateNetwork', [network.id], { name: 'N2' })
  await walk('rotateNetworkToken', [network.id], {}, { token: 'secret' })
  await walk('deleteNetwork', [network.id], undefined, 'deleted')
  const meta = {
    platform: 'meta',
    name: 'A',
    settings: { pixel_id: '123' },
    credentials: { access_token: 'EAAtoken1' },
  }
  const account = await walk('createAdAccount', [], meta, 'created')
  await walk('updateAdAccount', [account.id], { platform: 'meta', name: 'A2' }, { name: ['A', 'A2'] })
  const renewed = { platform: 'meta', credentials: { access_token: 'EAAtoken2' } }
  await walk('updateAdAccount', [account.id], renewed, { credentials: 'secret' })
  await leavesNone('updateAdAccount', [account.id], renewed)
  await walk('deleteAdAccount', [account.id], undefined, 'deleted')
  const spend = { provider: 'meta', external_id: '1234567890', name: 'S', access_token: 'EAAspend1', id_in: 'sub1' }
  const spent = await walk('createSpendAccount', [], spend, 'created')
  await walk('updateSpendAccount', [spent.id], { name: 'S2' }, { name: ['S', 'S2'] })
  await walk('updateSpendAccount', [spent.id], { access_token: 'EAAspend2' }, { access_token: 'secret' })
  await walk('deleteSpendAccount', [spent.id], undefined, 'deleted')
  const domain = await walk('createDomain', [], { name: 'go.example.org' }, 'created')
  await walk('updateDomain', [domain.id], { robots: 'allow' }, { robots: ['refuse', 'allow'] })
  await leavesNone('updateDomain', [domain.id], { robots: 'allow' })
  await walk('deleteDomain', [domain.id], undefined, 'deleted')
  const rate = await walk('setOwnRate', ['EUR'], { from_day: '2026-01-01', usd_per_unit: '1.1' }, 'created')
  assert.deepEqual([rate.row.object_id, rate.row.object_name], [null, 'EUR'])
  await walk('setOwnRate', ['eur'], { from_day: '2026-01-01', usd_per_unit: '1.2' }, { usd_per_unit: ['1.1', '1.2'] })
  await leavesNone('setOwnRate', ['EUR'], { from_day: '2026-01-01', usd_per_unit: '1.2' })
  const settings = { names: { purchase: 'Sale' }, goal: null }
  await walk('replaceEventSettings', [], settings, { names: [{}, settings.names] })
  await leavesNone('replaceEventSettings', [], settings)
  const balance = String((await ground.call('GET', '/api/billing')).data()['balance'])
  const more = String(Number(balance) + 5)
  const topped = await walk('topUpBalance', [], { amount: '5' }, { balance: [balance, more] })
  assert.equal(topped.row.object_id, toWireId(ground.owner.organization_id))
  await walk('adjustBalance', [], { amount: '-5', note: 'back' }, { balance: [more, balance] })
  await walk('setPrice', [], { price_per_person: '0.2' }, { price_per_person: ['0.05', '0.2'] })
  await leavesNone('setPrice', [], { price_per_person: '0.2' })
  await walk('setHolding', [], { hold_when_empty: true }, { hold_when_empty: [false, true] })
  await walk('setLowBalance', [], { low_balance_threshold: '3' }, { low_balance_threshold: ['1', '3'] })
  const question = { levels: [{ dimension: 'geo' }] }
  const view = await walk('createExploreView', [], { name: 'V', question }, 'created')
  await walk('updateExploreView', [view.id], { name: 'V2' }, { name: ['V', 'V2'] })
  await leavesNone('updateExploreView', [view.id], { name: 'V2' })
  await walk('deleteExploreView', [view.id], undefined, 'deleted')
})

test('people, keys and the workspace', async () => {
  const { house, owner } = ground
  const id = toWireId(owner.organization_id)
  await walk('updateOrganization', [id], { name: 'Acme 2' }, { name: ['Acme', 'Acme 2'] })
  await leavesNone('updateOrganization', [id], { name: 'Acme 2' })
  await walk('setReportingCurrency', [], { currency: 'EUR' }, { reporting_currency: [null, 'EUR'] })
  await house.database.kysely
    .updateTable('users')
    .set({ two_factor_enabled: true })
    .where('id', '=', owner.user_id)
    .execute()
  await walk('requireSecondFactor', [], { required: true }, { requires_second_factor: [false, true] })
  await send('requireSecondFactor', [], { required: false })
  const made = await walk('createKey', [], { name: 'K' }, 'created')
  assert.ok(made.row.fields.some(({ name, is_secret }) => name === 'secret' && is_secret))
  assert.ok(!JSON.stringify(made.row).includes(String(made['secret'])))
  const expires_at = '2030-01-01T00:00:00.000Z'
  await walk('updateKey', [made.id], { expires_at }, { expires_at: [null, expires_at] })
  await leavesNone('updateKey', [made.id], { expires_at })
  const { written } = await rowsOf(() => send('saveGrant', [made.id], { organization_id: id, write: ['events'] }))
  assert.deepEqual(
    written.map(({ kind, fields }) => [kind, fields.map(({ name }) => name)]),
    [['api_key', ['grant']]],
  )
  walked.add('saveGrant')
  const revoked = await rowsOf(() => send('revokeGrant', [made.id]))
  assert.deepEqual(
    revoked.written.map(({ fields }) => fields.map(({ name }) => name)),
    [['grant']],
  )
  walked.add('revokeGrant')
  await walk('revokeKey', [made.id], undefined, 'deleted')
  await leavesNone('revokeKey', [made.id])
  const invitation = await walk('createInvitation', [], { email: 'new@example.com', role: 'member' }, 'created')
  assert.ok(!JSON.stringify(invitation.row).includes(String(invitation['link']).split('/').at(-1) ?? '-'))
  await walk('withdrawInvitation', [invitation.id], undefined, 'deleted')
  const member = await ground.signIn({ place: owner, role: 'member' })
  const list = (await ground.call('GET', '/api/members')).json<{ data: { id: string; user_id: string }[] }>().data
  const of = list.find(({ user_id }) => user_id === toWireId(member.user_id))?.id ?? ''
  await walk('setMemberRole', [of], { role: 'admin' }, { role: ['member', 'admin'] })
  await leavesNone('setMemberRole', [of], { role: 'admin' })
  await walk('deleteMember', [of], undefined, 'deleted')
  const guest = await ground.signIn()
  const invited = (await send('createInvitation', [], { email: guest.email, role: 'member' })).data()
  const secret = String(invited['link']).split('/').at(-1) ?? ''
  const joined = await rowsOf(() => ground.call('POST', `/api/invitation-links/${secret}/accept`, undefined, guest))
  assert.equal(joined.result.statusCode, 200, joined.result.body)
  assert.deepEqual(
    joined.written.map(({ kind, change, actor }) => [kind, change, actor.id]),
    [['member', 'created', toWireId(guest.user_id)]],
  )
  walked.add('acceptInvitation')
})

test('a workspace that is created, deleted and restored has a history of its own', async () => {
  const { house } = ground
  const person = await ground.signIn()
  const as = { headers: { origin: PUBLIC, cookie: person.cookie } }
  const made = (await house.call('POST', '/api/organizations', { ...as, body: { name: 'Second' } })).data()
  const id = String(made['id'])
  const read = async () => (await house.call('GET', '/api/history', as)).json<{ data: Row[] }>().data
  assert.deepEqual(
    (await read()).map(({ kind, change, object_id }) => [kind, change, object_id]),
    [['organization', 'created', id]],
  )
  assert.equal((await house.call('DELETE', `/api/organizations/${id}`, as)).statusCode, 200)
  assert.equal((await house.call('POST', `/api/organizations/${id}/restore`, as)).statusCode, 200)
  await house.call('POST', `/api/organizations/${id}/activate`, as)
  assert.deepEqual(
    (await read()).map(({ change }) => change),
    ['created', 'deleted', 'created'],
  )
  for (const name of ['createOrganization', 'deleteOrganization', 'restoreOrganization']) walked.add(name)
})

test('bots, channels, subscribers and broadcasts', async () => {
  const { telegram } = ground
  const fake = telegram.bot()
  const bot = await walk('createBot', [], { token: fake.token }, 'created')
  assert.ok(!JSON.stringify(bot.row).includes(fake.token))
  await walk('updateBot', [bot.id], { keep_names: true }, { keep_names: [false, true] })
  await leavesNone('updateBot', [bot.id], { keep_names: true })
  await leavesNone('updateBot', [bot.id], { token: fake.token })
  const chat = telegram.chat({})
  chat.promote(fake)
  await telegram.settled()
  const channel = await walk('createChannel', [], { bot_id: bot.id, chat_id: String(chat.id) }, 'created')
  await walk('updateChannel', [channel.id], { pool_min: 77 }, { pool_min: [channel['pool_min'], 77] })
  await leavesNone('updateChannel', [channel.id], { pool_min: 77 })
  await walk('deleteChannel', [channel.id], undefined, 'deleted')
  const draft = { bot_id: bot.id, name: 'B', message: { text: 'Hello' } }
  const broadcast = await walk('createBroadcast', [], draft, 'created')
  await walk('updateBroadcast', [broadcast.id], { name: 'B2' }, { name: ['B', 'B2'] })
  await leavesNone('updateBroadcast', [broadcast.id], { name: 'B2' })
  const other = (await send('createBroadcast', [], draft)).data()
  await walk('deleteBroadcast', [String(other['id'])], undefined, 'deleted')
  await send('importSubscribers', [bot.id], { user_ids: ['1', '2'], started_the_bot: true })
  const started = await rowsOf(() => send('startBroadcast', [broadcast.id], { expected_recipients: 2 }))
  assert.deepEqual([started.result.statusCode, started.written.length], [200, 1], started.result.body)
  assert.ok(started.written[0]?.fields.some(({ name, after: is }) => name === 'state' && is === 'preparing'))
  walked.add('startBroadcast')
  await leavesNone('startBroadcast', [broadcast.id], { expected_recipients: 2 })
  await walk('pauseBroadcast', [broadcast.id], undefined, { state: ['preparing', 'paused'] })
  await walk('resumeBroadcast', [broadcast.id], undefined, { state: ['paused', 'preparing'] })
  await walk('stopBroadcast', [broadcast.id], undefined, { state: ['preparing', 'stopped'] })
  await leavesNone('stopBroadcast', [broadcast.id])
  const people = (await ground.call('GET', `/api/subscribers?bot_id=${bot.id}`)).json<{ data: { id: string }[] }>().data
  const forgotten = await walk('forgetSubscriber', [people[0]?.id ?? ''], undefined, 'deleted')
  assert.deepEqual(forgotten.row.fields, [])
  await walk('deleteBot', [bot.id], undefined, 'deleted')
  const copied = telegram.bot()
  const copy = (await send('createBot', [], { token: copied.token, mode: 'copy' })).data()
  await walk('rotateCopySecret', [String(copy['id'])], undefined, {
    has_copy_secret: [false, true],
    copy_secret: 'secret',
  })
  await walk('rotateCopySecret', [String(copy['id'])], undefined, { copy_secret: 'secret' })
})

test('an AI host that is connected is a new key, and one that revokes its connection ends it', async () => {
  const { house, owner } = ground
  const redirect_uri = 'http://127.0.0.1:33418/callback'
  const registration = { client_name: 'Claude', redirect_uris: [redirect_uri], token_endpoint_auth_method: 'none' }
  const headers = { host: new URL(PUBLIC).host }
  const code_verifier = 'v'.repeat(43)
  const client = await house.call('POST', '/oauth/register', { headers, body: registration })
  assert.equal(client.statusCode, 201, client.body)
  const request = {
    client_id: String(client.data()['client_id']),
    redirect_uri,
    response_type: 'code',
    code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
    code_challenge_method: 'S256',
    resource: `${PUBLIC}/mcp`,
  }
  const grant = { organization_id: owner.organization_id, read: ['clicks'], write: [], delete: [] }
  const { row, redirect } = await walk('createConnection', [], { request, grant }, 'created')
  assert.ok(row.fields.some(({ name, after: is }) => name === 'name' && is === 'Claude'))
  const form = (path: string, fields: Record<string, string>) =>
    house.call('POST', path, { headers, payload: new URLSearchParams(fields).toString() })
  const { client_id } = request
  const code = new URL(String(redirect)).searchParams.get('code') ?? ''
  const exchange = { grant_type: 'authorization_code', code, code_verifier, client_id, redirect_uri }
  const tokens = (await form('/oauth/token', exchange)).data()
  const revoke = () => form('/oauth/revoke', { token: String(tokens['refresh_token']), client_id })
  const { written } = await rowsOf(revoke)
  assert.deepEqual(
    written.map(({ kind, change, actor }) => [kind, change, actor.kind, actor.id, actor.name]),
    [['api_key', 'deleted', 'key', row.object_id, 'Claude']],
  )
  assert.deepEqual((await rowsOf(revoke)).written, [])
  walked.add('revokeToken')
})

test('left-out values', async () => {
  const url = 'https://a.example/'
  const { id } = await walk('createCampaign', [], { name: 'Zones', destination: { type: 'redirect', url } }, 'created')
  const entry = { field: 'sub1', value: 'zone' }
  await walk('leaveOut', [id], { field: 'sub1', values: ['zone'] }, 'created')
  await leavesNone('leaveOut', [id], { field: 'sub1', values: ['zone'] }, 201)
  await walk('letIn', [id], undefined, 'deleted', false, '?field=sub1&value=zone')
  await walk('leaveOutInMany', [], { entries: [{ campaign_id: id, ...entry }] }, 'created')
  await leavesNone('leaveOutInMany', [], { entries: [{ campaign_id: id, ...entry }] }, 201)
  const text = { field: 'sub1', text: 'zone\nother', mode: 'add' }
  await leavesNone('importLeftOut', [id], { ...text, dry_run: true }, 200)
  await walk('importLeftOut', [id], { ...text, dry_run: false }, 'created')
})

test('ends and switches of split tests', async () => {
  const offers: string[] = []
  for (const name of ['A', 'B'])
    offers.push((await walk('createOffer', [], { name, url: 'https://o.example/' }, 'created')).id)
  const shares = offers.map(offer_id => ({ offer_id, weight: 1 }))
  const funnel = await walk('createFunnel', [], { name: 'Halves', offers: shares }, 'created')
  const end = { test_id: 'offers', winner: offers[1] }
  await walk('endFunnelTest', [funnel.id], end, { winner: [null, offers[1]] })
  await leavesNone('endFunnelTest', [funnel.id], end)
  await leavesNone('endFunnelTest', [funnel.id], { ...end, winner: unknown }, 400)
  const flow = await walk('createClickFlow', [], { name: 'Parts', graph: parted(1, 1) }, 'created')
  await send('publishClickFlow', [flow.id], {})
  await walk('endClickFlowTest', [flow.id], { test_id: 'part', winner: 'end0' }, { winner: [null, 'end0'] })
  await walk('endClickFlowTest', [flow.id], { test_id: 'part', winner: null }, { winner: ['end0', null] })
  await leavesNone('setFunnelTestAutomatic', [funnel.id], { test_id: 'offers', automatic: true }, 400)
  await leavesNone('setClickFlowTestAutomatic', [flow.id], { test_id: 'part', automatic: false }, 200)
  const on = { test_id: 'part', automatic: true }
  await walk('setClickFlowTestAutomatic', [flow.id], on, { automatic: [false, true] })
  await leavesNone('setClickFlowTestAutomatic', [flow.id], on, 200)
  await walk('endFunnelTest', [funnel.id], { ...end, winner: null }, { winner: [offers[1], null] })
  await walk('setFunnelTestAutomatic', [funnel.id], { ...on, test_id: 'offers' }, { automatic: [false, true] })
})

test('receivers', async () => {
  const hook = { type: 'webhook', name: 'Pager', url: 'https://hooks.example/a' }
  const { id, row } = await walk('createReceiver', [], hook, 'created')
  assert.deepEqual(
    row.fields.filter(field => field.is_secret === true).map(({ name }) => name),
    ['secret', 'url'],
  )
  await leavesNone('createReceiver', [], { ...hook, url: 'no' }, 400)
  await walk('updateReceiver', [id], { about: ['rule'] }, { about: [null, ['rule']] })
  await leavesNone('updateReceiver', [id], { about: ['rule'] })
  await walk('updateReceiver', [id], { url: 'https://hooks.example/b' }, { url: 'secret' })
  await walk('rotateReceiver', [id], undefined, { secret: 'secret' })
  await walk('deleteReceiver', [id], undefined, 'deleted')
  await leavesNone('deleteReceiver', [id], undefined, 404)
})

test('alert settings', async () => {
  const settings = { off: ['cap_reached'], fall: { conversions: { min_expected: 20 } } }
  await walk('replaceAlertSettings', [], settings, { off: [[], ['cap_reached']] })
  await leavesNone('replaceAlertSettings', [], settings)
  await leavesNone('replaceAlertSettings', [], { ...settings, off: ['rain'] }, 400)
})

test('every operation that the history records was walked', () => {
  const recorded = ground.house.furnished.filter(({ endpoint }) => historyKindOf(endpoint.history) !== undefined)
  assert.deepEqual(
    recorded.map(({ name }) => name).filter(name => !walked.has(name)),
    [],
  )
  // Keys may write only what was walked with a key, or the change of a conversion, which is intake.
  const byKey = recorded.filter(({ endpoint }) => rightOf(endpoint.access) !== undefined)
  assert.ok(byKey.length > 20)
})

test('each writing operation of the document says what the history records of it', async () => {
  const document = (
    await ground.house.call('GET', '/api/openapi.json', { headers: { host: 'track.example.com' } })
  ).json<{
    paths: Record<string, Record<string, { 'x-history'?: unknown }>>
  }>()
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const said = operation['x-history']
      if (method === 'get') assert.equal(said, undefined, path)
      else
        assert.ok(
          typeof said === 'string' || typeof (said as { none?: unknown }).none === 'string',
          `${method} ${path}`,
        )
    }
  const writes = ground.house.furnished.filter(({ endpoint }) => !isReading(endpoint))
  assert.ok(writes.every(({ endpoint }) => endpoint.history !== undefined))
})
