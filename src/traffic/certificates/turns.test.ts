// Whose certificate is ordered next. The house does not listen, so it orders nothing, and a test says when names are claimed.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { startHouse, type TestHouse } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { newId, toWireId } from '../../contract/ids.ts'
import { MOST_NEW_A_DAY } from './api.ts'
import { claimDue } from './claim.ts'

const DIRECTORY = 'https://authority.test/dir'

let house: TestHouse
let greedy: SignedIn
let modest: SignedIn
before(async () => {
  house = await startHouse({ TLS: 'auto', BASE_URL: 'https://main.test', ACME_DIRECTORY: DIRECTORY })
  greedy = await seedSignedIn(house)
  modest = await seedSignedIn(house)
})
after(() => house.end())
beforeEach(async () => {
  const { kysely: db } = house.database
  for (const table of ['certificates', 'acme_orders', 'domain_names', 'domains'] as const)
    await db.deleteFrom(table).execute()
})

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()

/** Names of a workspace, the first of which waits longest. `more`: what else their rows say. */
async function wait(names: readonly string[], owner: SignedIn | undefined, minutes: number, more: object = {}) {
  const { kysely: db } = house.database
  const at = (index: number) => ago(minutes - index / 1000)
  const rows = names.map((name, index) => ({ name, wanted_at: at(index), ...more }))
  await db.insertInto('certificates').values(rows).execute()
  if (owner === undefined) return
  const held = names.map(name => ({ name, org_id: owner.org_id, domain_id: newId(), way: 'pointing' }))
  await db
    .insertInto('domain_names')
    .values(held.map(one => ({ ...one, proven_at: ago(minutes) })))
    .execute()
}

const numbered = (word: string, count: number) => Array.from({ length: count }, (_, at) => `${word}${at}.test`)
const issued = { chain: 'c', directory: DIRECTORY, renew_at: ago(1) }
/** What has been ordered is in service from then on. */
const serve = (names: readonly string[]) =>
  sql`
    update certificates set leased_until = null, chain = 'c', directory = ${DIRECTORY}, renew_at = now() + interval '60 days'
    where name = any(${names})`.execute(house.database.kysely)

/** The names that are ordered one after the other, until none is left or there are so many. */
async function ordered(most: number): Promise<string[]> {
  const all: string[] = []
  while (all.length < most) {
    const wanted = { directory: DIRECTORY, main: ['main.test'], except: [] }
    const names = (await claimDue(house.database.kysely, wanted)).map(({ name }) => name)
    if (names.length === 0) break
    all.push(...names)
    await serve(names)
  }
  return all
}

test('the main host is ordered first, then renewals, then new names', async () => {
  await wait(numbered('new', 3), greedy, 600)
  await wait(['renewed.test'], modest, 500, issued)
  await wait(['main.test'], undefined, 1, issued)
  assert.deepEqual(await ordered(5), ['main.test', 'renewed.test', 'new0.test', 'new1.test', 'new2.test'])
})

test('a workspace with many names waits after each of them for the other workspaces’ next one', async () => {
  await wait(numbered('greedy', 60), greedy, 600)
  await wait(numbered('modest', 3), modest, 5)
  const first = (await ordered(20)).slice(0, 6)
  assert.deepEqual(first, [
    'greedy0.test',
    'modest0.test',
    'greedy1.test',
    'modest1.test',
    'greedy2.test',
    'modest2.test',
  ])
  // Who comes when the other has had its turns has their own at once.
  await wait(['late.test'], modest, 0)
  assert.ok((await ordered(5)).includes('late.test'))
})

test('a workspace with failing names keeps nobody else waiting', async () => {
  const failing = { attempts: 3, next_try_at: ago(60 * 24) }
  await wait(numbered('failing', 80), greedy, 60 * 48, failing)
  await wait(['main.test'], undefined, 1, issued)
  await wait(['modest.test'], modest, 1)
  assert.deepEqual((await ordered(5)).slice(0, 3).toSorted(), ['failing0.test', 'main.test', 'modest.test'])
})

test('new names are ordered up to the limit of a workspace and day, renewals beyond it, and the screen says when it goes on', async () => {
  const { kysely: db } = house.database
  const names = numbered('greedy', 3)
  await wait(names, greedy, 600)
  await sql`
    insert into acme_orders (id, directory, name, ordered_at, org_id, is_new)
    select gen_random_uuid(), ${DIRECTORY}, 'before' || n || '.test', now() - interval '20 hours' + n * interval '1 minute', ${greedy.org_id}, true
    from generate_series(1, ${MOST_NEW_A_DAY - 1}::int) n`.execute(db)
  await wait(['renewed.test'], greedy, 1, issued)
  await wait(['modest.test'], modest, 1)
  const now = await ordered(100)
  assert.deepEqual(now.toSorted(), ['greedy0.test', 'modest.test', 'renewed.test'])

  const read = async ({ cookie, org_id }: SignedIn, name: string) => {
    const { domain_id } = await db
      .selectFrom('domain_names')
      .select('domain_id')
      .where('name', '=', name)
      .executeTakeFirstOrThrow()
    const place = JSON.stringify({ type: 'not_found' })
    const own = { org_id, id: domain_id, name, status: 'active', https: 'optional', robots: 'refuse', records: '[]' }
    const times = { created_at: ago(9), updated_at: ago(9) }
    await db
      .insertInto('domains')
      .values({ ...own, ...times, root: place, unknown_path: place })
      .execute()
    const headers = { host: 'main.test', origin: 'https://main.test' }
    const reply = await house.call('GET', `/api/domains/${toWireId(domain_id)}`, {
      cookie: `__Host-${cookie}`,
      headers,
    })
    assert.equal(reply.statusCode, 200, reply.body)
    return reply.json<{ certificate: { state: string; next_try_at: string | null } }>().certificate
  }
  const { state, next_try_at } = await read(greedy, 'greedy1.test')
  assert.equal(state, 'limited')
  const wait_ms = Date.parse(next_try_at ?? '') - Date.now()
  assert.ok(wait_ms > 3.9 * 3_600_000 && wait_ms < 4.1 * 3_600_000, 'the first of them is a day old in four hours')
  await wait(['free.test'], modest, 1)
  assert.equal((await read(modest, 'free.test')).state, 'waiting')

  await sql`
    update acme_orders set ordered_at = (ordered_at at time zone 'UTC' - interval '4 hours 2 minutes') at time zone 'UTC'`.execute(
    db,
  )
  assert.deepEqual((await ordered(100)).toSorted(), ['free.test', 'greedy1.test', 'greedy2.test'])
})
