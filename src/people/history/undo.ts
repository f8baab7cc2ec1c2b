/**
 * Puts changes back: by the endpoints that anyone would use, with the role, the checks and the history of every write. One transaction for all rows of
 * an act, except for status changes of conversions, which the queue of conversions commits one by one, and changes of bots, which ask Telegram.
 */
import { type SqlBool, sql } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import type { HistoryKind } from '../../contract/history.ts'
import { firstIdAt, toWireId } from '../../contract/ids.ts'
import { Refusal, refuse } from '../../contract/refusals.ts'
import { inOneTransaction } from '../../ground/db/one-transaction.ts'
import { type HistoryObject, lockHistory, objectKey } from '../../ground/history/record.ts'
import { type Context, type Furnished, idOf } from '../../ground/room.ts'
import { restorePostbackRule } from '../../outgoing/postbacks/postbacks.ts'
import { restoreCap } from '../../traffic/caps/caps.ts'
import { restoreClickFlow } from '../../traffic/click-flows/click-flows.ts'
import { restoreFunnel } from '../../traffic/funnels/funnels.ts'
import { restoreLanding } from '../../traffic/landings/landings.ts'
import { restoreOffer } from '../../traffic/offers/offers.ts'
import { restoreTrafficSource } from '../../traffic/sources/sources.ts'
import { requireKey } from '../keys/keys.ts'
import * as api from './api.ts'
import { checkedCall, type Performing } from './perform.ts'
import { RESTORABLE } from './plans.ts'
import { readingOf, type Recorder } from './recorder.ts'
import { isAtLeast, type StoredRow, visibleRows } from './rows.ts'
import type { Reading } from './reading.ts'
import type { Subjects } from './subjects.ts'
import { WRITE_TOGETHER } from './together.ts'
import { knowing, objectOfRow, objectsOf, planFor, type UndoVerdicts } from './verdicts.ts'

type UndoContext = Context<typeof api.undoChange>
type Restore = typeof restoreOffer
type Later = (db: UndoContext['db']) => Promise<unknown>
/** The rows that one call puts back, by their objects. `begun`: a call for another row has changed the object as well, such as the former start page. */
type Chosen = { readonly ids: ReadonlyMap<string, string>; readonly begun: Set<string> }

const RESTORES: Partial<Record<HistoryKind, Restore>> = {
  offer: restoreOffer,
  landing: restoreLanding,
  funnel: restoreFunnel,
  click_flow: restoreClickFlow,
  traffic_source: restoreTrafficSource,
  cap: restoreCap,
  postback: restorePostbackRule,
}

/** Tells which row a change of an object puts back, while the calls for `row` run. */
const undoingOf =
  (row: StoredRow, { ids, begun }: Chosen) =>
  (of: HistoryObject) => {
    const isMadeAgain = row.change === 'deleted' && !RESTORABLE.has(row.kind)
    const isOf = of.kind === row.kind && (of.id === row.object_id || isMadeAgain)
    const id = isOf ? row.id : ids.get(objectKey(of))
    if (id !== undefined) begun.add(id)
    return id
  }

/** Conversions that are put back at a time: the queue records them in few batches. */
const GROUP = 250

/** Runs work on groups of conversions, so that an act on thousands of them is put back within seconds. */
async function inGroups(
  rows: readonly StoredRow[],
  workOn: (group: readonly StoredRow[]) => Promise<(row: StoredRow) => Promise<void>>,
): Promise<void> {
  for (let from = 0; from < rows.length; from += GROUP) {
    const group = rows.slice(from, from + GROUP)
    const results = await Promise.allSettled(group.map(await workOn(group)))
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }
}

/** What putting rows back is done with. */
type Parts = { readonly subjects: Subjects; readonly recorder: Recorder; readonly performing: Performing }
/** The objects as they are read for the rows at hand, and how. */
type Sight = { readonly known: Pick<Subjects, 'read'>; readonly reading: Reading }

/** Returns what must wait for the commit: calls that ask Telegram, for which no transaction may wait. */
async function putBack(
  { recorder, performing }: Parts,
  context: UndoContext,
  { known, reading }: Sight,
  row: StoredRow,
  chosen: Chosen,
): Promise<Later[]> {
  const calls = await planFor(known, reading, row, chosen.begun.has(row.id))
  const act = { ...context.act, undoes: undoingOf(row, chosen) }
  const restore = row.change === 'deleted' ? RESTORES[row.kind] : undefined
  if (restore === undefined) {
    const later: Later[] = []
    for (const call of calls) {
      const { waits, run } = checkedCall(performing, context, call)
      if (waits) later.push(db => run({ ...context, db, act }))
      else await run({ ...context, act })
    }
    return later
  }
  if (!isAtLeast(context.actor.role, 'admin')) refuse('role_forbidden', { error: 'this needs the role admin' })
  const { id } = objectOfRow(row)
  await recorder.recordedIn({ ...context, act })(
    () => [objectOfRow(row)],
    async trx => {
      if (!(await restore(trx, context.actor.org_id, id ?? ''))) refuse('undo_needs', { error: 'it is gone for good' })
    },
  )
  return []
}

/** Puts rows of one kind back by one write. False if they are no such rows, or the write is refused. */
async function putBackTogether(
  { subjects, recorder, performing }: Parts,
  context: UndoContext,
  reading: Reading,
  rows: readonly StoredRow[],
  explain: Explain,
): Promise<boolean> {
  const kinds = new Set(rows.map(({ kind }) => kind))
  const [kind] = kinds
  const write = kind !== undefined && kinds.size === 1 ? WRITE_TOGETHER[kind] : undefined
  if (write === undefined) return false
  const known = knowing(await subjects.readAll(reading, objectsOf(rows)))
  const ids = new Map(rows.map(row => [objectKey(objectOfRow(row)), row.id]))
  const act = { ...context.act, undoes: (of: HistoryObject) => ids.get(objectKey(of)) }
  const calls: ReturnType<typeof checkedCall>[] = []
  const plan = async (row: StoredRow) => {
    for (const call of await planFor(known, reading, row)) calls.push(checkedCall(performing, context, call))
  }
  for (const row of rows) await explained(row, explain, plan(row))
  try {
    await context.db.transaction().execute(trx => write({ ...context, db: trx, act }, recorder, rows, calls))
    return true
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    // One by one, the row is found that is refused.
    return false
  }
}

/** Puts the rows back in the transaction `context.db`, newest first. Returns what must wait for the commit. */
async function putBackIn(
  parts: Parts,
  context: UndoContext,
  rows: readonly StoredRow[],
  explain: Explain,
): Promise<Later[]> {
  const { subjects } = parts
  const { actor, db } = context
  const reading = readingOf(context, actor, db)
  const chosen: Chosen = { ids: new Map(rows.map(row => [objectKey(objectOfRow(row)), row.id])), begun: new Set() }
  const waiting: Later[] = []
  const undoing = (known: Pick<Subjects, 'read'>) => async (row: StoredRow) => {
    waiting.push(...(await explained(row, explain, putBack(parts, context, { known, reading }, row, chosen))))
  }
  const newestFirst = rows.toSorted((a, b) => (a.id < b.id ? 1 : -1))
  const areApart = chosen.ids.size === rows.length
  const events = rows.filter(({ kind }) => kind === 'event')
  // Conversions are written by another transaction, so their rows are all checked before the first one is put back.
  const known = knowing(await subjects.readAll(reading, objectsOf(events)))
  for (const row of events) await explained(row, explain, planFor(known, reading, row))
  if (areApart && events.length === rows.length)
    await inGroups(newestFirst, async group => {
      // A statement now and then, because the server ends transactions that are idle for long.
      await sql`select 1`.execute(db)
      return undoing(knowing(await subjects.readAll(reading, objectsOf(group))))
    })
  else if (!areApart || !(await putBackTogether(parts, context, reading, newestFirst, explain)))
    for (const row of newestFirst) await undoing(subjects)(row)
  return waiting
}

/** Puts rows back. `furnished` are the endpoints that it writes by. */
function openPuttingBack(
  subjects: Subjects,
  recorder: Recorder,
  verdicts: UndoVerdicts,
  furnished: readonly Furnished[],
) {
  const byName = new Map(furnished.map(one => [one.name, one]))
  const performing: Performing = { recorder, byName, misfit: { name: 'undo_needs', hint: 'Change it by hand.' } }
  const parts: Parts = { subjects, recorder, performing }

  /** Puts the rows back in one transaction: all or none. `find` is called again under the locks of the rows' objects. */
  return async function putBackAll(context: UndoContext, find: FindRows, explain: Explain) {
    const { actor, act } = context
    const later = await inOneTransaction(context.db, async trx => {
      await lockHistory(trx, actor.org_id, (await find(trx)).map(objectOfRow))
      // Read again under the locks: another call may have put the same rows back.
      return await putBackIn(parts, { ...context, db: trx }, await find(trx), explain)
    })
    for (const run of later) await run(context.db)
    const rows = visibleRows(context.db, actor, subjects.roleFor).where('h.act_id', '=', act.act_id)
    return { act_id: act.act_id, data: await verdicts.describe(context, await rows.orderBy('h.id', 'desc').execute()) }
  }
}

/** The deeds that put changes back. `furnished` are the endpoints that they write by. */
export function undoDeed(
  subjects: Subjects,
  recorder: Recorder,
  verdicts: UndoVerdicts,
  furnished: readonly Furnished[],
) {
  const putBackAll = openPuttingBack(subjects, recorder, verdicts, furnished)
  return {
    async undoChange(context: UndoContext, { params, body }: Call<typeof api.undoChange>) {
      const rowsIn = (db: UndoContext['db']) => visibleRows(db, context.actor, subjects.roleFor)
      const find = async (db: UndoContext['db']) => {
        const row = await rowsIn(db).where('h.id', '=', idOf(params.id)).executeTakeFirst()
        if (row === undefined) refuse('object_not_found')
        const act = body.whole_act ? await rowsIn(db).where('h.act_id', '=', row.act_id).execute() : [row]
        return act.filter(({ id }) => !body.leave_out.includes(id))
      }
      return await putBackAll(context, find, refusal => refusal)
    },

    /** Refuses `invalid_request` if the key has changed more than one act can put back. */
    async undoKey(context: Context<typeof api.undoKey>, { params, body }: Call<typeof api.undoKey>) {
      const { id: key_id } = await requireKey(context.db, context.actor, params.id)
      const find = (db: UndoContext['db']) =>
        rowsOfKey(visibleRows(db, context.actor, subjects.roleFor), { org_id: context.actor.org_id, key_id }, body)
      return await putBackAll(context, find, namingRow)
    },
  }
}

type FindRows = (db: UndoContext['db']) => Promise<readonly StoredRow[]>
type Explain = (refusal: Refusal, row: StoredRow) => Refusal

/** The result of work on a row, or its refusal with its explanation. */
async function explained<T>(row: StoredRow, explain: Explain, work: Promise<T>): Promise<T> {
  return await work.catch((error: unknown) => {
    throw error instanceof Refusal ? explain(error, row) : error
  })
}

/** The rows of the key to put back. */
async function rowsOfKey(
  rows: ReturnType<typeof visibleRows>,
  { org_id, key_id }: { readonly org_id: number; readonly key_id: string },
  { since, leave_out }: Call<typeof api.undoKey>['body'],
): Promise<readonly StoredRow[]> {
  let sought = rows
    .where('h.actor_kind', '=', 'key')
    .where('h.actor_id', '=', key_id)
    .where('h.id', '>=', firstIdAt(Date.parse(since)))
    .where(sql<SqlBool>`not exists (select 1 from history u where u.org_id = ${org_id} and u.undoes_id = h.id)`)
  if (leave_out.length > 0) sought = sought.where('h.id', 'not in', leave_out)
  const chosen = await sought
    .orderBy('h.id', 'desc')
    .limit(api.MOST_UNDONE + 1)
    .execute()
  if (chosen.length > api.MOST_UNDONE)
    refuse('invalid_request', {
      error: `since: the key has changed more than ${api.MOST_UNDONE} things since then`,
      hint: 'Choose a later moment first.',
    })
  return chosen
}

/** The refusal with the object and the row that it is about. */
function namingRow({ refusal, detail, message }: Refusal, { id, object_name }: StoredRow): Refusal {
  return new Refusal(refusal, { ...detail, error: `${object_name} (${toWireId(id)}): ${message}` })
}
