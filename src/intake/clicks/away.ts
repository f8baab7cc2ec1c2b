/**
 * The organizations whose node of a cluster is away. Until the node is back, their clicks go straight to the journal, so that clicks of other
 * organizations do not wait for them.
 */
import type pg from 'pg'
import type { Logger } from 'pino'
import { reachedAmong } from '../../ground/db/everywhere.ts'
import { isUnreachable, sqlState } from '../../ground/db/faults.ts'

export type AwayOrganizations = {
  has(org_id: number): boolean
  isAny(): boolean
  add(org_id: number, error: unknown): void
  /** Removes the organizations whose node is back. Never rejects. */
  recheck(): Promise<void>
}

/** Whether the database itself reports that it could not reach the node with the rows, as a cluster's coordinator does. */
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
          'a node of the database is away; writing clicks of its organizations to the journal',
        )
      }
      away.add(org_id)
    },
    async recheck() {
      if (away.size === 0) return
      const reached = await reachedAmong(pool, [...away]).catch(() => [])
      for (const org_id of reached) away.delete(org_id)
      if (away.size === 0) log.info({ ms: Date.now() - (since ?? 0) }, 'every node of the database takes clicks again')
    },
  }
}
