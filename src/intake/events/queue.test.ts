// The queue under faults: of the database, a row, a key or the clock.
import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { untilWaiting } from '../../../tests/support/blocked.ts'
import { type FreshDatabase, freshDatabase } from '../../../tests/support/database.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { openTestHouse, seedKey, seedOrganization, toWireId } from '../../../tests/support/house.ts'
import { seedClick, seedClicks, seedRule, tally } from '../../../tests/support/intake.ts'
import { openQueue, type Queue } from '../../../tests/support/organization-queue.ts'
import { newId } from '../../contract/ids.ts'
import { Refusal } from '../../contract/refusals.ts'
import { connect } from '../../ground/db/connect.ts'
import { auditBooks } from '../../reading/audit/audit.ts'
import type { Conversion, UsedKey } from './items.ts'
import type { KeyStanding } from './transact.ts'

let fresh: FreshDatabase
let queue: Queue
before(async () => {
  fresh = await freshDatabase()
  queue = openQueue(fresh.database)
})
after(async () => {
  await queue.close()
  await fresh.drop()
})

const assertBooks = async (org_id: number) => assert.deepEqual(await auditBooks(fresh.database.reads, org_id), [])
const later = { refusal: 'service_unavailable', detail: { headers: { 'retry-after': '60' } } }

/** Holds the organization's lock until released, like a long transaction of another process. */
async function holdLock(org_id: number): Promise<() => Promise<void>> {
  const client = await fresh.database.worker.connect()
  await client.query('begin')
  await client.query('set local idle_in_transaction_session_timeout = 0')
  await client.query('select 1 from balances where org_id = $1 for update', [org_id])
  return async () => {
    await client.query('rollback')
    client.release()
  }
}

function conversion(org_id: number, click_id: string, more: Partial<Conversion> = {}): Conversion {
  return {
    kind: 'conversion',
    org_id,
    id: newId(),
    click_id,
    type: 'lead',
    payout: undefined,
    nonce: null,
    payload: null,
    telegram_user_id: undefined,
    bot: undefined,
    source: 'api',
    campaigns: null,
    key: undefined,
    arrived_at: performance.now(),
    ...more,
  }
}

test('a conversion happens when it has the lock, not when it began to wait for it', async () => {
  const { org_id } = await seedOrganization(fresh.database)
  const click = await seedClick(fresh.database, org_id)
  const release = await holdLock(org_id)
  const waiting = queue.send(org_id, click, {})
  await untilWaiting(fresh.database, 1)
  const { rows } = await fresh.database.reads.query<{ at: string }>('select clock_timestamp() as at')
  await release()
  const { event } = await waiting
  const { rows: late } = await fresh.database.reads.query(
    'select from events where org_id = $1 and created_at = $2 and created_at > $3',
    [org_id, event.created_at, rows[0]?.at],
  )
  assert.equal(late.length, 1)
})

describe('a row that the database cannot take', () => {
  const bad: [string, Partial<Conversion>][] = [
    ['22P02', { payout: 'not a number' }],
    ['22P05', { payload: { a: '\u0000' }, nonce: 'a\u0000' }],
    ['23514', { payout: '1000001' }],
  ]
  for (const [state, more] of bad) {
    test(`harms only itself: ${state}`, async () => {
      const { org_id } = await seedOrganization(fresh.database)
      const clicks = await seedClicks(fresh.database, org_id, 30)
      const answers = await Promise.allSettled(
        clicks.map((click, at) => queue.record(conversion(org_id, click, at === 17 ? more : {}))),
      )
      assert.deepEqual(
        answers.flatMap(({ status }, at) => (status === 'rejected' ? [at] : [])),
        [17],
      )
      assert.equal((await tally(fresh.database, org_id)).events, 29)
      await assertBooks(org_id)
    })
  }
})

test('one bad row among many organizations harms none of them', async () => {
  const orgs = await Promise.all(Array.from({ length: 12 }, () => seedOrganization(fresh.database)))
  const clicks = await Promise.all(orgs.map(({ org_id }) => seedClicks(fresh.database, org_id, 3)))
  const work = orgs.flatMap(({ org_id }, at) =>
    (clicks[at] ?? []).map((click, nth) => ({ org_id, click, isBad: at === 7 && nth === 1 })),
  )
  const answers = await Promise.allSettled(
    work.map(({ org_id, click, isBad }) => queue.record(conversion(org_id, click, isBad ? { payout: '-1' } : {}))),
  )
  assert.deepEqual(
    answers.flatMap(({ status }, at) => (status === 'rejected' ? [at] : [])),
    work.flatMap(({ isBad }, at) => (isBad ? [at] : [])),
  )
  for (const { org_id } of orgs) await assertBooks(org_id)
})

test('with one organization per transaction, as on a sharded database, everything is recorded the same', async () => {
  const sharded = openQueue(fresh.database, { mostOrganizations: 1 })
  const orgs = await Promise.all(Array.from({ length: 6 }, () => seedOrganization(fresh.database)))
  for (const { org_id } of orgs) await seedRule(fresh.database, org_id, { event_type: 'lead' })
  const clicks = await Promise.all(orgs.map(({ org_id }) => seedClicks(fresh.database, org_id, 20)))
  const sends = orgs.flatMap(({ org_id }, at) =>
    (clicks[at] ?? []).flatMap(click => [
      sharded.send(org_id, click, { payout: '2', payload: { telegram_user_id: click } }),
      sharded.send(org_id, click, { payout: '2', payload: { telegram_user_id: click } }),
    ]),
  )
  await Promise.all(sends)
  for (const { org_id } of orgs) {
    assert.deepEqual(await tally(fresh.database, org_id), {
      events: 20,
      aliases: 0,
      charges: 20,
      deliveries: 20,
      balance: '9',
    })
    await assertBooks(org_id)
  }
  await sharded.close()
})

describe('time', () => {
  test('what is over fifty seconds old is told to come again, and is not recorded', async () => {
    const { org_id } = await seedOrganization(fresh.database)
    const click = await seedClick(fresh.database, org_id)
    const old = queue.send(org_id, click, { nonce: 'old' }, { arrived_at: performance.now() - 50_001 })
    const young = queue.send(org_id, click, { nonce: 'young' }, { arrived_at: performance.now() - 30_000 })
    await assert.rejects(old, later)
    assert.equal((await young).event.nonce, 'young')
    assert.equal((await tally(fresh.database, org_id)).events, 1)
  })

  test('an organization whose lock is held waits alone: another one is recorded meanwhile, and it is recorded afterwards', async () => {
    const [blocked, free] = [await seedOrganization(fresh.database), await seedOrganization(fresh.database)]
    const [mine, theirs] = [
      await seedClick(fresh.database, blocked.org_id),
      await seedClick(fresh.database, free.org_id),
    ]
    const release = await holdLock(blocked.org_id)
    const waiting = queue.send(blocked.org_id, mine, {})
    for (let at = 0; at < 20; at += 1) await queue.send(free.org_id, theirs, { nonce: String(at) })
    assert.equal((await tally(fresh.database, blocked.org_id)).events, 0)
    await release()
    assert.equal((await waiting).replayed, false)
    await assertBooks(blocked.org_id)
  })

  test('a lock that is not to be had in two seconds is asked for again', async () => {
    const { org_id } = await seedOrganization(fresh.database)
    const click = await seedClick(fresh.database, org_id)
    const release = await holdLock(org_id)
    const waiting = queue.send(org_id, click, {})
    await sleep(2300)
    await release()
    assert.equal((await waiting).event.click_id, click)
    await assertBooks(org_id)
  })
})

describe('a key that waited over a second', () => {
  test('is read again in the transaction, whose answer counts', async () => {
    const { org_id } = await seedOrganization(fresh.database)
    const click = await seedClick(fresh.database, org_id, { campaign_id: newId() })
    const asked: string[][] = []
    const terms = {
      stillAllowed: async (_client: unknown, _org: number, keys: readonly UsedKey[]) => {
        asked.push(keys.map(key => key.key_id))
        const standings: Record<string, KeyStanding> = {
          good: { campaigns: null },
          narrowed: { campaigns: [newId()] },
          demoted: new Refusal('role_forbidden'),
        }
        return new Map(
          keys.flatMap(key => {
            const standing = standings[key.key_id]
            return standing === undefined ? [] : [[key, standing]]
          }),
        )
      },
    }
    const careful = openQueue(fresh.database, terms)
    const by = (key_id: string, age: number) =>
      careful.send(
        org_id,
        click,
        { nonce: `${key_id} ${age}` },
        { key: { key_id, through: 'http', read_at: performance.now() - age } },
      )
    const answers = await Promise.allSettled([
      by('good', 1500),
      by('narrowed', 1500),
      by('demoted', 1500),
      by('gone', 1500),
      // Read late enough to count as fresh even on a machine that stalls for seconds.
      by('fresh', -20_000),
    ])
    assert.deepEqual(
      answers.map(answer =>
        answer.status === 'fulfilled' ? 'recorded' : (answer.reason as { refusal: string }).refusal,
      ),
      ['recorded', 'campaign_scope_forbidden', 'role_forbidden', 'key_not_accepted', 'recorded'],
    )
    assert.deepEqual(asked, [['good', 'narrowed', 'demoted', 'gone']])
    assert.equal((await tally(fresh.database, org_id)).events, 2)
    await careful.close()
  })

  /** The answer to a request that waited over a second for its organization while `change` was applied to its key. */
  async function answerAfter(t: TestContext, change: (key_id: string) => Promise<unknown>) {
    const house = await openTestHouse(fresh.database, {})
    t.after(() => house.end())
    const organization = await seedOrganization(fresh.database)
    const [good, changed] = [
      await seedKey(fresh.database, organization, { rights: ['events'] }),
      await seedKey(fresh.database, organization, { rights: ['events'] }),
    ]
    const clickId = toWireId(await seedClick(fresh.database, organization.org_id))
    const release = await holdLock(organization.org_id)
    const send = (key: string, nonce: string) =>
      house.call('POST', '/api/events', { key, body: { clickId, type: 'lead', nonce } })
    const first = send(good.secret, 'before it')
    await untilWaiting(fresh.database, 1)
    const second = send(changed.secret, 'behind it')
    const uses = fresh.database.kysely.selectFrom('api_key_uses').select('key_id').where('key_id', '=', changed.key_id)
    await eventually('its key has been read', async () => (await uses.executeTakeFirst()) !== undefined)
    await sleep(1100)
    await change(changed.key_id)
    await release()
    const refused = await second
    assert.equal((await first).statusCode, 201)
    assert.equal((await tally(fresh.database, organization.org_id)).events, 1)
    return refused
  }

  test('and was revoked meanwhile records nothing, through the door', async t => {
    const revoked_at = new Date().toISOString()
    const refused = await answerAfter(t, key_id =>
      fresh.database.kysely.updateTable('api_keys').set({ revoked_at }).where('id', '=', key_id).execute(),
    )
    assert.deepEqual([refused.statusCode, refused.data()['error']], [401, 'unauthorized'])
  })

  test('and lost its right meanwhile is told which one, as it would have been at the door', async t => {
    const refused = await answerAfter(t, key_id =>
      fresh.database.kysely.updateTable('api_key_grants').set({ write: [] }).where('key_id', '=', key_id).execute(),
    )
    assert.deepEqual([refused.statusCode, refused.data()['code']], [403, 'api_key_write_not_granted'])
    assert.match(String(refused.data()['hint']), /Ask a workspace owner or admin to grant "events" \(write\)/)
  })

  test('and acts in another organization of its owner by now finds no such click', async t => {
    const refused = await answerAfter(t, async key_id => {
      const keys = fresh.database.kysely.selectFrom('api_keys').select('user_id').where('id', '=', key_id)
      const { org_id } = await seedOrganization(fresh.database, await keys.executeTakeFirstOrThrow())
      await fresh.database.kysely.updateTable('api_key_grants').set({ org_id }).where('key_id', '=', key_id).execute()
    })
    assert.deepEqual([refused.statusCode, refused.data()], [403, { error: 'click not found' }])
  })
})

test('while clicks wait in the journal an unknown click is told to come again, a known one is recorded, a resend answered', async () => {
  const { org_id } = await seedOrganization(fresh.database)
  const click = await seedClick(fresh.database, org_id)
  let drained = false
  const cautious = openQueue(fresh.database, { unsettled: () => () => !drained })
  await assert.rejects(cautious.send(org_id, newId(), {}), later)
  await assert.rejects(cautious.raise(org_id, newId()), later)
  assert.equal((await cautious.send(org_id, click, {})).replayed, false)
  assert.equal((await cautious.send(org_id, click, {})).replayed, true)
  drained = true
  await assert.rejects(cautious.send(org_id, newId(), {}), { refusal: 'click_not_found' })
  await cautious.close()
})

test('without a database everything is told to come again, and an organization without a balance is an error', async () => {
  const nowhere = connect([{ host: '/nowhere', port: 1, user: 'nobody', database: 'none' }], {
    log: pino({ level: 'silent' }),
  })
  const lost = openQueue(nowhere)
  const answers = await Promise.allSettled(Array.from({ length: 20 }, (_, at) => lost.send(at, newId(), {})))
  assert.ok(answers.every(({ status }) => status === 'rejected'))
  for (const answer of answers)
    if (answer.status === 'rejected')
      assert.equal((answer.reason as { refusal: string }).refusal, 'service_unavailable')
  await lost.close()
  await nowhere.close()
  await assert.rejects(queue.send(2_000_000_000, newId(), {}), /no balance/)
})

test('closing answers everything that was taken in', async () => {
  const { org_id } = await seedOrganization(fresh.database)
  const clicks = await seedClicks(fresh.database, org_id, 700)
  const short = openQueue(fresh.database)
  const answers = clicks.map(click => short.send(org_id, click, {}))
  await short.close()
  const settled = await Promise.race([Promise.all(answers), sleep(50).then(() => 'not settled')])
  assert.notEqual(settled, 'not settled')
  assert.equal((await tally(fresh.database, org_id)).events, 700)
  await assertBooks(org_id)
})
