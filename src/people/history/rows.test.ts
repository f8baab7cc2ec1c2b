// The statement that reads rows of the history.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId, useHouse, type TestHouse } from '../../../tests/support/house.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import { visibleRows } from './rows.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

test('the row that puts a change back is found by its index, also right after thousands of rows were written', async () => {
  const { org_id, user_id, organization_id } = await seedSignedIn(house)
  const { kysely, worker } = house.database
  const [act, undo] = [newId(), newId()]
  const prefix = newId().slice(0, 24)
  const rows = `
    insert into history (org_id, id, created_at, act_id, actor_kind, kind, object_name, change, fields, undoes_id)
    select $1, ($2 || to_hex(x'100000000000'::bigint + n + $3))::uuid, now(), $4, 'sluice', 'offer', 'O', 'changed', '[]',
      case when $5 then ($2 || to_hex(x'100000000000'::bigint + n))::uuid end
    from generate_series(1, 3000) as n`
  await worker.query(rows, [org_id, prefix, 0, act, false])
  await worker.query(rows, [org_id, prefix, 100_000, undo, true])
  const actor = { kind: 'member', org_id, user_id, organization_id, role: 'owner' } as never
  const read = visibleRows(kysely, actor, () => 'member').where('h.act_id', '=', act)
  const plan = JSON.stringify(await read.explain('json'))
  assert.ok(/undoes_id_idx|history_undoes/.test(plan))
  const found = await read.execute()
  assert.ok(found.every(({ undone_by_id }) => undone_by_id !== null))
  assert.equal(found.length, 3000)
})
