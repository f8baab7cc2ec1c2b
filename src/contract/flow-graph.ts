/**
 * The graph of a click flow, as everyone speaks of it: who writes one over HTTP, the redirect that walks it, the canvas that draws it. One
 * flat shape for all nodes, so that a tool can write it and a draft may be incomplete; what a graph needs beyond it is asked at publishing.
 */
import { z } from 'zod'
import { Id, SUBS, Text } from './fields.ts'
import { LinkHost, LONGEST_APP, LONGEST_START, Opening } from './telegram.ts'

export const NODE_TYPES = [
  'entry',
  'condition',
  'split',
  'landing',
  'offer',
  'bot',
  'mini_app',
  'channel',
  'redirect',
] as const
export const NodeType = z.enum(NODE_TYPES)
export type NodeType = z.infer<typeof NodeType>

/** A node that leads into Telegram: both name a bot, and visitors are sent there with the click id. */
export const isInTelegram = <N extends { readonly type: NodeType }>(
  node: N,
): node is N & { type: 'bot' | 'mini_app' } => node.type === 'bot' || node.type === 'mini_app'

export const CONDITION_FIELDS = [
  'geo',
  'device',
  'os',
  'browser',
  'language',
  ...SUBS,
  'time',
  'uniqueness',
  'bot',
] as const
const ConditionField = z.enum(CONDITION_FIELDS)

export const MATCHES = ['is', 'contains', 'starts_with', 'is_set'] as const
export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
export const DEVICES = ['desktop', 'mobile', 'tablet', 'other', 'bot'] as const
export const BRANCHES = ['yes', 'no'] as const

/** Bounds of a graph: what a person can oversee, and what a click's path may take up. */
const MOST_NODES = 100
const MOST_EDGES = 200
export const LONGEST_PATH = 32
/** The most weight of one branch of a split. */
export const MOST_WEIGHT = 1000

/** The longest that a visit is remembered for uniqueness: thirty days. */
export const MOST_HOURS = 720

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
  within_hours: z.int().min(1).max(MOST_HOURS).nullish().meta({
    description:
      'condition on uniqueness: new is who has not visited the campaign for so many hours; whoever is there for the first time unless given',
  }),
  landing_id: Id.nullish().meta({ description: 'landing: which one' }),
  offer_id: Id.nullish().meta({ description: 'offer: which one' }),
  bot_id: Id.nullish().meta({
    description: 'bot: which one; mini_app: whose; the visitor is sent to it with the click id',
  }),
  app: Text(LONGEST_APP).nullish().meta({
    description: "mini_app: its short name, as in t.me/<bot>/<app>; the bot's main Mini App unless given",
  }),
  start: Text(LONGEST_START).nullish().meta({
    description:
      'bot, mini_app: the parameter it is opened with; {click_id} alone unless given. Your own in front ends with - or _',
  }),
  channel_id: Id.nullish().meta({
    description: 'channel: which one; each visitor is sent to an invite link of their own',
  }),
  open: Opening.nullish(),
  link_host: LinkHost.nullish(),
  url: Text(2048).nullish().meta({ description: 'redirect: http or https address; macros such as {click_id}' }),
  earns_for_offer_id: Id.nullish().meta({
    description:
      'redirect: the offer its clicks belong to and earn for; none unless given, whatever the campaign names',
  }),
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

const DESCRIPTION = {
  description:
    'Where visitors go. One entry node leads on; conditions (edges branch yes and no) and splits (edges with weight) part visitors; ' +
    'offer, bot, mini_app, channel and redirect end a path; a landing ends it or leads on to what is behind it. No circles.',
}

/** A graph as it is stored and answered. */
export const Graph = z.object({ nodes: z.array(FlowNode), edges: z.array(FlowEdge) }).meta(DESCRIPTION)
export type Graph = z.output<typeof Graph>

/** A graph as it is sent. A field that is not known is refused: a condition whose misspelt "match" were passed over would say the opposite. */
export const GraphDraft = z
  .strictObject({
    nodes: z.array(FlowNode.strict()).max(MOST_NODES),
    edges: z.array(FlowEdge.strict()).max(MOST_EDGES),
  })
  .superRefine(({ nodes }, context) => {
    const seen = new Set<string>()
    for (const [at, { id }] of nodes.entries()) {
      if (seen.has(id))
        context.addIssue({ code: 'custom', path: ['nodes', at, 'id'], message: `"${id}" names two nodes` })
      seen.add(id)
    }
  })
  .meta(DESCRIPTION)
