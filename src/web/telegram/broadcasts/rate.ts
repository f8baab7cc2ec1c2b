/** How fast a broadcast goes, by what this page has seen of it. */
import { useRef } from 'react'
import { type BroadcastRow, decided } from './state.tsx'

/** Of so long it is the mean: shorter it would jump with each group. */
const LATELY_MS = 15_000

/** Messages a second; undefined until two looks lie some seconds apart. */
export function useRate(broadcast: BroadcastRow): number | undefined {
  const looks = useRef<{ at: number; done: number }[]>([])
  const done = decided(broadcast)
  const at = Date.now()
  const last = looks.current.at(-1)
  if (last === undefined || at - last.at >= 1000)
    looks.current = [...looks.current.filter(look => at - look.at <= LATELY_MS), { at, done }]
  const [first] = looks.current
  const newest = looks.current.at(-1)
  if (first === undefined || newest === undefined || newest.at - first.at < 3000) return undefined
  return ((newest.done - first.done) * 1000) / (newest.at - first.at)
}
