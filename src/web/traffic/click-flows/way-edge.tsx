/** An edge on the canvas: the line, its branch or share, and a "+" that inserts a step. */

import type { Point } from '@dagrejs/dagre'
import { BaseEdge, type Edge, EdgeLabelRenderer, type EdgeProps, getBezierPath } from '@xyflow/react'
import { useContext } from 'react'
import { AddStep } from './add-step.tsx'
import type { StepPlace } from './graph.ts'
import { lineThrough } from './layout.ts'
import { CanvasContext } from './step-card.tsx'

export type CanvasEdge = Edge<
  { place: StepPlace; words: string | undefined; points: readonly Point[] | undefined },
  'way'
>

export function WayEdge(props: EdgeProps<CanvasEdge>) {
  const { id, sourceX, sourceY, targetX, targetY, markerEnd, data } = props
  const { names, onAdd } = useContext(CanvasContext)
  const { line, x, y } = lineOf(props)
  return (
    <>
      <BaseEdge id={id} path={line} {...(markerEnd === undefined ? {} : { markerEnd })} />
      {data !== undefined && (
        <EdgeLabelRenderer>
          <div
            className="nodrag nopan pointer-events-auto absolute flex items-center gap-1 rounded-full bg-sunken pl-1 text-xs text-ink-soft first:pl-0"
            style={{
              transform: `translate(-50%, -50%) translate(${x ?? (sourceX + targetX) / 2}px, ${y ?? (sourceY + targetY) / 2}px)`,
            }}
          >
            {data.words !== undefined && <span className="whitespace-nowrap">{data.words}</span>}
            <AddStep place={data.place} names={names} onAdd={onAdd} />
          </div>
        </EdgeLabelRenderer>
      )}
    </>
  )
}

function lineOf(props: EdgeProps<CanvasEdge>): { line: string; x: number; y: number } {
  const { sourceX, sourceY, targetX, targetY, data } = props
  const points = data?.points ?? []
  // The label stands at the first point, near the card, because edges from the same card are already apart there.
  const [label] = points
  if (label === undefined) {
    const [line, x, y] = getBezierPath(props)
    return { line, x, y }
  }
  const ends = [{ x: sourceX, y: sourceY }, ...points, { x: targetX, y: targetY }]
  return { line: lineThrough(ends), x: label.x, y: label.y }
}
