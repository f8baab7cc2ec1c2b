/**
 * A flow as a table of rules. Visitors who match the first condition follow its path, those who match the second follow the second, and
 * everyone else follows the last. The rules are read from a graph and written back to one. A graph of another shape is not changed:
 * `rulesOf` returns the reason. Pure.
 */
import { freeId, leadsOn, type WireEdge, type WireGraph, type WireNode } from './graph.ts'

export type RulePart = { readonly node: WireNode; readonly weight: number }

/** A choice of landings, then a choice of offers or a single redirect, bot, Mini App or channel. Splits keep their ids, so that visitors keep their branch. */
export type RulePath = {
  readonly landings: readonly RulePart[]
  readonly ends: readonly RulePart[]
  readonly landingSplit: WireNode | undefined
  readonly endSplit: WireNode | undefined
}
export type FlowRule = { readonly when: WireNode; readonly way: RulePath }
export type Rules = { readonly entry: WireNode; readonly rules: readonly FlowRule[]; readonly otherwise: RulePath }

export const NO_PATH: RulePath = { landings: [], ends: [], landingSplit: undefined, endSplit: undefined }

/** Thrown for a graph that the table cannot show. */
class OtherShape extends Error {}

/** The rules of a graph, or why the table cannot show it. */
export function rulesOf(graph: WireGraph): Rules | string {
  try {
    return new RulesReader(graph).rules()
  } catch (error) {
    if (error instanceof OtherShape) return error.message
    throw error
  }
}

class RulesReader {
  readonly #graph: WireGraph
  readonly #nodes: ReadonlyMap<string, WireNode>
  readonly #leaving: ReadonlyMap<string, readonly WireEdge[]>
  readonly #read = new Set<string>()

  constructor(graph: WireGraph) {
    this.#graph = graph
    this.#nodes = new Map(graph.nodes.map(node => [node.id, node]))
    this.#leaving = Map.groupBy(graph.edges, ({ from }) => from)
  }

  rules(): Rules {
    const [entry, second] = this.#graph.nodes.filter(({ type }) => type === 'entry')
    if (entry === undefined || second !== undefined) throw new OtherShape('It does not have exactly one entry.')
    this.#take(entry)
    const rules: FlowRule[] = []
    let next = this.#only(entry)
    while (next?.type === 'condition') {
      const when = this.#take(next)
      rules.push({ when, way: this.#way(this.#branch(when, 'yes')) })
      next = this.#branch(when, 'no')
    }
    const otherwise = this.#way(next)
    if (this.#read.size < this.#graph.nodes.length) throw new OtherShape('Some of its steps are not connected.')
    return { entry, rules, otherwise }
  }

  /** A step belongs to one row. Only the last step of a path may be shared by several. */
  #take(node: WireNode): WireNode {
    if (this.#read.has(node.id) && leadsOn(node.type)) throw new OtherShape('Several paths lead to one step.')
    this.#read.add(node.id)
    return node
  }

  #to(edge: WireEdge | undefined): WireNode | undefined {
    return edge === undefined ? undefined : this.#nodes.get(edge.to)
  }

  #only({ id }: WireNode): WireNode | undefined {
    const edges = this.#leaving.get(id) ?? []
    if (edges.length > 1) throw new OtherShape('A step that leads to one next step leads to several.')
    return this.#to(edges[0])
  }

  #branch({ id }: WireNode, branch: 'yes' | 'no'): WireNode | undefined {
    const edges = (this.#leaving.get(id) ?? []).filter(edge => edge.branch === branch)
    if (edges.length > 1) throw new OtherShape('A branch of a condition leads to several steps.')
    return this.#to(edges[0])
  }

  #way(node: WireNode | undefined): RulePath {
    if (node === undefined) return NO_PATH
    const { split, parts } = this.#parts(node)
    if (parts.every(part => part.node.type !== 'landing'))
      return { ...NO_PATH, ends: this.#ends(parts), endSplit: split }
    if (parts.some(part => part.node.type !== 'landing'))
      throw new OtherShape('A split leads to landings and to other steps.')
    for (const part of parts) this.#take(part.node)
    const behind = new Set(parts.map(part => this.#only(part.node)))
    const [next] = behind
    if (behind.size > 1) throw new OtherShape('Landings of one split lead to different steps.')
    const after = next === undefined ? { split: undefined, parts: [] } : this.#parts(next)
    return { landings: parts, landingSplit: split, ends: this.#ends(after.parts), endSplit: after.split }
  }

  #parts(node: WireNode): { split: WireNode | undefined; parts: RulePart[] } {
    if (node.type !== 'split') return { split: undefined, parts: [{ node, weight: 0 }] }
    const parts = (this.#leaving.get(node.id) ?? []).flatMap(edge => {
      const target = this.#to(edge)
      return target === undefined ? [] : [{ node: target, weight: edge.weight ?? 0 }]
    })
    return { split: this.#take(node), parts }
  }

  #ends(parts: readonly RulePart[]): RulePart[] {
    const [first] = parts
    const isOne = parts.length === 1 && first !== undefined && first.node.type !== 'offer' && !leadsOn(first.node.type)
    if (!isOne && parts.some(({ node }) => node.type !== 'offer'))
      throw new OtherShape('A condition or a split comes where the table has offers.')
    return parts.map(part => ({ ...part, node: this.#take(part.node) }))
  }
}

/** The graph of the rules. Steps keep their ids, so that visitors keep their branch of a split. */
export function graphOf({ entry, rules, otherwise }: Rules): WireGraph {
  const kept = [...rules.flatMap(({ when, way }) => [when, ...stepsOf(way)]), ...stepsOf(otherwise)]
  const writer = new GraphWriter(entry, kept)
  let from = { from: entry.id } as Omit<WireEdge, 'to'>
  for (const { when, way } of rules) {
    const id = writer.put(when)
    writer.connect(from, id)
    writer.way({ from: id, branch: 'yes' }, way)
    from = { from: id, branch: 'no' }
  }
  writer.way(from, otherwise)
  return writer.graph
}

const stepsOf = ({ landings, ends, landingSplit, endSplit }: RulePath): WireNode[] =>
  [...landings, ...ends].map(({ node }) => node).concat(landingSplit ?? [], endSplit ?? [])

class GraphWriter {
  graph: WireGraph
  readonly #kept: readonly WireNode[]

  /** A new step never gets the id of a step in `kept`. */
  constructor(entry: WireNode, kept: readonly WireNode[]) {
    this.#kept = kept
    this.graph = { nodes: [entry], edges: [] }
  }

  /** Adds a step unless an equal one is there. A step that differs from another with its id gets a new id. */
  put(node: WireNode): string {
    const known = this.graph.nodes.find(({ id }) => id === node.id)
    if (known !== undefined && JSON.stringify(known) === JSON.stringify(node)) return known.id
    const id = known === undefined && node.id !== '' ? node.id : freeId([...this.graph.nodes, ...this.#kept], node.type)
    this.graph = { ...this.graph, nodes: [...this.graph.nodes, { ...node, id }] }
    return id
  }

  connect(from: Omit<WireEdge, 'to'>, to: string): void {
    this.graph = { ...this.graph, edges: [...this.graph.edges, { ...from, to }] }
  }

  way(from: Omit<WireEdge, 'to'>, { landings, ends, landingSplit, endSplit }: RulePath): void {
    const pages = this.#spread([from], landings, landingSplit)
    this.#spread(landings.length === 0 ? [from] : pages.map(id => ({ from: id })), ends, endSplit)
  }

  /** Connects to the only part, or through a split to all parts. Returns their ids. */
  #spread(froms: readonly Omit<WireEdge, 'to'>[], parts: readonly RulePart[], split: WireNode | undefined): string[] {
    const [only] = parts
    if (only === undefined) return []
    if (parts.length === 1) {
      const id = this.put(only.node)
      for (const from of froms) this.connect(from, id)
      return [id]
    }
    const fork = this.put(split ?? { id: '', type: 'split' })
    for (const from of froms) this.connect(from, fork)
    return parts.map(({ node, weight }) => {
      const id = this.put(node)
      this.connect({ from: fork, weight }, id)
      return id
    })
  }
}
