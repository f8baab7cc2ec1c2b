/** Keeps in sight what one works on. */
import { useReactFlow, useStore } from '@xyflow/react'
import { useEffect, useRef } from 'react'
import { CARD_WIDTH, cardHeight, type Laid } from './layout.ts'

/** Below this cards cannot be read. */
const SMALLEST = 0.55
const MARGIN = 28
/** What the "+" behind a card takes up. */
const OPEN_END = 32

type InSightProps = { laid: Laid; chosen: string | undefined }

/**
 * Has the whole drawing in sight at the beginning, and after a step has come or gone or all was laid out anew; its beginning where it is
 * too large to be read. The chosen step is in sight in any case.
 */
export function InSight({ laid: { graph, ways }, chosen }: InSightProps) {
  const { setViewport, getViewport } = useReactFlow()
  const width = useStore(({ width }) => width)
  const height = useStore(({ height }) => height)
  const shown = useRef('')
  const shape = `${graph.nodes.map(({ id }) => id).join(' ')} ${ways.size > 0 ? 'laid' : 'arranged'}`
  useEffect(() => {
    if (width === 0 || height === 0) return
    const boxes = graph.nodes.map(({ id, type, x, y }) => {
      const [left, top] = [x ?? 0, y ?? 0]
      return { id, left, top, right: left + CARD_WIDTH + OPEN_END, bottom: top + cardHeight(type) }
    })
    let view = getViewport()
    if (shown.current !== shape && boxes.length > 0) {
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
    shown.current = shape
    const box = boxes.find(({ id }) => id === chosen)
    if (box !== undefined) {
      const { x, y, zoom } = view
      view = {
        zoom,
        x: x + into(box.left * zoom + x, box.right * zoom + x, width),
        y: y + into(box.top * zoom + y, box.bottom * zoom + y, height),
      }
    }
    void setViewport(view)
    // Nothing is moved under the hand of who drags or looks around: only what was chosen, came or went moves the view.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [shape, chosen, width, height])
  return null
}

/** How far to move what lies from `from` to `to` so that all of it is within `size`. */
function into(from: number, to: number, size: number): number {
  if (to > size - MARGIN) return size - MARGIN - to
  return from < MARGIN ? MARGIN - from : 0
}
