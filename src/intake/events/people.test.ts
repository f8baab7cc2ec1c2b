// Billing: each person is charged once, whichever system reports first. A property test over orders of reports.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type FreshDatabase, freshDatabase } from '../../../tests/support/database.ts'
import { seedOrganization } from '../../../tests/support/house.ts'
import { seedClick, seedRule, tally } from '../../../tests/support/intake.ts'
import { openQueue, type Queue } from '../../../tests/support/organization-queue.ts'
import { auditBooks } from '../../reading/audit/audit.ts'

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

type Report = { visitor?: string; telegram_user_id?: string; click?: string; test?: boolean }

/** Sends the reports one after the other, each on a click of its visitor, and returns how many persons were charged. */
async function charged(reports: Report[], together = false): Promise<number> {
  const { org_id } = await seedOrganization(fresh.database)
  const named = new Map<string, string>()
  const idOf = (name: string) => {
    const id = named.get(name) ?? crypto.randomUUID()
    named.set(name, id)
    return id
  }
  const clicks = new Map<string, string>()
  const sends: (() => Promise<unknown>)[] = []
  for (const [at, { visitor, telegram_user_id, click: name = `click ${at}`, test = false }] of reports.entries()) {
    const visitor_id = visitor === undefined ? null : idOf(visitor)
    const click = clicks.get(name) ?? (await seedClick(fresh.database, org_id, { visitor_id, test }))
    clicks.set(name, click)
    const payload = telegram_user_id === undefined ? null : { telegram_user_id }
    sends.push(() => queue.send(org_id, click, { nonce: String(at), payload }))
  }
  if (together) await Promise.all(sends.map(send => send()))
  else for (const send of sends) await send()
  assert.deepEqual(await auditBooks(fresh.database.reads, org_id), [])
  return (await tally(fresh.database, org_id)).charges
}

const orders = <T>(list: T[]): T[][] =>
  list.length < 2
    ? [list]
    : list.flatMap((one, at) => orders([...list.slice(0, at), ...list.slice(at + 1)]).map(rest => [one, ...rest]))

describe('charged once is', () => {
  test('a Telegram user over all visitors and clicks', async () => {
    assert.equal(
      await charged([
        { telegram_user_id: 'a', visitor: 'x' },
        { telegram_user_id: 'a', visitor: 'y' },
        { telegram_user_id: 'a' },
      ]),
      1,
    )
  })

  test('a visitor without a Telegram id, over all clicks', async () => {
    assert.equal(await charged([{ visitor: 'x' }, { visitor: 'x' }, { visitor: 'y' }]), 2)
  })

  test('a click without a visitor', async () => {
    assert.equal(await charged([{ click: 'c' }, { click: 'c' }, { click: 'd' }]), 2)
  })

  test('a visitor and the first Telegram user seen on them, in every order and all at once', async () => {
    const reports: Report[] = [{ visitor: 'x' }, { visitor: 'x', telegram_user_id: 'a' }, { visitor: 'x' }]
    for (const order of orders(reports)) assert.equal(await charged(order), 1)
    assert.equal(await charged(reports, true), 1)
  })

  test('a click without a visitor and the first Telegram user seen on it, in every order', async () => {
    for (const order of orders<Report>([{ click: 'c' }, { click: 'c', telegram_user_id: 'a' }]))
      assert.equal(await charged(order), 1)
  })

  test('a Telegram user who comes back as a visitor of another device after being known there', async () => {
    const reports: Report[] = [
      { visitor: 'x', telegram_user_id: 'a' },
      { visitor: 'y', telegram_user_id: 'a' },
      { visitor: 'y' },
      { visitor: 'x' },
    ]
    assert.equal(await charged(reports), 1)
    assert.equal(await charged(reports, true), 1)
  })
})

describe('charged apart are', () => {
  test('two Telegram users on one visitor', async () => {
    for (const order of orders<Report>([
      { visitor: 'x', telegram_user_id: 'a' },
      { visitor: 'x', telegram_user_id: 'b' },
      { visitor: 'x' },
    ]))
      assert.equal(await charged(order), 2)
  })

  test('the same Telegram user in two organizations', async () => {
    assert.equal((await charged([{ telegram_user_id: 'a' }])) + (await charged([{ telegram_user_id: 'a' }])), 2)
  })
})

test('a test click charges nobody and teaches nothing about its visitor', async () => {
  assert.equal(await charged([{ visitor: 'x', telegram_user_id: 'tester', test: true }]), 0)
  assert.equal(
    await charged([
      { visitor: 'x' },
      { visitor: 'x', telegram_user_id: 'tester', test: true },
      { visitor: 'x', telegram_user_id: 'a' },
    ]),
    1,
  )
  assert.equal(
    await charged([
      { visitor: 'x', telegram_user_id: 'a', test: true },
      { visitor: 'x', telegram_user_id: 'a' },
    ]),
    1,
  )
})

test('a charge that empties the balance loses nothing, and deliveries wait only where the organization says so', async () => {
  for (const holds of [false, true]) {
    const { org_id } = await seedOrganization(fresh.database, { balance: '0.1', price: '0.05' })
    await fresh.database.reads.query('update balances set hold_when_empty = $2 where org_id = $1', [org_id, holds])
    await seedRule(fresh.database, org_id, { event_type: 'lead' })
    for (let at = 0; at < 3; at += 1) await queue.send(org_id, await seedClick(fresh.database, org_id), {})
    const { rows } = await fresh.database.reads.query<{ state: string }>(
      'select state from deliveries where org_id = $1 order by created_at, id',
      [org_id],
    )
    assert.deepEqual(
      rows.map(row => row.state),
      ['pending', 'pending', holds ? 'held' : 'pending'],
    )
    assert.equal((await tally(fresh.database, org_id)).balance, '-0.05')
  }
})
