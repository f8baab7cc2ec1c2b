// While the database is down or hangs, clicks go to the journal. When it is back they are stored before conversions are accepted
// again. After one failed batch no click waits for the database until a background check succeeds.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from 'pino'
import type { Absence } from '../../ground/db/absence.ts'
import { isOwnFault } from '../../ground/db/faults.ts'
import { type AwayOrganizations, isOfOneNode, openAwayOrganizations } from './away.ts'
import type { Click } from './click.ts'
import { within } from './deadline.ts'
import type { Journal } from './journal.ts'
import { openKept } from './kept-organizations.ts'
import { storeAbsentClicks } from './store.ts'

const AGAIN_MS = 200
const MOST_AGAIN_MS = 5000
const ANSWER_MS = 2000

export type Outage = {
  isDown: () => boolean
  /** A batch failed because of the database: from now on clicks go to the journal, and the database is tried in the background. */
  report: (error: unknown) => void
  /** Writes clicks to the journal; false if that failed too. */
  keep: (clicks: readonly Click[]) => Promise<boolean>
  /** Whether every click whose id was handed out is in the database. */
  isSettled: () => boolean
  /** Returns a snapshot: whether clicks of an organization may be in the journal. */
  isKept: () => (org_id: number) => boolean
  /** Organizations whose clicks go to the journal because their node of a cluster is away. */
  readonly apart: AwayOrganizations
  /** One organization could not be reached, but others can. */
  reportApart: (org_id: number, error: unknown) => void
  /** Calls `act` with each click that a page's visit in the journal was found to be. */
  readonly onJoined: (act: JoinedClick) => void
  close: () => Promise<void>
}

type OutageParts = {
  pool: pg.Pool
  away: Absence
  journal: Journal
  log: Logger
  /** Whether organizations lie on several nodes. */
  isSharded?: () => boolean
}

/** Also starts to store clicks that dead processes left in the journal, in the background. */
export function openOutage(parts: OutageParts): Outage {
  const { pool, away, journal, log } = parts
  const breaker = openBreaker(log)
  const apart = openAwayOrganizations(pool, log)
  const joined = openJoined()
  const replay = openReplay({ ...parts, onJoined: joined.tell }, apart, breaker)
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
    onJoined: joined.listen,
    async close() {
      replay.stop()
      await recovery.close()
    },
  }
}

type JoinedClick = (org_id: number, click_id: string) => void

/** Passes clicks on to one listener. Those that come before it listens are kept for it. */
function openJoined(): { tell: JoinedClick; listen: (act: JoinedClick) => void } {
  let listener: JoinedClick | undefined
  let early: Parameters<JoinedClick>[] = []
  return {
    tell: (...click) => (listener === undefined ? void early.push(click) : listener(...click)),
    listen(act) {
      listener = act
      for (const click of early) act(...click)
      early = []
    },
  }
}

type ReplayParts = OutageParts & { onJoined: JoinedClick }

/** Moves clicks from the journal into the database. Clicks of a node that is away go back to the end of the journal. */
function openReplay(parts: ReplayParts, apart: AwayOrganizations, breaker: Breaker) {
  const { pool, away, journal } = parts
  const kept = openKept(!journal.isEmpty())
  const patience = openPatience()
  let isClosed = false

  const append = async (clicks: readonly Click[]) => {
    const org_ids = clicks.map(({ org_id }) => org_id)
    kept.add(org_ids)
    await journal.append(clicks)
    // Added again: a replay that began meanwhile has reset the set, but may not reach these lines.
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
      // A stored click proves that the database takes clicks again.
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
      await apart.recheck()
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

/** Retries in the background until an attempt succeeds and nothing is left to do. */
function openRecovery(attempt: () => Promise<boolean>, isDone: () => boolean): Recovery {
  const stopping = new AbortController()
  const { signal } = stopping
  let running: Promise<void> | undefined

  const run = async () => {
    while (!signal.aborted && !(await attempt())) await sleep(AGAIN_MS, undefined, { signal }).catch(() => {})
    running = undefined
    // A click may have come since the last attempt.
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
      log.error({ err: error }, 'the database does not take clicks; writing them to the journal')
    },
    close() {
      if (since === undefined) return
      log.info({ ms: Date.now() - since }, 'the database takes clicks again')
      since = undefined
    },
  }
}

/** Backs off after clicks had to go back to the journal, because each replay rewrites them. */
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
 * Stores clicks that may be stored already, one organization after another. A click that the database refuses goes to refused.jsonl. Returns
 * the clicks of organizations whose node is away.
 */
async function storeJournaled(
  { pool, journal, log, isSharded, onJoined }: ReplayParts,
  apart: AwayOrganizations,
  clicks: readonly Click[],
): Promise<Click[]> {
  const back: Click[] = []
  for (const [org_id, own] of Map.groupBy(clicks, click => click.org_id)) {
    const storeSome = async (some: readonly Click[]): Promise<void> => {
      try {
        await within(ANSWER_MS, storeAbsentClicks(pool, org_id, some))
        for (const { visit, joined_to } of some)
          if (visit !== undefined && joined_to !== undefined) onJoined(org_id, joined_to)
      } catch (error) {
        if (!isOwnFault(error)) throw error
        if (some.length === 1) {
          log.error({ err: error }, 'the database refused a click of the journal; written to refused.jsonl beside it')
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
