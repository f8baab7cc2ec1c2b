/** A QR code, drawn in the browser, so that its secret is sent to no other service. */
import { encodeQR } from 'qr'
import { useMemo } from 'react'

export function QrCode({ text, label }: { text: string; label: string }) {
  const { side, path } = useMemo(() => pathOf(text), [text])
  return (
    // Black on white in every theme, because many cameras cannot read inverted codes.
    <figure aria-label={label} className="shrink-0 overflow-hidden rounded-md border border-line">
      <svg aria-hidden viewBox={`0 0 ${side} ${side}`} shapeRendering="crispEdges" className="size-44 bg-white">
        <path d={path} fill="#000" />
      </svg>
    </figure>
  )
}

/** The quiet zone that the standard asks for, in modules. */
const BORDER = 4

function pathOf(text: string) {
  const rows = encodeQR(text, 'raw', { border: BORDER })
  const path = rows.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  return { side: rows.length, path }
}
