/**
 * Creations that a key may repeat: with an Idempotency-Key, the same request within a day answers the object that was created first. Owns `creations`,
 * whose row is written in the transaction of the object, so that the primary key allows one object. It also holds what a key may use once, such as
 * confirmations.
 */
import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { DAY_MS } from '../contract/days.ts'
import { toWireId } from '../contract/ids.ts'
import { refuse } from '../contract/refusals.ts'
import type { Tables } from './db/tables.ts'
import type { CallCircumstances, Key, Member } from './room.ts'

type Creator = Pick<CallCircumstances, 'idempotency_key' | 'header'> & { readonly actor: Key | Member }
type Creation = {
  readonly table: 'campaigns' | 'offers' | 'landings' | 'funnels' | 'click_flows' | 'postback_rules'
  readonly id: string
  readonly body: unknown
}

/**
 * Inserts the object and returns its id, or the id of the object that an earlier request with this Idempotency-Key created; then the answer has the
 * header Idempotent-Replayed. Refuses `idempotency_key_used` for another request under the key, and for an object that was changed since, because no
 * right of a key reads the values of others.
 */
export async function createOnce(
  trx: Kysely<Tables>,
  { actor, idempotency_key, header }: Creator,
  { table, id, body }: Creation,
  insert: () => Promise<unknown>,
): Promise<string> {
  if (idempotency_key === undefined || actor.kind !== 'key') {
    await insert()
    return id
  }
  const { org_id, key_id } = actor
  const request = createHash('sha256')
    .update(JSON.stringify([table, body]))
    .digest()
  if (await claim(trx, { org_id, key_id, idempotency_key, request, object_id: id })) {
    await insert()
    return id
  }
  const earlier = await trx
    .selectFrom('creations')
    .select(['object_id', 'request'])
    .where('org_id', '=', org_id)
    .where('key_id', '=', key_id)
    .where('idempotency_key', '=', idempotency_key)
    .executeTakeFirstOrThrow()
  if (!request.equals(earlier.request)) refuse('idempotency_key_used')
  const { rows: unchanged } = await sql`
    select 1 from ${sql.table(table)}
    where org_id = ${org_id} and id = ${earlier.object_id} and deleted_at is null and updated_at = created_at`.execute(
    trx,
  )
  if (unchanged.length === 0)
    refuse('idempotency_key_used', {
      error: `this request created ${toWireId(earlier.object_id)}, which was changed or deleted since`,
      hint: 'Nothing was created now. Use that id, or another Idempotency-Key to create a second object.',
    })
  header('idempotent-replayed', 'true')
  return earlier.object_id
}

type Claimed = Pick<Tables['creations'], 'org_id' | 'key_id' | 'idempotency_key' | 'request' | 'object_id'>

/** Inserts the row; false if there is one. Rows of the key that are older than a day are deleted. */
async function claim(db: Kysely<Tables>, row: Claimed): Promise<boolean> {
  const now = Date.now()
  await db
    .deleteFrom('creations')
    .where('org_id', '=', row.org_id)
    .where('key_id', '=', row.key_id)
    .where('created_at', '<', new Date(now - DAY_MS).toISOString())
    .execute()
  const inserted = await db
    .insertInto('creations')
    .values({ ...row, created_at: new Date(now).toISOString() })
    .onConflict(on => on.columns(['org_id', 'key_id', 'idempotency_key']).doNothing())
    .returning('object_id')
    .executeTakeFirst()
  return inserted !== undefined
}

/** Uses up a text that the key may use once within a day, in the caller's transaction; false if it was used. `act_id` is the act that uses it. */
export async function useUp(
  db: Kysely<Tables>,
  { org_id, key_id }: Pick<Key, 'org_id' | 'key_id'>,
  text: string,
  act_id: string,
): Promise<boolean> {
  const request = createHash('sha256').update(text).digest()
  // No header holds a line break, so this is no Idempotency-Key that a caller could send.
  const idempotency_key = `\n${request.toString('base64url')}`
  return await claim(db, { org_id, key_id, idempotency_key, request, object_id: act_id })
}
