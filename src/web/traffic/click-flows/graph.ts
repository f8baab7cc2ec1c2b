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
  redirect: 'Redirect',
}

/** What may lead on to a next step. */
export const leadsOn = (type: NodeType): boolean => type !== 'offer' && type !== 'bot' && type !== 'redirect'

/** What a new flow begins with. */
export const EMPTY: WireGraph = {
  nodes: [{ id: 'entry', type: 'entry', label: 'Every visitor', x: 0, y: 0 }],
  edges: [],
}

/** What a node is called on screen. */
export const nameOf = (node: WireNode): string => node.label || `${TYPE_WORDS[node.type]} ${node.id}`

const STEP = { x: 250, y: 120 }

/** A free id of this type, such as `split-2`. */
function freeId(graph: WireGraph, type: NodeType): string {
  const taken = new Set(graph.nodes.map(({ id }) => id))
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? type : `${type}-${number}`
    if (!taken.has(id)) return id
  }
}

/** A graph with a new node, beside the one that is chosen. */
export function withNode(graph: WireGraph, type: NodeType, beside: WireNode | undefined): [WireGraph, string] {
  const id = freeId(graph, type)
  const from = beside ?? graph.nodes.at(-1)
  const x = (from?.x ?? 0) + STEP.x
  let y = from?.y ?? 0
  while (graph.nodes.some(node => Math.abs((node.x ?? 0) - x) < 200 && Math.abs((node.y ?? 0) - y) < 90)) y += STEP.y
  return [{ ...graph, nodes: [...graph.nodes, { id, type, x, y }] }, id]
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

/** What a new branch of a split weighs. */
const USUAL_WEIGHT = 50

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
    return leading(graph, from, [...edges, { from, to, weight: USUAL_WEIGHT }])
  }
  return leading(graph, from, [{ from, to }])
}

/** Every node with a place: those without one, as tools write them, in columns by how far they are from the entry. */
export function placed(graph: WireGraph): WireGraph {
  if (graph.nodes.every(({ x, y }) => x != null && y != null)) return graph
  const depth = new Map(graph.nodes.filter(({ type }) => type === 'entry').map(({ id }) => [id, 0]))
  // As many rounds as there are nodes are enough, also where a draft holds a circle.
  for (let round = 0; round < graph.nodes.length; round += 1)
    for (const { from, to } of graph.edges) {
      const next = (depth.get(from) ?? Number.NaN) + 1
      if (next <= graph.nodes.length && next > (depth.get(to) ?? -1)) depth.set(to, next)
    }
  const rows = new Map<number, number>()
  const nodes = graph.nodes.map(node => {
    const column = depth.get(node.id) ?? 0
    const row = rows.get(column) ?? 0
    rows.set(column, row + 1)
    return { ...node, x: node.x ?? column * STEP.x, y: node.y ?? row * STEP.y }
  })
  return { ...graph, nodes }
}
