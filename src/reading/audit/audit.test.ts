// Each check of the audit finds the faults that are put into the books for it.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { seedAdAccount } from '../../../tests/support/ad-accounts.ts'
import { startHouse, type TestHouse } from '../../../tests/support/house.ts'
import { seedClick, seedRule } from '../../../tests/support/intake.ts'
import { openQueue } from '../../../tests/support/organization-queue.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import { NIL_ID, newId } from '../../contract/ids.ts'
import { foldEvents } from '../reports/fold-events.ts'
import { auditBooks } from './audit.ts'

let house: TestHouse
before(async () => {
  house = await startHouse({ WELCOME_CREDIT: '12.34', PRICE_PER_PERSON: '0.07' })
})
after(() => house.end())

describe('the audit finds', () => {
  const harm: [check: string, sql: string][] = [
    ['the ledger adds up to the balance', 'update balances set balance = balance + 0.000001 where org_id = $1'],
    ['every person of a billable event was charged', "delete from ledger where org_id = $1 and kind = 'charge'"],
    ['every charge stands on its event', 'delete from events where org_id = $1'],
    ['a Telegram user is one person', `update events set telegram_user_id = 'same' where org_id = $1`],
    ['a key leads to a person', 'delete from persons where org_id = $1'],
    [
      'an alias leads to an event',
      'insert into event_aliases select org_id, gen_random_uuid(), gen_random_uuid(), created_at from events where org_id = $1',
    ],
    ['every delivery stands on an event that is no test', 'delete from events where org_id = $1'],
    [
      'every rule that was there fires for every event it means, and no other',
      'delete from deliveries where org_id = $1',
    ],
    [
      'every rule that was there fires for every event it means, and no other',
      `update events set type = 'deposit' where org_id = $1`,
    ],
    [
      'every conversion is told to the ad account it was meant for, and to no other',
      "delete from deliveries where kind = 'ad_account' and org_id = $1",
    ],
    [
      'every conversion is told to the ad account it was meant for, and to no other',
      `update deliveries set target_id = '${newId()}' where kind = 'ad_account' and org_id = $1`,
    ],
    [
      'every conversion is told to the ad account it was meant for, and to no other',
      "update ad_accounts set state = 'off' where org_id = $1",
    ],
    [
      'every conversion is told to the ad account it was meant for, and to no other',
      "update clicks set platform = 'tiktok' where org_id = $1",
    ],
    [
      'revenue is the sum of what its conversions count for',
      'update clicks set revenue = revenue + 1 where org_id = $1',
    ],
    [
      'revenue is the sum of what its conversions count for',
      `insert into event_revisions (org_id, event_id, seq, status, amount, source, created_at)
        select org_id, id, 1, 'rejected', 0, 'dashboard', now() from events where org_id = $1`,
    ],
    [
      'revisions stand on an event, numbered without a gap',
      `insert into event_revisions (org_id, event_id, seq, status, amount, source, created_at)
        select org_id, id, 2, 'approved', payout, 'dashboard', now() from events where org_id = $1`,
    ],
    [
      'every cap has counted the conversions of its period',
      `with cap as (
        insert into caps (org_id, id, object, object_id, metric, event_types, "limit", period, timezone, when_unknown, active, created_at, updated_at)
        values ($1, gen_random_uuid(), 'offer', gen_random_uuid(), 'conversions', '{}', 5, 'total', 'UTC', 'closed', true, now(), now())
        returning org_id, id)
      insert into cap_counts (org_id, cap_id, period_start, used, reserved) select org_id, id, '1970-01-01', 1, 0 from cap`,
    ],
    [
      'a click has every stage its events have reached, its status is the highest, and it counts',
      'update clicks set stages = 1, status = 0 where org_id = $1',
    ],
    [
      'a click has every stage its events have reached, its status is the highest, and it counts',
      'update clicks set status = 5 where org_id = $1',
    ],
    [
      'a click has every stage its events have reached, its status is the highest, and it counts',
      'update clicks set tracked = false where org_id = $1',
    ],
    [
      'the report counts what the clicks are',
      `insert into report_sheet (org_id, id, changes) values ($1, '${newId()}',
        array[row($1::int, '2026-01-01', '${newId()}', '${newId()}', '', '', 0, 0, 0, 0, 1, 0, 0, 0)::report_change])`,
    ],
    [
      'the report counts what the clicks are',
      "insert into report_day select $1::int, 1, '2026-01-01', gen_random_uuid(), '', 0, 0, 0, 0, 0, 0, 0, 0.01",
    ],
    [
      'the report counts what the clicks are',
      `insert into counter_sheet values ($1::int, gen_random_uuid(), array[row($1, '2026-01-01', null, gen_random_uuid(), gen_random_uuid(),
        '', '', null, null, null, null, null, null, null, null, 0.000000001, 0, null, null, null, null)::report_change2])`,
    ],
    ['the report counts what the clicks are', 'update clicks set cost_counts = true where org_id = $1'],
    [
      'every level of the report counts the same',
      `insert into report_day select $1::int, level, '2026-01-01', gen_random_uuid(), '', level, 0, 0, 0, 0, 0, 0, 0
        from unnest(array[1, 33]) level`,
    ],
    [
      'the report counts the conversions there are, as they stand',
      'update events set counted = not counted where org_id = $1',
    ],
    [
      'the report counts the conversions there are, as they stand',
      "insert into event_counts select $1::int, 1, '2026-01-01', gen_random_uuid(), '', 'lead', 1",
    ],
    [
      'every level of the report counts the same conversions',
      `insert into event_counts select $1::int, level, '2026-01-01', gen_random_uuid(), '', 'lead', level
        from unnest(array[1, 33]) level`,
    ],
  ]
  harm.push(
    [
      'half hours that add up to their day count what the clicks are',
      `insert into counter_sheet (org_id, id, changes) select $1::int, gen_random_uuid(), array_agg(
        row($1, current_date, slot, '${NIL_ID}', null, null, null, more, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)::report_change2)
        from (values (3, 1), (4, -1)) as moved (slot, more)`,
    ],
    [
      'half hours of all campaigns are those of each',
      `insert into report_slot select $1::int, 11, '${NIL_ID}', '2026-01-01', 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0`,
    ],
  )
  for (const [check, sql] of harm) {
    test(`each fault of "${check}": ${sql.slice(0, 50)}`, async () => {
      const { org_id } = await seedSignedIn(house)
      await seedRule(house.database, org_id, { event_type: 'lead' })
      await seedAdAccount(house.database, org_id)
      const queue = openQueue(house.database)
      for (let at = 0; at < 2; at += 1)
        await queue.send(org_id, await seedClick(house.database, org_id, { platform: 'meta' }), {
          payout: '3',
          payload: { telegram_user_id: at },
        })
      await queue.close()
      // All rows are changed, because with one row of each kind swapping both would keep the counts.
      await foldEvents(house.database.worker)
      assert.deepEqual(await auditBooks(house.database.reads, org_id), [])
      await house.database.worker.query(sql, [org_id])
      const found = await auditBooks(house.database.reads, org_id)
      assert.ok(
        found.some(finding => finding.check === check),
        JSON.stringify(found),
      )
    })
  }
})
