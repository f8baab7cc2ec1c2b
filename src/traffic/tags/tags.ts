/**
 * Tags: labels by which a workspace groups its objects. An object lists its tags in its own row (`src/ground/db/labels.ts`), and lists only tags that
 * exist. Owns `tags`.
 */
import type { Kysely } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { isTaken } from '../../ground/db/faults.ts'
import { removeTag } from '../../ground/db/labels.ts'
import { newestFirst } from '../../ground/db/lists.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { readMoment } from '../../money/billing/balance.ts'
import type * as api from './api.ts'

const COLUMNS = ['id', 'name', 'color', 'created_at', 'updated_at'] as const

const tagsOf = (db: Kysely<Tables>, org_id: number) =>
  db.selectFrom('tags').select(COLUMNS).where('org_id', '=', org_id).$castTo<api.Tag>()

/** Tags of the workspace, newest first. */
export async function listTags({ db, actor }: Context<typeof api.listTags>, { query }: Call<typeof api.listTags>) {
  return await newestFirst(tagsOf(db, actor.org_id), query)
}

/** One tag. Refuses `object_not_found`. */
export async function readTag({ db, actor }: Context<typeof api.readTag>, { params }: Call<typeof api.readTag>) {
  const tag = await tagsOf(db, actor.org_id).where('id', '=', idOf(params.id)).executeTakeFirst()
  return tag ?? refuse('object_not_found')
}

/** Creates a tag. Refuses `already_exists` if one has the name, in any case of letters. */
export async function createTag({ db, actor }: Context<typeof api.createTag>, { body }: Call<typeof api.createTag>) {
  const now = await readMoment(db, actor.org_id)
  const row = { id: newId(), ...body, created_at: now, updated_at: now }
  await named(body.name, () =>
    db
      .insertInto('tags')
      .values({ org_id: actor.org_id, ...row })
      .execute(),
  )
  return row
}

/** Changes the name or the color. Refuses `object_not_found` and `already_exists`. */
export async function updateTag(context: Context<typeof api.updateTag>, call: Call<typeof api.updateTag>) {
  const { db, actor } = context
  const before = await readTag(context, { ...call, body: undefined })
  const { name = before.name, color = before.color } = call.body
  if (name === before.name && color === before.color) return before
  const updated_at = await readMoment(db, actor.org_id)
  const changed = () =>
    db
      .updateTable('tags')
      .set({ name, color, updated_at })
      .where('org_id', '=', actor.org_id)
      .where('id', '=', before.id)
      .returning(COLUMNS)
      .$castTo<api.Tag>()
      .executeTakeFirst()
  return (await named(name, changed)) ?? refuse('object_not_found')
}

/** Deletes a tag and takes it off all objects. Refuses `object_not_found`. */
export async function deleteTag({ db, actor }: Context<typeof api.deleteTag>, { params }: Call<typeof api.deleteTag>) {
  const { org_id } = actor
  const id = idOf(params.id)
  await db.transaction().execute(async trx => {
    const deleted = trx.deleteFrom('tags').where('org_id', '=', org_id).where('id', '=', id)
    if ((await deleted.executeTakeFirst()).numDeletedRows === 0n) refuse('object_not_found')
    await removeTag(trx, org_id, id)
  })
  return { ok: true as const }
}

/** Runs a write of a tag's name. */
async function named<T>(name: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (isTaken(error)) refuse('already_exists', { error: `another tag is called “${name}”` })
    throw error
  }
}
