/**
 * Landings: the pages that visitors see before an offer. They are on the users' own servers; Sluice stores only their addresses. A landing belongs
 * to the whole organization. Owns `landings`. Deletion is soft: clicks keep their landing.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Kysely } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { addressWarnings } from '../../contract/warnings.ts'
import { createOnce } from '../../ground/create-once.ts'
import { newestFirstFile } from '../../ground/db/list-file.ts'
import { nameHolds, newestFirst, picked, type Wanted } from '../../ground/db/lists.ts'
import { undelete } from '../../ground/db/undelete.ts'
import { hasTag, noteDeed, tagsDeed } from '../../ground/db/labels.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { readMoment } from '../../money/billing/balance.ts'
import { previewOf, unknownMacros } from '../addresses/preview.ts'
import { announceChange } from '../campaigns/live.ts'
import { campaignsOnFallback } from '../campaigns/on-fallback.ts'
import * as api from './api.ts'

const COLUMNS = ['id', 'name', 'url', 'status', 'tag_ids', 'note', 'created_at', 'updated_at'] as const

/** Landings of the organization, newest first, including archived ones unless `status` says otherwise. */
export async function listLandings(
  { db, actor }: Context<typeof api.listLandings>,
  { query }: Call<typeof api.listLandings>,
) {
  const { data, next_cursor } = await newestFirst(listed(db, actor.org_id, query), query)
  return { data: data.map(describeLanding), next_cursor }
}

/** The listed landings as a CSV file. Refuses `too_many_lines`. */
export async function exportLandings(
  { db, actor }: Context<typeof api.exportLandings>,
  { body }: Call<typeof api.exportLandings>,
) {
  const rows = listed(db, actor.org_id, picked(body))
  return await newestFirstFile(api.Landing, rows, found => found.map(describeLanding))
}

function listed(
  db: Kysely<Tables>,
  org_id: number,
  { ids, q, tag_id, status }: Wanted<Call<typeof api.listLandings>['query']>,
) {
  let rows = live(db, org_id).select(COLUMNS)
  if (ids !== undefined) rows = rows.where('id', 'in', ids)
  if (q) rows = rows.where(nameHolds(q))
  if (status !== undefined) rows = rows.where('status', '=', status)
  if (tag_id !== undefined) rows = rows.where(hasTag(tag_id))
  return rows.$castTo<LandingRow>()
}

/** One landing. Refuses `object_not_found`. */
export async function readLanding(
  { db, actor }: Context<typeof api.readLanding>,
  { params }: Call<typeof api.readLanding>,
) {
  const row = live(db, actor.org_id).select(COLUMNS).where('id', '=', idOf(params.id)).$castTo<LandingRow>()
  return describeLanding((await row.executeTakeFirst()) ?? refuse('object_not_found'))
}

/** Creates an active landing. */
export async function createLanding(
  context: Context<typeof api.createLanding>,
  { body }: Call<typeof api.createLanding>,
) {
  const { db, actor } = context
  const { org_id } = actor
  const { name, url } = body
  const now = await readMoment(db, org_id)
  const created = { org_id, id: newId(), name, url, status: 'active', created_at: now, updated_at: now }
  const id = await db
    .transaction()
    .execute(trx =>
      createOnce(trx, context, { table: 'landings', id: created.id, body }, () =>
        trx.insertInto('landings').values(created).execute(),
      ),
    )
  await announceChange(db, org_id, id)
  const landing = live(db, org_id).select(COLUMNS).where('id', '=', id).$castTo<LandingRow>()
  return { ...describeLanding(await landing.executeTakeFirstOrThrow()), warnings: warningsOn(body) }
}

/** A preview of the address with sample values. */
export function previewLanding(
  _context: Context<typeof api.previewLanding>,
  { body }: Call<typeof api.previewLanding>,
) {
  return previewOf(body.url)
}

/** Replaces all fields except the status, which needs another right. */
export async function replaceLanding(
  { db, actor }: Context<typeof api.replaceLanding>,
  { params, body }: Call<typeof api.replaceLanding>,
) {
  const { landing } = await changeLanding(db, actor.org_id, params.id, { name: body.name, url: body.url })
  return { ...landing, warnings: warningsOn(body) }
}

/** Archives or unarchives. An archived landing gets no new visitors and cannot be added to a funnel. */
export async function setLandingStatus(
  context: Context<typeof api.setLandingStatus>,
  { params, body }: Call<typeof api.setLandingStatus>,
) {
  const { db, actor } = context
  const { landing, before } = await changeLanding(db, actor.org_id, params.id, { status: body.status })
  const isClosed = before.status === 'active' && landing.status === 'archived'
  return {
    ...landing,
    campaigns_on_fallback: isClosed ? await campaignsOnFallback(context, 'landing', landing.id) : [],
  }
}

/** Deletes softly. Its funnels continue without it. */
export async function deleteLanding(
  context: Context<typeof api.deleteLanding>,
  { params }: Call<typeof api.deleteLanding>,
) {
  const { db, actor } = context
  const { id, status } = (await changeLanding(db, actor.org_id, params.id, 'deleted')).before
  const campaigns_on_fallback = status === 'active' ? await campaignsOnFallback(context, 'landing', id) : []
  return { ok: true as const, id, campaigns_on_fallback }
}

const warningsOn = ({ url }: api.LandingDraft) => addressWarnings('url', url, unknownMacros(url))

type LandingRow = Omit<api.Landing, 'unknown_macros'>

/** The landing with the unknown macros of its address. */
const describeLanding = (row: LandingRow): api.Landing => ({ ...row, unknown_macros: unknownMacros(row.url) })

const live = (db: Kysely<Tables>, org_id: number) =>
  db.selectFrom('landings').where('org_id', '=', org_id).where('deleted_at', 'is', null)

type Changes = Pick<Tables['landings'], 'name' | 'url'> | Pick<Tables['landings'], 'status'> | 'deleted'

/** Writes the changes, and returns the landing and its row before. Equal values change nothing. Refuses `object_not_found`. */
async function changeLanding(
  db: Kysely<Tables>,
  org_id: number,
  id: string,
  changes: Changes,
): Promise<{ landing: api.Landing; before: LandingRow }> {
  const found = live(db, org_id).select(COLUMNS).where('id', '=', idOf(id)).$castTo<LandingRow>()
  const before = (await found.executeTakeFirst()) ?? refuse('object_not_found')
  if (changes !== 'deleted' && isDeepStrictEqual({ ...before, ...changes }, before))
    return { landing: describeLanding(before), before }
  const now = await readMoment(db, org_id)
  const row = await db
    .updateTable('landings')
    .set({ ...(changes === 'deleted' ? { deleted_at: now } : changes), updated_at: now })
    .where('org_id', '=', org_id)
    .where('id', '=', before.id)
    .where('deleted_at', 'is', null)
    .returning(COLUMNS)
    .$castTo<LandingRow>()
    .executeTakeFirst()
  if (row === undefined) refuse('object_not_found')
  await announceChange(db, org_id, row.id)
  return { landing: describeLanding(row), before }
}

/** Takes back the deletion of a landing, for the history; traffic goes there again. False if it is not deleted. */
export async function restoreLanding(db: Kysely<Tables>, org_id: number, id: string): Promise<boolean> {
  const isRestored = await undelete(db, 'landings', { org_id, id, at: await readMoment(db, org_id) })
  await announceChange(db, org_id, id)
  return isRestored
}

export const setLandingTags = tagsDeed('landings')
export const setLandingNote = noteDeed('landings')
