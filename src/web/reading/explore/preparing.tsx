/** Shown while an answer takes long, which it does when its days are read for the first time. */
import { useEffect, useState } from 'react'

/** A shorter wait needs no explanation, and a sentence that comes and goes looks like a fault. */
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
