/** Ends split tests of funnels and click flows, and lets them go on. Owns `test_ends`. */
import { type Kysely, sql } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import type { Graph } from '../../contract/flow-graph.ts'
import { refuse } from '../../contract/refusals.ts'
import { inOneTransaction } from '../../ground/db/one-transaction.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { lockHistory, recordChanges } from '../../ground/history/record.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { readMoment } from '../../money/billing/balance.ts'
import type { TestEnds } from '../campaigns/live-rows.ts'
import { announceChange } from '../campaigns/live.ts'
import type * as api from './api.ts'
import { endSnapshot, nameOfTest, readEnds, testObject } from './history.ts'

/** Refuses `object_not_found`, and `invalid_request` for a winner that is no active member. */
export async function endFunnelTest(
  context: Context<typeof api.endFunnelTest>,
  { params, body: { test_id, winner } }: Call<typeof api.endFunnelTest>,
) {
  const id = idOf(params.id)
  const end = { of: 'funnel', id, test: test_id, winner } as const
  return await ended(context, end, async trx => {
    const funnel = await trx
      .selectFrom('funnels')
      .select(['landings', 'offers'])
      .where('org_id', '=', context.actor.org_id)
      .where('id', '=', id)
      .where('deleted_at', 'is', null)
      .executeTakeFirst()
    if (funnel === undefined) refuse('object_not_found')
    const column = test_id === 'landings' ? 'landing_id' : 'offer_id'
    const members = funnel[test_id] as Record<string, unknown>[]
    return members.map(member => String(member[column]))
  })
}

/** Refuses `object_not_found`, and `invalid_request` for a winner to which the split of the published version does not lead. */
export async function endClickFlowTest(
  context: Context<typeof api.endClickFlowTest>,
  { params, body: { test_id, winner } }: Call<typeof api.endClickFlowTest>,
) {
  const id = idOf(params.id)
  const end = { of: 'click_flow', id, test: test_id, winner } as const
  return await ended(context, end, async trx => {
    const flow = await trx
      .selectFrom('click_flows as f')
      .leftJoin('click_flow_versions as v', join =>
        join
          .onRef('v.org_id', '=', 'f.org_id')
          .onRef('v.click_flow_id', '=', 'f.id')
          .onRef('v.version', '=', 'f.published_version'),
      )
      .select('v.graph')
      .where('f.org_id', '=', context.actor.org_id)
      .where('f.id', '=', id)
      .where('f.deleted_at', 'is', null)
      .executeTakeFirst()
    if (flow === undefined) refuse('object_not_found')
    const { nodes = [], edges = [] } = (flow.graph ?? {}) as unknown as Partial<Graph>
    const isSplit = nodes.some(node => node.id === test_id && node.type === 'split')
    return isSplit ? edges.flatMap(({ from, to }) => (from === test_id ? [to] : [])) : []
  })
}

type End = {
  readonly of: 'funnel' | 'click_flow'
  readonly id: string
  readonly test: string
  readonly winner: string | null
}
type Writing = Pick<Context<typeof api.endFunnelTest>, 'db' | 'actor' | 'act'>

/** Saves the end with its history. `variantsOf` returns the variants of the test, none if there is no such test. */
async function ended(
  { db, actor, act }: Writing,
  { of, id, test, winner }: End,
  variantsOf: (trx: Kysely<Tables>) => Promise<readonly string[]>,
) {
  const { org_id } = actor
  return await inOneTransaction(db, async trx => {
    const variants = await variantsOf(trx)
    if (variants.length === 0) refuse('invalid_request', { error: `test_id: there is no test ${test}` })
    if (winner !== null && !variants.includes(winner))
      refuse('invalid_request', { error: 'winner: is no variant of the test' })
    const object = testObject(id, nameOfTest(of, test))
    await lockHistory(trx, org_id, [object])
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
