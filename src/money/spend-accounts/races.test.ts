// Several processes and people at one account: one process reads it at a time, only whole days are booked, and a process that lost its claim changes nothing.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { sql } from 'kysely'
import { freshDatabase } from '../../../tests/support/database.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { openTestHouse, type TestHouse } from '../../../tests/support/house.ts'
import { startSluice } from '../../../tests/support/sluice.ts'
import {
  adHour,
  bookedSpend,
  connectSpendAccount,
  META,
  type Platforms,
  readSpendAccount,
  seedClicksWithSubs,
  type SpendPlace,
  seedSpendPlace,
  startPlatforms,
  TOKEN,
} from '../../../tests/support/spend-accounts.ts'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { toUuid } from '../../contract/ids.ts'
import { auditBooks } from '../../reading/audit/audit.ts'
import { claimAccount } from './claims.ts'
import { syncAccount } from './sync.ts'
import { syncDueAccounts } from './worker.ts'

const AD = '120210000000000001'
const NOW = Date.parse(`${dayOf(Date.now())}T12:30:00Z`)
const ago = (days: number) => dayOf(NOW - days * DAY_MS)
const TODAY = ago(0)
const SECRET = 'a secret that only tests know'

let platforms: Platforms
let fresh: Awaited<ReturnType<typeof freshDatabase>>
let house: TestHouse
let second: TestHouse
before(async () => {
  platforms = await startPlatforms()
  fresh = await freshDatabase()
  house = await openTestHouse(fresh.database, { ROLE: 'serve', SECRET, ...platforms.env })
  second = await openTestHouse(fresh.database, { ROLE: 'serve', SECRET, ...platforms.env })
})
after(async () => {
  await house.end()
  await second.end()
  await fresh.drop()
  await platforms.close()
})
afterEach(() => {
  platforms.meta.answer(undefined)
  platforms.meta.taken.length = 0
})

/** A workspace whose ad cost 1.00 on each of the last 31 days, and its account, which was not read yet. */
async function settle(): Promise<{ place: SpendPlace; id: string }> {
  const place = await seedSpendPlace(house)
  await seedClicksWithSubs(house.database, place, { sub2: AD }, { at: NOW - 30 * DAY_MS })
  platforms.books.hours = Array.from({ length: 31 }, (_, days) => adHour(ago(days), 3, AD, '1.00'))
  return { place, id: await connectSpendAccount(house, place) }
}

const ALL = (place: SpendPlace) => Array.from({ length: 31 }, (_, at) => `${ago(30 - at)} ${place.campaign_id} - 1`)

async function assertBooks({ org_id }: SpendPlace) {
  assert.deepEqual(await auditBooks(house.database.reads, org_id), [])
}

/** Delays the answer of one day's report. `held` resolves once it is requested. */
function holdDay(day: string) {
  const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let isFirst = true
  platforms.meta.answer(async ({ url }) => {
    if (!isFirst || !decodeURIComponent(url).includes(`"since":"${day}"`)) return undefined
    isFirst = false
    asked.resolve()
    await released.promise
    return undefined
  })
  return { held: asked.promise, release: () => released.resolve() }
}

const dueNow = (place: SpendPlace) =>
  house.database.worker.query(`update spend_accounts set due_at = now(), claimed_until = null where org_id = $1`, [
    place.org_id,
  ])

test('of many looks at once one reads an account, and each day is asked for once', async () => {
  const { place } = await settle()
  const looks = Array.from({ length: 8 }, (_, at) => syncDueAccounts((at % 2 ? house : second).ground, { now: NOW }))
  const read = await Promise.all(looks)
  assert.equal(
    read.reduce((sum, count) => sum + count, 0),
    1,
  )
  assert.equal(platforms.meta.taken.length, 31)
  assert.deepEqual(await bookedSpend(house.database, place.org_id), ALL(place))
  await assertBooks(place)
})

test('a process that slept through its lease books nothing over the one that took over', async () => {
  const { place, id } = await settle()
  const { held, release } = holdDay(ago(3))
  const slow = syncDueAccounts(house.ground, { now: NOW })
  await held
  assert.equal((await readSpendAccount(house, place, id)).is_syncing, true)
  assert.equal(await syncDueAccounts(second.ground, { now: NOW }), 0, 'it is being read')
  // Its lease ends, and the platform's figures have changed.
  await dueNow(place)
  platforms.books.hours = [adHour(TODAY, 3, AD, '7.00')]
  assert.equal(await syncDueAccounts(second.ground, { now: NOW }), 1)
  const after = await bookedSpend(house.database, place.org_id)
  assert.deepEqual(after, [`${TODAY} ${place.campaign_id} - 7`])
  platforms.books.hours = [adHour(TODAY, 3, AD, '1.00'), adHour(ago(3), 3, AD, '1.00')]
  release()
  await slow
  assert.deepEqual(await bookedSpend(house.database, place.org_id), after)
  const account = await readSpendAccount(house, place, id)
  assert.deepEqual([account.fault, account.is_syncing], [null, false])
  await assertBooks(place)
})

test('what is changed or disconnected while it is read is booked as it was changed', async () => {
  const change = async (deed: (id: string, cookie: string) => Promise<unknown>) => {
    const { place, id } = await settle()
    const { held, release } = holdDay(ago(3))
    const slow = syncDueAccounts(house.ground, { now: NOW })
    await held
    await deed(id, place.cookie)
    release()
    await slow
    return { place, id }
  }
  const url = (id: string) => `/api/spend-accounts/${id}`
  const moved = await change((id, cookie) => house.call('PATCH', url(id), { cookie, body: { id_in: 'sub1' } }))
  assert.equal((await bookedSpend(house.database, moved.place.org_id)).length, 27, 'the days before the change')
  assert.equal(await syncDueAccounts(second.ground, { now: NOW }), 1)
  assert.deepEqual(await bookedSpend(house.database, moved.place.org_id), [], 'no click has carried it there')
  await assertBooks(moved.place)
  const gone = await change((id, cookie) => house.call('DELETE', `${url(id)}?take_back=true`, { cookie }))
  assert.deepEqual(await bookedSpend(house.database, gone.place.org_id), [])
  assert.equal(await syncDueAccounts(second.ground, { now: NOW }), 0)
  await assertBooks(gone.place)
})

test('of several who connect the same account one does', async () => {
  const place = await seedSpendPlace(house)
  const body = { provider: 'meta', name: 'Main', external_id: META, access_token: TOKEN, id_in: 'sub2' }
  const replies = await Promise.all(
    Array.from({ length: 6 }, (_, at) =>
      (at % 2 ? house : second).call('POST', '/api/spend-accounts', { cookie: place.cookie, body }),
    ),
  )
  assert.deepEqual(
    replies.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b),
    [201, 409, 409, 409, 409, 409],
  )
  await syncDueAccounts(house.ground, { now: NOW })
})

test('a process that closes gives the account back, and the next one reads it at once', async () => {
  const { place, id } = await settle()
  const { held, release } = holdDay(ago(3))
  const closing = new AbortController()
  const broken = syncDueAccounts(house.ground, { now: NOW, signal: closing.signal })
  await held
  closing.abort()
  release()
  await broken
  const account = await readSpendAccount(house, place, id)
  assert.deepEqual([account.is_syncing, account.fault, account.synced_at], [false, null, null])
  assert.equal(await syncDueAccounts(second.ground, { now: NOW }), 1)
  assert.deepEqual(await bookedSpend(house.database, place.org_id), ALL(place))
})

test('a database that fails between reading and booking leaves the days before, and nothing of that day', async () => {
  const { place, id } = await settle()
  const claimed = await claimAccount(house.ground.db, { org_id: place.org_id, id: String(toUuid(id)) }, 60_000)
  assert.ok(claimed)
  // If the second half of a booking fails, the first half must be rolled back.
  const { schema } = house.database
  await sql
    .raw(
      `alter table booked_spend add constraint until_then check (origin <> 'account:${claimed.id}' or day < '${ago(10)}')`,
    )
    .execute(schema)
  const signal = new AbortController().signal
  await assert.rejects(syncAccount(house.ground, claimed, { now: NOW, signal }))
  await sql`alter table booked_spend drop constraint until_then`.execute(schema)
  assert.deepEqual(await bookedSpend(house.database, place.org_id), ALL(place).slice(0, 20))
  await assertBooks(place)
  await dueNow(place)
  assert.equal(await syncDueAccounts(second.ground, { now: NOW }), 1)
  assert.deepEqual(await bookedSpend(house.database, place.org_id), ALL(place))
  await assertBooks(place)
})

test('a process killed between fetching and booking leaves whole days, and the next one makes up for the rest', async () => {
  const { place, id } = await settle()
  const folder = mkdtempSync(join(tmpdir(), 'sluice-spend-'))
  const env = { DATABASE_URL: fresh.url, DATA_DIR: folder, PORT: '0', SECRET, LOG_LEVEL: 'silent', ...platforms.env }
  const { held, release } = holdDay(ago(3))
  try {
    const first = await startSluice(env)
    await held
    await first.kill()
    release()
    assert.deepEqual(await bookedSpend(house.database, place.org_id), ALL(place).slice(0, 27))
    await assertBooks(place)
    await dueNow(place)
    const next = await startSluice(env)
    await eventually('it was not read', async () => (await readSpendAccount(house, place, id)).synced_at !== null)
    await next.stop()
    assert.deepEqual(await bookedSpend(house.database, place.org_id), ALL(place))
    await assertBooks(place)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
