// Natural batches: while inserts are in flight the next clicks gather, so a busy service writes many in one transaction and an idle one
// writes at once. Under load a batch leaves before all waiting requests are read, so that reading, storing and answering overlap. A click's
// redirect waits here until the click is committed, or is in the journal while the database is away.
import type pg from 'pg'
import type { Logger } from 'pino'
import { timeOfId } from '../../contract/ids.ts'
import { isOwnFault, isRetryable, isTaken, isUnreachable, isUnsaid } from '../../ground/db/faults.ts'
import { isOfOneNode } from './away.ts'
import type { Click } from './click.ts'
import { mintClickId } from './click-id.ts'
import { within } from './deadline.ts'
import type { Outage } from './outage.ts'
import { readTakenIds, storeAbsentClicks, storeClicks } from './store.ts'

/** Two batches keep the database busy while the redirects of one are written; more would only be smaller. */
const IN_FLIGHT = 2
/** Under load a batch is a third of the clicks under way. If it were all of them, either this process or the database would always be idle. */
const PARTS_OF_PEAK = 3
/** Smaller batches cost the database more than they gain. */
const SMALLEST_PART = 8
/** The peak of clicks under way decays over about this many batches. */
const MEMORY = 64
/** The most clicks in one statement; reached only if the database is slow. */
const LARGEST = 500
/** A database that takes longer counts as hanging. */
const STORE_MS = 2000
const TRIES = 3

export type Batches = {
  /**
   * Stores the click; resolves with its id once it is stored, or with undefined if neither the database nor the disk took it. The
   * id differs from the click's if that one was taken. Never rejects.
   */
  store: (click: Click) => Promise<string | undefined>
  state: () => { waiting: number; in_flight: number; stored: number; journaled: number; lost: number; batches: number }
  /** Resolves when no click is waiting or in flight. */
  idle: () => Promise<void>
}

/** `id`: the id for the click's redirect, once the click is stored. `isJournaled`: in the journal, not in the database. */
type WaitingClick = {
  click: Click
  id: string | undefined
  isJournaled: boolean
  resolve: (id: string | undefined) => void
}
type BatchParts = {
  pool: pg.Pool
  clickKey: Uint8Array
  outage: Outage
  log: Logger
  /** Whether organizations are on several nodes, of which one can be away. */
  isSharded?: () => boolean
  /** Stores a batch in the database; `isAgain`: a try before may have stored it. `storeClicks` if left out. */
  storeBatch?: (pool: pg.Pool, clicks: readonly Click[], isAgain: boolean) => Promise<void>
}

/** Opens the batches: while inserts are in flight the next one gathers. */
export function openBatches(parts: BatchParts): Batches {
  let waiting: WaitingClick[] = []
  const inFlight = new Set<WaitingClick[]>()
  let isAwaited = false
  let underWay = 0
  /** The most clicks under way lately. */
  let peak = 0
  let idlers: (() => void)[] = []
  const counts = { stored: 0, journaled: 0, lost: 0, batches: 0 }

  /** A second batch leaves once it is as large as the one in flight; sent at once, it would be very small. */
  const isDue = (): boolean =>
    waiting.length > 0 &&
    (inFlight.size === 0 || (inFlight.size < IN_FLIGHT && [...inFlight].some(({ length }) => length <= waiting.length)))

  const send = async (batch: WaitingClick[]) => {
    inFlight.add(batch)
    counts.batches += 1
    peak -= peak / MEMORY
    await storeBatch(parts, batch)
    inFlight.delete(batch)
    underWay -= batch.length
    sendDue()
    // After the next batch has been sent, so that the database works while these are answered.
    process.nextTick(() => {
      for (const { id, isJournaled, resolve } of batch) {
        counts[id === undefined ? 'lost' : 'stored'] += 1
        if (isJournaled) counts.journaled += 1
        resolve(id)
      }
    })
  }

  const sendDue = () => {
    isAwaited = false
    while (isDue()) void send(waiting.splice(0, LARGEST))
    if (inFlight.size > 0 || waiting.length > 0) return
    for (const resolve of idlers) resolve()
    idlers = []
  }

  return {
    store: click =>
      new Promise(resolve => {
        waiting.push({ click, id: undefined, isJournaled: false, resolve })
        underWay += 1
        peak = Math.max(peak, underWay)
        if (inFlight.size === IN_FLIGHT) return
        if (waiting.length >= Math.max(SMALLEST_PART, peak / PARTS_OF_PEAK))
          return void send(waiting.splice(0, LARGEST))
        // At the end of the event loop's turn, so that all requests read in it share a batch.
        if (isAwaited) return
        isAwaited = true
        setImmediate(sendDue)
      }),
    state: () => ({ waiting: waiting.length, in_flight: inFlight.size, ...counts }),
    idle: () =>
      inFlight.size === 0 && waiting.length === 0 ? Promise.resolve() : new Promise(resolve => idlers.push(resolve)),
  }
}

/** Stores a batch in the database or the journal, and sets the `id` of each stored click. Never rejects. */
async function storeBatch(
  parts: BatchParts,
  batch: readonly WaitingClick[],
  past: PastTries = FIRST_TRY,
): Promise<void> {
  const { pool, outage, log } = parts
  const clicks = batch.map(({ click }) => click)
  if (outage.isDown()) return keep(parts, batch)
  const { true: apart = [], false: others = [] } = Object.groupBy(batch, one =>
    String(outage.apart.has(one.click.org_id)),
  ) as Partial<Record<'true' | 'false', WaitingClick[]>>
  if (apart.length > 0) {
    await Promise.all([keep(parts, apart), others.length > 0 ? storeBatch(parts, others, past) : undefined])
    return
  }
  try {
    await within(STORE_MS, (parts.storeBatch ?? storeClicks)(pool, clicks, past.tries > 0))
    return markStored(batch)
  } catch (error) {
    const isClash = isTaken(error) || isUnsaid(error)
    if (past.tries > 0 && parts.isSharded?.() === true && isOfOneNode(error)) return storeApart(parts, batch)
    if (past.tries < TRIES && (isClash || isRetryable(error))) {
      // Of a batch with a store of its own, the next try finds what this one may have stored.
      const isMinted = isClash && parts.storeBatch === undefined
      const isStored = isMinted && (await remint(parts, batch, past.isUnsure || isUnsaid(error)).catch(() => false))
      if (isStored) return markStored(batch)
      return storeBatch(parts, batch, { tries: past.tries + 1, isUnsure: past.isUnsure || isUnreachable(error) })
    }
    if (isOwnFault(error) && batch.length > 1) {
      // A faulty click must not harm the others; halving finds it in a few steps.
      const half = batch.length >> 1
      await storeBatch(parts, batch.slice(0, half), past)
      return storeBatch(parts, batch.slice(half), past)
    }
    if (isOwnFault(error)) {
      log.error({ err: error, campaign_id: clicks[0]?.campaign_id }, 'the database refused a click; it is lost')
      return
    }
    if (parts.isSharded?.() === true && isOfOneNode(error)) return storeApart(parts, batch)
    outage.report(error)
    return keep(parts, batch)
  }
}

/**
 * Stores organization by organization, because a node of the cluster is away or could not take its rows. Clicks that may be stored already are
 * stored once.
 */
async function storeApart(parts: BatchParts, batch: readonly WaitingClick[]): Promise<void> {
  const organizations = [...Map.groupBy(batch, ({ click }) => click.org_id)]
  await Promise.all(organizations.map(([org_id, own]) => storeOwn(parts, org_id, own)))
}

async function storeOwn(parts: BatchParts, org_id: number, own: readonly WaitingClick[]): Promise<void> {
  const { pool, outage, log } = parts
  if (outage.apart.has(org_id)) return keep(parts, own)
  const clicks = own.map(({ click }) => click)
  try {
    await within(STORE_MS, storeAbsentClicks(pool, org_id, clicks))
    return markStored(own)
  } catch (error) {
    if (!isOwnFault(error)) {
      if (isOfOneNode(error)) outage.reportApart(org_id, error)
      else outage.report(error)
      return keep(parts, own)
    }
    if (own.length === 1) {
      log.error({ err: error, campaign_id: clicks[0]?.campaign_id }, 'the database refused a click; it is lost')
      return
    }
    const half = own.length >> 1
    await storeOwn(parts, org_id, own.slice(0, half))
    return storeOwn(parts, org_id, own.slice(half))
  }
}

/** How often a batch was sent, and whether the outcome of one of those tries is unknown. */
type PastTries = { readonly tries: number; readonly isUnsure: boolean }
const FIRST_TRY: PastTries = { tries: 0, isUnsure: false }

function markStored(batch: readonly WaitingClick[]): void {
  for (const one of batch) one.id = one.click.id
}

async function keep({ outage }: BatchParts, batch: readonly WaitingClick[]): Promise<void> {
  if (!(await outage.keep(batch.map(({ click }) => click)))) return
  for (const one of batch) one.isJournaled = true
  markStored(batch)
}

/**
 * After error 23505. True if an earlier try had an unknown outcome and all clicks are there: that try was committed. Else gives the
 * clashing clicks new ids of the same millisecond; no redirect with the old ids has left yet.
 */
async function remint(
  { pool, clickKey }: BatchParts,
  batch: readonly WaitingClick[],
  isUnsure: boolean,
): Promise<boolean> {
  const organizations = Map.groupBy(batch, ({ click }) => click.org_id)
  const clashing: WaitingClick[] = []
  for (const [org_id, waiting] of organizations) {
    const seen = await readTakenIds(
      pool,
      org_id,
      waiting.map(({ click }) => click.id),
    )
    for (const one of waiting) {
      if (seen.has(one.click.id)) clashing.push(one)
      seen.add(one.click.id)
    }
  }
  if (isUnsure && clashing.length === batch.length) return true
  for (const { click } of clashing) click.id = mintClickId(clickKey, click.org_id, timeOfId(click.id))
  return false
}
