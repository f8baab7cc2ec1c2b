/** The graph as a drawing. Whatever is done here by pointer can be done in the list and the form by keyboard. */
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
import { changed, connected, openEnds, type Place, type WireGraph, withoutNodes, withStep } from './graph.ts'
import { InSight } from './in-sight.tsx'
import { CARD_WIDTH, cardHeight, edgeId, isArranged, type Laid, laidOut, loose } from './layout.ts'
import { type Names, subtitle } from './names.ts'
import { shareOf } from './next-steps.tsx'
import { type Card, DrawnContext, StepCard } from './step-card.tsx'
import { type Way, WayEdge } from './way-edge.tsx'

type Props = {
  graph: WireGraph
  choices: Choices
  names: Names
  chosen: string | undefined
  faulty: ReadonlySet<string>
  onChoose: (id: string | undefined) => void
  onChange: (graph: WireGraph) => void
  onAdded: (graph: WireGraph, id: string) => void
}

const CARDS = { step: StepCard }
const WAYS = { way: WayEdge }
const MARKER = { type: MarkerType.ArrowClosed, color: 'var(--line-strong)' }

function waysOf({ graph, ways }: Laid, chosen: readonly Way[]): Way[] {
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
        words: weight == null ? (branch ?? undefined) : shareOf(weight, total),
        points: ways.get(id),
      },
    }
  })
}

export function Canvas({ graph, choices, names, chosen, faulty, onChoose, onChange, onAdded }: Props) {
  const laid = useMemo(() => laidOut(graph), [graph])
  const [nodes, setNodes, onNodesChange] = useNodesState<Card>([])
  const [edges, setEdges, onEdgesChange] = useEdgesState<Way>([])
  useEffect(() => {
    setNodes(before => {
      // What the library has measured of a card is kept with it.
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
  const settle = (moved: readonly Card[]) =>
    onChange(
      moved.reduce(
        (all, { id, position }) => changed(all, id, { x: Math.round(position.x), y: Math.round(position.y) }),
        laid.graph,
      ),
    )
  const drawn = useMemo(
    () => ({
      names,
      onAdd: (type: NodeType, place: Place) => onAdded(...withStep(graph, type, place)),
    }),
    [graph, names, onAdded],
  )
  return (
    <div className="h-[min(70dvh,44rem)] min-h-80 overflow-hidden rounded-lg border border-line">
      <DrawnContext value={drawn}>
        <ReactFlow<Card, Way>
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
          minZoom={0.2}
        >
          <Background />
          <Controls showInteractive={false} fitViewOptions={{ maxZoom: 1, padding: 0.1 }}>
            <ControlButton
              aria-label="Tidy"
              title={isArranged(graph) ? 'Tidy: lay the cards out anew' : 'The cards are laid out by themselves'}
              onClick={() => onChange(loose(graph))}
            >
              <Wand aria-hidden />
            </ControlButton>
          </Controls>
          <InSight laid={laid} chosen={chosen} />
        </ReactFlow>
      </DrawnContext>
    </div>
  )
}
