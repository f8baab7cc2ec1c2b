/**
 * Values of campaigns whose visitors are left out: they go to the fallback or to another offer, before funnels and click flows are asked. Owns
 * `left_out_values` and `left_out_lists`. `until` is compared with the clock of the process that gets the visitor. The history has each value under
 * its campaign.
 */
import { type Kysely, sql } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { msOfDatabase } from '../../contract/moments.ts'
import { refuse } from '../../contract/refusals.ts'
import { newestFirst } from '../../ground/db/lists.ts'
import { rehearse } from '../../ground/db/one-transaction.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { readMoment } from '../../money/billing/balance.ts'
import type * as api from './api.ts'
import { isInForce } from './fields.ts'
import {
  listedCampaigns,
  changeLists,
  LEFT_OUT_COLUMNS,
  type LeftOutRow,
  type ListChange,
  requireField,
  type Writing,
} from './lists.ts'
import { type LineOfText, linesOfText, textOf } from './text.ts'

const describeValue = ({ campaign_id: _, let_in_share: __, offer_id, ...row }: LeftOutRow): api.LeftOutValue => ({
  ...row,
  leads_to: offer_id === null ? { type: 'fallback' } : { type: 'offer', offer_id },
})

/** Newest first; `q` searches the values. Refuses `object_not_found`. */
export async function listLeftOut(
  { db, actor }: Context<typeof api.listLeftOut>,
  { params, query }: Call<typeof api.listLeftOut>,
) {
  const campaign_id = idOf(params.id)
  await listedCampaigns(db, actor.org_id, [campaign_id])
  let rows = valuesOf(db, actor.org_id, campaign_id)
  if (query.field !== undefined) rows = rows.where('field', '=', query.field)
  if (query.q) rows = rows.where(sql<boolean>`strpos(lower(value), lower(${query.q})) > 0`)
  const { data, next_cursor } = await newestFirst(rows.$castTo<LeftOutRow>(), query)
  return { data: data.map(describeValue), next_cursor }
}

/** Values that are on the list already stay as they are. Refuses `object_not_found`, `left_out_limit`, `invalid_request`. */
export async function leaveOut(
  context: Context<typeof api.leaveOut>,
  { params, body: { field, values, ...details } }: Call<typeof api.leaveOut>,
) {
  const campaign_id = idOf(params.id)
  const add = [...new Set(values)].map(value => ({ campaign_id, field, value }))
  const { added } = await changeLists(context, { campaign_ids: [campaign_id], add, details })
  return { added: added.length, same: values.length - added.length, data: added.map(describeValue) }
}

/** All or none. Refuses `object_not_found`, `left_out_limit`, `invalid_request`. */
export async function leaveOutInMany(
  context: Context<typeof api.leaveOutInMany>,
  { body: { entries, ...details } }: Call<typeof api.leaveOutInMany>,
) {
  const add = [...new Map(entries.map(entry => [JSON.stringify(Object.values(entry)), entry])).values()]
  const campaign_ids = [...new Set(add.map(({ campaign_id }) => campaign_id))]
  const { added } = await changeLists(context, { campaign_ids, add, details })
  return { added: added.length, same: entries.length - added.length, data: added.map(describeValue) }
}

/** Refuses `object_not_found`. */
export async function letIn(
  context: Context<typeof api.letIn>,
  { params, query: { field, value: only } }: Call<typeof api.letIn>,
) {
  const remove = { field, ...(only === undefined ? {} : { only: [only] }) }
  const { removed } = await changeLists(context, { campaign_ids: [idOf(params.id)], remove })
  return { removed: removed.length }
}

/**
 * Adds the values of a text, or makes the field's values those of the text. A dry run goes through all of it and keeps nothing. Refuses
 * `object_not_found`, `left_out_limit`, and `invalid_request` with the wrong lines unless it is a dry run.
 */
export async function importLeftOut(
  context: Context<typeof api.importLeftOut>,
  { params, body: { field, text, mode, dry_run, leads_to } }: Call<typeof api.importLeftOut>,
) {
  const campaign_id = idOf(params.id)
  requireField(field, (await listedCampaigns(context.db, context.actor.org_id, [campaign_id])).get(campaign_id))
  const lines = linesOfText(field, text)
  const wrong = lines.filter(({ error }) => error !== null)
  if (wrong.length > 0 && !dry_run) refuseLines(wrong)
  const values = [...new Set(lines.flatMap(({ value, error }) => (error === null ? [value] : [])))]
  const add = values.map(value => ({ campaign_id, field, value }))
  const change: ListChange = {
    campaign_ids: [campaign_id],
    add,
    details: { leads_to },
    ...(mode === 'replace' ? { remove: { field, except: values } } : {}),
  }
  const { added, removed } = await (dry_run ? triedChange(context, change) : changeLists(context, change))
  const fates = [...withFates(lines, added), ...removed.map(lineOfRemoved)]
  const countOf = (fate: api.ImportedLine['fate']) => fates.filter(line => line.fate === fate).length
  const counts = { added: added.length, same: countOf('same'), removed: removed.length, wrong: wrong.length }
  return { dry_run, ...counts, lines: fates }
}

const triedChange = (context: Writing, change: ListChange) =>
  rehearse(context.db, trx => changeLists({ ...context, db: trx }, change))

/** The first line of an added value is new; its repeats, and values that were there, are the same. */
function withFates(lines: readonly LineOfText[], added: readonly LeftOutRow[]): api.ImportedLine[] {
  const isNew = new Set(added.map(({ value }) => value))
  return lines.map(line => ({
    ...line,
    fate: line.error !== null ? 'wrong' : isNew.delete(line.value) ? 'new' : 'same',
  }))
}

const lineOfRemoved = ({ value }: LeftOutRow): api.ImportedLine => ({
  line: null,
  value,
  fate: 'removed',
  error: null,
})

/** Wrong lines that a refusal names. */
const MOST_NAMED = 20

function refuseLines(wrong: readonly LineOfText[]): never {
  const named = wrong.slice(0, MOST_NAMED).map(({ line, error }) => `line ${line} ${error}`)
  const more = wrong.length > named.length ? `; and ${wrong.length - named.length} more` : ''
  return refuse('invalid_request', { error: `text: ${named.join('; ')}${more}` })
}

/** The values of a field that hold now, oldest first. Refuses `object_not_found`. */
export async function readLeftOutText(
  { db, actor }: Context<typeof api.readLeftOutText>,
  { params, query: { field, form = 'lines' } }: Call<typeof api.readLeftOutText>,
): Promise<string> {
  const campaign_id = idOf(params.id)
  const campaign = (await listedCampaigns(db, actor.org_id, [campaign_id])).get(campaign_id)
  const now = Date.now()
  const rows = await valuesOf(db, actor.org_id, campaign_id).where('field', '=', field).orderBy('id').execute()
  const inForce = rows.filter(({ until }) => isInForce(until === null ? null : msOfDatabase(until), now))
  return textOf(
    inForce.map(({ value }) => value),
    form,
    campaign?.template ?? null,
  )
}

const valuesOf = (db: Kysely<Tables>, org_id: number, campaign_id: string) =>
  db
    .selectFrom('left_out_values')
    .select(LEFT_OUT_COLUMNS)
    .where('org_id', '=', org_id)
    .where('campaign_id', '=', campaign_id)

/** Has every process read the organization's lists again: its time zone has changed. */
export async function touchLeftOut(db: Kysely<Tables>, org_id: number): Promise<void> {
  const now = await readMoment(db, org_id)
  await sql`update left_out_lists set updated_at = ${now} where org_id = ${org_id}`.execute(db)
}
