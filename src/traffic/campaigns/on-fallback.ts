/**
 * Which campaigns lose their way when what they lead to has closed: an offer or a landing that was archived or deleted, a funnel, a bot or a
 * channel that was deleted, a click flow that left active. Owns no table; reads what the redirect goes by, and must say what the redirect does.
 */
import { type Kysely, sql } from 'kysely'
import type { OnFallback } from '../../contract/consequences.ts'
import type { FlowNode, Graph } from '../../contract/flow-graph.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Key, Member } from '../../ground/room.ts'
import { isInScope } from '../../ground/scope.ts'

type Asking = { readonly db: Kysely<Tables>; readonly actor: Member | Key }
type Kind = 'offer' | 'landing' | 'funnel' | 'click_flow' | 'bot' | 'channel'

/** Whether visitors of a campaign lose their way, by whether it has a fallback. */
type Lost = (hasFallback: boolean) => boolean
const ALWAYS: Lost = () => true

/**
 * The active campaigns that send visitors, all or some, to their fallback or nowhere because this has closed, which was open before; by id, and
 * only those the actor may touch.
 */
export async function campaignsOnFallback({ db, actor }: Asking, kind: Kind, id: string): Promise<OnFallback> {
  const { org_id } = actor
  const lost = new Map<string, Lost>()
  if (kind === 'click_flow' || kind === 'bot' || kind === 'channel') lost.set(id, ALWAYS)
  if (kind === 'funnel') for (const [funnel, was] of await funnelsBefore(db, org_id, id)) lost.set(funnel, was)
  if (kind === 'offer' || kind === 'landing')
    for (const [funnel, is] of await funnelsWithout(db, org_id, kind, id)) lost.set(funnel, is)
  if (kind !== 'funnel' && kind !== 'click_flow')
    for (const [flow, is] of await flowsWithout(db, org_id, kind, id)) lost.set(flow, is)
  const leading = await activeCampaigns(db, org_id, [...lost.keys()], kind === 'offer' ? id : null)
  return leading
    .filter(({ to, fallback_url }) => (to === null ? () => true : lost.get(to))?.(fallback_url !== null) === true)
    .filter(campaign => isInScope(actor, campaign.id))
    .map(({ id, name }) => ({ id, name }))
}

/**
 * Active campaigns that lead to one of these, and those that redirect for the offer and have a fallback: without one their visitors go on to the
 * address. `to` is null for those.
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

/** As the redirect decides: whether a funnel has somewhere to send a visitor. */
function takes({ landings, offers }: Funnel, open: ReadonlySet<string>, hasFallback: boolean): boolean {
  const hasOffer = offers.some(({ offer_id }) => open.has(offer_id))
  if (!hasOffer && offers.length > 0 && hasFallback) return false
  return hasOffer || landings.some(({ landing_id }) => open.has(landing_id))
}

/** A funnel that was deleted: who came through it before. */
async function funnelsBefore(db: Kysely<Tables>, org_id: number, id: string): Promise<[string, Lost][]> {
  const funnels = await funnelRows(db, org_id).where('id', '=', id).$castTo<Funnel>().execute()
  const open = await openMembers(db, org_id, funnels)
  return funnels.map(funnel => [funnel.id, hasFallback => takes(funnel, open, hasFallback)])
}

/** The funnels that an offer or a landing was the last of. */
async function funnelsWithout(
  db: Kysely<Tables>,
  org_id: number,
  kind: 'offer' | 'landing',
  id: string,
): Promise<[string, Lost][]> {
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
    hasFallback => takes(funnel, before, hasFallback) && !takes(funnel, others, hasFallback),
  ])
}

const funnelRows = (db: Kysely<Tables>, org_id: number) =>
  db.selectFrom('funnels').select(['id', 'landings', 'offers']).where('org_id', '=', org_id)

/** The landings and offers of the funnels that take visitors. */
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

/** The flows in traffic some of whose paths end at an offer, a bot or a channel, or go over a landing. */
async function flowsWithout(
  db: Kysely<Tables>,
  org_id: number,
  kind: Exclude<Kind, 'funnel' | 'click_flow'>,
  id: string,
): Promise<[string, Lost][]> {
  const types: readonly FlowNode['type'][] = kind === 'bot' ? ['bot', 'mini_app'] : [kind]
  const names = (node: FlowNode) => types.includes(node.type) && node[`${kind}_id`] === id
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
    // Without a fallback a landing whose end is closed is shown all the same.
    hasFallback => hasFallback || kind === 'landing' || isMetFirst(flow.graph, names),
  ])
}

/** Whether a visitor can come to a node that names it without a landing before. */
function isMetFirst({ nodes, edges }: Graph, names: (node: FlowNode) => boolean): boolean {
  const byId = new Map(nodes.map(node => [node.id, node]))
  const reached = new Set(nodes.filter(({ type }) => type === 'entry').map(node => node.id))
  // A set that grows while it is walked yields what was added, too.
  for (const from of reached)
    for (const edge of edges) if (edge.from === from && byId.get(edge.to)?.type !== 'landing') reached.add(edge.to)
  return nodes.some(node => reached.has(node.id) && names(node))
}
