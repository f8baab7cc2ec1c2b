/**
 * Deliveries: the outgoing calls of conversions, with the result of each attempt. Owns `deliveries` and `delivery_attempts`. A row is created once
 * per event and target, in the conversion's own transaction or by a run over the past (portions.ts). Only claim.ts, finish.ts, release.ts and
 * resend.ts change it afterwards, and retention.ts deletes attempts. This file only reads.
 */
import { type Kysely, sql } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { refuse } from '../../contract/refusals.ts'
import { newestFirstFile } from '../../ground/db/list-file.ts'
import { newestFirst, type Wanted } from '../../ground/db/lists.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { campaignsNamed } from '../../traffic/campaigns/names.ts'
import * as api from './api.ts'

/** Deliveries of the organization, newest first, with the names of their campaigns. */
export async function listDeliveries(
  { db, database, actor }: Context<typeof api.listDeliveries>,
  { query }: Call<typeof api.listDeliveries>,
) {
  const page = await newestFirst(listed(db, actor.org_id, query), query, 'd.id')
  return { ...page, campaigns: await campaignsNamed(database.reads, actor.org_id, page.data) }
}

/** The listed deliveries as a CSV file. Refuses `too_many_lines`. */
export async function exportDeliveries(
  { db, actor }: Context<typeof api.exportDeliveries>,
  { query }: Call<typeof api.exportDeliveries>,
) {
  return await newestFirstFile(api.Delivery, listed(db, actor.org_id, query), rows => rows, 'd.id')
}

function listed(db: Kysely<Tables>, org_id: number, wanted: Wanted<Call<typeof api.listDeliveries>['query']>) {
  const { state, kind, failure, target_id, event_id, click_id, campaign_id, date_from, date_to } = wanted
  let rows = withEvents(db, org_id)
  // Filters by the event's column, which has an index by click.
  if (click_id !== undefined) rows = rows.where('e.click_id', '=', click_id)
  if (state !== undefined) rows = rows.where('d.state', '=', state)
  if (kind !== undefined) rows = rows.where('d.kind', '=', kind)
  if (target_id !== undefined) rows = rows.where('d.target_id', '=', target_id)
  if (event_id !== undefined) rows = rows.where('d.event_id', '=', event_id)
  if (campaign_id !== undefined) rows = rows.where('d.campaign_id', '=', campaign_id)
  if (failure !== undefined) rows = rows.where('d.failure', '=', failure)
  if (date_from !== undefined) rows = rows.where('d.created_at', '>=', date_from)
  if (date_to !== undefined) rows = rows.where('d.created_at', '<', date_to)
  return rows.$castTo<api.Delivery>()
}

/** One delivery with its attempts in order. Refuses `object_not_found`. */
export async function readDelivery(
  { db, actor }: Context<typeof api.readDelivery>,
  { params }: Call<typeof api.readDelivery>,
) {
  const id = idOf(params.id)
  const delivery = await readDeliveryRow(db, actor.org_id, id)
  const history = await db
    .selectFrom('delivery_attempts')
    .select(ATTEMPT_COLUMNS)
    .where('org_id', '=', actor.org_id)
    .where('delivery_id', '=', id)
    .orderBy('number')
    .execute()
  return { ...delivery, history, attempts_dropped: droppedOf(delivery, history) }
}

/** The number of attempts whose log has been deleted. The log is deleted from its beginning. */
export function droppedOf({ attempts }: { attempts: number }, [oldest]: readonly { number: number }[]): number {
  return oldest === undefined ? attempts : oldest.number - 1
}

/** The columns of an attempt that are shown. */
export const ATTEMPT_COLUMNS = [
  'number',
  'started_at',
  'finished_at',
  'method',
  'url',
  'body',
  'status',
  'error',
  'answer',
] as const

/** One delivery as it is listed. Refuses `object_not_found`. */
export async function readDeliveryRow(db: Kysely<Tables>, org_id: number, id: string): Promise<api.Delivery> {
  const row = withEvents(db, org_id).where('d.id', '=', id).$castTo<api.Delivery>()
  return (await row.executeTakeFirst()) ?? refuse('object_not_found')
}

/** Selects the organization's deliveries (`d`) with their events (`e`) in the columns that are shown. */
export const withEvents = (db: Kysely<Tables>, org_id: number) =>
  db
    .selectFrom('deliveries as d')
    .innerJoin('events as e', join => join.onRef('e.org_id', '=', 'd.org_id').onRef('e.id', '=', 'd.event_id'))
    .where('d.org_id', '=', org_id)
    .select(['d.id', 'd.kind', 'd.target_id', 'd.event_id', 'e.type as event_type', 'd.click_id', 'd.campaign_id'])
    .select(['d.state', 'd.reason', 'd.failure', 'd.attempts', 'd.created_at', 'd.finished_at'])
    .select(sql<number | null>`nullif(d.seq, 0)`.as('revision'))
    .select(sql<string | null>`case when d.state = 'pending' then d.run_at end`.as('next_attempt_at'))
