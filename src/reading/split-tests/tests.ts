/**
 * The split tests of funnels and click flows: the landings and the offers of a funnel, and each split of a published flow, if visitors are shared
 * between at least two variants. Owns no table. Reads `funnels`, `click_flows`, `click_flow_versions`, `campaigns`, `landings`, `offers`,
 * `history`, `test_ends`.
 */
import { type Kysely, sql } from 'kysely'
import { isDeepStrictEqual } from 'node:util'
import { DAY_MS } from '../../contract/days.ts'
import type { Call } from '../../contract/endpoint.ts'
import type { FlowEdge, Graph } from '../../contract/flow-graph.ts'
import { toUuid, toWireId } from '../../contract/ids.ts'
import { msOfDatabase } from '../../contract/moments.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, type Ground, idOf } from '../../ground/room.ts'
import { readGoals } from '../../traffic/event-settings/goals.ts'
import { readEnds } from '../../traffic/test-ends/history.ts'
import type * as api from './api.ts'
import { countedSince, countVariants } from './counts.ts'
import { type CountedVariant, judge } from './verdict.ts'

/** A test looks back no further. */
const LONGEST_MS = 90 * DAY_MS

type Test = {
  readonly of: api.SplitTest['of']
  readonly id: string
  readonly node: string | null
  /** SQL of the variant of a click `c`. */
  readonly variant: string
  /** `key` is the variant as the SQL has it. */
  readonly variants: readonly {
    readonly id: string
    readonly key: string
    readonly name: string
    readonly weight: number
  }[]
  readonly since_ms: number
}

const NO_VISITORS: CountedVariant = { visitors: 0, matured: 0, conversions: 0, revenue: 0, squares: 0, most: 0 }

async function judged(
  { database, db }: Pick<Ground, 'database' | 'db'>,
  org_id: number,
  destination: { readonly type: 'funnel' | 'click_flow'; readonly id: string },
  tests: readonly Test[],
): Promise<{ data: api.SplitTest[] }> {
  if (tests.length === 0) return { data: [] }
  const now_ms = Date.now()
  const campaigns = await campaignsTo(db, org_id, destination)
  const goals = await readGoals(database.reads, org_id)
  const ends = await readEnds(db, org_id, destination.id)
  const data: api.SplitTest[] = []
  for (const { variant, variants, since_ms: begun_ms, ...test } of tests) {
    const kept_ms = Math.max(begun_ms, now_ms - LONGEST_MS)
    const since_ms = await countedSince(database.reads, { org_id, campaigns, since_ms: kept_ms })
    const end = ends?.[test.id]
    const until_ms = end?.at_ms ?? now_ms + 1
    const keys = variants.map(({ key }) => key)
    const asked = { org_id, campaigns, variant, variants: keys, since_ms, until_ms, now_ms }
    const counts = await countVariants(database.reads, asked, goals)
    const kept = variants.find(({ key }) => key === end?.winner)?.id
    const counted = variants.map(({ key, ...named }) => ({ ...named, counted: counts.get(key) ?? NO_VISITORS }))
    data.push(judge({ test, variants: counted, since_ms, now_ms, kept }))
  }
  return { data }
}

/** The campaigns that lead to a funnel or a click flow, with deleted ones. */
async function campaignsTo(db: Kysely<Tables>, org_id: number, { type, id }: { type: string; id: string }) {
  const rows = await db
    .selectFrom('campaigns')
    .select('id')
    .where('org_id', '=', org_id)
    .where(sql<boolean>`destination ->> ${`${type}_id`} = ${id}`)
    .execute()
  return rows.map(row => row.id)
}

/** The tests of a funnel. Refuses `object_not_found`. */
export async function readFunnelTests(
  context: Context<typeof api.readFunnelTests>,
  { params }: Call<typeof api.readFunnelTests>,
) {
  const { db, actor } = context
  const { org_id } = actor
  const funnel = await db
    .selectFrom('funnels')
    .select(['id', 'landings', 'offers', 'created_at'])
    .where('org_id', '=', org_id)
    .where('id', '=', idOf(params.id))
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (funnel === undefined) refuse('object_not_found')
  const tests = [
    await membersTest(db, org_id, funnel, 'landings'),
    await membersTest(db, org_id, funnel, 'offers'),
  ].flatMap(test => test ?? [])
  return judged(context, org_id, { type: 'funnel', id: funnel.id }, tests)
}

type FunnelRow = Pick<Tables['funnels'], 'id' | 'landings' | 'offers' | 'created_at'>

async function membersTest(db: Kysely<Tables>, org_id: number, funnel: FunnelRow, of: 'landings' | 'offers') {
  const column = of === 'landings' ? 'landing_id' : 'offer_id'
  const members = funnel[of] as unknown as { landing_id?: string; offer_id?: string; weight: number }[]
  const ids = members.flatMap(member => member[column] ?? [])
  if (ids.length < 2) return undefined
  const open = await db
    .selectFrom(of)
    .select(['id', 'name'])
    .where('org_id', '=', org_id)
    .where('id', 'in', ids)
    .where('status', '=', 'active')
    .where('deleted_at', 'is', null)
    .execute()
  const names = new Map(open.map(({ id, name }) => [id, name]))
  const variants = members.flatMap(({ weight, [column]: id = '' }) => {
    const name = names.get(id)
    return name === undefined ? [] : [{ id: toWireId(id), key: id, name, weight }]
  })
  if (variants.length < 2) return undefined
  const since_ms = await lastChangeOf(db, org_id, funnel, of)
  return { of, id: of, node: null, variant: `c.${column}::text`, variants, since_ms } satisfies Test
}

/** When the members or weights last changed, by the history; before it began, when the funnel was created. */
async function lastChangeOf(
  db: Kysely<Tables>,
  org_id: number,
  { id, created_at }: Pick<FunnelRow, 'id' | 'created_at'>,
  field: 'landings' | 'offers',
): Promise<number> {
  const changed = await db
    .selectFrom('history')
    .select('created_at')
    .where('org_id', '=', org_id)
    .where('kind', '=', 'funnel')
    .where('object_id', '=', id)
    .where(sql<boolean>`exists (select from json_array_elements(fields) field where field ->> 'name' = ${field})`)
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return msOfDatabase(changed?.created_at ?? created_at)
}

/** The tests of a click flow: one for each split of its published version. Refuses `object_not_found`. */
export async function readClickFlowTests(
  context: Context<typeof api.readClickFlowTests>,
  { params }: Call<typeof api.readClickFlowTests>,
) {
  const { db, actor } = context
  const { org_id } = actor
  const id = idOf(params.id)
  const flow = await db
    .selectFrom('click_flows')
    .select('id')
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (flow === undefined) refuse('object_not_found')
  const versions = await db
    .selectFrom('click_flow_versions')
    .select(['graph', 'published_at'])
    .where('org_id', '=', org_id)
    .where('click_flow_id', '=', id)
    .orderBy('version', 'desc')
    .$castTo<PublishedGraph>()
    .execute()
  const [newest] = versions
  const splits = newest?.graph.nodes.filter(({ type }) => type === 'split') ?? []
  const tests: Test[] = []
  for (const { id: node } of splits) {
    const edges = branchesOf(newest?.graph, node)
    if (edges.length < 2) continue
    const names = await namesOfNodes(db, org_id, newest?.graph)
    tests.push({
      of: 'split',
      id: node,
      node,
      // A path is the version, a colon and the nodes with > between them. Ids of nodes have no other signs than - and _.
      variant: `substring(c.click_flow_node_path from '[:>]${node}>([A-Za-z0-9_-]+)')`,
      variants: edges.map(({ to, weight }) => ({ id: to, key: to, name: names.get(to) ?? to, weight: weight ?? 0 })),
      since_ms: msOfDatabase(unchangedSince(versions, node, edges)),
    })
  }
  return judged(context, org_id, { type: 'click_flow', id }, tests)
}

type PublishedGraph = { readonly graph: Graph; readonly published_at: string }

const branchesOf = (graph: Graph | undefined, node: string): FlowEdge[] =>
  (graph?.edges ?? []).filter(({ from, weight }) => from === node && (weight ?? 0) > 0)

/** When the first of the versions was published that have had this split like this ever since. */
function unchangedSince(versions: readonly PublishedGraph[], node: string, edges: readonly FlowEdge[]): string {
  const shares = (of: readonly FlowEdge[]) => of.map(({ to, weight }) => `${to} ${weight}`).toSorted()
  const changed = versions.findIndex(({ graph }) => !isDeepStrictEqual(shares(branchesOf(graph, node)), shares(edges)))
  return versions.at(changed < 0 ? -1 : changed - 1)?.published_at ?? ''
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
