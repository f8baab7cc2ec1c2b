// Spreading an amount over clicks, through the door: its division, what overrides it, and taking it back.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { pino } from 'pino'
import { type ClickSeed, seedCountedClicks } from '../../../tests/support/counted-clicks.ts'
import { seedKey, startHouse, type TestHouse } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { newId, toUuid } from '../../contract/ids.ts'
import { openFolder } from '../../reading/reports/fold.ts'

let house: TestHouse
before(async () => {
  house = await startHouse()
})
after(() => house.end())

const DAY = '2026-03-02'
const WHOLE = { from: `${DAY}T00:00:00Z`, to: '2026-03-03T00:00:00Z' }
const destination = { type: 'redirect', url: 'https://shop.example/?c={click_id}' }

async function campaignOf(owner: SignedIn, fields: object = {}): Promise<string> {
  const reply = await house.call('POST', '/api/campaigns', { ...owner, body: { name: 'Push', destination, ...fields } })
  return reply.json<{ id: string }>().id
}

/** Inserts clicks of the campaign at these moments with this sub1. */
const clicks = (owner: SignedIn, campaign: string, sub1: string | null, ...at: string[]) =>
  seedCountedClicks(
    house.database,
    owner.org_id,
    at.map((moment): ClickSeed => ({ at: Date.parse(moment), campaign_id: toUuid(campaign) ?? '', sub1 })),
  )

const ask = (as: { cookie?: string; key?: string }, campaign_id: string, fields: object = {}) => {
  const body = { campaign_id, ...WHOLE, amount: '100', dry_run: false, ...fields }
  return house.call('POST', '/api/ad-spend/spreads', { ...as, body })
}
type Spread = {
  id: string
  counting: string
  taken_back_at: string | null
  created_by: string
  taken_back_by: string | null
}
const listed = async (as: SignedIn) =>
  (await house.call('GET', '/api/ad-spend/spreads', as)).json<{ data: Spread[] }>().data

async function spread(as: SignedIn, campaign_id: string, fields: object = {}) {
  const reply = await ask(as, campaign_id, fields)
  assert.equal(reply.statusCode, 200, reply.body)
  return reply.json<{
    spread: Spread
    clicks: number
    cells: number
    days: { day: string; clicks: number; amount: string }[]
  }>()
}

async function refused(code: string, as: SignedIn, campaign_id: string, fields: object, words?: RegExp) {
  const before = await booked(as)
  const reply = await ask(as, campaign_id, fields)
  assert.deepEqual([reply.statusCode, reply.data()['code']], [409, code], reply.body)
  if (words !== undefined) assert.match(String(reply.data()['error']), words)
  assert.deepEqual(await booked(as), before)
}

/** The booked spend of an organization, and the number of its spreads. */
async function booked({ org_id }: SignedIn) {
  const { rows } = await house.database.reads.query<{ told: string }>(
    `select concat_ws(' ', day::text, sub1, trim_scale(amount)) as told from booked_spend where org_id = $1 order by day, sub1, amount desc`,
    [org_id],
  )
  return rows.map(({ told }) => told)
}

async function costs(
  as: SignedIn,
  dimension: string,
  window = `date_from=${DAY}T00:00:00Z&date_to=2026-03-06T00:00:00Z`,
) {
  const reply = await house.call('GET', `/api/report?dimension=${dimension}&${window}`, as)
  type Row = { key: string; cost: string; cost_source: string | null }
  const { rows, totals } = reply.json<{ rows: Row[]; totals: Row }>()
  return {
    rows: Object.fromEntries(rows.map(({ key, cost }) => [key, cost])),
    total: `${totals.cost} ${totals.cost_source}`,
  }
}

async function holds(as: SignedIn) {
  const told = (await house.call('GET', '/api/billing/reconciliation', as)).data()
  assert.equal(told['holds'], true, JSON.stringify(told))
}

/** Books spend of an ad account for a day of the campaign. */
async function bookForAccount({ org_id }: SignedIn, campaign_id: string, day: string): Promise<void> {
  const account_id = newId()
  const { worker } = house.database
  await worker.query(
    `insert into account_spend (org_id, account_id, day, external_id, name, amount, is_estimated, campaign_id, sub1)
    values ($1, $2, $3, '1', 'Ad', 40, false, $4, '')`,
    [org_id, account_id, day, campaign_id],
  )
  await worker.query(
    `insert into booked_spend (org_id, day, campaign_id, sub1, origin, amount) values ($1, $2, $3, '', 'account:' || $4, 40)`,
    [org_id, day, campaign_id, account_id],
  )
}

test('an amount is divided by clicks to the last millionth, stays as it was divided, and is taken back whole', async () => {
  const owner = await seedSignedIn(house)
  const campaign = await campaignOf(owner)
  for (const sub1 of ['a', 'b', null]) await clicks(owner, campaign, sub1, `${DAY}T10:00:00Z`)
  await clicks(owner, await campaignOf(owner), 'a', `${DAY}T10:00:00Z`)
  const dry = await ask(owner, campaign, { dry_run: true })
  assert.deepEqual([dry.data()['spread'], await booked(owner), await listed(owner)], [null, [], []])
  const told = await spread(owner, campaign)
  assert.deepEqual({ ...told, dry_run: true, spread: null }, dry.data())
  assert.deepEqual([told.clicks, told.cells, told.days], [3, 3, [{ day: DAY, clicks: 3, amount: '100' }]])
  assert.deepEqual(await booked(owner), [`${DAY}  33.333334`, `${DAY} a 33.333333`, `${DAY} b 33.333333`])
  assert.deepEqual(await costs(owner, 'sub1'), {
    rows: { '': '33.33', a: '33.33', b: '33.33' },
    total: '100.00 spread',
  })
  assert.equal((await costs(owner, 'campaign')).total, '100.00 spread')
  await clicks(owner, campaign, 'c', `${DAY}T11:00:00Z`)
  assert.deepEqual((await costs(owner, 'sub1')).rows, { '': '33.33', a: '33.33', b: '33.33', c: '0.00' })
  const [one] = await listed(owner)
  assert.deepEqual(one, told.spread)
  assert.deepEqual([one?.counting, one?.taken_back_at], ['100', null])
  await holds(owner)
  const gone = await house.call('DELETE', `/api/ad-spend/spreads/${told.spread.id}`, owner)
  assert.deepEqual([gone.statusCode, gone.data()], [200, { ok: true }])
  assert.deepEqual([await booked(owner), (await costs(owner, 'day')).total], [[], '0.00 null'])
  const [back] = await listed(owner)
  assert.ok(back?.taken_back_at !== null && back?.counting === '0' && back.taken_back_by === back.created_by)
  assert.equal((await house.call('DELETE', `/api/ad-spend/spreads/${told.spread.id}`, owner)).statusCode, 404)
  await holds(owner)
})

test('days of another zone follow each other, and share the UTC day that both are in', async () => {
  const owner = await seedSignedIn(house)
  const campaign = await campaignOf(owner)
  await clicks(owner, campaign, null, '2026-03-01T21:59:59.999Z', '2026-03-01T22:00:00Z', `${DAY}T21:59:59.999Z`)
  await clicks(owner, campaign, null, `${DAY}T22:00:00Z`, '2026-03-03T21:59:59Z', '2026-03-03T22:00:00Z')
  const first = await spread(owner, campaign, {
    from: `${DAY}T00:00:00+02:00`,
    to: '2026-03-03T00:00:00+02:00',
    amount: 10,
  })
  assert.deepEqual(first.days, [
    { day: '2026-03-01', clicks: 1, amount: '5' },
    { day: DAY, clicks: 1, amount: '5' },
  ])
  await spread(owner, campaign, { from: '2026-03-03T00:00:00+02:00', to: '2026-03-04T00:00:00+02:00', amount: 7 })
  assert.deepEqual(await booked(owner), ['2026-03-01  5', `${DAY}  5`, `${DAY}  3.5`, '2026-03-03  3.5'])
  const window = 'date_from=2026-03-01T00:00:00Z&date_to=2026-03-03T23:59:59Z'
  const by = { '2026-03-01': '5.00', [DAY]: '8.50', '2026-03-03': '3.50' }
  assert.deepEqual(await costs(owner, 'day', window), { rows: by, total: '17.00 spread' })
})

test('it is divided alike before clicks are folded and afterwards, by tracked clicks, of one sub1 alone where that is meant', async () => {
  const owner = await seedSignedIn(house)
  const campaign = await campaignOf(owner)
  await clicks(owner, campaign, 'a', `${DAY}T10:00:00Z`, `${DAY}T23:59:59.999Z`, '2026-03-04T00:00:00Z')
  await clicks(owner, campaign, 'b', '2026-03-03T10:00:00Z', '2026-03-05T00:00:00Z')
  const bot = { at: Date.parse(`${DAY}T12:00:00Z`), campaign_id: toUuid(campaign) ?? '', sub1: 'a', tracked: false }
  await seedCountedClicks(house.database, owner.org_id, [bot])
  const folder = openFolder({ database: house.database, log: pino({ level: 'silent' }) })
  const whole = { to: '2026-03-05T00:00:00Z', dry_run: true }
  const cutShort = { from: `${DAY}T10:00:00.001Z`, to: '2026-03-04T00:00:00.001Z', dry_run: true }
  const seen = async () => {
    const all = [(await spread(owner, campaign, whole)).days, (await spread(owner, campaign, cutShort)).days]
    return [...all, (await spread(owner, campaign, { ...whole, sub1: 'a' })).days]
  }
  const unfolded = await seen()
  assert.deepEqual(unfolded, [
    [
      { day: DAY, clicks: 2, amount: '50' },
      { day: '2026-03-03', clicks: 1, amount: '25' },
      { day: '2026-03-04', clicks: 1, amount: '25' },
    ],
    [
      { day: DAY, clicks: 1, amount: '33.333334' },
      { day: '2026-03-03', clicks: 1, amount: '33.333333' },
      { day: '2026-03-04', clicks: 1, amount: '33.333333' },
    ],
    [
      { day: DAY, clicks: 2, amount: '66.666667' },
      { day: '2026-03-04', clicks: 1, amount: '33.333333' },
    ],
  ])
  await folder.foldAll()
  await folder.close()
  assert.deepEqual(await seen(), unfolded)
  await spread(owner, campaign, { ...whole, sub1: 'a', dry_run: false })
  assert.deepEqual(await booked(owner), [`${DAY} a 66.666667`, '2026-03-03 a 0', '2026-03-04 a 33.333333'])
})

test('spend that is recorded by day takes its place, and it takes that of accounts and of the clicks’ own cost', async () => {
  const owner = await seedSignedIn(house)
  const campaign = await campaignOf(owner)
  const id = toUuid(campaign) ?? ''
  const cost = { campaign_id: id, cost: '2', cost_counts: true, at: Date.parse(`${DAY}T10:00:00Z`) }
  await seedCountedClicks(house.database, owner.org_id, [
    { ...cost, sub1: 'a' },
    { ...cost, sub1: 'b' },
  ])
  await bookForAccount(owner, id, DAY)
  assert.equal((await costs(owner, 'day')).total, '40.00 account')
  const { spread: made } = await spread(owner, campaign, { amount: '10' })
  assert.deepEqual(await booked(owner), [`${DAY}  40`, `${DAY}  0`, `${DAY} a 5`, `${DAY} b 5`])
  assert.deepEqual(await costs(owner, 'sub1'), { rows: { a: '5.00', b: '5.00' }, total: '10.00 spread' })
  const put = (amount: string | null, sub1?: string) =>
    house.call('PUT', '/api/ad-spend', { ...owner, body: { campaign_id: campaign, day: DAY, amount, sub1 } })
  await put('7', 'a')
  assert.equal((await costs(owner, 'sub1')).total, '12.00 mixed')
  assert.equal((await listed(owner))[0]?.counting, '5')
  await put('9')
  assert.equal((await costs(owner, 'day')).total, '16.00 manual')
  assert.equal((await listed(owner))[0]?.counting, '0')
  await put(null)
  await put(null, 'a')
  assert.equal((await costs(owner, 'day')).total, '10.00 spread')
  await house.call('DELETE', `/api/ad-spend/spreads/${made.id}`, owner)
  assert.equal((await costs(owner, 'day')).total, '40.00 account')
  // Booked without an account row, which the audit would report.
  for (const table of ['booked_spend', 'account_spend'])
    await house.database.worker.query(`delete from ${table} where org_id = $1`, [owner.org_id])
  await holds(owner)
})

test('each refusal says what stands against it, and changes nothing', async () => {
  const owner = await seedSignedIn(house)
  const campaign = await campaignOf(owner)
  await refused('no_clicks_to_spread', owner, campaign, {})
  await clicks(owner, campaign, 'a', `${DAY}T10:00:00Z`, '2026-03-03T10:00:00Z')
  await refused('no_clicks_to_spread', owner, campaign, { sub1: 'b' })
  const put = (day: string, amount: string | null, sub1?: string) =>
    house.call('PUT', '/api/ad-spend', { ...owner, body: { campaign_id: campaign, day, amount, sub1 } })
  const two = { to: '2026-03-04T00:00:00Z' }
  await put('2026-03-03', '5')
  await put(DAY, '5', 'a')
  await put(DAY, '5', 'other')
  await refused('cells_taken', owner, campaign, two, /2026-03-02 with sub1 a, 2026-03-03$/)
  await put('2026-03-03', null)
  await put(DAY, null, 'a')
  await spread(owner, campaign, two)
  const again = { from: '2026-03-03T23:59:59.999Z', to: '2026-03-05T00:00:00Z' }
  await clicks(owner, campaign, 'a', '2026-03-04T10:00:00Z')
  await refused('spread_overlaps', owner, campaign, again, /2026-03-02T00:00:00.000Z to 2026-03-04T00:00:00.000Z/)
  await spread(owner, campaign, { ...again, from: '2026-03-04T00:00:00Z' })
  await spread(owner, campaign, { ...two, sub1: 'a' })
})

test('a UTC day is covered whole where it has cost of its clicks or of an account', async () => {
  const owner = await seedSignedIn(house)
  const campaign = await campaignOf(owner)
  const id = toUuid(campaign) ?? ''
  const cost = { campaign_id: id, cost: '2', cost_counts: true }
  await seedCountedClicks(house.database, owner.org_id, [
    { ...cost, sub1: 'a', at: Date.parse(`${DAY}T03:00:00Z`) },
    { campaign_id: id, sub1: 'b', at: Date.parse(`${DAY}T12:00:00Z`) },
    { campaign_id: id, sub1: 'b', at: Date.parse('2026-03-03T12:00:00Z') },
  ])
  const late = { from: `${DAY}T10:00:00Z`, to: '2026-03-04T00:00:00Z' }
  await refused(
    'partial_day',
    owner,
    campaign,
    late,
    /^2026-03-02 is covered only in part, but the whole day’s cost of clicks/,
  )
  const folder = openFolder({ database: house.database, log: pino({ level: 'silent' }) })
  await folder.foldAll()
  await folder.close()
  await refused('partial_day', owner, campaign, late, /^2026-03-02 /)
  await spread(owner, campaign, { ...late, sub1: 'b', dry_run: true })
  await spread(owner, campaign, { ...late, from: `${DAY}T00:00:00Z`, dry_run: true })
  const early = { ...WHOLE, to: '2026-03-03T13:00:00Z' }
  await spread(owner, campaign, { ...early, dry_run: true })
  await bookForAccount(owner, id, '2026-03-03')
  await refused(
    'partial_day',
    owner,
    campaign,
    early,
    /^2026-03-03 is covered only in part, but the whole day’s spend of ad accounts/,
  )
})

test('a window, an amount or a campaign that cannot be meant is refused, and so is whoever may not', async () => {
  const owner = await seedSignedIn(house)
  const campaign = await campaignOf(owner)
  await clicks(owner, campaign, 'a', `${DAY}T10:00:00Z`)
  const { spread: made } = await spread(owner, campaign)
  const other = await seedSignedIn(house)
  const future = new Date(Date.now() + 60_000).toISOString()
  for (const [fields, status, error] of [
    [{ to: WHOLE.from }, 400, /to is not after from/],
    [{ from: '2026-01-01T00:00:00Z', to: '2026-04-03T01:00:00.001Z' }, 400, /window/],
    [{ from: new Date().toISOString(), to: future }, 400, /to is in the future/],
    [{ amount: '0' }, 400, /^amount: must be more than 0/],
    [{ amount: '-1' }, 400, /^amount/],
    [{ amount: '1,5' }, 400, /^amount/],
    [{ currency: 'euro.' }, 400, /^currency: must be a currency code/],
    [{ currency: 'EUR' }, 422, /no rate of EUR is known for 2026-03-02/],
    [{ from: '30 February' }, 400, /^from/],
    [{ dry_run: undefined }, 400, /^dry_run/],
    [{ sub1: 5 }, 400, /^sub1/],
  ] as const) {
    const reply = await ask(owner, campaign, fields)
    assert.equal(reply.statusCode, status, JSON.stringify(fields))
    assert.match(String(reply.data()['error']), error)
  }
  assert.equal((await ask(other, campaign)).statusCode, 404)
  assert.deepEqual(await listed(other), [])
  assert.equal((await house.call('DELETE', `/api/ad-spend/spreads/${made.id}`, other)).statusCode, 404)
  assert.equal((await house.call('DELETE', '/api/ad-spend/spreads/nothing', owner)).statusCode, 404)
  const member = await seedSignedIn(house, { place: owner, role: 'member' })
  assert.equal((await ask(member, campaign)).statusCode, 403)
  assert.equal((await house.call('DELETE', `/api/ad-spend/spreads/${made.id}`, member)).statusCode, 403)
  assert.equal((await listed(member)).length, 1)
  const { secret: key } = await seedKey(house.database, owner, { rights: ['ad-spend', 'report'] })
  for (const [method, path] of [
    ['GET', ''],
    ['POST', ''],
    ['DELETE', `/${made.id}`],
  ] as const) {
    const reply = await house.call(method, `/api/ad-spend/spreads${path}`, {
      key,
      ...(method === 'POST' && { body: {} }),
    })
    assert.deepEqual([reply.statusCode, reply.data()['code']], [403, 'api_key_resource_forbidden'])
  }
  assert.deepEqual(await booked(owner), [`${DAY}  0`, `${DAY} a 100`])
})

test('an amount in another currency is divided in it, and each part is booked by the rate of its day', async () => {
  const owner = await seedSignedIn(house)
  const campaign = await campaignOf(owner)
  for (const sub1 of ['a', 'b']) await clicks(owner, campaign, sub1, `${DAY}T10:00:00Z`)
  await clicks(owner, campaign, 'a', '2026-03-03T10:00:00Z')
  for (const [from_day, usd_per_unit] of [
    [DAY, '1.1'],
    ['2026-03-03', '1.2'],
  ]) {
    const rate = await house.call('PUT', '/api/rates/EUR', { ...owner, body: { from_day, usd_per_unit } })
    assert.ok(rate.statusCode < 300, rate.body)
  }
  const euros = { amount: '10', currency: 'eur', to: '2026-03-04T00:00:00Z' }
  const told = await spread(owner, campaign, euros)
  // 3.333334 and 3.333333 at 1.1, 3.333333 at 1.2.
  assert.deepEqual(await booked(owner), [
    `${DAY}  0`,
    `${DAY} a 3.666667`,
    `${DAY} b 3.666666`,
    '2026-03-03  0',
    '2026-03-03 a 4',
  ])
  const [one] = await listed(owner)
  assert.deepEqual(one, { ...told.spread, amount: '11.333333', original: { original_amount: '10', currency: 'EUR' } })
  assert.equal((await costs(owner, 'day')).total, '11.33 spread')
  await holds(owner)
})

test('of many at once one is spread, and one takes it back', async () => {
  const owner = await seedSignedIn(house)
  const campaign = await campaignOf(owner)
  await clicks(owner, campaign, 'a', `${DAY}T10:00:00Z`)
  const replies = await Promise.all(Array.from({ length: 8 }, () => ask(owner, campaign)))
  const codes = replies.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b)
  assert.deepEqual(codes, [200, ...Array.from({ length: 7 }, () => 409)])
  assert.equal((await costs(owner, 'day')).total, '100.00 spread')
  const [one] = await listed(owner)
  const gone = await Promise.all(
    Array.from({ length: 8 }, () => house.call('DELETE', `/api/ad-spend/spreads/${one?.id}`, owner)),
  )
  const statuses = gone.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b)
  assert.deepEqual(statuses, [200, ...Array.from({ length: 7 }, () => 404)])
  await holds(owner)
})
