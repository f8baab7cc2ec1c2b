/**
 * Collects the outcomes of deliveries and writes them in batches: while one is being written, the next one collects. During an outage outcomes stay
 * in memory. An outcome that cannot be stored does not block the others.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from 'pino'
import { isUnreachable } from '../../ground/db/faults.ts'
import type { BreakerTerms } from './breaker.ts'
import { finishDeliveries } from './finish.ts'
import { type FinishedDelivery } from './held.ts'
import type { Lane } from './lane.ts'
import type { SwitchOffNotice } from './notice.ts'

const RETRY_MS = 500
/** How long closing waits for a database that does not answer. Deliveries of lost outcomes are sent again after their lease. */
const GIVE_UP_MS = 5000

export type OutcomeWriter = { add(one: FinishedDelivery): void; close(): Promise<void> }

type Setup = {
  readonly pool: pg.Pool
  readonly lanes: readonly Lane[]
  readonly log: Logger
  readonly breaker?: BreakerTerms | undefined
  /** The most organizations per transaction. */
  readonly mostOrganizations: () => number
  /** Called with each switched-off target, after it is stored. */
  readonly onSwitchedOff: (notice: SwitchOffNotice) => void
}

/** Starts writing outcomes. Failed writes are retried; closing gives up after five seconds without a database. */
export function openOutcomeWriter({
  pool,
  lanes,
  log,
  breaker,
  mostOrganizations,
  onSwitchedOff,
}: Setup): OutcomeWriter {
  let gathered: FinishedDelivery[] = []
  let writing: Promise<void> | undefined
  let closed_at: number | undefined

  const write = async (): Promise<void> => {
    while (gathered.length > 0) {
      const organizations = [...Map.groupBy(gathered, one => one.org_id).values()]
      gathered = []
      const left: FinishedDelivery[] = []
      while (organizations.length > 0) left.push(...(await store(organizations.splice(0, mostOrganizations()))))
      if (left.length === 0) continue
      if (closed_at !== undefined && performance.now() - closed_at > GIVE_UP_MS) return
      await sleep(RETRY_MS)
      gathered.unshift(...left)
    }
    writing = undefined
  }

  /** Returns the outcomes that could not be stored. */
  const store = async (organizations: readonly FinishedDelivery[][]): Promise<FinishedDelivery[]> => {
    const done = organizations.flat()
    try {
      const { kept, notices } = await finishDeliveries(pool, lanes, done, breaker)
      notices.forEach(onSwitchedOff)
      if (kept < done.length)
        log.warn(
          { late: done.length - kept },
          'deliveries were finished after their lease and belong to another worker',
        )
      return []
    } catch (error) {
      // Splits the batch, so that a failure affects only its own organization, and then only its own delivery.
      const parts = organizations.length > 1 ? organizations : done.map(one => [one])
      if (parts.length > 1 && !isUnreachable(error)) {
        const left = []
        for (const part of parts) left.push(...(await store([part])))
        return left
      }
      log.error({ err: error, deliveries: done.length }, 'could not store the outcomes of deliveries')
      return done
    }
  }

  return {
    add(one) {
      gathered.push(one)
      writing ??= write()
    },
    async close() {
      closed_at = performance.now()
      await writing
    },
  }
}
