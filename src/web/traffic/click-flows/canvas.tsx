/** The graph as a drawing. Everything the pointer does here can be done by keyboard in the list and the form. */
import {
  Background,
  type Connection,
  ControlButton,
  Controls,
  MarkerType,
  ReactFlow,
  useEdgesState,
  useNodesState,
} from '@xyflow/react'
import { Wand } from 'lucide-react'
import { useEffect, useMemo } from 'react'
import type { NodeType } from '../../../traffic/click-flows/api.ts'
import './canvas.css'
import type { Choices } from './choices.ts'
import { changed, connected, openEnds, type StepPlace, type WireGraph, withoutNodes, withStep } from './graph.ts'
import { InSight } from './in-sight.tsx'
import { CARD_WIDTH, cardHeight, edgeId, isArranged, type LaidOutGraph, laidOut, loose } from './layout.ts'
import { type NodeNames, subtitle } from './names.ts'
import { percentOf } from './next-steps.tsx'
import { type NodeCard, CanvasContext, StepCard } from './step-card.tsx'
import { type CanvasEdge, WayEdge } from './way-edge.tsx'

type Props = {
  graph: WireGraph
  choices: Choices
  names: NodeNames
  chosen: string | undefined
  faulty: ReadonlySet<string>
  onChoose: (id: string | undefined) => void
  onChange: (graph: WireGraph) => void
  onAdded: (graph: WireGraph, id: string) => void
}

const CARDS = { step: StepCard }
const WAYS = { way: WayEdge }
const MARKER = { type: MarkerType.ArrowClosed, color: 'var(--line-strong)' }

function waysOf({ graph, ways }: LaidOutGraph, chosen: readonly CanvasEdge[]): CanvasEdge[] {
  const selected = new Set(chosen.filter(edge => edge.selected).map(({ id }) => id))
  return graph.edges.map(edge => {
    const { from, to, branch, weight } = edge
    const total = graph.edges.filter(one => one.from === from).reduce((sum, one) => sum + (one.weight ?? 0), 0)
    const id = edgeId(edge)
    return {
      id,
      type: 'way' as const,
      source: from,
      target: to,
      sourceHandle: branch ?? null,
      markerEnd: MARKER,
      selected: selected.has(id),
      data: {
        place: { from, to, ...(branch == null ? {} : { branch }) },
        words: weight == null ? (branch ?? undefined) : percentOf(weight, total),
        points: ways.get(id),
      },
    }
  })
}

export function Canvas({ graph, choices, names, chosen, faulty, onChoose, onChange, onAdded }: Props) {
  const laid = useMemo(() => laidOut(graph), [graph])
  const [nodes, setNodes, onNodesChange] = useNodesState<NodeCard>([])
  const [edges, setEdges, onEdgesChange] = useEdgesState<CanvasEdge>([])
  useEffect(() => {
    setNodes(before => {
      // Keeps the sizes that the library has measured.
      const known = new Map(before.map(card => [card.id, card]))
      return laid.graph.nodes.map(node => ({
        ...known.get(node.id),
        id: node.id,
        type: 'step' as const,
        position: { x: node.x ?? 0, y: node.y ?? 0 },
        width: CARD_WIDTH,
        height: cardHeight(node.type),
        selected: node.id === chosen,
        ariaLabel: `${names.get(node.id)}: ${subtitle(node, choices)}`,
        data: { node, words: subtitle(node, choices), isFaulty: faulty.has(node.id), open: openEnds(graph, node) },
      }))
    })
    setEdges(before => waysOf(laid, before))
  }, [graph, laid, choices, names, chosen, faulty, setNodes, setEdges])
  const connect = ({ source, target, sourceHandle }: Connection) => {
    const branch = sourceHandle === 'yes' || sourceHandle === 'no' ? sourceHandle : undefined
    onChange(connected(graph, source, target, branch))
  }
  const savePositions = (moved: readonly NodeCard[]) =>
    onChange(
      moved.reduce(
        (all, { id, position }) => changed(all, id, { x: Math.round(position.x), y: Math.round(position.y) }),
        laid.graph,
      ),
    )
  const drawn = useMemo(
    () => ({
      names,
      onAdd: (type: NodeType, place: StepPlace) => onAdded(...withStep(graph, type, place)),
    }),
    [graph, names, onAdded],
  )
  return (
    <div className="h-[min(70dvh,44rem)] min-h-80 overflow-hidden rounded-lg border border-line">
      <CanvasContext value={drawn}>
        <ReactFlow<NodeCard, CanvasEdge>
          aria-label="Canvas"
          nodes={nodes}
          edges={edges}
          nodeTypes={CARDS}
          edgeTypes={WAYS}
          onNodesChange={changes => {
            onNodesChange(changes)
            const choice = changes.find(change => change.type === 'select' && change.selected)
            if (choice !== undefined && 'id' in choice) onChoose(choice.id)
          }}
          onPaneClick={() => onChoose(undefined)}
          onEdgesChange={onEdgesChange}
          onConnect={connect}
          onNodeDragStop={(_, __, moved) => savePositions(moved)}
          onDelete={deleted => {
            const edgeIds = new Set(deleted.edges.map(({ id }) => id))
            const rest = { ...graph, edges: graph.edges.filter(edge => !edgeIds.has(edgeId(edge))) }
            onChange(
              withoutNodes(
                rest,
                deleted.nodes.map(({ id }) => id),
              ),
            )
          }}
          isValidConnection={({ source, target }) => source !== target}
          deleteKeyCode={['Backspace', 'Delete']}
          minZoom={0.2}
        >
          <Background />
          <Controls showInteractive={false} fitViewOptions={{ maxZoom: 1, padding: 0.1 }}>
            <ControlButton
              aria-label="Tidy"
              title={
                isArranged(graph) ? 'Tidy: arrange the cards automatically' : 'The cards are arranged automatically'
              }
              onClick={() => onChange(loose(graph))}
            >
              <Wand aria-hidden />
            </ControlButton>
          </Controls>
          <InSight laid={laid} chosen={chosen} />
        </ReactFlow>
      </CanvasContext>
    </div>
  )
}
