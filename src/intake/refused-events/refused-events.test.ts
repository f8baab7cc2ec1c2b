// Refused events through the gate: which are kept, running them again, and who may see them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { pino } from 'pino'
import { eventually } from '../../../tests/support/eventually.ts'
import { newId, seedKey, useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { seedBot, seedPlainCampaign, seedClick, tally } from '../../../tests/support/intake.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { firstIdAt } from '../../contract/ids.ts'
import { Refusal } from '../../contract/refusals.ts'
import type { RefusedEvent } from './api.ts'
import { openKeeper } from './keep.ts'
import { dropOldRefused } from './retention.ts'

type Row = Omit<RefusedEvent, 'id'> & { id: string }

let house: TestHouse
let owner: SignedIn
let other: SignedIn
let member: SignedIn
let key: string
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
  other = await seedSignedIn(house)
  member = await seedSignedIn(house, { place: owner, role: 'member' })
  key = (await seedKey(house.database, owner, { rights: ['events'] })).secret
})
after(() => house.end())

const send = (body: unknown, secret = key, headers: Record<string, string> = {}) =>
  house.call('POST', '/api/events', { key: secret, body, headers })
const list = async (query = '', as = owner) =>
  (await house.call('GET', `/api/refused-events?limit=200${query}`, as)).json<{ data: Row[] }>().data
const run = (id: string, as = owner) => house.call('POST', `/api/refused-events/${id}/run`, as)

/** Waits, because refused events are written after the answer. */
async function kept(of: (row: Row) => boolean, as = owner): Promise<Row> {
  let found: Row | undefined
  await eventually('it is kept', async () => {
    found = (await list('', as)).find(of)
    return found !== undefined
  })
  return found ?? assert.fail()
}

test('each refusal of a conversion is kept with what was sent and why', async () => {
  const click = toWireId(await seedClick(house.database, owner.org_id))
  const campaign = await seedPlainCampaign(house.database, owner.org_id)
  const narrow = (await seedKey(house.database, owner, { rights: ['events'], campaigns: [campaign] })).secret
  const unfit = (await seedKey(house.database, owner, { rights: ['report'] })).secret
  const cases: [status: number, diagnosis: string, body: Record<string, unknown>, secret?: string][] = [
    [400, 'click_id_missing', { type: 'lead' }],
    [400, 'click_id_missing', { clickId: '', type: 'lead' }],
    [400, 'type_unknown', { clickId: click, type: 'sale' }],
    [400, 'macro_not_replaced', { clickId: click, type: '{status}' }],
    [400, 'payout_invalid', { clickId: click, type: 'lead', payout: -1 }],
    [400, 'macro_not_replaced', { clickId: click, type: 'lead', payout: '{payout}' }],
    [400, 'nonce_invalid', { clickId: click, type: 'lead', nonce: '' }],
    [400, 'body_invalid', { clickId: click, type: 'lead', payload: 'text' }],
    [400, 'telegram_user_id_invalid', { clickId: click, type: 'lead', payload: { telegram_user_id: true } }],
    [422, 'telegram_user_id_missing', { clickId: click, type: 'bot_start' }],
    [
      403,
      'bot_unknown',
      { clickId: click, type: 'bot_start', payload: { telegram_user_id: 7, bot_username: 'nobody_bot' } },
    ],
    [403, 'macro_not_replaced', { clickId: '{click_id}', type: 'lead' }],
    [403, 'click_id_truncated', { clickId: click.slice(0, 18), type: 'lead' }],
    [403, 'click_id_malformed', { clickId: 'order 66', type: 'lead' }],
    [403, 'click_unknown', { clickId: toWireId(newId()), type: 'lead' }],
    [403, 'outside_campaigns', { clickId: click, type: 'lead' }, narrow],
    [403, 'right_missing', { clickId: click, type: 'lead' }, unfit],
  ]
  for (const [at, [status, diagnosis, body, secret]] of cases.entries()) {
    const mark = `case-${at}`
    const reply = await send({ ...body, mark }, secret)
    assert.equal(reply.statusCode, status, JSON.stringify(body))
    const row = await kept(one => one.body?.includes(mark) === true)
    assert.deepEqual(
      [row.diagnosis, row.status, row.surface, row.state, row.is_whole],
      [diagnosis, status, 'api', 'refused', true],
      diagnosis,
    )
    assert.equal(row.error, reply.data()['error'])
    assert.deepEqual(JSON.parse(row.body ?? ''), { ...body, mark })
  }
  assert.deepEqual(await list('', other), [])
})

test('what is no JSON is kept by its beginning and cannot be run again', async () => {
  await house.call('POST', '/api/events', {
    key,
    payload: '{"clickId": "no-json-here", sluice_0123456789012345678901234567',
  })
  const row = await kept(one => one.diagnosis === 'body_unreadable')
  assert.deepEqual([row.is_whole, row.status], [false, 400])
  assert.ok(row.body?.includes('no-json-here') && !row.body.includes('sluice_0123'))
  assert.equal((await run(row.id)).data()['code'], 'cannot_run_again')
})

test('what sending again mends is not kept, nor what is nobody’s', async () => {
  const click = toWireId(await seedClick(house.database, owner.org_id))
  const before = (await list()).length
  await send({ clickId: click, type: 'lead' }, 'sluice_unknown')
  await send({ clickId: click, type: 'lead', payload: { text: 'x'.repeat(1_100_000) } })
  await house.call('POST', '/api/events', { body: { clickId: click, type: 'sale' } })
  await send({ clickId: click, type: 'lead' })
  const marker = `marker-${newId()}`
  await send({ clickId: marker, type: 'lead' })
  await kept(row => row.click_text === marker)
  assert.equal((await list()).length, before + 1)
})

test('secrets are taken out, long bodies are cut', async () => {
  await send({ clickId: 'secrets', type: 'lead', payload: { api_key: 'k-1', nested: { password: 'p-1' }, note: key } })
  const row = await kept(one => one.click_text === 'secrets')
  for (const secret of ['k-1', 'p-1', key.slice(0, 30)]) assert.ok(!row.body?.includes(secret), row.body ?? '')
  await send({ clickId: 'long', type: 'lead', payload: { text: 'é'.repeat(20_000) } })
  const long = await kept(one => one.click_text === 'long')
  assert.ok(Buffer.byteLength(long.body ?? '') <= 8192)
  assert.equal(long.is_whole, false)
})

test('run again after a fix it is recorded, once, by the identity it had', async () => {
  const click = toWireId(await seedClick(house.database, owner.org_id))
  const body = {
    clickId: click,
    type: 'bot_start',
    payout: '3',
    payload: { telegram_user_id: 42, bot_username: '@later_bot' },
  }
  assert.equal((await send(body, key, { 'idempotency-key': 'once-1' })).statusCode, 403)
  const row = await kept(one => one.diagnosis === 'bot_unknown' && one.click_text === click)
  const still = (await run(row.id)).json<Row>()
  assert.deepEqual([still.state, still.diagnosis, still.runs, still.event_id], ['refused', 'bot_unknown', 1, null])
  await seedBot(house.database, owner.org_id, 'later_bot')
  const before = await tally(house.database, owner.org_id)
  const ran = await Promise.all(Array.from({ length: 20 }, () => run(row.id)))
  for (const reply of ran) assert.equal(reply.json<Row>().state, 'recorded', reply.body)
  assert.equal(new Set(ran.map(reply => reply.json<Row>().event_id)).size, 1)
  const again = await send(body, key, { 'idempotency-key': 'once-1' })
  assert.equal(again.headers['idempotent-replayed'], 'true')
  assert.equal(again.data()['id'], ran[0]?.json<Row>().event_id)
  const now = await tally(house.database, owner.org_id)
  assert.deepEqual([now.events - before.events, now.charges - before.charges], [1, 1])
  assert.equal((await run(row.id)).json<Row>().state, 'recorded')
})

test('a portion at a time by diagnosis; what stays refused is not met again', async () => {
  const own = await seedSignedIn(house)
  const { secret } = await seedKey(house.database, own, { rights: ['report'] })
  const clicks = await Promise.all(Array.from({ length: 12 }, () => seedClick(house.database, own.org_id)))
  for (const click of clicks) await send({ clickId: toWireId(click), type: 'lead' }, secret)
  await send({ clickId: toWireId(newId()), type: 'lead' }, secret)
  await eventually('all are kept', async () => (await list('', own)).length >= 13)
  const bulk = (body: object, as = own) => house.call('POST', '/api/refused-events/run', { ...as, body })
  assert.deepEqual((await bulk({ diagnosis: 'payout_invalid' })).json(), { recorded: 0, refused: 0, next_cursor: null })
  assert.deepEqual((await bulk({ to: '2020-01-01T00:00:00Z' })).json(), { recorded: 0, refused: 0, next_cursor: null })
  assert.deepEqual((await bulk({}, other)).json(), { recorded: 0, refused: 0, next_cursor: null })
  assert.deepEqual((await bulk({ diagnosis: 'right_missing', surface: 'api' })).json(), {
    recorded: 12,
    refused: 1,
    next_cursor: null,
  })
  assert.deepEqual((await bulk({ surface: 'api' })).json(), { recorded: 0, refused: 1, next_cursor: null })
  assert.equal((await tally(house.database, own.org_id)).events, 12)
  assert.equal((await list('&state=recorded', own)).length, 12)
  for (const body of [{ diagnosis: 'x' }, { from: 'yesterday' }, { network_id: '1' }])
    assert.equal((await bulk(body)).statusCode, 400)
})

test('what a run would run is counted and shown as it is read today, and showing it runs nothing', async () => {
  const own = await seedSignedIn(house)
  const { secret } = await seedKey(house.database, own, { rights: ['report'] })
  const click = toWireId(await seedClick(house.database, own.org_id))
  for (let at = 0; at < 25; at += 1)
    await send({ clickId: click, type: 'lead', payout: `${at}.5`, nonce: `n${at}` }, secret)
  const fit = (await seedKey(house.database, own, { rights: ['events'] })).secret
  await send({ clickId: click, type: 'sale' }, fit)
  await house.call('POST', '/api/events', { key: fit, payload: '{"clickId": no json' })
  await eventually('all are kept', async () => (await list('', own)).length >= 27)
  type Plan = { count: number; first: { id: string; reads_as: unknown; error: string | null; click_text: string }[] }
  const preview = (body: object, as = own) => house.call('POST', '/api/refused-events/run/preview', { ...as, body })
  const before = await list('', own)
  const plan = (await preview({})).json<Plan>()
  const runnable = before.filter(row => row.is_whole).toReversed()
  assert.equal(plan.count, runnable.length)
  assert.deepEqual(
    plan.first.map(({ id }) => id),
    runnable.slice(0, 20).map(({ id }) => id),
  )
  const amounts = new Set(plan.first.flatMap(({ reads_as }) => (reads_as === null ? [] : [JSON.stringify(reads_as)])))
  assert.ok(amounts.has('{"type":"lead","verdict":null,"payout":"0.5"}'), [...amounts].join(' '))
  const wrong = (await preview({ diagnosis: 'type_unknown' })).json<Plan>()
  assert.deepEqual([wrong.count, wrong.first[0]?.reads_as, wrong.first[0]?.click_text], [1, null, click])
  assert.match(wrong.first[0]?.error ?? '', /type/)
  assert.deepEqual((await preview({ to: '2020-01-01T00:00:00Z' })).json(), { count: 0, first: [] })
  assert.deepEqual(
    (await preview({}, other)).json<Plan>().first.filter(row => row.click_text === click),
    [],
  )
  assert.deepEqual(await list('', own), before)
  assert.equal((await tally(house.database, own.org_id)).events, 0)
  assert.equal((await preview({}, member)).data()['code'], 'role_forbidden')
  assert.equal((await preview({ diagnosis: 'x' })).statusCode, 400)
  assert.equal((await house.call('POST', '/api/refused-events/run/preview', { key, body: {} })).statusCode, 403)
  const ran = (await house.call('POST', '/api/refused-events/run', { ...own, body: {} })).json<{
    recorded: number
    refused: number
  }>()
  assert.equal(ran.recorded + ran.refused, plan.count)
})

test('a call is found by part of what it sent, by why it was refused, and by its click id in any form', async () => {
  const own = await seedSignedIn(house)
  const { secret } = await seedKey(house.database, own, { rights: ['events'] })
  const [click, gone] = [await seedClick(house.database, own.org_id), newId()]
  const unknown = toWireId(gone)
  await send({ clickId: unknown, type: 'lead', nonce: 'TX-100%_a' }, secret)
  await send({ clickId: '{click_id}', type: 'lead', payload: { note: 'Größe "L"' } }, secret)
  await send({ clickId: toWireId(click), type: 'sale' }, secret, { 'idempotency-key': 'once-7' })
  await eventually('all are kept', async () => (await list('', own)).length === 3)
  const found = async (q: string, as = own) =>
    (await list(`&q=${encodeURIComponent(q)}`, as)).map(({ diagnosis }) => diagnosis).toSorted()
  const theirs = await list('&q=lead', other)
  assert.ok(theirs.every(({ click_text }) => click_text !== unknown))
  assert.deepEqual(await found('tx-100'), ['click_unknown'])
  assert.deepEqual(await found('%_a'), ['click_unknown'])
  assert.deepEqual(await found('x%a'), [])
  assert.deepEqual(await found(unknown.toUpperCase()), ['click_unknown'])
  assert.deepEqual(await found(gone), ['click_unknown'])
  assert.deepEqual(await found('größe'), ['macro_not_replaced'])
  assert.deepEqual(await found('macro not'), ['macro_not_replaced'])
  assert.deepEqual(await found('sale'), ['type_unknown'])
  assert.deepEqual(await found('once-7'), ['type_unknown'])
  assert.deepEqual(await found('nothing like it'), [])
  assert.equal((await house.call('GET', `/api/refused-events?q=${'x'.repeat(201)}`, own)).statusCode, 400)
  const plan = await house.call('POST', '/api/refused-events/run/preview', { ...own, body: { q: 'TX-100' } })
  assert.equal(plan.data()['count'], 1)
  const ran = await house.call('POST', '/api/refused-events/run', { ...own, body: { q: 'once-7' } })
  assert.deepEqual([ran.data()['recorded'], ran.data()['refused']], [0, 1])
})

test('admins run, members read, keys do neither, and another organization’s row is as if it were not there', async () => {
  await send({ clickId: 'whose', type: 'lead' })
  const { id } = await kept(row => row.click_text === 'whose')
  assert.ok((await list('', member)).some(row => row.id === id))
  assert.equal((await run(id, member)).data()['code'], 'role_forbidden')
  assert.equal((await house.call('POST', '/api/refused-events/run', { ...member, body: {} })).statusCode, 403)
  for (const [method, url] of [
    ['GET', ''],
    ['POST', `/${id}/run`],
    ['POST', '/run'],
  ] as const)
    assert.equal(
      (await house.call(method, `/api/refused-events${url}`, { key, body: {} })).data()['code'],
      'api_key_resource_forbidden',
    )
  for (const at of [id, toWireId(newId()), 'nonsense']) assert.equal((await run(at, other)).statusCode, 404)
  assert.equal((await list('&state=refused')).find(row => row.id === id)?.runs, 0)
})

test('a flood is kept in part, and says how much was not', async () => {
  const own = await seedSignedIn(house)
  const keeper = openKeeper({ ...house.ground, log: pino({ level: 'silent' }) }, { each: 10, all: 1000 })
  const refusal = new Refusal('invalid_request')
  const answers = await Promise.all(
    Array.from({ length: 50 }, () =>
      keeper.keep({ org_id: own.org_id, surface: 'api', refusal, body: {}, received_at: Date.now() }),
    ),
  )
  await keeper.close()
  assert.equal(answers.filter(isKept => isKept).length, 10)
  const rows = await list('', own)
  assert.equal(rows.length, 11)
  assert.equal(
    rows.find(row => row.diagnosis === 'not_kept')?.error,
    '40 more were refused within a minute and not kept',
  )
})

test('a flood of refused reports of pages leaves room for refused conversions', async () => {
  const { org_id } = await seedSignedIn(house)
  const keeper = openKeeper({ ...house.ground, log: pino({ level: 'silent' }) }, { each: 10, all: 1000 })
  const sent = { org_id, refusal: new Refusal('site_not_listed'), body: {}, received_at: Date.now() }
  const kept = await Promise.all(Array.from({ length: 500 }, () => keeper.keep({ ...sent, surface: 'page' })))
  assert.equal(kept.filter(Boolean).length, 60)
  assert.equal(await keeper.keep({ ...sent, surface: 'api', refusal: new Refusal('invalid_request') }), true)
  await keeper.close()
  const { rows } = await house.database.reads.query(
    `select surface, count(*)::int as kept, max(error) filter (where diagnosis = 'not_kept') as error
    from refused_events where org_id = $1 group by surface order by surface`,
    [org_id],
  )
  assert.deepEqual(rows, [
    { surface: 'api', kept: 1, error: null },
    { surface: 'page', kept: 61, error: '440 more were refused within a minute and not kept' },
  ])
  await dropOldRefused(house.database.worker, Date.now(), 20)
  const left = await house.database.reads.query(
    'select surface, count(*)::int as kept from refused_events where org_id = $1 group by surface order by surface',
    [org_id],
  )
  assert.deepEqual(left.rows, [
    { surface: 'api', kept: 1 },
    { surface: 'page', kept: 20 },
  ])
})

test('rows older than thirty days go, and those beyond the newest', async () => {
  const own = await seedSignedIn(house)
  const keeper = openKeeper(house.ground)
  const refusal = new Refusal('invalid_request')
  const now = Date.now()
  for (const days of [0, 1, 2, 29, 31, 90])
    await keeper.keep({ org_id: own.org_id, surface: 'api', refusal, body: {}, received_at: now - days * 86_400_000 })
  await keeper.close()
  await dropOldRefused(house.database.worker, now)
  assert.deepEqual((await list('', own)).length, 4)
  await dropOldRefused(house.database.worker, now, 3)
  const left = await list('', own)
  assert.equal(left.length, 3)
  const { rows } = await house.database.reads.query<{ oldest: string }>(
    'select min(id::text) as oldest from refused_events where org_id = $1',
    [own.org_id],
  )
  assert.ok((rows[0]?.oldest ?? '') >= firstIdAt(now - 3 * 86_400_000))
})
