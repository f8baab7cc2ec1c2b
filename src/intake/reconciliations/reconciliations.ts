/**
 * Reconciliations: files of networks, compared with the conversions recorded here. Owns `reconciliations` and `reconciliation_lines`. What must stay
 * true: comparing changes no conversion, each read compares with what is recorded at that moment, and an act goes through the queue of conversions.
 */
import { Readable } from 'node:stream'
import { sql } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { MINUTE_MS } from '../../contract/days.ts'
import { msOfDatabase } from '../../contract/moments.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Warning } from '../../contract/warnings.ts'
import { USD } from '../../contract/currencies.ts'
import { newestFirst } from '../../ground/db/lists.ts'
import { type Context, type Ground, idOf } from '../../ground/room.ts'
import { wantRates } from '../../money/rates/wanted.ts'
import type { Conversions } from '../events/conversions.ts'
import { mapsOf } from '../networks/networks.ts'
import { actOn } from './act.ts'
import type * as api from './api.ts'
import { COLUMNS } from './api.ts'
import { type Compared, compareLines, type Comparison, shiftOf } from './compare.ts'
import { readNetworkFile } from './read-file.ts'
import { readLines } from './read-lines.ts'
import { csvLines, pageOfRows, rowsOf } from './rows.ts'
import { insertLines, readFile, readStoredLines, type StoredFile } from './store.ts'

type Caller = Ground & { readonly actor: { readonly org_id: number } }

/** A file with its comparison now. Refuses `object_not_found`. */
async function compareNow(context: Caller, id: string) {
  const { db, actor } = context
  const { org_id } = actor
  const stored = (await readFile(db, org_id, idOf(id))) ?? refuse('object_not_found')
  const network = (await mapsOf(db, org_id, stored.network_id)) ?? refuse('object_not_found')
  const file: Compared = {
    org_id,
    network_id: stored.network_id,
    network,
    from: stored.from_at === null ? null : msOfDatabase(stored.from_at),
    to: stored.to_at === null ? null : msOfDatabase(stored.to_at),
  }
  const lines = await readStoredLines(db, org_id, stored.id)
  return { stored, file, comparison: await compareLines(context, file, lines) }
}

/** The network's maps. Refuses `object_not_found`, also for a deleted network. */
async function livingMaps({ db, actor }: Caller, id: string) {
  const network_id = idOf(id)
  const living = db.selectFrom('networks').select('id').where('org_id', '=', actor.org_id).where('id', '=', network_id)
  if ((await living.where('deleted_at', 'is', null).executeTakeFirst()) === undefined) refuse('object_not_found')
  return { network_id, network: (await mapsOf(db, actor.org_id, network_id)) ?? refuse('object_not_found') }
}

function shown(
  { from_at: from, to_at: to, ...stored }: StoredFile,
  { heaps, totals }: Pick<Comparison, 'heaps' | 'totals'>,
) {
  return { ...stored, from, to, heaps, totals, warnings: warningsOf(stored.shift_minutes) }
}

function warningsOf(minutes: number): Warning[] {
  if (minutes === 0) return []
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  const offset = `UTC${minutes > 0 ? '+' : '-'}${hours}${rest === 0 ? '' : `:${rest}`}`
  const message = `All matching lines are ${Math.abs(minutes)} minutes ${minutes > 0 ? 'ahead of' : 'behind'} their conversions here, so the times of the file are read in ${offset}. Choose its time zone if that is wrong.`
  return [{ code: 'zone_shifted', field: 'time_zone', message }]
}

/** Compares a file and stores it. Refuses `object_not_found` for the network, and `reconcile_file_unreadable`. */
async function reconcileFile(
  context: Context<typeof api.reconcileFile>,
  { params, query, body }: Call<typeof api.reconcileFile>,
) {
  const { db, database, config, actor } = context
  const { org_id } = actor
  const { network_id, network } = await livingMaps(context, params.id)
  const layout = await readNetworkFile(body, query.columns ?? {})
  const read = await readLines(layout, network, query)
  if (read.lines.some(({ currency, amount }) => amount !== null && currency !== USD))
    await wantRates({ pool: database.reads, config })
  const place = { org_id, network_id }
  const shift_minutes = query.time_zone === undefined ? await shiftOf(context, place, read.lines, read.timed) : 0
  const unshifted = (ms: number | null) => (ms === null ? null : ms - shift_minutes * MINUTE_MS)
  const lines = read.lines.map(line => ({ ...line, at: unshifted(line.at) }))
  const bounds = { from: unshifted(read.from), to: unshifted(read.to) }
  const comparison = await compareLines(context, { ...place, network, ...bounds }, lines)
  const stored: StoredFile = {
    id: newId(),
    network_id,
    created_at: new Date().toISOString(),
    titles: [...layout.titles],
    columns: Object.fromEntries(
      COLUMNS.map(column => [column, layout.titles[layout.indexes[column]] ?? null]),
    ) as StoredFile['columns'],
    currency: read.currency,
    time_zone: query.time_zone ?? 'UTC',
    shift_minutes,
    from_at: bounds.from === null ? null : new Date(bounds.from).toISOString(),
    to_at: bounds.to === null ? null : new Date(bounds.to).toISOString(),
    lines: lines.length,
  }
  await db.transaction().execute(async trx => {
    const json = {
      titles: stored.titles,
      columns: stored.columns,
      heaps: comparison.heaps,
      totals: comparison.totals,
    }
    const texts = Object.fromEntries(Object.entries(json).map(([name, value]) => [name, JSON.stringify(value)]))
    await trx
      .insertInto('reconciliations')
      .values({ ...stored, ...(texts as Record<keyof typeof json, string>), org_id })
      .execute()
    await insertLines(trx, org_id, stored.id, lines)
  })
  return shown(stored, comparison)
}

/** The compared files of a network. Refuses `object_not_found`. */
async function listReconciliations(
  context: Context<typeof api.listReconciliations>,
  { params, query }: Call<typeof api.listReconciliations>,
) {
  const { network_id } = await livingMaps(context, params.id)
  const rows = context.db
    .selectFrom('reconciliations')
    .select(['id', 'network_id', 'created_at', 'titles', 'columns', 'currency', 'time_zone', 'shift_minutes'])
    .select(['from_at as from', 'to_at as to', 'lines', 'heaps', 'totals'])
    .where('org_id', '=', context.actor.org_id)
    .where('network_id', '=', network_id)
  return await newestFirst(rows.$castTo<Omit<ReturnType<typeof shown>, 'warnings'>>(), query)
}

/** A file, compared with what is recorded now. Refuses `object_not_found`. */
async function readReconciliation(
  context: Context<typeof api.readReconciliation>,
  { params }: Call<typeof api.readReconciliation>,
) {
  const { stored, comparison } = await compareNow(context, params.id)
  return shown(stored, comparison)
}

/** A page of its rows. Refuses `object_not_found`, and `invalid_cursor` for a cursor that no page had. */
async function listReconciledLines(
  context: Context<typeof api.listReconciledLines>,
  { params, query }: Call<typeof api.listReconciledLines>,
) {
  const { comparison } = await compareNow(context, params.id)
  return pageOfRows(rowsOf(comparison, query.heap), query)
}

/** The rows as a file. Refuses `object_not_found`. */
async function exportReconciledLines(
  context: Context<typeof api.exportReconciledLines>,
  { params, query }: Call<typeof api.exportReconciledLines>,
) {
  const { comparison } = await compareNow(context, params.id)
  return Readable.from(csvLines(rowsOf(comparison, query.heap)))
}

/** The deeds of the room, on the queue that the process runs. */
export function reconciliationDeeds(conversions: Pick<Conversions, 'record' | 'revise'>) {
  return {
    reconcileFile,
    listReconciliations,
    readReconciliation,
    listReconciledLines,
    exportReconciledLines,

    /** The result of each line, like that of a bulk call. Refuses `object_not_found`. */
    async actOnReconciliation(
      context: Context<typeof api.actOnReconciliation>,
      { params, body }: Call<typeof api.actOnReconciliation>,
    ) {
      const { stored, file, comparison } = await compareNow(context, params.id)
      const result = await actOn({ ...context, conversions }, file, comparison, body)
      if (!body.dry_run && result.changed > 0) {
        const { heaps, totals } = (await compareNow(context, params.id)).comparison
        await sql`
          update reconciliations set heaps = ${JSON.stringify(heaps)}, totals = ${JSON.stringify(totals)}
          where org_id = ${context.actor.org_id} and id = ${stored.id}`.execute(context.db)
      }
      return result
    },
  }
}
