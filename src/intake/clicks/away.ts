/**
 * Organizations whose node of a cluster is away. Their clicks go to the journal without being tried, so that nobody else's wait for them,
 * until the node is there again.
 */
import type pg from 'pg'
import type { Logger } from 'pino'
import { reachedAmong } from '../../ground/db/everywhere.ts'
import { isUnreachable, sqlState } from '../../ground/db/faults.ts'

export type AwayOrganizations = {
  has(org_id: number): boolean
  isAny(): boolean
  add(org_id: number, error: unknown): void
  /** Forgets those whose node is there again. Never rejects. */
  lookAgain(): Promise<void>
}

/** Whether the database itself says that it could not reach what holds the rows: on a cluster, a node behind the one that was asked. */
export function isOfOneNode(error: unknown): boolean {
  return sqlState(error) !== undefined && isUnreachable(error)
}

export function openAwayOrganizations(pool: pg.Pool, log: Logger): AwayOrganizations {
  const away = new Set<number>()
  let since: number | undefined
  return {
    has: org_id => away.has(org_id),
    isAny: () => away.size > 0,
    add(org_id, error) {
      if (away.size === 0) {
        since = Date.now()
        log.error(
          { err: error, org_id },
          'a node of the database is away; clicks of its organizations are kept in the journal',
        )
      }
      away.add(org_id)
    },
    async lookAgain() {
      if (away.size === 0) return
      const reached = await reachedAmong(pool, [...away]).catch(() => [])
      for (const org_id of reached) away.delete(org_id)
      if (away.size === 0) log.info({ ms: Date.now() - (since ?? 0) }, 'every node of the database takes clicks again')
    },
  }
}
