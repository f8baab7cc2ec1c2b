// Old rows of automation are deleted, younger ones and open ones stay.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId, seedOrganization, type TestHouse, useHouse } from '../../tests/support/house.ts'
import { DAY_MS } from '../contract/days.ts'
import { openAutomationRetention } from './retention.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString()

test('ended messages are kept for 30 days, checks of rules and ended episodes for 90', async () => {
  const { org_id } = await seedOrganization(house.database)
  const { kysely: db } = house.database
  const rule_id = newId()
  for (const days of [1, 29, 31, 89, 91]) {
    const [at, id] = [daysAgo(days), newId()]
    const window = { window_from: at, window_to: at }
    const check = { rule_id, rule_version: 1, checked_at: at, ...window, state: 'acted' as const, objects: '[]' }
    await db
      .insertInto('rule_checks')
      .values({ org_id, id, ...check })
      .execute()
    const message = { receiver_id: newId(), number: days, body: '{}', created_at: at, due_at: at }
    await db
      .insertInto('receiver_messages')
      .values({ org_id, id, ...message, state: 'sent', ended_at: at })
      .execute()
    await db
      .insertInto('receiver_messages')
      // Not due, because a process that looks for due messages would delete those of an unknown receiver.
      .values({ org_id, id: newId(), ...message, due_at: daysAgo(-1), state: 'waiting' })
      .execute()
    const episode = { kind: 'rule', object_kind: 'campaign', messages: 1, began_at: at, told_at: at }
    await db
      .insertInto('alert_episodes')
      .values({ org_id, id, key: `${days}`, ...episode, over_at: at })
      .execute()
    await db
      .insertInto('alert_episodes')
      .values({ org_id, id: newId(), key: `open ${days}`, ...episode })
      .execute()
  }
  await openAutomationRetention(house.ground).close()
  const left = async (table: 'rule_checks' | 'receiver_messages' | 'alert_episodes') =>
    (await db.selectFrom(table).select('id').where('org_id', '=', org_id).execute()).length
  assert.equal(await left('rule_checks'), 4)
  assert.equal(await left('receiver_messages'), 2 + 5)
  assert.equal(await left('alert_episodes'), 4 + 5)
})
