/**
 * The pictures of people. Owns `avatars`, one row per person with a new id for every picture. `users.image` holds the path, which member
 * lists and the person's own session contain. Any signed-in person who knows the path may read the picture.
 */
import type { Call } from '../../contract/endpoint.ts'
import { newId, toUuid, toWireId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Answer, Context, Ground, Visit } from '../../ground/room.ts'
import type * as api from './api.ts'
import { AVATAR_BYTES, AVATAR_PIXELS } from './api.ts'
import { readPicture } from './pictures.ts'

/** Replaces the caller's picture. Refuses `invalid_request` if the bytes are not a PNG, JPEG or WebP, or the picture is too large. */
export async function setAvatar({ db, actor }: Context<typeof api.setAvatar>, { body }: Call<typeof api.setAvatar>) {
  const bytes = Buffer.from(body.image, 'base64')
  const picture = readPicture(bytes)
  if (picture === undefined) refuse('invalid_request', { error: 'image: must be a PNG, JPEG or WebP image' })
  if (bytes.length > AVATAR_BYTES)
    refuse('invalid_request', { error: `image: must be at most ${AVATAR_BYTES / 1024} KiB` })
  const { type, width, height } = picture
  if (Math.min(width, height) < 1 || Math.max(width, height) > AVATAR_PIXELS)
    refuse('invalid_request', { error: `image: must be at most ${AVATAR_PIXELS} pixels wide and high` })
  const row = { id: newId(), type, bytes, created_at: new Date().toISOString() }
  const image = `/api/avatars/${toWireId(row.id)}`
  await db.transaction().execute(async trx => {
    await trx
      .insertInto('avatars')
      .values({ user_id: actor.user_id, ...row })
      .onConflict(on => on.column('user_id').doUpdateSet(row))
      .execute()
    await trx.updateTable('users').set({ image, updated_at: row.created_at }).where('id', '=', actor.user_id).execute()
  })
  return { image }
}

/** Removes the caller's picture. Without one it is a no-op. */
export async function deleteAvatar({ db, actor }: Context<typeof api.deleteAvatar>) {
  await db.transaction().execute(async trx => {
    await trx.deleteFrom('avatars').where('user_id', '=', actor.user_id).execute()
    await trx
      .updateTable('users')
      .set({ image: null, updated_at: new Date().toISOString() })
      .where('id', '=', actor.user_id)
      .execute()
  })
  return { ok: true as const }
}

/** These headers keep the browser from running an uploaded file as a page or script, even when its path is opened directly. */
const AS_IMAGE_ONLY = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'private, max-age=31536000, immutable',
}

/** Sends a picture's bytes. Refuses `object_not_found` once it was replaced or removed. */
export async function readAvatar({ db }: Ground, { params }: Visit): Promise<Answer> {
  const id = toUuid(params['id'] ?? '') ?? refuse('object_not_found')
  const picture = await db.selectFrom('avatars').select(['type', 'bytes']).where('id', '=', id).executeTakeFirst()
  if (picture === undefined) refuse('object_not_found')
  return { status: 200, headers: { ...AS_IMAGE_ONLY, 'content-type': picture.type }, body: picture.bytes }
}
