/** Conversions as the history has them: their status and amount. Owns no table. */
import type pg from 'pg'
import type { HistoryObject, ObjectSnapshot } from '../../ground/history/record.ts'
import { fromMillionths } from '../../money/billing/money.ts'
import { readStandings } from './find-events.ts'

/** These conversions as they stand, by id. Read outside of a transaction, because the queue of conversions writes them in its own. */
export async function readEventSnapshots(
  pool: Pick<pg.Pool, 'query'>,
  org_id: number,
  objects: readonly HistoryObject[],
): Promise<(object: HistoryObject) => ObjectSnapshot | undefined> {
  const ids = objects.flatMap(({ id }) => id ?? [])
  const found = new Map((await readStandings(pool, org_id, ids)).map(one => [one.event_id, one.present]))
  return ({ id }) => {
    const present = found.get(id ?? '')
    if (present === undefined) return undefined
    const fields = { status: present.status, amount: fromMillionths(present.amount) }
    return { name: '', fields, secrets: {}, only_for: null }
  }
}
