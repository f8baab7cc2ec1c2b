/** Ends split tests of funnels and click flows, and lets them go on. Owns `test_ends`. */
import { sql } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { refuse } from '../../contract/refusals.ts'
import { inOneTransaction } from '../../ground/db/one-transaction.ts'
import { lockHistory, recordChanges } from '../../ground/history/record.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { readMoment } from '../../money/billing/balance.ts'
import type { TestEnds } from '../campaigns/live-rows.ts'
import { announceChange } from '../campaigns/live.ts'
import type * as api from './api.ts'
import { endSnapshot, nameOfTest, readEnds, testObject } from './history.ts'
import { type TestPlace, variantsOf } from './variants.ts'

/** Refuses `object_not_found`, and `invalid_request` for a winner that is no member. */
export async function endFunnelTest(
  context: Context<typeof api.endFunnelTest>,
  { params, body: { test_id: test, winner } }: Call<typeof api.endFunnelTest>,
) {
  return await ended(context, { of: 'funnel', id: idOf(params.id), test }, winner)
}

/** Refuses `object_not_found`, and `invalid_request` for a winner to which the split of the published version does not lead. */
export async function endClickFlowTest(
  context: Context<typeof api.endClickFlowTest>,
  { params, body: { test_id: test, winner } }: Call<typeof api.endClickFlowTest>,
) {
  return await ended(context, { of: 'click_flow', id: idOf(params.id), test }, winner)
}

type Writing = Pick<Context<typeof api.endFunnelTest>, 'db' | 'actor' | 'act'>

/** Saves the end with its history. */
async function ended({ db, actor, act }: Writing, place: TestPlace, winner: string | null) {
  const { org_id } = actor
  const { of, id, test } = place
  return await inOneTransaction(db, async trx => {
    const variants = await variantsOf(trx, org_id, place)
    if (variants.length === 0) refuse('invalid_request', { error: `test_id: there is no test ${test}` })
    if (winner !== null && !variants.includes(winner))
      refuse('invalid_request', { error: 'winner: is no variant of the test' })
    const object = testObject(id, nameOfTest(of, test))
    // The ends of all tests of a funnel or flow are one row.
    await lockHistory(trx, org_id, [object, { kind: of, id }])
    const ends = await readEnds(trx, org_id, id)
    const before = endSnapshot(object.name ?? '', ends)
    const isSame = (ends?.[test]?.winner ?? null) === winner
    const { [test]: _, ...others } = ends ?? {}
    // The process's own clock decides, as it does for the visits.
    const now: TestEnds = isSame
      ? (ends ?? {})
      : { ...others, ...(winner === null ? {} : { [test]: { winner, at_ms: Date.now() } }) }
    const after = endSnapshot(object.name ?? '', now)
    if (!isSame) {
      const updated_at = await readMoment(trx, org_id)
      await sql`
        insert into test_ends (org_id, object_id, tests, updated_at) values (${org_id}, ${id}, ${JSON.stringify(now)}, ${updated_at})
        on conflict (org_id, object_id) do update set tests = excluded.tests, updated_at = excluded.updated_at`.execute(
        trx,
      )
      await recordChanges(trx, org_id, act, [{ ...object, before, after }])
      await announceChange(trx, org_id, id)
    }
    const end = now[test]
    return { test_id: test, winner, ended_at: end === undefined ? null : new Date(end.at_ms).toISOString() }
  })
}
