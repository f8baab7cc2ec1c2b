/**
 * Records changes of objects in the transaction that makes them. Owns `history` and `history_heads`. What must stay true: the rows of one object are
 * in the order in which its writes were committed, so a write first takes the locks of its objects (a new object has no other writers). These locks
 * come before every other lock of the transaction, the balance's included, and all at once, in order. Conversions never take them: the lock of the
 * balance puts their status changes in order, and `insertHistory` is a statement of their transaction.
 */
import { isDeepStrictEqual } from 'node:util'
import { CompiledQuery, type Kysely, sql } from 'kysely'
import type { HistoryKind } from '../../contract/history.ts'
import { newId } from '../../contract/ids.ts'
import { msOfDatabase } from '../../contract/moments.ts'
import { stableHashOf } from '../stable-hash.ts'
import type { Tables } from '../db/tables.ts'

/** Why Sluice itself changes something. */
export type Because = 'rule' | 'schedule' | 'account_sync'

/** Who acts. `host` is the AI host as it named itself. */
export type HistoryActor =
  | { readonly kind: 'person'; readonly id: string }
  | { readonly kind: 'key'; readonly id: string; readonly tool: string | null; readonly host: HostName | null }
  | { readonly kind: 'sluice'; readonly because: Because; readonly rule_id?: string }
export type HostName = { readonly name: string; readonly version: string }

/** A call that changes objects. `undoes` returns the row that is put back with a change of the object. */
export type Act = {
  readonly act_id: string
  readonly actor: HistoryActor
  readonly undoes?: (object: HistoryObject) => string | undefined
}

/** ObjectFields in the form of the API's answers. */
export type ObjectFields = Readonly<Record<string, unknown>>

/** What is known of an object at one time. `secrets` have their values here, to compare them; they are never stored. */
export type ObjectSnapshot = {
  readonly name: string
  readonly fields: ObjectFields
  readonly secrets: Readonly<Record<string, string>>
  /** The person whose own object it is; null for an object of the workspace. */
  readonly only_for: string | null
}

/** An object of the history. Rates have no id, and an amount of spend has its campaign's; then the name tells objects apart. */
export type HistoryObject = { readonly kind: HistoryKind; readonly id: string | null; readonly name?: string }

export type ObjectChange = HistoryObject & {
  readonly before: ObjectSnapshot | undefined
  readonly after: ObjectSnapshot | undefined
}

/** A changed field: its values, or only that it has changed. */
export type FieldChange =
  | { readonly name: string; readonly before: unknown; readonly after: unknown }
  | { readonly name: string; readonly is_secret: true }

/** The text that tells objects apart. */
export const objectKey = ({ kind, id, name }: HistoryObject): string => JSON.stringify([kind, id, name ?? null])

/** Few enough rows for a workspace, and enough for two writes to rarely share one. */
const BUCKETS = 256

/** The heads of these objects, in the order in which they are locked. */
const bucketsOf = (objects: readonly HistoryObject[]): number[] =>
  [...new Set(objects.map(object => stableHashOf(objectKey(object)) % BUCKETS))].sort((a, b) => a - b)

/**
 * Takes the locks that order the changes of these objects. Call it before any other lock of the transaction. With `isPatient` false it returns false
 * instead of waiting for a lock.
 */
export async function lockHistory(
  trx: Kysely<Tables>,
  org_id: number,
  objects: readonly HistoryObject[],
  isPatient = true,
): Promise<boolean> {
  const buckets = bucketsOf(objects)
  if (buckets.length === 0) return true
  const lock = sql`
    select bucket from history_heads where org_id = ${org_id} and bucket = any(${buckets}::smallint[])
    order by bucket for update ${sql.raw(isPatient ? '' : 'skip locked')}`
  if ((await lock.execute(trx)).rows.length === buckets.length) return true
  await sql`
    insert into history_heads (org_id, bucket, at)
    select ${org_id}, bucket, '-infinity' from unnest(${buckets}::smallint[]) as bucket order by bucket
    on conflict do nothing`.execute(trx)
  return (await lock.execute(trx)).rows.length === buckets.length
}

/** The differences between two snapshots. Undefined if there is none. */
export function differenceOf({ before, after }: Pick<ObjectChange, 'before' | 'after'>): FieldChange[] | undefined {
  const names = (of: 'fields' | 'secrets') => [
    ...new Set([...Object.keys(before?.[of] ?? {}), ...Object.keys(after?.[of] ?? {})]),
  ]
  const isWhole = before === undefined || after === undefined
  const fields = names('fields').flatMap(name => {
    const [was, is] = [before?.fields[name] ?? null, after?.fields[name] ?? null]
    return !isWhole && isDeepStrictEqual(was, is) ? [] : [{ name, before: was, after: is }]
  })
  const secrets = names('secrets').flatMap(name =>
    !isWhole && before.secrets[name] === after.secrets[name] ? [] : [{ name, is_secret: true as const }],
  )
  const changes = [...fields, ...secrets]
  return changes.length === 0 && !(isWhole && (before ?? after) !== undefined) ? undefined : changes
}

type NewRow = {
  readonly id: string
  readonly act_id: string
  readonly actor_kind: string
  readonly actor_id: string | null
  readonly tool: string | null
  readonly host: HostName | null
  readonly because: Because | null
  readonly kind: HistoryKind
  readonly object_id: string | null
  readonly object_name: string
  readonly change: 'created' | 'changed' | 'deleted'
  readonly fields: readonly FieldChange[]
  readonly undoes_id: string | null
  readonly only_for: string | null
}

/** The rows of these changes at a moment (the database's text); objects that did not change have none. */
export function historyRows(changes: readonly (ObjectChange & { readonly act: Act })[], at: string): NewRow[] {
  const changed = changes.flatMap(change => {
    const fields = differenceOf(change)
    return fields === undefined ? [] : [{ ...change, fields }]
  })
  // Sorted, because ids of one millisecond are in no order, and rows of one act should be listed as they were written.
  const ids = changed.map(() => newId(Math.floor(msOfDatabase(at)))).sort()
  return changed.map((one, index) => {
    const { kind, id, before, after, fields, act } = one
    const { act_id, actor, undoes } = act
    const known = after ?? before
    return {
      id: ids[index] ?? '',
      act_id,
      actor_kind: actor.kind,
      actor_id: actor.kind === 'sluice' ? null : actor.id,
      tool: actor.kind === 'key' ? actor.tool : null,
      host: actor.kind === 'key' ? actor.host : null,
      because: actor.kind === 'sluice' ? actor.because : null,
      kind,
      object_id: id,
      object_name: known?.name ?? '',
      change: before === undefined ? 'created' : after === undefined ? 'deleted' : 'changed',
      fields,
      undoes_id: undoes?.(one) ?? null,
      only_for: known?.only_for ?? null,
    }
  })
}

/** Rows per statement. */
const BATCH_ROWS = 2000

/** Writes what changed, under the locks of `lockHistory`. Writes nothing for objects that are as before. */
export async function recordChanges(
  trx: Kysely<Tables>,
  org_id: number,
  act: Act,
  changes: readonly ObjectChange[],
): Promise<void> {
  const changed = changes.filter(change => differenceOf(change) !== undefined)
  if (changed.length === 0) return
  const buckets = bucketsOf(changed.filter(({ before }) => before !== undefined))
  // The clock of a node may go back, and two rows of an object may not share a millisecond.
  const { rows } = await sql<{ at: string }>`
    select greatest(clock_timestamp(), max(h.at) + interval '1 millisecond') as at
    from balances b left join history_heads h on h.org_id = b.org_id and h.bucket = any(${buckets}::smallint[])
    where b.org_id = ${org_id} group by b.org_id`.execute(trx)
  const at = rows[0]?.at ?? ''
  const all = historyRows(
    changed.map(change => ({ ...change, act })),
    at,
  )
  for (let from = 0; from < all.length; from += BATCH_ROWS) {
    const { text, values } = insertHistory(org_id, at, all.slice(from, from + BATCH_ROWS))
    await trx.executeQuery(CompiledQuery.raw(text, [...values]))
  }
  if (buckets.length > 0)
    await sql`
      update history_heads set at = ${at} where org_id = ${org_id} and bucket = any(${buckets}::smallint[])`.execute(
      trx,
    )
}

const INSERT = `
  insert into history (org_id, created_at, id, act_id, actor_kind, actor_id, tool, host, because, kind, object_id, object_name,
    change, fields, undoes_id, only_for)
  select $1::int, $2::timestamptz, t.*
  from json_to_recordset($3) as t(id uuid, act_id uuid, actor_kind text, actor_id uuid, tool text, host json, because text,
    kind text, object_id uuid, object_name text, change text, fields json, undoes_id uuid, only_for uuid)`

/** The statement that writes the rows, for transactions of any pool. */
export const insertHistory = (org_id: number, at: string, rows: readonly NewRow[]) => ({
  text: INSERT,
  values: [org_id, at, JSON.stringify(rows)],
})
