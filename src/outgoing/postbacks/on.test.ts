// Rules that call on later changes of a conversion: once per revision, with the amount that counts then.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { eventually } from '../../../tests/support/eventually.ts'
import { seedKey, useHouse, type TestHouse } from '../../../tests/support/house.ts'
import { openQueue } from '../../../tests/support/organization-queue.ts'
import { type Receiver, startReceiver } from '../../../tests/support/receiver.ts'
import { seedWorkspace } from '../../../tests/support/workspace.ts'
import { toUuid } from '../../contract/ids.ts'
import { auditBooks } from '../../reading/audit/audit.ts'

const idOf = (id: string): string => toUuid(id) ?? assert.fail()

let house: TestHouse
let receiver: Receiver
before(async () => {
  house = await useHouse()
  receiver = await startReceiver()
})
after(async () => {
  await house.end()
  await receiver.close()
})

type Workspace = Awaited<ReturnType<typeof workspace>>

async function workspace() {
  const place = await seedWorkspace(house, receiver)
  const on = async (told: string, fields: object = {}) => {
    const path = `${place.owner.org_id}-${told}`
    const id = await place.rule({
      on: told,
      url: `${receiver.origin}/${path}?s={status}&r={revenue}&e={event_id}`,
      ...fields,
    })
    return { id, path }
  }
  const say = async (event_id: string, body: object) => await place.post(`/api/events/${event_id}/revisions`, body, 200)
  const patch = async (id: string, body: object, as: object = place.as) =>
    await house.call('PATCH', `/api/postbacks/${id}`, { ...as, body })
  return { ...place, on, say, patch }
}

/** The revisions and amounts of a rule's calls, in the order of their deliveries. */
async function told({ deliveries, owner }: Workspace, { id }: { id: string }): Promise<string[]> {
  await eventually('all is delivered', async () =>
    (await deliveries(`target_id=${id}`)).every(({ state }) => state === 'delivered'),
  )
  const rows = (await deliveries(`target_id=${id}`)).toReversed()
  const calls = await Promise.all(
    rows.map(async row => {
      const one = await house.call('GET', `/api/deliveries/${String(row['id'])}`, { cookie: owner.cookie })
      const [attempt] = one.json<{ history: { url: string }[] }>().history
      const said = new URL(attempt?.url ?? '').searchParams
      return `${String(row['revision'])}: ${said.get('s')} ${said.get('r')}`
    }),
  )
  assert.deepEqual(await auditBooks(house.database.reads, owner.org_id), [])
  return calls
}

describe('a rule that calls on what is said later', () => {
  test('is called for each such revision once, with what the conversion counts for then', async () => {
    const place = await workspace()
    const all = ['recorded', 'approved', 'rejected', 'refunded', 'chargeback', 'any_change']
    const rules = await Promise.all(all.map(async one => [one, await place.on(one)] as const))
    const event_id = await place.convert(await place.click(), { payout: '50' })
    await place.say(event_id, { status: 'rejected' })
    await place.say(event_id, { status: 'rejected' })
    await place.say(event_id, { status: 'approved', amount: 20 })
    await place.say(event_id, { status: 'approved', amount: 30 })
    await place.say(event_id, { status: 'refunded' })
    await place.say(event_id, { status: 'chargeback' })
    const found = Object.fromEntries(
      await Promise.all(rules.map(async ([one, rule]) => [one, await told(place, rule)] as const)),
    )
    assert.deepEqual(found, {
      recorded: ['null: approved 50'],
      approved: ['null: approved 50', '2: approved 20', '3: approved 30'],
      rejected: ['1: rejected 0'],
      refunded: ['4: refunded 0'],
      chargeback: ['5: chargeback 0'],
      any_change: ['1: rejected 0', '2: approved 20', '3: approved 30', '4: refunded 0', '5: chargeback 0'],
    })
  })

  test('on approved waits for what is held, and is called with what was approved', async () => {
    const place = await workspace()
    const [recorded, approved, any] = [
      await place.on('recorded'),
      await place.on('approved'),
      await place.on('any_change'),
    ]
    const network = await place.post('/api/networks', { name: 'Net', template: 'keitaro' }, 201)
    const subid = await place.click()
    const fire = async (query: string) => {
      const path = new URL(String(network['postback_url'])).pathname
      assert.equal((await house.call('GET', `${path}?subid=${subid}&tid=T&${query}`)).body.trim(), 'OK')
    }
    for (const { id } of [recorded, approved, any]) await place.patch(id, { event_type: 'purchase' })
    await fire('status=hold&payout=40')
    assert.deepEqual(await told(place, approved), [])
    await fire('status=approved&payout=35')
    assert.deepEqual(await told(place, recorded), ['null: pending 40'])
    assert.deepEqual(await told(place, approved), ['2: approved 35'])
    assert.deepEqual(await told(place, any), ['1: pending 0', '2: approved 35'])
    const later = await place.on('recorded', { event_type: 'purchase' })
    const { calls } = (await place.post(`/api/postbacks/${later.id}/backfill`, {})) as { calls?: { url: string }[] }
    assert.match(calls?.[0]?.url ?? '', /\?s=pending&r=40&/)
    const fired = await place.post(`/api/postbacks/${any.id}/test`, { click_id: subid })
    assert.match(String(fired['url']), /\?s=approved&/)
  })

  test('is called for its own type, campaign, source and persons, and not while it is off', async () => {
    const place = await workspace()
    const [source] = [String((await place.post('/api/traffic-sources', { name: 'S' }, 201))['id'])]
    const other = await place.post(
      '/api/campaigns',
      { name: 'Other', destination: { type: 'redirect', url: 'https://shop.example/' } },
      201,
    )
    const mine = await place.on('rejected', { campaign_id: place.campaign_id })
    const none = [
      await place.on('rejected', { campaign_id: other['id'] }),
      await place.on('rejected', { event_type: 'ftd' }),
      await place.on('rejected', { traffic_source_id: source }),
      await place.on('rejected', { active: false }),
    ]
    const once = await place.on('any_change', { once_per_person: true })
    const event_id = await place.convert(await place.click(), { payout: '50' })
    await place.say(event_id, { status: 'rejected' })
    await place.say(event_id, { status: 'approved' })
    assert.deepEqual(await told(place, mine), ['1: rejected 0'])
    for (const rule of none) assert.deepEqual(await told(place, rule), [])
    assert.deepEqual(await told(place, once), ['1: rejected 0'])
    const shown = (await house.call('GET', `/api/postbacks?campaign_id=${place.campaign_id}`, place.as)).json<{
      data: { id: string; on: string; campaign_id: string }[]
    }>().data
    assert.deepEqual(
      shown.map(({ id, on, campaign_id }) => [id, on, campaign_id]),
      [[mine.id, 'rejected', place.campaign_id]],
    )
  })

  test('is put out once by verdicts that race, in whatever process', async () => {
    const place = await workspace()
    const rule = await place.on('any_change')
    const clickId = await place.click()
    const event_id = await place.convert(clickId, { payout: '50' })
    const queues = [openQueue(house.database), openQueue(house.database)]
    const answers = await Promise.all(
      Array.from({ length: 10 }, async (_, at) =>
        queues[at % 2]?.revise({
          kind: 'revision',
          org_id: place.owner.org_id,
          click_id: idOf(clickId),
          of: { event_id: idOf(event_id) },
          status: at % 3 === 0 ? 'approved' : 'rejected',
          amount: undefined,
          reason: null,
          source: 'dashboard',
          network_id: null,
          actor: place.owner.user_id,
          arrived_at: performance.now(),
        }),
      ),
    )
    await Promise.all(queues.map(queue => queue.close()))
    const made = answers.filter(one => one?.isNew).map(one => one?.present.seq)
    const rows = await place.deliveries(`target_id=${rule.id}`)
    assert.deepEqual(new Set(rows.map(({ revision }) => revision)), new Set(made))
    assert.equal(rows.length, made.length)
    assert.ok(made.length > 0)
    assert.deepEqual(await auditBooks(house.database.reads, place.owner.org_id), [])
  })

  test('is put out with its revision or not at all', async () => {
    const place = await workspace()
    const rule = await place.on('rejected')
    const event_id = await place.convert(await place.click(), { payout: '50' })
    const { org_id } = place.owner
    for (const [table, harm] of [
      ['deliveries', 'org_id * sign(seq)'],
      ['event_revisions', 'org_id'],
    ]) {
      await sql
        .raw(`alter table ${table} add constraint harmed check (${harm} <> ${org_id}) not valid`)
        .execute(house.database.schema)
      const answer = await house.call('POST', `/api/events/${event_id}/revisions`, {
        ...place.as,
        body: { status: 'rejected' },
      })
      await sql.raw(`alter table ${table} drop constraint harmed`).execute(house.database.schema)
      assert.equal(answer.statusCode, 500, table)
      assert.deepEqual(await told(place, rule), [])
      const { rows } = await house.database.reads.query('select from event_revisions where org_id = $1', [org_id])
      assert.equal(rows.length, 0)
    }
    await place.say(event_id, { status: 'rejected' })
    assert.deepEqual(await told(place, rule), ['1: rejected 0'])
  })
})

test('a key cannot set what a rule calls on, and does not lose it by a change', async () => {
  const place = await workspace()
  const rule = await place.on('approved', { campaign_id: place.campaign_id })
  const { secret } = await seedKey(house.database, place.owner, { rights: ['postbacks', 'postbacks:update'] })
  const url = `${receiver.origin}/k?e={event_id}`
  const made = await house.call('POST', '/api/postbacks', {
    key: secret,
    body: { event_type: 'lead', url, on: 'rejected' },
  })
  assert.deepEqual([made.statusCode, made.data()['code']], [403, 'api_key_resource_forbidden'])
  assert.match(made.body, /on: a key cannot set it/)
  const changed = await place.patch(rule.id, { on: 'recorded' }, { key: secret })
  assert.deepEqual([changed.statusCode, changed.data()['code']], [403, 'api_key_resource_forbidden'])
  const moved = await place.patch(rule.id, { url, event_type: 'ftd' }, { key: secret })
  assert.equal(moved.statusCode, 200, moved.body)
  const shown = (await house.call('GET', `/api/postbacks/${rule.id}`, place.as)).data()
  assert.deepEqual(
    [shown['on'], shown['campaign_id'], shown['event_type'], shown['url']],
    ['approved', place.campaign_id, 'ftd', url],
  )
  const back = await place.patch(rule.id, { on: 'recorded' })
  assert.deepEqual([back.data()['on'], back.data()['campaign_id']], ['recorded', place.campaign_id])
  const wrong = await place.patch(rule.id, { on: 'pending' })
  assert.equal(wrong.statusCode, 400)
})

test('a run over the past is for rules on recorded alone', async () => {
  const place = await workspace()
  const rule = await place.on('approved')
  const refused = await place.post(`/api/postbacks/${rule.id}/backfill`, {}, 400)
  assert.match(String(refused['error']), /this one is on approved/)
})

test('a version that knows no such rules calls them for no campaign', async () => {
  const place = await workspace()
  const [one, all] = [await place.on('approved', { campaign_id: place.campaign_id }), await place.on('any_change')]
  const { rows } = await house.database.reads.query<{ campaign_id: string | null }>(
    'select campaign_id from postback_rules where org_id = $1 and id = any($2)',
    [place.owner.org_id, [idOf(one.id), idOf(all.id)]],
  )
  const campaigns = new Set([null, idOf(place.campaign_id)])
  assert.deepEqual(
    rows.map(({ campaign_id }) => campaigns.has(campaign_id)),
    [false, false],
  )
})
