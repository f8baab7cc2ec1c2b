/** Versions of click flows: what was put into traffic, kept for ever and never changed. Owns `click_flow_versions`. */
import { type Kysely, sql } from 'kysely'
import type { Call } from '../contract/endpoint.ts'
import { refuse } from '../contract/refusals.ts'
import type { Tables } from '../db/tables.ts'
import { type Context, idOf } from '../room.ts'
import type * as api from './api.ts'
import type { FlowVersion, Graph } from './api.ts'

/** Versions of a flow, newest first. Refuses `object_not_found`. */
export async function listClickFlowVersions(
  { db, actor }: Context<typeof api.listClickFlowVersions>,
  { params, query }: Call<typeof api.listClickFlowVersions>,
) {
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
  let rows = db
    .selectFrom('click_flow_versions')
    .select(['version', 'published_at', sql<number>`jsonb_array_length(graph -> 'nodes')`.as('nodes')])
    .where('org_id', '=', org_id)
    .where('click_flow_id', '=', id)
  if (query.before !== undefined) rows = rows.where('version', '<', query.before)
  const found: FlowVersion[] = await rows
    .orderBy('version', 'desc')
    .limit(query.limit + 1)
    .execute()
  const data = found.slice(0, query.limit)
  return { data, next_before: found.length > data.length ? (data.at(-1)?.version ?? null) : null }
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

/** The graph of a version, or undefined. A number that no version can have is as good as one that none has. */
export async function readVersion(
  db: Kysely<Tables>,
  org_id: number,
  click_flow_id: string,
  version: number,
): Promise<Graph | undefined> {
  if (!Number.isInteger(version) || version < 1 || version > 2 ** 31 - 1) return undefined
  const row = await db
    .selectFrom('click_flow_versions')
    .select('graph')
    .where('org_id', '=', org_id)
    .where('click_flow_id', '=', click_flow_id)
    .where('version', '=', version)
    .$castTo<{ graph: Graph }>()
    .executeTakeFirst()
  return row?.graph
}
