/**
 * Receivers: where a workspace is told about alerts. Owns `receivers`; besides the deeds here only outcomes.ts changes it. The secret of a webhook is
 * stored encrypted and shown once. A deleted receiver is gone with its messages.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Kysely, Updateable } from 'kysely'
import { DAY_MS } from '../../contract/days.ts'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Config } from '../../ground/config.ts'
import { newestFirst } from '../../ground/db/lists.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { isPrivateHost } from '../../ground/guard.ts'
import type { Context } from '../../ground/room.ts'
import { liveBots } from '../../telegram/bots/rows.ts'
import type * as api from './api.ts'
import { lookAgain } from './queue.ts'
import { receiverRows, shownReceiver, storedReceiver, type StoredReceiver } from './rows.ts'
import { newWebhookSecret } from './signing.ts'

/** How long the former secret of a webhook signs as well. */
const FORMER_MS = DAY_MS

/** Receivers of the organization, newest first. */
export async function listReceivers(
  { db, actor }: Context<typeof api.listReceivers>,
  { query }: Call<typeof api.listReceivers>,
) {
  const { data, next_cursor } = await newestFirst(receiverRows(db, actor.org_id), query)
  return { data: data.map(row => shownReceiver(row, actor.role)), next_cursor }
}

/** One receiver. Refuses `object_not_found`. */
export async function readReceiver(
  { db, actor }: Context<typeof api.readReceiver>,
  { params }: Call<typeof api.readReceiver>,
) {
  return shownReceiver(await storedReceiver(db, actor.org_id, params.id), actor.role)
}

/** Creates a receiver. Refuses `invalid_request` for an unknown bot, a private address, or quiet hours of a whole day. */
export async function createReceiver(
  { db, actor, config, secrets }: Context<typeof api.createReceiver>,
  { body }: Call<typeof api.createReceiver>,
) {
  const { about = null, quiet_hours = null, digest = null, ...rest } = body
  await requireSound({ db, config }, actor.org_id, body)
  const secret = body.type === 'webhook' ? newWebhookSecret() : undefined
  const now = new Date().toISOString()
  const id = newId()
  await db
    .insertInto('receivers')
    .values({
      org_id: actor.org_id,
      id,
      ...rest,
      about: about && [...new Set(about)],
      quiet_hours: stored(quiet_hours),
      digest: stored(digest),
      secret: secret === undefined ? null : secrets.seal(secret),
      created_at: now,
      updated_at: now,
    })
    .execute()
  return withSecret(await storedReceiver(db, actor.org_id, id), secret)
}

/**
 * Changes the fields that are sent, and looks at the waiting messages again. Refuses `object_not_found`, `invalid_request` for a field of another type,
 * and as the creation does.
 */
export async function updateReceiver(
  { db, actor, config }: Context<typeof api.updateReceiver>,
  { params, body }: Call<typeof api.updateReceiver>,
) {
  const { org_id } = actor
  const now = await storedReceiver(db, org_id, params.id)
  const shown = shownReceiver(now, 'owner')
  for (const field of ['email', 'bot_id', 'chat_id', 'url'] as const)
    if (body[field] !== undefined && !(field in shown))
      refuse('invalid_request', {
        error: `${field}: a receiver of type ${now.type} has none`,
        hint: 'The type of a receiver cannot change. Create another one instead.',
      })
  await requireSound({ db, config }, org_id, body)
  const { about, quiet_hours, digest, ...rest } = body
  const changes = { ...body, ...(about == null ? {} : { about: [...new Set(about)] }) }
  if (isDeepStrictEqual({ ...shown, ...changes }, shown)) return shown
  await change(db, now, {
    ...rest,
    ...(about === undefined ? {} : { about: changes.about ?? null }),
    ...(quiet_hours === undefined ? {} : { quiet_hours: stored(quiet_hours) }),
    ...(digest === undefined ? {} : { digest: stored(digest) }),
  })
  await lookAgain(db, org_id, now.id)
  return shownReceiver(await storedReceiver(db, org_id, params.id), actor.role)
}

/** Deletes a receiver and its messages. Refuses `object_not_found`. */
export async function deleteReceiver(
  { db, actor }: Context<typeof api.deleteReceiver>,
  { params }: Call<typeof api.deleteReceiver>,
) {
  const { org_id } = actor
  const { id } = await storedReceiver(db, org_id, params.id)
  await db.deleteFrom('receivers').where('org_id', '=', org_id).where('id', '=', id).execute()
  await db.deleteFrom('receiver_messages').where('org_id', '=', org_id).where('receiver_id', '=', id).execute()
  return { ok: true as const }
}

/** Gives a webhook a new secret; the former one also signs for a day. Refuses `object_not_found`, and `invalid_request` for other types. */
export async function rotateReceiver(
  { db, actor, secrets }: Context<typeof api.rotateReceiver>,
  { params }: Call<typeof api.rotateReceiver>,
) {
  const now = await storedReceiver(db, actor.org_id, params.id)
  if (now.type !== 'webhook') refuse('invalid_request', { error: `a receiver of type ${now.type} has no secret` })
  const secret = newWebhookSecret()
  await change(db, now, {
    secret: secrets.seal(secret),
    former_secret: now.secret,
    former_secret_until: new Date(Date.now() + FORMER_MS).toISOString(),
  })
  return withSecret(await storedReceiver(db, actor.org_id, params.id), secret)
}

async function change(db: Kysely<Tables>, { org_id, id }: StoredReceiver, changes: Updateable<Tables['receivers']>) {
  const { numUpdatedRows } = await db
    .updateTable('receivers')
    .set({ ...changes, updated_at: new Date().toISOString() })
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) refuse('object_not_found')
}

/** The answer to an admin, which alone shows the secret of a webhook. */
function withSecret(row: StoredReceiver, secret = '') {
  const shown = shownReceiver(row, 'admin')
  return shown.type === 'webhook' ? { ...shown, secret } : shown
}

const stored = (value: object | null): string | null => (value === null ? null : JSON.stringify(value))

/** Refuses `invalid_request` for values that no receiver can have. Host names are checked when the webhook is called. */
async function requireSound(
  { db, config }: { db: Kysely<Tables>; config: Config },
  org_id: number,
  { url, bot_id, quiet_hours }: Pick<api.ReceiverChanges, 'url' | 'bot_id' | 'quiet_hours'>,
): Promise<void> {
  if (quiet_hours != null && quiet_hours.from === quiet_hours.to)
    refuse('invalid_request', {
      error: 'quiet_hours: from and to are the same, so nothing would ever be sent',
      hint: 'Send null for no quiet hours.',
    })
  if (url !== undefined && !config.allowPrivateTargets && isPrivateHost(new URL(url).hostname))
    refuse('invalid_request', {
      error: 'url: must lead to a public address',
      hint: 'Private addresses cannot be called.',
    })
  if (bot_id === undefined) return
  const bot = await liveBots(db, org_id).select('id').where('id', '=', bot_id).executeTakeFirst()
  if (bot === undefined) refuse('invalid_request', { error: 'bot_id: no such bot' })
}
