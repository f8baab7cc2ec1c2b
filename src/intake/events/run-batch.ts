/**
 * Runs a batch in a transaction until each of its items has exactly one outcome, whatever goes wrong: transient failures are retried, a
 * bad row harms only itself, and without a database every item is answered 503.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from 'pino'
import { retryInAMinute } from '../../contract/refusals.ts'
import type { Absence } from '../../ground/db/absence.ts'
import { isOutOfTime, isOwnFault, isRetryable, isTaken, isUnreachable, isUnsaid } from '../../ground/db/faults.ts'
import type { ChangedObject } from '../../traffic/campaigns/live.ts'
import type { Outcome } from './decide.ts'
import type { Item } from './items.ts'
import { commitBatch, type Decided, decideBatch, type Terms, TooSlow } from './transact.ts'

export type WaitingItem = { item: Item; resolve: (outcome: Outcome) => void; reject: (error: unknown) => void }

/** Waiting items of one or several organizations. */
export type Batch = readonly WaitingItem[]

export type LaneTools = {
  pool: pg.Pool
  away: Absence
  log: Logger
  terms: Terms
  onDeliveries: () => void
  /** Called with the caps whose limit a batch reached. */
  onFilled: (caps: readonly ChangedObject[]) => void
  /** Organizations that could not be reached, and until when they are tried only once per batch. */
  unreached: Map<number, number>
}

/** With the four seconds of a transaction this is below the caller's 55 seconds. */
const TOO_OLD_MS = 50_000
const BEHIND_BUDGET_MS = 56_000
const TRIES = 4
/** On a cluster, organizations of a node that is away must not occupy the lanes. */
const UNREACHED_MS = 1000

/** Settles every item, except those of organizations whose lock another transaction holds: it returns these. */
export async function runBatch(tools: LaneTools, batch: Batch, attempt = 1): Promise<Batch> {
  const young = refuseOld(batch)
  if (young.length === 0) return []
  try {
    const { outcomes, hasDeliveries, filled } = await transact(tools, young)
    for (const { item } of young) tools.unreached.delete(item.org_id)
    if (hasDeliveries) tools.onDeliveries()
    if (filled.length > 0) tools.onFilled(filled)
    return young.filter(({ item, resolve }) => {
      const outcome = outcomes.get(item)
      if (outcome !== undefined) resolve(outcome)
      return outcome === undefined
    })
  } catch (error) {
    return recover(tools, young, attempt, error)
  }
}

async function transact({ pool, terms }: LaneTools, batch: Batch): Promise<Decided> {
  const client = await pool.connect().catch((cause: unknown) => {
    throw new NotConnected('no connection', { cause })
  })
  try {
    const items = batch.map(({ item }) => item)
    const decided = await decideBatch(
      client,
      Map.groupBy(items, item => item.org_id),
      terms,
    )
    await commitBatch(client, decided.writes)
    client.release()
    return decided
  } catch (error) {
    // Closing the connection ends its transaction, whatever its state.
    client.release(true)
    throw error
  }
}

async function recover(tools: LaneTools, batch: Batch, attempt: number, error: unknown): Promise<Batch> {
  const isAlone = batch.length === 1
  if (isUnreachable(error) || error instanceof NotConnected) tools.away.note()
  const isAway =
    isUnreachable(error) && batch.some(({ item }) => performance.now() < (tools.unreached.get(item.org_id) ?? 0))
  if ((isTransient(error) || (isAlone && isTaken(error))) && attempt < TRIES && !isAway) {
    await sleep(5 * 2 ** attempt)
    return runBatch(tools, batch, attempt + 1)
  }
  // Another transaction holds a row: the items wait in the queue again, until they are too old.
  if (isHeldUp(error)) return batch
  if ((isOwnFault(error) || isUnsaid(error)) && !(error instanceof NotConnected) && !isAlone) {
    // Halves the batch until a row that the database cannot take is alone.
    const half = Math.ceil(batch.length / 2)
    const left = await runBatch(tools, batch.slice(0, half))
    return [...left, ...(await runBatch(tools, batch.slice(half)))]
  }
  if (isUnreachable(error))
    for (const { item } of batch) tools.unreached.set(item.org_id, performance.now() + UNREACHED_MS)
  if (isTransient(error) || error instanceof NotConnected) return refuseAll(batch)
  tools.log.error({ err: error, org_id: batch[0]?.item.org_id }, 'a conversion could not be recorded')
  for (const { reject } of batch) reject(error)
  return []
}

function refuseAll(batch: Batch): Batch {
  for (const { reject } of batch) reject(retryInAMinute())
  return []
}

/**
 * Refuses items older than 50 seconds instead of recording them after their caller gave up. Callers with an Idempotency-Key get the gate's 504 first;
 * the others get a 503 shortly after that time.
 */
function refuseOld(batch: Batch): Batch {
  const oldest = performance.now() - TOO_OLD_MS
  const isOld = ({ item }: WaitingItem) => item.arrived_at < oldest
  if (!batch.some(isOld)) return batch
  for (const { item, reject } of batch.filter(isOld))
    setTimeout(() => reject(retryInAMinute()), Math.max(0, item.arrived_at + BEHIND_BUDGET_MS - performance.now()))
  return batch.filter(waiting => !isOld(waiting))
}

/** No connection could be made. Unlike after a lost connection, a retry is useless. */
class NotConnected extends Error {}

function isHeldUp(error: unknown): boolean {
  return error instanceof TooSlow || isOutOfTime(error)
}

/** Whether the same batch may succeed if it is run again, which is safe whether or not it was committed. */
function isTransient(error: unknown): boolean {
  return isRetryable(error) || isUnreachable(error) || isHeldUp(error)
}
