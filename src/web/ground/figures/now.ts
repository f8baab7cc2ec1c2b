/** The current time, updated every minute, so that a page left open moves on to the next day. */
import { useEffect, useState } from 'react'
import { MINUTE_MS } from '../../../contract/days.ts'
import { dayAt } from '../zone.ts'

/** Today's date in the screen's time zone. */
export const useToday = (): string => dayAt(useNow())

export function useNow(): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), MINUTE_MS)
    return () => clearInterval(timer)
  }, [])
  return now
}
