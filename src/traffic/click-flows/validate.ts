// Checks whether a graph may carry traffic. All problems are reported at once; each message names its node and what to do. Pure:
// objects.ts checks whether the objects that the graph names exist.
import { faultOfAddress } from '../../contract/address.ts'
import { faultOfApp, faultOfStart } from '../../contract/telegram.ts'
import {
  DEVICES,
  type FlowEdge,
  type FlowNode,
  type Graph,
  isInTelegram,
  LONGEST_PATH,
  type FlowProblem,
} from './api.ts'
import { zoneClock } from './conditions.ts'

/** The edges between existing nodes, by the node that they leave and by the node that they lead to. */
type Net = {
  readonly nodes: ReadonlyMap<string, FlowNode>
  readonly leaving: ReadonlyMap<string, readonly FlowEdge[]>
  readonly arriving: ReadonlyMap<string, readonly FlowEdge[]>
}

/** The name of a node in messages: its id, and its label if it has one. */
export function nameOf({ id, label }: Pick<FlowNode, 'id' | 'label'>): string {
  return label ? `${id} (${label})` : id
}

/** The node types that always end a path: no edge may leave them. */
const ENDS: ReadonlySet<string> = new Set(['offer', 'bot', 'mini_app', 'channel', 'redirect'])

/** All problems that keep the graph from being published; empty if there are none. */
export function problemsOf(graph: Graph): FlowProblem[] {
  const net = netOf(graph)
  const own = graph.nodes.flatMap(node => [
    ...faultsOfNode(node).map(fault => at(node, fault)),
    ...faultsOfEdges(node, net).map(fault => at(node, fault)),
  ])
  const whole = [...entryProblems(graph.nodes, net), ...strayEdges(graph, net)]
  const circle = circleOf(net)
  if (circle.length > 0) return [...whole, ...own, circleProblem(circle), ...unreachable(graph, net)]
  return [...whole, ...own, ...unreachable(graph, net), ...behindLandings(graph, net), ...tooLong(graph, net)]
}

const at = (node: FlowNode, fault: string): FlowProblem => ({
  node_id: node.id,
  message: `Node ${nameOf(node)}: ${fault}`,
})

function netOf({ nodes, edges }: Graph): Net {
  const known = new Map(nodes.map(node => [node.id, node]))
  const real = edges.filter(({ from, to }) => known.has(from) && known.has(to))
  return {
    nodes: known,
    leaving: Map.groupBy(real, ({ from }) => from),
    arriving: Map.groupBy(real, ({ to }) => to),
  }
}

function entryProblems(nodes: readonly FlowNode[], { arriving }: Net): FlowProblem[] {
  const entries = nodes.filter(({ type }) => type === 'entry')
  if (entries.length === 0)
    return [{ node_id: null, message: 'There is no entry. Add a node of type entry and connect it to the first step.' }]
  return [
    ...entries.slice(1).map(node => at(node, `a flow has one entry, and ${entries[0]?.id} is it. Remove this one.`)),
    ...entries
      .filter(({ id }) => arriving.has(id))
      .map(node => at(node, 'nothing may lead back to the entry. Remove the edges that do.')),
  ]
}

function strayEdges({ edges }: Graph, { nodes }: Net): FlowProblem[] {
  return edges.flatMap(({ from, to }) => {
    const node = nodes.get(from)
    if (node === undefined)
      return [{ node_id: null, message: `An edge leaves node ${from}, which is not there. Remove the edge.` }]
    return nodes.has(to) ? [] : [at(node, `leads to node ${to}, which is not there. Connect it to another one.`)]
  })
}

/** The faults of the node's own fields. */
function faultsOfNode(node: FlowNode): string[] {
  if (node.type === 'condition') return faultsOfCondition(node)
  if (node.type === 'landing' && node.landing_id == null) return ['names no landing. Choose one (landing_id).']
  if (node.type === 'offer' && node.offer_id == null) return ['names no offer. Choose one (offer_id).']
  if (node.type === 'channel' && node.channel_id == null) return ['names no channel. Choose one (channel_id).']
  if (isInTelegram(node)) return faultsOfPlace(node)
  if (node.type !== 'redirect') return []
  if (!node.url) return ['has no address. Enter where it leads (url).']
  const fault = faultOfAddress(node.url)
  return fault === undefined ? [] : [`the address ${fault}. Change its url.`]
}

function faultsOfPlace({ type, bot_id, app, start }: FlowNode & { type: 'bot' | 'mini_app' }): string[] {
  const app_fault = type === 'mini_app' && app ? faultOfApp(app) : undefined
  const start_fault = start ? faultOfStart(type, start) : undefined
  return [
    ...(bot_id == null ? ['names no bot. Choose one (bot_id).'] : []),
    ...(app_fault === undefined ? [] : [`the name of its app ${app_fault}. Change its app.`]),
    ...(start_fault === undefined ? [] : [`its parameter ${start_fault}. Change its start.`]),
  ]
}

function faultsOfCondition(node: FlowNode): string[] {
  const { field, match } = node
  if (field == null) return ['has no field. Choose the field that it checks.']
  const values = node.values ?? []
  // Ignored values could mean the opposite: bot with "false" would send crawlers to yes.
  if ((field === 'uniqueness' || field === 'bot' || field === 'time') && values.length > 0) return [NO_VALUES[field]]
  if (field === 'uniqueness' || field === 'bot') return []
  if (field === 'time') return faultsOfTime(node)
  const takesNone = match === 'is_set' && field !== 'geo' && field !== 'device' && field !== 'language'
  if (values.length === 0 && !takesNone) return ['has no values. Enter at least one that leads to yes (values).']
  if (field === 'geo') return listed(values, /^[A-Za-z]{2}$/, 'a country code of two letters such as DE')
  if (field === 'language')
    return listed(values, /^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8}){0,3}$/, 'a language such as en or pt-BR')
  if (field === 'device')
    return listed(values, new RegExp(`^(${DEVICES.join('|')})$`, 'i'), `one of ${DEVICES.join(', ')}`)
  return []
}

const NO_VALUES = {
  uniqueness: 'takes no values: yes means a new visitor, no a returning one. Remove its values.',
  bot: 'takes no values: yes means a crawler, no a person. Remove its values.',
  time: 'takes no values. Remove them, and choose days, or from_time and to_time.',
} as const

function listed(values: readonly string[], form: RegExp, what: string): string[] {
  const wrong = values.filter(value => !form.test(value))
  return wrong.length === 0 ? [] : [`${wrong.slice(0, 5).join(', ')} is not ${what}. Correct its values.`]
}

function faultsOfTime({ days, from_time, to_time, time_zone }: FlowNode): string[] {
  const faults: string[] = []
  if (!days?.length && from_time == null && to_time == null)
    faults.push('names neither days nor hours. Choose days, or from_time and to_time.')
  if (from_time != null && from_time === to_time)
    faults.push('begins and ends at the same minute, which is never. Change from_time or to_time.')
  if (time_zone && zoneClock(time_zone) === undefined)
    faults.push(`${time_zone} is not a time zone. Enter a name such as Europe/Berlin.`)
  return faults
}

/** The faults of the edges that leave a node. */
function faultsOfEdges(node: FlowNode, { leaving }: Net): string[] {
  const edges = leaving.get(node.id) ?? []
  if (node.type === 'condition') return faultsOfBranches(edges)
  if (node.type === 'split') return faultsOfWeights(edges)
  if (ENDS.has(node.type))
    return edges.length === 0 ? [] : ['ends a path, so nothing may follow it. Remove the edges that leave it.']
  if (edges.length > 1)
    return [
      `leads to ${edges.length} nodes and may lead to one. Put a condition or a split after it to send visitors different ways.`,
    ]
  return node.type === 'entry' && edges.length === 0 ? ['leads nowhere. Connect it to the first step.'] : []
}

function faultsOfBranches(edges: readonly FlowEdge[]): string[] {
  const faults = (['yes', 'no'] as const).flatMap(branch => {
    const count = edges.filter(edge => edge.branch === branch).length
    if (count === 1) return []
    if (count === 0) return [`its branch "${branch}" leads nowhere. Connect it to a next step.`]
    return [`its branch "${branch}" leads to ${count} nodes. Leave one of the edges.`]
  })
  if (edges.some(({ branch }) => branch == null))
    faults.push('an edge that leaves it belongs to no branch. Set its branch to yes or no.')
  return faults
}

function faultsOfWeights(edges: readonly FlowEdge[]): string[] {
  if (edges.length < 2) return ['splits nothing. Connect it to at least two next steps, each with a weight.']
  const targets = edges.map(({ to }) => to)
  const faults = new Set(targets).size < targets.length ? ['leads to one node twice. Leave one of the edges.'] : []
  if (edges.some(({ weight }) => weight == null)) faults.push('an edge that leaves it has no weight. Enter its share.')
  else if (edges.every(({ weight }) => weight === 0))
    faults.push('all its weights are 0, so nobody gets further. Give one branch a weight.')
  return faults
}

/** The nodes of one cycle, in order; empty if the graph has none. */
function circleOf({ nodes, leaving }: Net): FlowNode[] {
  const done = new Set<string>()
  for (const root of nodes.keys()) {
    const way: { id: string; left: FlowEdge[] }[] = []
    const enter = (id: string) => way.push({ id, left: [...(leaving.get(id) ?? [])] })
    if (!done.has(root)) enter(root)
    for (let top = way.at(-1); top !== undefined; top = way.at(-1)) {
      const edge = top.left.pop()
      if (edge === undefined) {
        done.add(top.id)
        way.pop()
        continue
      }
      const met = way.findIndex(({ id }) => id === edge.to)
      if (met >= 0) return way.slice(met).flatMap(({ id }) => nodes.get(id) ?? [])
      if (!done.has(edge.to)) enter(edge.to)
    }
  }
  return []
}

function circleProblem(circle: readonly FlowNode[]): FlowProblem {
  const names = [...circle, circle[0]].flatMap(node => (node === undefined ? [] : nameOf(node)))
  return {
    node_id: circle[0]?.id ?? null,
    message: `Node ${names[0]}: is part of a circle, ${names.join(' → ')}. Remove one of these edges.`,
  }
}

function unreachable({ nodes }: Graph, { leaving }: Net): FlowProblem[] {
  const entries = nodes.filter(({ type }) => type === 'entry').map(({ id }) => id)
  if (entries.length === 0) return []
  const reached = reachedFrom(entries, leaving)
  return nodes
    .filter(({ id }) => !reached.has(id))
    .map(node => at(node, 'no visitor can reach it. Connect it, or remove it.'))
}

function reachedFrom(roots: readonly string[], leaving: Net['leaving']): Set<string> {
  const reached = new Set(roots)
  // A loop over a set also visits the entries that are added during the loop.
  for (const id of reached) for (const { to } of leaving.get(id) ?? []) reached.add(to)
  return reached
}

/** A landing's link leads to the destination that was chosen for the click, so no second landing and no redirect may follow a landing. */
function behindLandings({ nodes }: Graph, { nodes: byId, leaving }: Net): FlowProblem[] {
  return nodes
    .filter(({ type }) => type === 'landing')
    .flatMap(landing => {
      const behind = reachedFrom([landing.id], leaving)
      behind.delete(landing.id)
      return [...behind]
        .flatMap(id => byId.get(id) ?? [])
        .filter(({ type }) => type === 'landing' || type === 'redirect')
        .map(node =>
          at(
            node,
            `is a ${node.type} behind the landing ${nameOf(landing)}. Behind a landing a path ends with an offer, a bot, a Mini App or a channel.`,
          ),
        )
    })
}

/** Only for graphs without a cycle; with one it would never end. */
function tooLong({ nodes }: Graph, { leaving }: Net): FlowProblem[] {
  const longest = new Map<string, number>()
  const lengthOf = (id: string): number => {
    const known = longest.get(id)
    if (known !== undefined) return known
    const length = 1 + Math.max(0, ...(leaving.get(id) ?? []).map(({ to }) => lengthOf(to)))
    longest.set(id, length)
    return length
  }
  return nodes
    .filter(({ type, id }) => type === 'entry' && lengthOf(id) > LONGEST_PATH)
    .map(node => at(node, `begins a path of more than ${LONGEST_PATH} nodes. Shorten it.`))
}
