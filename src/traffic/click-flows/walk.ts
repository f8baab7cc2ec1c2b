// Compiles graphs for the redirect, and walks a visitor through one. Pure: a visitor takes the same path in every process.

import { mixBits, stableHashOf } from '../../ground/stable-hash.ts'
import { type FlowEdge, type FlowNode, type Graph, isInTelegram } from './api.ts'
import { winnerFor } from '../test-ends/winner.ts'
import { compileCondition, type FlowVisitor } from './conditions.ts'

/** A compiled node. */
type Stop = {
  readonly node: FlowNode
  /** The next stop of a visitor; undefined at the end of the path, and where a draft is incomplete. */
  next: (visitor: FlowVisitor) => Stop | undefined
}

/** A compiled graph; `entry` is undefined only in a draft. */
export type CompiledFlow = { readonly entry: Stop | undefined; readonly size: number }

/** The path of a visitor: all stops in order, and the destination. */
export type Walk = {
  readonly stops: readonly Stop[]
  readonly landing: FlowNode | undefined
  /** The offer, bot, Mini App, channel or redirect at the end. */
  readonly end: FlowNode | undefined
}

/** Compiles a graph. Never fails: a walk ends where a draft is incomplete. `flow_id` makes splits of different flows independent. */
export function compileFlow(flow_id: string, { nodes, edges }: Graph): CompiledFlow {
  const stops = new Map<string, Stop>(nodes.map(node => [node.id, { node, next: () => undefined }]))
  const leaving = Map.groupBy(edges, edge => edge.from)
  for (const stop of stops.values()) stop.next = compileNext(flow_id, stop.node, leaving.get(stop.node.id) ?? [], stops)
  const entry = nodes.find(({ type }) => type === 'entry')
  return { entry: entry && stops.get(entry.id), size: nodes.length }
}

function compileNext(
  flow_id: string,
  node: FlowNode,
  edges: readonly FlowEdge[],
  stops: ReadonlyMap<string, Stop>,
): Stop['next'] {
  const to = (edge: FlowEdge | undefined) => (edge === undefined ? undefined : stops.get(edge.to))
  switch (node.type) {
    case 'condition': {
      const fits = compileCondition(node)
      const [yes, no] = [to(edges.find(edge => edge.branch === 'yes')), to(edges.find(edge => edge.branch === 'no'))]
      return visitor => (fits(visitor) ? yes : no)
    }
    case 'split': {
      const draw = compileSplit(`${flow_id} ${node.id}`, edges)
      const branches = edges.map(to)
      return visitor => {
        const winner = winnerFor(visitor.ends, node.id, visitor.seed)
        const kept = edges.findIndex(edge => edge.to === winner)
        return branches[kept < 0 ? draw(visitor.seed) : kept]
      }
    }
    case 'entry':
    case 'landing': {
      const only = to(edges[0])
      return () => only
    }
    default:
      return () => undefined
  }
}

/** Walks a visitor through a graph. Stops after as many steps as there are nodes, because a draft may contain a cycle. */
export function walk(flow: CompiledFlow, visitor: FlowVisitor): Walk {
  const stops: Stop[] = []
  let landing: FlowNode | undefined
  let end: FlowNode | undefined
  for (let stop = flow.entry; stop !== undefined && stops.length < flow.size; stop = stop.next(visitor)) {
    stops.push(stop)
    const { type } = stop.node
    if (type === 'landing') landing ??= stop.node
    else if (type === 'offer' || type === 'redirect' || type === 'channel' || isInTelegram(stop.node)) end = stop.node
  }
  return { stops, landing, end }
}

/**
 * Whether a path is credited to the campaign's offer: if it ends in Telegram or at a landing. An offer node is credited to its own offer, and a
 * redirect to the offer that it names. A bot or channel behind a landing is credited to none, because the landing's link would lead to the offer.
 */
export function earnsForCampaign({ landing, end }: Pick<Walk, 'landing' | 'end'>): boolean {
  if (landing !== undefined) return end === undefined
  return end !== undefined && (end.type === 'channel' || isInTelegram(end))
}

/** The edge of a split that a visitor takes: by their seed, in proportion to the weights, and the same at every visit. */
function compileSplit(name: string, edges: readonly FlowEdge[]): (seed: string) => number {
  const bounds: number[] = []
  let total = 0
  for (const { weight } of edges) bounds.push((total += weight ?? 0))
  const start = stableHashOf(`${name} `)
  return seed => {
    if (total === 0) return -1
    const point = (mixBits(stableHashOf(seed, start)) / 2 ** 32) * total
    return bounds.findIndex(bound => point < bound)
  }
}
