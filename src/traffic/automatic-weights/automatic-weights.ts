/**
 * Switches the automatic weights of split tests on and off. Owns `automatic_tests` and `weight_moves`, which `src/automation/weights` writes by
 * `moves.ts`: the moves themselves go through the endpoints of funnels and click flows.
 */
import type { Call } from '../../contract/endpoint.ts'
import { refuse } from '../../contract/refusals.ts'
import { inOneTransaction } from '../../ground/db/one-transaction.ts'
import { lockHistory, recordChanges } from '../../ground/history/record.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { nameOfTest, readEnds, testObject } from '../test-ends/history.ts'
import { type TestPlace, variantsOf } from '../test-ends/variants.ts'
import type * as api from './api.ts'
import { automaticSnapshot, isAutomatic } from './history.ts'

/** Refuses `object_not_found`, and `invalid_request` for a test with fewer than two members or one that was ended. */
export async function setFunnelTestAutomatic(
  context: Context<typeof api.setFunnelTestAutomatic>,
  { params, body: { test_id: test, automatic } }: Call<typeof api.setFunnelTestAutomatic>,
) {
  return await turned(context, { of: 'funnel', id: idOf(params.id), test }, automatic)
}

/** Refuses `object_not_found`, and `invalid_request` for a node that is no split of the published version, or a test that was ended. */
export async function setClickFlowTestAutomatic(
  context: Context<typeof api.setClickFlowTestAutomatic>,
  { params, body: { test_id: test, automatic } }: Call<typeof api.setClickFlowTestAutomatic>,
) {
  return await turned(context, { of: 'click_flow', id: idOf(params.id), test }, automatic)
}

type Writing = Pick<Context<typeof api.setFunnelTestAutomatic>, 'db' | 'actor' | 'act'>

/** Saves the switch with its history. A test that is switched on is looked at within seconds. */
async function turned({ db, actor, act }: Writing, place: TestPlace, automatic: boolean) {
  const { org_id } = actor
  const { of, id, test } = place
  return await inOneTransaction(db, async trx => {
    if ((await variantsOf(trx, org_id, place)).length < 2)
      refuse('invalid_request', { error: `test_id: there is no test ${test}` })
    const object = testObject(id, nameOfTest(of, test))
    await lockHistory(trx, org_id, [object])
    if (automatic && (await readEnds(trx, org_id, id))?.[test] !== undefined)
      refuse('invalid_request', { error: `test_id: the test ${test} was ended`, hint: 'Go on with the test first.' })
    const was = await isAutomatic(trx, org_id, id, test)
    if (was === automatic) return { test_id: test, automatic }
    // The process's own clock decides what is due.
    const state = { automatic, next_look_at: automatic ? new Date().toISOString() : null, refused: null }
    await trx
      .insertInto('automatic_tests')
      .values({ org_id, object_id: id, test, ...state })
      .onConflict(on => on.columns(['org_id', 'object_id', 'test']).doUpdateSet(state))
      .execute()
    const name = object.name ?? ''
    const change = { before: automaticSnapshot(name, was), after: automaticSnapshot(name, automatic) }
    await recordChanges(trx, org_id, act, [{ ...object, ...change }])
    return { test_id: test, automatic }
  })
}
