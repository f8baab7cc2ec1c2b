/** Moves the canvas's view so that the graph and the selected card are visible. */
import { useReactFlow, useStore } from '@xyflow/react'
import { useEffect, useRef } from 'react'
import { CARD_WIDTH, cardHeight, type LaidOutGraph } from './layout.ts'

/** The smallest zoom at which cards can be read. */
const SMALLEST = 0.55
const MARGIN = 28
/** The width of the "+" behind a card. */
const OPEN_END = 32

type InSightProps = { laid: LaidOutGraph; chosen: string | undefined }

/**
 * Shows the whole graph at first, after a step was added or removed, and after a new layout; if it is too large to be readable, its
 * beginning. The selected step is always visible.
 */
export function InSight({ laid: { graph, ways }, chosen }: InSightProps) {
  const { setViewport, getViewport } = useReactFlow()
  const width = useStore(({ width }) => width)
  const height = useStore(({ height }) => height)
  const shownShape = useRef('')
  const shape = `${graph.nodes.map(({ id }) => id).join(' ')} ${ways.size > 0 ? 'laid' : 'arranged'}`
  useEffect(() => {
    if (width === 0 || height === 0) return
    const boxes = graph.nodes.map(({ id, type, x, y }) => {
      const [left, top] = [x ?? 0, y ?? 0]
      return { id, left, top, right: left + CARD_WIDTH + OPEN_END, bottom: top + cardHeight(type) }
    })
    let view = getViewport()
    if (shownShape.current !== shape && boxes.length > 0) {
      const [left, right] = [Math.min(...boxes.map(box => box.left)), Math.max(...boxes.map(box => box.right))]
      const [top, bottom] = [Math.min(...boxes.map(box => box.top)), Math.max(...boxes.map(box => box.bottom))]
      const fits = Math.min((width - 2 * MARGIN) / (right - left), (height - 2 * MARGIN) / (bottom - top))
      const zoom = Math.min(1, Math.max(SMALLEST, fits))
      view = {
        zoom,
        x: Math.max(MARGIN - left * zoom, (width - (left + right) * zoom) / 2),
        y: (height - (top + bottom) * zoom) / 2,
      }
    }
    shownShape.current = shape
    const box = boxes.find(({ id }) => id === chosen)
    if (box !== undefined) {
      const { x, y, zoom } = view
      view = {
        zoom,
        x: x + shiftInto(box.left * zoom + x, box.right * zoom + x, width),
        y: y + shiftInto(box.top * zoom + y, box.bottom * zoom + y, height),
      }
    }
    void setViewport(view)
    // The graph itself is no dependency: dragging a card must not move the view.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [shape, chosen, width, height])
  return null
}

/** How far to move the range `from` to `to` so that it lies within `size`. */
function shiftInto(from: number, to: number, size: number): number {
  if (to > size - MARGIN) return size - MARGIN - to
  return from < MARGIN ? MARGIN - from : 0
}
