/**
 * Find: objects of the workspace by name or by any id. It owns no table and reads those of all rooms, as the caller may see them.
 */
import { sql } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { toUuid, toWireId } from '../../contract/ids.ts'
import type { Context } from '../../ground/room.ts'
import * as api from './api.ts'
import { byId, byOthersIds } from './exact.ts'
import { type FoundRow, namedObjects } from './named.ts'

/** At most 30 objects: exact ids, names that begin with the text, names that hold it; of equal rank, what was changed last. */
export async function findObjects(
  { db, actor }: Context<typeof api.findObjects>,
  { query }: Call<typeof api.findObjects>,
) {
  const text = query.q
  const uuid = toUuid(text) ?? null
  const exact = [...(uuid === null ? [] : byId(actor.org_id, uuid)), ...byOthersIds(actor.org_id, text)]
  const searches = [
    ...namedObjects(actor, { text, uuid }),
    sql.join(
      exact.map(each => sql`(${each})`),
      sql` union all `,
    ),
  ]
  const found = await Promise.all(
    searches.map(
      async search =>
        (
          await sql<FoundRow>`
            select kind, id, name, found_by, rank, changed_at::text from (${search}) found
            order by rank, changed_at desc, id desc limit ${api.MOST_FOUND}`.execute(db)
        ).rows,
    ),
  )
  const rows = found.flat().toSorted((one, other) => one.rank - other.rank || compare(other.changed_at, one.changed_at))
  const seen = new Set<string>()
  const once = rows.filter(({ kind, id }) => !seen.has(`${kind} ${id}`) && seen.add(`${kind} ${id}`))
  return {
    data: once
      .slice(0, api.MOST_FOUND)
      .map(({ kind, id, name, found_by }) => ({ kind, id, name: name === '' ? toWireId(id) : name, found_by })),
  }
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)
