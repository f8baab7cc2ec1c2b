/** The names of nodes on screen: the label, or else a description. */
import type { Choices } from './choices.ts'
import { TYPE_WORDS, type WireGraph, type WireNode } from './graph.ts'

/** The name of every node by its id. Nodes with equal names get their ids added. */
export type NodeNames = ReadonlyMap<string, string>

export function nodeNamesOf(graph: WireGraph, choices: Choices): NodeNames {
  const plain = graph.nodes.map(node => [node.id, node.label || described(node, choices)] as const)
  const counts = Map.groupBy(plain, ([, name]) => name)
  const names = new Map(plain.map(([id, name]) => [id, counts.get(name)?.length === 1 ? name : `${name} (${id})`]))
  return new Map(
    graph.nodes.map(node => {
      const name = names.get(node.id) ?? node.id
      return [node.id, node.type === 'split' && !node.label ? splitName(node, graph, names) : name] as const
    }),
  )
}

/** A split is named after its targets; a split that leads to an unlabelled split keeps its id. */
function splitName({ id }: WireNode, { nodes, edges }: WireGraph, names: NodeNames): string {
  const targets = edges.filter(({ from }) => from === id).map(({ to }) => to)
  const isNamed = targets.every(to => nodes.some(node => node.id === to && (node.type !== 'split' || node.label)))
  if (targets.length === 0 || !isNamed) return names.get(id) ?? id
  const [first, second] = targets.map(to => names.get(to) ?? to)
  const more = targets.length > 2 ? ` +${targets.length - 2}` : ''
  return `Split ${[first, second].filter(Boolean).join(' / ')}${more}`
}

/** A short description of a node. */
export function described(node: WireNode, choices: Choices): string {
  switch (node.type) {
    case 'entry':
      return 'Every visitor'
    case 'condition':
      return conditionInWords(node)
    case 'split':
      return 'Split'
    case 'redirect':
      return node.url ? hostOf(node.url) : 'Redirect, no address yet'
    default: {
      const type = node.type === 'mini_app' ? 'bot' : node.type
      const id = node[`${type}_id`]
      if (id == null) return `${TYPE_WORDS[node.type]}, none chosen`
      const name = choices[type].find(choice => choice.id === id)?.name ?? id
      return node.type === 'mini_app' && node.app ? `${name}/${node.app}` : name
    }
  }
}

const hostOf = (url: string): string => /^https?:\/\/([^/?#]+)/i.exec(url)?.[1] ?? url

/** The labels of a condition's fields. */
export const FIELD_WORDS: Readonly<Record<string, string>> = {
  geo: 'Country',
  device: 'Device',
  os: 'OS',
  browser: 'Browser',
  language: 'Language',
  time: 'Time',
  uniqueness: 'New visitor',
  bot: 'Bot (crawler, preview, prefetch)',
}

const SIGNS = { is: 'is', contains: 'contains', starts_with: 'starts with', is_set: 'is set' } as const
const MOST_VALUES = 4

function conditionInWords({
  field,
  match,
  values,
  days,
  from_time,
  to_time,
  time_zone,
  within_hours,
}: WireNode): string {
  if (field == null) return 'Condition, not set yet'
  if (field === 'uniqueness')
    return within_hours == null ? 'Is a new visitor' : `No visit in the last ${within_hours} hours`
  if (field === 'bot') return 'Is a bot'
  if (field === 'time') {
    const hours = from_time == null && to_time == null ? '' : `${from_time ?? '00:00'}–${to_time ?? '24:00'}`
    return `Time is ${[days?.join(' '), hours, time_zone || 'UTC'].filter(Boolean).join(', ')}`
  }
  const word = FIELD_WORDS[field] ?? field
  if (match === 'is_set') return `${word} is set`
  const all = values ?? []
  const some = all.slice(0, MOST_VALUES).join(', ')
  const more = all.length > MOST_VALUES ? ` +${all.length - MOST_VALUES}` : ''
  return all.length === 0 ? `${word}, no values yet` : `${word} ${SIGNS[match ?? 'is']} ${some}${more}`
}

/** The text below a node's name: its type, or its description if it has a label. */
export function subtitle(node: WireNode, choices: Choices): string {
  if (node.type === 'entry') return 'Visitors start here'
  if (node.type === 'redirect')
    return node.url && !node.label ? `Redirect · ${node.url}` : `Redirect · ${described(node, choices)}`
  if (node.type === 'split') return 'By weight, fixed for each visitor'
  return node.label ? described(node, choices) : TYPE_WORDS[node.type]
}
