/**
 * Refused events: conversions that were not recorded, and running them again. A run goes through the queue like any conversion, with the identity of
 * the original request, so that running it twice, or after the sender's retry, records it once. keep.ts inserts the rows; a run
 * updates them with its result.
 */
import { sql } from 'kysely'
import { DIAGNOSES, type Diagnosis } from '../../contract/diagnoses.ts'
import type { Call } from '../../contract/endpoint.ts'
import { toUuid, toWireId } from '../../contract/ids.ts'
import { Instant } from '../../contract/fields.ts'
import { Refusal, refuse } from '../../contract/refusals.ts'
import { newestFirstFile } from '../../ground/db/list-file.ts'
import { newestFirst, type Wanted } from '../../ground/db/lists.ts'
import { type Context, type Ground, idOf } from '../../ground/room.ts'
import { ConversionDraft } from '../events/api.ts'
import type { Conversions } from '../events/conversions.ts'
import { readConversion } from '../events/intake.ts'
import type { Conversion, Revision } from '../events/items.ts'
import type { StoredEvent } from '../events/organization-state.ts'
import * as api from './api.ts'
import { clickTextOf, diagnose, diagnoseClickId } from './diagnosis.ts'
import { type Difference, Differing, requireSame } from './difference.ts'
import { type Unearned, unearnedOf } from './unearned.ts'

/** The columns of a refused event that are shown. */
export const REFUSED_COLUMNS = [
  'id',
  'received_at',
  'surface',
  'key_id',
  'network_id',
  'status',
  'error',
  'diagnosis',
  'click_text',
  'click_id',
  'type',
  'body',
  'is_whole',
  'state',
  'runs',
  'run_at',
  'event_id',
  'difference',
] as const
const COLUMNS = [...REFUSED_COLUMNS, 'idempotency_key'] as const

type RefusedRow = api.RefusedEvent & { idempotency_key: string | null }
type RunContext = Pick<Ground, 'db' | 'secrets'> & {
  readonly actor: { readonly org_id: number; readonly user_id: string }
}

/** Reads a network's postback by today's maps; throws its refusal. */
type ReadCallAgain = (
  org_id: number,
  network_id: string,
  fields: unknown,
  received_at: string,
) => Promise<Conversion | Revision>

type RunTools = { readonly conversions: Pick<Conversions, 'record' | 'revise'>; readonly readCallAgain: ReadCallAgain }

/** The deeds of the room, on the queue that the process runs. */
export function refusedEventDeeds(tools: RunTools) {
  return {
    listRefusedEvents,
    exportRefusedEvents,
    async runRefusedEvent(context: Context<typeof api.runRefusedEvent>, { params }: Call<typeof api.runRefusedEvent>) {
      const id = idOf(params.id)
      const row = await rowsOf(context).where('id', '=', id).$castTo<RefusedRow>().executeTakeFirst()
      if (row === undefined) refuse('object_not_found')
      if (row.state === 'recorded') return row
      if (row.difference !== null) refuse('cannot_run_again', { hint: DIAGNOSES.differs_from_recorded.advice })
      if (!row.is_whole) refuse('cannot_run_again')
      return await run(tools, context, row)
    },
    async previewRefusedRun(
      context: Context<typeof api.previewRefusedRun>,
      { body }: Call<typeof api.previewRefusedRun>,
    ) {
      const all = runnable(context, body)
      const [counted, first] = await Promise.all([
        all
          .clearSelect()
          .select(eb => eb.fn.countAll<string>().as('count'))
          .executeTakeFirstOrThrow(),
        all.orderBy('id').limit(api.MOST_PREVIEWED).$castTo<RefusedRow>().execute(),
      ])
      const read = await Promise.all(first.map(row => readAgain(tools, context.actor.org_id, row)))
      return { count: Number(counted.count), first: read }
    },
    async runRefusedEvents(context: Context<typeof api.runRefusedEvents>, { body }: Call<typeof api.runRefusedEvents>) {
      const portion = await nextPortion(context, body)
      const rows = portion.slice(0, api.MOST_AT_ONCE)
      // Concurrently, so that the queue needs few transactions.
      const ran = await Promise.all(rows.map(row => run(tools, context, row)))
      const recorded = ran.filter(({ state }) => state === 'recorded').length
      const last = portion.length > rows.length ? rows.at(-1) : undefined
      return { recorded, refused: ran.length - recorded, next_cursor: last === undefined ? null : toWireId(last.id) }
    },
  }
}

/** The organization's refused events, newest first. */
async function listRefusedEvents(
  context: Context<typeof api.listRefusedEvents>,
  { query }: Call<typeof api.listRefusedEvents>,
) {
  return await newestFirst(listed(context, query), query)
}

/** The listed refused events as a CSV file. Refuses `too_many_lines`. */
async function exportRefusedEvents(
  context: Context<typeof api.exportRefusedEvents>,
  { query }: Call<typeof api.exportRefusedEvents>,
) {
  return await newestFirstFile(api.RefusedEvent, listed(context, query))
}

function listed(
  context: Pick<RunContext, 'db' | 'actor'>,
  { state, click_id, ...filters }: Wanted<Call<typeof api.listRefusedEvents>['query']>,
) {
  let rows = filtered(rowsOf(context), filters)
  if (state !== undefined) rows = rows.where('state', '=', state)
  if (click_id !== undefined) rows = rows.where('click_id', '=', click_id)
  return rows.$castTo<RefusedRow>()
}

const rowsOf = ({ db, actor }: Pick<RunContext, 'db' | 'actor'>) =>
  db.selectFrom('refused_events').select(COLUMNS).where('org_id', '=', actor.org_id)

type Filters = {
  readonly q?: string | undefined
  readonly diagnosis?: string | undefined
  readonly surface?: string | undefined
  readonly network_id?: string | undefined
}

function filtered(rows: ReturnType<typeof rowsOf>, { q, diagnosis, surface, network_id }: Filters) {
  let matching = rows
  if (q) matching = matching.where(containsText(q))
  if (diagnosis !== undefined) matching = matching.where('diagnosis', '=', diagnosis)
  if (surface !== undefined) matching = matching.where('surface', '=', surface)
  if (network_id !== undefined) matching = matching.where('network_id', '=', network_id)
  return matching
}

/** Searches what was sent and the reason, row by row (at most 10,000 are kept). A click id is found in any form. */
function containsText(q: string) {
  const click_id = toUuid(q)
  const diagnoses = Object.entries(DIAGNOSES).flatMap(([diagnosis, { words }]) =>
    words.toLowerCase().includes(q.toLowerCase()) ? [diagnosis] : [],
  )
  const words = sql.join(
    ['error', 'click_text', 'type', 'body', 'idempotency_key'].map(column => sql.ref(`refused_events.${column}`)),
  )
  return sql<boolean>`(strpos(lower(concat_ws(' ', ${words})), lower(${q})) > 0
    or refused_events.diagnosis = any(${diagnoses}::text[]) or refused_events.click_id = ${click_id ?? null}::uuid)`
}

type Runnable = Call<typeof api.previewRefusedRun>['body']

/** The filtered rows that can be run again. */
function runnable(context: Pick<RunContext, 'db' | 'actor'>, { from, to, ...filters }: Runnable) {
  let rows = filtered(rowsOf(context), filters)
    .where('state', '=', 'refused')
    .where('is_whole', '=', true)
    // A row with a difference repeats a recorded conversion with other values, so it can never be recorded.
    .where('difference', 'is', null)
  if (from != null) rows = rows.where('received_at', '>=', from)
  if (to != null) rows = rows.where('received_at', '<=', to)
  return rows
}

/** The oldest runnable rows after the cursor, and one more. */
async function nextPortion(
  context: RunContext,
  body: Call<typeof api.runRefusedEvents>['body'],
): Promise<RefusedRow[]> {
  const { cursor, ...wanted } = body
  const rows = runnable(context, wanted)
  return await (cursor == null ? rows : rows.where('id', '>', cursor))
    .orderBy('id')
    .limit(api.MOST_AT_ONCE + 1)
    .$castTo<RefusedRow>()
    .execute()
}

/**
 * Runs one row, then writes the result. A database error is thrown and changes nothing. After a crash between the two steps, the row can be run again:
 * its event is found and not recorded twice.
 */
async function run(tools: RunTools, context: RunContext, row: RefusedRow): Promise<RefusedRow> {
  const attempt = { run_at: new Date().toISOString(), run_by: context.actor.user_id }
  try {
    const read = await conversionOf(tools, context.actor.org_id, row)
    const { event, unearned } = await recordRead(tools, row, read)
    const reason = unearned === undefined ? {} : { error: unearned.message, diagnosis: unearned.diagnosis }
    return await write(context, row, { ...attempt, ...reason, state: 'recorded', event_id: event.id })
  } catch (error) {
    if (!(error instanceof Refusal) || error.status >= 500) throw error
    const { status, message } = error
    const diagnosis = await diagnosisNow(context, error, row)
    const difference = error instanceof Differing ? { difference: error.difference } : {}
    return await write(context, row, { ...attempt, status, error: message, diagnosis, ...difference })
  }
}

async function recordRead(
  { conversions }: RunTools,
  row: RefusedRow,
  read: Conversion | Revision,
): Promise<{ event: StoredEvent; unearned?: Unearned | undefined }> {
  if (read.kind === 'revision') return await conversions.revise(read)
  const recorded = await conversions.record(read)
  const { event, present, payout = read.payout } = recorded
  if (row.surface !== 'network') return { event }
  requireSame({ ...read, payout }, event, present)
  return { event, unearned: unearnedOf(row.network_id ?? '', recorded) }
}

/** How a row would be read today, without reading its click. */
async function readAgain(tools: RunTools, org_id: number, row: RefusedRow) {
  const { id, received_at, click_text } = row
  const sent = { id, received_at, click_text }
  try {
    const read = await conversionOf(tools, org_id, row)
    if (read.kind === 'revision') {
      const { status: verdict, amount: payout = null } = read
      return { ...sent, reads_as: { type: null, verdict, payout }, error: null }
    }
    const { type, payout = null, standing } = read
    const verdict = standing?.says === 'pending' ? ('pending' as const) : null
    return { ...sent, reads_as: { type, verdict, payout }, error: null }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { ...sent, reads_as: null, error: error.message }
  }
}

async function conversionOf(
  { readCallAgain }: RunTools,
  org_id: number,
  row: RefusedRow,
): Promise<Conversion | Revision> {
  const body: unknown = JSON.parse(row.body ?? 'null')
  const received_at = Instant.encode(row.received_at)
  if (row.surface === 'network') return await readCallAgain(org_id, row.network_id ?? '', body, received_at)
  const draft = ConversionDraft.safeParse(body)
  if (!draft.success) refuse('invalid_request', { error: row.error })
  const conversion = readConversion(draft.data, {
    org_id,
    // Rows of pages are never run.
    source: row.surface === 'dashboard' ? 'dashboard' : 'api',
    // An admin runs it, so the restrictions of its key do not apply.
    campaigns: null,
    key: undefined,
    idempotency_key: row.idempotency_key ?? undefined,
    arrived_at: performance.now(),
  })
  return { ...conversion, received_at }
}

/** The diagnosis of the new refusal. A row whose click was found to be another workspace's keeps that diagnosis. */
async function diagnosisNow({ secrets, actor }: RunContext, refusal: Refusal, row: RefusedRow): Promise<Diagnosis> {
  const diagnosis = diagnose(refusal, JSON.parse(row.body ?? 'null'))
  if (diagnosis !== 'click') return diagnosis
  const finding = diagnoseClickId(clickTextOf(row.type, row.click_text ?? ''), actor.org_id, secrets.clickKey)
  if ('diagnosis' in finding) return finding.diagnosis
  return row.diagnosis === 'click_other_organization' ? row.diagnosis : 'click_unknown'
}

type RunResult = {
  run_at: string
  run_by: string
  state?: 'recorded'
  event_id?: string
  status?: number
  error?: string
  diagnosis?: Diagnosis
  difference?: Difference
}

async function write({ db, actor }: RunContext, row: RefusedRow, result: RunResult): Promise<RefusedRow> {
  const { difference, ...plain } = result
  const written = difference === undefined ? plain : { ...plain, difference: JSON.stringify(difference) }
  const changedRow = await db
    .updateTable('refused_events')
    .set(({ eb }) => ({ ...written, runs: eb('runs', '+', 1) }))
    .where('org_id', '=', actor.org_id)
    .where('id', '=', row.id)
    // Of two concurrent runs, the one that recorded it wins.
    .where(eb => (result.state === 'recorded' ? eb.lit(true) : eb('state', '=', 'refused')))
    .returning(COLUMNS)
    .$castTo<RefusedRow>()
    .executeTakeFirst()
  return changedRow ?? { ...row, ...result }
}
