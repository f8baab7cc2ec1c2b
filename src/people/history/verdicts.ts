/** Says whether a row of the history can be put back, why not, and by which calls. */
import { isDeepStrictEqual } from 'node:util'
import type { HistoryKind } from '../../contract/history.ts'
import { Refusal, refuse } from '../../contract/refusals.ts'
import { type HistoryObject, type ObjectFields, objectKey, type ObjectSnapshot } from '../../ground/history/record.ts'
import type { Context } from '../../ground/room.ts'
import type * as api from './api.ts'
import { requireNeeds, requireUnnamed } from './needs.ts'
import type { NamedCall } from './perform.ts'
import { callsFor, RESTORABLE, whyNever } from './plans.ts'
import type { Reading } from './reading.ts'
import { readingOf } from './recorder.ts'
import type { StoredRow } from './rows.ts'
import type { Subjects } from './subjects.ts'

type Verdict = api.HistoryRow['cannot_undo']

/** Objects that the name tells apart, because several have the same id. */
const isNamed = (kind: HistoryKind): boolean => ['ad_spend', 'left_out', 'rate', 'split_test'].includes(kind)

/** The object of a row. */
export const objectOfRow = ({ kind, object_id: id, object_name }: StoredRow): HistoryObject =>
  isNamed(kind) ? { kind, id, name: object_name } : { kind, id }

/** Lists of members show what is true of others; only the members themselves are compared. */
const essenceOf = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(essenceOf)
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .filter(([name]) => !['name', 'status', 'deleted'].includes(name))
            .map(([name, inner]) => [name, essenceOf(inner)]),
        )
      : value
const LISTS_OTHERS: ReadonlySet<string> = new Set(['landings', 'offers', 'grant'])

function isSame(name: string, one: unknown, other: unknown): boolean {
  const of = LISTS_OTHERS.has(name) ? essenceOf : (value: unknown) => value
  return isDeepStrictEqual(of(one ?? null), of(other ?? null))
}

const LONGEST = 200
const shown = (value: unknown): string => JSON.stringify(value ?? null).slice(0, LONGEST)

/**
 * Refuses `changed_since` unless every field has the value that the row's change wrote; if another row of the act has begun it, the earlier value is
 * as good.
 */
function requireUnchanged(
  { change, fields, object_name }: StoredRow,
  now: ObjectSnapshot | undefined,
  hasBegun: boolean,
): void {
  if (change === 'deleted' && now !== undefined)
    refuse('changed_since', { error: `${object_name}: it exists again, and this change deleted it` })
  for (const field of change === 'deleted' ? [] : fields) {
    if ('is_secret' in field || isSame(field.name, now?.fields[field.name], field.after)) continue
    if (hasBegun && isSame(field.name, now?.fields[field.name], field.before)) continue
    const is = shown(now?.fields[field.name])
    refuse('changed_since', {
      error: `${object_name}: ${field.name} is ${is} now, and this change wrote ${shown(field.after)}`,
    })
  }
}

/** The calls that put a row back now. Refuses each reason against it. */
export async function planFor(
  subjects: Pick<Subjects, 'read'>,
  reading: Reading,
  row: StoredRow,
  hasBegun = false,
): Promise<NamedCall[]> {
  if (row.undone_by_id !== null) refuse('undone_before')
  const never = whyNever(row)
  if (never !== undefined) refuse('cannot_undo', { error: never })
  const now = await subjects.read(reading, objectOfRow(row))
  if (row.change !== 'deleted' && now === undefined)
    refuse(row.kind === 'ad_spend' || row.kind === 'left_out' ? 'changed_since' : 'undo_needs', {
      error: `${row.object_name} was deleted`,
    })
  requireUnchanged(row, now, hasBegun)
  if (row.change === 'created') {
    if (row.object_id !== null && row.kind !== 'ad_spend' && row.kind !== 'left_out' && !isArchivable(row.kind))
      await requireUnnamed(reading.db, reading.org_id, row.object_id)
  } else {
    const values = row.fields.map(field => ('before' in field ? { [field.name]: field.before } : {}))
    await requireNeeds(reading.db, reading.org_id, values)
  }
  if (row.change === 'deleted' && RESTORABLE.has(row.kind)) {
    if (row.kind === 'cap') await requireNeeds(reading.db, reading.org_id, capObject(row))
    return []
  }
  return callsFor(row, now?.fields ?? {})
}

const isArchivable = (kind: HistoryKind): boolean =>
  ['campaign', 'offer', 'landing', 'click_flow', 'event'].includes(kind)

/** The offer or the campaign of a deleted cap, as a reference. */
function capObject({ fields }: StoredRow): ObjectFields {
  const was = (name: string) =>
    fields.flatMap(field => (field.name === name && 'before' in field ? [field.before] : []))[0]
  return { [`${String(was('object'))}_id`]: was('object_id') }
}

/** What the history knows about putting rows back. */
export type UndoVerdicts = ReturnType<typeof openVerdicts>

export function openVerdicts(subjects: Subjects) {
  /** The reason that no later change can lift. */
  const lasting = (row: StoredRow): Verdict =>
    row.undone_by_id !== null ? 'undone_before' : whyNever(row) === undefined ? null : 'cannot_undo'

  async function present(subjects: Pick<Subjects, 'read'>, reading: Reading, row: StoredRow): Promise<Verdict> {
    const known = lasting(row)
    if (known !== null) return known
    try {
      await planFor(subjects, reading, row)
      return null
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return error.refusal === 'changed_since' || error.refusal === 'undo_needs' ? error.refusal : null
    }
  }

  return {
    lasting,
    /** The rows as the API shows them. */
    async describe(context: Context<typeof api.listHistory>, rows: readonly StoredRow[]): Promise<api.HistoryRow[]> {
      const { actor, db } = context
      const reading = readingOf(context, actor, db)
      const described: api.HistoryRow[] = []
      const open = rows.filter(row => lasting(row) === null)
      const known = knowing(await subjects.readAll(reading, objectsOf(open)))
      for (const row of rows) described.push({ ...shape(row), cannot_undo: await present(known, reading, row) })
      return described
    },
  }
}

/** The objects of the rows, each once: the rows of a page are often about a few objects. */
export const objectsOf = (rows: readonly StoredRow[]): HistoryObject[] => [
  ...new Map(rows.map(row => [objectKey(objectOfRow(row)), objectOfRow(row)])).values(),
]

/** Answers with what was read before. */
export const knowing = (known: Awaited<ReturnType<Subjects['readAll']>>): Pick<Subjects, 'read'> => ({
  read: async (_reading, object) => known.get(objectKey(object)),
})

function shape({ actor_kind, actor_id, actor_name, tool, host, because, fields, ...row }: StoredRow) {
  const actor = { kind: actor_kind, id: actor_id, name: actor_name, tool, host, because }
  return { ...row, actor, fields: [...fields] as api.HistoryRow['fields'] }
}
