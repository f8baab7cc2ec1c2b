/**
 * Puts changes back: by the endpoints that anyone would use, with the role, the checks and the history of every write. One transaction for all rows of
 * an act, except for status changes of conversions, which the queue of conversions commits one by one.
 */
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { Call } from '../../contract/endpoint.ts'
import type { HistoryKind } from '../../contract/history.ts'
import { Refusal, refuse } from '../../contract/refusals.ts'
import { inOneTransaction } from '../../ground/db/one-transaction.ts'
import {
  type ObjectFields,
  type HistoryObject,
  objectKey,
  lockHistory,
  type ObjectSnapshot,
} from '../../ground/history/record.ts'
import { type Context, type Furnished, idOf } from '../../ground/room.ts'
import { restorePostbackRule } from '../../outgoing/postbacks/postbacks.ts'
import { restoreCap } from '../../traffic/caps/caps.ts'
import { restoreClickFlow } from '../../traffic/click-flows/click-flows.ts'
import { restoreFunnel } from '../../traffic/funnels/funnels.ts'
import { restoreLanding } from '../../traffic/landings/landings.ts'
import { restoreOffer } from '../../traffic/offers/offers.ts'
import { restoreTrafficSource } from '../../traffic/sources/sources.ts'
import type * as api from './api.ts'
import { requireNeeds, requireUnnamed } from './needs.ts'
import { callsFor, type PutBackCall, RESTORABLE, whyNever } from './plans.ts'
import { readingOf, type Recorder } from './recorder.ts'
import { isAtLeast, type StoredRow, visibleRows } from './rows.ts'
import type { Reading } from './reading.ts'
import type { Subjects } from './subjects.ts'

type UndoContext = Context<typeof api.undoChange>
type Verdict = api.HistoryRow['cannot_undo']
type Restore = typeof restoreOffer

const RESTORES: Partial<Record<HistoryKind, Restore>> = {
  offer: restoreOffer,
  landing: restoreLanding,
  funnel: restoreFunnel,
  click_flow: restoreClickFlow,
  traffic_source: restoreTrafficSource,
  cap: restoreCap,
  postback: restorePostbackRule,
}

const objectOf = ({ kind, object_id: id, object_name }: StoredRow): HistoryObject =>
  kind === 'ad_spend' || kind === 'left_out' || kind === 'rate' ? { kind, id, name: object_name } : { kind, id }

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

/** Refuses `changed_since` unless every field has the value that the row's change wrote. */
function requireUnchanged({ change, fields, object_name }: StoredRow, now: ObjectSnapshot | undefined): void {
  if (change === 'deleted' && now !== undefined)
    refuse('changed_since', { error: `${object_name}: it exists again, and this change deleted it` })
  for (const field of change === 'deleted' ? [] : fields) {
    if ('is_secret' in field || isSame(field.name, now?.fields[field.name], field.after)) continue
    const is = shown(now?.fields[field.name])
    refuse('changed_since', {
      error: `${object_name}: ${field.name} is ${is} now, and this change wrote ${shown(field.after)}`,
    })
  }
}

/** The calls that put a row back now. Refuses each reason against it. */
async function planFor(subjects: Pick<Subjects, 'read'>, reading: Reading, row: StoredRow): Promise<PutBackCall[]> {
  if (row.undone_by_id !== null) refuse('undone_before')
  const never = whyNever(row)
  if (never !== undefined) refuse('cannot_undo', { error: never })
  const now = await subjects.read(reading, objectOf(row))
  if (row.change !== 'deleted' && now === undefined)
    refuse(row.kind === 'ad_spend' || row.kind === 'left_out' ? 'changed_since' : 'undo_needs', {
      error: `${row.object_name} was deleted`,
    })
  requireUnchanged(row, now)
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

const isArchivable = (kind: HistoryKind): boolean => ['campaign', 'offer', 'landing', 'click_flow'].includes(kind)

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
      const once = readingOnce(subjects)
      for (const row of rows) described.push({ ...shape(row), cannot_undo: await present(once, reading, row) })
      return described
    },
  }
}

/** Reads each object once: the rows of a page are often about a few objects. */
function readingOnce(subjects: Subjects): Pick<Subjects, 'read'> {
  const known = new Map<string, Promise<ObjectSnapshot | undefined>>()
  return {
    read(reading, object) {
      const key = objectKey(object)
      const found = known.get(key) ?? subjects.read(reading, object)
      known.set(key, found)
      return found
    },
  }
}

function shape({ actor_kind, actor_id, actor_name, tool, host, because, fields, ...row }: StoredRow) {
  const actor = { kind: actor_kind, id: actor_id, name: actor_name, tool, host, because }
  return { ...row, actor, fields: [...fields] as api.HistoryRow['fields'] }
}

/** Runs an endpoint as the caller, with the role that it asks for. */
async function perform(
  { recorder, byName }: { recorder: Recorder; byName: ReadonlyMap<string, Furnished> },
  context: UndoContext,
  { endpoint: name, params = {}, query = {}, body }: PutBackCall,
): Promise<void> {
  const one = byName.get(name)
  if (one === undefined) throw new Error(`the history puts back by ${name}, which is no endpoint`)
  const { access, body: schema } = one.endpoint
  const needed = access !== 'anyone' && access.session !== undefined ? access.session : 'owner'
  if (needed !== 'person' && !isAtLeast(context.actor.role, needed))
    refuse('role_forbidden', { error: `this needs the role ${needed}` })
  const read = schema?.safeParse(body)
  if (read?.success === false) refuse('undo_needs', { error: z.prettifyError(read.error), hint: 'Change it by hand.' })
  await recorder.run(one, context, { params, query, body: read?.data })
}

/** The deed that puts changes back. `furnished` are the endpoints that it writes by. */
export function undoDeed(
  subjects: Subjects,
  recorder: Recorder,
  verdicts: UndoVerdicts,
  furnished: readonly Furnished[],
) {
  const byName = new Map(furnished.map(one => [one.name, one]))

  async function putBack(context: UndoContext, reading: Reading, row: StoredRow): Promise<void> {
    const calls = await planFor(subjects, reading, row)
    const isOf = ({ kind, id }: HistoryObject) =>
      kind === row.kind && (id === row.object_id || (row.change === 'deleted' && !RESTORABLE.has(kind)))
    const act = { ...context.act, undoes: (of: HistoryObject) => (isOf(of) ? row.id : undefined) }
    const restore = row.change === 'deleted' ? RESTORES[row.kind] : undefined
    if (restore === undefined) {
      for (const call of calls) await perform({ recorder, byName }, { ...context, act }, call)
      return
    }
    if (!isAtLeast(context.actor.role, 'admin')) refuse('role_forbidden', { error: 'this needs the role admin' })
    const { id } = objectOf(row)
    await recorder.recordedIn({ ...context, act })(
      () => [objectOf(row)],
      async trx => {
        if (!(await restore(trx, context.actor.org_id, id ?? '')))
          refuse('undo_needs', { error: 'it is gone for good' })
      },
    )
  }

  return {
    async undoChange(context: UndoContext, { params, body }: Call<typeof api.undoChange>) {
      const { db, actor } = context
      const { act_id } = context.act
      const rowsIn = (trx: UndoContext['db']) => visibleRows(trx, actor, subjects.roleFor)
      await inOneTransaction(db, async trx => {
        const row = await rowsIn(trx).where('h.id', '=', idOf(params.id)).executeTakeFirst()
        if (row === undefined) refuse('object_not_found')
        const act = body.whole_act ? await rowsIn(trx).where('h.act_id', '=', row.act_id).execute() : [row]
        const objects = act.filter(({ id }) => !body.leave_out.includes(id)).map(objectOf)
        await lockHistory(trx, actor.org_id, objects)
        // Read again under the locks: another call may have put the same rows back.
        const chosen = await rowsIn(trx)
          .where(
            'h.id',
            'in',
            act.map(({ id }) => id),
          )
          .execute()
          .then(rows => rows.filter(({ id }) => !body.leave_out.includes(id)))
        const reading = readingOf(context, actor, trx)
        // Conversions are written by another transaction, so their rows are all checked before the first one is put back.
        for (const one of chosen.filter(({ kind }) => kind === 'event')) await planFor(subjects, reading, one)
        for (const one of chosen.toSorted((a, b) => (a.id < b.id ? 1 : -1)))
          await putBack({ ...context, db: trx }, reading, one)
      })
      const made = await rowsIn(db).where('h.act_id', '=', act_id).orderBy('h.id', 'desc').execute()
      return { act_id, data: await verdicts.describe(context, made) }
    },
  }
}
