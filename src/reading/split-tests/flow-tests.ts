/** The tests of a click flow: each split of its published version. Reads `click_flows`, `click_flow_versions`, `landings`, `offers` and `weight_moves`. */
import { type Kysely, sql } from 'kysely'
import { isDeepStrictEqual } from 'node:util'
import type { FlowEdge, Graph } from '../../contract/flow-graph.ts'
import { toUuid } from '../../contract/ids.ts'
import { msOfDatabase } from '../../contract/moments.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { movesOf, type WeightMove } from '../../traffic/automatic-weights/moves.ts'
import type { ObjectTest } from './object-test.ts'

/** Refuses `object_not_found`. */
export async function testsOfFlow(db: Kysely<Tables>, org_id: number, id: string): Promise<ObjectTest[]> {
  const flow = await db
    .selectFrom('click_flows as f')
    .leftJoin('click_flow_versions as v', join =>
      join
        .onRef('v.org_id', '=', 'f.org_id')
        .onRef('v.click_flow_id', '=', 'f.id')
        .onRef('v.version', '=', 'f.published_version'),
    )
    .select('f.status')
    .select(sql<boolean>`coalesce(v.graph = f.graph, false)`.as('is_draft_published'))
    .where('f.org_id', '=', org_id)
    .where('f.id', '=', id)
    .where('f.deleted_at', 'is', null)
    .executeTakeFirst()
  if (flow === undefined) refuse('object_not_found')
  const waits_for = flow.status !== 'active' ? 'not_active' : flow.is_draft_published ? null : 'draft'
  const versions = await db
    .selectFrom('click_flow_versions')
    .select(['version', 'graph', 'published_at'])
    .where('org_id', '=', org_id)
    .where('click_flow_id', '=', id)
    .orderBy('version', 'desc')
    .$castTo<PublishedGraph>()
    .execute()
  const graph = versions[0]?.graph
  const splits = graph?.nodes.filter(({ type }) => type === 'split') ?? []
  const names = await namesOfNodes(db, org_id, graph)
  const tests: ObjectTest[] = []
  for (const { id: node } of splits) {
    const edges = branchesOf(graph, node)
    if (edges.length < 2) continue
    tests.push({
      of: 'split',
      id: node,
      node,
      // A path is the version, a colon and the nodes with > between them. Ids of nodes have no other signs than - and _.
      variant: `substring(c.click_flow_node_path from '[:>]${node}>([A-Za-z0-9_-]+)')`,
      variants: edges.map(({ to, weight }) => ({ id: to, key: to, name: names.get(to) ?? to, weight: weight ?? 0 })),
      waits_for,
      ...begunAt(versions, node, await movesOf(db, org_id, id, node)),
    })
  }
  return tests
}

type PublishedGraph = { readonly version: number; readonly graph: Graph; readonly published_at: string }

const branchesOf = (graph: Graph | undefined, node: string): FlowEdge[] =>
  (graph?.edges ?? []).filter(({ from, weight }) => from === node && (weight ?? 0) > 0)

/** When the first of the versions was published that have had this split like this ever since, but for moves; and the moves since then, in order. */
function begunAt(
  versions: readonly PublishedGraph[],
  node: string,
  moves: readonly WeightMove[],
): Pick<ObjectTest, 'since_ms' | 'moves_ms' | 'last_move_ms'> {
  const movedMs = new Map(moves.map(({ version, moved_ms }) => [version, moved_ms]))
  const shares = ({ graph }: PublishedGraph) =>
    branchesOf(graph, node)
      .map(({ to, weight }) => `${to} ${weight}`)
      .toSorted()
  const moves_ms: number[] = []
  let first = versions[0]
  for (const before of versions.slice(1)) {
    if (first === undefined) break
    const moved_ms = movedMs.get(first.version)
    if (moved_ms !== undefined) moves_ms.unshift(moved_ms)
    else if (!isDeepStrictEqual(shares(before), shares(first))) break
    first = before
  }
  return { since_ms: msOfDatabase(first?.published_at ?? ''), moves_ms, last_move_ms: moves[0]?.moved_ms }
}

/** The label of each node, or else the name of its landing or offer. */
async function namesOfNodes(
  db: Kysely<Tables>,
  org_id: number,
  graph: Graph | undefined,
): Promise<Map<string, string>> {
  const nodes = graph?.nodes ?? []
  const named = async (table: 'landings' | 'offers', ids: readonly string[]) => {
    if (ids.length === 0) return []
    return await db
      .selectFrom(table)
      .select(['id', 'name'])
      .where('org_id', '=', org_id)
      .where('id', 'in', ids)
      .execute()
  }
  const rows = [
    ...(await named(
      'landings',
      nodes.flatMap(({ landing_id }) => landing_id ?? []),
    )),
    ...(await named(
      'offers',
      nodes.flatMap(({ offer_id }) => offer_id ?? []),
    )),
  ]
  const names = new Map(rows.map(({ id, name }) => [id, name]))
  const nameOf = (id: string | null | undefined) => (id == null ? undefined : names.get(toUuid(id) ?? id))
  return new Map(
    nodes.map(({ id, type, label, landing_id, offer_id }) => [
      id,
      label ?? nameOf(landing_id) ?? nameOf(offer_id) ?? `${type} ${id}`,
    ]),
  )
}
