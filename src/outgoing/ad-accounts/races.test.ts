// Accounts, and the campaigns that name them, are changed while conversions come in. The times of conversions and changes say which came first, so
// the audit is exact after each of them, and Meta gets each conversion at most once.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertBooks } from '../../../tests/support/audit.ts'
import { raceInto, untilWaiting } from '../../../tests/support/blocked.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { seedKey, startHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedClicks } from '../../../tests/support/intake.ts'
import { type MetaTaken, startMeta } from '../../../tests/support/meta-fake.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import type { Fake } from '../../../tests/support/platform-fake.ts'
import { pour } from '../../../tests/support/pour.ts'
import { toUuid } from '../../contract/ids.ts'
import { auditBooks } from '../../reading/audit/audit.ts'

const PIXEL = '1234567890'
const TOKEN = 'meta-token-good'
const EVENT_MAP = { lead: { name: 'Lead' }, registration: { name: 'CompleteRegistration' } }
const ONLY_LEADS = { lead: { name: 'Lead' } }

let meta: Fake<MetaTaken>
let house: TestHouse
before(async () => {
  meta = await startMeta({ [TOKEN]: [PIXEL] })
  house = await startHouse({ META_GRAPH_BASE: meta.origin }, { quotas: { events: 1_000_000 } })
})
after(async () => {
  await house.end()
  await meta.close()
})

type Place = SignedIn & { key: string }
async function settle(): Promise<Place> {
  const owner = await seedSignedIn(house)
  return { ...owner, key: (await seedKey(house.database, owner, { rights: ['events'] })).secret }
}

async function call(place: Place, method: 'POST' | 'PATCH' | 'DELETE', url: string, body?: object) {
  const reply = await house.call(method, url, { cookie: place.cookie, ...(body && { body }) })
  assert.ok(reply.statusCode < 300, `${method} ${url}: ${reply.body}`)
  return reply.data()
}

/** Connects a Meta account. Returns its id. */
async function connect(place: Place): Promise<string> {
  const credentials = { access_token: TOKEN }
  const draft = { platform: 'meta', name: 'Pixel', settings: { pixel_id: PIXEL }, credentials, event_map: EVENT_MAP }
  return String((await call(place, 'POST', '/api/ad-accounts', draft))['id'])
}
const alter = (place: Place, id: string, body: object) =>
  call(place, 'PATCH', `/api/ad-accounts/${id}`, { platform: 'meta', ...body })

/** Creates a campaign. Returns its id. */
async function campaign(place: Place, ad_account_id: string | null = null): Promise<string> {
  const destination = { type: 'redirect', url: 'https://shop.example/' }
  return String((await call(place, 'POST', '/api/campaigns', { name: 'C', destination, ad_account_id }))['id'])
}
const bind = (place: Place, id: string, ad_account_id: string | null) =>
  call(place, 'PATCH', `/api/campaigns/${id}`, { ad_account_id })

async function clicksOf(place: Place, campaign_id: string, count: number): Promise<string[]> {
  const click = { campaign_id: String(toUuid(campaign_id)), platform: 'meta' }
  return (await seedClicks(house.database, place.org_id, count, click)).map(id => toWireId(id))
}

/** Reports conversions of these clicks, one after the other. */
const reporter = (place: Place, clicks: readonly string[]) => async (at: number) => {
  const type = at % 3 === 0 ? 'registration' : 'lead'
  const body = { clickId: clicks[at % clicks.length], type, nonce: String(at) }
  const reply = await house.call('POST', '/api/events', { key: place.key, body })
  assert.equal(reply.statusCode, 201, reply.body)
  return String(toUuid(String(reply.data()['id'])))
}

async function assertExact(...places: Place[]) {
  for (const { org_id } of places) assert.deepEqual(await auditBooks(house.database.reads, org_id), [])
  await assertBooks(house.database.reads)
}

async function rowsOf({ org_id }: Place): Promise<unknown[]> {
  const { rows } = await house.database.reads.query(
    `select id, updated_at, a::text as row from ad_accounts a where org_id = $1
    union all select id, updated_at, c::text from campaigns c where org_id = $1 order by id`,
    [org_id],
  )
  return rows
}

/** The event ids of all deliveries to an account. */
async function toldOf({ org_id }: Place): Promise<string[]> {
  const { rows } = await house.database.reads.query<{ event_id: string }>(
    `select event_id from deliveries where org_id = $1 and kind = 'ad_account'`,
    [org_id],
  )
  return rows.map(({ event_id }) => event_id)
}

async function pending(): Promise<number> {
  const { rows } = await house.database.reads.query(`select from deliveries where state = 'pending'`)
  return rows.length
}

const ROUNDS = process.env['SLUICE_TEST_ALL'] ? 3 : 1

test('accounts and bindings change while conversions come in: each is told to whom it was meant for, once', async () => {
  const [place, bystander] = [await settle(), await settle()]
  const [bound, free] = [await campaign(place), await campaign(place)]
  const theirs = await connect(bystander)
  const theirClicks = await clicksOf(bystander, await campaign(bystander, theirs), 4)
  const untouched = await rowsOf(bystander)
  const clicks = [...(await clicksOf(place, bound, 6)), ...(await clicksOf(place, free, 6))]
  const [mine, others] = [pour(6, reporter(place, clicks)), pour(1, reporter(bystander, theirClicks))]
  for (let round = 0; round < ROUNDS; round += 1) {
    const first = await connect(place)
    let second = ''
    const changes: (() => Promise<unknown>)[] = [
      () => bind(place, bound, first),
      () => alter(place, first, { event_map: ONLY_LEADS }),
      async () => (second = await connect(place)),
      () => alter(place, first, { state: 'off' }),
      () => bind(place, bound, second),
      () => Promise.all([alter(place, first, { state: 'active' }), bind(place, bound, null)]),
      () => Promise.all([alter(place, second, { state: 'off' }), alter(place, first, { event_map: EVENT_MAP })]),
      () => alter(place, second, { credentials: { access_token: TOKEN }, state: 'active' }),
      () => Promise.all([bind(place, bound, first), call(place, 'PATCH', `/api/campaigns/${bound}`, { name: 'N' })]),
      () => call(place, 'DELETE', `/api/ad-accounts/${second}`),
      () => bind(place, bound, null),
      () => call(place, 'DELETE', `/api/ad-accounts/${first}`),
    ]
    for (const change of changes) {
      for (const one of [mine, others]) one.begin()
      await mine.more(6)
      await change()
      await mine.more(6)
      for (const one of [mine, others]) await one.stop()
      await assertExact(place, bystander)
    }
  }
  assert.deepEqual(await rowsOf(bystander), untouched)
  assert.deepEqual((await toldOf(bystander)).toSorted(), others.recorded.toSorted())
  const told = await toldOf(place)
  assert.ok(told.length > 0 && told.length < mine.recorded.length, `${told.length} of ${mine.recorded.length} told`)
  // Each round has its own deadline, because the total depends on the machine.
  for (let left = await pending(); left > 0; left = await pending())
    await eventually('deliveries are sent or skipped', async () => (await pending()) < left)
  const heard = meta.taken.map(({ event }) => String(toUuid(event.event_id ?? '')))
  assert.equal(new Set(heard).size, heard.length, 'Meta hears of nothing twice')
  const out = new Set([...told, ...(await toldOf(bystander))])
  assert.deepEqual(
    heard.filter(id => !out.has(id)),
    [],
  )
})

test('what decides whom a conversion is told waits for those that are being decided, and is later than they; nothing else waits', async () => {
  const place = await settle()
  const [account, doomed] = [await connect(place), await connect(place)]
  const [id, other] = [await campaign(place), await campaign(place)]
  const holding = `select 1 from balances where org_id = ${place.org_id} for update`
  const changes: [table: 'ad_accounts' | 'campaigns', change: () => Promise<unknown>][] = [
    ['ad_accounts', () => connect(place)],
    ['ad_accounts', () => alter(place, account, { state: 'off' })],
    ['ad_accounts', () => alter(place, account, { event_map: ONLY_LEADS, state: 'active' })],
    ['ad_accounts', () => call(place, 'DELETE', `/api/ad-accounts/${doomed}`)],
    ['campaigns', () => bind(place, id, account)],
    ['campaigns', () => campaign(place, account)],
    ['campaigns', () => bind(place, id, null)],
  ]
  for (const [table, change] of changes) {
    const conversion = await house.database.worker.connect()
    try {
      await conversion.query('begin')
      await conversion.query(holding)
      const changing = change()
      await untilWaiting(house.database, 1)
      // None of these names an account. Only changes of one object wait for each other.
      await call(place, 'PATCH', `/api/campaigns/${other}`, { name: `before ${table}` })
      await campaign(place)
      const decided_at = new Date().toISOString()
      await conversion.query('commit')
      await changing
      const { rows } = await house.database.reads.query(
        `select from ${table} where org_id = $1 and updated_at >= $2 limit 1`,
        [place.org_id, decided_at],
      )
      assert.equal(rows.length, 1, table)
    } finally {
      conversion.release(true)
    }
  }
})

test('an account that is being disconnected is bound to no campaign, whichever comes first', async () => {
  const place = await settle()
  const holding = `select 1 from balances where org_id = ${place.org_id} for update`
  const send = (method: 'POST' | 'PATCH' | 'DELETE', url: string, body?: object) => () =>
    house.call(method, url, { cookie: place.cookie, ...(body && { body }) })
  const id = await campaign(place)
  const destination = { type: 'redirect', url: 'https://shop.example/' }
  for (const isFirst of [true, false]) {
    for (const isNew of [true, false]) {
      const ad_account_id = await connect(place)
      const disconnecting = send('DELETE', `/api/ad-accounts/${ad_account_id}`)
      const binding = isNew
        ? send('POST', '/api/campaigns', { name: 'New', destination, ad_account_id })
        : send('PATCH', `/api/campaigns/${id}`, { ad_account_id })
      const racers = isFirst ? [disconnecting, binding] : [binding, disconnecting]
      const [one, other] = await raceInto(house.database, holding, racers)
      assert.ok(one !== undefined && one.statusCode < 300, one?.body)
      assert.equal(other?.statusCode, isFirst ? 400 : 409, other?.body)
      assert.match(other.body, isFirst ? /no such ad account/ : /campaigns use this account/)
    }
  }
})
