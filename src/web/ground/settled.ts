/** Typed text, once it has not changed for a moment, so that not every letter asks the server. */
import { useEffect, useState } from 'react'

export function useSettled(text: string, pause_ms: number): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), pause_ms)
    return () => clearTimeout(timer)
  }, [text, pause_ms])
  return settled
}
