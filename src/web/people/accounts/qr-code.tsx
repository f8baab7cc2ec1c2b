/** A QR code, drawn by the browser itself: what it says goes nowhere. */
import { encodeQR } from 'qr'
import { useMemo } from 'react'

export function QrCode({ text, label }: { text: string; label: string }) {
  const { side, path } = useMemo(() => drawn(text), [text])
  return (
    // Black on white whatever the theme: many cameras read nothing else.
    <figure aria-label={label} className="shrink-0 overflow-hidden rounded-md border border-line">
      <svg aria-hidden viewBox={`0 0 ${side} ${side}`} shapeRendering="crispEdges" className="size-44 bg-white">
        <path d={path} fill="#000" />
      </svg>
    </figure>
  )
}

/** Four modules of quiet around it, as the standard asks. */
const BORDER = 4

function drawn(text: string) {
  const rows = encodeQR(text, 'raw', { border: BORDER })
  const path = rows.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  return { side: rows.length, path }
}
