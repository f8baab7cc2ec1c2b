/** The graph as a drawing. Whatever is done here by pointer can be done in the list and the form by keyboard. */
import {
  Background,
  type Connection,
  Controls,
  type Edge,
  Handle,
  MarkerType,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  useEdgesState,
  useNodesState,
} from '@xyflow/react'
import { clsx } from 'clsx'
import { Bot, Flag, GitFork, LayoutTemplate, type LucideIcon, Split, Tag, TriangleAlert, Users } from 'lucide-react'
import { useEffect } from 'react'
import type { NodeType } from '../../../traffic/click-flows/api.ts'
import './canvas.css'
import { type Choices, inShort } from './choices.ts'
import {
  changed,
  connected,
  leadsOn,
  nameOf,
  placed,
  type WireEdge,
  type WireGraph,
  type WireNode,
  withoutNodes,
} from './graph.ts'
import { shareOf } from './next-steps.tsx'

type Props = {
  graph: WireGraph
  choices: Choices
  chosen: string | undefined
  faulty: ReadonlySet<string>
  onChoose: (id: string) => void
  onChange: (graph: WireGraph) => void
}

type Card = Node<{ node: WireNode; words: string; isFaulty: boolean }, 'step'>

const ICONS: Record<NodeType, LucideIcon> = {
  entry: Users,
  condition: GitFork,
  split: Split,
  landing: LayoutTemplate,
  offer: Tag,
  bot: Bot,
  redirect: Flag,
}

function StepCard({ data: { node, words, isFaulty }, selected }: NodeProps<Card>) {
  const Icon = ICONS[node.type]
  return (
    <div
      className={clsx(
        'w-52 rounded-md border bg-surface px-3 py-2 text-ink',
        selected ? 'border-accent ring-2 ring-accent' : isFaulty ? 'border-warn' : 'border-line-strong/60',
      )}
    >
      {node.type !== 'entry' && <Handle type="target" position={Position.Left} />}
      <p className="flex items-center gap-1.5 font-medium">
        <Icon aria-hidden className="size-3.5 shrink-0 text-accent" />
        <span className="min-w-0 truncate">{nameOf(node)}</span>
        {isFaulty && <TriangleAlert aria-label="Has a problem" className="ml-auto size-3.5 shrink-0 text-warn" />}
      </p>
      <p className="truncate text-sm text-ink-soft">{words}</p>
      {node.type === 'condition' ? (
        <>
          <p aria-hidden className="-mr-1 text-right text-xs leading-4 text-ink-faint">
            yes
            <br />
            no
          </p>
          <Handle type="source" position={Position.Right} id="yes" style={{ top: 'auto', bottom: 26 }} />
          <Handle type="source" position={Position.Right} id="no" style={{ top: 'auto', bottom: 9 }} />
        </>
      ) : (
        leadsOn(node.type) && <Handle type="source" position={Position.Right} />
      )}
    </div>
  )
}

const CARDS = { step: StepCard }
const MARKER = { type: MarkerType.ArrowClosed, color: 'var(--line-strong)' }

const edgeId = ({ from, to, branch }: WireEdge): string => `${from} ${branch ?? ''} ${to}`

function edgesOf(graph: WireGraph, chosen: readonly Edge[]): Edge[] {
  const selected = new Set(chosen.filter(edge => edge.selected).map(({ id }) => id))
  return graph.edges.map(edge => {
    const { from, to, branch, weight } = edge
    const total = graph.edges.filter(one => one.from === from).reduce((sum, one) => sum + (one.weight ?? 0), 0)
    const label = weight == null ? branch : shareOf(weight, total)
    const id = edgeId(edge)
    return {
      id,
      source: from,
      target: to,
      sourceHandle: branch ?? null,
      markerEnd: MARKER,
      selected: selected.has(id),
      ...(label == null ? {} : { label }),
    }
  })
}

export function Canvas({ graph, choices, chosen, faulty, onChoose, onChange }: Props) {
  const [nodes, setNodes, onNodesChange] = useNodesState<Card>([])
  const [edges, setEdges, onEdgesChange] = useEdgesState<Edge>([])
  useEffect(() => {
    setNodes(before => {
      // What the library has measured of a card is kept with it.
      const known = new Map(before.map(card => [card.id, card]))
      return placed(graph).nodes.map(node => ({
        ...known.get(node.id),
        id: node.id,
        type: 'step' as const,
        position: { x: node.x ?? 0, y: node.y ?? 0 },
        selected: node.id === chosen,
        ariaLabel: `${nameOf(node)}: ${inShort(node, choices)}`,
        data: { node, words: inShort(node, choices), isFaulty: faulty.has(node.id) },
      }))
    })
    setEdges(before => edgesOf(graph, before))
  }, [graph, choices, chosen, faulty, setNodes, setEdges])
  const connect = ({ source, target, sourceHandle }: Connection) => {
    const branch = sourceHandle === 'yes' || sourceHandle === 'no' ? sourceHandle : undefined
    onChange(connected(graph, source, target, branch))
  }
  const settle = (moved: readonly Card[]) =>
    onChange(
      moved.reduce(
        (all, { id, position }) => changed(all, id, { x: Math.round(position.x), y: Math.round(position.y) }),
        placed(graph),
      ),
    )
  return (
    <div className="h-[min(70dvh,44rem)] min-h-80 overflow-hidden rounded-lg border border-line">
      <ReactFlow<Card>
        aria-label="Canvas"
        nodes={nodes}
        edges={edges}
        nodeTypes={CARDS}
        onNodesChange={changes => {
          onNodesChange(changes)
          const choice = changes.find(change => change.type === 'select' && change.selected)
          if (choice !== undefined && 'id' in choice) onChoose(choice.id)
        }}
        onEdgesChange={onEdgesChange}
        onConnect={connect}
        onNodeDragStop={(_, __, moved) => settle(moved)}
        onDelete={gone => {
          const edgeIds = new Set(gone.edges.map(({ id }) => id))
          const rest = { ...graph, edges: graph.edges.filter(edge => !edgeIds.has(edgeId(edge))) }
          onChange(
            withoutNodes(
              rest,
              gone.nodes.map(({ id }) => id),
            ),
          )
        }}
        isValidConnection={({ source, target }) => source !== target}
        deleteKeyCode={['Backspace', 'Delete']}
        fitView
        fitViewOptions={{ maxZoom: 1, padding: 0.15 }}
        minZoom={0.2}
      >
        <Background />
        <Controls showInteractive={false} />
      </ReactFlow>
    </div>
  )
}
