/** The endpoints of click flows: graphs that decide where a visitor goes. */
import { z } from 'zod'
import { DeletedFromTraffic, OnFallback } from '../../contract/consequences.ts'
import { endpoint, REPEATABLE } from '../../contract/endpoint.ts'
import { eachSub, Id, Instant, Name, Page, Text } from '../../contract/fields.ts'
import { Graph, GraphDraft, NodeType } from '../../contract/flow-graph.ts'
import { pickedFile } from '../../contract/list-files.ts'
import { LABELS, noteEndpoint, TagFilter, tagsEndpoint } from '../../contract/labels.ts'
import { paging, Search } from '../../contract/paging.ts'
import { Warnings } from '../../contract/warnings.ts'

export * from '../../contract/flow-graph.ts'

/** The most clicks that one test uses. */
export const MOST_TRIED = 200

export const FLOW_STATUSES = ['draft', 'active', 'paused', 'archived'] as const
export const FlowStatus = z.enum(FLOW_STATUSES)
export type FlowStatus = z.infer<typeof FlowStatus>

/** A reason why a graph cannot be published. `node_id` is null if it concerns the whole graph. */
export const FlowProblem = z
  .object({
    node_id: z.string().nullable(),
    message: z.string().meta({ description: 'Names the node and how to fix it' }),
  })
  .meta({ id: 'Problem' })
export type FlowProblem = z.output<typeof FlowProblem>

const UsingCampaign = z.object({ id: Id, name: z.string() })

export const ListedFlow = z
  .object({
    id: Id,
    name: z.string(),
    status: FlowStatus,
    published_version: z.int().nullable(),
    is_draft_published: z.boolean().meta({ description: 'False while the draft differs from the published version' }),
    campaigns: z.array(UsingCampaign).meta({ description: 'The campaigns that lead to it' }),
    created_at: Instant,
    ...LABELS,
    updated_at: Instant,
  })
  .meta({ id: 'ListedFlow' })
export type ListedFlow = z.output<typeof ListedFlow>

export const ClickFlow = ListedFlow.extend({
  graph: Graph.meta({ description: 'The draft' }),
  draft_tag: z.string().meta({
    description:
      'Changes with the draft’s graph. Send it with a change, so that two people do not overwrite each other',
  }),
  problems: z.array(FlowProblem).meta({ description: 'Why the draft cannot be published; empty if it can' }),
}).meta({ id: 'ClickFlow' })
export type ClickFlow = z.output<typeof ClickFlow>

const WrittenFlow = ClickFlow.extend({ warnings: Warnings }).meta({ id: 'WrittenFlow' })
export type WrittenFlow = z.output<typeof WrittenFlow>

export const FlowDraft = z.object({ name: Name(), graph: GraphDraft })
export type FlowDraft = z.output<typeof FlowDraft>

const FlowReplacement = FlowDraft.extend({
  draft_tag: z
    .string()
    .max(64)
    .nullish()
    .meta({ description: 'The tag of the draft that was read; refused if someone has changed the graph since' }),
})

export const FlowVersion = z
  .object({ version: z.int(), published_at: Instant, nodes: z.int() })
  .meta({ id: 'FlowVersion' })
export type FlowVersion = z.output<typeof FlowVersion>

const VisitorText = Text(500).nullish()

export const TriedVisitor = z.object({
  geo: VisitorText,
  device: VisitorText,
  os: VisitorText,
  browser: VisitorText,
  language: VisitorText,
  ...eachSub(() => VisitorText),
  at: Instant.nullish().meta({ description: 'The time of the visit; default: now' }),
  is_new: z.boolean().nullish().meta({ description: 'Whether it is the first visit; default: true' }),
  is_bot: z.boolean().nullish(),
  visitor: Text(64).nullish().meta({ description: 'The identity for splits: the same text gets the same branch' }),
})
export type TriedVisitor = z.output<typeof TriedVisitor>

const TryStep = z.object({
  node_id: z.string(),
  type: NodeType,
  label: z.string(),
  reason: z.string().meta({ description: 'Why the visitor goes on as they do' }),
})

export const Way = z
  .object({
    steps: z.array(TryStep),
    outcome: z
      .enum(['landing', 'offer', 'bot', 'mini_app', 'channel', 'redirect', 'fallback'])
      .meta({ description: 'The type of the destination; fallback: the campaign’s, because the path has no end' }),
    leads_to: z.string().meta({ description: 'The name of the destination, with the step after a landing' }),
    address: z.string().nullable().meta({
      description:
        'The address, filled with the values of this visitor (ids that only a click has are samples); null for the fallback',
    }),
    earns_for: z.string().nullable().meta({ description: 'The offer that the click is credited to; null for none' }),
  })
  .meta({ id: 'Way' })
export type Way = z.output<typeof Way>

export const Tried = z
  .object({
    visitors: z.array(
      z.object({
        click_id: Id.nullable().meta({ description: 'The click; null for a described visitor' }),
        says: z.string().meta({ description: 'A short description of the visitor' }),
        draft: Way,
        published: Way.nullable().meta({ description: 'null if no version is published' }),
        is_changed: z.boolean().meta({ description: 'Whether publishing the draft would send the visitor elsewhere' }),
      }),
    ),
    tried: z.int(),
    changed: z.int(),
    ends: z
      .array(z.object({ leads_to: z.string(), draft: z.int(), published: z.int() }))
      .meta({ description: 'The number of visitors per destination, by the draft and by the published version' }),
    problems: z.array(FlowProblem),
  })
  .meta({ id: 'Tried' })
export type Tried = z.output<typeof Tried>

const filters = {
  tag_id: TagFilter,
  q: Search.meta({ description: 'Part of the name' }),
  status: FlowStatus.optional(),
}

export const listClickFlows = endpoint({
  route: 'GET /api/click-flows',
  access: { session: 'member' },
  summary: 'List click flows, newest first',
  query: z.object({ ...paging, ...filters }),
  reply: Page(ListedFlow),
})

export const exportClickFlows = endpoint({
  ...pickedFile(filters),
  route: 'POST /api/click-flows/csv',
  summary: 'Save click flows as a CSV file',
})

export const readClickFlow = endpoint({
  route: 'GET /api/click-flows/:id',
  access: { session: 'member' },
  summary: 'Read a click flow with its draft',
  reply: ClickFlow,
  refuses: ['object_not_found'],
})

export const createClickFlow = endpoint({
  route: 'POST /api/click-flows',
  access: { session: 'admin', key: 'click-flows' },
  history: 'click_flow',
  summary: 'Create a click flow',
  description:
    'It starts as a draft without traffic until it is published. problems lists why it cannot be published yet. Unknown fields inside the graph are refused. A key restricted to campaigns can create one.',
  body: FlowDraft,
  reply: WrittenFlow,
  status: 201,
  ...REPEATABLE,
})

export const replaceClickFlow = endpoint({
  route: 'PUT /api/click-flows/:id',
  access: { session: 'admin', key: 'click-flows:update' },
  history: 'click_flow',
  summary: 'Replace the name and the draft of a click flow',
  description: 'Traffic uses the published version until the draft is published. Equal values change nothing.',
  body: FlowReplacement,
  reply: WrittenFlow,
  receipt: ['status', 'published_version', 'problems'],
  refuses: ['object_not_found', 'draft_changed'],
})

export const setClickFlowStatus = endpoint({
  route: 'PUT /api/click-flows/:id/status',
  access: { session: 'admin', key: 'click-flows:status' },
  history: 'click_flow',
  summary: 'Pause, archive or activate a click flow',
  description:
    'If it is no longer active, visitors of its campaigns go to their fallback at once. active makes the published version live again and needs a dashboard session; a key must publish instead.',
  body: z.object({ status: z.enum(['active', 'paused', 'archived']) }),
  reply: WrittenFlow.extend({ campaigns_on_fallback: OnFallback }),
  receipt: ['status', 'published_version'],
  refuses: ['object_not_found', 'campaign_scope_forbidden', 'click_flow_not_published', 'click_flow_active_forbidden'],
})

export const publishClickFlow = endpoint({
  route: 'POST /api/click-flows/:id/publish',
  access: { session: 'admin', key: 'click-flows:publish' },
  history: 'click_flow',
  summary: 'Publish the draft of a click flow',
  description:
    'The draft becomes the next version, the flow becomes active, and visitors follow it from the answer on. A refusal lists all problems of the draft, node by node. Publishing an unchanged draft creates no new version.',
  reply: WrittenFlow,
  receipt: ['status', 'published_version'],
  refuses: ['object_not_found', 'campaign_scope_forbidden', 'click_flow_incomplete'],
})

export const deleteClickFlow = endpoint({
  route: 'DELETE /api/click-flows/:id',
  access: { session: 'admin', key: 'click-flows:delete' },
  history: 'click_flow',
  summary: 'Delete a click flow',
  description: 'Visitors of its campaigns go to their fallback.',
  reply: DeletedFromTraffic,
  refuses: ['object_not_found', 'campaign_scope_forbidden'],
})

export const listClickFlowVersions = endpoint({
  route: 'GET /api/click-flows/:id/versions',
  access: { session: 'member' },
  summary: 'List the published versions of a click flow, newest first',
  query: z.object({
    limit: paging.limit,
    before: z.coerce.number().int().min(1).optional().meta({ description: 'Only versions below this one' }),
  }),
  reply: z.object({ data: z.array(FlowVersion), next_before: z.int().nullable() }),
  refuses: ['object_not_found'],
})

export const readClickFlowVersion = endpoint({
  route: 'GET /api/click-flows/:id/versions/:version',
  access: { session: 'member' },
  summary: 'Read a published version of a click flow',
  reply: FlowVersion.extend({ graph: Graph }),
  refuses: ['object_not_found'],
})

export const restoreClickFlowVersion = endpoint({
  route: 'POST /api/click-flows/:id/versions/:version/restore',
  access: { session: 'admin' },
  history: 'click_flow',
  summary: 'Restore a published version as the draft',
  description: 'Traffic does not change until it is published.',
  reply: WrittenFlow,
  refuses: ['object_not_found'],
})

export const tryClickFlow = endpoint({
  route: 'POST /api/click-flows/:id/try',
  access: { session: 'member' },
  reads: true,
  summary: 'Test where visitors would go, and why',
  description:
    'For one described visitor, or for the last clicks of the campaigns that lead to the flow (or of one campaign), by the draft and by the published version. Nothing is recorded. Clicks have no stored language, so conditions on the language answer no for them.',
  body: z
    .object({
      visitor: TriedVisitor.nullish(),
      last_clicks: z.int().min(1).max(MOST_TRIED).nullish(),
      campaign_id: Id.nullish().meta({ description: 'Use only clicks of this campaign' }),
    })
    .refine(({ visitor, last_clicks }) => (visitor == null) !== (last_clicks == null), {
      message: 'send either visitor or last_clicks',
    }),
  reply: Tried,
  refuses: ['object_not_found', 'invalid_request'],
})

export const setClickFlowTags = tagsEndpoint('PUT /api/click-flows/:id/tags', 'click_flow', 'a click flow')
export const setClickFlowNote = noteEndpoint('PUT /api/click-flows/:id/note', 'click_flow', 'a click flow')
