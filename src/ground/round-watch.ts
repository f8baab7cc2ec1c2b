/** Counts for `/metrics` how often in a row each periodic job of this process has failed, and decides when a failure is logged. */
import { Gauge } from 'prom-client'

/** The same fault is logged again after this time. */
const AGAIN_MS = 600_000

/** The failures of one periodic job in this process. */
export type RoundWatch = {
  /** Notes a failed run. Calls `report` if the error is a new one, and for the same error every ten minutes. */
  failed(error: unknown, report: () => void): void
  /** Notes a successful run. */
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

/** Watches the periodic job of this name until it is closed. */
export function watchRound(round: string): RoundWatch {
  const mine: Watched = { round, failures: 0, since: undefined }
  watched.add(mine)
  let reported = { fault: '', at: 0 }
  return {
    failed(error, report) {
      mine.failures += 1
      mine.since ??= new Date().toISOString()
      const fault = String(error)
      const at = performance.now()
      if (fault === reported.fault && at - reported.at < AGAIN_MS) return
      reported = { fault, at }
      report()
    },
    passed() {
      mine.failures = 0
      mine.since = undefined
    },
    close: () => void watched.delete(mine),
  }
}

/** The periodic jobs that have failed at least `times` times in a row, and since when. */
export const failingAtLeast = (times: number): { round: string; since: string }[] =>
  [...watched].flatMap(({ round, failures, since }) =>
    failures < times || since === undefined ? [] : [{ round, since }],
  )
