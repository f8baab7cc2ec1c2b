/**
 * Changes of the lists of left-out values, with their history, in one transaction. Every change of a campaign's list locks its row of `left_out_lists`,
 * so two changes never exceed the limit together, and touches it, so every process reads the list again.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { inOneTransaction } from '../../ground/db/one-transaction.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { lockHistory, recordChanges } from '../../ground/history/record.ts'
import type { Context } from '../../ground/room.ts'
import { readMoment } from '../../money/billing/balance.ts'
import { announceChange } from '../campaigns/live.ts'
import type * as api from './api.ts'
import { MOST_LEFT_OUT } from './api.ts'
import { creativeSub, faultOf, type LeftOutField } from './fields.ts'
import { leftOutObject, leftOutSnapshot } from './history.ts'

export const LEFT_OUT_COLUMNS = [
  'id',
  'campaign_id',
  'field',
  'value',
  'offer_id',
  'note',
  'until',
  'rule_id',
  'let_in_share',
  'created_at',
] as const

type Entry = { readonly campaign_id: string; readonly field: LeftOutField; readonly value: string }
type Details = Pick<Call<typeof api.leaveOut>['body'], 'leads_to' | 'note' | 'until'>
export type LeftOutRow = Entry & {
  readonly id: string
  readonly offer_id: string | null
  readonly note: string | null
  readonly until: string | null
  readonly rule_id: string | null
  readonly let_in_share: number | null
  readonly created_at: string
}

/** What a change adds, and which values of a campaign's field it removes: some, all, or all but some. */
export type ListChange = {
  readonly campaign_ids: readonly string[]
  readonly add?: readonly Entry[]
  readonly details?: Details
  readonly remove?: {
    readonly field: LeftOutField
    readonly only?: readonly string[]
    readonly except?: readonly string[]
  }
}

export type Writing = Pick<Context<typeof api.leaveOut>, 'db' | 'actor' | 'act'>

/**
 * Changes the lists of campaigns: all or nothing. A value that is on a list already stays as it is, unless its time is over: then it is added anew.
 * Refuses `object_not_found` for a campaign that is not there, `left_out_limit`, and `invalid_request` for a value that cannot be left out.
 */
export async function changeLists(
  { db, actor, act }: Writing,
  { campaign_ids, add = [], details = {}, remove }: ListChange,
) {
  const { org_id } = actor
  return await inOneTransaction(db, async trx => {
    requireValues(add, await listedCampaigns(trx, org_id, campaign_ids))
    const offer_id = details.leads_to?.type === 'offer' ? details.leads_to.offer_id : null
    if (offer_id !== null) await requireOffer(trx, org_id, offer_id)
    const leaving = remove === undefined ? [] : await rowsToRemove(trx, org_id, campaign_ids, remove)
    await lockHistory(trx, org_id, [...add, ...leaving].map(leftOutObject))
    const now = await touchLists(trx, org_id, campaign_ids)
    const removed = await deleteValues(trx, org_id, leaving)
    const over = new Map((await deleteOver(trx, org_id, add)).map(row => [nameOf(row), leftOutSnapshot(row)]))
    const rule_id = act.actor.kind === 'sluice' ? (act.actor.rule_id ?? null) : null
    const added = await insertValues(trx, org_id, add, { ...details, offer_id, rule_id, now })
    if (added.length > 0) await requireRoom(trx, org_id, campaign_ids)
    await recordChanges(trx, org_id, act, [
      ...removed.map(row => ({ ...leftOutObject(row), before: leftOutSnapshot(row), after: undefined })),
      ...added.map(row => ({ ...leftOutObject(row), before: over.get(nameOf(row)), after: leftOutSnapshot(row) })),
    ])
    for (const id of campaign_ids) await announceChange(trx, org_id, id)
    return { added, removed }
  })
}

type ListedCampaign = {
  readonly id: string
  readonly creative: string | undefined
  /** The slug of the template of its traffic source. */
  readonly template: string | null
}

/** The campaigns by their ids. Refuses `object_not_found` if one is not there. */
export async function listedCampaigns(
  db: Kysely<Tables>,
  org_id: number,
  ids: readonly string[],
): Promise<Map<string, ListedCampaign>> {
  const rows = await db
    .selectFrom('campaigns as c')
    .leftJoin('traffic_sources as s', join =>
      join.onRef('s.org_id', '=', 'c.org_id').onRef('s.id', '=', 'c.traffic_source_id'),
    )
    .select(['c.id', 's.parameters', 's.template'])
    .where('c.org_id', '=', org_id)
    .where('c.id', '=', sql<string>`any(${ids}::uuid[])`)
    .where('c.deleted_at', 'is', null)
    .execute()
  if (rows.length < ids.length) refuse('object_not_found')
  return new Map(
    rows.map(({ id, parameters, template }) => [
      id,
      { id, template, creative: creativeSub((parameters ?? []) as Labelled) },
    ]),
  )
}
type Labelled = { field: string; label?: string | null }[]

const MOST_SHOWN = 60

function requireValues(entries: readonly Entry[], campaigns: ReadonlyMap<string, ListedCampaign>): void {
  for (const { campaign_id, field, value } of entries) {
    requireField(field, campaigns.get(campaign_id))
    const fault = faultOf(field, value)
    if (fault !== undefined) refuse('invalid_request', { error: `value: “${value.slice(0, MOST_SHOWN)}” ${fault}` })
  }
}

/** Refuses `invalid_request` for creatives of a campaign whose source names none. */
export function requireField(field: LeftOutField, campaign: ListedCampaign | undefined): void {
  if (field === 'creative' && campaign?.creative === undefined)
    refuse('invalid_request', {
      error: 'field: the traffic source of the campaign labels no sub as its creative',
      hint: 'Label one on the page of the traffic source, or name the sub.',
    })
}

async function requireOffer(db: Kysely<Tables>, org_id: number, id: string): Promise<void> {
  const found = await db
    .selectFrom('offers')
    .select('id')
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (found === undefined) refuse('invalid_request', { error: 'leads_to.offer_id: no such offer' })
}

/** Locks and touches the lists, in the order of their ids, and returns the time of the change. */
export async function touchLists(trx: Kysely<Tables>, org_id: number, ids: readonly string[]): Promise<string> {
  const now = await readMoment(trx, org_id)
  await sql`
    insert into left_out_lists (org_id, campaign_id, updated_at)
    select ${org_id}, id, ${now}::timestamptz from unnest(${ids}::uuid[]) as id order by id
    on conflict (org_id, campaign_id) do update set updated_at = excluded.updated_at`.execute(trx)
  return now
}

const nameOf = ({ campaign_id, field, value }: Entry): string => JSON.stringify([campaign_id, field, value])

async function rowsToRemove(
  trx: Transaction<Tables>,
  org_id: number,
  ids: readonly string[],
  { field, only, except }: NonNullable<ListChange['remove']>,
): Promise<LeftOutRow[]> {
  let rows = trx
    .selectFrom('left_out_values')
    .select(LEFT_OUT_COLUMNS)
    .where('org_id', '=', org_id)
    .where('campaign_id', '=', sql<string>`any(${ids}::uuid[])`)
    .where('field', '=', field)
  if (only !== undefined) rows = rows.where('value', '=', sql<string>`any(${only}::text[])`)
  if (except !== undefined) rows = rows.where(sql<boolean>`value <> all(${except}::text[])`)
  return await rows.$castTo<LeftOutRow>().execute()
}

async function deleteValues(
  trx: Transaction<Tables>,
  org_id: number,
  rows: readonly LeftOutRow[],
): Promise<LeftOutRow[]> {
  if (rows.length === 0) return []
  return await trx
    .deleteFrom('left_out_values')
    .where('org_id', '=', org_id)
    .where('id', '=', sql<string>`any(${rows.map(({ id }) => id)}::uuid[])`)
    .returning(LEFT_OUT_COLUMNS)
    .$castTo<LeftOutRow>()
    .execute()
}

/** The rows with new ids, which keep their order. */
export function withIds<T extends object>(rows: readonly T[]): (T & { id: string })[] {
  const ids = rows.map(() => newId()).sort()
  return rows.map((row, at) => ({ ...row, id: ids[at] ?? '' }))
}

const entriesOf = (entries: readonly Entry[]) =>
  sql`json_to_recordset(${JSON.stringify(entries)}) as t (id uuid, campaign_id uuid, field text, value text)`

/** Deletes those of the values whose time is over, by the clock of this process. */
async function deleteOver(trx: Transaction<Tables>, org_id: number, entries: readonly Entry[]): Promise<LeftOutRow[]> {
  if (entries.length === 0) return []
  const { rows } = await sql<LeftOutRow>`
    delete from left_out_values v using ${entriesOf(entries)}
    where v.org_id = ${org_id} and v.campaign_id = t.campaign_id and v.field = t.field and v.value = t.value
      and v.until <= ${new Date().toISOString()}::timestamptz
    returning ${sql.join(LEFT_OUT_COLUMNS.map(name => sql.ref(`v.${name}`)))}`.execute(trx)
  return rows
}

/** Adds the values that are not on their lists yet. */
async function insertValues(
  trx: Transaction<Tables>,
  org_id: number,
  entries: readonly Entry[],
  {
    offer_id,
    rule_id,
    note = null,
    until = null,
    now,
  }: Details & { offer_id: string | null; rule_id: string | null; now: string },
): Promise<LeftOutRow[]> {
  if (entries.length === 0) return []
  return await trx
    .insertInto('left_out_values')
    .columns(['org_id', 'id', 'campaign_id', 'field', 'value', 'offer_id', 'rule_id', 'note', 'until', 'created_at'])
    .expression(
      sql`select ${org_id}::int, t.id, t.campaign_id, t.field, t.value, ${offer_id}::uuid, ${rule_id}::uuid, ${note}::text, ${until}::timestamptz, ${now}::timestamptz
        from ${entriesOf(withIds(entries))}`,
    )
    .onConflict(conflict => conflict.columns(['org_id', 'campaign_id', 'field', 'value']).doNothing())
    .returning(LEFT_OUT_COLUMNS)
    .$castTo<LeftOutRow>()
    .execute()
}

/** Refuses `left_out_limit` if a list is too long now. */
async function requireRoom(trx: Transaction<Tables>, org_id: number, ids: readonly string[]): Promise<void> {
  const { rows } = await sql`
    select 1 from left_out_values where org_id = ${org_id} and campaign_id = any(${ids}::uuid[])
    group by campaign_id having count(*) > ${MOST_LEFT_OUT} limit 1`.execute(trx)
  if (rows.length > 0) refuse('left_out_limit')
}
