/**
 * The campaigns whose visitors go to the fallback because their destination closed: an offer or a landing was archived or deleted; a funnel, a
 * bot or a channel was deleted; a click flow is no longer active. Owns no table. Must agree with what the redirect does.
 */
import { type Kysely, sql } from 'kysely'
import type { OnFallback } from '../../contract/consequences.ts'
import type { FlowNode, Graph } from '../../contract/flow-graph.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Key, Member } from '../../ground/room.ts'
import { isInScope } from '../../ground/scope.ts'

type ActorAndDatabase = { readonly db: Kysely<Tables>; readonly actor: Member | Key }
type Kind = 'offer' | 'landing' | 'funnel' | 'click_flow' | 'bot' | 'channel'

/** Whether visitors of a campaign no longer reach its destination, depending on whether it has a fallback. */
type IsClosed = (hasFallback: boolean) => boolean
const ALWAYS: IsClosed = () => true

/**
 * The active campaigns that now send all or some visitors to their fallback or nowhere, because the object, open before, has closed. Ordered by
 * id; only campaigns that the actor may access.
 */
export async function campaignsOnFallback(
  { db, actor }: ActorAndDatabase,
  kind: Kind,
  id: string,
): Promise<OnFallback> {
  const { org_id } = actor
  const closed = new Map<string, IsClosed>()
  if (kind === 'click_flow' || kind === 'bot' || kind === 'channel') closed.set(id, ALWAYS)
  if (kind === 'funnel')
    for (const [funnel, isClosed] of await funnelsBefore(db, org_id, id)) closed.set(funnel, isClosed)
  if (kind === 'offer' || kind === 'landing')
    for (const [funnel, isClosed] of await funnelsWithout(db, org_id, kind, id)) closed.set(funnel, isClosed)
  if (kind !== 'funnel' && kind !== 'click_flow')
    for (const [flow, isClosed] of await flowsWithout(db, org_id, kind, id)) closed.set(flow, isClosed)
  const leading = await activeCampaigns(db, org_id, [...closed.keys()], kind === 'offer' ? id : null)
  return leading
    .filter(({ to, fallback_url }) => (to === null ? ALWAYS : closed.get(to))?.(fallback_url !== null) === true)
    .filter(campaign => isInScope(actor, campaign.id))
    .map(({ id, name, fallback_url }) => ({ id, name, has_fallback: fallback_url !== null }))
}

/**
 * Active campaigns that lead to one of the ids, and those that redirect, have the offer, and have a fallback (without one their visitors still
 * go to the address). `to` is null for the latter.
 */
async function activeCampaigns(db: Kysely<Tables>, org_id: number, ids: string[], offer_id: string | null) {
  const to = sql<string | null>`coalesce(destination ->> 'funnel_id', destination ->> 'click_flow_id',
    destination -> 'telegram' ->> 'bot_id', destination -> 'channel' ->> 'channel_id')`
  return await db
    .selectFrom('campaigns')
    .select(['id', 'name', 'fallback_url', to.as('to')])
    .where('org_id', '=', org_id)
    .where('deleted_at', 'is', null)
    .where('status', '=', 'active')
    .where(
      sql<boolean>`(${to} = any(${ids}::text[]) or destination ->> 'type' = 'redirect' and ${to} is null and offer_id = ${offer_id}::uuid and fallback_url is not null)`,
    )
    .orderBy('id')
    .execute()
}

type Funnel = { id: string; landings: { landing_id: string }[]; offers: { offer_id: string }[] }

/** Whether a funnel can take visitors, by the same rule as the redirect. */
function canTake({ landings, offers }: Funnel, open: ReadonlySet<string>, hasFallback: boolean): boolean {
  const hasOffer = offers.some(({ offer_id }) => open.has(offer_id))
  if (!hasOffer && offers.length > 0 && hasFallback) return false
  return hasOffer || landings.some(({ landing_id }) => open.has(landing_id))
}

/** The deleted funnel: its visitors are affected if it could take them before. */
async function funnelsBefore(db: Kysely<Tables>, org_id: number, id: string): Promise<[string, IsClosed][]> {
  const funnels = await funnelRows(db, org_id).where('id', '=', id).$castTo<Funnel>().execute()
  const open = await openMembers(db, org_id, funnels)
  return funnels.map(funnel => [funnel.id, hasFallback => canTake(funnel, open, hasFallback)])
}

/** The funnels that can no longer take visitors without the offer or landing. */
async function funnelsWithout(
  db: Kysely<Tables>,
  org_id: number,
  kind: 'offer' | 'landing',
  id: string,
): Promise<[string, IsClosed][]> {
  const member = JSON.stringify([{ [`${kind}_id`]: id }])
  const funnels = await funnelRows(db, org_id)
    .where('deleted_at', 'is', null)
    .where(sql<boolean>`${sql.ref(`${kind}s`)} @> ${member}::jsonb`)
    .$castTo<Funnel>()
    .execute()
  const others = await openMembers(db, org_id, funnels)
  others.delete(id)
  const before = new Set(others).add(id)
  return funnels.map(funnel => [
    funnel.id,
    hasFallback => canTake(funnel, before, hasFallback) && !canTake(funnel, others, hasFallback),
  ])
}

const funnelRows = (db: Kysely<Tables>, org_id: number) =>
  db.selectFrom('funnels').select(['id', 'landings', 'offers']).where('org_id', '=', org_id)

/** The active landings and offers of the funnels. */
async function openMembers(db: Kysely<Tables>, org_id: number, funnels: readonly Funnel[]): Promise<Set<string>> {
  const idsOf = {
    landings: funnels.flatMap(({ landings }) => landings.map(({ landing_id }) => landing_id)),
    offers: funnels.flatMap(({ offers }) => offers.map(({ offer_id }) => offer_id)),
  }
  const open = new Set<string>()
  for (const table of ['landings', 'offers'] as const) {
    if (idsOf[table].length === 0) continue
    const rows = await db
      .selectFrom(table)
      .select('id')
      .where('org_id', '=', org_id)
      .where('id', 'in', idsOf[table])
      .where('deleted_at', 'is', null)
      .where('status', '=', 'active')
      .execute()
    for (const { id } of rows) open.add(id)
  }
  return open
}

/** The active flows that have a node for the offer, bot, channel or landing. */
async function flowsWithout(
  db: Kysely<Tables>,
  org_id: number,
  kind: Exclude<Kind, 'funnel' | 'click_flow'>,
  id: string,
): Promise<[string, IsClosed][]> {
  const types: readonly FlowNode['type'][] = kind === 'bot' ? ['bot', 'mini_app'] : [kind]
  const refersToIt = (node: FlowNode) => types.includes(node.type) && node[`${kind}_id`] === id
  const holds = types.map(type => JSON.stringify({ nodes: [{ type, [`${kind}_id`]: id }] }))
  const flows = await db
    .selectFrom('click_flows as f')
    .innerJoin('click_flow_versions as v', join =>
      join
        .onRef('v.org_id', '=', 'f.org_id')
        .onRef('v.click_flow_id', '=', 'f.id')
        .onRef('v.version', '=', 'f.published_version'),
    )
    .select(['f.id', 'v.graph'])
    .where('f.org_id', '=', org_id)
    .where('f.deleted_at', 'is', null)
    .where('f.status', '=', 'active')
    .where(sql<boolean>`v.graph @> any(${holds}::jsonb[])`)
    .$castTo<{ id: string; graph: Graph }>()
    .execute()
  return flows.map(flow => [
    flow.id,
    // Without a fallback, visitors still see a landing before a closed step.
    hasFallback => hasFallback || kind === 'landing' || isReachedWithoutLanding(flow.graph, refersToIt),
  ])
}

/** Whether a path without a landing leads to a node that `matches`. */
function isReachedWithoutLanding({ nodes, edges }: Graph, matches: (node: FlowNode) => boolean): boolean {
  const byId = new Map(nodes.map(node => [node.id, node]))
  const reached = new Set(nodes.filter(({ type }) => type === 'entry').map(node => node.id))
  // Iterating over a Set also visits the entries that are added meanwhile.
  for (const from of reached)
    for (const edge of edges) if (edge.from === from && byId.get(edge.to)?.type !== 'landing') reached.add(edge.to)
  return nodes.some(node => reached.has(node.id) && matches(node))
}
