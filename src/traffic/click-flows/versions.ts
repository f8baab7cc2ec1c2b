/** The published versions of click flows, kept for ever and never changed. Owns `click_flow_versions`. */
import { type Kysely, sql } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, idOf } from '../../ground/room.ts'
import type * as api from './api.ts'
import type { FlowVersion, Graph } from './api.ts'

/** Versions of a flow, newest first. Refuses `object_not_found`. */
export async function listClickFlowVersions(
  { db, actor }: Context<typeof api.listClickFlowVersions>,
  { params, query }: Call<typeof api.listClickFlowVersions>,
) {
  const id = await requireFlow(db, actor.org_id, params.id)
  let rows = versions(db, actor.org_id, id).select(LISTED)
  if (query.before !== undefined) rows = rows.where('version', '<', query.before)
  const found: FlowVersion[] = await rows
    .orderBy('version', 'desc')
    .limit(query.limit + 1)
    .execute()
  const data = found.slice(0, query.limit)
  return { data, next_before: found.length > data.length ? (data.at(-1)?.version ?? null) : null }
}

/** One version with its graph. Refuses `object_not_found` if the flow or the version does not exist. */
export async function readClickFlowVersion(
  { db, actor }: Context<typeof api.readClickFlowVersion>,
  { params }: Call<typeof api.readClickFlowVersion>,
) {
  const id = await requireFlow(db, actor.org_id, params.id)
  const version = Number(params.version)
  const row = isPossible(version)
    ? await versions(db, actor.org_id, id)
        .select([...LISTED, 'graph'])
        .where('version', '=', version)
        .$castTo<FlowVersion & { graph: Graph }>()
        .executeTakeFirst()
    : undefined
  return row ?? refuse('object_not_found', { error: 'no such version' })
}

/** Adds a version inside the transaction that publishes it. `graph` is JSON text. */
export async function addVersion(
  db: Kysely<Tables>,
  org_id: number,
  click_flow_id: string,
  version: number,
  graph: string,
): Promise<void> {
  await db
    .insertInto('click_flow_versions')
    .values({ org_id, click_flow_id, version, graph, published_at: new Date().toISOString() })
    .execute()
}

/** Numbers beyond the column's range are treated as missing versions. */
const isPossible = (version: number): boolean => Number.isInteger(version) && version >= 1 && version <= 2 ** 31 - 1

const LISTED = ['version', 'published_at', sql<number>`jsonb_array_length(graph -> 'nodes')`.as('nodes')] as const

const versions = (db: Kysely<Tables>, org_id: number, click_flow_id: string) =>
  db.selectFrom('click_flow_versions').where('org_id', '=', org_id).where('click_flow_id', '=', click_flow_id)

/** The flow's id, if it exists and is not deleted. */
async function requireFlow(db: Kysely<Tables>, org_id: number, sent: string): Promise<string> {
  const flow = await db
    .selectFrom('click_flows')
    .select('id')
    .where('org_id', '=', org_id)
    .where('id', '=', idOf(sent))
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return flow?.id ?? refuse('object_not_found')
}

/** The graph of a version, or undefined. */
export async function readVersion(
  db: Kysely<Tables>,
  org_id: number,
  click_flow_id: string,
  version: number,
): Promise<Graph | undefined> {
  if (!isPossible(version)) return undefined
  const row = await versions(db, org_id, click_flow_id)
    .select('graph')
    .where('version', '=', version)
    .$castTo<{ graph: Graph }>()
    .executeTakeFirst()
  return row?.graph
}
