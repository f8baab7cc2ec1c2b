/** The sending rate of a broadcast, measured while its page is open. */
import { useRef } from 'react'
import { type BroadcastRow, decided } from './state.tsx'

/** The rate is a mean over this time. A shorter mean would jump with each group of messages. */
const MEAN_OVER_MS = 15_000

/** Messages per second; undefined until two samples are three seconds apart. */
export function useRate(broadcast: BroadcastRow): number | undefined {
  const samples = useRef<{ at: number; done: number }[]>([])
  const done = decided(broadcast)
  const at = Date.now()
  const last = samples.current.at(-1)
  if (last === undefined || at - last.at >= 1000)
    samples.current = [...samples.current.filter(sample => at - sample.at <= MEAN_OVER_MS), { at, done }]
  const [first] = samples.current
  const newest = samples.current.at(-1)
  if (first === undefined || newest === undefined || newest.at - first.at < 3000) return undefined
  return ((newest.done - first.done) * 1000) / (newest.at - first.at)
}
