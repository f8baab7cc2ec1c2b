/** Said while an answer takes long: the days of a question are read in first, which they are once. */
import { useEffect, useState } from 'react'

/** Shorter is read as slowness of the page, and a sentence that comes and goes as a fault. */
const LATE_MS = 1200

export function Preparing({ className = 'mt-3' }: { className?: string }) {
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    const late = setTimeout(() => setLate(true), LATE_MS)
    return () => clearTimeout(late)
  }, [])
  return (
    <output className={`block text-ink-soft ${className}`}>
      {isLate && 'Loading the clicks of these days … The first report after Sluice starts takes the longest.'}
    </output>
  )
}
