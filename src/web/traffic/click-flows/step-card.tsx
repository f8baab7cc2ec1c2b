/** A node on the canvas, with a "+" at each of its open ends. */
import { Handle, type Node, type NodeProps, Position } from '@xyflow/react'
import { clsx } from 'clsx'
import { TriangleAlert } from 'lucide-react'
import { createContext, useContext } from 'react'
import type { NodeType } from '../../../traffic/click-flows/api.ts'
import { AddStep } from './add-step.tsx'
import { leadsOn, type StepPlace, type WireNode } from './graph.ts'
import { CARD_WIDTH, cardHeight } from './layout.ts'
import type { NodeNames } from './names.ts'
import { ICONS } from './node-icons.ts'

/** What cards and edges share: the names of nodes, and how to add a step. */
type CanvasActions = { names: NodeNames; onAdd: (type: NodeType, place: StepPlace) => void }
export const CanvasContext = createContext<CanvasActions>({ names: new Map(), onAdd: () => undefined })

export type NodeCard = Node<{ node: WireNode; words: string; isFaulty: boolean; open: readonly StepPlace[] }, 'step'>

/** Heights of a condition's branches above the bottom of its card, in pixels. */
const BRANCH_BOTTOM = { yes: 33, no: 12 } as const

export function StepCard({ data: { node, words, isFaulty, open }, selected }: NodeProps<NodeCard>) {
  const { names, onAdd } = useContext(CanvasContext)
  const Icon = ICONS[node.type]
  return (
    <div
      style={{ width: CARD_WIDTH, height: cardHeight(node.type) }}
      className={clsx(
        'rounded-md border bg-surface px-3 py-2 text-ink',
        selected ? 'border-accent ring-2 ring-accent' : isFaulty ? 'border-warn' : 'border-line-strong/60',
      )}
    >
      {node.type !== 'entry' && <Handle type="target" position={Position.Left} style={{ top: 30 }} />}
      <p className="flex items-center gap-1.5 font-medium" title={names.get(node.id)}>
        <Icon aria-hidden className="size-3.5 shrink-0 text-accent" />
        <span className="min-w-0 truncate">{names.get(node.id)}</span>
        {isFaulty && <TriangleAlert aria-label="Has a problem" className="ml-auto size-3.5 shrink-0 text-warn" />}
      </p>
      <p className="truncate text-sm text-ink-soft">{words}</p>
      {node.type === 'condition'
        ? (['yes', 'no'] as const).map(branch => (
            <span key={branch}>
              <span
                aria-hidden
                className="absolute right-2.5 text-xs leading-4 text-ink-faint"
                style={{ bottom: BRANCH_BOTTOM[branch] - 8 }}
              >
                {branch}
              </span>
              <Handle
                type="source"
                position={Position.Right}
                id={branch}
                style={{ top: 'auto', bottom: BRANCH_BOTTOM[branch] - 5, transform: 'translate(50%, 0)' }}
              />
            </span>
          ))
        : leadsOn(node.type) && <Handle type="source" position={Position.Right} style={{ top: 30 }} />}
      {open.map(place => (
        <span
          key={place.branch ?? ''}
          className="absolute left-full ml-2.5 flex"
          // The edges of a split leave where other cards have their "+".
          style={{
            bottom: place.branch === undefined ? (node.type === 'split' ? -10 : 20) : BRANCH_BOTTOM[place.branch] - 10,
          }}
        >
          <AddStep place={place} names={names} onAdd={onAdd} />
        </span>
      ))}
    </div>
  )
}
