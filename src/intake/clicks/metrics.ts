// Metrics of this process's clicks and visits: whether the database takes clicks, how many wait on disk, how visits ended.
import { Counter, Gauge } from 'prom-client'
import type { Batches } from './batch.ts'

/**
 * Clicks in progress, and totals since the start. `is_down`: the database takes no clicks at the moment. `lost`: redirects that left with an
 * empty id.
 */
export type ClicksState = ReturnType<Batches['state']> & {
  is_down: boolean
  journal_bytes: number
  journal_files: number
  is_reserve_missing: boolean
}

const opened = new Set<() => ClicksState>()

/** The states of the clicks of this process. */
export const clickStates = (): ClicksState[] => [...opened].map(state => state())

function gauge(name: string, help: string, valueOf: (state: ClicksState) => number): void {
  new Gauge({
    name,
    help,
    collect() {
      this.set(clickStates().reduce((sum, state) => sum + valueOf(state), 0))
    },
  })
}

gauge('sluice_clicks_database_down', '1 while the database takes no clicks', ({ is_down }) => Number(is_down))
gauge('sluice_clicks_journal_bytes', 'Clicks on disk that wait for the database', ({ journal_bytes }) => journal_bytes)
gauge(
  'sluice_clicks_reserve_missing',
  '1 while the journal has no space set aside, because it is in use or the disk is full',
  ({ is_reserve_missing }) => Number(is_reserve_missing),
)
gauge('sluice_clicks_lost', 'Visitors who left without a click id since the start', ({ lost }) => lost)

new Counter({
  name: 'sluice_clicks_total',
  help: 'Clicks, by where they were stored before their redirect: database, journal, lost (nowhere)',
  labelNames: ['stored'],
  collect() {
    this.reset()
    const states = [ended, ...clickStates()]
    const sum = (valueOf: (of: ClicksEnded) => number) => states.reduce((total, of) => total + valueOf(of), 0)
    this.inc(
      { stored: 'database' },
      sum(of => of.stored - of.journaled),
    )
    this.inc(
      { stored: 'journal' },
      sum(of => of.journaled),
    )
    this.inc(
      { stored: 'lost' },
      sum(of => of.lost),
    )
  },
})

type ClicksEnded = Pick<ClicksState, 'stored' | 'journaled' | 'lost'>

/** The clicks of states that are no longer measured, so that the totals never fall. */
const ended: ClicksEnded = { stored: 0, journaled: 0, lost: 0 }

/**
 * How a visit of a campaign's link ended. `counted`: with a click that reports count. `filtered`: with a click that they do not count, of a bot, a
 * prefetch or a test. `unrecorded`: with a redirect alone, such as for HEAD. `paused`: the campaign takes no traffic. `not_found`: no such link.
 */
export type VisitOutcome = 'counted' | 'filtered' | 'unrecorded' | 'paused' | 'not_found'

/** The redirect adds to these numbers, because a counter of prom-client would make objects for each visit. */
export const visits: Record<VisitOutcome, number> = { counted: 0, filtered: 0, unrecorded: 0, paused: 0, not_found: 0 }

new Counter({
  name: 'sluice_visits_total',
  help: 'Visits of campaign links, by outcome: counted, filtered, unrecorded, paused, not_found',
  labelNames: ['outcome'],
  collect() {
    this.reset()
    for (const [outcome, count] of Object.entries(visits)) this.inc({ outcome }, count)
  },
})

/** Adds `state` to the metrics, which sum over all states, until the returned function is called. */
export function measureClicks(state: () => ClicksState): () => void {
  opened.add(state)
  return () => {
    opened.delete(state)
    const { stored, journaled, lost } = state()
    Object.assign(ended, {
      stored: ended.stored + stored,
      journaled: ended.journaled + journaled,
      lost: ended.lost + lost,
    })
  }
}
