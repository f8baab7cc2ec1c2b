// The keys of campaigns. A key belongs to one campaign for ever, also after its deletion.
import { randomInt } from 'node:crypto'
import type { Transaction } from 'kysely'
import { refuse } from '../../contract/refusals.ts'
import type { Tables } from '../../ground/db/tables.ts'

// Without letters and digits that look alike.
const KEY_LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789'
const KEY_LENGTH = 8
const newKey = () => Array.from({ length: KEY_LENGTH }, () => KEY_LETTERS[randomInt(KEY_LETTERS.length)]).join('')

/** Reserves the wanted key, or a free random one, for the campaign. Refuses `already_exists`. */
export async function takeKey(
  db: Transaction<Tables>,
  org_id: number,
  campaign_id: string,
  wanted?: string,
): Promise<string> {
  const key = wanted ?? newKey()
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('campaign_keys')
    .values({ key, org_id, campaign_id })
    .onConflict(on => on.doNothing())
    .executeTakeFirst()
  if (numInsertedOrUpdatedRows === 1n) return key
  if (wanted !== undefined)
    refuse('already_exists', { error: 'key: is taken', hint: 'Choose another key, or leave it out for a random one.' })
  return takeKey(db, org_id, campaign_id)
}
