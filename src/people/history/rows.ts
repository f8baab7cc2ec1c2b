/** Rows of the history as a person may see them. Reads `history`, which ground/history owns, with the names of people and keys. */
import { type Kysely, type SqlBool, sql } from 'kysely'
import type { Role } from '../../contract/endpoint.ts'
import { HISTORY_KINDS, type HistoryKind } from '../../contract/history.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Because, FieldChange, HostName } from '../../ground/history/record.ts'
import type { Member } from '../../ground/room.ts'

/** A row as stored, with the row that puts it back. */
export type StoredRow = {
  readonly id: string
  readonly created_at: string
  readonly act_id: string
  readonly actor_kind: 'person' | 'key' | 'sluice'
  readonly actor_id: string | null
  readonly actor_name: string | null
  readonly tool: string | null
  readonly host: HostName | null
  readonly because: Because | null
  readonly kind: HistoryKind
  readonly object_id: string | null
  readonly object_name: string
  readonly change: 'created' | 'changed' | 'deleted'
  readonly fields: readonly FieldChange[]
  readonly undoes_id: string | null
  readonly undone_by_id: string | null
}

export type RoleFor = (kind: HistoryKind) => Role
const RANK: Readonly<Record<Role, number>> = { member: 0, admin: 1, owner: 2 }

/** Whether a role is at least another one. */
export const isAtLeast = (role: Role, needed: Role): boolean => RANK[role] >= RANK[needed]

/**
 * The rows that a person may see: of kinds that they may read; of their own private views, and nobody else's; of their own keys and, for owners and
 * admins, of all keys. The row that puts one back is ordered by its time first: by the id alone, PostgreSQL would read all rows by the primary key.
 */
export function visibleRows(db: Kysely<Tables>, { org_id, user_id, role }: Member, roleFor: RoleFor) {
  const kinds = HISTORY_KINDS.filter(kind => isAtLeast(role, roleFor(kind)))
  return db
    .selectFrom('history as h')
    .leftJoin('users as person', join => join.onRef('person.id', '=', 'h.actor_id').on('h.actor_kind', '=', 'person'))
    .leftJoin('api_keys as key', join => join.onRef('key.id', '=', 'h.actor_id').on('h.actor_kind', '=', 'key'))
    .select(['h.id', 'h.created_at', 'h.act_id', 'h.actor_kind', 'h.actor_id', 'h.tool', 'h.host', 'h.because'])
    .select(['h.kind', 'h.object_id', 'h.object_name', 'h.change', 'h.fields', 'h.undoes_id'])
    .select(sql<string | null>`coalesce(person.name, key.name)`.as('actor_name'))
    .select(
      sql<string | null>`(
        select u.id from history u where u.org_id = ${org_id} and u.undoes_id = h.id order by u.created_at, u.id limit 1)`.as(
        'undone_by_id',
      ),
    )
    .where('h.org_id', '=', org_id)
    .where('h.kind', 'in', kinds)
    .where(
      sql<SqlBool>`(h.only_for is null or h.only_for = ${user_id} or (h.kind = 'api_key' and ${role !== 'member'}))`,
    )
    .$castTo<StoredRow>()
}
