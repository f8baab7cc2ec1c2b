/**
 * The graph of a click flow, shared by the API, the redirect that walks it and the canvas that draws it. All nodes have one flat shape, so that a tool
 * can write them and a draft may be incomplete. Publishing checks the rest.
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

/** A node that leads into Telegram. Both types name a bot and pass it the click id. */
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

/** Limits of a graph that a person can still survey, and of the path stored with a click. */
const MOST_NODES = 100
const MOST_EDGES = 200
export const LONGEST_PATH = 32
/** The most weight of one branch of a split. */
export const MOST_EDGE_WEIGHT = 1000

/** How long a visit is remembered for uniqueness, at most: thirty days. */
export const MOST_HOURS = 720

const NodeId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,32}$/, { message: 'must be 1 to 32 of A-Z, a-z, 0-9, _ and -' })
  .meta({ description: 'A name of your choice, unique in the graph' })

const Clock = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, { message: 'must be a time such as 09:30' })

/** A node. Fields of other types are ignored, and a draft may lack fields that publishing requires. */
export const FlowNode = z.object({
  id: NodeId,
  type: NodeType,
  label: Text(100).nullish().meta({ description: 'What people see' }),
  field: ConditionField.nullish().meta({
    description:
      'condition: what it tests. uniqueness: is the visitor new; bot: is it a crawler, preview or prefetch; both take no values',
  }),
  match: z.enum(MATCHES).nullish().meta({
    description:
      'condition on os, browser, sub: how values are compared, by default "is"; case is ignored; is_set takes no values',
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
    .meta({ description: 'condition on time: the days that lead to yes; by default all' }),
  from_time: Clock.nullish().meta({ description: 'condition on time: first minute that leads to yes, such as 09:00' }),
  to_time: Clock.nullish().meta({
    description: 'condition on time: first minute that leads to no again; before from_time: over midnight',
  }),
  time_zone: Text(64).nullish().meta({ description: 'condition on time: an IANA zone, by default UTC' }),
  within_hours: z.int().min(1).max(MOST_HOURS).nullish().meta({
    description:
      'condition on uniqueness: a visitor is new if they have not visited the campaign for this many hours; by default, if they never have',
  }),
  landing_id: Id.nullish().meta({ description: 'landing: which one' }),
  offer_id: Id.nullish().meta({ description: 'offer: which one' }),
  bot_id: Id.nullish().meta({
    description: 'bot: which one; mini_app: the bot it belongs to; the visitor is sent there with the click id',
  }),
  app: Text(LONGEST_APP).nullish().meta({
    description: "mini_app: its short name, as in t.me/<bot>/<app>; by default the bot's main Mini App",
  }),
  start: Text(LONGEST_START).nullish().meta({
    description:
      'bot, mini_app: the start parameter; by default {click_id} alone. Your own text before it must end with - or _',
  }),
  channel_id: Id.nullish().meta({
    description: 'channel: which one; each visitor is sent to an invite link of their own',
  }),
  open: Opening.nullish(),
  link_host: LinkHost.nullish(),
  url: Text(2048).nullish().meta({ description: 'redirect: http or https address; macros such as {click_id}' }),
  earns_for_offer_id: Id.nullish().meta({
    description:
      'redirect: the offer that its clicks belong to and earn for; by default none, even if the campaign has an offer',
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
    .meta({ description: 'From a condition: the result that leads this way. A condition has one edge for each' }),
  weight: z
    .int()
    .min(0)
    .max(MOST_EDGE_WEIGHT)
    .nullish()
    .meta({ description: 'From a split: the share of visitors relative to its other edges' }),
})
export type FlowEdge = z.output<typeof FlowEdge>

const DESCRIPTION = {
  description:
    'Where visitors go. One entry node begins; conditions (edges with branch yes and no) and splits (edges with weight) divide visitors; ' +
    'offer, bot, mini_app, channel and redirect end a path; a landing ends it or leads on to the next node. No cycles.',
}

/** A graph as it is stored and returned. */
export const Graph = z.object({ nodes: z.array(FlowNode), edges: z.array(FlowEdge) }).meta(DESCRIPTION)
export type Graph = z.output<typeof Graph>

/** A graph in a request. Unknown fields are refused, because a condition with an ignored misspelt "match" could mean the opposite. */
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
