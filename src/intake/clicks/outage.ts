// While the database is down or hangs, clicks are kept in the journal; when it is back they are stored, before conversions are
// taken again. One failed batch is enough to stop asking, so that clicks do not wait for a database that is not there.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from 'pino'
import type { Absence } from '../../ground/db/absence.ts'
import { isOwnFault } from '../../ground/db/faults.ts'
import { type AwayOrganizations, isOfOneNode, openAwayOrganizations } from './away.ts'
import type { Click } from './click.ts'
import { within } from './deadline.ts'
import type { Journal } from './journal.ts'
import { openKept } from './kept.ts'
import { storeAbsentClicks } from './store.ts'

const AGAIN_MS = 200
const MOST_AGAIN_MS = 5000
const ANSWER_MS = 2000

export type Outage = {
  isDown: () => boolean
  /** A batch has failed for a reason that is not its own: from now on clicks are kept, and the database is tried in the background. */
  report: (error: unknown) => void
  /** Keeps clicks on disk; false when that failed too. */
  keep: (clicks: readonly Click[]) => Promise<boolean>
  /** Whether every click whose id was handed out is in the database. */
  isSettled: () => boolean
  /** As of now: whether clicks of an organization may be in the journal. */
  isKept: () => (org_id: number) => boolean
  /** Organizations whose clicks are kept alone, because their node of a cluster is away. */
  readonly apart: AwayOrganizations
  /** An organization could not be reached, and others can. */
  reportApart: (org_id: number, error: unknown) => void
  close: () => Promise<void>
}

type Parts = {
  pool: pg.Pool
  away: Absence
  journal: Journal
  log: Logger
  /** Whether organizations lie on several nodes. */
  isSharded?: () => boolean
}
/** Stores what dead processes have left in the journal, in the background. */
export function openOutage(parts: Parts): Outage {
  const { pool, away, journal, log } = parts
  const breaker = openBreaker(log)
  const apart = openAwayOrganizations(pool, log)
  const replay = openReplay(parts, apart, breaker)
  const recovery = openRecovery(() => replay.attempt(), journal.isEmpty)
  if (!journal.isEmpty()) recovery.start()

  return {
    isDown: breaker.isOpen,
    report(error) {
      away.note()
      breaker.open(error)
      recovery.start()
    },
    async keep(clicks) {
      try {
        await replay.append(clicks)
        recovery.start()
        return true
      } catch (error) {
        log.error(
          { err: error, clicks: clicks.length },
          'neither the database nor the journal took clicks; they are lost',
        )
        return false
      }
    },
    isSettled: journal.isEmpty,
    isKept: replay.isKept,
    apart,
    reportApart(org_id, error) {
      away.note()
      apart.add(org_id, error)
      recovery.start()
    },
    async close() {
      replay.stop()
      await recovery.close()
    },
  }
}

/** From the journal into the database: what cannot be stored because one node is away is put back behind what others wait for. */
function openReplay(parts: Parts, apart: AwayOrganizations, breaker: Breaker) {
  const { pool, away, journal } = parts
  const kept = openKept(!journal.isEmpty())
  const patience = openPatience()
  let isClosed = false

  const append = async (clicks: readonly Click[]) => {
    const org_ids = clicks.map(({ org_id }) => org_id)
    kept.add(org_ids)
    await journal.append(clicks)
    // Where the journal was read meanwhile, these may have come into a file behind what was read.
    kept.add(org_ids)
  }
  const store = async (clicks: Click[]): Promise<boolean> => {
    if (isClosed) return false
    try {
      const back = await storeJournaled(parts, apart, clicks)
      if (back.length > 0) {
        await append(back)
        patience.lose()
      }
      // Storing is the proof that the database takes clicks again.
      if (back.length < clicks.length) breaker.close()
      return true
    } catch (error) {
      away.note()
      breaker.open(error)
      return false
    }
  }
  return {
    append,
    isKept: () => (journal.isEmpty() ? () => false : kept.isKept()),
    stop: () => void (isClosed = true),
    async attempt(): Promise<boolean> {
      const isAnswering = await within(ANSWER_MS, pool.query('select 1')).then(
        () => true,
        () => false,
      )
      if (!isAnswering) return false
      await apart.lookAgain()
      const isNothingToStore = journal.isEmpty() || kept.isOnly(org_id => apart.has(org_id))
      if (isNothingToStore) breaker.close()
      if ((isNothingToStore && apart.isAny()) || patience.isLost()) return false
      kept.begin()
      const isRead = await journal.drain(store)
      kept.end(isRead)
      if (!apart.isAny()) patience.regain()
      return isRead && !breaker.isOpen() && !apart.isAny()
    },
  }
}

type Recovery = { start: () => void; close: () => Promise<void> }

/** Tries in the background until it has succeeded and nothing is left to do. */
function openRecovery(attempt: () => Promise<boolean>, isDone: () => boolean): Recovery {
  const stopping = new AbortController()
  const { signal } = stopping
  let running: Promise<void> | undefined

  const run = async () => {
    while (!signal.aborted && !(await attempt())) await sleep(AGAIN_MS, undefined, { signal }).catch(() => {})
    running = undefined
    // Something may have come since the last look.
    if (!isDone()) start()
  }
  const start = () => {
    if (!signal.aborted) running ??= run()
  }

  return {
    start,
    async close() {
      stopping.abort()
      await running
    },
  }
}

type Breaker = { isOpen: () => boolean; open: (error: unknown) => void; close: () => void }

/** Open while the database takes no clicks. */
function openBreaker(log: Logger): Breaker {
  let since: number | undefined
  return {
    isOpen: () => since !== undefined,
    open(error) {
      if (since !== undefined) return
      since = Date.now()
      log.error({ err: error }, 'the database does not take clicks; they are kept in the journal')
    },
    close() {
      if (since === undefined) return
      log.info({ ms: Date.now() - since }, 'the database takes clicks again')
      since = undefined
    },
  }
}

/** What could not be stored is written to the journal anew, which is not to be done again and again: after each time only later. */
function openPatience() {
  let pause_ms = AGAIN_MS
  let lost_until = 0
  return {
    isLost: () => performance.now() < lost_until,
    regain() {
      pause_ms = AGAIN_MS
    },
    lose() {
      if (performance.now() < lost_until) return
      lost_until = performance.now() + pause_ms
      pause_ms = Math.min(pause_ms * 2, MOST_AGAIN_MS)
    },
  }
}

/**
 * Stores clicks that may be there already, organization by organization; one the database refuses is written aside. Answers those of
 * organizations whose node is away.
 */
async function storeJournaled(
  { pool, journal, log, isSharded }: Parts,
  apart: AwayOrganizations,
  clicks: readonly Click[],
): Promise<Click[]> {
  const back: Click[] = []
  for (const [org_id, own] of Map.groupBy(clicks, click => click.org_id)) {
    const storeSome = async (some: readonly Click[]): Promise<void> => {
      try {
        await within(ANSWER_MS, storeAbsentClicks(pool, org_id, some))
      } catch (error) {
        if (!isOwnFault(error)) throw error
        if (some.length === 1) {
          log.error({ err: error }, 'the database refused a click of the journal; see refused.jsonl beside it')
          return journal.refuse(some)
        }
        const half = some.length >> 1
        await storeSome(some.slice(0, half))
        await storeSome(some.slice(half))
      }
    }
    try {
      if (apart.has(org_id)) back.push(...own)
      else await storeSome(own)
    } catch (error) {
      if (isSharded?.() !== true || !isOfOneNode(error)) throw error
      apart.add(org_id, error)
      back.push(...own)
    }
  }
  return back
}
