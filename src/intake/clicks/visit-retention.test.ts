import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useDatabase } from '../../../tests/support/database.ts'
import { DAY_MS } from '../../contract/days.ts'
import { firstIdAt, newId } from '../../contract/ids.ts'
import { dropOldVisits } from './visit-retention.ts'

const { database } = await useDatabase()
const ORGS = [1, 2]

test('claims go after two days; reports of pages and aliases go with their clicks, and not before', async () => {
  const { worker } = database
  const before = Date.now() - 400 * DAY_MS
  const [old, kept] = [newId(before - DAY_MS), newId(before + DAY_MS)]
  for (const org_id of ORGS) {
    await worker.query(
      'insert into balances (org_id, balance, price_per_person, hold_when_empty) values ($1, 0, 0, false)',
      [org_id],
    )
    for (const age of ['3 days', '49 hours', '47 hours', '1 minute'])
      await worker.query(`insert into platform_visits values ($1, $2, $3, true, now() - $4::interval)`, [
        org_id,
        newId(),
        newId(),
        age,
      ])
    for (const click of [old, kept]) {
      await worker.query(
        `insert into page_visits (org_id, token, campaign_id, click_id, received_at, via) values ($1, $2, $2, $3, now(), 'script')`,
        [org_id, newId(), click],
      )
      await worker.query('insert into click_aliases values ($1, $2, $3)', [org_id, click, newId()])
    }
  }
  const left = async () => {
    const { rows } = await worker.query<{ claims: number; visits: number; aliases: number }>(
      `select (select count(*)::int from platform_visits) as claims, (select count(*)::int from page_visits) as visits,
        (select count(*)::int from click_aliases) as aliases`,
    )
    return rows[0]
  }
  await dropOldVisits(worker)
  assert.deepEqual(await left(), { claims: 4, visits: 4, aliases: 4 })
  await worker.query('insert into dropped_clicks values ($1, now())', [firstIdAt(before)])
  const done = await dropOldVisits(worker)
  assert.equal(done, firstIdAt(before))
  assert.deepEqual(await left(), { claims: 4, visits: 2, aliases: 2 })
  assert.equal(await dropOldVisits(worker, undefined, done), done)
  assert.deepEqual(await left(), { claims: 4, visits: 2, aliases: 2 })
})
