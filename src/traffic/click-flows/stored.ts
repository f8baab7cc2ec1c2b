/** Rows of click flows that are not deleted, and the campaigns that lead to them. */
import { type Kysely, sql } from 'kysely'
import { refuse } from '../../contract/refusals.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { idOf } from '../../ground/room.ts'
import { readMoment } from '../../money/billing/balance.ts'
import type { FlowStatus, Graph } from './api.ts'
import { readVersion } from './versions.ts'

export type StoredFlow = {
  id: string
  name: string
  graph: Graph
  status: FlowStatus
  published_version: number | null
  is_draft_published: boolean
  draft_tag: string
  tag_ids: string[]
  note: string | null
  created_at: string
  updated_at: string
}

/** Equal graphs have equal tags, because the text of a jsonb value is canonical. */
const TAG = sql<string>`md5(f.graph::text)`

export const liveFlows = (db: Kysely<Tables>, org_id: number) =>
  db
    .selectFrom('click_flows as f')
    .leftJoin('click_flow_versions as v', join =>
      join
        .onRef('v.org_id', '=', 'f.org_id')
        .onRef('v.click_flow_id', '=', 'f.id')
        .onRef('v.version', '=', 'f.published_version'),
    )
    .select([
      'f.id',
      'f.name',
      'f.graph',
      'f.status',
      'f.published_version',
      'f.tag_ids',
      'f.note',
      'f.created_at',
      'f.updated_at',
    ])
    .select(sql<boolean>`coalesce(v.graph = f.graph, false)`.as('is_draft_published'))
    .select(TAG.as('draft_tag'))
    .where('f.org_id', '=', org_id)
    .where('f.deleted_at', 'is', null)

/** A flow that is not deleted, by its wire id. Refuses `object_not_found`. */
export async function flowOf(db: Kysely<Tables>, org_id: number, id: string): Promise<StoredFlow> {
  const uuid = idOf(id)
  const row = await liveFlows(db, org_id).where('f.id', '=', uuid).$castTo<StoredFlow>().executeTakeFirst()
  return row ?? refuse('object_not_found')
}

/** The graph of a version. Refuses `object_not_found`. */
export async function versionOf(db: Kysely<Tables>, org_id: number, id: string, version: number): Promise<Graph> {
  return (await readVersion(db, org_id, id, version)) ?? refuse('object_not_found', { error: 'no such version' })
}

/** The campaigns that lead to these flows. */
export async function usersOf(db: Kysely<Tables>, org_id: number, ids: readonly string[]) {
  if (ids.length === 0) return []
  return await db
    .selectFrom('campaigns')
    .select(['id', 'name', sql<string>`destination ->> 'click_flow_id'`.as('flow_id')])
    .where('org_id', '=', org_id)
    .where('deleted_at', 'is', null)
    .where(sql<boolean>`destination ->> 'type' = 'click_flow' and destination ->> 'click_flow_id' = any(${ids})`)
    .orderBy('id')
    .execute()
}

type FlowChanges = { name?: string; graph?: string; status?: FlowStatus; published_version?: number } | 'deleted'

/** Writes changes to a flow, if its draft still has the tag. False if it has not, or the flow is deleted. */
export async function writeFlow(
  db: Kysely<Tables>,
  org_id: number,
  id: string,
  changes: FlowChanges,
  tag?: string,
): Promise<boolean> {
  const now = await readMoment(db, org_id)
  let update = db
    .updateTable('click_flows as f')
    .set({ ...(changes === 'deleted' ? { deleted_at: now } : changes), updated_at: now })
    .where('f.org_id', '=', org_id)
    .where('f.id', '=', id)
    .where('f.deleted_at', 'is', null)
  if (tag !== undefined) update = update.where(TAG, '=', tag)
  const { numUpdatedRows } = await update.executeTakeFirst()
  return numUpdatedRows === 1n
}
