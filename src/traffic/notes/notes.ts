/** Notes of days, of the workspace or of one of its campaigns: why a figure rose or fell. Owns `day_notes`. */
import { type Kysely, sql } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { newestFirst } from '../../ground/db/lists.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { readMoment } from '../../money/billing/balance.ts'
import type * as api from './api.ts'

const COLUMNS = ['id', 'day', 'campaign_id', 'text', 'created_at', 'updated_at'] as const

const notesOf = (db: Kysely<Tables>, org_id: number) =>
  db.selectFrom('day_notes').select(COLUMNS).where('org_id', '=', org_id).$castTo<api.Note>()

/** Notes of the workspace, newest first. */
export async function listNotes({ db, actor }: Context<typeof api.listNotes>, { query }: Call<typeof api.listNotes>) {
  const { date_from, date_to, campaign_id } = query
  let rows = notesOf(db, actor.org_id)
  if (date_from !== undefined) rows = rows.where('day', '>=', date_from)
  if (date_to !== undefined) rows = rows.where('day', '<=', date_to)
  if (campaign_id !== undefined) rows = rows.where(sql<boolean>`coalesce(campaign_id, ${campaign_id}) = ${campaign_id}`)
  return await newestFirst(rows, query)
}

/** One note. Refuses `object_not_found`. */
export async function readNote({ db, actor }: Context<typeof api.readNote>, { params }: Call<typeof api.readNote>) {
  const note = await notesOf(db, actor.org_id).where('id', '=', idOf(params.id)).executeTakeFirst()
  return note ?? refuse('object_not_found')
}

/** Creates a note. Refuses `invalid_request` for a campaign that the workspace does not have. */
export async function createNote({ db, actor }: Context<typeof api.createNote>, { body }: Call<typeof api.createNote>) {
  const { org_id } = actor
  await requireCampaign(db, org_id, body.campaign_id)
  const now = await readMoment(db, org_id)
  const row = { id: newId(), ...body, campaign_id: body.campaign_id ?? null, created_at: now, updated_at: now }
  await db
    .insertInto('day_notes')
    .values({ org_id, ...row })
    .execute()
  return row
}

/** Changes a note. Refuses `object_not_found`, and `invalid_request` for a campaign that the workspace does not have. */
export async function updateNote(context: Context<typeof api.updateNote>, call: Call<typeof api.updateNote>) {
  const { db, actor } = context
  const before = await readNote(context, { ...call, body: undefined })
  const { day = before.day, text = before.text, campaign_id = before.campaign_id } = call.body
  if (day === before.day && text === before.text && campaign_id === before.campaign_id) return before
  await requireCampaign(db, actor.org_id, campaign_id)
  const row = await db
    .updateTable('day_notes')
    .set({ day, text, campaign_id, updated_at: await readMoment(db, actor.org_id) })
    .where('org_id', '=', actor.org_id)
    .where('id', '=', before.id)
    .returning(COLUMNS)
    .$castTo<api.Note>()
    .executeTakeFirst()
  return row ?? refuse('object_not_found')
}

/** Deletes a note. Refuses `object_not_found`. */
export async function deleteNote(
  { db, actor }: Context<typeof api.deleteNote>,
  { params }: Call<typeof api.deleteNote>,
) {
  const deleted = db.deleteFrom('day_notes').where('org_id', '=', actor.org_id).where('id', '=', idOf(params.id))
  if ((await deleted.executeTakeFirst()).numDeletedRows === 0n) refuse('object_not_found')
  return { ok: true as const }
}

async function requireCampaign(db: Kysely<Tables>, org_id: number, id: string | null | undefined): Promise<void> {
  if (id == null) return
  const found = db.selectFrom('campaigns').select('id').where('org_id', '=', org_id).where('id', '=', id)
  if ((await found.where('deleted_at', 'is', null).executeTakeFirst()) === undefined)
    refuse('invalid_request', { error: 'campaign_id: the workspace has no such campaign' })
}
