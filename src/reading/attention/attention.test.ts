// What needs attention: each cause is a line while it lasts, in its own workspace alone.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { pino } from 'pino'
import { seedAdAccount } from '../../../tests/support/ad-accounts.ts'
import { seedCountedClicks } from '../../../tests/support/counted-clicks.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { newId, seedKey, toWireId, useHouse, type TestHouse } from '../../../tests/support/house.ts'
import { seedBot, seedPlainCampaign, seedOffer, seedRule } from '../../../tests/support/intake.ts'
import { seedChannel } from '../../../tests/support/invite-links.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { openFolder } from '../reports/fold.ts'
import { checkSegments } from '../segments/check.ts'
import type { AttentionLine } from './api.ts'

let house: TestHouse
let owner: SignedIn
let stranger: SignedIn
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
  stranger = await seedSignedIn(house)
})
after(() => house.end())

async function linesOf({ cookie }: Pick<SignedIn, 'cookie'> = owner): Promise<AttentionLine[]> {
  const reply = await house.call('GET', '/api/attention', { cookie })
  assert.equal(reply.statusCode, 200, reply.body)
  return reply.json<{ lines: AttentionLine[] }>().lines
}

const query = (text: string, values: unknown[] = []) => house.database.worker.query(text, values)
const now = () => new Date().toISOString()

/** Sets columns of a row of the owner's workspace. */
const set = (table: string, id: string, columns: string) =>
  query(`update ${table} set ${columns} where org_id = $1 and id = $2`, [owner.org_id, id])

/** Records that calls to a target fail and its breaker is open. */
const fail = (kind: 'postback' | 'ad_account', id: string) =>
  query(
    `insert into failing_targets (org_id, kind, target_id, failures, failing_since, pauses, paused_until)
    values ($1, $2, $3, 12, now(), 1, now() + interval '1 minute')`,
    [owner.org_id, kind, id],
  )
const succeed = (id: string) =>
  query('delete from failing_targets where org_id = $1 and target_id = $2', [owner.org_id, id])

async function seedDomain(name: string, columns: object): Promise<string> {
  const id = newId()
  const place = JSON.stringify({ type: 'not_found' })
  const own = { org_id: owner.org_id, id, name, https: 'optional', robots: 'refuse', records: '[]' }
  await house.database.kysely
    .insertInto('domains')
    .values({
      ...own,
      status: 'active',
      root: place,
      unknown_path: place,
      created_at: now(),
      updated_at: now(),
      ...columns,
    })
    .execute()
  return id
}

async function seedSpendAccount(columns: object): Promise<string> {
  const id = newId()
  const own = {
    org_id: owner.org_id,
    id,
    provider: 'meta',
    external_id: id,
    name: 'Main',
    token: Buffer.from('sealed'),
  }
  const rest = { token_hint: '…', level: 'ad', state: 'active', created_by: owner.user_id }
  const times = { due_at: now(), created_at: now(), updated_at: now() }
  await house.database.kysely
    .insertInto('spend_accounts')
    .values({ ...own, ...rest, ...times, ...columns })
    .execute()
  return id
}

async function seedPausedBroadcast(): Promise<string> {
  const id = newId()
  const own = { org_id: owner.org_id, id, bot_id: newId(), name: 'Winter', message: '{}', audience: '{}' }
  const counts = { recipients: 10, sent: 6, blocked: 1 }
  const state = { state: 'paused', pause_reason: 'Telegram refuses the token of this bot' }
  await house.database.kysely
    .insertInto('broadcasts')
    .values({ ...own, ...counts, ...state, created_at: now(), updated_at: now() })
    .execute()
  return id
}

async function seedReachedCap(object: 'offer' | 'campaign', object_id: string): Promise<string> {
  const id = newId()
  const own = { org_id: owner.org_id, id, object, object_id, metric: 'conversions', event_types: [], limit: 7 }
  const rest = { period: 'day', timezone: 'UTC', when_unknown: 'open', active: true }
  const closed_until = new Date(Date.now() + DAY_MS).toISOString()
  await house.database.kysely
    .insertInto('caps')
    .values({ ...own, ...rest, closed_until, created_at: now(), updated_at: now() })
    .execute()
  return id
}

type Case = {
  kind: AttentionLine['kind']
  /** Creates the cause; returns the expected line and what ends it. */
  make: () => Promise<{ says: Partial<AttentionLine>; cure: () => Promise<unknown> }>
}

const adAccount = async (columns: { state: 'active' | 'broken' }) =>
  await seedAdAccount(house.database, owner.org_id, columns)
const says = (id: string | null, name: string | null, count = 1) => ({
  id: id === null ? null : toWireId(id),
  name,
  count,
})

const CASES: readonly Case[] = [
  {
    kind: 'ad_account_broken',
    async make() {
      const id = await adAccount({ state: 'broken' })
      await set('ad_accounts', id, `state_reason = 'the token has expired'`)
      return {
        says: { ...says(id, 'Account'), reason: 'the token has expired' },
        cure: () => set('ad_accounts', id, `state = 'active'`),
      }
    },
  },
  {
    kind: 'ad_account_failing',
    async make() {
      const id = await adAccount({ state: 'active' })
      await fail('ad_account', id)
      return { says: says(id, 'Account', 12), cure: () => succeed(id) }
    },
  },
  {
    kind: 'postback_failing',
    async make() {
      const id = await seedRule(house.database, owner.org_id, {
        event_type: 'ftd',
        url: 'https://tracker.example:8443/hook?e={event_id}',
      })
      await fail('postback', id)
      return { says: says(id, 'tracker.example:8443', 12), cure: () => succeed(id) }
    },
  },
  {
    kind: 'postback_off',
    async make() {
      const id = await seedRule(house.database, owner.org_id, { event_type: 'ftd', url: 'https://gone.example/' })
      await set(
        'postback_rules',
        id,
        `active = false, switched_off_at = now(), switched_off_reason = 'no answer for five days'`,
      )
      return {
        says: { ...says(id, 'gone.example'), reason: 'no answer for five days' },
        cure: async () => {
          const { cookie } = owner
          const reply = await house.call('PATCH', `/api/postbacks/${toWireId(id)}`, { cookie, body: { active: true } })
          assert.equal(reply.statusCode, 200, reply.body)
        },
      }
    },
  },
  {
    kind: 'spend_unreadable',
    async make() {
      const fault = { fault_code: 'token_refused', fault_words: 'Meta says: no', fault_since: now() }
      const id = await seedSpendAccount(fault)
      // A passing fault is not listed yet.
      await seedSpendAccount({ ...fault, fault_code: 'rate_limited' })
      return {
        says: { ...says(id, 'Main'), reason: 'Meta says: no' },
        cure: () => set('spend_accounts', id, 'fault_code = null'),
      }
    },
  },
  {
    kind: 'calls_refused',
    async make() {
      const { cookie } = owner
      const key = (await seedKey(house.database, owner, { rights: ['events'] })).secret
      for (const clickId of ['{click_id}', '{clickid}'])
        await house.call('POST', '/api/events', { key, body: { clickId, type: 'lead' } })
      await eventually('both are stored', async () => {
        const { data } = (await house.call('GET', '/api/refused-events', { cookie })).json<{ data: unknown[] }>()
        return data.length === 2
      })
      return {
        says: { ...says(null, null, 2), reason: 'Macro not replaced' },
        cure: () => query(`update refused_events set state = 'recorded' where org_id = $1`, [owner.org_id]),
      }
    },
  },
  {
    kind: 'macros_unfilled',
    async make() {
      const id = await seedPlainCampaign(house.database, owner.org_id)
      for (const [day, clicks] of [
        [0, 4],
        [1, 9],
      ] as const)
        await query(`insert into source_faults values ($1, $2, $3, 'sub1', 'unreplaced', 'zone', '{zone}', $4)`, [
          owner.org_id,
          id,
          dayOf(Date.now() - day * DAY_MS),
          clicks,
        ])
      return {
        says: { ...says(id, 'Campaign', 4), reason: 'zone', since: `${dayOf(Date.now() - DAY_MS)}T00:00:00.000Z` },
        cure: () =>
          query('delete from source_faults where org_id = $1 and day = $2', [owner.org_id, dayOf(Date.now())]),
      }
    },
  },
  {
    kind: 'bot_refused',
    async make() {
      const id = await seedBot(house.database, owner.org_id, 'refused_bot')
      await set('bots', id, `token_state = 'revoked'`)
      return { says: says(id, '@refused_bot'), cure: () => set('bots', id, `token_state = 'ok'`) }
    },
  },
  {
    kind: 'bot_hook_lost',
    async make() {
      const id = await seedBot(house.database, owner.org_id, 'hooked_bot')
      await set('bots', id, `hook_state = 'stolen', hook_host = 'other.example'`)
      return {
        says: { ...says(id, '@hooked_bot'), reason: 'other.example' },
        cure: () => set('bots', id, `hook_state = 'set'`),
      }
    },
  },
  {
    kind: 'channel_lost',
    async make() {
      const { id } = await seedChannel(house.database.kysely, owner.org_id, { state: 'no_rights' })
      await set('channels', id, `state_reason = '@a_bot may not invite'`)
      return {
        says: { ...says(id, 'Deals'), reason: '@a_bot may not invite' },
        cure: () => set('channels', id, `state = 'ready', state_reason = null`),
      }
    },
  },
  {
    kind: 'channel_links_low',
    async make() {
      const { id } = await seedChannel(house.database.kysely, owner.org_id)
      await set('channels', id, `notice = 'pool'`)
      return { says: says(id, 'Deals'), cure: () => set('channels', id, 'notice = null') }
    },
  },
  {
    kind: 'broadcast_stopped',
    async make() {
      const id = await seedPausedBroadcast()
      return {
        says: { ...says(id, 'Winter', 3), reason: 'Telegram refuses the token of this bot' },
        cure: () => set('broadcasts', id, `pause_reason = null`),
      }
    },
  },
  {
    kind: 'domain_failing',
    async make() {
      const id = await seedDomain('xn--fller-kva.test', { status: 'failing', failing_since: now(), is_default: true })
      const campaigns = await query('select from campaigns where org_id = $1 and deleted_at is null', [owner.org_id])
      return {
        says: says(id, 'füller.test', campaigns.rowCount ?? 0),
        cure: () => set('domains', id, `status = 'active', failing_since = null, is_default = false`),
      }
    },
  },
  {
    kind: 'domain_flagged',
    async make() {
      const since = '2026-11-01T10:00:00.000Z'
      const flagged = JSON.stringify({ threats: ['MALWARE'], since })
      const id = await seedDomain('flagged.test', { flagged })
      return { says: { ...says(id, 'flagged.test', 0), since }, cure: () => set('domains', id, 'flagged = null') }
    },
  },
  {
    kind: 'domain_lost',
    async make() {
      const id = await seedDomain('lost.test', { status: 'lost' })
      return { says: says(id, 'lost.test', 0), cure: () => set('domains', id, 'deleted_at = now()') }
    },
  },
  {
    kind: 'cap_reached',
    async make() {
      const offer = await seedOffer(house.database, owner.org_id)
      const id = await seedReachedCap('offer', offer)
      const { cookie } = owner
      return {
        says: { ...says(offer, 'Offer', 7), object: 'offer' },
        cure: async () => {
          const reply = await house.call('DELETE', `/api/caps/${toWireId(id)}`, { cookie })
          assert.equal(reply.statusCode, 200, reply.body)
        },
      }
    },
  },
  {
    kind: 'balance_low',
    async make() {
      await query(
        `update balances set balance = 0.5, price_per_person = 0.05, low_balance_threshold = 1 where org_id = $1`,
        [owner.org_id],
      )
      return {
        says: { ...says(null, null), reason: '0.5' },
        cure: async () => {
          const { cookie } = owner
          await house.call('PUT', '/api/billing/low-balance', { cookie, body: { low_balance_threshold: '0.2' } })
        },
      }
    },
  },
  {
    kind: 'balance_empty',
    async make() {
      await query(`update balances set balance = -0.5, price_per_person = 0.05 where org_id = $1`, [owner.org_id])
      return {
        says: { ...says(null, null), reason: '-0.5' },
        cure: async () => {
          await query('update balances set balance = 0 where org_id = $1', [owner.org_id])
          await house.call('PUT', '/api/billing/price-per-person', {
            cookie: owner.cookie,
            body: { price_per_person: '0' },
          })
        },
      }
    },
  },
]

for (const { kind, make } of CASES)
  test(`${kind} is a line as long as its cause is there, in its own workspace alone`, async () => {
    const ofKind = async (as?: SignedIn) => (await linesOf(as)).filter(line => line.kind === kind)
    assert.deepEqual(await ofKind(), [])
    const { says: expected, cure } = await make()
    const [line, ...more] = await ofKind()
    assert.ok(line !== undefined && more.length === 0, `${more.length + 1} lines`)
    const since = line.since === null ? null : new Date(line.since).toISOString()
    for (const [field, value] of Object.entries(expected))
      assert.deepEqual(field === 'since' ? since : line[field as keyof AttentionLine], value, field)
    const member = await seedSignedIn(house, { place: owner, role: 'member' })
    assert.equal((await ofKind(member)).length, 1)
    assert.deepEqual(await linesOf(stranger), [])
    await cure()
    assert.deepEqual(await ofKind(), [])
  })

test('a line has the spend and revenue a day of the affected campaigns, and within a kind the costliest comes first', async () => {
  const place = await seedSignedIn(house)
  const { org_id } = place
  const [cheap, dear, idle] = [
    await seedPlainCampaign(house.database, org_id),
    await seedPlainCampaign(house.database, org_id),
    await seedPlainCampaign(house.database, org_id),
  ]
  const yesterday = dayOf(Date.now() - DAY_MS)
  const at = Date.parse(yesterday) + DAY_MS / 2
  await seedCountedClicks(house.database, org_id, [
    { at, campaign_id: cheap, revenue: '7' },
    { at, campaign_id: dear, revenue: '70.07' },
    // Neither today nor before the seven days.
    { campaign_id: dear, revenue: '1000' },
    { at: at - 7 * DAY_MS, campaign_id: dear, revenue: '1000' },
  ])
  const { cookie } = place
  const body = { campaign_id: toWireId(dear), day: yesterday, amount: '35.04' }
  assert.equal((await house.call('PUT', '/api/ad-spend', { cookie, body })).statusCode, 200)
  for (const id of [cheap, idle, dear])
    await query(`insert into source_faults values ($1, $2, $3, 'sub1', 'unreplaced', 'zone', '{zone}', 1)`, [
      org_id,
      id,
      dayOf(Date.now()),
    ])
  const lines = (await linesOf(place)).filter(({ kind }) => kind === 'macros_unfilled')
  assert.deepEqual(
    lines.map(({ id, spend_per_day, revenue_per_day }) => [id, spend_per_day, revenue_per_day]),
    [
      [toWireId(dear), '5.01', '10.01'],
      [toWireId(cheap), null, '1.00'],
      [toWireId(idle), null, null],
    ],
  )
})

test('a periodic job that fails is a line for owners and admins of the first workspace alone', async () => {
  const { rows } = await query('select org_id from organizations where deleted_at is null order by created_at limit 1')
  const place = { ...owner, org_id: (rows[0] as { org_id: number }).org_id }
  const [admin, member] = [
    await seedSignedIn(house, { place, role: 'admin' }),
    await seedSignedIn(house, { place, role: 'member' }),
  ]
  const process_id = newId()
  await query(`insert into failing_rounds values ($1, 'reports/fold', '2026-03-31T12:30:00Z', now())`, [process_id])
  const jobs = async (as: SignedIn) =>
    (await linesOf(as)).filter(({ kind }) => kind === 'job_failing').map(({ name }) => name)
  const told = [await jobs(admin), await jobs(member), await jobs(stranger)]
  await query('delete from failing_rounds where process_id = $1', [process_id])
  assert.deepEqual(told, [['reports/fold'], [], []])
  assert.deepEqual(await jobs(admin), [])
})

test('days whose clicks are missing in Explore are a line until they are rebuilt', async () => {
  const place = await seedSignedIn(house)
  const days = [1, 2, 3].map(ago => Date.now() - ago * DAY_MS)
  // Counted by the report, without sheets to make segments of.
  await seedCountedClicks(
    house.database,
    place.org_id,
    days.map(at => ({ at })),
  )
  const incomplete = async () => (await linesOf(place)).filter(({ kind }) => kind === 'days_incomplete')
  const [line] = await incomplete()
  assert.deepEqual([line?.count, line?.since?.slice(0, 10)], [3, dayOf(days[2] ?? 0)])
  const folder = openFolder({ database: house.database, log: pino({ level: 'silent' }) }, DAY_MS)
  await folder.foldAll()
  await folder.close()
  await eventually('they are built', async () => {
    await checkSegments(house.ground)
    return (await incomplete()).length === 0
  })
})

test('only people who are signed in may ask', async () => {
  const { secret: key } = await seedKey(house.database, owner, { rights: ['report', 'clicks'] })
  const byKey = await house.call('GET', '/api/attention', { key })
  assert.deepEqual([byKey.statusCode, byKey.data()['code']], [403, 'api_key_resource_forbidden'])
  assert.equal((await house.call('GET', '/api/attention')).statusCode, 401)
})
