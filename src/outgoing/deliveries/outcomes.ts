/**
 * Writes down how deliveries went, in batches: while one is being written the next gathers. Outcomes outlive an outage in memory, and what
 * cannot be stored of one delivery keeps no other waiting.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from 'pino'
import { isUnreachable } from '../../ground/db/faults.ts'
import type { BreakerTerms } from './breaker.ts'
import { finish } from './finish.ts'
import { type Finished } from './held.ts'
import type { Lane } from './lane.ts'
import type { Notice } from './notice.ts'

const RETRY_MS = 500
/** How long closing waits for a database that does not answer; what is lost then is sent again after its lease. */
const GIVE_UP_MS = 5000

export type Outcomes = { add(one: Finished): void; close(): Promise<void> }

type Setup = {
  readonly pool: pg.Pool
  readonly lanes: readonly Lane[]
  readonly log: Logger
  readonly breaker?: BreakerTerms | undefined
  /** So many organizations' outcomes are written in one transaction. */
  readonly mostOrganizations: () => number
  /** Told what was switched off, once it is stored. */
  readonly tell: (notice: Notice) => void
}

/** Opens the writing. What cannot be stored is tried again; closing gives up after five seconds without a database. */
export function openOutcomes({ pool, lanes, log, breaker, mostOrganizations, tell }: Setup): Outcomes {
  let gathered: Finished[] = []
  let writing: Promise<void> | undefined
  let closed_at: number | undefined

  const write = async (): Promise<void> => {
    while (gathered.length > 0) {
      const organizations = [...Map.groupBy(gathered, one => one.org_id).values()]
      gathered = []
      const left: Finished[] = []
      while (organizations.length > 0) left.push(...(await store(organizations.splice(0, mostOrganizations()))))
      if (left.length === 0) continue
      if (closed_at !== undefined && performance.now() - closed_at > GIVE_UP_MS) return
      await sleep(RETRY_MS)
      gathered.unshift(...left)
    }
    writing = undefined
  }

  /** Answers what could not be stored. */
  const store = async (organizations: readonly Finished[][]): Promise<Finished[]> => {
    const done = organizations.flat()
    try {
      const { kept, notices } = await finish(pool, lanes, done, breaker)
      notices.forEach(tell)
      if (kept < done.length)
        log.warn({ late: done.length - kept }, 'deliveries were finished after their lease: another worker has them')
      return []
    } catch (error) {
      // One organization's fault is not to be another's, nor one delivery's another one's.
      const parts = organizations.length > 1 ? organizations : done.map(one => [one])
      if (parts.length > 1 && !isUnreachable(error)) {
        const left = []
        for (const part of parts) left.push(...(await store([part])))
        return left
      }
      log.error({ err: error, deliveries: done.length }, 'the outcome of deliveries could not be stored')
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
