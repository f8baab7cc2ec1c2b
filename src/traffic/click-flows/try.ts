// Tests a flow with a described visitor or the last real clicks, by the draft and by the published version. Records nothing.
import { type Kysely, sql } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import type { Sub } from '../../contract/fields.ts'
import { newId, timeOfId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Context } from '../../ground/room.ts'
import type * as api from './api.ts'
import type { Graph, Tried } from './api.ts'
import { flowOf, usersOf, versionOf } from './stored.ts'
import type { FlowVisitor } from './conditions.ts'
import { describe, type Told, type Trial, explainTrial, flowVisitorOf } from './explain.ts'
import { objectProblems, readObjects } from './objects.ts'
import { problemsOf } from './validate.ts'
import { compileFlow } from './walk.ts'

/**
 * Returns for each visitor all nodes of the path with the reasons. Refuses `object_not_found`, and `invalid_request` if clicks are asked for but
 * no campaign leads to the flow.
 */
export async function tryClickFlow(
  { db, actor }: Context<typeof api.tryClickFlow>,
  { params, body }: Call<typeof api.tryClickFlow>,
): Promise<Tried> {
  const { org_id } = actor
  const flow = await flowOf(db, org_id, params.id)
  const trials =
    body.visitor == null
      ? await lastClicks(db, org_id, await campaignsFor(db, org_id, flow.id, body.campaign_id), body.last_clicks ?? 1)
      : [{ ...NO_CLICK, visitor: flowVisitorOf(body.visitor, Date.now(), newId()) }]
  const published =
    flow.published_version === null ? null : await versionOf(db, org_id, flow.id, flow.published_version)
  const graphs = published === null ? [flow.graph] : [flow.graph, published]
  const objects = await readObjects(db, org_id, graphs)
  const teller = (graph: Graph) => {
    const compiled = compileFlow(flow.id, graph)
    return (trial: Trial) => explainTrial(compiled, graph, trial, objects)
  }
  const byDraft = teller(flow.graph)
  const byPublished = published === null ? () => null : teller(published)
  const visitors = trials.map(trial => {
    const { click_id, visitor } = trial
    const [draft, published] = [byDraft(trial), byPublished(trial)]
    return { click_id, says: describe(visitor), draft, published, is_changed: draft.target !== published?.target }
  })
  return {
    visitors,
    tried: visitors.length,
    changed: visitors.filter(({ is_changed }) => is_changed).length,
    ends: endsOf(visitors),
    problems: [...problemsOf(flow.graph), ...objectProblems(flow.graph, objects)],
  }
}

const NO_CLICK = { click_id: null, campaign_id: null, ref_id: null }

function endsOf(visitors: readonly { draft: Told; published: Told | null }[]): Tried['ends'] {
  const ends = new Map<string, Tried['ends'][number]>()
  const count = (way: Told | null, which: 'draft' | 'published') => {
    if (way === null) return
    const end = ends.get(way.leads_to) ?? { leads_to: way.leads_to, draft: 0, published: 0 }
    end[which] += 1
    ends.set(way.leads_to, end)
  }
  for (const { draft, published } of visitors) {
    count(draft, 'draft')
    count(published, 'published')
  }
  return [...ends.values()].sort((a, b) => b.draft + b.published - a.draft - a.published)
}

/** The given campaign, or else all campaigns that lead to the flow. */
async function campaignsFor(
  db: Kysely<Tables>,
  org_id: number,
  flow_id: string,
  named: string | null | undefined,
): Promise<string[]> {
  if (named != null) {
    const found = await db
      .selectFrom('campaigns')
      .select('id')
      .where('org_id', '=', org_id)
      .where('id', '=', named)
      .executeTakeFirst()
    return found === undefined ? refuse('invalid_request', { error: 'campaign_id: no such campaign' }) : [found.id]
  }
  const using = (await usersOf(db, org_id, [flow_id])).map(({ id }) => id)
  if (using.length > 0) return using
  return refuse('invalid_request', {
    error: 'last_clicks: no campaign leads to this flow yet',
    hint: 'Send the campaign whose clicks to use (campaign_id).',
  })
}

type ClickRow = Pick<FlowVisitor, 'geo' | 'device' | 'os' | 'browser' | Sub> & {
  id: string
  campaign_id: string | null
  ref_id: string | null
  visitor_id: string | null
  visitor_is_new: boolean | null
  tracked: boolean
  test: boolean
}

/** The newest clicks of the campaigns. The newest of each campaign are read first, because that is one short index scan each. */
async function lastClicks(db: Kysely<Tables>, org_id: number, campaigns: string[], count: number): Promise<Trial[]> {
  const { rows } = await sql<ClickRow>`
    select k.* from unnest(${campaigns}::uuid[]) as u (campaign_id)
    cross join lateral (
      select id, campaign_id, ref_id, geo, device, os, browser, sub1, sub2, sub3, sub4, sub5, sub6, sub7, sub8, sub9,
        visitor_id, visitor_is_new, tracked, test
      from clicks where org_id = ${org_id} and clicks.campaign_id = u.campaign_id order by id desc limit ${count}
    ) k order by k.id desc limit ${count}`.execute(db)
  return rows.map(({ id, campaign_id, ref_id, visitor_id, visitor_is_new, tracked, test, ...fields }) => ({
    click_id: id,
    campaign_id,
    ref_id,
    visitor: {
      ...fields,
      language: null,
      is_new: visitor_is_new ?? false,
      // The time of the last visit is only in the visitor's cookie.
      seen_ms: visitor_is_new === false ? timeOfId(id) : null,
      is_bot: fields.device === 'bot' || (!tracked && !test),
      ms: timeOfId(id),
      seed: visitor_id ?? id,
    },
  }))
}
