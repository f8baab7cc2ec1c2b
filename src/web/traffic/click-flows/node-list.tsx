/** The nodes as a table: the same graph for keyboards, screen readers and phones. */
import { clsx } from 'clsx'
import { TriangleAlert } from 'lucide-react'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import type { Choices } from './choices.ts'
import { TYPE_WORDS, type WireGraph, type WireNode } from './graph.ts'
import { described, type NodeNames } from './names.ts'
import { percentOf } from './next-steps.tsx'

type Props = {
  graph: WireGraph
  choices: Choices
  names: NodeNames
  chosen: string | undefined
  faulty: ReadonlySet<string>
  onChoose: (id: string) => void
}

export function NodeList({ graph, choices, names, chosen, faulty, onChoose }: Props) {
  return (
    <Table caption="Nodes">
      <thead>
        <tr>
          <Head stay>Node</Head>
          <Head>Type</Head>
          <Head>Description</Head>
          <Head>Leads to</Head>
        </tr>
      </thead>
      <tbody>
        {graph.nodes.map(node => (
          <Row key={node.id} className={clsx(node.id === chosen && '[&>*]:bg-accent-soft!')}>
            <RowHead stay className="max-w-44 truncate">
              <button
                type="button"
                aria-pressed={node.id === chosen}
                onClick={() => onChoose(node.id)}
                title={names.get(node.id)}
                className="inline-flex max-w-full items-center gap-1.5 rounded-sm align-middle hover:text-accent hover:underline"
              >
                {faulty.has(node.id) && <TriangleAlert aria-label="Has a problem" className="size-3.5 text-warn" />}
                <span className="truncate">{names.get(node.id)}</span>
              </button>
            </RowHead>
            <Cell>{TYPE_WORDS[node.type]}</Cell>
            <Cell className="max-w-72 truncate">
              {node.type === 'redirect' ? node.url || described(node, choices) : described(node, choices)}
            </Cell>
            <Cell className="max-w-96 truncate">{nextStepsInWords(graph, node, names)}</Cell>
          </Row>
        ))}
      </tbody>
    </Table>
  )
}

function nextStepsInWords(graph: WireGraph, node: WireNode, names: NodeNames): string {
  const edges = graph.edges.filter(({ from }) => from === node.id)
  const total = edges.reduce((sum, { weight }) => sum + (weight ?? 0), 0)
  return edges
    .map(({ to, branch, weight }) => {
      const how = node.type === 'split' ? percentOf(weight ?? 0, total) : branch
      return `${how ? `${how}: ` : ''}${names.get(to) ?? to}`
    })
    .join(', ')
}
