/** Watches the rounds of this process: counts for `/metrics` how often in a row each has failed, and says when a failure is logged. */
import { Gauge } from 'prom-client'

/** The same fault is logged again after this time. */
const AGAIN_MS = 600_000

/** How one kind of round goes in this process. */
export type RoundWatch = {
  /** It has failed. Calls `tell` for a fault that is not the last one told, and for the same one every ten minutes. */
  failed(error: unknown, tell: () => void): void
  /** It went well. */
  readonly passed: () => void
  close(): void
}

type Watched = { readonly round: string; failures: number; since: string | undefined }
const watched = new Set<Watched>()

new Gauge({
  name: 'sluice_rounds_failing',
  help: 'How often in a row a round has failed in this process, by name; 0 after a success',
  labelNames: ['round'],
  collect() {
    this.reset()
    for (const [round, of] of Map.groupBy(watched, one => one.round))
      this.set({ round }, Math.max(...of.map(({ failures }) => failures)))
  },
})

/** Shows how the rounds of this name go, until it is closed. */
export function watchRound(round: string): RoundWatch {
  const mine: Watched = { round, failures: 0, since: undefined }
  watched.add(mine)
  let told = { fault: '', at: 0 }
  return {
    failed(error, tell) {
      mine.failures += 1
      mine.since ??= new Date().toISOString()
      const fault = String(error)
      const at = performance.now()
      if (fault === told.fault && at - told.at < AGAIN_MS) return
      told = { fault, at }
      tell()
    },
    passed() {
      mine.failures = 0
      mine.since = undefined
    },
    close: () => void watched.delete(mine),
  }
}

/** The rounds that have failed at least `times` times in a row, and since when. */
export const failingAtLeast = (times: number): { round: string; since: string }[] =>
  [...watched].flatMap(({ round, failures, since }) =>
    failures < times || since === undefined ? [] : [{ round, since }],
  )
