/** Changing a graph: pure, each answers a new one. */
import type { z } from 'zod'
import type { ClickFlow, FlowEdge, FlowNode, Graph, NodeType } from '../../../traffic/click-flows/api.ts'

export type FlowRow = z.input<typeof ClickFlow>
export type WireGraph = z.input<typeof Graph>
export type WireNode = z.input<typeof FlowNode>
export type WireEdge = z.input<typeof FlowEdge>

export const TYPE_WORDS: Record<NodeType, string> = {
  entry: 'Entry',
  condition: 'Condition',
  split: 'Split',
  landing: 'Landing',
  offer: 'Offer',
  bot: 'Bot',
  mini_app: 'Mini App',
  channel: 'Channel',
  redirect: 'Redirect',
}

const ENDS: ReadonlySet<NodeType> = new Set<NodeType>(['offer', 'bot', 'mini_app', 'channel', 'redirect'])

/** What may lead on to a next step. */
export const leadsOn = (type: NodeType): boolean => !ENDS.has(type)

/** What a new flow begins with. */
export const EMPTY: WireGraph = { nodes: [{ id: 'entry', type: 'entry' }], edges: [] }

/** Where a step is put: behind a node, by a branch of it where it is a condition, or into an edge where `to` says which. */
export type Place = { from: string; branch?: 'yes' | 'no' | undefined; to?: string | undefined }

/** An id of this type that none of the nodes has, such as `split-2`. */
export function freeId(nodes: readonly WireNode[], type: NodeType): string {
  const taken = new Set(nodes.map(({ id }) => id))
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? type : `${type}-${number}`
    if (!taken.has(id)) return id
  }
}

/** A graph with a new node that nothing leads to yet. */
export function withNode(graph: WireGraph, type: NodeType): [WireGraph, string] {
  const id = freeId(graph.nodes, type)
  return [{ ...graph, nodes: [...graph.nodes, { id, type }] }, id]
}

/** A graph with a new node in its place, and its id. In an edge what the edge led to follows the new node, where anything can. */
export function withStep(graph: WireGraph, type: NodeType, { from, branch, to }: Place): [WireGraph, string] {
  const [grown, id] = withNode(graph, type)
  if (to === undefined) return [connected(grown, from, id, branch), id]
  const edges = grown.edges.map(edge =>
    edge.from === from && edge.to === to && (branch === undefined || edge.branch === branch)
      ? { ...edge, to: id }
      : edge,
  )
  // Who fits a new condition goes a new way; all others go on as before.
  const led = { ...grown, edges }
  return [leadsOn(type) ? connected(led, id, to, type === 'condition' ? 'no' : undefined) : led, id]
}

export function changed(graph: WireGraph, id: string, changes: Partial<WireNode>): WireGraph {
  return { ...graph, nodes: graph.nodes.map(node => (node.id === id ? { ...node, ...changes } : node)) }
}

export function withoutNodes(graph: WireGraph, ids: readonly string[]): WireGraph {
  const gone = new Set(ids)
  return {
    nodes: graph.nodes.filter(({ id }) => !gone.has(id)),
    edges: graph.edges.filter(({ from, to }) => !gone.has(from) && !gone.has(to)),
  }
}

/** The edges that leave a node are replaced by these. */
export function leading(graph: WireGraph, from: string, edges: readonly WireEdge[]): WireGraph {
  return { ...graph, edges: [...graph.edges.filter(edge => edge.from !== from), ...edges] }
}

/** Weights that read as percents: 100 shared as evenly as whole numbers can be, the first getting what is left over. */
export function evenly<T extends { weight?: number | null | undefined }>(parts: readonly T[]): T[] {
  const each = Math.floor(100 / parts.length)
  const over = 100 - each * parts.length
  return parts.map((part, at) => ({ ...part, weight: each + (at < over ? 1 : 0) }))
}

/** Whether weights differ by no more than what cannot be shared. */
export function isEven(parts: readonly { weight?: number | null | undefined }[]): boolean {
  const weights = parts.map(({ weight }) => weight ?? 0)
  return Math.max(...weights) - Math.min(...weights) <= 1
}

/** One more part with its even share: who shared evenly go on to; of other weights the new part gets the average. */
export function withPart<T extends { weight?: number | null | undefined }>(parts: readonly T[], part: T): T[] {
  if (parts.length === 0 || isEven(parts)) return evenly([...parts, part])
  const total = parts.reduce((sum, { weight }) => sum + (weight ?? 0), 0)
  return [...parts, { ...part, weight: Math.max(1, Math.round(total / parts.length)) }]
}

/** A graph in which `from` leads to `to`, by the branch where it is a condition. What led elsewhere by the same way no longer does. */
export function connected(graph: WireGraph, from: string, to: string, branch: 'yes' | 'no' | undefined): WireGraph {
  const node = graph.nodes.find(({ id }) => id === from)
  if (node === undefined || from === to || !leadsOn(node.type)) return graph
  const edges = graph.edges.filter(edge => edge.from === from)
  if (node.type === 'condition') {
    const way = branch ?? (edges.some(edge => edge.branch === 'yes') ? 'no' : 'yes')
    return leading(graph, from, [...edges.filter(edge => edge.branch !== way), { from, to, branch: way }])
  }
  if (node.type === 'split') {
    if (edges.some(edge => edge.to === to)) return graph
    return leading(graph, from, withPart(edges, { from, to }))
  }
  return leading(graph, from, [{ from, to }])
}

/** Where a step behind a node is missing, or another one may follow. */
export function openEnds({ edges }: WireGraph, { id, type }: WireNode): Place[] {
  if (!leadsOn(type)) return []
  const own = edges.filter(({ from }) => from === id)
  if (type === 'split') return [{ from: id }]
  if (type !== 'condition') return own.length === 0 ? [{ from: id }] : []
  return (['yes', 'no'] as const)
    .filter(branch => own.every(edge => edge.branch !== branch))
    .map(branch => ({ from: id, branch }))
}
