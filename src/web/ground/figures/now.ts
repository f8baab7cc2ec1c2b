/** The time, moving on in steps of a minute, so that a page left open comes to the next day by itself. */
import { useEffect, useState } from 'react'
import { dayAt } from '../zone.ts'

/** The date of now, by the screen's clock. */
export const useToday = (): string => dayAt(useNow())

export function useNow(): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 60_000)
    return () => clearInterval(timer)
  }, [])
  return now
}
