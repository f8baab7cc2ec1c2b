// Natural batches: while inserts are in flight the next clicks gather, so a busy service writes many in one transaction and an idle one
// writes at once. In a crowd a batch does not wait for all that the turn has to read: part of it is read, part stored, part answered at any
// time. A click's redirect waits here until it is committed, or kept in the journal while the database is away.
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

/** Two keep the database busy while the answers of one are written; more only make the batches smaller. */
const IN_FLIGHT = 2
/** Else a whole crowd moves as one, and of this process and the database one always stands still. */
const PARTS_OF_CROWD = 3
/** A smaller part costs the database more than is gained. */
const SMALLEST_PART = 8
/** How slowly a crowd is forgotten, in batches. */
const MEMORY = 64
/** Bounds what one statement holds; reached only when the database is slow. */
const LARGEST = 500
/** A database that takes longer counts as hanging. */
const STORE_MS = 2000
const TRIES = 3

export type Batches = {
  /**
   * Stores the click; resolves with its id once it is remembered, or undefined when neither the database nor the disk took it. The
   * id differs from the click's where that one was taken. Never rejects.
   */
  store: (click: Click) => Promise<string | undefined>
  state: () => { waiting: number; in_flight: number; stored: number; lost: number; batches: number }
  /** Resolves when nothing is waiting any more. */
  idle: () => Promise<void>
}

/** `id` is what the click's redirect will carry, once that is known. */
type Waiting = { click: Click; id: string | undefined; resolve: (id: string | undefined) => void }
type Parts = {
  pool: pg.Pool
  clickKey: Uint8Array
  outage: Outage
  log: Logger
  /** Whether organizations lie on several nodes, of which one can be away. */
  isSharded?: () => boolean
}

/** Opens the batches: while inserts are in flight the next one gathers. */
export function openBatches(parts: Parts): Batches {
  let waiting: Waiting[] = []
  const inFlight = new Set<Waiting[]>()
  let isAwaited = false
  let underWay = 0
  /** The most that were under way lately. */
  let crowd = 0
  let idlers: (() => void)[] = []
  const counts = { stored: 0, lost: 0, batches: 0 }

  /** A further batch leaves once it is as large as one under way: sent at once, it would be the few clicks that came first. */
  const isDue = (): boolean =>
    waiting.length > 0 &&
    (inFlight.size === 0 || (inFlight.size < IN_FLIGHT && [...inFlight].some(({ length }) => length <= waiting.length)))

  const send = async (batch: Waiting[]) => {
    inFlight.add(batch)
    counts.batches += 1
    crowd -= crowd / MEMORY
    await storeBatch(parts, batch)
    inFlight.delete(batch)
    underWay -= batch.length
    sendDue()
    // Behind the next batch on its way to the database, which then works while these are answered.
    process.nextTick(() => {
      for (const { id, resolve } of batch) {
        counts[id === undefined ? 'lost' : 'stored'] += 1
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
        waiting.push({ click, id: undefined, resolve })
        underWay += 1
        crowd = Math.max(crowd, underWay)
        if (inFlight.size === IN_FLIGHT) return
        if (waiting.length >= Math.max(SMALLEST_PART, crowd / PARTS_OF_CROWD))
          return void send(waiting.splice(0, LARGEST))
        // At the end of the event loop's turn, so that all requests it has read come into one batch.
        if (isAwaited) return
        isAwaited = true
        setImmediate(sendDue)
      }),
    state: () => ({ waiting: waiting.length, in_flight: inFlight.size, ...counts }),
    idle: () =>
      inFlight.size === 0 && waiting.length === 0 ? Promise.resolve() : new Promise(resolve => idlers.push(resolve)),
  }
}

/** Stores a batch one way or another, and writes down what each click's id has become. Never rejects. */
async function storeBatch(parts: Parts, batch: readonly Waiting[], past: Past = FRESH): Promise<void> {
  const { pool, outage, log } = parts
  const clicks = batch.map(({ click }) => click)
  if (outage.isDown()) return keep(parts, batch)
  const { true: apart = [], false: others = [] } = Object.groupBy(batch, one =>
    String(outage.apart.has(one.click.org_id)),
  ) as Partial<Record<'true' | 'false', Waiting[]>>
  if (apart.length > 0) {
    await Promise.all([keep(parts, apart), others.length > 0 ? storeBatch(parts, others, past) : undefined])
    return
  }
  try {
    await within(STORE_MS, storeClicks(pool, clicks))
    return remembered(batch)
  } catch (error) {
    const isClash = isTaken(error) || isUnsaid(error)
    if (past.tries > 0 && parts.isSharded?.() === true && isOfOneNode(error)) return storeApart(parts, batch)
    if (past.tries < TRIES && (isClash || isRetryable(error))) {
      const isStored = isClash && (await remint(parts, batch, past.isUnsure || isUnsaid(error)).catch(() => false))
      if (isStored) return remembered(batch)
      return storeBatch(parts, batch, { tries: past.tries + 1, isUnsure: past.isUnsure || isUnreachable(error) })
    }
    if (isOwnFault(error) && batch.length > 1) {
      // One click's fault must not harm the others; halving finds it in a few steps.
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
 * Organization by organization, because a node of the cluster is away, or says no more than that its rows could not be taken. Clicks that
 * may be stored already are so once.
 */
async function storeApart(parts: Parts, batch: readonly Waiting[]): Promise<void> {
  const organizations = [...Map.groupBy(batch, ({ click }) => click.org_id)]
  await Promise.all(organizations.map(([org_id, own]) => storeOwn(parts, org_id, own)))
}

async function storeOwn(parts: Parts, org_id: number, own: readonly Waiting[]): Promise<void> {
  const { pool, outage, log } = parts
  if (outage.apart.has(org_id)) return keep(parts, own)
  const clicks = own.map(({ click }) => click)
  try {
    await within(STORE_MS, storeAbsentClicks(pool, org_id, clicks))
    return remembered(own)
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

/** How often a batch was sent, and whether one of those times its outcome was not heard of. */
type Past = { readonly tries: number; readonly isUnsure: boolean }
const FRESH: Past = { tries: 0, isUnsure: false }

function remembered(batch: readonly Waiting[]): void {
  for (const one of batch) one.id = one.click.id
}

async function keep({ outage }: Parts, batch: readonly Waiting[]): Promise<void> {
  if (await outage.keep(batch.map(({ click }) => click))) remembered(batch)
}

/**
 * After 23505. True when the batch was sent before, its outcome was not heard of and it is all there: that commit succeeded. Else gives the
 * clashing clicks new ids of the same millisecond, before any redirect with them has left.
 */
async function remint({ pool, clickKey }: Parts, batch: readonly Waiting[], isUnsure: boolean): Promise<boolean> {
  const organizations = Map.groupBy(batch, ({ click }) => click.org_id)
  const clashing: Waiting[] = []
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
