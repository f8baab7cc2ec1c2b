/** Click flows over HTTP: graphs that decide where a visitor goes. */
import { z } from 'zod'
import { endpoint } from '../contract/endpoint.ts'
import { Done, Id, Instant, isFaithful, Name, Page } from '../contract/fields.ts'
import { paging, Search } from '../contract/paging.ts'

export const NODE_TYPES = ['entry', 'condition', 'split', 'landing', 'offer', 'bot', 'redirect'] as const
export const NodeType = z.enum(NODE_TYPES)
export type NodeType = z.infer<typeof NodeType>

export const SUB_FIELDS = ['sub1', 'sub2', 'sub3', 'sub4', 'sub5', 'sub6', 'sub7', 'sub8', 'sub9'] as const
export const CONDITION_FIELDS = [
  'geo',
  'device',
  'os',
  'browser',
  'language',
  ...SUB_FIELDS,
  'time',
  'uniqueness',
  'bot',
] as const
export const ConditionField = z.enum(CONDITION_FIELDS)
export type ConditionField = z.infer<typeof ConditionField>

export const MATCHES = ['is', 'contains', 'starts_with', 'is_set'] as const
export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
export const DEVICES = ['desktop', 'mobile', 'tablet', 'other', 'bot'] as const
export const BRANCHES = ['yes', 'no'] as const

/** Bounds of a graph: what a person can oversee, and what a click's path may take up. */
export const MOST_NODES = 100
export const MOST_EDGES = 200
export const LONGEST_PATH = 32
/** The most weight of one branch of a split. */
export const MOST_WEIGHT = 1000
/** The most clicks one try looks at. */
export const MOST_TRIED = 200

const Text = (max: number) =>
  z.string().trim().max(max).refine(isFaithful, { message: 'holds characters that cannot be stored' })

const NodeId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,32}$/, { message: 'must be 1 to 32 of A-Z, a-z, 0-9, _ and -' })
  .meta({ description: 'A name of your choice, unique in the graph' })

const Clock = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, { message: 'must be a time such as 09:30' })

/** A node. One flat shape for all types: fields of other types are ignored, and a draft may leave out what publishing will ask for. */
export const FlowNode = z.object({
  id: NodeId,
  type: NodeType,
  label: Text(100).nullish().meta({ description: 'What people see' }),
  field: ConditionField.nullish().meta({
    description:
      'condition: what it asks about. uniqueness: is the visitor new; bot: is it a crawler, preview or prefetch; both take no values',
  }),
  match: z.enum(MATCHES).nullish().meta({
    description:
      'condition on os, browser, sub: how values are compared, "is" unless given; case never matters; is_set takes no values',
  }),
  values: z
    .array(Text(200).min(1))
    .max(300)
    .nullish()
    .meta({
      description: `condition: any of these leads to yes. geo: ISO country codes; device: ${DEVICES.join(', ')}; language: en or pt-BR`,
    }),
  days: z
    .array(z.enum(DAYS))
    .max(7)
    .nullish()
    .meta({ description: 'condition on time: the days that lead to yes; all unless given' }),
  from_time: Clock.nullish().meta({ description: 'condition on time: first minute that leads to yes, such as 09:00' }),
  to_time: Clock.nullish().meta({
    description: 'condition on time: first minute that no longer does; before from_time: over midnight',
  }),
  time_zone: Text(64).nullish().meta({ description: 'condition on time: an IANA zone, UTC unless given' }),
  landing_id: Id.nullish().meta({ description: 'landing: which one' }),
  offer_id: Id.nullish().meta({ description: 'offer: which one' }),
  bot_id: Id.nullish().meta({ description: 'bot: which one; the visitor is sent to it with the click id' }),
  url: Text(2048).nullish().meta({ description: 'redirect: http or https address; macros such as {click_id}' }),
  x: z.number().min(-100_000).max(100_000).nullish().meta({ description: 'Place on the canvas' }),
  y: z.number().min(-100_000).max(100_000).nullish(),
})
export type FlowNode = z.output<typeof FlowNode>

export const FlowEdge = z.object({
  from: NodeId,
  to: NodeId,
  branch: z
    .enum(BRANCHES)
    .nullish()
    .meta({ description: 'From a condition: which answer leads this way. A condition has one edge for each' }),
  weight: z
    .int()
    .min(0)
    .max(MOST_WEIGHT)
    .nullish()
    .meta({ description: 'From a split: the share of visitors beside its other edges' }),
})
export type FlowEdge = z.output<typeof FlowEdge>

export const Graph = z
  .object({ nodes: z.array(FlowNode).max(MOST_NODES), edges: z.array(FlowEdge).max(MOST_EDGES) })
  .superRefine(({ nodes }, context) => {
    const seen = new Set<string>()
    for (const [at, { id }] of nodes.entries()) {
      if (seen.has(id))
        context.addIssue({ code: 'custom', path: ['nodes', at, 'id'], message: `"${id}" names two nodes` })
      seen.add(id)
    }
  })
  .meta({
    description:
      'Where visitors go. One entry node leads on; conditions (edges branch yes and no) and splits (edges with weight) part visitors; ' +
      'offer, bot and redirect end a path; a landing ends it or leads on to the offer or bot behind it. No circles.',
  })
export type Graph = z.output<typeof Graph>

export const FLOW_STATUSES = ['draft', 'active', 'paused', 'archived'] as const
export const FlowStatus = z.enum(FLOW_STATUSES)
export type FlowStatus = z.infer<typeof FlowStatus>

/** Something that keeps a graph from being published; `node_id` is where, null for the graph as a whole. */
export const Problem = z.object({
  node_id: z.string().nullable(),
  message: z.string().meta({ description: 'Names the node and says what to do' }),
})
export type Problem = z.output<typeof Problem>

const UsingCampaign = z.object({ id: Id, name: z.string() })

export const ListedFlow = z.object({
  id: Id,
  name: z.string(),
  status: FlowStatus,
  published_version: z.int().nullable(),
  is_draft_published: z.boolean().meta({ description: 'False while the draft differs from the published version' }),
  campaigns: z.array(UsingCampaign).meta({ description: 'The campaigns that lead to it' }),
  created_at: Instant,
  updated_at: Instant,
})
export type ListedFlow = z.output<typeof ListedFlow>

export const ClickFlow = ListedFlow.extend({
  graph: Graph.meta({ description: 'The draft' }),
  problems: z
    .array(Problem)
    .meta({ description: 'What keeps the draft from being published; empty when nothing does' }),
})
export type ClickFlow = z.output<typeof ClickFlow>

export const FlowDraft = z.object({ name: Name(), graph: Graph })
export type FlowDraft = z.output<typeof FlowDraft>

export const FlowVersion = z.object({ version: z.int(), published_at: Instant, nodes: z.int() })
export type FlowVersion = z.output<typeof FlowVersion>

const VisitorText = Text(500).nullish()

export const TriedVisitor = z.object({
  geo: VisitorText,
  device: VisitorText,
  os: VisitorText,
  browser: VisitorText,
  language: VisitorText,
  sub1: VisitorText,
  sub2: VisitorText,
  sub3: VisitorText,
  sub4: VisitorText,
  sub5: VisitorText,
  sub6: VisitorText,
  sub7: VisitorText,
  sub8: VisitorText,
  sub9: VisitorText,
  at: Instant.nullish().meta({ description: 'When they come; now unless given' }),
  is_new: z.boolean().nullish().meta({ description: 'Seen for the first time; true unless given' }),
  is_bot: z.boolean().nullish(),
  visitor: Text(64).nullish().meta({ description: 'Who they are to splits: the same text, the same branch' }),
})
export type TriedVisitor = z.output<typeof TriedVisitor>

const TryStep = z.object({
  node_id: z.string(),
  type: NodeType,
  label: z.string(),
  reason: z.string().meta({ description: 'Why it went on as it did' }),
})

export const Way = z.object({
  steps: z.array(TryStep),
  outcome: z
    .enum(['landing', 'offer', 'bot', 'redirect', 'fallback'])
    .meta({ description: 'What the visitor is sent to; fallback: the campaign’s, because the path does not end' }),
  leads_to: z.string().meta({ description: 'The name of it, with what follows a landing' }),
})
export type Way = z.output<typeof Way>

export const Tried = z.object({
  visitors: z.array(
    z.object({
      click_id: Id.nullable().meta({ description: 'The click, null for a visitor that was described' }),
      says: z.string().meta({ description: 'The visitor in a few words' }),
      draft: Way,
      published: Way.nullable().meta({ description: 'Null while no version is published' }),
      is_changed: z.boolean().meta({ description: 'Whether publishing the draft would send them elsewhere' }),
    }),
  ),
  tried: z.int(),
  changed: z.int(),
  ends: z
    .array(z.object({ leads_to: z.string(), draft: z.int(), published: z.int() }))
    .meta({ description: 'How many visitors end where, by the draft and by the published version' }),
  problems: z.array(Problem),
})
export type Tried = z.output<typeof Tried>

export const listClickFlows = endpoint({
  route: 'GET /api/click-flows',
  access: { session: 'member' },
  summary: 'List click flows, newest first',
  query: z.object({
    ...paging,
    q: Search.meta({ description: 'Part of the name' }),
    status: FlowStatus.optional(),
  }),
  reply: Page(ListedFlow),
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
  summary: 'Create a click flow',
  description:
    'It begins as a draft: no traffic goes through it until it is published. problems says what publishing would refuse. A key restricted to campaigns may create one.',
  body: FlowDraft,
  reply: ClickFlow,
  status: 201,
})

export const replaceClickFlow = endpoint({
  route: 'PUT /api/click-flows/:id',
  access: { session: 'admin', key: 'click-flows:update' },
  summary: 'Replace the name and the draft of a click flow',
  description: 'Traffic goes on through the published version until the draft is published.',
  body: FlowDraft,
  reply: ClickFlow,
  refuses: ['object_not_found'],
})

export const setClickFlowStatus = endpoint({
  route: 'PUT /api/click-flows/:id/status',
  access: { session: 'admin', key: 'click-flows:status' },
  summary: 'Pause or archive a click flow, or set it active again',
  description:
    'Leaving active sends the campaigns behind it to their fallback at once. active puts the published version back into traffic and needs a dashboard session; a key publishes instead.',
  body: z.object({ status: z.enum(['active', 'paused', 'archived']) }),
  reply: ClickFlow,
  refuses: ['object_not_found', 'campaign_scope_forbidden', 'click_flow_not_published', 'click_flow_active_forbidden'],
})

export const publishClickFlow = endpoint({
  route: 'POST /api/click-flows/:id/publish',
  access: { session: 'admin', key: 'click-flows:publish' },
  summary: 'Put the draft of a click flow into live traffic',
  description:
    'The draft becomes the next version and the flow active. From the answer on visitors go by it. What is wrong with the draft is said all at once, node by node.',
  reply: ClickFlow,
  refuses: ['object_not_found', 'campaign_scope_forbidden', 'click_flow_incomplete'],
})

export const deleteClickFlow = endpoint({
  route: 'DELETE /api/click-flows/:id',
  access: { session: 'admin', key: 'click-flows:delete' },
  summary: 'Delete a click flow',
  description: 'Its campaigns go to their fallback from then on.',
  reply: Done,
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

export const restoreClickFlowVersion = endpoint({
  route: 'POST /api/click-flows/:id/versions/:version/restore',
  access: { session: 'admin' },
  summary: 'Put a published version back into the draft',
  description: 'Traffic does not change until it is published.',
  reply: ClickFlow,
  refuses: ['object_not_found'],
})

export const tryClickFlow = endpoint({
  route: 'POST /api/click-flows/:id/try',
  access: { session: 'member' },
  summary: 'Say which way visitors would go, and why',
  description:
    'Either for one visitor, or for the last clicks of the campaigns that lead to the flow (or of one campaign): each by the draft and by the published version. Nothing is recorded. Clicks do not keep their language, so conditions on it answer no for them.',
  body: z
    .object({
      visitor: TriedVisitor.nullish(),
      last_clicks: z.int().min(1).max(MOST_TRIED).nullish(),
      campaign_id: Id.nullish().meta({ description: 'The campaign whose clicks are tried' }),
    })
    .refine(({ visitor, last_clicks }) => (visitor == null) !== (last_clicks == null), {
      message: 'send either visitor or last_clicks',
    }),
  reply: Tried,
  refuses: ['object_not_found', 'invalid_request'],
})
