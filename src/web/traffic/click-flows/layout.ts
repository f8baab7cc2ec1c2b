/** Where cards stand and how edges run between them. Loaded with the canvas, which alone needs it. */
import { Graph as Drawing, type EdgeLabel, type GraphLabel, layout, type NodeLabel, type Point } from '@dagrejs/dagre'
import type { NodeType } from '../../../traffic/click-flows/api.ts'
import type { WireEdge, WireGraph } from './graph.ts'

/** What a card takes up, in pixels. A condition has a line for each of its branches. */
export const CARD_WIDTH = 208
export const cardHeight = (type: NodeType): number => (type === 'condition' ? 100 : 60)
/** What an edge's words and its button take up. */
const LABEL = { width: 56, height: 24 }

export const edgeId = ({ from, to, branch }: WireEdge): string => `${from} ${branch ?? ''} ${to}`

export type Laid = {
  /** Every node with its place. */
  readonly graph: WireGraph
  /** The points an edge passes between its ends, by its id; none where a person has arranged the cards. */
  readonly ways: ReadonlyMap<string, readonly Point[]>
}

/** Whether a person has put the cards where they are. */
export function isArranged({ nodes }: WireGraph): boolean {
  return nodes.some(({ type, x, y }) => type !== 'entry' && x != null && y != null)
}

/** The graph without places, so that it is laid out by itself. */
export function loose(graph: WireGraph): WireGraph {
  return { ...graph, nodes: graph.nodes.map(({ x: _x, y: _y, ...node }) => node) }
}

/** Every node with a place: as arranged, new ones behind what leads to them; else in layers from left to right. */
export function laidOut(graph: WireGraph): Laid {
  return isArranged(graph) ? { graph: filledIn(graph), ways: new Map() } : inLayers(graph)
}

type Drawn = Drawing<GraphLabel, NodeLabel, EdgeLabel>

function inLayers(graph: WireGraph): Laid {
  // In the order of the ways (yes above no, branches as they are listed), unless another order has fewer crossings.
  const [ordered, fewest] = [drawn(graph, true), drawn(graph, false)]
  const drawing = crossings(ordered) <= crossings(fewest) ? ordered : fewest
  const nodes = graph.nodes.map(node => {
    const { x = 0, y = 0 } = drawing.node(node.id)
    return { ...node, x: Math.round(x - CARD_WIDTH / 2), y: Math.round(y - cardHeight(node.type) / 2) }
  })
  const columns = drawing.nodes().map(id => drawing.node(id).x ?? 0)
  const ways = drawing.edges().map(edge => {
    const inner = (drawing.edge(edge).points ?? []).slice(1, -1)
    return [edge.name ?? '', inner.flatMap(point => past(point, columns))] as const
  })
  return { graph: { ...graph, nodes }, ways: new Map(ways) }
}

function drawn(graph: WireGraph, isInOrder: boolean): Drawn {
  const drawing: Drawn = new Drawing({ multigraph: true })
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
function crossings(drawing: Drawn): number {
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

/** Whether two stretches cross somewhere between their ends. */
function doMeet(a: Point, b: Point, c: Point, d: Point | undefined): boolean {
  if (d === undefined) return false
  const side = (p: Point, q: Point, r: Point) => (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x)
  return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0
}

/** An edge that passes a column of cards runs straight for as long as a card is wide, because it may have one above and below it. */
function past({ x, y }: Point, columns: readonly number[]): Point[] {
  if (columns.every(column => Math.abs(column - x) > 1)) return [{ x, y }]
  return [
    { x: x - CARD_WIDTH / 2, y },
    { x: x + CARD_WIDTH / 2, y },
  ]
}

/** The ids of the nodes as one meets them on the ways from the entry, then those that nothing leads to. */
function inOrder({ nodes }: WireGraph, edges: readonly WireEdge[]): Set<string> {
  const met = new Set<string>()
  const meet = (id: string): void => {
    if (met.has(id)) return
    met.add(id)
    for (const { from, to } of edges) if (from === id) meet(to)
  }
  for (const { id, type } of nodes) if (type === 'entry') meet(id)
  for (const { id } of nodes) meet(id)
  return met
}

const STEP = { x: CARD_WIDTH + 92, y: 120 }

/** Nodes without a place get a free one to the right of what leads to them; nothing that was arranged moves. */
function filledIn(graph: WireGraph): WireGraph {
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

/** The line of an edge through the points it passes, curved where it changes its height. */
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
