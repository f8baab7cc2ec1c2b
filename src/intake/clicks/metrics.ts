// Metrics of this process's clicks: whether the database takes them, how many wait on disk, how many were lost.
import { Gauge } from 'prom-client'
import type { Batches } from './batch.ts'

/**
 * Clicks in progress, and totals since the start. `is_down`: the database takes no clicks at the moment. `lost`: redirects that left with an
 * empty id.
 */
export type ClicksState = ReturnType<Batches['state']> & {
  is_down: boolean
  journal_bytes: number
  journal_files: number
}

const opened = new Set<() => ClicksState>()

function gauge(name: string, help: string, valueOf: (state: ClicksState) => number): void {
  new Gauge({
    name,
    help,
    collect() {
      this.set([...opened].reduce((sum, state) => sum + valueOf(state()), 0))
    },
  })
}

gauge('sluice_clicks_database_down', '1 while the database takes no clicks', ({ is_down }) => Number(is_down))
gauge('sluice_clicks_journal_bytes', 'Clicks on disk that wait for the database', ({ journal_bytes }) => journal_bytes)
gauge('sluice_clicks_lost', 'Visitors who left without a click id since the start', ({ lost }) => lost)

/** Adds `state` to the metrics, which sum over all states, until the returned function is called. */
export function measureClicks(state: () => ClicksState): () => void {
  opened.add(state)
  return () => void opened.delete(state)
}
