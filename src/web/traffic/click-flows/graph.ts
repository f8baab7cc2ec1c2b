/** Pure functions that change a graph: each returns a new one. */
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

/** Whether a node of this type can have a next step. */
export const leadsOn = (type: NodeType): boolean => !ENDS.has(type)

/** The graph of a new flow. */
export const EMPTY: WireGraph = { nodes: [{ id: 'entry', type: 'entry' }], edges: [] }

/** Where a step is added: after the node `from`, at `branch` if that is a condition, and into the edge to `to` if it is set. */
export type StepPlace = { from: string; branch?: 'yes' | 'no' | undefined; to?: string | undefined }

/** An unused id for a node of this type, such as `split-2`. */
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

/** The graph with a new node at the place, and the node's id. In an edge, the old target follows the new node if that can have a next step. */
export function withStep(graph: WireGraph, type: NodeType, { from, branch, to }: StepPlace): [WireGraph, string] {
  const [grown, id] = withNode(graph, type)
  if (to === undefined) return [connected(grown, from, id, branch), id]
  const edges = grown.edges.map(edge =>
    edge.from === from && edge.to === to && (branch === undefined || edge.branch === branch)
      ? { ...edge, to: id }
      : edge,
  )
  // The branch "no" of a new condition keeps the old target; "yes" is open.
  const redirected = { ...grown, edges }
  return [leadsOn(type) ? connected(redirected, id, to, type === 'condition' ? 'no' : undefined) : redirected, id]
}

export function changed(graph: WireGraph, id: string, changes: Partial<WireNode>): WireGraph {
  return { ...graph, nodes: graph.nodes.map(node => (node.id === id ? { ...node, ...changes } : node)) }
}

export function withoutNodes(graph: WireGraph, ids: readonly string[]): WireGraph {
  const removed = new Set(ids)
  return {
    nodes: graph.nodes.filter(({ id }) => !removed.has(id)),
    edges: graph.edges.filter(({ from, to }) => !removed.has(from) && !removed.has(to)),
  }
}

/** Replaces the edges that leave a node. */
export function leading(graph: WireGraph, from: string, edges: readonly WireEdge[]): WireGraph {
  return { ...graph, edges: [...graph.edges.filter(edge => edge.from !== from), ...edges] }
}

/** Gives weights that read as percents: 100 is split evenly into whole numbers, and the first parts get the remainder. */
export function evenly<T extends { weight?: number | null | undefined }>(parts: readonly T[]): T[] {
  const each = Math.floor(100 / parts.length)
  const over = 100 - each * parts.length
  return parts.map((part, at) => ({ ...part, weight: each + (at < over ? 1 : 0) }))
}

/** Whether the weights are equal, apart from a remainder of 1. */
export function isEven(parts: readonly { weight?: number | null | undefined }[]): boolean {
  const weights = parts.map(({ weight }) => weight ?? 0)
  return Math.max(...weights) - Math.min(...weights) <= 1
}

/** Adds a part. Even weights stay even; otherwise the new part gets the average weight. */
export function withPart<T extends { weight?: number | null | undefined }>(parts: readonly T[], part: T): T[] {
  if (parts.length === 0 || isEven(parts)) return evenly([...parts, part])
  const total = parts.reduce((sum, { weight }) => sum + (weight ?? 0), 0)
  return [...parts, { ...part, weight: Math.max(1, Math.round(total / parts.length)) }]
}

/** Connects `from` to `to`, at `branch` if `from` is a condition. Replaces the edge that left there before. */
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

/** The places after a node where a step is missing or another one can be added. */
export function openEnds({ edges }: WireGraph, { id, type }: WireNode): StepPlace[] {
  if (!leadsOn(type)) return []
  const own = edges.filter(({ from }) => from === id)
  if (type === 'split') return [{ from: id }]
  if (type !== 'condition') return own.length === 0 ? [{ from: id }] : []
  return (['yes', 'no'] as const)
    .filter(branch => own.every(edge => edge.branch !== branch))
    .map(branch => ({ from: id, branch }))
}
