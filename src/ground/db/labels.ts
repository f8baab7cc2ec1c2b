/** Writes the tags and the note of an object. Only the room that owns the table calls the deeds; the room of tags calls `removeTag`. */
import { type Kysely, sql } from 'kysely'
import type { Labels } from '../../contract/labels.ts'
import { toUuid } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Tables } from './tables.ts'

const LABELLED = [
  'campaigns',
  'offers',
  'landings',
  'funnels',
  'click_flows',
  'traffic_sources',
  'networks',
] as const satisfies (keyof Tables)[]
type LabelledTable = (typeof LABELLED)[number]

type Writer = { readonly db: Kysely<Tables>; readonly actor: { readonly org_id: number } }
type OfObject<Body> = { readonly params: { readonly id: string }; readonly body: Body }

/** The deed that sets the tags of an object. Refuses `object_not_found`, and `invalid_request` for a tag that the workspace does not have. */
export const tagsDeed =
  (table: LabelledTable) =>
  async ({ db, actor: { org_id } }: Writer, { params, body: { tag_ids } }: OfObject<Pick<Labels, 'tag_ids'>>) => {
    const id = toUuid(params.id) ?? refuse('object_not_found')
    return await db.transaction().execute(async trx => {
      // Locked, so that no tag is deleted before this is committed.
      const { rows: tags } = await sql<{ id: string }>`
        select id from tags where org_id = ${org_id} and id = any(${tag_ids}::uuid[]) for share`.execute(trx)
      const missing = tag_ids.findIndex(tag_id => !tags.some(tag => tag.id === tag_id))
      if (missing >= 0)
        refuse('invalid_request', {
          error: `tag_ids.${missing}: the workspace has no such tag`,
          hint: 'GET /api/tags lists them.',
        })
      const { rows } = await sql`
        update ${sql.table(table)} set tag_ids = ${tag_ids}::uuid[]
        where org_id = ${org_id} and id = ${id} and deleted_at is null returning id`.execute(trx)
      if (rows.length === 0) refuse('object_not_found')
      return { id, tag_ids }
    })
  }

/** The deed that sets the note of an object. Refuses `object_not_found`. */
export const noteDeed =
  (table: LabelledTable) =>
  async ({ db, actor: { org_id } }: Writer, { params, body: { note } }: OfObject<Pick<Labels, 'note'>>) => {
    const id = toUuid(params.id) ?? refuse('object_not_found')
    const { rows } = await sql`
      update ${sql.table(table)} set note = ${note}
      where org_id = ${org_id} and id = ${id} and deleted_at is null returning id`.execute(db)
    if (rows.length === 0) refuse('object_not_found')
    return { id, note }
  }

/** Takes a tag off all objects, in the transaction that deletes it. */
export async function removeTag(db: Kysely<Tables>, org_id: number, tag_id: string): Promise<void> {
  for (const table of LABELLED)
    await sql`
      update ${sql.table(table)} set tag_ids = array_remove(tag_ids, ${tag_id}::uuid)
      where org_id = ${org_id} and tag_ids @> array[${tag_id}::uuid]`.execute(db)
}

/** Whether an object has the tag. */
export const hasTag = (tag_id: string, column = 'tag_ids') => sql<boolean>`${sql.ref(column)} @> array[${tag_id}::uuid]`
