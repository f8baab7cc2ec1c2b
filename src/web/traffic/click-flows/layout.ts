/** The layout of the canvas: positions of cards and lines of edges. Loaded only with the canvas. */
import { Graph as Drawing, type EdgeLabel, type GraphLabel, layout, type NodeLabel, type Point } from '@dagrejs/dagre'
import type { NodeType } from '../../../traffic/click-flows/api.ts'
import type { WireEdge, WireGraph } from './graph.ts'

/** The size of a card in pixels. A condition has a line for each branch. */
export const CARD_WIDTH = 208
export const cardHeight = (type: NodeType): number => (type === 'condition' ? 100 : 60)
/** The size of an edge's label with its button, in pixels. */
const LABEL = { width: 56, height: 24 }

export const edgeId = ({ from, to, branch }: WireEdge): string => `${from} ${branch ?? ''} ${to}`

export type LaidOutGraph = {
  /** The graph with a position for every node. */
  readonly graph: WireGraph
  /** The inner points of each edge, by its id; empty if a person has arranged the cards. */
  readonly ways: ReadonlyMap<string, readonly Point[]>
}

/** Whether a person has arranged the cards. */
export function isArranged({ nodes }: WireGraph): boolean {
  return nodes.some(({ type, x, y }) => type !== 'entry' && x != null && y != null)
}

/** The graph without positions, so that it is laid out automatically. */
export function loose(graph: WireGraph): WireGraph {
  return { ...graph, nodes: graph.nodes.map(({ x: _x, y: _y, ...node }) => node) }
}

/** Gives every node a position. An arranged graph keeps its positions, and new nodes get one; any other graph is laid out in layers from left to right. */
export function laidOut(graph: WireGraph): LaidOutGraph {
  return isArranged(graph) ? { graph: withMissingPositions(graph), ways: new Map() } : inLayers(graph)
}

type FlowDrawing = Drawing<GraphLabel, NodeLabel, EdgeLabel>

function inLayers(graph: WireGraph): LaidOutGraph {
  // Keeps the order of the edges (yes above no, branches as listed), unless another order has fewer crossings.
  const [ordered, fewest] = [drawingOf(graph, true), drawingOf(graph, false)]
  const drawing = crossings(ordered) <= crossings(fewest) ? ordered : fewest
  const nodes = graph.nodes.map(node => {
    const { x = 0, y = 0 } = drawing.node(node.id)
    return { ...node, x: Math.round(x - CARD_WIDTH / 2), y: Math.round(y - cardHeight(node.type) / 2) }
  })
  const columns = drawing.nodes().map(id => drawing.node(id).x ?? 0)
  const ways = drawing.edges().map(edge => {
    const inner = (drawing.edge(edge).points ?? []).slice(1, -1)
    return [edge.name ?? '', inner.flatMap(point => straightPast(point, columns))] as const
  })
  return { graph: { ...graph, nodes }, ways: new Map(ways) }
}

function drawingOf(graph: WireGraph, isInOrder: boolean): FlowDrawing {
  const drawing: FlowDrawing = new Drawing({ multigraph: true })
  drawing.setGraph({ rankdir: 'LR', nodesep: 28, edgesep: 20, ranksep: 44 })
  drawing.setDefaultEdgeLabel(() => ({}))
  const edges = [...graph.edges].sort((a, b) => Number(a.branch === 'no') - Number(b.branch === 'no'))
  const known = new Map(graph.nodes.map(node => [node.id, node]))
  for (const id of inOrder(graph, edges)) {
    const node = known.get(id)
    if (node !== undefined) drawing.setNode(id, { width: CARD_WIDTH, height: cardHeight(node.type) })
  }
  for (const edge of edges)
    if (known.has(edge.from) && known.has(edge.to))
      drawing.setEdge(edge.from, edge.to, { ...LABEL, labelpos: 'c' }, edgeId(edge))
  layout(drawing, { disableOptimalOrderHeuristic: isInOrder })
  return drawing
}

/** How many times edges cross. */
function crossings(drawing: FlowDrawing): number {
  const lines = drawing.edges().map(edge => drawing.edge(edge).points ?? [])
  let count = 0
  for (const [at, line] of lines.entries())
    for (const other of lines.slice(at + 1)) if (doCross(line, other)) count += 1
  return count
}

const doCross = (a: readonly Point[], b: readonly Point[]): boolean =>
  a.some((from, at) => {
    const to = a[at + 1]
    return to !== undefined && b.some((start, index) => doMeet(from, to, start, b[index + 1]))
  })

/** Whether two line segments cross between their ends. */
function doMeet(a: Point, b: Point, c: Point, d: Point | undefined): boolean {
  if (d === undefined) return false
  const side = (p: Point, q: Point, r: Point) => (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x)
  return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0
}

/** An edge that passes a column of cards runs straight for the width of a card, because there may be cards above and below it. */
function straightPast({ x, y }: Point, columns: readonly number[]): Point[] {
  if (columns.every(column => Math.abs(column - x) > 1)) return [{ x, y }]
  return [
    { x: x - CARD_WIDTH / 2, y },
    { x: x + CARD_WIDTH / 2, y },
  ]
}

/** The ids of the nodes in depth-first order from the entry, then the unreachable ones. */
function inOrder({ nodes }: WireGraph, edges: readonly WireEdge[]): Set<string> {
  const visited = new Set<string>()
  const visit = (id: string): void => {
    if (visited.has(id)) return
    visited.add(id)
    for (const { from, to } of edges) if (from === id) visit(to)
  }
  for (const { id, type } of nodes) if (type === 'entry') visit(id)
  for (const { id } of nodes) visit(id)
  return visited
}

const STEP = { x: CARD_WIDTH + 92, y: 120 }

/** Nodes without a position get a free one to the right of the node that leads to them. Arranged nodes do not move. */
function withMissingPositions(graph: WireGraph): WireGraph {
  const places = new Map(
    graph.nodes.flatMap(({ id, x, y }) => (x == null || y == null ? [] : [[id, { x, y }] as const])),
  )
  for (const { id } of graph.nodes) {
    if (places.has(id)) continue
    const from = graph.edges.find(edge => edge.to === id && places.has(edge.from))?.from
    const beside = (from === undefined ? undefined : places.get(from)) ?? [...places.values()].at(-1) ?? { x: 0, y: 0 }
    const x = beside.x + STEP.x
    let { y } = beside
    while ([...places.values()].some(at => Math.abs(at.x - x) < CARD_WIDTH + 12 && Math.abs(at.y - y) < 110))
      y += STEP.y
    places.set(id, { x, y })
  }
  return { ...graph, nodes: graph.nodes.map(node => ({ ...node, ...places.get(node.id) })) }
}

/** The SVG path of an edge through its points, curved between different heights. */
export function lineThrough(points: readonly Point[]): string {
  const [first, ...rest] = points
  if (first === undefined) return ''
  let before = first
  let line = `M ${first.x},${first.y}`
  for (const point of rest) {
    const middle = (before.x + point.x) / 2
    line += ` C ${middle},${before.y} ${middle},${point.y} ${point.x},${point.y}`
    before = point
  }
  return line
}
