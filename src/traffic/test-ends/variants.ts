/** The variants that a split test has, whether or not they take visitors. Reads `funnels`, `click_flows` and `click_flow_versions`. */
import type { Kysely } from 'kysely'
import type { Graph } from '../../contract/flow-graph.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Tables } from '../../ground/db/tables.ts'

/** A test of a funnel (`landings` or `offers`), or of a click flow (the split). */
export type TestPlace = { readonly of: 'funnel' | 'click_flow'; readonly id: string; readonly test: string }

/** The landings, offers or nodes that the test compares; none if there is no such test. Refuses `object_not_found`. */
export async function variantsOf(
  db: Kysely<Tables>,
  org_id: number,
  { of, id, test }: TestPlace,
): Promise<readonly string[]> {
  return of === 'funnel' ? await membersOf(db, org_id, id, test) : await branchesOf(db, org_id, id, test)
}

async function membersOf(db: Kysely<Tables>, org_id: number, id: string, test: string): Promise<string[]> {
  const funnel = await db
    .selectFrom('funnels')
    .select(['landings', 'offers'])
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (funnel === undefined) refuse('object_not_found')
  const [members, column] = test === 'landings' ? [funnel.landings, 'landing_id'] : [funnel.offers, 'offer_id']
  return (members as Record<string, unknown>[]).map(member => String(member[column]))
}

async function branchesOf(db: Kysely<Tables>, org_id: number, id: string, test: string): Promise<string[]> {
  const flow = await db
    .selectFrom('click_flows as f')
    .leftJoin('click_flow_versions as v', join =>
      join
        .onRef('v.org_id', '=', 'f.org_id')
        .onRef('v.click_flow_id', '=', 'f.id')
        .onRef('v.version', '=', 'f.published_version'),
    )
    .select('v.graph')
    .where('f.org_id', '=', org_id)
    .where('f.id', '=', id)
    .where('f.deleted_at', 'is', null)
    .executeTakeFirst()
  if (flow === undefined) refuse('object_not_found')
  const { nodes = [], edges = [] } = (flow.graph ?? {}) as unknown as Partial<Graph>
  const isSplit = nodes.some(node => node.id === test && node.type === 'split')
  return isSplit ? edges.flatMap(({ from, to }) => (from === test ? [to] : [])) : []
}
