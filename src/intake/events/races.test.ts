// Races between two queues on one database, as of two processes. After each the audit must be exact.
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { pino } from 'pino'
import { type FreshDatabase, freshDatabase } from '../../../tests/support/database.ts'
import { seedOrganization } from '../../../tests/support/house.ts'
import { readClick, seedClick, seedClicks, seedOffer, seedRule, tally } from '../../../tests/support/intake.ts'
import { openQueue, type Queue } from '../../../tests/support/organization-queue.ts'
import { Refusal } from '../../contract/refusals.ts'
import { connect, type Database } from '../../ground/db/connect.ts'
import { auditBooks } from '../../reading/audit/audit.ts'

let fresh: FreshDatabase
let elsewhere: Database
let queues: [Queue, Queue]
before(async () => {
  fresh = await freshDatabase()
  elsewhere = connect(fresh.nodes, { log: pino({ level: 'silent' }) })
  queues = [openQueue(fresh.database), openQueue(elsewhere)]
})
after(async () => {
  for (const queue of queues) await queue.close()
  await elsewhere.close()
  await fresh.drop()
})

const assertBooks = async (org_id: number) => assert.deepEqual(await auditBooks(fresh.database.reads, org_id), [])
const either = (): Queue => queues[randomInt(2) as 0 | 1]

/** The long form repeats a race, and mixes more. */
const [ROUNDS, MIXED] = process.env['SLUICE_TEST_ALL'] ? [5, 2400] : [2, 1200]

function shuffled<T>(list: readonly T[]): T[] {
  const out = [...list]
  for (let at = out.length - 1; at > 0; at -= 1) {
    const other = randomInt(at + 1)
    ;[out[at], out[other]] = [out[other] as T, out[at] as T]
  }
  return out
}

describe('at once', () => {
  test('200 identical requests over two processes are one event, one charge, one delivery, and every answer is that event', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { org_id } = await seedOrganization(fresh.database)
      await seedRule(fresh.database, org_id, { event_type: 'lead' })
      const click = await seedClick(fresh.database, org_id)
      const answers = await Promise.all(
        Array.from({ length: 200 }, () => either().send(org_id, click, { nonce: 'n', payout: '5' })),
      )
      assert.equal(new Set(answers.map(({ event }) => event.id)).size, 1)
      assert.equal(answers.filter(({ replayed }) => !replayed).length, 1)
      assert.deepEqual(await tally(fresh.database, org_id), {
        events: 1,
        aliases: 0,
        charges: 1,
        deliveries: 1,
        balance: '9.95',
      })
      await assertBooks(org_id)
    }
  })

  test('different events of one person, on many clicks of one visitor, are one charge', async () => {
    const { org_id } = await seedOrganization(fresh.database)
    const clicks = await seedClicks(fresh.database, org_id, 40, { visitor_id: crypto.randomUUID() })
    await Promise.all(
      clicks.flatMap((click, at) => [
        either().send(org_id, click, { type: 'lead' }),
        either().send(org_id, click, {
          type: 'deposit',
          payout: '1',
          payload: { telegram_user_id: at % 2 === 0 ? 5 : '05' },
        }),
      ]),
    )
    assert.deepEqual(await tally(fresh.database, org_id), {
      events: 80,
      aliases: 0,
      charges: 1,
      deliveries: 0,
      balance: '9.95',
    })
    await assertBooks(org_id)
  })

  test('payouts of one click add up, and beacons lose nothing', async () => {
    const { org_id } = await seedOrganization(fresh.database)
    const click = await seedClick(fresh.database, org_id, { tracked: false })
    await Promise.all(
      Array.from({ length: 300 }, (_, at) =>
        at % 3 === 0
          ? either().raise(org_id, click)
          : either().send(org_id, click, { type: 'deposit', nonce: String(at), payout: '0.1' }),
      ),
    )
    assert.deepEqual(await readClick(fresh.database, org_id, click), {
      status: 5,
      stages: 35,
      tracked: true,
      revenue: '20',
      bot_id: null,
    })
    await assertBooks(org_id)
  })
})

test('beacons raise a click to landed without an event, count it once, and know an unknown click', async () => {
  const { org_id } = await seedOrganization(fresh.database)
  const [tracked, untracked] = [
    await seedClick(fresh.database, org_id),
    await seedClick(fresh.database, org_id, { tracked: false }),
  ]
  for (const click of [tracked, tracked, untracked]) assert.equal(await either().raise(org_id, click), true)
  assert.equal(await either().raise(org_id, crypto.randomUUID()), false)
  assert.deepEqual(await readClick(fresh.database, org_id, untracked), {
    status: 1,
    stages: 3,
    tracked: false,
    revenue: null,
    bot_id: null,
  })
  assert.deepEqual(await tally(fresh.database, org_id), {
    events: 0,
    aliases: 0,
    charges: 0,
    deliveries: 0,
    balance: '10',
  })
  await assertBooks(org_id)
})

/** Conversions of several organizations, each sent once or five times, shuffled within a window, to either process. */
async function mixed(count: number) {
  const orgs = await Promise.all(Array.from({ length: 4 }, () => seedOrganization(fresh.database, { balance: '100' })))
  const work: { org_id: number; click: string; nonce: string; payload: { telegram_user_id: number }; times: number }[] =
    []
  for (const { org_id } of orgs) {
    const offer_id = await seedOffer(fresh.database, org_id, { payout: '3.5' })
    for (const event_type of ['lead', 'deposit']) await seedRule(fresh.database, org_id, { event_type })
    const clicks = await seedClicks(fresh.database, org_id, count / 8, { offer_id })
    for (const [at, click] of clicks.entries())
      for (const nonce of ['a', 'b'])
        work.push({ org_id, click, nonce, payload: { telegram_user_id: at % 50 }, times: at % 2 === 0 ? 1 : 5 })
  }
  const sends = shuffled(work).flatMap((one, at) =>
    Array.from({ length: one.times }, () => ({ one, place: at + Math.random() * 200 })),
  )
  sends.sort((a, b) => a.place - b.place)
  return { orgs, work, sends: sends.map(({ one }) => one) }
}

type Send = Awaited<ReturnType<typeof mixed>>['sends'][number]
const keyOf = ({ org_id, click, nonce }: Send) => `${org_id} ${click} ${nonce}`

/** Sends everything over 40 connections. A conversion that is answered 503 is retried, or its outcome counts as unknown. */
async function drive(sends: readonly Send[], again: (send: Send) => boolean) {
  const ids = new Map<string, Set<string>>()
  const unknown = new Set<string>()
  let next = 0
  await Promise.all(
    Array.from({ length: 40 }, async () => {
      for (let send = sends[next++]; send !== undefined; send = sends[next++]) {
        const { org_id, click, nonce, payload } = send
        for (;;) {
          try {
            const { event } = await either().send(org_id, click, {
              type: nonce === 'a' ? 'lead' : 'deposit',
              nonce,
              payload,
            })
            ids.set(keyOf(send), (ids.get(keyOf(send)) ?? new Set()).add(event.id))
            break
          } catch (error) {
            assert.ok(error instanceof Refusal && error.refusal === 'service_unavailable', String(error))
            if (!again(send)) {
              unknown.add(keyOf(send))
              break
            }
            await sleep(20)
          }
        }
      }
    }),
  )
  return { ids, unknown }
}

async function assertExactly(orgs: { org_id: number }[], ids: Map<string, Set<string>>, unknown: Set<string>) {
  for (const { org_id } of orgs) {
    await assertBooks(org_id)
    const { rows } = await fresh.database.reads.query<{ id: string; click_id: string; nonce: string }>(
      'select id, click_id, nonce from events where org_id = $1',
      [org_id],
    )
    const stored = new Map(rows.map(row => [`${org_id} ${row.click_id} ${row.nonce}`, row.id]))
    for (const [key, answered] of ids) {
      if (!key.startsWith(`${org_id} `)) continue
      assert.deepEqual([...answered], [stored.get(key)], 'acknowledged, and stored under the id that was answered')
    }
    for (const key of stored.keys()) assert.ok(ids.has(key) || unknown.has(key), 'nothing was invented')
  }
}

test('a shuffled load of resends and of events sent once, over two processes, is exact', async () => {
  const { orgs, work, sends } = await mixed(MIXED)
  const { ids, unknown } = await drive(sends, () => false)
  assert.equal(unknown.size, 0)
  assert.equal(ids.size, work.length)
  await assertExactly(orgs, ids, unknown)
})

test('the same load is exact when backends are killed in its midst, and no process ends', async () => {
  const { orgs, work, sends } = await mixed(MIXED)
  const killer = new pg.Client(fresh.connection)
  await killer.connect()
  let kills = 0
  let isOver = false
  const killing = (async () => {
    while (!isOver) {
      await sleep(15)
      const { rows } = await killer.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name like '%intake' order by random() limit 1`,
      )
      kills += rows.length
    }
  })()
  // Half of the conversions answered 503 are retried; the others may be stored or not.
  const { ids, unknown } = await drive(sends, ({ click }) => click.charCodeAt(20) % 2 === 0)
  isOver = true
  await killing
  await killer.end()
  assert.ok(kills >= 3, `${kills} backends were killed`)
  assert.ok(ids.size + unknown.size >= work.length)
  await assertExactly(orgs, ids, unknown)
})
