/**
 * Click flows: graphs that decide where a visitor goes. Owns `click_flows`. People change the draft; traffic follows only the published version,
 * and only while the flow is active. Otherwise visitors of its campaigns go to the fallback. A key that is restricted to campaigns can change a flow
 * only if it lists all campaigns that lead there. Deletion is soft.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Kysely } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { createOnce } from '../../ground/create-once.ts'
import { newestFirstFile } from '../../ground/db/list-file.ts'
import { nameHolds, newestFirst, picked, type Wanted } from '../../ground/db/lists.ts'
import { undelete } from '../../ground/db/undelete.ts'
import { hasTag, noteDeed, tagsDeed } from '../../ground/db/labels.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, idOf, type Key, type Member } from '../../ground/room.ts'
import { readMoment } from '../../money/billing/balance.ts'
import { requireScopeOfAll } from '../campaigns/campaigns.ts'
import { announceChange } from '../campaigns/live.ts'
import { campaignsOnFallback } from '../campaigns/on-fallback.ts'
import * as api from './api.ts'
import type { ClickFlow, Graph, FlowProblem, WrittenFlow } from './api.ts'
import { objectProblems, readObjects } from './objects.ts'
import { problemsOf } from './validate.ts'
import { fallbackWarnings, graphWarnings } from './warnings.ts'
import { flowOf, liveFlows, type StoredFlow, usersOf, versionOf, writeFlow } from './stored.ts'
import { addVersion, readVersion } from './versions.ts'

/** Flows of the organization, newest first, including archived ones unless `status` says otherwise. */
export async function listClickFlows(
  { db, actor }: Context<typeof api.listClickFlows>,
  { query }: Call<typeof api.listClickFlows>,
) {
  const { data, next_cursor } = await newestFirst(listed(db, actor.org_id, query), query, 'f.id')
  return { data: await withUsers(db, actor.org_id, data), next_cursor }
}

/** The listed flows as a CSV file. Refuses `too_many_lines`. */
export async function exportClickFlows(
  { db, actor }: Context<typeof api.exportClickFlows>,
  { body }: Call<typeof api.exportClickFlows>,
) {
  const rows = listed(db, actor.org_id, picked(body))
  return await newestFirstFile(api.ListedFlow, rows, found => withUsers(db, actor.org_id, found), 'f.id')
}

function listed(
  db: Kysely<Tables>,
  org_id: number,
  { ids, q, tag_id, status }: Wanted<Call<typeof api.listClickFlows>['query']>,
) {
  let rows = liveFlows(db, org_id)
  if (ids !== undefined) rows = rows.where('f.id', 'in', ids)
  if (q) rows = rows.where(nameHolds(q, 'f.name'))
  if (status !== undefined) rows = rows.where('f.status', '=', status)
  if (tag_id !== undefined) rows = rows.where(hasTag(tag_id, 'f.tag_ids'))
  return rows.$castTo<StoredFlow>()
}

async function withUsers(db: Kysely<Tables>, org_id: number, found: readonly StoredFlow[]) {
  const ids = found.map(({ id }) => id)
  const using = await usersOf(db, org_id, ids)
  return found.map(flow => ({ ...flow, campaigns: using.filter(({ flow_id }) => flow_id === flow.id) }))
}

/** One flow with its draft. Refuses `object_not_found`. */
export async function readClickFlow(
  { db, actor }: Context<typeof api.readClickFlow>,
  { params }: Call<typeof api.readClickFlow>,
) {
  return await withProblems(db, actor.org_id, await flowOf(db, actor.org_id, params.id))
}

/** Creates a draft. It may be incomplete; `problems` lists why it cannot be published. */
export async function createClickFlow(
  context: Context<typeof api.createClickFlow>,
  { body }: Call<typeof api.createClickFlow>,
) {
  const { db, actor } = context
  const { org_id } = actor
  const now = await readMoment(db, org_id)
  const graph = graphText(body.graph)
  const created = { org_id, id: newId(), name: body.name, graph, status: 'draft', created_at: now, updated_at: now }
  const id = await db
    .transaction()
    .execute(trx =>
      createOnce(trx, context, { table: 'click_flows', id: created.id, body }, () =>
        trx.insertInto('click_flows').values(created).execute(),
      ),
    )
  const flow = await withProblems(db, org_id, await flowOf(db, org_id, id))
  return { ...flow, warnings: graphWarnings(flow.graph) }
}

/**
 * Replaces name and draft; traffic does not change. Refuses `object_not_found`, and `draft_changed` if the stored graph does not match the tag.
 */
export async function replaceClickFlow(
  { db, actor }: Context<typeof api.replaceClickFlow>,
  { params, body }: Call<typeof api.replaceClickFlow>,
) {
  const { name, graph, draft_tag } = body
  return await changeFlow(db, actor.org_id, params.id, { name, graph: graphText(graph) }, draft_tag ?? undefined)
}

/**
 * Pauses, archives or activates. Refuses `click_flow_active_forbidden` if a key activates it (keys publish instead), and
 * `click_flow_not_published` if it was never published.
 */
export async function setClickFlowStatus(
  { db, actor }: Context<typeof api.setClickFlowStatus>,
  { params, body }: Call<typeof api.setClickFlowStatus>,
) {
  const { status } = body
  if (status === 'active' && actor.kind === 'key') refuse('click_flow_active_forbidden')
  const { id, before } = await db.transaction().execute(async db => {
    const flow = await lockFlow(db, actor, params.id)
    if (status === 'active' && flow.published_version === null) refuse('click_flow_not_published')
    if (status !== flow.status) await writeFlow(db, actor.org_id, flow.id, { status })
    return { id: flow.id, before: flow.status }
  })
  if (status !== before) await announceChange(db, actor.org_id, id)
  const flow = await withProblems(db, actor.org_id, await flowOf(db, actor.org_id, id))
  const isOff = before === 'active' && status !== 'active'
  return {
    ...flow,
    warnings: status === 'active' ? await fallbackWarnings(db, actor.org_id, id) : [],
    campaigns_on_fallback: isOff ? await campaignsOnFallback({ db, actor }, 'click_flow', id) : [],
  }
}

/**
 * Makes the draft the next version and the flow active. It is live in this process before the answer, in others within a second. Concurrent calls
 * run one after another; an unchanged draft creates no version. Refuses `click_flow_incomplete` with all problems.
 */
export async function publishClickFlow(
  { db, actor }: Context<typeof api.publishClickFlow>,
  { params }: Call<typeof api.publishClickFlow>,
) {
  const { org_id } = actor
  const id = await db.transaction().execute(async db => {
    const { id, graph, status, published_version } = await lockFlow(db, actor, params.id)
    requireComplete(await allProblems(db, org_id, graph))
    const present = published_version === null ? undefined : await readVersion(db, org_id, id, published_version)
    if (isDeepStrictEqual(present, graph)) {
      if (status !== 'active') await writeFlow(db, org_id, id, { status: 'active' })
      return id
    }
    const version = (published_version ?? 0) + 1
    await addVersion(db, org_id, id, version, graphText(graph))
    await writeFlow(db, org_id, id, { status: 'active', published_version: version })
    return id
  })
  await announceChange(db, org_id, id)
  const flow = await withProblems(db, org_id, await flowOf(db, org_id, id))
  return { ...flow, warnings: [...graphWarnings(flow.graph), ...(await fallbackWarnings(db, org_id, id))] }
}

/** Deletes softly. Visitors of its campaigns go to the fallback. */
export async function deleteClickFlow(
  { db, actor }: Context<typeof api.deleteClickFlow>,
  { params }: Call<typeof api.deleteClickFlow>,
) {
  const { id, status } = await db.transaction().execute(async db => {
    const flow = await lockFlow(db, actor, params.id)
    await writeFlow(db, actor.org_id, flow.id, 'deleted')
    return flow
  })
  await announceChange(db, actor.org_id, id)
  const campaigns_on_fallback = status === 'active' ? await campaignsOnFallback({ db, actor }, 'click_flow', id) : []
  return { ok: true as const, id, campaigns_on_fallback }
}

/** Restores a version as the draft. Refuses `object_not_found` if the flow or the version does not exist. */
export async function restoreClickFlowVersion(
  { db, actor }: Context<typeof api.restoreClickFlowVersion>,
  { params }: Call<typeof api.restoreClickFlowVersion>,
) {
  const { id } = await flowOf(db, actor.org_id, params.id)
  const graph = await versionOf(db, actor.org_id, id, Number(params.version))
  return await changeFlow(db, actor.org_id, id, { graph: graphText(graph) })
}

/** Locks a flow for a change that affects traffic. Refuses `object_not_found`, and `campaign_scope_forbidden` if the key does not list all its campaigns. */
async function lockFlow(db: Kysely<Tables>, actor: Member | Key, id: string) {
  const uuid = idOf(id)
  const flow = await db
    .selectFrom('click_flows')
    .select(['id', 'graph', 'status', 'published_version'])
    .where('org_id', '=', actor.org_id)
    .where('id', '=', uuid)
    .where('deleted_at', 'is', null)
    .forUpdate()
    .$castTo<Pick<StoredFlow, 'id' | 'graph' | 'status' | 'published_version'>>()
    .executeTakeFirst()
  if (flow === undefined) refuse('object_not_found')
  await requireScopeOfAll({ db, actor }, 'click_flow', flow.id)
  return flow
}

/** Writes changes that do not affect traffic, so no announcement is needed. */
async function changeFlow(
  db: Kysely<Tables>,
  org_id: number,
  id: string,
  changes: { name?: string; graph: string },
  tag?: string,
): Promise<WrittenFlow> {
  const now = await flowOf(db, org_id, id)
  const { graph, name = now.name } = changes
  const isEqual = name === now.name && isDeepStrictEqual(JSON.parse(graph), now.graph)
  const isWritten = isEqual
    ? tag === undefined || tag === now.draft_tag
    : await writeFlow(db, org_id, now.id, changes, tag)
  const flow = isEqual ? now : await flowOf(db, org_id, now.id)
  if (!isWritten) refuse('draft_changed')
  return { ...(await withProblems(db, org_id, flow)), warnings: graphWarnings(flow.graph) }
}

async function withProblems(db: Kysely<Tables>, org_id: number, flow: StoredFlow): Promise<ClickFlow> {
  const [campaigns, problems] = await Promise.all([usersOf(db, org_id, [flow.id]), allProblems(db, org_id, flow.graph)])
  return { ...flow, campaigns, problems }
}

async function allProblems(db: Kysely<Tables>, org_id: number, graph: Graph): Promise<FlowProblem[]> {
  return [...problemsOf(graph), ...objectProblems(graph, await readObjects(db, org_id, [graph]))]
}

function requireComplete(problems: readonly FlowProblem[]): void {
  if (problems.length === 0) return
  refuse('click_flow_incomplete', {
    error: `the click flow cannot be published: ${problems.map(({ message }) => message).join(' ')}`,
    hint: 'Correct the draft, then publish again. Traffic has not changed.',
  })
}

/** The graph without null fields, so that equal graphs compare as equal. */
const graphText = (graph: Graph): string => JSON.stringify(graph, (_, value: unknown) => value ?? undefined)

/** Takes back the deletion of a click flow, for the history; traffic goes there again. False if it is not deleted. */
export async function restoreClickFlow(db: Kysely<Tables>, org_id: number, id: string): Promise<boolean> {
  const isRestored = await undelete(db, 'click_flows', { org_id, id, at: await readMoment(db, org_id) })
  await announceChange(db, org_id, id)
  return isRestored
}

export const setClickFlowTags = tagsDeed('click_flows')
export const setClickFlowNote = noteDeed('click_flows')
