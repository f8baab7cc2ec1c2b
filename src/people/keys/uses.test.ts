import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { pino } from 'pino'
import { eventually } from '../../../tests/support/eventually.ts'
import { seedKey, useHouse, type TestHouse } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { toUuid } from '../../contract/ids.ts'
import { openKeyUses } from './uses.ts'

let house: TestHouse
let owner: SignedIn
before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
})
after(() => house.end())

const silent = pino({ level: 'silent' })
const lastUses = async () =>
  new Map(
    (await house.database.kysely.selectFrom('api_key_uses').selectAll().execute()).map(row => [
      row.key_id,
      row.last_used_at,
    ]),
  )

test('a call with an accepted key is listed as its last use; a refused key is not used', async () => {
  const used = await seedKey(house.database, owner)
  const refused = await seedKey(house.database, owner)
  await house.database.kysely.updateTable('api_keys').set({ enabled: false }).where('id', '=', refused.key_id).execute()
  const before = Date.now()
  for (const { secret } of [used, refused]) await house.call('POST', '/api/events', { key: secret, body: {} })
  // The use is written behind the call.
  const shown = async () => {
    const reply = await house.call('GET', '/api/api-keys', { cookie: owner.cookie })
    const { data } = reply.json<{ data: { id: string; last_used_at: string | null }[] }>()
    return new Map(data.map(({ id, last_used_at }) => [toUuid(id), last_used_at]))
  }
  let list = await shown()
  await eventually('the use is listed', async () => {
    list = await shown()
    return list.get(used.key_id) !== null
  })
  assert.ok(Date.parse(list.get(used.key_id) ?? '') >= before)
  assert.equal(list.get(refused.key_id), null)
})

test('a key is written once in its interval, however often it is used, and again afterwards', async () => {
  const { key_id } = await seedKey(house.database, owner)
  const others = await Promise.all(Array.from({ length: 5 }, () => seedKey(house.database, owner)))
  let statements = 0
  const { worker } = house.database
  const counted = {
    query: (...given: [string, unknown[]]) => ((statements += 1), worker.query(...given)),
  } as typeof worker
  const uses = openKeyUses(counted, silent)
  for (let call = 0; call < 1000; call += 1) uses.note({ id: key_id })
  for (const other of others) uses.note({ id: other.key_id })
  await uses.close()
  assert.ok(statements <= 2)
  const first = await lastUses()
  assert.ok(others.every(other => first.has(other.key_id)))
  uses.note({ id: key_id })
  await uses.close()
  assert.equal((await lastUses()).get(key_id), first.get(key_id))
  // Two uses of one millisecond could not be told apart.
  const earlier = new Date(Date.parse(String(first.get(key_id))) - 60_000)
  await worker.query('update api_key_uses set last_used_at = $2 where key_id = $1', [key_id, earlier])
  const impatient = openKeyUses(worker, silent, 0)
  impatient.note({ id: key_id })
  await impatient.close()
  assert.ok(String((await lastUses()).get(key_id)) >= String(first.get(key_id)))
})

test('a database that fails costs the caller nothing', async () => {
  const broken = { query: () => Promise.reject(new Error('gone')) } as unknown as typeof house.database.worker
  const uses = openKeyUses(broken, silent)
  uses.note({ id: '01890a5d-ac96-774b-bcce-b302099a8057' })
  await uses.close()
})
